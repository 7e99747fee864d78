package main

import (
	"math"

	"grposim/rom/force"
	"grposim/rom/rest"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sim/probe"
	"grposim/sweeps/claim"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/training/diagnose"
)

// setNoiseless sets the outcome that a cell would have without noise if the theory were right,
// with those estimates only that the predictions of the claim need.
func setNoiseless(j *claim.Question, c *plan.Cell) {
	o := &store.Outcome{ID: c.ID, Status: c.Status}
	j.Outcomes[c.ID] = o
	if c.Status == store.NoFixedPoint {
		return
	}
	add := func(name string, x float64) {
		o.Estimates = append(o.Estimates, measure.Named{Name: name, Estimate: measure.Certain(x)})
	}
	if j.Check.Displacement > 0 {
		addStiffness(j, c, add)
	}
	switch of := j.Check.Claim.Name; {
	case j.Check.Claim.Diagnosed:
		for _, mode := range diagnose.Modes {
			named := measure.Indicator(string(mode) == j.Check.Mode)
			add(plan.NamedShare(mode), named)
			add(plan.PaperNamedShare(mode), named)
		}
	case of == "recurrence":
		record(o, c, sim.LogitGap, gapsOf(j, c))
	case of == "trajectory", of == "time-to-level", of == "arrival":
		curve, theory := j.Course(c)
		if theory.Out() {
			return
		}
		record(o, c, j.Check.Recorded(), curve.At)
		steps := sim.RecordedSteps(c.Settings.Run.Steps, c.Settings.Lag)
		o.Ends = []store.Number{
			store.Number(plan.EndOf(steps, func(i int) float64 { return curve.At(steps[i]) }))}
	case j.Check.Locate != nil:
		event := of
		switch of {
		case "rule-is-safe":
			event = "stability-threshold"
		case "median-frontier", "frontier-gap", "frontier-ratio", "frontier-constant":
			event = "visible-frontier"
		}
		found := len(o.Estimates)
		add(probe.LocatedLow, 0)
		add(probe.LocatedHigh, 0)
		at := j.By("").InCell(event, c).Predicted
		o.Estimates = o.Estimates[:found]
		if !at.Out() && !math.IsInf(at.Value, 0) {
			add(probe.LocatedLow, at.Value)
			add(probe.LocatedHigh, at.Value)
		}
	}
}

// addStiffness adds the estimates of a check's stiffness probes, none where there is no fixed
// point.
func addStiffness(j *claim.Question, c *plan.Cell, add func(name string, x float64)) {
	params := j.Params(c)
	point, ok := rest.Reached(params)
	if !ok {
		return
	}
	fresh, stale := force.Stiffness(params, point.Logits)
	stiffest := rest.Modes(fresh, stale)[0]
	add(plan.StiffnessTotal, stiffest.Total)
	add(plan.StiffnessFresh, stiffest.Fresh)
	add(plan.StiffnessStale, stiffest.Stale)
	arms := len(c.Settings.Bandit.Arms)
	if arms == 2 || j.Check.Locate == nil {
		return
	}
	for a := range arms {
		for b := range arms {
			add(plan.MatrixEntry(plan.StiffnessFresh, a, b), fresh.At(a, b))
			add(plan.MatrixEntry(plan.StiffnessStale, a, b), stale.At(a, b))
		}
	}
}

// gapsOf returns the predicted logit gap of two arms at refresh instants, if each block converges.
func gapsOf(j *claim.Question, c *plan.Cell) func(t int) float64 {
	params := j.Params(c)
	gaps := []float64{c.Start[0] - c.Start[1]}
	for len(gaps) <= c.Settings.Run.Steps/c.Settings.Lag.Interval {
		next, _ := claim.RefreshedGap(params, gaps[len(gaps)-1])
		gaps = append(gaps, next)
	}
	return func(t int) float64 { return gaps[t/c.Settings.Lag.Interval] }
}

// record sets the trajectory of an outcome to one quantity, with the value at(t) and no error at
// each recorded step t.
func record(o *store.Outcome, c *plan.Cell, quantity sim.Quantity, at func(t int) float64) {
	steps := sim.RecordedSteps(c.Settings.Run.Steps, c.Settings.Lag)
	series := store.RecordedSeries{Quantity: quantity, StdErr: make([]store.Number, len(steps))}
	for _, t := range steps {
		series.Mean = append(series.Mean, store.Number(at(t)))
	}
	o.SetTrajectory(&store.Trajectory{Steps: steps, Quantities: []store.RecordedSeries{series}})
}
