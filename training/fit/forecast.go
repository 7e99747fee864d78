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

// Predict forecasts rows at times after the last one. Where no law with growth beats the constant
// it is the level of that. Else it is exponential smoothing, of means of rows if they are many. h of
// them ahead the variance is σ² (1 + (h − 1) smoothing²), σ² the mean square of the errors one
// ahead. That of a row about its mean is added. No later take-off or collapse is foreseen.
func (r *Result) Predict(c Curve, times []float64) (f Forecast) {
	unit := c.unit()
	means, rows := c.in(unit).Thin()
	level, weight, squares, n := means.Reward[0], smoothing, 0.0, float64(len(means.Time)-1)
	if r.Regime == Flat {
		level, weight = r.Models[0].best.start, 0
	}
	for _, y := range means.Reward {
		squares += square(y - level)
		level += weight * (y - level)
	}
	f.Mean = unit * level
	row := mean(noise(c.in(unit).Reward)) * (1 - 1/float64(rows))
	for _, t := range times {
		ahead := max(0, (t-means.end())/means.known()*n-1)
		half := unit * normal90 * math.Sqrt(row+squares/n*(1+ahead*weight*weight))
		f.Lo, f.Hi = append(f.Lo, f.Mean-half), append(f.Hi, f.Mean+half)
	}
	return f
}
