package sweeps

import (
	"math"
	"strings"
	"testing"

	"grposim/sim"
	"grposim/sweeps/store"
)

// With what a hint names the prediction is in scope, and with half of the change it is
// not.
func TestHints(t *testing.T) {
	text := strings.NewReplacer("group_size: 16", "group_size: 4", "learning_rate: 0.1", "learning_rate: 2").Replace(resting) + "  - {claim: fixed-point, margin: 0.005}\n"
	because := func(change ...string) string {
		plan := planText(t, strings.NewReplacer(change...).Replace(text))
		o := outcomeOf(store.NamedEstimate{Name: sim.ExpectedRewardMean, Mean: 0.7, StdErr: 1e-3, DF: 9})
		o.ID = plan.Cells[0].ID
		e, err := NewExperiment(t.Context(), plan, map[string]*store.Outcome{o.ID: &o}, 1, &silent{})
		if err != nil {
			t.Fatal(err)
		}
		return e.Verdicts[0].Because
	}
	const hint = "; in scope with optimizer.learning_rate = 0.5 or grpo.group_size = 16"
	if got := because(); !strings.HasSuffix(got, hint) {
		t.Fatalf("%s: want %s", got, hint)
	}
	for in, out := range map[string]string{"learning_rate: 0.5": "learning_rate: 1", "group_size: 16": "group_size: 8"} {
		old := map[string]string{"learning_rate": "learning_rate: 2", "group_size": "group_size: 4"}[strings.Split(in, ":")[0]]
		if got := because(old, in); strings.Contains(got, "in scope with") {
			t.Errorf("%s: %s", in, got)
		}
		if got := because(old, out); !strings.Contains(got, "in scope with") {
			t.Errorf("%s: %s, want out of scope", out, got)
		}
	}
}

// A slope over cells whose mean path is still on its way after burn-in is out of scope and
// says so, with the burn-in that would do. Where the theory has no stationary state at all it
// is out of scope too. It is measured in either case.
func TestUnsettledSlope(t *testing.T) {
	away := strings.NewReplacer("policy: {init: fixed-point}", "policy: {init: [0, 0]}", "burn_in: 100", "burn_in: 1").Replace(resting)
	for text, says := range map[string][]string{
		away: {"after run.burn_in = 1 steps the mean path is still on its way", "run.burn_in = ", " with run.steps = "},
		strings.Replace(away, "coefficient: 0.5", "coefficient: 0", 1): {"G=16: no fixed point"},
	} {
		plan := planText(t, text+"  - {claim: fluctuation-scaling, over: grpo.group_size, absolute_margin: 0.1}\nsweep: [{param: grpo.group_size, values: [16, 32, 64]}]\n")
		outcomes := make(map[string]*store.Outcome)
		for i, c := range plan.Cells {
			o := outcomeOf(store.NamedEstimate{Name: sim.ExpectedRewardVariance, Mean: 1e-3 / float64(int(1)<<i), StdErr: 1e-6, DF: 9})
			o.ID = c.ID
			outcomes[c.ID] = &o
		}
		e, err := NewExperiment(t.Context(), plan, outcomes, 1, &silent{})
		if err != nil {
			t.Fatal(err)
		}
		v := e.Verdicts[0]
		for _, want := range says {
			if v.Verdict != OutOfScope || !strings.Contains(v.Because, want) {
				t.Errorf("%s because %s: want %q", v.Verdict, v.Because, want)
			}
		}
		if !(math.Abs(float64(v.Measured)+1) <= 1e-9) {
			t.Errorf("measured %g, want -1", float64(v.Measured))
		}
	}
}
