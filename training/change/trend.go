package change

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Trend is a slow change: a straight line through the last values of a series.
type Trend struct {
	From        int     // index of the first value of the line
	Start, End  float64 // of the line, by least squares, in the unit of the series
	Correlation float64 // ρ of successive values about the line, in [0, 0.99]
	Chance      float64 // bound of the probability that a series without a trend shows one as clear, in [0, 1]
}

// LateTrend returns the clearest line through the last n, n/√2, n/2, … values, down to
// MinValues. It compares, as Find does, the likelihoods of a line and of a constant, of
// the ranks themselves: those of any monotone move lie on a line. It counts the windows.
// found is false if there are fewer than MinValues, or no line has the direction; then
// Chance is 1. TestFalseAlarms checks the bound for ρ up to 0.6; at 0.9, where few values
// are independent, it is exceeded up to five times.
func LateTrend(x []float64, of Direction) (t Trend, found bool) {
	t.Chance = 1
	windows := 0
	for last := len(x); last >= MinValues; last = int(float64(last) / math.Sqrt2) {
		windows++
		if w, is := line(x[len(x)-last:], of); is && (!found || w.Chance < t.Chance) {
			w.From += len(x) - last
			t, found = w, true
		}
	}
	t.Chance = min(1, max(1, float64(windows))*t.Chance)
	return t, found
}

// line compares a line with a constant at every correlation.
func line(x []float64, of Direction) (t Trend, found bool) {
	y, n := ranks(x), float64(len(x))
	without, with := math.Inf(1), math.Inf(1)
	for _, rho := range correlations {
		// Innovations of the ranks y, a constant 1 and the time, by products of pairs.
		first, q := math.Sqrt(1-rho*rho), 1-rho
		middle := (n - 1) / 2
		e, c, l := first*y[0], first, -first*middle
		yy, cc, ll, yc, yl, cl := e*e, c*c, l*l, e*c, e*l, c*l
		for i := 1; i < len(y); i++ {
			at := float64(i) - middle
			e, l = y[i]-rho*y[i-1], at-rho*(at-1)
			yy, cc, ll, yc, yl, cl = yy+e*e, cc+q*q, ll+l*l, yc+e*q, yl+e*l, cl+q*l
		}
		scale := math.Pow(first, -2/n)
		left, slope := yy-yc*yc/cc, yl-cl*yc/cc
		gain := 0.0
		if of == Either || (slope > 0) == (of == Rises) {
			gain = slope * slope / (ll - cl*cl/cc)
		}
		without = min(without, scale*max(left, roundOff*yy))
		if s := scale * max(left-gain, roundOff*yy); s < with {
			with, t.Correlation = s, rho
		}
	}
	t.Chance = 1
	if !(without > with) {
		return t, false
	}
	rho := unbiased(t.Correlation, n)
	freedom := max(1, min(n-3, n*(1-rho)/(1+rho)-2))
	clear := math.Sqrt((n-3)*(without/with-1)) * (1 - rho) / (1 - t.Correlation)
	t.Chance = distuv.StudentsT{Sigma: 1, Nu: freedom}.Survival(clear)
	if of == Either {
		t.Chance *= 2
	}
	m, product := Mean(x), 0.0
	for i, v := range x {
		product += (float64(i) - (n-1)/2) * (v - m)
	}
	rise := product / (n * (n*n - 1) / 12) * (n - 1) / 2 // half of that over the window
	t.Start, t.End = m-rise, m+rise
	return t, true
}

// unbiased corrects the correlation of n residuals about a line for what the fit of two
// parameters takes from it, (2 + 4ρ)/n (Marriott and Pope, Biometrika 41, 1954), up to
// the largest trial value. The error of a level grows with 1/(1−ρ).
func unbiased(rho, n float64) float64 {
	return min(max(rho, (rho+2/n)/(1-4/n)), correlations[len(correlations)-1])
}

// Closer reports whether the line is closer to the values from From on than the two
// levels before and after a change, by the sum of squares.
func (t Trend) Closer(x []float64, c Change) bool {
	last, k := x[t.From:], c.Index-t.From
	if k < 1 || k >= len(last) {
		return true
	}
	before, after := Mean(last[:k]), Mean(last[k:])
	line, levels := 0.0, 0.0
	for i, v := range last {
		d := v - t.Start - (t.End-t.Start)*float64(i)/float64(len(last)-1)
		line += d * d
		if d = v - before; i >= k {
			d = v - after
		}
		levels += d * d
	}
	return line < levels
}
