package fit

import "math"

// trend is the level after the last row, which goes on with a slope that decays over
// the known length.
type trend struct {
	level, slope, known float64
}

// newTrend takes the smallest of the slopes over the last 30, 50 and 100 % of the rows,
// or 0 if their signs differ.
func newTrend(c Curve) trend {
	over := func(share float64) float64 {
		k := int(float64(len(c.Time)) * (1 - share))
		return FitLine(c.Time[k:], c.Reward[k:]).Slope
	}
	t := trend{level(c.Reward), over(0.3), c.known()}
	for _, share := range []float64{0.5, 1} {
		s := over(share)
		switch {
		case s*t.slope <= 0:
			t.slope = 0
		case math.Abs(s) < math.Abs(t.slope):
			t.slope = s
		}
	}
	return t
}

// after is the reward expected a time h after the last row: half of what the slope,
// decaying over the known length, adds.
func (t trend) after(h float64) float64 {
	return t.level - t.slope*t.known/2*math.Expm1(-h/t.known)
}

// reach bounds how far the reward can go on, by lines through the last two windows of
// 5 % of the rows: beyond the level of the last, it changes by no more than a slope which
// falls by the same factor from window to window as it fell between those two. Level and
// slopes have a latitude of two standard errors each, so that noisy rows bound little;
// a curve that has visibly saturated stays where it is.
type reach struct {
	window       float64 // length of a window
	level, error float64 // of the last line at the last row
	before, last Line
}

func newReach(c Curve) reach {
	n := len(c.Time)
	w := max(5, n/20)
	r := reach{
		window: c.Time[n-1] - c.Time[n-1-w],
		before: FitLine(c.Time[n-2*w:n-w], c.Reward[n-2*w:n-w]),
		last:   FitLine(c.Time[n-w:], c.Reward[n-w:]),
	}
	level, variance := r.last.At(c.end())
	r.level, r.error = level, math.Sqrt(variance)
	return r
}

// after returns the bounds a time h after the last row.
func (r reach) after(h float64) (lo, hi float64) {
	last, before := 2*r.last.SlopeError(), -2*r.before.SlopeError()
	return r.level - 2*r.error - r.change(h, last-r.last.Slope, before-r.before.Slope),
		r.level + 2*r.error + r.change(h, last+r.last.Slope, before+r.before.Slope)
}

// change is how far a slope goes within h that is now last and was before a window ago,
// 0 if it is not positive, and last·h if it has not fallen.
func (r reach) change(h, last, before float64) float64 {
	switch {
	case last <= 0:
		return 0
	case before <= last:
		return last * h
	}
	rate := math.Log(before/last) / r.window
	return -last * math.Expm1(-rate*h) / rate
}

// Line is the least-squares line y = Level + Slope (t − Middle) through at least three
// rows, whose errors are taken to be independent and of one variance.
type Line struct {
	Middle, Level float64 // means of time and y
	Slope         float64 // y per unit of time
	variance      float64 // of a row about the line
	spread, rows  float64 // Σ (t − Middle)², and the number of rows
}

// FitLine returns the line through the points (t[i], y[i]).
func FitLine(t, y []float64) Line {
	l := Line{Middle: mean(t), Level: mean(y), rows: float64(len(t))}
	var product, rest float64
	for i := range t {
		l.spread += square(t[i] - l.Middle)
		product += (t[i] - l.Middle) * (y[i] - l.Level)
	}
	l.Slope = product / l.spread
	for i := range t {
		rest += square(y[i] - l.Level - l.Slope*(t[i]-l.Middle))
	}
	l.variance = rest / (l.rows - 2)
	return l
}

// At returns the value of the line at t with the variance of its error.
func (l Line) At(t float64) (value, variance float64) {
	return l.Level + l.Slope*(t-l.Middle), l.variance * (1/l.rows + square(t-l.Middle)/l.spread)
}

// SlopeError is the standard error of the slope.
func (l Line) SlopeError() float64 { return math.Sqrt(l.variance / l.spread) }
