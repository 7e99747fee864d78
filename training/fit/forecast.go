package fit

import "math"

// Forecast predicts rows that follow those of a curve.
type Forecast struct {
	Mean   float64   // expected reward of every future row
	Lo, Hi []float64 // 90 % predictive interval of its logged value
}

const (
	smoothing = 0.2               // weight of the newest row in exponential smoothing
	normal90  = 1.644853626951473 // half-width of the central 90 % of the standard normal law
)

// Predict forecasts rows at times after the last one by exponential smoothing. A row h rows ahead
// has the variance σ² (1 + (h − 1) smoothing²), σ² the mean square of the errors one row ahead. A
// take-off or collapse after the last row is not foreseen.
func Predict(c Curve, times []float64) Forecast {
	unit := c.Unit()
	l, squares := level(c.In(unit).Reward)
	n := float64(len(c.Time) - 1)
	f := Forecast{Mean: unit * l}
	for _, t := range times {
		ahead := max(0, (t-c.end())/c.known()*n-1)
		half := unit * normal90 * math.Sqrt(squares/n*(1+ahead*smoothing*smoothing))
		f.Lo, f.Hi = append(f.Lo, f.Mean-half), append(f.Hi, f.Mean+half)
	}
	return f
}

// level returns the level of a reward after its last row by exponential smoothing, and the
// sum of the squared errors one row ahead.
func level(y []float64) (l, squares float64) {
	l = y[0]
	for _, v := range y {
		squares += square(v - l)
		l += smoothing * (v - l)
	}
	return l, squares
}
