package sweeps

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"grposim/sim"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// arrived judges replicas of underway of which some end where theory says, some on the worse arm,
// and some not at all.
func arrived(t *testing.T, check string, there, elsewhere, diverged int) judge.Verdict {
	t.Helper()
	plan := planText(t, underway+"  - "+check+"\n")
	c := plan.Cells[0]
	o := outcomeOf()
	o.ID = c.ID
	outcomes := map[string]*store.Outcome{o.ID: &o}
	said := must(Judge(plan, outcomes))[0].Quantity
	var distance, reward float64
	_, err := fmt.Sscanf(said, "share of replicas that end within %g of J = %g", &distance, &reward)
	if err != nil || !(distance >= 0.035) {
		t.Fatalf("%s: want at least 5 %% of the range of rewards", said)
	}
	o.Ends = slices.Concat(slices.Repeat([]store.Number{store.Number(reward + 0.9*distance)}, there),
		slices.Repeat([]store.Number{0.2}, elsewhere),
		slices.Repeat([]store.Number{store.Number(math.NaN())}, diverged))
	return must(Judge(plan, outcomes))[0]
}

func TestJudgeArrival(t *testing.T) {
	const check = "{claim: arrival, margin: 0.1, control: {set: {optimizer.learning_rate: 0.005}}}"
	const most = "{claim: arrival, at_least: 0.95}"
	for _, c := range []struct {
		check                      string
		there, elsewhere, diverged int
		share                      float64
		want                       ruling
		because                    string
	}{
		{check, 1000, 0, 0, 1, agree, ""},
		{check, 500, 500, 0, 0.5, disagree, "500 of 1000 replicas end elsewhere, at J = 0.2 on average"},
		{check, 500, 0, 500, 0.5, disagree, "outside"},
		{check, 20, 0, 0, 1, inconclusive, "would decide"},
		{most, 1000, 0, 0, 1, agree, "≥ 0.95 holds; the theory predicts 1"},
		{most, 500, 500, 0, 0.5, disagree, "500 of 1000 replicas end elsewhere"},
		{"{claim: arrival, expected: 0.5, margin: 0.2}", 500, 500, 0, 0.5, agree, "0.5 ± 0.1 holds"},
	} {
		v := arrived(t, c.check, c.there, c.elsewhere, c.diverged)
		ruledBecause(t, c, v, c.want, c.because)
		near(t, c, float64(v.Measured), c.share, 1e-12)
		if v.Control != nil && v.Control.Verdict != disagree && c.want == agree {
			t.Errorf("the control is %v", v.Control.Verdict)
		}
	}
}

// The end is the mean over the recorded steps of the last quarter: of J = t/100 at 0, 50, 74, 75,
// 90 and 100 of 100 steps that over three.
func TestEndOfARun(t *testing.T) {
	steps := []int{0, 50, 74, 75, 90, 100}
	end := plan.EndOf(steps, func(i int) float64 { return float64(steps[i]) / 100 })
	near(t, "the end", end, (0.75+0.9+1)/3, 1e-15)
}

// The ends are kept where a check asks for them, and outlive the journal; other cells have none and
// keep their ids.
func TestEndsAreStored(t *testing.T) {
	without := planText(t, underway+"  - {claim: trajectory, absolute_margin: 0.05}\n")
	p := planText(t, underway+"  - {claim: arrival, margin: 0.2}\n"+
		"  - {claim: trajectory, absolute_margin: 0.05}\n")
	if without.Cells[0].ID == p.Cells[0].ID {
		t.Error("a cell that keeps the ends of its replicas has the id of one that does not")
	}
	dir := t.TempDir()
	e := must(Runner{Workers: 1, Progress: &silent{}}.Run(t.Context(), p, dir))
	ends := e.Outcomes[p.Cells[0].ID].Ends
	sum := 0.0
	for _, x := range ends {
		sum += float64(x) / float64(len(ends))
	}
	recorded := must(e.Outcomes[p.Cells[0].ID].Trajectory(sim.ExpectedReward))
	means := recorded.Series(sim.ExpectedReward).Mean
	mean := plan.EndOf(recorded.Steps, func(i int) float64 { return float64(means[i]) })
	near(t, "the mean end", sum, mean, 1e-12)
	near(t, "the number of ends", float64(len(ends)), 64, 0)
	_, outcomes, err := Open(dir)
	noError(t, err)
	if again := outcomes[p.Cells[0].ID].Ends; !slices.Equal(again, ends) {
		t.Errorf("read back %v, want %v", again, ends)
	}
	alone := must(plan.Simulate(t.Context(), without, 1))
	if o := alone[without.Cells[0].ID]; o.Ends != nil {
		t.Errorf("%d ends that no check asks for", len(o.Ends))
	}
}

// Half of these runs are kicked onto the worse arm by the k3 penalty at a learning rate whose mean
// path arrives.
func TestKickedRunsDoNotArrive(t *testing.T) {
	p := planText(t, `
name: kicks
extends: trl
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {groups_per_step: 8, kl: {coefficient: 0.04}}
optimizer: {kind: heavy-ball, momentum: 0.9, learning_rate: 0.4, schedule: {kind: constant}}
run: {steps: 1000, replicas: 128}
checks:
  - {claim: arrival, at_least: 0.95}
`)
	v := must(Judge(p, must(plan.Simulate(t.Context(), p, 1))))[0]
	if v.Verdict != disagree || !(v.Hi < 0.8) || !(v.Lo > 0.2) {
		t.Errorf("%s, want that about a half arrive", told(v))
	}
	if h := v.Hypothesis; h.OutOfScope == "" {
		t.Errorf("predicted %v, want the flag of kicks alone", h.Predicted)
	}
}
