package sweeps

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// A value or a bound that the file claims is in a figure, with the values that it allows: of
// single cells in one of its own, over the swept parameter; of a slope in that of its points,
// through their mean on logarithmic axes.
func TestClaimedFigures(t *testing.T) {
	e, _ := runSweep(t, `
name: claimed
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
policy: {init: fixed-point}
grpo: {advantage: {scale: none}, kl: {coefficient: 1}}
optimizer: {learning_rate: 0.1}
run: {steps: 200, burn_in: 50, replicas: 8}
sweep: [{param: grpo.group_size, values: [4, 8, 32]}]
checks:
  - {claim: fluctuation-scaling, over: grpo.group_size, at_most: -0.9}
  - {claim: fixed-point, expected: 0.5, margin: 0.1}
  - {claim: fixed-point, at_least: 0.2, where: {grpo.group_size: [4, 8]}}
`, t.TempDir(), 2)
	inf := math.Inf(1)
	want := []struct{ name, claimed string }{
		{"fluctuation-scaling", "claimed: slope ≤ −0.9"}, {"fixed-point-expected", "claimed: 0.5 ± 0.05"}, {"fixed-point-at-least", "claimed: ≥ 0.2"},
	}
	if len(e.Figures) != len(want) {
		t.Fatalf("%d figures, want %d", len(e.Figures), len(want))
	}
	claims := make([]FigureSeries, len(want))
	for i, f := range e.Figures {
		at := slices.IndexFunc(f.Series, func(s FigureSeries) bool { return s.Mark == Claimed })
		if f.Name != want[i].name || at < 0 || f.Series[at].Name != want[i].claimed {
			t.Fatalf("figure %s with the series %v, want %v", f.Name, f.Series, want[i])
		}
		claims[i] = f.Series[at]
	}
	near := func(x, y float64) bool { return x == y || math.Abs(x-y) < 1e-6*math.Abs(y) }
	check := func(s FigureSeries, want ...FigurePoint) {
		t.Helper()
		if len(s.Points) != len(want) {
			t.Fatalf("%d points, want %d", len(s.Points), len(want))
		}
		for i, p := range s.Points {
			if w := want[i]; !near(p.X, w.X) || !near(p.Y, w.Y) || !near(p.Lo, w.Lo) || !near(p.Hi, w.Hi) {
				t.Errorf("point %d: %v, want %v", i, p, w)
			}
		}
	}
	check(claims[1], FigurePoint{4, 0.5, 0.45, 0.55}, FigurePoint{8, 0.5, 0.45, 0.55}, FigurePoint{32, 0.5, 0.45, 0.55})
	check(claims[2], FigurePoint{4, 0.2, 0.2, inf}, FigurePoint{8, 0.2, 0.2, inf})

	var middle float64 // of the measured variances, on the logarithmic axis
	for _, id := range []int{0, 1, 2} {
		v, _ := e.Outcomes[e.Plan.Cells[id].ID].Estimate("expected_reward_variance")
		middle += math.Log(v.Mean) / 3
	}
	line := func(x float64) float64 { return math.Exp(middle - 0.9*(math.Log(x)-10./3*math.Ln2)) } // the mean of log₂ 4, 8 and 32 is 10/3
	mean := math.Exp2(10. / 3)
	check(claims[0], FigurePoint{4, line(4), line(4), inf}, FigurePoint{8, line(8), line(8), inf}, FigurePoint{mean, line(mean), line(mean), inf},
		FigurePoint{mean, line(mean), 0, line(mean)}, FigurePoint{32, line(32), 0, line(32)})
	for _, f := range e.Figures[1:] {
		if !strings.HasSuffix(f.Title, ", and what the file claims") || f.XLabel != "group size G" {
			t.Errorf("%s: title %q, x axis %q", f.Name, f.Title, f.XLabel)
		}
	}
}
