package fit

import (
	"math"
	"slices"
)

// PredictFromSiblings forecasts from earlier runs of the same recipe: half of their mean
// level at each time and half of their mean increment since the last known row,
//
//	s(t) + ½ (level − s(T)),
//
// where s is the mean of their moving averages over a tenth of the rows. Its interval
// has the noise of the curve, the scatter of its own moving average about s, and the
// half of the distance of levels that was not carried over. Unlike Predict it can
// foresee a take-off, if the siblings had one.
func PredictFromSiblings(c Curve, times []float64, siblings []Curve) Forecast {
	c.check()
	unit := c.Unit()
	for _, s := range siblings {
		unit = max(unit, s.Unit())
	}
	c = c.In(unit)
	smoothed := make([]Curve, len(siblings))
	for i, s := range siblings {
		s.check()
		smoothed[i] = Curve{s.Time, smooth(s.In(unit).Reward, 0.1)}
	}
	at := func(t float64) float64 {
		var sum float64
		for _, s := range smoothed {
			sum += s.at(t) / float64(len(smoothed))
		}
		return sum
	}
	apart := make([]float64, len(c.Time))
	for i, y := range smooth(c.Reward, 0.1) {
		apart[i] = y - at(c.Time[i])
	}
	offset := (level(c.Reward) - at(c.end())) / 2
	middle := mean(apart)
	var scatter float64
	for _, d := range apart {
		scatter += square(d-middle) / float64(len(apart))
	}
	sd := math.Sqrt(mean(noise(c.Reward)) + scatter + offset*offset)
	f := Forecast{Mean: make([]float64, len(times))}
	sds := make([]float64, len(times))
	for i, t := range times {
		f.Mean[i], sds[i] = at(t)+offset, sd
	}
	return within(f.Mean, sds).times(unit, 1)
}

// at interpolates the reward at a time; before the first row and after the last it is
// theirs.
func (c Curve) at(t float64) float64 {
	n := len(c.Time)
	if t <= c.Time[0] {
		return c.Reward[0]
	}
	if t >= c.end() {
		return c.Reward[n-1]
	}
	i, _ := slices.BinarySearch(c.Time, t)
	x := (t - c.Time[i-1]) / (c.Time[i] - c.Time[i-1])
	return c.Reward[i-1] + x*(c.Reward[i]-c.Reward[i-1])
}
