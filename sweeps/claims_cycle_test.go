package sweeps

import (
	"math"
	"strings"
	"testing"

	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// cycling is a configuration of one cell that flips about its fixed point from block to block, to
// be completed by a check.
const cycling = `
name: cycling
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 1}, {reward: bernoulli, mean: 0}]}
policy: {init: {fixed_point_offset: 0.2}, reference: [-2.5, 2.5]}
grpo: {group_size: inf, advantage: {scale: std}, importance: {mode: truncated, cap: 1.5}, kl: {coefficient: 1.57, at: current}}
lag: {interval: 20}
optimizer: {learning_rate: 1}
run: {steps: 800}
checks:
`

// judgeCycle judges a cell of cycling, some of whose keys are changed, by one check. The
// outcome is the mean field of the theory, with the gap z at step t changed to gap(t, z).
func judgeCycle(t *testing.T, check string, gap func(step int, z float64) float64, replaced ...string) Verdict {
	t.Helper()
	plan := planText(t, strings.NewReplacer(replaced...).Replace(cycling)+"  - "+check+"\n")
	c := &plan.Cells[0]
	o := &store.Outcome{ID: c.ID, Status: store.CellOK}
	gaps := make(map[int]float64)
	rom.MeanField(theory.Params(&c.Settings, rom.Unit), c.start, c.Settings.Run.Steps, func(step int, theta []float64) {
		gaps[step] = gap(step, theta[0]-theta[1])
	})
	o.SetTrajectory(noiselessSeries(c, sim.LogitGap, func(step int) float64 { return gaps[step] }))
	return judged(t, plan, map[string]*store.Outcome{c.ID: o})[0]
}

func TestJudgeCycleWidth(t *testing.T) {
	const (
		exact   = "{claim: cycle-width, absolute_margin: 0.001, control: {set: {grpo.importance.mode: ratio}}}"
		leading = "{claim: cycle-width, prediction: leading-order, margin: 0.05, control: {set: {grpo.importance.cap: 1.6}}}"
	)
	right := func(_ int, z float64) float64 { return z }
	for _, c := range []struct {
		about, check string
		gap          func(step int, z float64) float64
		replaced     []string
		want         Ruling
		because      string
	}{
		{"mean field", exact, right, nil, Agree, ""},
		{"its first half does not count", exact, func(step int, z float64) float64 {
			if step < 400 {
				return 10 * z
			}
			return z
		}, nil, Agree, ""},
		{"nor do steps between refreshes", exact, right, []string{"steps: 800", "steps: 813"}, Agree, ""},
		{"wider by 1 %", exact, func(_ int, z float64) float64 { return 1.01 * z }, nil, Disagree, ""},
		{"one gap is missing", exact, func(step int, z float64) float64 {
			if step == 600 {
				return math.NaN()
			}
			return z
		}, nil, Inconclusive, "no number"},
		{"by the bound", leading, right, nil, Agree, ""},
		{"by the bound, wider by 10 %", leading, func(_ int, z float64) float64 { return 1.1 * z }, nil, Disagree, ""},
		{"by the bound, a missing gap", leading, func(int, float64) float64 { return math.NaN() }, nil, Inconclusive, "no number"},
		{"the plain ratio has no bound", leading, right, []string{"mode: truncated", "mode: ratio"}, OutOfScope, "no bound of the ratio"},
		{"a weight of 0 beyond the bound leaves the width open", leading, right, []string{"mode: truncated, cap: 1.5", "mode: clip, clip_high: 0.5"}, OutOfScope, "neglects"},
		{"a stable fixed point", leading, right, []string{"interval: 20", "interval: 10"}, OutOfScope, "do not flip"},
	} {
		v := judgeCycle(t, c.check, c.gap, c.replaced...)
		if v.Verdict != c.want || !strings.Contains(v.Because, c.because) {
			t.Errorf("%s: %v because %s, want %v", c.about, v.Verdict, v.Because, c.want)
		}
		if v.Verdict == Agree && (v.Control == nil || v.Control.Verdict != Disagree) {
			t.Errorf("%s: control %+v", c.about, v.Control)
		}
	}
	// The width of this cell, and the one by the bound: ln 1.5/q (1 + …), docs/theory-trainers.md §11.2.
	v := judgeCycle(t, exact, right)
	if got := float64(v.Measured); math.Abs(got-0.4439) > 5e-5 || v.Sampled || v.PredictionKind != rom.Exact {
		t.Errorf("measured %.5f, sampled %v, predicted by %s", got, v.Sampled, v.PredictionKind)
	}
	if v := judgeCycle(t, leading, right); math.Abs(float64(v.Predicted)-0.4456) > 5e-5 || v.PredictionKind != rom.LeadingOrder {
		t.Errorf("predicted %.5f by %s", float64(v.Predicted), v.PredictionKind)
	}
}

// Without a fixed point, and where nothing was recorded, there is no width.
func TestCycleWithoutNumbers(t *testing.T) {
	plan := planText(t, cycling+"  - {claim: cycle-width, margin: 0.01}\n")
	id := plan.Cells[0].ID
	if v := judged(t, plan, map[string]*store.Outcome{id: {ID: id, Status: store.CellOK}})[0]; v.Verdict != Inconclusive {
		t.Errorf("nothing recorded: %v because %s", v.Verdict, v.Because)
	}
	diverged := store.Outcome{ID: id, Status: store.CellDiverged, Diverged: 1, DivergedAt: 17}
	if v := judged(t, plan, map[string]*store.Outcome{id: &diverged})[0]; v.Verdict != Disagree {
		t.Errorf("diverged: %v because %s", v.Verdict, v.Because)
	}
}

// The window of the claim has all refreshes of the second half up to 50 blocks.
func TestRefreshesOfTheSecondHalf(t *testing.T) {
	for _, c := range []struct{ interval, steps, first, last, number int }{
		{20, 800, 400, 800, 21}, {20, 813, 420, 800, 20}, {7, 28, 14, 28, 3}, {10, 500, 250, 500, 26},
	} {
		s := planText(t, cycling+"  - {claim: cycle-width, margin: 0.01}\n").Cells[0].Settings
		s.Lag.Interval, s.Run.Steps = c.interval, c.steps
		steps, late := refreshes(&s)
		if steps = steps[late:]; steps[0] != c.first || steps[len(steps)-1] != c.last || len(steps) != c.number {
			t.Errorf("%d steps in blocks of %d: %v", c.steps, c.interval, steps)
		}
	}
}

// The picture has a point and a value of the mean field for every refresh, and the widths in the legend.
func TestDrawCycles(t *testing.T) {
	e, err := Run(t.Context(), planText(t, cycling+"  - {claim: cycle-width, margin: 0.01}\n"), t.TempDir(), 1, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	if v := e.Verdicts[0]; v.Verdict != Agree {
		t.Errorf("%v because %s", v.Verdict, v.Because)
	}
	f := e.Figures[0]
	if len(f.Series) != 2 || f.Name != "cycle-width" {
		t.Fatalf("%d series in %s", len(f.Series), f.Name)
	}
	for _, s := range f.Series {
		if len(s.Points) != 41 || !strings.Contains(s.Group, "width 0.444 (by the bound 0.446 ±") {
			t.Errorf("%s: %d points of %q", s.Name, len(s.Points), s.Group)
		}
	}
	for i, p := range f.Series[0].Points {
		if q := f.Series[1].Points[i]; p.X != q.X || math.Abs(p.Y-q.Y) > 1e-9 {
			t.Errorf("refresh %g: simulated %g, mean field %g", p.X, q.Y, p.Y)
		}
	}
}
