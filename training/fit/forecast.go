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
	f, squares, n := Forecast{Mean: c.Reward[0]}, 0.0, float64(len(c.Time)-1)
	for _, y := range c.Reward {
		squares += square(y - f.Mean)
		f.Mean += smoothing * (y - f.Mean)
	}
	for _, t := range times {
		ahead := max(0, (t-c.end())/c.known()*n-1)
		half := normal90 * math.Sqrt(squares/n*(1+ahead*smoothing*smoothing))
		f.Lo, f.Hi = append(f.Lo, f.Mean-half), append(f.Hi, f.Mean+half)
	}
	return f
}
