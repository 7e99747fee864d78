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
	predicted        float64
	kind             rom.Kind
	side             Side               // on which the prediction may be missed
	expect           config.Expectation // "" the check's
	fault            string             // in words, of a control that is not the check's; ""
	outOfScope       string             // why, where the theory does not hold
	failed           string             // why nature has decided against every stationary state
}

// unmeasured begins a finding that has no number yet: what nobody fills in
// decides nothing.
func unmeasured(kind rom.Kind) finding {
	nan := math.NaN()
	return finding{measured: nan, lo: nan, hi: nan, kind: kind}
}

// claimLogic is what a claim does: how it groups cells, which quantities it
// decides, and how it finds them.
type claimLogic struct {
	group      func(check *config.Check, cells []*Cell) []CellSet
	quantities func(check *config.Check, cells []*Cell) []string
	find       func(j *judgement, set CellSet) []finding
}

// claimLogics has a row for every row of the claim table (claims_table.go).
var claimLogics = map[string]claimLogic{
	config.ClaimFixedPoint:  {each, only("expected reward, mean"), perCell(findFixedPoint)},
	config.ClaimStationary:  {each, only("expected reward, variance"), perCell(findFluctuation)},
	config.ClaimScaling:     {acrossOver, only("slope of log variance of expected reward"), findSlope(sim.ExpectedRewardVariance, (*judgement).rewardVariance)},
	config.ClaimDegenerate:  {each, only("share of zero-variance groups"), perCell(findDegenerate)},
	config.ClaimStiffness:   {onePerForce, stiffnessQuantities, findStiffness},
	config.ClaimTrajectory:  {each, only("worst deviation of mean reward, share of the rise"), perCell(findTrajectory)},
	config.ClaimSaturation:  {each, saturationQuantities, findSaturation},
	config.ClaimEarlySlope:  {each, only("stiffness by the early slope"), perCell(findEarlySlope)},
	config.ClaimRecurrence:  {each, only("worst deviation of the logit gap from the map"), perCell(findRecurrence)},
	config.ClaimRelaxation:  {each, only("relaxation rate per step"), perCell(findRelaxation)},
	config.ClaimRateScaling: {acrossOver, only("slope of log relaxation rate"), findSlope(sim.RelaxationRate, (*judgement).relaxationRate)},
	config.ClaimDamping:     {each, only("damping ratio"), perCell(findDamping)},
	config.ClaimOnset:       {each, locatedQuantity("onset of oscillation"), perCell(findOnset)},
	config.ClaimThreshold:   {each, locatedQuantity("stability threshold"), perCell(findThreshold)},
	config.ClaimRuleIsSafe:  {each, safetyQuantities, findSafety},
	config.ClaimFailureMode: {each, modeQuantity, perCell(findMode)},
}

// each makes every cell a set of its own.
func each(_ *config.Check, cells []*Cell) []CellSet {
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

// onePerForce keeps the first of the cells that share bandit, estimator and
// reference: lag and optimizer do not enter an on-policy stiffness.
func onePerForce(check *config.Check, cells []*Cell) []CellSet {
	var first []*Cell
	seen := make(map[string]bool)
	for _, c := range cells {
		if id := config.ForceID(&c.Settings); !seen[id] {
			seen[id] = true
			first = append(first, c)
		}
	}
	return each(check, first)
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
