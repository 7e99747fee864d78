package fit

import "math"

// Forecast predicts rows that follow those of a curve.
type Forecast struct {
	Mean   []float64 // expected reward of each future row
	Lo, Hi []float64 // 90 % predictive interval of its logged value
}

const (
	smoothing = 0.2               // weight of the newest row in exponential smoothing
	normal90  = 1.644853626951473 // half-width of the central 90 % of the normal law, in standard deviations
)

// within returns the forecast with 90 % intervals of a normal law about its mean.
func within(mean, sd []float64) Forecast {
	f := Forecast{Mean: mean, Lo: make([]float64, len(sd)), Hi: make([]float64, len(sd))}
	for i, m := range mean {
		f.Lo[i], f.Hi[i] = m-normal90*sd[i], m+normal90*sd[i]
	}
	return f
}

// times returns the forecast by the quotient of two powers of two.
func (f Forecast) times(by, over float64) Forecast {
	return Forecast{times(f.Mean, by, over), times(f.Lo, by, over), times(f.Hi, by, over)}
}

// level returns the level of a reward after its last row by exponential smoothing.
func level(y []float64) float64 {
	l := y[0]
	for _, v := range y {
		l += smoothing * (v - l)
	}
	return l
}

// Score compares a forecast with rows that it has not seen.
type Score struct {
	From               float64 // share of the rows that were known
	RMSE               float64 // root mean square of reward minus forecast
	PersistenceRMSE    float64 // that of the mean of the last 5 % of the known rows
	SmoothingRMSE      float64 // that of exponential smoothing with weight 0.2
	Coverage           float64 // share of rows inside the 90 % interval
	Winkler            float64 // mean width of the interval + 20 × distance of rows outside (Winkler 1972)
	PersistenceWinkler float64 // that of persistence ± 1.645 standard deviations of the noise
}

// split returns how many rows the given share of them is, and whether that leaves at
// least MinRows before it and one after.
func (c Curve) split(from float64) (n int, ok bool) {
	n = int(from * float64(len(c.Time)))
	return n, n >= MinRows && n < len(c.Time)
}

// Backtest makes a forecast from the first share of the rows, 0 < from < 1, and scores it
// on the others. It returns false if these are fewer than MinRows, or if none is left.
func Backtest(c Curve, from float64, forecast func(known Curve, times []float64) Forecast) (Score, bool) {
	n, ok := c.split(from)
	if !ok {
		return Score{}, false
	}
	unit := c.Unit()
	f := forecast(c.head(n), c.Time[n:]).times(1, unit)
	c = c.In(unit)
	known, rest := c.head(n), c.Reward[n:]
	last := mean(known.Reward[n-max(1, int(math.Round(0.05*float64(n)))):])
	smoothed := level(known.Reward)
	sd := math.Sqrt(mean(noise(known.Reward)))
	s := Score{From: from}
	var square float64
	for i, y := range rest {
		k := 1 / float64(len(rest))
		square += k * (y - f.Mean[i]) * (y - f.Mean[i])
		s.PersistenceRMSE += k * (y - last) * (y - last)
		s.SmoothingRMSE += k * (y - smoothed) * (y - smoothed)
		if f.Lo[i] <= y && y <= f.Hi[i] {
			s.Coverage += k
		}
		s.Winkler += k * winkler(y, f.Lo[i], f.Hi[i])
		s.PersistenceWinkler += k * winkler(y, last-normal90*sd, last+normal90*sd)
	}
	s.RMSE, s.PersistenceRMSE, s.SmoothingRMSE = math.Sqrt(square), math.Sqrt(s.PersistenceRMSE), math.Sqrt(s.SmoothingRMSE)
	for _, x := range []*float64{&s.RMSE, &s.PersistenceRMSE, &s.SmoothingRMSE, &s.Winkler, &s.PersistenceWinkler} {
		*x *= unit
	}
	return s, true
}

// winkler is the score of a 90 % interval: its width, and 2/0.1 times the distance of y
// if it lies outside.
func winkler(y, lo, hi float64) float64 {
	return hi - lo + 20*max(lo-y, 0, y-hi)
}
