package sweeps

import (
	"math"
	"strings"

	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// Names of the estimates of the stiffness of the stiffest mode, whole and in its
// parts, and of the slowest mode.
const (
	stiffnessTotal   = sim.StiffnessTotal
	stiffnessFresh   = "stiffness_fresh"
	stiffnessStale   = "stiffness_stale"
	stiffnessSlowest = "stiffness_slowest"
)

// finding is what a claim says of one quantity of one set of cells, before the
// margin is laid on.
type finding struct {
	quantity         string
	measured, lo, hi float64
	replicas         int // independent values behind the interval; 0 where there are none
	predicted        predicted
	side             Side               // on which the prediction may be missed
	expect           config.Expectation // "" the check's
	fault            string             // in words, of a control that is not the check's; ""
	failed           string             // why nature has decided against every stationary state
}

// predicted is what the theory says of a number, or why it says nothing.
type predicted struct {
	value      float64
	kind       rom.Kind
	outOfScope string // why the theory does not hold here; "" where it does
}

// unmeasured begins a finding that has no number yet: what nobody fills in
// decides nothing.
func unmeasured(kind rom.Kind) finding {
	nan := math.NaN()
	return finding{measured: nan, lo: nan, hi: nan, predicted: predicted{kind: kind}}
}

// logic is the half of a claim that judges (the other is a config.Claim): which
// quantities it decides in a set of cells, how it finds them, and how they are
// pictured.
type logic struct {
	quantities func(check *config.Check, cells []*Cell) []string
	find       func(j *judgement, set CellSet) []finding // one for each of the quantities
	picture    picture
	// noiseless adds to an outcome what a cell would measure without noise if the
	// theory were right; nil where a finding needs no measurement to be made, or
	// the keys of the check say it all.
	noiseless func(j *judgement, c *Cell, o *store.Outcome)
}

// logics has the logic of every claim.
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

// setsOf divides the cells that a check selects into the sets that its claim is
// judged on.
func setsOf(check *config.Check, cells []*Cell) []CellSet {
	switch check.Claim.Per {
	case config.PerForce:
		return each(firstOfForce(cells))
	case config.AcrossCells:
		return acrossOver(check, cells)
	}
	return each(cells)
}

// each makes every cell a set of its own.
func each(cells []*Cell) []CellSet {
	sets := make([]CellSet, len(cells))
	for i, c := range cells {
		sets[i] = CellSet{Label: c.Label(), Cells: []*Cell{c}}
	}
	return sets
}

// acrossOver groups the cells that differ only in check.Over, keys of `run`
// ignored; sets and cells keep the order of the sweep.
func acrossOver(check *config.Check, cells []*Cell) []CellSet {
	var sets []CellSet
	index := make(map[string]int)
	for _, c := range cells {
		id := config.SizeID(c.Variant, &c.Settings)
		n, known := index[id]
		if !known {
			n = len(sets)
			index[id] = n
			name := check.Over + "|"
			var others []string
			for _, a := range c.Axes {
				if k, _ := config.LookupKey(a.Param); a.Param != check.Over && !k.OfRun() {
					others = append(others, a.Param+"="+config.Format(a.Value))
				}
			}
			sets = append(sets, CellSet{
				Name:  name + strings.Join(others, ","),
				Label: strings.TrimSpace(label(c.Variant, c.Axes, check.Over) + " over " + config.ShortName(check.Over)),
			})
		}
		sets[n].Cells = append(sets[n].Cells, c)
	}
	return sets
}

// firstOfForce keeps the first of the cells that share bandit, estimator and
// reference: lag and optimizer do not enter an on-policy stiffness.
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

func only(quantity string) func(*config.Check, []*Cell) []string {
	return func(*config.Check, []*Cell) []string { return []string{quantity} }
}

func perCell(find func(j *judgement, c *Cell, o *store.Outcome) finding) func(*judgement, CellSet) []finding {
	return func(j *judgement, set CellSet) []finding {
		c := set.Cells[0]
		return []finding{find(j, c, j.outcome(c))}
	}
}
