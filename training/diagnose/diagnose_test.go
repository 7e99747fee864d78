package diagnose

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"grposim/training/change"
)

// example is a synthetic run with the mode that Name must give it.
type example struct {
	name string
	want Mode
	run  func(rng *rand.Rand, steps []int) Trace
}

var examples = []example{
	{"healthy", None, healthy},
	{"proxy rises, truth falls", RewardHacking,
		rows(func(t *Trace, i, s int) { t.TrueReward[i] = 1.1 - t.Reward[i] })},
	{"proxy rises, truth stays", RewardHacking, rows(func(t *Trace, i, s int) { t.TrueReward[i] = 0.4 })},
	{"truth rises with the proxy, then falls", RewardHacking,
		rows(func(t *Trace, i, s int) { t.TrueReward[i] = 0.6 - math.Abs(t.Reward[i]-0.6) })},
	{"hacked, at the maximum of the proxy on one arm", RewardHacking, oneArm(0, func(t *Trace, i, s int) {
		t.TrueReward[i] = 1.1 - t.Reward[i]
		degenerate(t, i, s)
	})},
	{"equal rewards", AdvantageDegeneracy, rows(degenerate)},
	{"equal rewards on one arm", AdvantageDegeneracy, oneArm(0, degenerate)},
	{"one arm", PolicyConcentration, oneArm(0, same)},
	{"the only best arm, whose reward it has", None, oneArm(0.752, same)},
	{"one arm, the only best one's reward is far", PolicyConcentration, oneArm(0.85, same)},
	{"one arm, on its way to the only best one's reward", None, oneArm(0.9, func(t *Trace, i, s int) {
		t.setReward(i, 0.9-0.35/(1+float64(s)/100)) // 86 % of the way at the end
	})},
	{"one arm, at rest at that reward", PolicyConcentration,
		oneArm(0.9, func(t *Trace, i, s int) { t.setReward(i, approach(s, 0.55, 0.85)) })},
	{"the only best arm, locked within one lag", DynamicalInstability, oneArm(0.752, staleAtFirst)},
	{"one arm, reached step by step under a lag", PolicyConcentration,
		oneArm(0, func(t *Trace, i, s int) { t.RatioMax[i] = approach(s, 1.4, 1.001) })},
	{"limit cycle", DynamicalInstability,
		rows(func(t *Trace, i, s int) { t.setReward(i, t.Reward[i]+0.1*math.Sin(0.1*float64(s))) })},
	{"growth from a small offset", DynamicalInstability, rows(func(t *Trace, i, s int) {
		t.setReward(i, 0.7+0.01*math.Exp(0.005*float64(s))*math.Sin(0.1*float64(s)))
	})},
	{"irregular swings of the entropy", DynamicalInstability, changed(func(rng *rand.Rand, t *Trace) {
		for i := range t.Steps {
			t.Entropy[i] = 2 * rng.Float64()
		}
	})},
	{"constant series", None, rows(constant)},
	{"stale to the end", DynamicalInstability, rows(func(t *Trace, i, s int) { t.RatioMax[i] = 1.8 })},
	{"locked into an arm within one lag", DynamicalInstability, oneArm(0, staleAtFirst)},
	{"a stale approach to a healthy end", None, rows(staleAtFirst)},
	{"damped ringing", None, rows(func(t *Trace, i, s int) {
		t.setReward(i, t.Reward[i]+0.2*math.Exp(-0.01*float64(s))*math.Sin(0.1*float64(s)))
	})},
}

func same(*Trace, int, int) {}

func constant(t *Trace, i, s int) {
	for _, of := range series {
		(*of.of(t))[i] = 0
	}
}

func degenerate(t *Trace, i, s int)   { t.ZeroVariance[i] = approach(s, 0, 0.95) }
func staleAtFirst(t *Trace, i, s int) { t.RatioMax[i] = approach(s, 8, 1.0001) }

// setReward sets the reward that is trained on and the true one.
func (t *Trace) setReward(i int, x float64) { t.Reward[i], t.TrueReward[i] = x, x }

// oneArm returns runs that end on a single arm, changed row by row. The reward of the only best arm
// is best, if one is given.
func oneArm(best float64, by func(t *Trace, i, s int)) func(*rand.Rand, []int) Trace {
	return changed(func(rng *rand.Rand, t *Trace) {
		concentrate(rng, t)
		if best > 0 {
			t.BestReward = &best
		}
		for i, s := range t.Steps {
			by(t, i, s)
		}
	})
}

// approach goes from a to b with the time constant of the healthy run.
func approach(step int, a, b float64) float64 {
	return b + (a-b)*math.Exp(-float64(step)/60)
}

// healthy is a run of eight arms that learns and keeps its entropy. It then fluctuates about its
// fixed point by autoregressive noise with a correlation time of ten steps.
func healthy(rng *rand.Rand, steps []int) Trace {
	t := Trace{Steps: steps}
	noise, last := 0.0, 0
	for _, s := range steps {
		for ; last < s; last++ {
			noise = 0.9*noise + 0.002*rng.NormFloat64()
		}
		reward := approach(s, 0.4, 0.75) + noise
		t.Reward = append(t.Reward, reward)
		t.TrueReward = append(t.TrueReward, reward)
		t.Entropy = append(t.Entropy, approach(s, 2.08, 1.6)+noise)
		t.Collision = append(t.Collision, approach(s, 0.125, 0.25)+noise/10)
		t.ZeroVariance = append(t.ZeroVariance, 0.1*rng.Float64())
		t.KL = append(t.KL, approach(s, 0, 0.48)+noise)
		t.GradientNorm = append(t.GradientNorm, approach(s, 0.3, 0.1)*(0.5+rng.Float64()))
		t.RatioMax = append(t.RatioMax, 1+0.02*rng.Float64())
		t.KLOld = append(t.KLOld, 1e-6*float64(s%100))
		t.ClipFraction = append(t.ClipFraction, 1e-4*float64(s%100))
	}
	return t
}

// changed returns healthy runs modified by the given function.
func changed(by func(rng *rand.Rand, t *Trace)) func(*rand.Rand, []int) Trace {
	return func(rng *rand.Rand, steps []int) Trace {
		t := healthy(rng, steps)
		by(rng, &t)
		return t
	}
}

// rows returns healthy runs whose rows are changed one by one, i at the step s.
func rows(by func(t *Trace, i, s int)) func(*rand.Rand, []int) Trace {
	return changed(func(_ *rand.Rand, t *Trace) {
		for i, s := range t.Steps {
			by(t, i, s)
		}
	})
}

// concentrate lets the policy of a run end on a single arm.
func concentrate(rng *rand.Rand, t *Trace) {
	for i, s := range t.Steps {
		t.Entropy[i] = approach(s, 2.08, 0.1) * (0.9 + 0.2*rng.Float64())
		t.Collision[i] = approach(s, 0.125, 0.97)
	}
}

func newRand() *rand.Rand { return rand.New(rand.NewPCG(20260629, 7)) }

// everyStep returns steps 0 … 600, as a trainer records them.
func everyStep() []int {
	steps := make([]int, 601)
	for i := range steps {
		steps[i] = i
	}
	return steps
}

// spread returns steps evenly spaced on a logarithmic axis, as the simulator records
// them.
func spread() []int {
	steps := []int{0}
	for i := range 200 {
		steps = append(steps, int(math.Round(math.Pow(600, float64(i)/199))))
	}
	return slices.Compact(steps)
}

// Every example has its mode, recorded at every step or ever more rarely, with another first step
// and spacing. A tenth of its values may be missing: that removes rows, not the series.
func TestName(t *testing.T) {
	rng := newRand()
	for _, e := range examples {
		shifted, gaps := e.run(newRand(), everyStep()), e.run(rng, everyStep())
		shifted.Steps = slices.Clone(shifted.Steps)
		for i := range shifted.Steps {
			shifted.Steps[i] = 1000 + 7*shifted.Steps[i]
			for _, s := range series {
				if rng.Float64() < 0.1 {
					(*s.of(&gaps))[i] = math.NaN()
				}
			}
		}
		all, sparse := e.run(newRand(), everyStep()), e.run(newRand(), spread())
		for name, trace := range map[string]Trace{
			"every step": all, "spread": sparse, "shifted": shifted, "gaps": gaps} {
			if d := Name(trace); d.Mode != e.want {
				t.Errorf("%s, %s: named %s, want %s\n%s", e.name, name, d.Mode, e.want, table(d))
			}
		}
	}
}

func table(d Diagnosis) (s string) {
	for _, e := range d.Evidence {
		s += fmt.Sprintf("  %-30s %8.4g against %8.4g says %s (%s)\n",
			e.Diagnostic, e.Value, e.Threshold, e.Says, e.Observable)
	}
	return s
}

// An affine map of the rewards does not change the mode.
func TestUnitsOfReward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.SampledFrom(examples).Draw(t, "run")
		a := math.Exp(rapid.Float64Range(-7, 7).Draw(t, "log a"))
		b := rapid.Float64Range(-100, 100).Draw(t, "b")
		trace := e.run(newRand(), everyStep())
		for i := range trace.Steps {
			trace.Reward[i] = a*trace.Reward[i] + a*b
			trace.TrueReward[i] = a*trace.TrueReward[i] + a*b
		}
		if trace.BestReward != nil {
			best := a**trace.BestReward + a*b
			trace.BestReward = &best
		}
		if d := Name(trace); d.Mode != e.want {
			t.Fatalf("%s, r → %g r + %g: named %s, want %s\n%s", e.name, a, a*b, d.Mode, e.want, table(d))
		}
	})
}

// series lists the series of a trace with the diagnostics of Name (ours) and of
// PaperName (papers) that need each.
var series = []struct {
	name         string
	of           func(*Trace) *[]float64
	ours, papers string // with semicolons between them
	example      string // the example whose mode is not found without the series
}{
	{"reward", func(t *Trace) *[]float64 { return &t.Reward }, "reward ringing;true reward per proxy reward",
		"rate of evaluation over training;evaluation against training reward", "limit cycle"},
	{"true reward", func(t *Trace) *[]float64 { return &t.TrueReward }, "true reward per proxy reward",
		"rate of evaluation over training;evaluation against training reward", "proxy rises, truth falls"},
	{"entropy", func(t *Trace) *[]float64 { return &t.Entropy },
		"importance ratio reached;entropy swings;remaining entropy",
		"entropy, trend", "irregular swings of the entropy"},
	{"collision", func(t *Trace) *[]float64 { return &t.Collision }, "remaining collision entropy", "", ""},
	{"zero variance", func(t *Trace) *[]float64 { return &t.ZeroVariance },
		"zero-variance groups", "zero-variance groups", "equal rewards"},
	{"KL", func(t *Trace) *[]float64 { return &t.KL }, "", "KL to the reference, trend", ""},
	{"gradient", func(t *Trace) *[]float64 { return &t.GradientNorm }, "", "log gradient norm, trend", ""},
	{"ratio", func(t *Trace) *[]float64 { return &t.RatioMax },
		"late importance ratio;importance ratio reached", "importance ratio, trend", "stale to the end"},
	{"old KL", func(t *Trace) *[]float64 { return &t.KLOld }, "KL to the old policy", "", ""},
	{"clipped", func(t *Trace) *[]float64 { return &t.ClipFraction }, "clip fraction", "", ""},
}

// Without its series a diagnostic is not observable and has no value, not even 0.
func TestNotRecorded(t *testing.T) {
	for _, s := range series {
		gaps := slices.Repeat([]float64{math.NaN()}, 601)
		for name, missing := range map[string][]float64{"nil": nil, "empty": {}, "NaN only": gaps} {
			trace := healthy(newRand(), everyStep())
			*s.of(&trace) = missing
			hidden := map[bool]string{true: s.ours, false: "advantage variance over group size;" + s.papers}
			for ours, d := range map[bool]Diagnosis{true: Name(trace), false: PaperName(trace)} {
				for _, e := range d.Evidence {
					gone := slices.Contains(strings.Split(hidden[ours], ";"), e.Diagnostic)
					if gone != (e.Observable != Observed) || gone != math.IsNaN(e.Value+e.Threshold) ||
						math.IsNaN(e.Value) != math.IsNaN(e.Threshold) {
						t.Errorf("%s: %s: %s is %s with value %g", s.name, name, e.Diagnostic, e.Observable, e.Value)
					}
					if gone && e.Says != None {
						t.Errorf("%s: %s: %s says %s", s.name, name, e.Diagnostic, e.Says)
					}
				}
			}
		}
		for _, e := range examples {
			if e.name == s.example {
				trace := e.run(newRand(), everyStep())
				*s.of(&trace) = nil
				if d := Name(trace); d.Mode == e.want {
					t.Errorf("%s is named %s without its %s", e.name, d.Mode, s.name)
				}
			}
		}
	}
}

// Fewer than minLate values in the last half of a run are too few for any
// diagnostic.
func TestTooShort(t *testing.T) {
	for n := range 2*minLate - 1 {
		for _, e := range examples {
			trace := e.run(newRand(), everyStep()[:n])
			for _, d := range []Diagnosis{Name(trace), PaperName(trace)} {
				if d.Mode != None {
					t.Errorf("%s, %d steps: named %s", e.name, n, d.Mode)
				}
				for _, evidence := range d.Evidence {
					if evidence.Observable == Observed {
						t.Errorf("%s, %d steps: %s is observed", e.name, n, evidence.Diagnostic)
					}
				}
			}
		}
	}
}

// find returns the evidence of one diagnostic.
func find(t *testing.T, d Diagnosis, diagnostic string) Evidence {
	t.Helper()
	for _, e := range d.Evidence {
		if e.Diagnostic == diagnostic {
			return e
		}
	}
	t.Fatalf("no diagnostic %q", diagnostic)
	return Evidence{}
}

func near(t *testing.T, e Evidence, want, within float64) {
	t.Helper()
	if !(math.Abs(e.Value-want) <= within) {
		t.Errorf("%s is %g, want %g ± %g (%s)", e.Diagnostic, e.Value, want, within, e.Observable)
	}
}

// The values of diagnostics on series for which they are known.
func TestValues(t *testing.T) {
	trace := healthy(newRand(), everyStep())
	for i, s := range trace.Steps {
		trace.Reward[i] = float64(s)
		trace.TrueReward[i] = 3 * float64(s)
		trace.ZeroVariance[i] = float64(i % 2)
		trace.Entropy[i] = 2
		trace.Collision[i] = math.Exp(-2)
		if s >= 300 {
			trace.Entropy[i], trace.Collision[i] = 0.5, math.Exp(-0.5)
		}
		trace.RatioMax[i] = 1 + 1/float64(s+1)
	}
	d := Name(trace)
	near(t, find(t, d, "zero-variance groups"), 0.5, 0.01)
	near(t, find(t, d, "remaining entropy"), 0.25, 1e-12)
	near(t, find(t, d, "remaining collision entropy"), 0.25, 1e-12)
	near(t, find(t, d, "importance ratio reached"), 1+1.0/minLate, 1e-12)
	if e := find(t, d, "importance ratio reached"); math.Abs(e.Threshold-math.E) > 1e-12 {
		t.Errorf("threshold of the ratio reached is %g, want e, the square root of e² arms", e.Threshold)
	}
	coupling := find(t, d, "true reward per proxy reward")
	if math.Abs(coupling.Threshold-1.5) > 1e-12 || coupling.Value < 3 {
		t.Errorf("coupling is %+v, want at least 3 against 1.5", coupling)
	}
}

// The oscillation e^{gs} cos(2πs/40) over 600 steps. The amplitude fitted in the last half is the
// mean of e^{gs} there, divided by half the range of the first half.
func TestRingingAmplitude(t *testing.T) {
	for _, row := range []struct {
		growth float64
		says   Mode
	}{
		{0, DynamicalInstability},
		{-0.002, DynamicalInstability}, // decays by a factor e in 500 steps: too slow for the run to show
		{-0.005, None},
		{0.002, DynamicalInstability},
	} {
		trace := Trace{Steps: everyStep()}
		late := 0.0
		for _, s := range trace.Steps {
			envelope := math.Exp(row.growth * float64(s))
			trace.Reward = append(trace.Reward, envelope*math.Cos(2*math.Pi*float64(s)/40))
			if s >= 300 {
				late += envelope / 301
			}
		}
		reach := (slices.Max(trace.Reward[:300]) - slices.Min(trace.Reward[:300])) / 2
		e := rewardRinging(&trace)
		near(t, e, late/reach, 0.01)
		if e.Says != row.says {
			t.Errorf("growth %g: says %s, want %s", row.growth, e.Says, row.says)
		}
	}
}

// Noise with any memory, random walks included, counts as oscillating no more often than declared,
// with the best trial frequency. Samples do twice as often: the last half and the whole run are
// looked at. Each row fails by chance with probability 1e-6.
func TestRingingOfNoise(t *testing.T) {
	rng := newRand()
	for _, row := range []struct {
		origin   Origin
		runs     int
		memories []float64
		rows     []int
		declared float64
	}{
		{Expectations, 3000, []float64{0}, []int{24, 32, 100}, change.FalseAlarm},
		{Expectations, 3000, []float64{0.8, 1}, []int{24, 100}, 2 * change.FalseAlarm},
		{Samples, 400, []float64{0, 0.5, 0.8, 0.95, 1}, []int{24, 100, 300}, 4 * change.FalseAlarm},
	} {
		most := declaredMost(row.runs, row.declared)
		for _, memory := range row.memories {
			for _, rows := range row.rows {
				hits := 0
				for range row.runs {
					trace := Trace{Origin: row.origin}
					x := 0.0
					for s := range rows {
						x = memory*x + rng.NormFloat64()
						trace.Steps, trace.Reward = append(trace.Steps, s), append(trace.Reward, x)
					}
					if rewardRinging(&trace).Value > 0 {
						hits++
					}
				}
				if hits > most {
					t.Errorf("%+v, memory %g, %d rows: %d runs of noise oscillate, want at most %d",
						row, memory, rows, hits, most)
				}
			}
		}
	}
}

// declaredMost returns the count that a Binomial(n, p) variable exceeds with a
// probability of at most 1e-6.
func declaredMost(n int, p float64) int {
	law := distuv.Binomial{N: float64(n), P: p}
	k := 0
	for law.CDF(float64(k)) < 1-1e-6 {
		k++
	}
	return k
}

// Recorded steps with a fresh snapshot, whose ratio is 1, do not count.
func TestFreshSnapshots(t *testing.T) {
	trace := healthy(newRand(), everyStep())
	for i := range trace.RatioMax {
		trace.RatioMax[i] = 1
	}
	if e := find(t, Name(trace), "late importance ratio"); e.Observable != Undefined {
		t.Errorf("a ratio that is always 1 is %s", e.Observable)
	}
	trace.RatioMax[600] = 1.5
	if e := find(t, Name(trace), "late importance ratio"); e.Observable != TooShort {
		t.Errorf("a single ratio other than 1 is %s", e.Observable)
	}
	for i := range trace.RatioMax {
		if i%2 == 1 {
			trace.RatioMax[i] = 1.5
		}
	}
	near(t, find(t, Name(trace), "late importance ratio"), 1.5, 1e-12)
}
