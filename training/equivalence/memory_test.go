package equivalence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"grposim/training/fit"
)

// autoregressive is a run of a curve over rows at times 1, 2, …, with noise e_t = r e_{t−1} + ε
// of a standard deviation.
func autoregressive(g *rand.Rand, rows int, r, deviation float64, curve func(t float64) float64) fit.Curve {
	var c fit.Curve
	e := g.NormFloat64()
	for t := 1.0; t <= float64(rows); t++ {
		c.Time, c.Reward = append(c.Time, t), append(c.Reward, curve(t)+deviation*e)
		e = r*e + math.Sqrt(1-r*r)*g.NormFloat64()
	}
	return c
}

// collapsing is a curve that rises from 0.25 to 0.75 and falls at once, somewhere between 0.4
// and 0.9 of its rows, and the same without the fall.
func collapsing(g *rand.Rand, rows int, fall float64) (ill, healthy func(t float64) float64) {
	half, at := float64(rows)*(0.05+0.2*g.Float64()), float64(rows)*(0.4+0.5*g.Float64())
	healthy = func(t float64) float64 { return 0.25 - 0.5*math.Expm1(-t/half) }
	ill = func(t float64) float64 {
		if t < at {
			return healthy(t)
		}
		return healthy(t) - fall
	}
	return ill, healthy
}

// A run that falls by 0.3 is different from one that does not, by single runs of 300 rows with
// noise of 0.02 to 0.06 and correlations up to 0.5, in nine of ten pairs at least; and no law is
// said to follow it, whose start would differ. Of two runs that fall at the same row, whose
// noise no law shows, at most 5 % are different and, at the distance of the margin, 2.5 % the
// same, whatever the correlation.
func TestCollapse(t *testing.T) {
	const rows, trials = 300, collapseTrials
	found, starts, unlawful, different, same := 0, 0, 0, 0, 0
	for seed := range uint64(trials) {
		g := rand.New(rand.NewPCG(seed, 35))
		deviation := 0.02 + 0.04*g.Float64()
		ill, healthy := collapsing(g, rows, 0.3)
		run := func(r float64, curve func(float64) float64) []fit.Curve {
			return []fit.Curve{autoregressive(g, rows, r, deviation, curve)}
		}
		single := func(a, b []fit.Curve, margin float64) *RunsComparison {
			c, err := Runs(a, b, margin, 0.95, math.Inf(1))
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		r := []float64{0, 0.3, 0.5}[seed%3]
		c := single(run(r, healthy), run(r, ill), 0.05)
		found += count(c.Verdict == Different)
		starts += count(c.Parameters[0].Verdict == Different)
		unlawful += count(strings.Contains(c.Parameters[1].Reason, "run 1 of B follows no law of growth"))
		r = []float64{0, 0.5, 0.7, 0.9, 0.95}[seed%5]
		a := run(r, ill)
		different += count(anyDifferent(single(a, run(r, ill), 0.05).Curve))
		margin := 2.5 * deviation
		same += count(single(a, run(r, func(t float64) float64 { return ill(t) + margin }), margin).Verdict == Same)
	}
	result := fmt.Sprintf("of %d pairs %d are different, with %d equal starts that are and %d runs without a law; without a difference %d, and at the margin %d the same", trials, found, starts, unlawful, different, same)
	t.Log(result)
	if found < trials*9/10 || unlawful < trials*9/10 || exceeds(starts, trials, 0.05) || exceeds(different, trials, 0.05) || exceeds(same, trials, 0.025) {
		t.Error(result)
	}
}

// The bound of the correlation is below the true one no more often than declared, and near it
// where the curve is one that no law follows: two jumps and a constant window do not move it.
func TestLargestCorrelation(t *testing.T) {
	const rows = 300
	jumps := func(t float64) float64 {
		switch {
		case t < 100:
			return 0
		case t < 215:
			return 20
		}
		return -5
	}
	for _, c := range []struct{ r, near float64 }{{0, 0.3}, {0.5, 0.85}, {0.9, 1}} {
		below, near := 0, 0
		for seed := range uint64(collapseTrials) {
			y := autoregressive(rand.New(rand.NewPCG(seed, 36)), rows, c.r, 1, jumps)
			for i := rows * 9 / 10; i < rows; i++ {
				y.Reward[i] = -5
			}
			windows := (&RunsComparison{From: 1, To: rows}).segments([2]side{{runs: []run{{curve: y}}}}, windowRows)
			bound := largestCorrelation(y, windows, 0.98)
			below, near = below+count(bound < c.r), near+count(bound < c.near)
		}
		if exceeds(below, collapseTrials, tooSmall) || near < collapseTrials*3/4 {
			t.Errorf("of %d bounds %d are below the correlation %g, and %d below %g", collapseTrials, below, c.r, near, c.near)
		}
	}
	short := autoregressive(rand.New(rand.NewPCG(1, 37)), 60, 0, 1, flatCurve)
	if r := largestCorrelation(short, []segment{{1, 30}, {30, 61}}, 0.7); r != 0.7 {
		t.Errorf("two windows bound the correlation by %g, want that of the residuals", r)
	}
}

// Where a segment has less than one independent row, what is not known is said in words.
func TestRunsThatRemember(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 38))
	c := compare(t, []fit.Curve{autoregressive(g, 300, 0.99, 0.1, flatCurve)}, []fit.Curve{autoregressive(g, 300, 0.99, 0.1, flatCurve)}, 0.05)
	if q := c.Curve[1]; c.Verdict != Undecided || !math.IsInf(q.Hi, 1) || !strings.Contains(q.Reason, "less than one independent row") {
		t.Errorf("%s, %+v of runs without an independent row in a segment", c.Verdict, q)
	}
}
