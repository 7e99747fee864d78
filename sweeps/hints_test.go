package sweeps

import (
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
		e, err := NewExperiment(plan, map[string]*store.Outcome{o.ID: &o})
		if err != nil {
			t.Fatal(err)
		}
		return e.Verdicts[0].Because
	}
	const hint = "; in scope with optimizer.learning_rate = 0.5 or grpo.group_size = 32"
	if got := because(); !strings.HasSuffix(got, hint) {
		t.Fatalf("%s: want %s", got, hint)
	}
	for in, out := range map[string]string{"learning_rate: 0.5": "learning_rate: 1", "group_size: 32": "group_size: 16"} {
		old := map[string]string{"learning_rate": "learning_rate: 2", "group_size": "group_size: 4"}[strings.Split(in, ":")[0]]
		if got := because(old, in); strings.Contains(got, "neglects") {
			t.Errorf("%s: %s", in, got)
		}
		if got := because(old, out); !strings.Contains(got, "neglects") {
			t.Errorf("%s: %s, want out of scope", out, got)
		}
	}
}
