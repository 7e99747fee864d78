package change

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"grposim/rom/fp"
)

// Trend is a slow change: a straight line through successive values of a series, which ends
// with the last value, or before values that stay where it has led.
type Trend struct {
	From, To    int     // indices of the first value of the line and of the first after it
	Start, End  float64 // of the line, by least squares, in the unit of the series
	Correlation float64 // ρ of successive values about the line, in [0, 0.99]
	Chance      float64 // bound of the probability that a series without a trend shows one as clear, in [0, 1]
}

// LateTrend returns the clearest line through the n, n/√2, n/2, … values before an end, down
// to MinValues. It compares, as Find does, the likelihoods of a line and of a constant, of
// the ranks themselves: those of any monotone move lie on a line. found is false if there are
// fewer than MinValues, or no line has the direction; then Chance is 1. TestFalseAlarms
// checks the bound for ρ up to 0.6; at 0.9, where few values are independent, it is exceeded
// up to five times.
//
// The ends are that of the series, and those n, n/√2, n/2, … values before it, down to
// leastSettled, after which the values stay (settled): of a fall that has ended, a line
// through it and the values that follow leaves residuals as those of a slow wander, and is no
// clearer than one. The probability is shared equally between the lines to the end of the
// series and all others, and within these among the windows.
func LateTrend(x []float64, of Direction) (t Trend, found bool) {
	t.Chance = 1
	var atEnd, before []Trend // windows
	for _, last := range lengths(len(x), MinValues) {
		atEnd = append(atEnd, Trend{From: len(x) - last, To: len(x)})
	}
	for _, after := range lengths(len(x), leastSettled) {
		for _, last := range lengths(len(x)-after, MinValues) {
			if last <= longest*after {
				before = append(before, Trend{From: len(x) - after - last, To: len(x) - after})
			}
		}
	}
	for _, windows := range [][]Trend{atEnd, before} {
		w, is := clearest(x, of, windows)
		if w.Chance = min(1, 2*w.Chance); is && (!found || w.Chance < t.Chance) {
			t, found = w, true
		}
	}
	return t, found
}

// lengths returns n, n/√2, n/2, … down to a least one.
func lengths(n, least int) (all []int) {
	for ; n >= least; n = int(float64(n) / math.Sqrt2) {
		all = append(all, n)
	}
	return all
}

// leastSettled is the smallest number of values after the end of a line that is not that of
// the series: a line through fewer of them is still one. So is a line through the values after
// one that is longest times as long.
const leastSettled, longest = 6, 4

// clearest returns the clearest line through one of the windows after which the values stay.
// It counts the windows.
func clearest(x []float64, of Direction, windows []Trend) (t Trend, found bool) {
	t.Chance = 1
	for _, w := range windows {
		fit, is := line(x[w.From:w.To], of)
		fit.From, fit.To = w.From, w.To
		if is && (!found || fit.Chance < t.Chance) && fit.settled(x) {
			t, found = fit, true
		}
	}
	t.Chance = min(1, max(1, float64(len(windows)))*t.Chance)
	return t, found
}

// settled reports whether the values after a line, and each quarter of them, are on average
// nearer to its end than to its start.
func (t Trend) settled(x []float64) bool {
	rest, middle := x[t.To:], t.Start/2+t.End/2
	for i := range 4 {
		quarter := rest[i*len(rest)/4 : (i+1)*len(rest)/4]
		if len(quarter) > 0 && (Mean(quarter) > middle) != (t.End > t.Start) {
			return false
		}
	}
	return true
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
		scale := fp.Pow(first, -2/n)
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
	// The error of a level grows with 1/(1−ρ).
	rho := min(max(t.Correlation, Unbiased(t.Correlation, n, 2)), correlations[len(correlations)-1])
	freedom := max(1, min(n-3, n*Independent(rho)-2))
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

// Closer reports whether the line, and the mean of the values after it, are closer to the
// values from From on than the two levels before and after a change, by the sum of squares.
func (t Trend) Closer(x []float64, c Change) bool {
	last, k := x[t.From:], c.Index-t.From
	if k < 1 || k >= len(last) {
		return true
	}
	before, after, rest := Mean(last[:k]), Mean(last[k:]), t.End
	if t.To < len(x) {
		rest = Mean(x[t.To:])
	}
	line, levels := 0.0, 0.0
	for i, v := range last {
		d := v - rest
		if n := t.To - t.From; i < n {
			d = v - t.Start - (t.End-t.Start)*float64(i)/float64(n-1)
		}
		line += d * d
		if d = v - before; i >= k {
			d = v - after
		}
		levels += d * d
	}
	return line < levels
}
