package claim

import (
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// shared returns a configuration of the tests of several packages.
func shared(name string) string {
	text, err := os.ReadFile("../testdata/" + name + ".yaml")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Configurations, to be completed by checks.
var (
	swept, _, _              = strings.Cut(shared("small"), "checks:")
	underway, edgeText, rare = shared("underway"), shared("edge"), shared("rare")
)

// planText returns the plan of a configuration.
func planText(t *testing.T, text string) *plan.Plan {
	t.Helper()
	spec, err := config.Load(t.Name(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return plan.New(spec)
}

// A mean path that overflows has no end, and the share is measured about the fixed point: a warm-up
// of ten steps under k3, whose mean force throws the path across without bound.
func TestPathWithoutEnd(t *testing.T) {
	plan := planText(t, `name: x
extends: trl
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {groups_per_step: 8, kl: {coefficient: 0.04}}
optimizer: {kind: heavy-ball, momentum: 0.9, learning_rate: 0.4, schedule: {kind: constant, warmup: 10}}
run: {steps: 3000, replicas: 2}
checks:
  - {claim: arrival, at_least: 0.95}
`)
	end := NewQuestion(plan.Checks[0].Check, NewEvidence(plan, nil)).end(plan.Cells[0])
	if !end.Because.Is(scope.UnknownSize) || math.Abs(end.reward-0.8908) > 1e-4 ||
		math.Abs(end.distance-0.035) > 1e-6 {
		t.Errorf("ends within %g of J = %g: %s; want no predicted share, and 0.035 of 0.8908",
			end.distance, end.reward, end.Because)
	}
}

// The stiffness at which training ends is that of one number, and is declined where a part of the
// gradient is fresh within a block, and below the threshold of the nearest fixed point, from which
// nothing drives a run.
func TestNetworkEdge(t *testing.T) {
	text := edgeText + "checks: [{claim: edge-of-stability, margin: 0.1}]\n"
	fresh := strings.Replace(text, "kl: {coefficient: 0.5, at: snapshot}",
		"importance: {mode: ratio}, kl: {coefficient: 0.5}", 1)
	for _, c := range []struct {
		text     string
		declined bool
	}{{text, false}, {fresh, true}, {strings.Replace(fresh, "interval: 4", "interval: 1", 1), false},
		{strings.Replace(text, "learning_rate: 4", "learning_rate: 0.1", 1), true}} {
		plan := planText(t, c.text)
		check := plan.Checks[0].Check
		n := (&Model{check, check.Prediction, config.NoFault, theory.NewCache()}).edge(plan.Cells[0])
		if n.Because.Is(scope.Networks) != c.declined || c.declined == (n.Value > 0) {
			t.Errorf("%s: %v because %q", c.text, n.Value, n.Because)
		}
	}
}

// The predicted R² under noise is the mean R² of fits to the mean-field curve with normal noise of
// the variance J(1 − J)/2GB, to within the next order in 1/n of the noise and the error of 50 fits.
func TestLoggedR2(t *testing.T) {
	plan := planText(t, rare+"  - {claim: law-fit, law: logistic, margin: 0.01}\n")
	c := plan.Cells[0]
	j := NewQuestion(&plan.Spec.Checks[0], NewEvidence(plan, nil))
	curve, _ := j.Curve(c)
	steps, reward := curve.Sample(sim.FitSteps(sim.LoggedFit, 900))
	random := rand.New(rand.NewPCG(1, 2))
	for _, l := range measure.Laws {
		var r2 []float64
		for range 50 {
			noisy := make([]float64, len(reward))
			for i, x := range reward {
				noisy[i] = x + math.Sqrt(x*(1-x)/(2*16*8))*random.NormFloat64()
			}
			fit, _ := measure.FitLaw(l, steps, noisy)
			r2 = append(r2, fit.R2)
		}
		want, got := measure.Mean(r2), j.loggedR2(c, l)
		if got.Out() || math.Abs(got.Value-want.Mean) > 4*want.StdErr+1e-4 {
			t.Errorf("%s: predicted %.5f, fits give %.5f ± %.5f", l, got.Value, want.Mean, want.StdErr)
		}
		plain, _ := measure.FitLaw(l, steps, reward)
		if plain.R2-got.Value < 1e-3 {
			t.Errorf("%s: noise lowers R² from %.4f to %.4f, want by 0.001 or more", l, plain.R2, got.Value)
		}
	}
}

// What a time leaves out is how far it moves with the curve; where the displaced curve does not
// reach the level, that is not known.
func TestNeglectedTime(t *testing.T) {
	plan := planText(t, underway+"  - {claim: time-to-level, level: 0.75, margin: 0.05}\n")
	j := NewQuestion(plan.Checks[0].Check, NewEvidence(plan, nil))
	cv := Curve{steps: []int{0, 10, 20}, path: rom.Path{
		Mean: []float64{0, 1, 2}, Neglected: []float64{0, 0.1, 0.2}}}
	p := j.end(plan.Cells[0]).Number
	p.Neglected = nil
	cv.predictTime(&p, cv.steps, 1.5, true)
	// 0.9 t/10 and 1.1 t/10 reach 1.5 at 16.67 and 13.64.
	if want := 1.5/0.09 - 15; p.Value != 15 || math.Abs(p.Size()-want) > 1e-12 {
		t.Errorf("%g leaves out %g, want 15 and %g", p.Value, p.Size(), want)
	}
	p.Neglected = nil
	cv.predictTime(&p, cv.steps, 1.9, true)
	if because := p.Judged(100); p.Value != 19 || !strings.Contains(because.String(),
		"reaches the level or not") {
		t.Errorf("%g is judged: %s", p.Value, because)
	}
	p.Neglected = nil
	cv.predictTime(&p, cv.steps, 3, true)
	if !math.IsInf(p.Value, 1) || p.Size() != 0 {
		t.Errorf("%g leaves out %g, want a level that is never reached and nothing", p.Value, p.Size())
	}
}

// A share of groups that no replica shows is not certain: the band has Wilson's interval.
func TestBandOfShares(t *testing.T) {
	plan := planText(
		t, underway+"  - {claim: trajectory, quantity: zero_variance_fraction, absolute_margin: 0.1}\n")
	c, j := plan.Cells[0], NewQuestion(plan.Checks[0].Check, NewEvidence(plan, nil))
	recorded := &store.Trajectory{Steps: []int{0, 1}}
	for _, q := range []sim.Quantity{sim.ZeroVarianceFraction, sim.ClipFraction, sim.Entropy} {
		recorded.Quantities = append(recorded.Quantities,
			store.RecordedSeries{Quantity: q, Mean: []store.Number{0, 0}, StdErr: []store.Number{0, 0}})
	}
	z := distuv.UnitNormal.Quantile(1 - 0.01/4)
	want := z * z / (64 + z*z)
	for _, q := range []sim.Quantity{sim.ZeroVarianceFraction, sim.ClipFraction} {
		b := j.band(c, recorded, q)
		for i := range b.hi {
			if b.lo[i] != 0 || math.Abs(b.hi[i]/want-1) > 1e-6 {
				t.Errorf("%s, step %d: [%g, %g], want [0, %g]", q, i, b.lo[i], b.hi[i], want)
			}
		}
	}
	if b := j.band(c, recorded, sim.Entropy); b.hi[1] != 0 {
		t.Errorf("entropy: up to %g, want 0", b.hi[1])
	}
}

// The errors of the fresh and of the stale stiffness add in squares.
func TestErrorsOfBothParts(t *testing.T) {
	p := planText(t, swept+"checks: [{claim: fixed-point, margin: 1}]\n")
	o := store.Outcome{Status: store.CellOK, Estimates: []measure.Named{
		measure.Named{Name: plan.StiffnessFresh, Estimate: measure.Estimate{Mean: 0.3, StdErr: 0.003, DF: 100}},
		measure.Named{Name: plan.StiffnessStale, Estimate: measure.Estimate{Mean: 0.2, StdErr: 0.004, DF: 100}},
	}}
	j := NewQuestion(p.Checks[0].Check, NewEvidence(p, nil))
	j.Confidence = 0.99
	total := func(m *rom.Measured) located {
		return located{Number: scope.Number{Value: 2 * (m.Fresh.At(0, 0) + m.Stale.At(0, 0))}}
	}
	got, want := j.stiffnessError(p.Cells[0], &o, 0.5, total),
		0.005*distuv.StudentsT{Mu: 0, Sigma: 1, Nu: 100}.Quantile(0.995)/0.5
	if math.Abs(got/want-1) > 1e-6 {
		t.Errorf("relative half-width %g, want %g", got, want)
	}
}

// Every claim of the configuration has a logic, and there are no others.
func TestClaimTableIsComplete(t *testing.T) {
	for _, name := range config.Claims {
		if claims[name.Name] == nil {
			t.Errorf("%s has no logic", name.Name)
		}
	}
	if len(claims) != len(config.Claims) {
		t.Errorf("%d claims have logic, %d are in the table", len(claims), len(config.Claims))
	}
}
