package claim

import (
	"math"
	"slices"

	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/plan"
	"grposim/sweeps/theory"
)

// The claim about the margin along a run of a network.

// OverThreshold returns the recorded steps of a run and its learning rate over the threshold at
// each, ηλ/κ*; nil where it was not recorded.
func (j *Question) OverThreshold(c *plan.Cell) (steps []int, shares []float64) {
	recorded, critical := j.Trajectory(j.Outcome(c), sim.Stiffest), criticalStiffness(j.Model.cache, c)
	if recorded == nil {
		return nil, nil
	}
	for _, stiffness := range recorded.Series(sim.Stiffest).Mean {
		shares = append(shares, float64(stiffness)/critical)
	}
	return recorded.Steps, shares
}

// criticalStiffness returns κ*/η of a cell by the theory as derived, NaN where it has none. It is
// the unit of the measured numbers, whatever fault is planted.
func criticalStiffness(cache *theory.Cache, c *plan.Cell) float64 {
	p := cache.Predict(&c.Settings, rom.Unit)
	if p.LeadingOrder.CriticalLearningRate == nil {
		return math.NaN()
	}
	return p.Stiffness.Total * *p.LeadingOrder.CriticalLearningRate / c.Settings.Optimizer.LearningRate
}

// compareOverThreshold compares the largest of these numbers after the burn-in with 1, the edge.
func compareOverThreshold(j *Question, c *plan.Cell) Finding {
	f := newFinding(rom.LeadingOrder)
	f.Diverged = divergenceOf(c, j.Outcome(c))
	f.Predicted = j.edge(c)
	f.Predicted.Value /= criticalStiffness(j.Model.cache, c)
	steps, shares := j.OverThreshold(c)
	first := slices.IndexFunc(steps, func(t int) bool { return t >= c.Settings.Run.BurnIn })
	if first >= 0 {
		return f.exactly(slices.Max(shares[first:])) // NaN where one of them is not known
	}
	return f
}
