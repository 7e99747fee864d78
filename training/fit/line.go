package fit

import "math"

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
