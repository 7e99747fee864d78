package sweeps

import (
	"math"
	"strings"

	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// Names of the estimates of the stiffness λ (docs/theory.md §3).
const (
	stiffnessTotal   = sim.StiffnessTotal  // of the stiffest mode
	stiffnessFresh   = "stiffness_fresh"   // its part from the current policy
	stiffnessStale   = "stiffness_stale"   // its part from the snapshot
	stiffnessSlowest = "stiffness_slowest" // of the slowest mode, with more than two arms
)

// finding is the measurement and the prediction of one quantity of one set of cells,
// before they are compared within the check's margin.
type finding struct {
	quantity         string  // "": the claim's quantity of the same index
	measured, lo, hi float64 // value and interval; NaN where nothing was measured
	replicas         int     // independent values behind the interval; 0 where there are none
	predicted        predicted
	side             Side               // how the measurement can contradict the prediction
	expect           config.Expectation // "": the check's
	fault            string             // in words, of a control that is not the check's; ""
	diverged         string             // why there is no stationary state to measure; "": there is
}

// predicted is a predicted value, or the reason why the theory predicts none.
type predicted struct {
	value      float64 // ±Inf for an event that never occurs; of no meaning out of scope
	kind       rom.Kind
	outOfScope string // why the theory does not hold here; "" where it does
}

// newFinding returns a finding without a measurement. Its NaNs make the comparison
// inconclusive until a claim replaces them.
func newFinding(kind rom.Kind) finding {
	nan := math.NaN()
	return finding{measured: nan, lo: nan, hi: nan, predicted: predicted{kind: kind}}
}

// logic is the part of a claim that judges and draws; its config.Claim is the part
// that is read from configurations and documented.
type logic struct {
	quantities func(check *config.Check, cells []*Cell) []string // names of the quantities judged in a set of cells
	find       func(j *judgement, set CellSet) []finding         // one per quantity, in their order
	picture    picture
	// noiseless adds to an outcome the estimates that a cell would give without noise
	// if the theory were right. It is nil where a prediction can be found without
	// estimates, or with those of the stiffness alone.
	noiseless func(j *judgement, c *Cell, o *store.Outcome)
}

// logics maps every claim to its logic.
var logics = map[*config.Claim]logic{
	config.Trajectory:            trajectory,
	config.FixedPoint:            fixedPoint,
	config.StationaryFluctuation: stationaryFluctuation,
	config.FluctuationScaling:    fluctuationScaling,
	config.Stiffness:             stiffness,
	config.Relaxation:            relaxation,
	config.RelaxationScaling:     relaxationScaling,
	config.DampingRatio:          dampingRatio,
	config.OscillationOnset:      oscillationOnset,
	config.StabilityThreshold:    stabilityThreshold,
	config.RuleIsSafe:            ruleIsSafe,
	config.SaturationFit:         saturationFit,
	config.EarlySlope:            earlySlope,
	config.Recurrence:            recurrence,
	config.DegenerateGroups:      degenerateGroups,
	config.FailureMode:           failureMode,
}

// setsOf divides the cells that a check selects into sets, each judged as a whole.
func setsOf(check *config.Check, cells []*Cell) []CellSet {
	switch check.Claim.Per {
	case config.PerForce:
		return each(firstOfForce(cells))
	case config.AcrossCells:
		return acrossOver(check, cells)
	}
	return each(cells)
}

// each returns one set per cell.
func each(cells []*Cell) []CellSet {
	sets := make([]CellSet, len(cells))
	for i, c := range cells {
		sets[i] = CellSet{Label: c.Label(), Cells: []*Cell{c}}
	}
	return sets
}

// acrossOver groups the cells that differ only in the key check.Over and in keys of
// `run`. Sets and cells keep the order of the sweep.
func acrossOver(check *config.Check, cells []*Cell) []CellSet {
	var sets []CellSet
	index := make(map[string]int)
	for _, c := range cells {
		id := config.SizeID(c.Variant, &c.Settings)
		n, known := index[id]
		if !known {
			n = len(sets)
			index[id] = n
			var others []string
			for _, a := range c.Axes {
				if k, _ := config.LookupKey(a.Param); a.Param != check.Over && !k.OfRun() {
					others = append(others, a.Param+"="+config.Format(a.Value))
				}
			}
			sets = append(sets, CellSet{
				Name:  check.Over + "|" + strings.Join(others, ","),
				Label: strings.TrimSpace(label(c.Variant, c.Axes, check.Over) + " over " + config.ShortName(check.Over)),
			})
		}
		sets[n].Cells = append(sets[n].Cells, c)
	}
	return sets
}

// firstOfForce returns the first of all cells that share bandit, estimator and
// reference policy. Lag and optimizer do not change the stiffness of the mean force.
func firstOfForce(cells []*Cell) []*Cell {
	var first []*Cell
	seen := make(map[string]bool)
	for _, c := range cells {
		if id := config.ForceID(&c.Settings); !seen[id] {
			seen[id] = true
			first = append(first, c)
		}
	}
	return first
}

// only returns the quantities of a claim about a single quantity.
func only(quantity string) func(*config.Check, []*Cell) []string {
	return func(*config.Check, []*Cell) []string { return []string{quantity} }
}

// perCell returns the find of a claim that judges one quantity of single cells.
func perCell(find func(j *judgement, c *Cell, o *store.Outcome) finding) func(*judgement, CellSet) []finding {
	return func(j *judgement, set CellSet) []finding {
		c := set.Cells[0]
		return []finding{find(j, c, j.outcome(c))}
	}
}
