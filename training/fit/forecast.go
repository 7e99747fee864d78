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

// Score compares forecasts with rows that they have not seen, by root mean squares.
type Score struct {
	From            float64   // share of the rows that were known
	PersistenceRMSE float64   // of the mean of the last 5 % of the known rows
	SmoothingRMSE   float64   // of exponential smoothing
	LawRMSE         []float64 // of every law fitted to the known rows, in the order of Result.Models
}

// Backtest makes forecasts from the first share of the rows, 0 < from < 1, and scores them
// on the others. It returns false if these are fewer than MinRows, or if none is left.
func Backtest(c Curve, from float64) (Score, bool) {
	n := int(from * float64(len(c.Time)))
	if n < MinRows || n >= len(c.Time) {
		return Score{}, false
	}
	unit := c.Unit()
	c = c.In(unit)
	known := c.head(n)
	rest := c.Reward[n:]
	rmse := func(forecast func(i int) float64) float64 {
		var sum float64
		for i, y := range rest {
			sum += square(y-forecast(i)) / float64(len(rest))
		}
		return unit * math.Sqrt(sum)
	}
	last := mean(known.Reward[n-max(1, int(math.Round(0.05*float64(n)))):])
	smoothed, _ := level(known.Reward)
	s := Score{
		From:            from,
		PersistenceRMSE: rmse(func(int) float64 { return last }),
		SmoothingRMSE:   rmse(func(int) float64 { return smoothed }),
	}
	for _, m := range FitLaws(known).Models {
		ahead := m.Predict(c.Time[n:])
		s.LawRMSE = append(s.LawRMSE, rmse(func(i int) float64 { return ahead[i] }))
	}
	return s, true
}
