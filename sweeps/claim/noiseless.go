package claim

import (
	"grposim/rom/force"
	"grposim/rom/rest"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// Noiseless returns the outcome that a cell would have without noise if the theory
// were right, with those estimates only that the claim's predictions need.
func (j *Question) Noiseless(c *plan.Cell) *store.Outcome {
	o := &store.Outcome{ID: c.ID, Status: c.Status}
	if c.Status == store.NoFixedPoint {
		return o
	}
	if j.Check.Displacement > 0 {
		j.noiselessStiffness(c, o)
	}
	claims[j.Check.Claim].noiseless(&j.Model, c, o)
	return o
}

// certain returns an estimate without error.
func certain(name string, x float64) store.NamedEstimate {
	return store.Store(name, measure.Certain(x))
}

// noiselessSeries returns a trajectory of one quantity, with the value at(t) and no
// error at each recorded step t.
func noiselessSeries(c *plan.Cell, quantity sim.Quantity, at func(t int) float64) *store.Trajectory {
	steps := sim.RecordedSteps(c.Settings.Run.Steps, c.Settings.Lag)
	series := store.RecordedSeries{Quantity: quantity, StdErr: make([]store.Number, len(steps))}
	for _, t := range steps {
		series.Mean = append(series.Mean, store.Number(at(t)))
	}
	return &store.Trajectory{Steps: steps, Quantities: []store.RecordedSeries{series}}
}

// noiselessStiffness adds the estimates of a check's stiffness probes; none where there
// is no fixed point.
func (m *Model) noiselessStiffness(c *plan.Cell, o *store.Outcome) {
	add := func(name string, x float64) { o.Estimates = append(o.Estimates, certain(name, x)) }
	params := m.Params(c)
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
	if arms == 2 || m.Check.Locate == nil {
		return
	}
	for a := range arms {
		for b := range arms {
			add(plan.MatrixEntry(plan.StiffnessFresh, a, b), fresh.At(a, b))
			add(plan.MatrixEntry(plan.StiffnessStale, a, b), stale.At(a, b))
		}
	}
}
