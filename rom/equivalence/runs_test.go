package equivalence

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"grposim/rom/fit"
)

func flatCurve(float64) float64 { return 0.5 }

// growth is an exponential from 0 to 1 over 200 steps.
func growth(timescale float64) func(t float64) float64 {
	return func(t float64) float64 { return -math.Expm1(-t / timescale) }
}

// noisy returns runs of a curve over 200 steps with the autocorrelated noise e_t = ½
// e_{t−1} + ε of the standard deviation 0.1, and a level of each run of deviation 0.1.
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

func compare(t *testing.T, a, b []fit.Curve, margin float64) *RunsComparison {
	t.Helper()
	c, err := Runs(a, b, margin, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Equal curves are called different, and curves at the distance of the margin the same,
// no more often than declared: with single runs by their autocorrelated residuals, here
// from the true curve instead of a fitted one, and with repeated runs, whose levels
// differ, by their scatter. Where the margin is wide, curves that are equal are found to
// be the same, and curves that are not different.
func TestRunsErrors(t *testing.T) {
	const trials = 400
	shifted := func(t float64) float64 { return growth(40)(t) + 0.15 }
	for _, c := range []struct {
		name   string
		runs   int
		b      func(float64) float64
		margin float64
		wrong  Verdict // and its chance
		chance float64
		right  Verdict // "": none is to be found often
	}{
		{"single, equal", 1, growth(40), 0.05, Different, 0.1, ""},
		{"single, at the margin", 1, shifted, 0.15, Same, 0.05, ""},
		{"single, equal, wide margin", 1, growth(40), 0.5, Different, 0.1, Same},
		{"single, slower", 1, growth(120), 0.05, Same, 0.05, Different},
		{"repeated, equal", 3, growth(40), 0.05, Different, 0.1, ""},
		{"repeated, at the margin", 3, shifted, 0.15, Same, 0.05, ""},
		{"repeated, equal, wide margin", 3, growth(40), 1, Different, 0.1, Same},
	} {
		wrong, right := 0, 0
		for seed := range uint64(trials) {
			r := RunsComparison{Confidence: 0.9, From: 1, To: 200, Margin: c.margin, Noise: WithinRuns}
			var sides [2]side
			for i, curve := range []func(float64) float64{growth(40), c.b} {
				for _, y := range noisy(c.runs, 2*seed+uint64(i), curve) {
					sides[i].runs = append(sides[i].runs, run{curve: y, fitted: fit.Result{Correlation: correlation(y, curve)}})
				}
			}
			if c.runs > 1 {
				r.Noise = BetweenRuns
			}
			if err := r.compareCurves(sides); err != nil {
				t.Fatal(err)
			}
			wrong, right = wrong+count(r.Verdict == c.wrong), right+count(r.Verdict == c.right)
		}
		if exceeds(wrong, trials, c.chance) {
			t.Errorf("%s: %d of %d comparisons are %s, want at most %g of them", c.name, wrong, trials, c.wrong, c.chance)
		}
		if c.right != "" && right < trials*8/10 {
			t.Errorf("%s: %d of %d comparisons are %s", c.name, right, trials, c.right)
		}
	}
}

// correlation is that of the distances of successive rows from a curve, 0 at least.
func correlation(c fit.Curve, curve func(float64) float64) float64 {
	var middle, product, all float64
	for i, y := range c.Reward {
		middle += (y - curve(c.Time[i])) / float64(len(c.Time))
	}
	before := 0.0
	for i, y := range c.Reward {
		r := y - curve(c.Time[i]) - middle
		product, all, before = product+r*before, all+r*r, r
	}
	return max(product/all, 0)
}

// What is compared: the margin, the segments, the law and its parameters.
func TestRunsQuantities(t *testing.T) {
	generator := rand.New(rand.NewPCG(1, 1))
	curve := func(shift, timescale float64) []fit.Curve {
		var c fit.Curve
		for t := 1.0; t <= 200; t++ {
			c.Time, c.Reward = append(c.Time, t), append(c.Reward, shift+growth(timescale)(t)+1e-4*generator.NormFloat64())
		}
		return []fit.Curve{c}
	}
	r := compare(t, curve(0, 40), curve(0.1, 44), 0)
	if len(r.Curve) != 11 || r.Noise != WithinRuns || r.From != 1 || r.To != 200 {
		t.Errorf("%d rows by %s from %g to %g, want the mean and 10 segments by %s from 1 to 200", len(r.Curve), r.Noise, r.From, r.To, WithinRuns)
	}
	if want := growth(40)(190) - growth(40)(11); math.Abs(r.Range-want) > 0.02 || r.Margin != DefaultMargin*r.Range {
		t.Errorf("range %g and margin %g, want about %g and %g of it", r.Range, r.Margin, want, DefaultMargin)
	}
	if last := r.Curve[10]; last.To != 200 || math.Abs(last.Change-(0.1-math.Exp(-190/44.)+math.Exp(-190/40.))) > 1e-3 {
		t.Errorf("the last segment is %+v", last)
	}
	var mean float64
	for _, s := range r.Curve[1:] {
		mean += s.Change / 10
	}
	if math.Abs(r.Curve[0].Change-mean) > 1e-12 {
		t.Errorf("the change of the mean is %g, the mean of the changes %g", r.Curve[0].Change, mean)
	}
	want := []Compared{{Name: "start", A: 0, B: 0.1, Margin: r.Margin}, {Name: "plateau", A: 1, B: 1.1, Margin: r.Margin},
		{Name: "timescale", A: 40, B: 44, Change: 1.1, Margin: math.Exp(r.Margin * math.E)}} // e: the growth is 1
	if r.Law != fit.Exponential || len(r.Parameters) != len(want) {
		t.Fatalf("%s with %d parameters", r.Law, len(r.Parameters))
	}
	for i, p := range r.Parameters {
		change := want[i].Change
		if change == 0 {
			change = 0.1
		}
		if p.Name != want[i].Name || math.Abs(p.A-want[i].A) > 2e-3*max(1, want[i].A) || math.Abs(p.B-want[i].B) > 2e-3*max(1, want[i].B) || math.Abs(p.Change-change) > 2e-3 || math.Abs(p.Margin-want[i].Margin) > 2e-3 {
			t.Errorf("%+v, want %+v", p, want[i])
		}
	}
	largest := 0.0
	for _, s := range r.Curve {
		largest = max(largest, math.Abs(s.Change))
	}
	if r.Verdict != Different || math.Abs(r.SameFrom-largest) > 1e-3 {
		t.Errorf("%s, the same from %g on", r.Verdict, r.SameFrom)
	}
	if wide := compare(t, curve(0, 40), curve(0.1, 44), 1.001*r.SameFrom); wide.Verdict != Same {
		t.Errorf("with the margin from which they are the same they are %s", wide.Verdict)
	}
}

// With a declared margin, exchanging A and B changes the sign of every difference and
// inverts every ratio.
func TestRunsExchanged(t *testing.T) {
	a, b := noisy(1, 5, growth(40)), noisy(1, 6, growth(80))
	forward, back := compare(t, a, b, 0.1), compare(t, b, a, 0.1)
	if forward.Verdict != back.Verdict || forward.SameFrom != back.SameFrom || forward.Law != back.Law {
		t.Errorf("%s from %g by %s, exchanged %s from %g by %s", forward.Verdict, forward.SameFrom, forward.Law, back.Verdict, back.SameFrom, back.Law)
	}
	for i, x := range forward.Curve {
		if y := back.Curve[i]; x.Change != -y.Change || x.Lo != -y.Hi || x.Hi != -y.Lo || x.Verdict != y.Verdict {
			t.Errorf("%+v exchanged is %+v", x, y)
		}
	}
	for i, x := range forward.Parameters {
		y := back.Parameters[i]
		lo, change := -y.Hi, -y.Change
		if x.By == Ratio {
			lo, change = 1/y.Hi, 1/y.Change
		}
		if math.Abs(x.Change-change) > 1e-9*math.Abs(change) || math.Abs(x.Lo-lo) > 1e-9*math.Abs(lo) || x.Verdict != y.Verdict {
			t.Errorf("%+v exchanged is %+v", x, y)
		}
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
	r := compare(t, []fit.Curve{a}, []fit.Curve{sparse}, 0.1)
	if r.From != 5 || r.To != 177 || len(r.Curve)-1 != 5 {
		t.Errorf("%d segments from %g to %g, want 5 from 5 to 177", len(r.Curve)-1, r.From, r.To)
	}
	repeated := compare(t, noisy(2, 1, growth(40)), noisy(1, 2, growth(40)), 0.1)
	if repeated.Noise != BetweenRuns {
		t.Errorf("three runs are compared by %s", repeated.Noise)
	}
	long := fit.Curve{}
	for i := range 1200 { // averaged over blocks of three
		long.Time, long.Reward = append(long.Time, float64(i)/6+1), append(long.Reward, 2)
	}
	if got, _ := long.Thin(); len(got.Time) != 400 || math.Abs(got.Time[0]-long.Time[1]) > 1e-12 {
		t.Errorf("%d rows from %g on", len(got.Time), got.Time[0])
	}

	a.Time, a.Reward = a.Time[:30], a.Reward[:30]
	if _, err := Runs([]fit.Curve{b}, []fit.Curve{a, {Time: []float64{25, 40}, Reward: []float64{1, 1}}}, 0.1, 0.9); err == nil || !strings.Contains(err.Error(), "run 1 of A has 6 rows in the times that all runs have, 25 to 30") {
		t.Errorf("got %v", err)
	}
	flat := fit.Curve{Time: b.Time, Reward: make([]float64, len(b.Time))}
	if _, err := Runs([]fit.Curve{flat}, []fit.Curve{b}, 0, 0.9); err == nil {
		t.Error("a flat curve gives a margin")
	}
}

// A curve of three phases gives the timescale 1/ω; and the ends of the interval of a
// parameter move apart with the confidence.
func TestRunsThreePhase(t *testing.T) {
	phases := func(frequency float64) func(float64) float64 {
		return func(t float64) float64 { return 2 * (1 - (1+frequency*t)*math.Exp(-frequency*t)) }
	}
	var wide *RunsComparison
	for _, confidence := range []float64{0.99, 0.8} {
		r, err := Runs(noisy(1, 1, phases(0.05)), noisy(1, 2, phases(0.04)), 0.1, confidence)
		if err != nil {
			t.Fatal(err)
		}
		p := r.Parameters[2]
		if r.Law != fit.ThreePhase || math.Abs(p.A/20-1) > 0.2 || math.Abs(p.B/25-1) > 0.2 {
			t.Errorf("%s with the timescales %g and %g, want %s with 20 and 25", r.Law, p.A, p.B, fit.ThreePhase)
		}
		if want := math.Exp(0.1 / (2 * 4 * math.Exp(-2))); math.Abs(p.Margin/want-1) > 0.02 {
			t.Errorf("margin of the timescale %g, want about %g", p.Margin, want)
		}
		if wide == nil {
			wide = r
		} else if before := wide.Parameters[2]; !(before.Lo < p.Lo && p.Lo < p.Change && p.Change < p.Hi && p.Hi < before.Hi) {
			t.Errorf("[%g, %g] at 99 %%, [%g, %g] at 80 %%", before.Lo, before.Hi, p.Lo, p.Hi)
		}
	}
}

// The line through (0, 0), (1, 1), (2, 0) and through points of 1 + 2t; and Student's
// test of {1, 2, 3} against {4, 6} by hand.
func TestLineAndScatter(t *testing.T) {
	if e := lineAt(2, []float64{0, 1, 2}, []float64{0, 1, 0}); math.Abs(e.value-1./3) > 1e-12 || math.Abs(e.variance-5./9) > 1e-12 || e.df != 1 {
		t.Errorf("%+v, want 1/3, 5/9, 1", e)
	}
	if e := lineAt(4, []float64{0, 1, 2, 5}, []float64{1, 3, 5, 11}); math.Abs(e.value-9) > 1e-12 {
		t.Errorf("1 + 2t at 4 is %g", e.value)
	}
	half := 2.353363 * math.Sqrt(4./3*(1./3+1./2))
	if lo, hi := scatter([]float64{1, 2, 3}, []float64{4, 6})(0.05); math.Abs(lo-3+half) > 1e-5 || math.Abs(hi-3-half) > 1e-5 {
		t.Errorf("[%g, %g], want 3 ± %g", lo, hi, half)
	}
}
