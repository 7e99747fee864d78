package equivalence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"grposim/training/fit"
)

// growth is an exponential from 0 to 1 over 200 steps.
func growth(timescale float64) func(t float64) float64 {
	return func(t float64) float64 { return -math.Expm1(-t / timescale) }
}

// noisy returns runs of a curve over 200 steps with the noise e_t = ½ e_{t−1} + ε.
// The noise and the levels of the runs have the standard deviation 0.1.
func noisy(runs int, seed uint64, curve func(t float64) float64) []fit.Curve {
	generator := rand.New(rand.NewPCG(seed, 3))
	var all []fit.Curve
	for range runs {
		level := 0.0
		if runs > 1 {
			level = 0.1 * generator.NormFloat64()
		}
		var c fit.Curve
		e := 0.1 * generator.NormFloat64()
		for t := 1.0; t <= 200; t++ {
			c.Time, c.Reward = append(c.Time, t), append(c.Reward, curve(t)+level+e)
			e = 0.5*e + 0.1*math.Sqrt(0.75)*generator.NormFloat64()
		}
		all = append(all, c)
	}
	return all
}

// near fails unless a number is another, within an error.
func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s is %g, want %g ± %g", what, got, want, within)
	}
}

func compared(t *testing.T, a, b []fit.Curve, margin float64) *RunsComparison {
	t.Helper()
	c, err := Runs(a, b, margin, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What is compared: the margin and the segments.
func TestRunsQuantities(t *testing.T) {
	generator := rand.New(rand.NewPCG(1, 1))
	curve := func(shift, timescale float64) []fit.Curve {
		var c fit.Curve
		for t := 1.0; t <= 200; t++ {
			y := shift + growth(timescale)(t) + 1e-4*generator.NormFloat64()
			c.Time, c.Reward = append(c.Time, t), append(c.Reward, y)
		}
		return []fit.Curve{c}
	}
	r := compared(t, curve(0, 40), curve(0.1, 44), 0)
	if len(r.Curve) != 11 || r.Noise != WithinRuns || r.From != 1 || r.To != 200 {
		t.Errorf("%+v, want the mean and 10 segments by %s from 1 to 200", r, WithinRuns)
	}
	near(t, "range", r.Range, growth(40)(190)-growth(40)(11), 0.02)
	near(t, "margin", r.Margin, DefaultMargin*r.Range, 0)
	near(t, "end", r.Curve[10].To, 200, 0)
	near(t, "change", r.Curve[10].Change, 0.1-math.Exp(-190/44.)+math.Exp(-190/40.), 1e-3)
	var mean float64
	for _, s := range r.Curve[1:] {
		mean += s.Change / 10
	}
	near(t, "change of the mean", r.Curve[0].Change, mean, 1e-12)
	largest := 0.0
	for _, s := range r.Curve {
		largest = max(largest, math.Abs(s.Change))
	}
	if r.Verdict != Different || math.Abs(r.SameFrom-largest) > 1e-3 {
		t.Errorf("%s, the same from %g on", r.Verdict, r.SameFrom)
	}
	if wide := compared(t, curve(0, 40), curve(0.1, 44), 1.001*r.SameFrom); wide.Verdict != Same {
		t.Errorf("with the margin from which they are the same they are %s", wide.Verdict)
	}
}

// Runs of different lengths and spacings are compared over their common times, and the
// number of segments follows from their rows.
func TestRunsOfDifferentSpacing(t *testing.T) {
	a, b := noisy(1, 8, growth(40))[0], noisy(1, 9, growth(40))[0]
	var sparse fit.Curve
	for i := 4; i < 180; i += 4 { // 44 rows at 5, 9, … 177
		sparse.Time, sparse.Reward = append(sparse.Time, b.Time[i]), append(sparse.Reward, b.Reward[i])
	}
	r := compared(t, []fit.Curve{a}, []fit.Curve{sparse}, 0.1)
	if r.From != 5 || r.To != 177 || len(r.Curve)-1 != 5 {
		t.Errorf("%d segments from %g to %g, want 5 from 5 to 177", len(r.Curve)-1, r.From, r.To)
	}
	repeated := compared(t, noisy(2, 1, growth(40)), noisy(1, 2, growth(40)), 0.1)
	if repeated.Noise != BetweenRuns {
		t.Errorf("three runs are compared by %s", repeated.Noise)
	}

	a.Time, a.Reward = a.Time[:30], a.Reward[:30]
	_, err := Runs([]fit.Curve{b}, []fit.Curve{a, {Time: []float64{25, 40}, Reward: []float64{1, 1}}}, 0.1, 0.9)
	const few = "run 1 of A has 6 rows in the times that all runs have, 25 to 30"
	if err == nil || !strings.Contains(err.Error(), few) {
		t.Errorf("got %v", err)
	}
	flat := fit.Curve{Time: b.Time, Reward: make([]float64, len(b.Time))}
	if _, err := Runs([]fit.Curve{flat}, []fit.Curve{b}, 0, 0.9); err == nil {
		t.Error("a flat curve gives a margin")
	}
}

// A run that is given twice is one run: two logs and their copies give the interval of the
// two. Repeated runs that happen to agree in a segment keep the noise within them.
func TestRunsCopies(t *testing.T) {
	a, b := noisy(1, 1, growth(40)), noisy(1, 2, growth(40))
	once, twice := compared(t, a, b, 0.1), compared(t, slices.Concat(a, a), slices.Concat(b, b), 0.1)
	same := reflect.DeepEqual(once.Curve, twice.Curve)
	if twice.Noise != WithinRuns || !same || len(once.Notes) != 0 {
		t.Errorf("copies are compared by %s", twice.Noise)
	}
	const note = "run 2 of %[1]s has the same rows as run 1 of %[1]s: " +
		"they count as one run, since a copy shows no scatter"
	if !slices.Equal(twice.Notes, []string{fmt.Sprintf(note, "A"), fmt.Sprintf(note, "B")}) {
		t.Errorf("notes %q", twice.Notes)
	}
	if itself := compared(t, a, a, 0.1); len(itself.Notes) != 1 || itself.Verdict == Different {
		t.Errorf("a run and itself are %s, notes %q", itself.Verdict, itself.Notes)
	}
	// Copies of the one side among the copies of the other are found too.
	r := compared(t, slices.Concat(a, b), slices.Concat(a, a), 0.1)
	if len(r.Notes) != 2 || r.Notes[1] != fmt.Sprintf(note, "B") {
		t.Errorf("notes %q", r.Notes)
	}
	lo, hi := scatter([]float64{1, 1}, []float64{1, 1}, 0.01)(0.05) // an error of 0.1
	near(t, "high", hi, 2.919986*0.1, 1e-6)
	near(t, "low", lo, -hi, 0)
}

// The line through (0, 0), (1, 1), (2, 0) and through points of 1 + 2t. Student's test of {1, 2, 3}
// against {4, 6} by hand.
func TestLineAndScatter(t *testing.T) {
	e := lineAt(2, []float64{0, 1, 2}, []float64{0, 1, 0}, 0)
	near(t, "value", e.value, 1./3, 1e-12)
	near(t, "variance", e.variance, 5./9, 1e-12)
	near(t, "df", e.df, 1, 0)
	near(t, "1 + 2t at 4", lineAt(4, []float64{0, 1, 2, 5}, []float64{1, 3, 5, 11}, 0).value, 9, 1e-12)
	// Correlated by ½: h = 5/6, 1/3, 5/6 and 1/3, 1/3, −1/6 leave 3 − 2 − 2/3 + 1/12 = 5/12.
	e = lineAt(2, []float64{0, 1, 2}, []float64{0, 1, 0}, 0.5)
	near(t, "correlated variance", e.variance, 5./9*3*12/5, 1e-12)
	near(t, "correlated df", e.df, 1./3, 1e-12)
	half := 2.353363 * math.Sqrt(4./3*(1./3+1./2))
	lo, hi := scatter([]float64{1, 2, 3}, []float64{4, 6}, 0)(0.05)
	near(t, "low", lo, 3-half, 1e-5)
	near(t, "high", hi, 3+half, 1e-5)
}

// A run that falls by 0.3 is different from one that does not, in nine of ten pairs of single runs
// at least. Of two runs that fall at the same row, at the distance of the margin, at most 10 % are
// different and 5 % the same, whatever the correlation of their noise.
func TestCollapse(t *testing.T) {
	const rows, trials = 300, collapseTrials
	found, different, same := 0, 0, 0
	for seed := range uint64(trials) {
		g := rand.New(rand.NewPCG(seed, 35))
		deviation := 0.02 + 0.04*g.Float64()
		half, at := rows*(0.05+0.2*g.Float64()), rows*(0.4+0.5*g.Float64())
		run := func(r, fall, level float64) []fit.Curve {
			l := learning{law: "exponential", start: 0.25, plateau: 0.75, half: half}
			c := trainer{rows: rows, noise: deviation, phi: r, smooth: 1}.log(g, l)
			for i, t := range c.Time {
				if c.Reward[i] += level; t >= at {
					c.Reward[i] -= fall
				}
			}
			return []fit.Curve{c}
		}
		r := []float64{0, 0.3, 0.5}[seed%3]
		found += count(compared(t, run(r, 0, 0), run(r, 0.3, 0), 0.05).Verdict == Different)
		r = []float64{0, 0.5, 0.7, 0.9, 0.95}[seed%5]
		margin := 2.5 * deviation
		alike := compared(t, run(r, 0.3, 0), run(r, 0.3, margin), margin).Verdict
		different, same = different+count(alike == Different), same+count(alike == Same)
	}
	if found < trials*9/10 || exceeds(different, trials, 0.1) || exceeds(same, trials, 0.05) {
		t.Errorf("of %d pairs %d are different; at the margin %d, and %d the same", trials, found, different, same)
	}
}
