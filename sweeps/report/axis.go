package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"

	"grposim/rom/fp"
	"grposim/sweeps"
)

// axis is the range of coordinates on an axis, which are linear in the distance along it:
// values on a linear axis, their decimal logarithms on a logarithmic one. It is empty if
// min > max.
type axis struct {
	min, max float64
	scale    sweeps.AxisScale
}

// newAxis returns an empty axis.
func newAxis(scale sweeps.AxisScale) axis { return axis{math.Inf(1), math.Inf(-1), scale} }

// coordinate returns the coordinate of a value. Beyond a magnitude of 1e100 it is infinite, so
// that squares and ratios of others do not overflow; values ≤ 0 are at −∞ on a logarithmic axis.
func (a axis) coordinate(x float64) float64 {
	limit := 1e100
	if a.scale == sweeps.LogAxis {
		x, limit = math.Log10(max(x, 0)), 100
	}
	if math.Abs(x) > limit {
		return math.Inf(int(math.Copysign(1, x)))
	}
	return x
}

// value is the inverse of coordinate.
func (a axis) value(coordinate float64) float64 {
	if a.scale == sweeps.LogAxis {
		return fp.Pow(10, coordinate)
	}
	return coordinate
}

// add extends the axis to the finite ones of some coordinates.
func (a *axis) add(coordinates ...float64) {
	for _, x := range coordinates {
		if finite(x) {
			a.min, a.max = min(a.min, x), max(a.max, x)
		}
	}
}

// empty reports whether nothing is on the axis.
func (a axis) empty() bool { return a.min > a.max }

// clamp returns the coordinate on the axis that is nearest to x.
func (a axis) clamp(x float64) float64 { return min(max(x, a.min), a.max) }

// padded returns the axis with 5 % of its length added at both ends. Its length is positive
// even if it holds one coordinate or none.
func (a axis) padded() axis {
	if a.empty() {
		return axis{0, 1, a.scale}
	}
	pad, size := 0.05*(a.max-a.min), max(math.Abs(a.min), math.Abs(a.max))
	switch {
	case a.scale == sweeps.LogAxis && pad < 4e-4:
		pad = 0.08 // a factor of 1.2
	case a.scale == sweeps.LinearAxis && pad <= 1e-9*size:
		pad = 0.1 * size
	}
	if pad == 0 {
		pad = 1
	}
	return axis{a.min - pad, a.max + pad, a.scale}
}

// widened returns the axis with its own length added at both ends: at least three decades on
// a logarithmic axis, at least a tenth of the largest magnitude on a linear one.
func (a axis) widened() axis {
	least := 3.0
	if a.scale == sweeps.LinearAxis {
		least = 0.1 * max(math.Abs(a.min), math.Abs(a.max))
	}
	room := max(a.max-a.min, least)
	return axis{a.min - room, a.max + room, a.scale}
}

// ticks returns ticks of which about as many as wanted have labels: at powers of two on a
// logarithmic axis of values that all are, as group sizes, and only at whole numbers where all
// values are whole. A logarithmic axis shorter than 0.8 decades has the ticks of a linear one.
//
// Those of gonum/plot are not as readable: DefaultTicks label 0.9998 and 1.0002 both with 1,
// and LogTicks only powers of ten, of which the range of a learning rate often holds one.
func (a axis) ticks(wanted int, values []float64) []plot.Tick {
	var ticks []plot.Tick
	add := func(value float64, label string) {
		if at := a.coordinate(value); at > a.min-1e-9 && at < a.max+1e-9 {
			ticks = append(ticks, plot.Tick{Value: a.clamp(at), Label: label})
		}
	}
	low, high, decades := a.value(a.min), a.value(a.max), a.max-a.min
	if a.scale == sweeps.LogAxis && powersOfTwo(values) {
		first, last := slices.Min(values), slices.Max(values)
		every := 1 + int(math.Log2(last/first))/13
		for x, i := first, 0; x <= last; x, i = 2*x, i+1 {
			label := ""
			if i%every == 0 {
				label = tickLabel(x, 1)
			}
			add(x, label)
		}
		return ticks
	}
	if a.scale == sweeps.LinearAxis || decades < 0.8 {
		if values != nil && !slices.ContainsFunc(values, func(x float64) bool { return x != math.Trunc(x) }) {
			wanted = max(1, min(wanted, int(math.Ceil(min(high-low, 1e6))))) // at least 1 apart
		}
		rough := (high - low) / float64(wanted)
		step := fp.Pow(10, math.Floor(math.Log10(rough)))
		step *= []float64{1, 2, 5, 10}[slices.IndexFunc([]float64{1, 2, 5, math.Inf(1)}, func(m float64) bool { return m*step >= rough })]
		for i := math.Ceil(low/step - 1e-9); i <= math.Floor(high/step+1e-9); i++ {
			add(i*step, tickLabel(i*step, step))
		}
		return ticks
	}
	every := max(1, int(math.Ceil(decades/float64(wanted))))
	for e := int(math.Floor(a.min)); e <= int(math.Ceil(a.max)); e++ {
		for digit := 1; digit < 10; digit++ {
			v := float64(digit) * math.Pow10(e)
			switch {
			case digit == 1 && e%every == 0, decades < 2.2 && (digit == 2 || digit == 5):
				add(v, tickLabel(v, v))
			case every == 1 || digit == 1:
				add(v, "")
			}
		}
	}
	return ticks
}

// powersOfTwo reports whether all values are powers of two ≥ 1, over at least a factor of 4.
func powersOfTwo(values []float64) bool {
	return len(values) > 0 && slices.Max(values) >= 4*slices.Min(values) && !slices.ContainsFunc(values, func(x float64) bool {
		fraction, _ := math.Frexp(x)
		return fraction != 0.5 || x < 1 || x > 1<<40
	})
}

// tickLabel formats v with the digits needed to distinguish ticks that far apart.
func tickLabel(v, step float64) string {
	if math.Abs(v) < 1e-6*step {
		return "0"
	}
	exponent := func(x float64) int { return int(math.Floor(math.Log10(math.Abs(x)) + 1e-9)) }
	e, d := exponent(v), exponent(step)
	verb, digits := byte('f'), max(0, -d)
	if e >= 6 || d < -4 {
		verb, digits = 'e', max(0, e-d)
	}
	return strings.NewReplacer("e+0", "e", "e-0", "e−", "e+", "e", "-", "−").Replace(strconv.FormatFloat(v, verb, digits, 64))
}
