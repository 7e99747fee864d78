package sweeps

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"grposim/sweeps/config"
)

const inGrid = `variant: grid, displacement: 0.001, draws: 1, margin: 0.02,
     locate: {param: optimizer.learning_rate, from: 0.4, to: 8, tolerance: 0.01}`

// pictured is a configuration whose checks use every kind of figure over a parameter, and
// shared figures.
const pictured = `
name: pictured
seed: 5
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
policy: {init: fixed-point}
grpo:
  group_size: inf
  advantage: {scale: none}
  kl: {coefficient: 0.5, at: snapshot}
optimizer: {learning_rate: 0.126, momentum: 0.5}
run: {steps: 400}
variants:
  - {name: grid, sweep: [{param: lag.interval, values: [2, 4, 8]},
     {param: optimizer.momentum, values: [0.5, 0.9]}]}
  - name: tied
    sweep: [{zip: [{param: optimizer.momentum, values: [0.5, 0.9]},
      {param: lag.interval, values: [2, 4]}]}]
  - {name: far, set: {policy.init: [0, 0]}}
  - {name: further, set: {policy.init: [-1, 1]}}
  - {name: orbit, set: {policy.init: [-1, 1], grpo.importance.mode: ratio, grpo.kl.at: current,
     lag.interval: 100}}
checks:
  - {claim: stability-threshold, ` + inGrid + `, control: {scale: {stiffness: 1.1}}}
  - {claim: stability-threshold, ` + inGrid + `, prediction: rule-at-stiffness, expect: fails}
  - {claim: rule-is-safe, ` + inGrid + `, prediction: rule-at-stiffness, control: {scale: {stiffness: 0.1}}}
  - {claim: oscillation-onset, variant: tied, displacement: 0.001, draws: 1,
     locate: {param: optimizer.learning_rate, from: 0.001, to: 2, tolerance: 0.01}, margin: 0.02,
     control: {scale: {stiffness: 1.1}}}
  - {claim: relaxation, variant: far, offset: 0.001, margin: 0.02, control: {scale: {stiffness: 1.1}}}
  - {claim: saturation-fit, variant: far, margin: 0.02, control: {scale: {stiffness: 1.1}}}
  - {claim: fixed-point, variant: far, margin: 0.02, control: {set: {grpo.kl.coefficient: 0.6}}}
  - {claim: fixed-point, variant: further, margin: 0.03, control: {set: {grpo.kl.coefficient: 0.6}}}
  - {claim: trajectory, variant: further, prediction: leading-order, absolute_margin: 0.01,
     expect: fails}
  - {claim: recurrence, variant: orbit, absolute_margin: 0.2,
     control: {set: {grpo.kl.coefficient: 0.6}}}
`

func TestFigures(t *testing.T) {
	text := strings.Replace(pictured, "steps: 400", "steps: 400, burn_in: 100", 1)
	e, _ := runSweep(t, text, t.TempDir(), 2)
	for i := range e.Verdicts {
		if v := &e.Verdicts[i]; v.Verdict != agree {
			t.Errorf("%s %s: %v, %s", v.Claim, v.Label, v.Verdict, v.Because)
		}
	}
	want := []struct{ name, title string }{
		// Three checks of one measurement share a figure, whose title says what fails there.
		{"stability-threshold-grid-learning-rate", "grid: Stability threshold, located in learning " +
			"rate η (paper’s formula at λ of the stiffest mode fails here in part)"},
		{"oscillation-onset-tied-learning-rate", "tied: Onset of oscillation, located in learning rate η"},
		{"relaxation-far", "far: Relaxation rate, negative where a deviation grows"},
		{"saturation-fit-far", "far: A free exponential fitted to the mean reward"},
		{"fixed-point", "fixed-point: measured / predicted"}, // both variants in one figure
		{"trajectory-further-leading-order",
			"further: Mean reward against the reduced-order model (leading order fails here)"},
		{"recurrence-orbit", "orbit: Logit gap from refresh to refresh"},
	}
	if len(e.Figures) != len(want) {
		t.Fatalf("%d figures, want %d", len(e.Figures), len(want))
	}
	named := make(map[string]Figure)
	for i, f := range e.Figures {
		if f.Name != want[i].name || f.Title != want[i].title {
			t.Errorf("got %s, %q, want %s, %q", f.Name, f.Title, want[i].name, want[i].title)
		}
		named[f.Name] = f
		if len(f.Series) == 0 {
			t.Errorf("%s shows nothing", f.Name)
		}
	}

	// The figure shows the measured and predicted numbers of the verdicts.
	threshold := named["stability-threshold-grid-learning-rate"]
	shows := func(mark Mark, name string, y float64) bool {
		return slices.ContainsFunc(threshold.Series, func(s FigureSeries) bool {
			return s.Mark == mark && s.Name == name &&
				slices.ContainsFunc(s.Points, func(p FigurePoint) bool { return p.Y == y })
		})
	}
	for _, v := range e.Verdicts {
		if v.Claim != "stability-threshold" {
			continue
		}
		mark, name := Predicted, "exact, at the measured stiffness"
		if v.Expect == config.Fails {
			mark, name = Reference, "paper’s rule at λ of the stiffest mode"
		}
		if !shows(Measured, "located", float64(v.Measured)) || !shows(mark, name, float64(v.Predicted)) {
			t.Errorf("%s, %s: the figure lacks measured %g or predicted %g", v.Label, v.PredictionKind,
				float64(v.Measured), float64(v.Predicted))
		}
	}
	if threshold.XLabel != "refresh interval K, optimizer steps" || threshold.XScale != LogAxis ||
		threshold.YScale != LogAxis || threshold.Categories != nil {
		t.Errorf("axes %q, %v, %v, %q", threshold.XLabel, threshold.XScale, threshold.YScale,
			threshold.Categories)
	}
	if onset := named["oscillation-onset-tied-learning-rate"]; len(onset.Categories) != 2 {
		t.Errorf("parameters zipped in one axis: categories %q, want one per cell", onset.Categories)
	}
	if both := named["fixed-point"]; !slices.Equal(both.Categories, []string{"far", "further"}) {
		t.Errorf("categories %q", both.Categories)
	}
}

// exponentialAt recovers end value and amplitude of an exponential of known rate, for any
// recorded steps.
func TestExponentialAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(-2, 2).Draw(t, "a"), rapid.Float64Range(0.1, 2).Draw(t, "b")
		rate := math.Exp(rapid.Float64Range(-6, -1).Draw(t, "log rate"))
		steps := []int{0}
		for range rapid.IntRange(3, 40).Draw(t, "points") {
			steps = append(steps, steps[len(steps)-1]+rapid.IntRange(1, 20).Draw(t, "gap"))
		}
		var reward []float64
		for _, n := range steps {
			reward = append(reward, a-b*math.Exp(-rate*float64(n)))
		}
		end, amplitude := exponentialAt(rate, steps, reward)
		if math.Abs(end-a) > 1e-6 || math.Abs(amplitude-b) > 1e-6 {
			t.Errorf("got %g − %g e^−rt, want %g − %g", end, amplitude, a, b)
		}
	})
}

// Runs that have not arrived at the fixed point are not drawn with a prediction, and a
// figure of deviations without any says why.
func TestFiguresOutOfScope(t *testing.T) {
	text := strings.NewReplacer("init: fixed-point", "init: [-4, 4]", "steps: 1000, burn_in: 100",
		"steps: 20, burn_in: 10").Replace(resting) +
		"  - {claim: fluctuation-scaling, over: grpo.group_size, absolute_margin: 1}\n  - {claim: stationary-fluctuation, margin: 0.1}\nsweep: [{param: grpo.group_size, values: [32, 64, 128]}]\n"
	e, _ := runSweep(t, text, t.TempDir(), 2)
	for _, s := range e.Figures[0].Series {
		if s.Mark == Predicted && len(s.Points) > 0 {
			t.Errorf("%+v, want no prediction out of scope: %s", s, e.Verdicts[0].Because)
		}
	}
	if title := e.Figures[1].Title; !strings.HasSuffix(title, "(every verdict is out of scope)") {
		t.Errorf("%q does not say why nothing is shown", title)
	}
}
