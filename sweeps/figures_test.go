package sweeps

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

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
  - {name: grid, sweep: [{param: lag.interval, values: [2, 4, 8]}, {param: optimizer.momentum, values: [0.5, 0.9]}]}
  - name: tied
    sweep: [{zip: [{param: optimizer.momentum, values: [0.5, 0.9]}, {param: lag.interval, values: [2, 4]}]}]
  - {name: far, set: {policy.init: [0, 0]}}
  - {name: further, set: {policy.init: [-1, 1]}}
  - {name: orbit, set: {policy.init: [-1, 1], grpo.importance.mode: ratio, grpo.kl.at: current, lag.interval: 100}}
checks:
  - {claim: stability-threshold, variant: grid, displacement: 0.001, draws: 1, locate: {param: optimizer.learning_rate, from: 0.4, to: 8, tolerance: 0.01}, margin: 0.02, control: {scale: {stiffness: 1.1}}}
  - {claim: stability-threshold, variant: grid, prediction: rule-at-stiffness, displacement: 0.001, draws: 1, locate: {param: optimizer.learning_rate, from: 0.4, to: 8, tolerance: 0.01}, margin: 0.02, expect: fails}
  - {claim: rule-is-safe, prediction: rule-at-stiffness, variant: grid, displacement: 0.001, draws: 1, locate: {param: optimizer.learning_rate, from: 0.4, to: 8, tolerance: 0.01}, margin: 0.02, control: {scale: {stiffness: 0.1}}}
  - {claim: oscillation-onset, variant: tied, displacement: 0.001, draws: 1, locate: {param: optimizer.learning_rate, from: 0.001, to: 2, tolerance: 0.01}, margin: 0.02, control: {scale: {stiffness: 1.1}}}
  - {claim: relaxation, variant: far, offset: 0.001, margin: 0.02, control: {scale: {stiffness: 1.1}}}
  - {claim: saturation-fit, variant: far, margin: 0.02, control: {scale: {stiffness: 1.1}}}
  - {claim: fixed-point, variant: far, margin: 0.02, control: {set: {grpo.kl.coefficient: 0.6}}}
  - {claim: fixed-point, variant: further, margin: 0.03, control: {set: {grpo.kl.coefficient: 0.6}}}
  - {claim: trajectory, variant: further, prediction: leading-order, absolute_margin: 0.01, expect: fails}
  - {claim: recurrence, variant: orbit, absolute_margin: 0.2, control: {set: {grpo.kl.coefficient: 0.6}}}
`

func TestFigures(t *testing.T) {
	text := strings.Replace(pictured, "steps: 400", "steps: 400, burn_in: 100", 1)
	e, _ := runSweep(t, text, t.TempDir(), 2)
	for i := range e.Verdicts {
		if v := &e.Verdicts[i]; v.Verdict != Agree {
			t.Errorf("%s %s: %v, %s", v.Claim, v.Label, v.Verdict, v.Because)
		}
	}
	want := []struct{ name, title string }{
		// Three checks of one measurement share a figure, whose title says what fails there.
		{"stability-threshold-grid-learning-rate", "grid: Stability threshold, located in learning rate η (paper’s formula at λ of the stiffest mode fails here in part)"},
		{"oscillation-onset-tied-learning-rate", "tied: Onset of oscillation, located in learning rate η"},
		{"relaxation-far", "far: Relaxation rate, negative where a deviation grows"},
		{"saturation-fit-far", "far: A free exponential fitted to the mean reward"},
		{"fixed-point", "fixed-point: measured / predicted"}, // both variants in one figure
		{"trajectory-further-leading-order", "further: Mean reward against the reduced-order model (leading order fails here)"},
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
			return s.Mark == mark && s.Name == name && slices.ContainsFunc(s.Points, func(p FigurePoint) bool { return p.Y == y })
		})
	}
	for _, v := range e.Verdicts {
		if v.Claim != config.StabilityThreshold.Name {
			continue
		}
		mark, name := Predicted, "exact, at the measured stiffness"
		if v.Expect == config.Fails {
			mark, name = Reference, "paper’s rule at λ of the stiffest mode"
		}
		if !shows(Measured, "located", float64(v.Measured)) || !shows(mark, name, float64(v.Predicted)) {
			t.Errorf("%s, %s: the figure lacks measured %g or predicted %g", v.Label, v.PredictionKind, float64(v.Measured), float64(v.Predicted))
		}
	}
	if threshold.XLabel != "refresh interval K, optimizer steps" || threshold.XScale != LogAxis || threshold.YScale != LogAxis || threshold.Categories != nil {
		t.Errorf("axes %q, %v, %v, %q", threshold.XLabel, threshold.XScale, threshold.YScale, threshold.Categories)
	}
	if onset := named["oscillation-onset-tied-learning-rate"]; len(onset.Categories) != 2 {
		t.Errorf("parameters zipped in one axis: categories %q, want one per cell", onset.Categories)
	}
	if both := named["fixed-point"]; !slices.Equal(both.Categories, []string{"far", "further"}) {
		t.Errorf("categories %q", both.Categories)
	}
}

// A title does not say that a theory fails if some check that expects it to fail disagrees.
func TestFigureOfAFailedRefutation(t *testing.T) {
	d := figureSource{verdicts: []*Verdict{
		{PredictionKind: "paper-rule", Expect: config.Fails, Verdict: Agree},
		{PredictionKind: "paper-rule", Expect: config.Fails, Verdict: Disagree},
		{PredictionKind: "leading-order", Expect: config.Fails, Verdict: Agree},
		{PredictionKind: "leading-order", Expect: config.Holds, Verdict: OutOfScope},
		{PredictionKind: "exact", Expect: config.Holds, Verdict: Agree},
	}}
	if got, want := d.failing(), "leading order fails here, paper’s formula expected to fail, but does not"; got != want {
		t.Errorf("got %q, want %q", got, want)
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

func TestShortNumbers(t *testing.T) {
	for _, c := range [][2]string{
		{"fast η=0.0565685424949 K=4", "η=0.05657 K=4"},
		{"fast η=0.126", "η=0.126"},
		{"fast β=1.2345678e-05 init=[0.25, -2.07944154168]", "β=1.235e-05 init=[0.25, -2.079]"},
		{"fast", ""},
	} {
		if got := withoutVariant(c[0], "fast"); got != c[1] {
			t.Errorf("%s: got %q, want %q", c[0], got, c[1])
		}
	}
}

// The shares of failure modes of a cell form one column from 0 to 1 for each of the two
// sets of diagnostics.
func TestFigureOfModes(t *testing.T) {
	c := &Cell{ID: "a"}
	o := &store.Outcome{ID: "a", Estimates: []store.NamedEstimate{
		{Name: "named_none", Mean: 0.25}, {Name: "named_reward-hacking", Mean: 0.75}, {Name: "named_policy-concentration"},
		{Name: "paper_named_none", Mean: 1}, {Name: "paper_named_reward-hacking"},
	}}
	j := newJudgement(&config.Check{}, 0.99, newEvidence(map[string]*store.Outcome{"a": o}))
	f := drawModes(j, &figureSource{sets: []CellSet{{Label: "hacking", Cells: []*Cell{c}}}})
	if len(f.Categories) != 2 || len(f.Series) != 5 {
		t.Fatalf("%q, %d series", f.Categories, len(f.Series))
	}
	pieces := make(map[string][2]float64)
	for _, s := range f.Series {
		for _, p := range s.Points {
			pieces[f.Categories[int(p.X)]+" "+s.Name] = [2]float64{p.Lo, p.Hi}
		}
	}
	want := map[string][2]float64{"hacking none": {0, 0.25}, "hacking reward-hacking": {0.25, 1}, "… by the paper’s none": {0, 1}}
	if !maps.Equal(pieces, want) {
		t.Errorf("got %v, want %v", pieces, want)
	}
}

// The caption of a slope over group sizes gives the ratio of the variances of each two
// neighbouring sizes, beside that of 1/G.
func TestCaptionGivesRatios(t *testing.T) {
	text := strings.TrimSuffix(resting, "\n") + "\n  - {claim: fluctuation-scaling, over: grpo.group_size, absolute_margin: 1}\nsweep: [{param: grpo.group_size, values: [32, 64, 192]}]\n"
	e, _ := runSweep(t, text, t.TempDir(), 2)
	variance := func(i int) float64 {
		v, _ := e.Outcomes[e.Plan.Cells[i].ID].Estimate(sim.ExpectedRewardVariance)
		return v.Mean
	}
	_, ratios, found := strings.Cut(e.Figures[0].Caption, "Var J at G = 64, 192 over that at the size before, for which 1/G gives 0.5, 0.333: ")
	if !found {
		t.Fatal(e.Figures[0].Caption)
	}
	for i, text := range strings.SplitAfter(ratios, "], ") {
		ratio, _ := strconv.ParseFloat(strings.SplitN(text, " ", 2)[0], 64)
		if want := variance(i+1) / variance(i); !(math.Abs(ratio/want-1) < 0.1) || !strings.Contains(text, "[") {
			t.Errorf("%q: want the ratio %g", text, want)
		}
	}
}

// Runs that have not arrived at the fixed point are not drawn with a prediction, and a
// figure of deviations without any says why.
func TestFiguresOutOfScope(t *testing.T) {
	text := strings.NewReplacer("init: fixed-point", "init: [-4, 4]", "steps: 1000, burn_in: 100", "steps: 20, burn_in: 10").Replace(resting) +
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
