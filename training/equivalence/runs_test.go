package equivalence

import (
	"cmp"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"grposim/training/fit"
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
	c, err := Runs(a, b, margin, 0.9, math.Inf(1))
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
	const trials = runsTrials
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
					sides[i].runs = append(sides[i].runs, run{curve: y, correlation: correlation(y, curve)})
				}
			}
			if c.runs > 1 {
				r.Noise = BetweenRuns
			}
			tests, err := r.compareCurves(sides)
			if err != nil {
				t.Fatal(err)
			}
			r.judge(tests)
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
	first := 1 - growth(40)(1) // the rise of A from the first row on
	want := []Compared{
		{Name: "start", A: 1 - first, B: 0.1 + growth(44)(1), Margin: r.Margin},
		{Name: "plateau", A: 1, B: 1.1, Margin: r.Margin},
		{Name: "half-time", A: 40 * math.Ln2, B: 44 * math.Ln2, Change: 1.1, Margin: math.Exp(r.Margin * math.E / first)},
	}
	if r.Law != fit.Exponential || len(r.Parameters) != len(want) {
		t.Fatalf("%s with %d parameters", r.Law, len(r.Parameters))
	}
	for i, p := range r.Parameters {
		change := cmp.Or(want[i].Change, want[i].B-want[i].A)
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
	if _, err := Runs([]fit.Curve{b}, []fit.Curve{a, {Time: []float64{25, 40}, Reward: []float64{1, 1}}}, 0.1, 0.9, math.Inf(1)); err == nil || !strings.Contains(err.Error(), "run 1 of A has 6 rows in the times that all runs have, 25 to 30") {
		t.Errorf("got %v", err)
	}
	flat := fit.Curve{Time: b.Time, Reward: make([]float64, len(b.Time))}
	if _, err := Runs([]fit.Curve{flat}, []fit.Curve{b}, 0, 0.9, math.Inf(1)); err == nil {
		t.Error("a flat curve gives a margin")
	}
}

// Curves of three phases with ω = 1/20 and 1/25 reach half of their rise at x = 1.678 of
// ω t; and the ends of the interval of a half-time move apart with the confidence.
func TestRunsHalfTime(t *testing.T) {
	phases := func(frequency float64) func(float64) float64 {
		return func(t float64) float64 { return 2 * (1 - (1+frequency*t)*math.Exp(-frequency*t)) }
	}
	var wide *RunsComparison
	for _, confidence := range []float64{0.99, 0.8} {
		r, err := Runs(noisy(1, 1, phases(0.05)), noisy(1, 2, phases(0.04)), 0.1, confidence, math.Inf(1))
		if err != nil {
			t.Fatal(err)
		}
		p := r.Parameters[2]
		if p.By != Ratio || math.Abs(p.A/(1.678*20-1)-1) > 0.1 || math.Abs(p.B/(1.678*25-1)-1) > 0.1 {
			t.Errorf("half-times %g and %g, want %g and %g", p.A, p.B, 1.678*20-1, 1.678*25-1)
		}
		if want := math.Exp(0.1 / (2 * 4 * math.Exp(-2))); math.Abs(p.Margin/want-1) > 0.03 {
			t.Errorf("margin of the half-time %g, want about %g", p.Margin, want)
		}
		if wide == nil {
			wide = r
		} else if before := wide.Parameters[2]; !(before.Lo < p.Lo && p.Lo < p.Change && p.Change < p.Hi && p.Hi < before.Hi) {
			t.Errorf("[%g, %g] at 99 %%, [%g, %g] at 80 %%", before.Lo, before.Hi, p.Lo, p.Hi)
		}
	}
}

// A run that still rises has no plateau to compare, and a flat one no rise; what a run
// has by itself is said in spite of the other.
func TestRunsNotFlattened(t *testing.T) {
	r := compare(t, noisy(1, 1, growth(20)), noisy(1, 2, growth(150)), 0.1)
	for _, p := range r.Parameters[1:] {
		if p.Verdict != Undecided || math.IsNaN(p.A) || !math.IsNaN(p.B) || !strings.HasPrefix(p.Reason, "run 1 of B has not flattened at 200: up to ") {
			t.Errorf("%+v of a run that rises by three quarters", p)
		}
	}
	flat := compare(t, noisy(1, 1, flatCurve), noisy(1, 2, growth(20)), 0.1)
	if p := flat.Parameters[1]; !math.IsNaN(p.A) || !strings.HasPrefix(p.Reason, "run 1 of A does not grow: ") {
		t.Errorf("%+v of a flat run", p)
	}
	// Where the largest reward is known, the plateau is no larger, nor is its interval.
	known, err := Runs(noisy(1, 3, growth(30)), noisy(1, 4, growth(30)), 0.1, 0.9, 1)
	if err != nil {
		t.Fatal(err)
	}
	if p := known.Parameters[1]; p.A > 1 || p.B > 1 || !(p.Lo < 0 && p.Hi > 0) {
		t.Errorf("%+v with the largest reward 1", p)
	}
}

// A run that is given twice is one run: two logs and their copies give the interval of the
// two. Repeated runs that happen to agree in a segment keep the noise within them.
func TestRunsCopies(t *testing.T) {
	a, b := noisy(1, 1, growth(40)), noisy(1, 2, growth(40))
	once, twice := compare(t, a, b, 0.1), compare(t, slices.Concat(a, a), slices.Concat(b, b), 0.1)
	if twice.Noise != WithinRuns || !reflect.DeepEqual(once.Curve, twice.Curve) || len(once.Notes) != 0 {
		t.Errorf("copies are compared by %s", twice.Noise)
	}
	if want := []string{"run 2 of A has the same rows as run 1 of A: they count as one run, since a copy shows no scatter", "run 2 of B has the same rows as run 1 of B: they count as one run, since a copy shows no scatter"}; !slices.Equal(twice.Notes, want) {
		t.Errorf("notes %q", twice.Notes)
	}
	if itself := compare(t, a, a, 0.1); len(itself.Notes) != 1 || itself.Verdict == Different {
		t.Errorf("a run and itself are %s, notes %q", itself.Verdict, itself.Notes)
	}
	// Copies of the one side among the copies of the other are found too.
	if r := compare(t, slices.Concat(a, b), slices.Concat(a, a), 0.1); len(r.Notes) != 2 || !strings.Contains(r.Notes[1], "run 2 of B has the same rows as run 1 of B") {
		t.Errorf("notes %q", r.Notes)
	}
	if lo, hi := scatter([]float64{1, 1}, []float64{1, 1}, 0.01)(0.05); math.Abs(hi-2.919986*0.1) > 1e-6 || lo != -hi {
		t.Errorf("[%g, %g] of equal values with an error of 0.1, want ± 0.292", lo, hi)
	}
}

// The line through (0, 0), (1, 1), (2, 0) and through points of 1 + 2t; and Student's
// test of {1, 2, 3} against {4, 6} by hand.
func TestLineAndScatter(t *testing.T) {
	if e := lineAt(2, []float64{0, 1, 2}, []float64{0, 1, 0}, 0); math.Abs(e.value-1./3) > 1e-12 || math.Abs(e.variance-5./9) > 1e-12 || e.df != 1 {
		t.Errorf("%+v, want 1/3, 5/9, 1", e)
	}
	if e := lineAt(4, []float64{0, 1, 2, 5}, []float64{1, 3, 5, 11}, 0); math.Abs(e.value-9) > 1e-12 {
		t.Errorf("1 + 2t at 4 is %g", e.value)
	}
	// Correlated by ½: h = 5/6, 1/3, 5/6 and 1/3, 1/3, −1/6 leave 3 − 2 − 2/3 + 1/12 = 5/12.
	if e := lineAt(2, []float64{0, 1, 2}, []float64{0, 1, 0}, 0.5); math.Abs(e.variance-5./9*3*12/5) > 1e-12 || math.Abs(e.df-1./3) > 1e-12 {
		t.Errorf("%+v, want 4 and 1/3", e)
	}
	half := 2.353363 * math.Sqrt(4./3*(1./3+1./2))
	if lo, hi := scatter([]float64{1, 2, 3}, []float64{4, 6}, 0)(0.05); math.Abs(lo-3+half) > 1e-5 || math.Abs(hi-3-half) > 1e-5 {
		t.Errorf("[%g, %g], want 3 ± %g", lo, hi, half)
	}
}
