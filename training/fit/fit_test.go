package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// fitLaw fits one law alone.
func fitLaw(c Curve, name Name) *Model {
	b := c.average()
	l := laws[slices.IndexFunc(laws, func(l law) bool { return l.name == name })]
	p := newProblem(l, b, weights(b), 0)
	return &Model{Name: name, law: l, problem: p, best: p.solve(), independent: 1, unit: 1}
}

// shapes are laws with parameters that a curve of 250 steps identifies.
var shapes = []struct {
	law   Name
	shape []float64
}{
	{Exponential, []float64{40}},
	{Inertial, []float64{0.1, 0.3}},
	{ThreePhase, []float64{0.08}},
	{Logistic, []float64{100, 15}},
	{ScalingLaw, []float64{90, 3}},
}

// grown returns a law at known parameters, from 2 to 5.
func grown(name Name, shape []float64) func(t float64) float64 {
	i := slices.IndexFunc(laws, func(l law) bool { return l.name == name })
	return func(t float64) float64 { return 2 + 3*laws[i].at(t, shape) }
}

func TestFitRecoversParameters(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, s := range shapes {
		m := fitLaw(curve(rng, 250, 1e-4, grown(s.law, s.shape)), s.law)
		for k, want := range s.shape {
			if got := m.best.shape[k]; math.Abs(got/want-1) > 0.02 {
				t.Errorf("%s: %s is %g, want %g", s.law, m.law.shape[k].name, got, want)
			}
		}
		if math.Abs(m.best.start-2) > 0.01 || math.Abs(m.best.plateau-5) > 0.01 {
			t.Errorf("%s: from %g to %g, want 2 to 5", s.law, m.best.start, m.best.plateau)
		}
	}
}

// regimes counts the regimes of curves of 250 rows by kind.
func regimes(runs int, noise float64, y func(*rand.Rand) func(float64) float64) map[Regime]int {
	rng := rand.New(rand.NewPCG(9, 9))
	count := map[Regime]int{}
	for range runs {
		count[Fit(curve(rng, 250, noise, y(rng))).Regime]++
	}
	return count
}

// Of curves without an oscillation at most 2 % are said to oscillate.
func TestNoOscillationIsClaimed(t *testing.T) {
	for name, y := range map[string]func(rng *rand.Rand) func(t float64) float64{
		"flat": func(*rand.Rand) func(t float64) float64 { return func(float64) float64 { return 0 } },
		"exponential": func(rng *rand.Rand) func(t float64) float64 {
			return grown(Exponential, []float64{uniform(rng, 15, 90)})
		},
		"logistic": func(rng *rand.Rand) func(t float64) float64 {
			return grown(Logistic, []float64{uniform(rng, 10, 240), uniform(rng, 5, 40)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c := regimes(falseClaimRuns, 1, y); float64(c[Underdamped]) > 0.02*falseClaimRuns+1.5 {
				t.Errorf("%d of %d curves are said to oscillate", c[Underdamped], falseClaimRuns)
			}
		})
	}
}

// Noise passes for growth in at most 2 % of 40 rows. With a difference of BIC of 0 instead
// of 6 it does in a tenth.
func TestFlatStaysFlat(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const runs = flatRuns
	grown := 0
	for range runs {
		if Fit(curve(rng, 40, 1, func(float64) float64 { return 0 })).Regime != Flat {
			grown++
		}
	}
	if float64(grown) > 0.02*runs+1.5 {
		t.Errorf("%d of %d flat curves are said to grow", grown, runs)
	}
}

// A damping ratio of 0.3 shows at a signal-to-noise ratio of 4, and is told from
// overdamped curves at 5.
func TestRegimes(t *testing.T) {
	c := regimes(powerRuns, 3.0/4, func(rng *rand.Rand) func(t float64) float64 {
		return grown(Inertial, []float64{uniform(rng, 0.03, 0.12), 0.3})
	})
	if float64(c[Underdamped]) < 0.95*powerRuns-1 {
		t.Errorf("%d of %d oscillations are found", c[Underdamped], powerRuns)
	}
	c = regimes(powerRuns, 3.0/5, func(rng *rand.Rand) func(t float64) float64 {
		return grown(Inertial, []float64{uniform(rng, 0.1, 0.2), 3})
	})
	if c[Underdamped] > 0 || float64(c[Overdamped]) < 0.5*powerRuns {
		t.Errorf("overdamped curves are named %v", c)
	}
}

// Noise of white rows is their variance, and neither a slope nor a change of level of the
// rows adds to it.
func TestNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 8))
	c := curve(rng, 20_000, 3, func(t float64) float64 { return 5 * t })
	// Squared deviations of normal rows: relative standard error √(35/18 · 2/n) ≈ 0.014.
	if got := mean(noise(c.Reward)); math.Abs(got/9-1) > 0.06 {
		t.Errorf("variance of the noise %g, want 9", got)
	}
}

// A block is the mean of its rows; the newest rows are never left out.
func TestAverage(t *testing.T) {
	c := curve(rand.New(rand.NewPCG(2, 9)), 1201, 0, func(t float64) float64 { return t })
	b := c.average()
	if len(b.y) != 400 || b.y[0] != 3 || b.y[399] != 1200 || b.time[399] != 1200 {
		t.Errorf("%d blocks from %g", len(b.y), b.y[0])
	}
}

// One wild row changes a fit little.
func TestOutlier(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	c := curve(rng, 250, 0.1, grown(Exponential, []float64{40}))
	before := fitLaw(c, Exponential).best
	c.Reward[200] += 100
	after := fitLaw(c, Exponential).best
	if math.Abs(after.plateau-before.plateau) > 0.1 {
		t.Errorf("plateau %g, with a row 100 off %g", before.plateau, after.plateau)
	}
}

// uniform draws a number between two.
func uniform(rng *rand.Rand, lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }

// curve returns n rows of y at the steps 1 … n with normal noise.
func curve(rng *rand.Rand, n int, noise float64, y func(t float64) float64) Curve {
	var c Curve
	for i := range n {
		t := float64(i + 1)
		c.Time = append(c.Time, t)
		c.Reward = append(c.Reward, y(t)+noise*rng.NormFloat64())
	}
	return c
}

// The integral of a rate that falls linearly from 1 at step 1 to 0 is x − x²/2n from there on.
func TestLoggedTime(t *testing.T) {
	const n = 500
	var steps, rates []float64
	for i := range n {
		steps, rates = append(steps, float64(i+1)), append(rates, 5e-6*(1-float64(i)/n))
	}
	got, ok := LoggedTime(steps, rates)
	for i := range got {
		x := float64(i)
		if want := 1 + x - x*x/2/n; !ok || math.Abs(got[i]-want) > 1e-9 {
			t.Fatalf("time %g at step %g, want %g", got[i], steps[i], want)
		}
	}
	for _, bad := range []float64{-1, math.NaN()} {
		rates[0] = bad
		if _, ok := LoggedTime(steps, rates); ok {
			t.Errorf("rates that begin with %g give a time", bad)
		}
	}
	if _, ok := LoggedTime(steps, make([]float64, n)); ok {
		t.Error("rates of 0 give a time")
	}
}

// Intervals cover nine of ten rows of a level that walks as exponential smoothing takes it to.
// The standard deviation of the share is about 0.015 for 400 curves.
func TestForecastIntervalsCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const runs, known, ahead = 400, 100, 30
	for _, walks := range []float64{0, smoothing} {
		covered := 0.0
		for range runs {
			l := 0.0
			c := curve(rng, known+ahead, 0, func(float64) float64 {
				e := rng.NormFloat64()
				y := l + e
				l += walks * e
				return y
			})
			f := (&Result{Regime: Monotone}).Predict(Curve{c.Time[:known], c.Reward[:known]}, c.Time[known:])
			if y := c.Reward[known+ahead-1]; f.Lo[ahead-1] <= y && y <= f.Hi[ahead-1] {
				covered += 1.0 / runs
			}
		}
		if covered < 0.84 || walks > 0 && covered > 0.96 {
			t.Errorf("90 %% intervals cover %.3f of the rows of a level that walks by %g", covered, walks)
		}
	}
}
