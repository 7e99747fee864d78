package sweeps

import (
	"math"
	"strings"
	"testing"

	"grposim/sim"
	"grposim/sweeps/store"
)

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
		e := must(NewExperiment(t.Context(), plan, outcomes, 1, &silent{}))
		v := e.Verdicts[0]
		for _, want := range says {
			if v.Verdict != outOfScope || !strings.Contains(v.Because, want) {
				t.Errorf("%s because %s: want %q", v.Verdict, v.Because, want)
			}
		}
		if !(math.Abs(float64(v.Measured)+1) <= 1e-9) {
			t.Errorf("measured %g, want -1", float64(v.Measured))
		}
	}
}
