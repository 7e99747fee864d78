package sweeps

import (
	"cmp"
	"math"
	"reflect"
	"slices"

	"grposim/rom"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// Mistake makes the fault that a mistake is for a check and the settings of the
// first of its cells.
type Mistake func(*config.Check, *config.Settings) config.Fault

// plant gives a judgement's theory the fault.
func (j *judgement) plant(f config.Fault) { j.set, j.factors, j.mode = f.Set, f.Scale, f.Mode }

// Shift is by how much a fault moves one comparison that a check makes.
type Shift struct {
	Check    *config.Check
	Label    string  // the cells, for people
	Quantity string  // what is compared
	Relative float64 // the move, in units of the right prediction; NaN where that is 0
	Margins  float64 // the move, in margins of the check; ±Inf where it has none
	Lost     string  // why the faulty theory predicts nothing here; "" where it does
}

// Shifts returns by how much each mistake moves what the checks of a plan compare:
// the prediction, or its distance from what a noiseless measurement of a right
// theory would give. The theory alone decides; nothing is simulated. Of every
// check the first and the last set of cells stand for all. Refutations, one-sided
// comparisons, and those whose right prediction is out of scope or no number are
// left out.
func Shifts(plan *Plan, mistakes []Mistake) [][]Shift {
	shifts := make([][]Shift, len(mistakes))
	cache := newPredictionCache()
	for _, planned := range plan.Checks {
		check := planned.Check
		for _, set := range ends(planned.Sets) {
			ideal := &evidence{outcomes: make(map[string]*store.Outcome), cache: cache}
			right := newJudgement(check, plan.Spec.Confidence, ideal)
			for _, c := range set.Cells {
				ideal.outcomes[c.ID] = right.noiseless(c)
			}
			quantities := logics[check.Claim].quantities(check, set.Cells)
			findings := right.find(set)
			for n, mistake := range mistakes {
				fault, found := mistake(check, &set.Cells[0].Settings), findings
				if right.isToldOf(fault, set) {
					wrong := *right
					wrong.plant(fault)
					found = wrong.find(set)
				}
				for i, f := range found {
					if was := findings[i]; was.movable(check) {
						s := right.shift(was, f)
						s.Label, s.Quantity = set.Label, quantities[i]
						shifts[n] = append(shifts[n], s)
					}
				}
			}
		}
	}
	return shifts
}

// isToldOf reports whether a fault changes anything that the theory is told of a
// set of cells; most settings have nothing to do with most mistakes. The age and
// the mass are those of the reduced-order model, and at G = ∞ there is no noise.
func (j *judgement) isToldOf(f config.Fault, set CellSet) bool {
	scale := f.Scale
	if j.kind != rom.LeadingOrder {
		scale.Lag, scale.Mass = 1, 1
	}
	if !slices.ContainsFunc(set.Cells, func(c *Cell) bool { return !c.Sim.Deterministic() }) {
		scale.Noise = 1
	}
	if scale != rom.Unit || f.Mode != "" && f.Mode != j.check.Mode {
		return true
	}
	faulty := *j
	faulty.plant(f)
	return slices.ContainsFunc(set.Cells, func(c *Cell) bool {
		return !reflect.DeepEqual(faulty.settings(c), c.Settings)
	})
}

// ends returns the first and the last of the sets.
func ends(sets []CellSet) []CellSet {
	if len(sets) < 2 {
		return sets
	}
	return []CellSet{sets[0], sets[len(sets)-1]}
}

// movable reports whether a right finding compares a number from both sides
// with a prediction that is claimed to hold.
func (f *finding) movable(check *config.Check) bool {
	return f.side == FromBothSides && cmp.Or(f.expect, check.Expect) == config.Holds && f.predicted.outOfScope == "" && !math.IsInf(f.predicted.value, 0)
}

// shift compares what the right and the faulty theory find in the same outcome.
func (j *judgement) shift(right, wrong finding) Shift {
	s := Shift{Check: j.check, Lost: wrong.predicted.outOfScope}
	if s.Lost != "" {
		s.Relative, s.Margins = math.NaN(), math.NaN()
		return s
	}
	moved := wrong.predicted.value - right.predicted.value
	if d := wrong.measured - right.measured; !math.IsNaN(d) {
		moved -= d // measured against the prediction itself: trajectories, recurrences, names
	}
	s.Relative = moved / right.predicted.value
	if right.predicted.value == 0 {
		s.Relative = math.NaN()
	}
	if moved != 0 { // whole numbers have no margin
		s.Margins = moved / j.margin(right.predicted.value)
	}
	return s
}

// noiseless returns what the check's claim would measure in a cell without
// noise, if its theory were right: only what a finding cannot be made without.
func (j *judgement) noiseless(c *Cell) *store.Outcome {
	o := &store.Outcome{ID: c.ID, Status: c.Status}
	if c.Status == store.NoFixedPoint {
		return o
	}
	if j.check.Displacement > 0 {
		j.noiselessStiffness(c, o)
	}
	if add := logics[j.check.Claim].noiseless; add != nil {
		add(j, c, o)
	}
	return o
}

// certain is an estimate that no chance entered.
func certain(name string, x float64) store.NamedEstimate {
	return store.NamedEstimate{Name: name, Mean: x, DF: measure.Exactly}
}

// noiselessSeries is the trajectory of one quantity at the recorded steps.
func noiselessSeries(c *Cell, quantity sim.Quantity, at func(t int) float64) *store.Trajectory {
	steps := sim.RecordedSteps(c.Settings.Run.Steps, c.Settings.Lag)
	series := store.RecordedSeries{Quantity: quantity, StdErr: make([]store.Number, len(steps))}
	for _, t := range steps {
		series.Mean = append(series.Mean, store.Number(at(t)))
	}
	return &store.Trajectory{Steps: steps, Quantities: []store.RecordedSeries{series}}
}

// noiselessStiffness adds the stiffness as the probes of a check would find it.
func (j *judgement) noiselessStiffness(c *Cell, o *store.Outcome) {
	add := func(name string, x float64) { o.Estimates = append(o.Estimates, certain(name, x)) }
	params := j.params(c)
	point, ok := rom.Reached(params)
	if !ok {
		return
	}
	fresh, stale := rom.StiffnessAt(params, point.Logits)
	stiffest := rom.Modes(fresh, stale)[0]
	add(stiffnessTotal, stiffest.Total)
	add(stiffnessFresh, stiffest.Fresh)
	add(stiffnessStale, stiffest.Stale)
	arms := len(c.Settings.Bandit.Arms)
	if arms == 2 || j.check.Locate == nil {
		return
	}
	for a := range arms {
		for b := range arms {
			add(matrixEntry(stiffnessFresh, a, b), fresh.At(a, b))
			add(matrixEntry(stiffnessStale, a, b), stale.At(a, b))
		}
	}
}

// noiselessLocation adds the event, found where it is predicted.
func (j *judgement) noiselessLocation(c *Cell, o *store.Outcome, predict func(*judgement, *Cell, *rom.Measured) located) {
	stiffness := measuredStiffness(o, len(c.Settings.Bandit.Arms))
	if stiffness == nil {
		return
	}
	at := predict(j.by(""), c, stiffness)
	if at.outOfScope == "" && !math.IsInf(at.value, 0) {
		o.Estimates = append(o.Estimates, certain(sim.LocatedLow, at.value), certain(sim.LocatedHigh, at.value))
	}
}
