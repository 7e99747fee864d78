package report

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"

	"grposim/fp"
	"grposim/sweeps"
)

// axis is the range of coordinates on an axis, which are linear in the distance along it: values on
// a linear axis, their decimal logarithms on a logarithmic one. It is empty if min > max. The
// logarithmic scale of gonum/plot leaves up to a fifth of a picture empty beside a long label, and
// its ticks begin at the wrong decade below 1.
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

// ticks returns the ticks of gonum/plot on a linear axis and on one shorter than 0.8 decades,
// else a tick for each digit of each decade, of which about eight have labels.
func (a axis) ticks() (ticks []plot.Tick) {
	label := func(value float64) string { return strconv.FormatFloat(value, 'g', 10, 64) }
	decades := a.max - a.min
	if a.scale == sweeps.LinearAxis || decades < 0.8 {
		for _, tick := range (plot.DefaultTicks{}).Ticks(a.value(a.min), a.value(a.max)) {
			if tick.Label != "" {
				tick.Label = label(tick.Value)
			}
			tick.Value = a.clamp(a.coordinate(tick.Value))
			ticks = append(ticks, tick)
		}
		return ticks
	}
	every := max(1, int(math.Ceil(decades/8)))
	for e := int(math.Floor(a.min)); e <= int(math.Ceil(a.max)); e++ {
		for digit := 1; digit < 10; digit++ {
			value := float64(digit) * math.Pow10(e)
			tick := plot.Tick{Value: math.Log10(value)}
			if digit == 1 && e%every == 0 || decades < 2.2 && (digit == 2 || digit == 5) {
				tick.Label = label(value)
			}
			if tick.Value >= a.min && tick.Value <= a.max {
				ticks = append(ticks, tick)
			}
		}
	}
	return ticks
}
