package sweeps

import (
	"fmt"
	"math"

	"grposim/rom"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// finding is the measurement and the prediction of one quantity of one set of cells,
// before they are compared within the check's margin.
type finding struct {
	quantity         string           // "": the claim's quantity of the same index
	estimate         string           // name of what was measured; "": the claim's event or name
	measured, lo, hi float64          // value and interval; NaN where nothing was measured
	fit              measure.Estimate // of a slope, with its errors; zero for other quantities
	replicas         int              // independent values behind the interval; 0 where there are none
	predicted        predicted
	side             Side               // how the measurement can contradict the prediction
	expect           config.Expectation // "": the check's
	about            *config.About      // nil: the check's
	fault            string             // in words, of a control that is not the check's; ""
	diverged         divergence         // of the replicas behind the measurement
	instead          string             // what was found, for a verdict that does not agree; ""
	unresolved       string             // why an inconclusive finding has no number; "": not known
	bandits          *Tally             // in how many of the set's bandits the claim holds; nil: they are not counted
}

// divergence says which replicas of a cell left the range of floating point. Its zero
// value is none.
type divergence struct {
	diverged, replicas int // numbers of replicas, 0 ≤ diverged ≤ replicas
	at                 int // the first step at which one did
}

// divergenceOf returns the divergence of a cell's run.
func divergenceOf(c *Cell, o *store.Outcome) divergence {
	in := c.Sim()
	return divergence{o.Diverged, in.Replicas(), o.DivergedAt}
}

// String returns the numbers in words.
func (d divergence) String() string {
	return fmt.Sprintf("%d of %d replicas left the range of floating point, the first at step %d", d.diverged, d.replicas, d.at)
}

// predicted is a predicted value, or the reason why the theory predicts none.
type predicted struct {
	value      float64 // ±Inf for an event that never occurs; of no meaning out of scope
	kind       rom.Kind
	outOfScope string  // why the theory does not hold here; "" where it does
	neglected  float64 // predicted absolute size of what the prediction leaves out, ≥ 0
	resolution float64 // rounding error of the measured value: no margin is smaller
	since      string  // why so much is neglected; "": terms of higher order
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
	tested     int                                               // the quantity that a hypothesis is about
	picture    picture
	// noiseless adds to an outcome the estimates that a cell would give without noise
	// if the theory were right. It is nil where a prediction can be found without
	// estimates, or with those of the stiffness alone.
	noiseless func(j *judgement, c *Cell, o *store.Outcome)
}

// logics maps every claim to its logic.
var logics = map[*config.Claim]logic{
	config.Trajectory:            trajectory,
	config.ModelAmplitude:        modelAmplitude,
	config.FixedPoint:            fixedPoint,
	config.StationaryFluctuation: stationaryFluctuation,
	config.FluctuationScaling:    fluctuationScaling,
	config.VisibleFrontier:       visibleFrontier,
	config.FrontierAboveOnset:    frontierAboveOnset,
	config.MedianFrontier:        medianFrontier,
	config.FrontierGap:           frontierGap,
	config.FrontierRatio:         frontierRatio,
	config.FrontierConstant:      frontierConstant,
	config.ClassOccurs:           classOccurs,
	config.ClassThroughout:       classThroughout,
	config.Stiffness:             stiffness,
	config.Relaxation:            relaxation,
	config.RelaxationScaling:     relaxationScaling,
	config.DampingRatio:          dampingRatio,
	config.OscillationOnset:      oscillationOnset,
	config.StabilityThreshold:    stabilityThreshold,
	config.RuleIsSafe:            ruleIsSafe,
	config.SaturationFit:         saturationFit,
	config.EarlySlope:            earlySlope,
	config.LawFit:                lawFit,
	config.LawForecast:           lawForecast,
	config.Recurrence:            recurrence,
	config.CycleWidth:            cycleWidth,
	config.DegenerateGroups:      degenerateGroups,
	config.FailureMode:           failureMode,
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
