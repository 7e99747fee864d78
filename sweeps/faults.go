package sweeps

import (
	"cmp"
	"math"
	"reflect"
	"slices"

	"grposim/rom"
	"grposim/rom/force"
	"grposim/rom/rest"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// Mistake returns the fault that a mistake in the theory amounts to, for a check and the first cell
// of a set; config.NoFault: nothing changes.
type Mistake func(*config.Check, *config.Settings) config.Fault

// Shift is the change that a fault of the theory makes to one comparison of a check.
type Shift struct {
	Check    *config.Check // the check
	Label    string        // name of the cells, for people
	Quantity string        // the quantity compared
	// the change as a multiple of the right prediction; NaN where that is 0, or out of scope
	Relative float64
	// the change as a multiple of the check's margin; ±Inf where that is 0, NaN out of scope
	Margins    float64
	OutOfScope string // why the wrong theory predicts nothing here; "": it does
}

// Shifts returns the changes that each mistake makes to the comparisons of a plan's checks: in the
// prediction, or in its distance from a right measurement without noise. It simulates nothing. It
// uses the first and the last set of cells of every check. Left out are refutations, one-sided
// comparisons, and right predictions that are infinite or out of scope.
func Shifts(plan *Plan, mistakes []Mistake) [][]Shift {
	shifts := make([][]Shift, len(mistakes))
	cache := theory.NewCache()
	for _, planned := range plan.Checks {
		check := planned.Check
		for _, set := range firstAndLast(planned.Sets) {
			ideal := &evidence{outcomes: make(map[string]*store.Outcome), cache: cache}
			right := newJudgement(check, plan.IntervalConfidence(), ideal)
			for _, c := range set.Cells {
				ideal.outcomes[c.ID] = right.noiseless(c)
			}
			quantities := claims[check.Claim].quantities(check, set.Cells)
			findings := right.find(set)
			for n, mistake := range mistakes {
				fault, found := mistake(check, &set.Cells[0].Settings), findings
				if right.isAffectedBy(fault, set) {
					wrong := *right
					wrong.fault = fault
					found = wrong.find(set)
				}
				for i, f := range found {
					if was := findings[i]; was.isTwoSided(check) {
						s := right.shift(was, f)
						s.Label, s.Quantity = set.Label, f.quantity
						if check.Hypothesis == nil { // with one there is a single finding
							s.Quantity = quantities[i]
						}
						shifts[n] = append(shifts[n], s)
					}
				}
			}
		}
	}
	return shifts
}

// isAffectedBy reports whether a fault changes any input of the judged prediction for a set of
// cells. Age and mass are inputs of the reduced-order model only. At G = ∞ there is no noise to
// scale.
func (j *judgement) isAffectedBy(f config.Fault, set CellSet) bool {
	scale := f.Scale
	if j.kind != rom.LeadingOrder {
		scale.Lag, scale.Mass = 1, 1
	}
	if !slices.ContainsFunc(set.Cells, func(c *Cell) bool { return !c.deterministic() }) {
		scale.Noise = 1
	}
	if scale != rom.Unit || f.Mode != "" && f.Mode != j.check.Mode || f.Law != "" && f.Law != j.check.Law {
		return true
	}
	faulty := *j
	faulty.fault = f
	return slices.ContainsFunc(set.Cells, func(c *Cell) bool {
		return !reflect.DeepEqual(faulty.settings(c), c.Settings)
	})
}

// firstAndLast returns the first and the last of the sets, or all of fewer than two.
func firstAndLast(sets []CellSet) []CellSet {
	if len(sets) < 2 {
		return sets
	}
	return []CellSet{sets[0], sets[len(sets)-1]}
}

// isTwoSided reports whether a finding compares a measurement from both sides with a
// finite prediction that is claimed to hold.
func (f *finding) isTwoSided(check *config.Check) bool {
	return f.side == FromBothSides && cmp.Or(f.expect, check.Expect) == config.Holds &&
		!f.predicted.Out() && !math.IsInf(f.predicted.Value, 0)
}

// shift returns the difference between the findings of the right and of the wrong
// theory in the same outcome.
func (j *judgement) shift(right, wrong finding) Shift {
	s := Shift{Check: j.check, OutOfScope: wrong.predicted.Because.String()}
	if wrong.predicted.Out() {
		s.Relative, s.Margins = math.NaN(), math.NaN()
		return s
	}
	moved := wrong.predicted.Value - right.predicted.Value
	if d := wrong.measured - right.measured; !math.IsNaN(d) {
		moved -= d // trajectories, recurrences and failure modes measure a deviation from the prediction
	}
	s.Relative = moved / right.predicted.Value
	if right.predicted.Value == 0 {
		s.Relative = math.NaN()
	}
	if moved != 0 { // else 0 also where the margin is 0
		s.Margins = moved / j.margin(right.predicted.Value)
	}
	return s
}

// noiseless returns the outcome that a cell would have without noise if the theory
// were right, with those estimates only that the claim's predictions need.
func (j *judgement) noiseless(c *Cell) *store.Outcome {
	o := &store.Outcome{ID: c.ID, Status: c.Status}
	if c.Status == store.NoFixedPoint {
		return o
	}
	if j.check.Displacement > 0 {
		j.noiselessStiffness(c, o)
	}
	claims[j.check.Claim].noiseless(&j.model, c, o)
	return o
}

// certain returns an estimate without error.
func certain(name string, x float64) store.NamedEstimate {
	return store.Store(name, measure.Certain(x))
}

// noiselessSeries returns a trajectory of one quantity, with the value at(t) and no
// error at each recorded step t.
func noiselessSeries(c *Cell, quantity sim.Quantity, at func(t int) float64) *store.Trajectory {
	steps := sim.RecordedSteps(c.Settings.Run.Steps, c.Settings.Lag)
	series := store.RecordedSeries{Quantity: quantity, StdErr: make([]store.Number, len(steps))}
	for _, t := range steps {
		series.Mean = append(series.Mean, store.Number(at(t)))
	}
	return &store.Trajectory{Steps: steps, Quantities: []store.RecordedSeries{series}}
}

// noiselessStiffness adds the estimates of a check's stiffness probes; none where there
// is no fixed point.
func (m *model) noiselessStiffness(c *Cell, o *store.Outcome) {
	add := func(name string, x float64) { o.Estimates = append(o.Estimates, certain(name, x)) }
	params := m.params(c)
	point, ok := rest.Reached(params)
	if !ok {
		return
	}
	fresh, stale := force.Stiffness(params, point.Logits)
	stiffest := rest.Modes(fresh, stale)[0]
	add(stiffnessTotal, stiffest.Total)
	add(stiffnessFresh, stiffest.Fresh)
	add(stiffnessStale, stiffest.Stale)
	arms := len(c.Settings.Bandit.Arms)
	if arms == 2 || m.check.Locate == nil {
		return
	}
	for a := range arms {
		for b := range arms {
			add(matrixEntry(stiffnessFresh, a, b), fresh.At(a, b))
			add(matrixEntry(stiffnessStale, a, b), stale.At(a, b))
		}
	}
}
