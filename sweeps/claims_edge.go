package sweeps

import (
	"math"
	"slices"

	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/theory"
)

// The claim about the margin along a run of a network.

// overThreshold returns the recorded steps of a run and its learning rate over the threshold at
// each, ηλ/κ*; nil where it was not recorded.
func (j *judgement) overThreshold(c *Cell) (steps []int, shares []float64) {
	recorded, critical := j.trajectory(j.outcome(c), sim.Stiffest), criticalStiffness(j.model.cache, c)
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
func criticalStiffness(cache *theory.Cache, c *Cell) float64 {
	p := cache.Predict(&c.Settings, rom.Unit)
	if p.LeadingOrder.CriticalLearningRate == nil {
		return math.NaN()
	}
	return p.Stiffness.Total * *p.LeadingOrder.CriticalLearningRate / c.Settings.Optimizer.LearningRate
}

// compareOverThreshold compares the largest of these numbers after the burn-in with 1, the edge.
func compareOverThreshold(j *judgement, c *Cell) finding {
	f := newFinding(rom.LeadingOrder)
	f.diverged = divergenceOf(c, j.outcome(c))
	f.predicted = j.edge(c)
	f.predicted.Value /= criticalStiffness(j.model.cache, c)
	steps, shares := j.overThreshold(c)
	first := slices.IndexFunc(steps, func(t int) bool { return t >= c.Settings.Run.BurnIn })
	if first >= 0 {
		return f.exactly(slices.Max(shares[first:])) // NaN where one of them is not known
	}
	return f
}

// drawOverThreshold returns a picture of these numbers over the run, with the edge.
func drawOverThreshold(j *judgement, d *figureSource) Figure {
	f := coursesOf(sim.ExpectedReward, "Learning rate over the threshold of its place, along the run", d.sets)
	f.YLabel = "ηλ/κ*"
	f.Caption = "The margin is 1 less the line. Beyond the threshold of the nearest fixed point a run sharpens, passes the edge at 1, and is led back to it."
	edge := FigureSeries{Name: "the edge", Mark: Reference}
	for _, set := range thinned(d.sets) {
		c := set.Cells[0]
		steps, shares := j.overThreshold(c)
		// a line
		line := FigureSeries{Name: "simulated", Group: withoutVariant(set.Label, c.Variant), Mark: Predicted}
		for i, t := range steps {
			if t > 0 {
				line.Points = append(line.Points, BarePoint(float64(t), shares[i]))
			}
		}
		f.Series = append(f.Series, line)
		edge.Points = []FigurePoint{BarePoint(1, 1), BarePoint(float64(c.Settings.Run.Steps), 1)}
	}
	f.Series = append(f.Series, edge)
	return f
}
