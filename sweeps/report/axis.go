package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"

	"grposim/sweeps"
)

// largest is the largest magnitude that a figure shows, and 1/largest the smallest
// number on a logarithmic axis. Squares and ratios of such numbers do not overflow.
const largest = 1e100

// drawable reports whether x can be drawn on an axis of that scale; NaN and infinities
// cannot.
func drawable(x float64, scale sweeps.AxisScale) bool {
	if scale == sweeps.LogAxis {
		return x >= 1/largest && x <= largest
	}
	return math.Abs(x) <= largest // false for NaN
}

// span is the range of values on an axis; it is empty if min > max.
type span struct {
	min, max float64
	scale    sweeps.AxisScale
}

// newSpan returns an empty span.
func newSpan(scale sweeps.AxisScale) span {
	return span{math.Inf(1), math.Inf(-1), scale}
}

// add extends the span to the drawable ones of the values.
func (s *span) add(values ...float64) {
	for _, x := range values {
		if drawable(x, s.scale) {
			s.min, s.max = min(s.min, x), max(s.max, x)
		}
	}
}

// empty reports whether no drawable value was added.
func (s *span) empty() bool { return s.min > s.max }

// padded returns the span with 5 % of its length added at both ends. Its length is
// positive even if the span holds one value or none.
func (s *span) padded() span {
	const room = 0.05
	if s.empty() {
		return span{1, 10, s.scale}
	}
	if s.scale == sweeps.LogAxis {
		factor := math.Pow(s.max/s.min, room)
		if factor < 1+1e-3 {
			factor = 1.2
		}
		return span{s.min / factor, s.max * factor, s.scale}
	}
	pad := room * (s.max - s.min)
	if tiny := 1e-9 * max(math.Abs(s.min), math.Abs(s.max)); pad <= tiny {
		pad = 1e8 * tiny // a tenth of the value
	}
	if pad == 0 {
		pad = 1
	}
	return span{s.min - pad, s.max + pad, s.scale}
}

// widened returns the span with its own length added at both ends: at least three
// decades on a logarithmic axis, at least a tenth of the largest magnitude on a linear
// one.
func (s span) widened() span {
	if s.scale == sweeps.LogAxis {
		factor := max(1e3, s.max/s.min)
		return span{s.min / factor, s.max * factor, s.scale}
	}
	room := max(s.max-s.min, 0.1*max(math.Abs(s.min), math.Abs(s.max)))
	return span{s.min - room, s.max + room, s.scale}
}

// coordinate maps a value to a coordinate that is linear in the distance on the axis:
// its logarithm on a logarithmic axis.
func (s span) coordinate(x float64) float64 {
	if s.scale == sweeps.LogAxis {
		return math.Log(x)
	}
	return x
}

// value is the inverse of coordinate.
func (s span) value(coordinate float64) float64 {
	if s.scale == sweeps.LogAxis {
		return math.Exp(coordinate)
	}
	return coordinate
}

// normalizer returns the scale of the axis for gonum/plot.
func (s span) normalizer() plot.Normalizer {
	if s.scale == sweeps.LogAxis {
		return plot.LogScale{}
	}
	return plot.LinearScale{}
}

// ticks returns ticks of which about as many as wanted have labels. A logarithmic
// axis shorter than 0.8 decades has the ticks of a linear one.
func (s span) ticks(wanted int) []plot.Tick {
	if s.scale == sweeps.LinearAxis {
		return linearTicks(s.min, s.max, wanted)
	}
	decades := math.Log10(s.max / s.min)
	if decades < 0.8 {
		return linearTicks(s.min, s.max, wanted)
	}
	var ticks []plot.Tick
	first, last := int(math.Floor(math.Log10(s.min))), int(math.Ceil(math.Log10(s.max)))
	every := max(1, int(math.Ceil(decades/float64(wanted))))
	for e := first; e <= last; e++ {
		for digit := 1; digit < 10; digit++ {
			v, err := strconv.ParseFloat(strconv.Itoa(digit)+"e"+strconv.Itoa(e), 64)
			if err != nil || v < s.min || v > s.max {
				continue
			}
			labelled := digit == 1 && e%every == 0 || decades < 2.2 && (digit == 2 || digit == 5)
			switch {
			case labelled:
				label := tickLabel(v, v)
				if decades > 2 && v < 1e-3 {
					label = strings.ReplaceAll(fmt.Sprintf("%de%d", digit, e), "-", "−")
				}
				ticks = append(ticks, plot.Tick{Value: v, Label: label})
			case every == 1 || digit == 1:
				ticks = append(ticks, plot.Tick{Value: v})
			}
		}
	}
	return ticks
}

// linearTicks returns about as many ticks as wanted, 1, 2 or 5 times a power of ten
// apart.
func linearTicks(low, high float64, wanted int) []plot.Tick {
	rough := (high - low) / float64(wanted)
	step := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*step >= rough {
			step *= m
			break
		}
	}
	var ticks []plot.Tick
	const slack = 1e-9 // steps: allows for rounding errors
	for i := math.Ceil(low/step - slack); i <= math.Floor(high/step+slack); i++ {
		v := min(max(i*step, low), high)
		label := tickLabel(i*step, step)
		if i == 0 {
			label = "0"
		}
		ticks = append(ticks, plot.Tick{Value: v, Label: label})
	}
	return ticks
}

// powersOfTwo returns ticks at the powers of two from the smallest to the largest value,
// about as many as wanted with labels. It is nil unless the axis is logarithmic and all
// values are powers of two, as group sizes are, over at least a factor of 4.
func (s span) powersOfTwo(values []float64, wanted int) []plot.Tick {
	if s.scale != sweeps.LogAxis || len(values) == 0 {
		return nil
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range values {
		fraction, _ := math.Frexp(x)
		if fraction != 0.5 || x < 1 || x > 1<<40 {
			return nil
		}
		low, high = min(low, x), max(high, x)
	}
	if high < 4*low {
		return nil
	}
	every := max(1, int(math.Ceil(math.Log2(high/low)/float64(wanted))))
	var ticks []plot.Tick
	for x, i := low, 0; x <= high; x, i = 2*x, i+1 {
		tick := plot.Tick{Value: x}
		if i%every == 0 {
			tick.Label = strconv.FormatFloat(x, 'f', -1, 64)
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// tickLabel formats v with the digits needed to distinguish ticks that far apart.
func tickLabel(v, step float64) string {
	exponent := func(x float64) int { return int(math.Floor(math.Log10(math.Abs(x)) + 1e-9)) }
	e, d := exponent(v), exponent(step)
	var s string
	if e < 6 && d >= -4 {
		s = strconv.FormatFloat(v, 'f', max(0, -d), 64)
	} else {
		s = strconv.FormatFloat(v, 'e', max(0, e-d), 64)
		mantissa, power, _ := strings.Cut(s, "e")
		n, _ := strconv.Atoi(power)
		s = mantissa + "e" + strconv.Itoa(n)
	}
	return strings.ReplaceAll(s, "-", "−")
}
