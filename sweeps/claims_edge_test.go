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
	plan := planText(t, strings.Replace(edgeText, "run: {steps: 10}", "run: {steps: 1000, burn_in: 500, record: [stiffness]}", 1)+
		"checks: [{claim: rate-over-threshold, about: exact-theory, margin: 0.1, control: {set: {optimizer.momentum: 0.9}}}]\n")
	c := &plan.Cells[0]
	p := theory.NewCache().Predict(&c.Settings, rom.Unit)
	critical := p.Stiffness.Total * *p.LeadingOrder.CriticalLearningRate / c.Settings.Optimizer.LearningRate
	series := func(at func(t int) float64) *store.Trajectory {
		steps := sim.RecordedSteps(c.Settings.Run.Steps, c.Settings.Lag)
		of := store.RecordedSeries{Quantity: sim.Stiffest, StdErr: make([]store.Number, len(steps))}
		for _, t := range steps {
			of.Mean = append(of.Mean, store.Number(at(t)))
		}
		return &store.Trajectory{Steps: steps, Quantities: []store.RecordedSeries{of}}
	}
	for _, of := range []struct {
		early, late float64
		want        judge.Ruling
	}{{3, 1.02, agree}, {0.3, 0.97, agree}, {0.3, 0.8, disagree}, {1, 1.2, disagree}} {
		o := &store.Outcome{ID: c.ID, Status: store.CellOK}
		o.SetTrajectory(series(func(step int) float64 {
			switch {
			case step < 500:
				return of.early * critical
			case step == 1000:
				return of.late * critical
			}
			return 0.5 * critical
		}))
		v := judged(t, plan, map[string]*store.Outcome{c.ID: o})[0]
		if v.Verdict != of.want || math.Abs(float64(v.Measured)-of.late) > 1e-12 {
			t.Errorf("%+v: %s, measured %v because %q", of, v.Verdict, v.Measured, v.Because)
		}
		if of.want == agree && v.Control.Verdict != disagree {
			t.Errorf("%+v: the fault is not caught: %+v", of, v.Control)
		}
	}
	for unknown, want := range map[int]judge.Ruling{400: agree, 800: inconclusive, 1000: inconclusive} {
		o := &store.Outcome{ID: c.ID, Status: store.CellOK}
		o.SetTrajectory(series(func(step int) float64 {
			if step == unknown {
				return math.NaN()
			}
			return 0.97 * critical
		}))
		if v := judged(t, plan, map[string]*store.Outcome{c.ID: o})[0]; v.Verdict != want {
			t.Errorf("not known at step %d: %s, want %s", unknown, v.Verdict, want)
		}
	}
	if v := judged(t, plan, map[string]*store.Outcome{c.ID: {ID: c.ID, Status: store.CellOK}})[0]; v.Verdict != inconclusive {
		t.Errorf("not recorded: %s", v.Verdict)
	}
}
