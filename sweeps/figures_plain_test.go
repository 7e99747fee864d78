package sweeps

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"grposim/sim"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
)

// A sweep without checks has for each variant the learning curves, with the mean and the quantiles
// that were recorded, over samples too where cells differ in their number, and the reward at the
// last step over every swept parameter; the other quantities that move; and a row per cell for the
// page.
func TestFiguresWithoutChecks(t *testing.T) {
	text := strings.Replace(minimal, "run: {steps: 20}", "run: {steps: 20, replicas: 100}", 1) + `
variants:
  - {name: grid, sweep: [{param: grpo.group_size, values: [4, 8]},
     {param: optimizer.learning_rate, values: [0.1, 0.2, 0.4]}]}
  - {name: words, sweep: [{param: grpo.advantage.scale, values: [std, none]}]}
`
	e, _ := runSweep(t, text, t.TempDir(), 2)
	var names []string
	named := make(map[string]Figure)
	for _, f := range e.Figures {
		names = append(names, f.Name)
		named[f.Name] = f
	}
	if got, want := fmt.Sprint(names), "[learning-curves-grid learning-curves-samples-grid final-reward-group-size-grid final-reward-learning-rate-grid learning-curves-words final-reward-words entropy zero-variance-fraction gradient-norm]"; got != want {
		t.Fatalf("figures %s, want %s", got, want)
	}
	c := e.Plan.Cells[0]
	recorded := must(e.Outcomes[c.ID].Trajectory())
	reward := recorded.Series(sim.ExpectedReward)
	last := len(recorded.Steps) - 1
	curves := named["learning-curves-grid"]
	if len(curves.Series) != 12 || curves.Series[0].Mark != Spread ||
		strings.Contains(curves.Series[1].Name, "predicted") {
		t.Fatalf("%d series, first %+v", len(curves.Series), curves.Series[0])
	}
	if p := curves.Series[0].Points[last]; p.X != 20 || p.Lo != float64(reward.Quantiles[last][0]) ||
		p.Hi != float64(reward.Quantiles[last][4]) {
		t.Errorf("the band ends at %+v, recorded %v", p, reward.Quantiles[last])
	}
	equal(t, "the mean ends", curves.Series[1].Points[last].Y, float64(reward.Mean[last]))
	costs := named["learning-curves-samples-grid"]
	if p := costs.Series[1].Points[last-1]; costs.XLabel != "samples drawn" || p.X != 80 || p.Y != float64(reward.Mean[last]) {
		// without step 0, on a logarithmic axis
		t.Errorf("over samples the mean ends at %+v, want 20 groups of 4", p)
	}
	moved := named["entropy"]
	entropy := recorded.Series(sim.Entropy)
	if p := moved.Series[1].Points[last]; moved.YLabel != "entropy, nat" || moved.Series[1].Group != "grid G=4 η=0.1" || p.Y != float64(entropy.Mean[last]) {
		t.Errorf("%s of %s ends at %+v, recorded %g", moved.YLabel, moved.Series[1].Group, p, float64(entropy.Mean[last]))
	}
	if norm := named["gradient-norm"]; strings.Contains(norm.Title, "band") || norm.Series[0].Mark != Predicted {
		t.Errorf("%s has a band", norm.Title)
	}
	over := named["final-reward-learning-rate-grid"]
	if len(over.Series) != 2 || len(over.Series[0].Points) != 3 || over.XLabel != "learning rate η" {
		t.Fatalf("%+v", over)
	}
	p := over.Series[0].Points[0]
	// Student's 99 % quantile for 99
	half := 2.626405 * float64(reward.StdErr[last])
	if p.X != 0.1 || p.Y != float64(reward.Mean[last]) || math.Abs(p.Hi-p.Y-half) > 1e-6*half {
		t.Errorf("%+v, want %g ± %g", p, float64(reward.Mean[last]), half)
	}
	equal(t, "categories", len(named["final-reward-words"].Categories), 2)
	rows, err := e.CellRows([]int{0, 1, 2, 3, 4, 5, 6, 7})
	if err != nil || len(rows) != 8 || len(rows[0]) != len(CellColumns) {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	want := judge.Format(reward.Mean[last], judge.Significant(p.Y, p.Hi-p.Lo))
	if rows[0][0] != "grid G=4 η=0.1" || !strings.HasPrefix(rows[0][2], want+" [") ||
		rows[0][3] != "–" {
		t.Errorf("first row %q, want %s", rows[0], want)
	}
}

// A quantity moves if its mean does by more than the band of its errors in some cell, and is drawn
// if it says something that the others do not: of cells of equal arms, which stay where they are,
// and of single replicas, whose error is not known, none is.
func TestQuantitiesThatMove(t *testing.T) {
	replicas := strings.Replace(minimal, "steps: 20", "steps: 400, replicas: 30, record: [pass@4, samples]", 1)
	for _, c := range []struct{ text, want string }{
		{replicas, "[entropy gradient_norm pass_at_4]"},
		{replicas + "policy: {reference: [0, 1]}\n", "[entropy kl_reference gradient_norm pass_at_4]"},
		{strings.Replace(replicas, "bandit: {", "bandit: {true_means: [0.1, 0.5], ", 1),
			"[true_reward entropy gradient_norm pass_at_4]"},
		{strings.Replace(replicas, "rate: 0.1", "rate: 0.000001", 1), "[]"},
		{strings.Replace(replicas, "replicas: 30", "replicas: 1", 1), "[]"},
	} {
		e, _ := runSweep(t, c.text, t.TempDir(), 2)
		moving := movingQuantities(e.evidence, e.Plan, []*plan.Cell{e.Plan.Cells[0]})
		equal(t, c.text, fmt.Sprint(moving), c.want)
	}
}
