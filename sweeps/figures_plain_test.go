package sweeps

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"grposim/sim"
)

// A sweep without checks has for each variant the learning curves, with the mean and the
// quantiles that were recorded, and the reward at the last step over every swept
// parameter; and a row per cell for the page.
func TestFiguresWithoutChecks(t *testing.T) {
	text := strings.Replace(minimal, "run: {steps: 20}", "run: {steps: 20, replicas: 30}", 1) + `
variants:
  - {name: grid, sweep: [{param: grpo.group_size, values: [4, 8]}, {param: optimizer.learning_rate, values: [0.1, 0.2, 0.4]}]}
  - {name: words, sweep: [{param: grpo.advantage.scale, values: [std, none]}]}
`
	e, _ := runSweep(t, text, t.TempDir(), 2)
	var names []string
	named := make(map[string]Figure)
	for _, f := range e.Figures {
		names = append(names, f.Name)
		named[f.Name] = f
	}
	if got, want := fmt.Sprint(names), "[learning-curves-grid final-reward-group-size-grid final-reward-learning-rate-grid learning-curves-words final-reward-words]"; got != want {
		t.Fatalf("figures %s, want %s", got, want)
	}
	c := &e.Plan.Cells[0]
	recorded, err := e.Outcomes[c.ID].Trajectory()
	if err != nil {
		t.Fatal(err)
	}
	reward := recorded.Series(sim.ExpectedReward)
	last := len(recorded.Steps) - 1
	curves := named["learning-curves-grid"]
	if len(curves.Series) != 12 || curves.Series[0].Mark != Spread || strings.Contains(curves.Series[1].Name, "predicted") {
		t.Fatalf("%d series, first %+v", len(curves.Series), curves.Series[0])
	}
	if p := curves.Series[0].Points[last]; p.X != 20 || p.Lo != float64(reward.Quantiles[last][0]) || p.Hi != float64(reward.Quantiles[last][4]) {
		t.Errorf("the band ends at %+v, recorded %v", p, reward.Quantiles[last])
	}
	if p := curves.Series[1].Points[last]; p.Y != float64(reward.Mean[last]) {
		t.Errorf("the mean ends at %+v, recorded %v", p, reward.Mean[last])
	}
	over := named["final-reward-learning-rate-grid"]
	if len(over.Series) != 2 || len(over.Series[0].Points) != 3 || over.XLabel != "learning rate η" {
		t.Fatalf("%+v", over)
	}
	p := over.Series[0].Points[0]
	if half := 2.756386 * float64(reward.StdErr[last]); p.X != 0.1 || p.Y != float64(reward.Mean[last]) || math.Abs(p.Hi-p.Y-half) > 1e-6*half { // Student's 99 % quantile for 29
		t.Errorf("%+v, want %g ± %g", p, float64(reward.Mean[last]), half)
	}
	if side := named["final-reward-words"]; len(side.Categories) != 2 {
		t.Errorf("categories %q", side.Categories)
	}
	all, failure := e.CellRows()
	rows := slices.Collect(all)
	if err := failure(); err != nil || len(rows) != 8 || len(rows[0]) != len(CellColumns) {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	if want := format(reward.Mean[last], significant(p.Y, p.Hi-p.Lo)); rows[0][0] != "grid G=4 η=0.1" || !strings.HasPrefix(rows[0][2], want+" [") || rows[0][3] != "–" {
		t.Errorf("first row %q, want %s", rows[0], want)
	}
}
