package sweeps

import (
	"math"
	"strings"
	"testing"

	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/judge"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// The margin along a run is that of the stiffest place after the burn-in, and is not known of a run
// that did not record it.
func TestJudgeRateOverThreshold(t *testing.T) {
	text := strings.Replace(edgeText, "{steps: 10}", "{steps: 1000, burn_in: 500, record: [stiffness]}", 1)
	plan := planText(t, text+`checks:
  - {claim: rate-over-threshold, about: exact-theory, margin: 0.1,
     control: {set: {optimizer.momentum: 0.9}}}
`)
	c := plan.Cells[0]
	p := theory.NewCache().Predict(&c.Settings, rom.Unit)
	critical := *p.LeadingOrder.CriticalLearningRate / c.Settings.Optimizer.LearningRate * p.Stiffness.Total
	judge := func(at func(t int) float64) judge.Verdict {
		steps := sim.RecordedSteps(c.Settings.Run.Steps, c.Settings.Lag)
		of := store.RecordedSeries{Quantity: sim.Stiffest, StdErr: make([]store.Number, len(steps))}
		for _, t := range steps {
			of.Mean = append(of.Mean, store.Number(at(t)))
		}
		o := outcomeOf()
		o.SetTrajectory(&store.Trajectory{Steps: steps, Quantities: []store.RecordedSeries{of}})
		return judgeCell(t, plan, o)[0]
	}
	for _, of := range []struct {
		early, late float64
		want        ruling
	}{{3, 1.02, agree}, {0.3, 0.97, agree}, {0.3, 0.8, disagree}, {1, 1.2, disagree}} {
		v := judge(func(step int) float64 {
			switch {
			case step < 500:
				return of.early * critical
			case step == 1000:
				return of.late * critical
			}
			return 0.5 * critical
		})
		ruled(t, of, v, of.want)
		near(t, of, float64(v.Measured), of.late, 1e-12)
		if of.want == agree && v.Control.Verdict != disagree {
			t.Errorf("%+v: the fault is not caught: %+v", of, v.Control)
		}
	}
	for unknown, want := range map[int]ruling{400: agree, 800: inconclusive, 1000: inconclusive} {
		ruled(t, unknown, judge(func(step int) float64 {
			if step == unknown {
				return math.NaN()
			}
			return 0.97 * critical
		}), want)
	}
	ruled(t, "not recorded", judgeCell(t, plan, outcomeOf())[0], inconclusive)
}

// The early slope of a network is read off its run, and no path of a bandit predicts it. Under Adam
// no fixed point is known at which runs could end.
func TestEarlySlopeOfNetwork(t *testing.T) {
	text := strings.NewReplacer("interval: 4", "interval: 1", "rate: 4", "rate: 0.5", "steps: 10",
		"steps: 4000").Replace(edgeText)
	e, _ := runSweep(t, text+"checks: [{claim: early-slope, at_most: 1}]\n", t.TempDir(), 1)
	v := e.Verdicts[0]
	if ruled(t, "early slope", v, agree); !strings.Contains(v.Because, "the mean path is not derived") {
		t.Error(told(v))
	}
	adam := strings.Replace(edgeText, "{learning", "{kind: adam, learning", 1)
	e, _ = runSweep(t, adam+"checks: [{claim: arrival, at_most: 1}]\n", t.TempDir(), 1)
	ruled(t, "Adam", e.Verdicts[0], inconclusive)
}
