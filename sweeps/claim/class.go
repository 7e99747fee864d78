package claim

import (
	"math"
	"slices"

	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// Class describes the shape of a simulated cell's mean reward over steps. It depends on
// the recorded curve alone, not on theory. "" is the class of a cell without a curve.
type Class string

// Classes lists the classes in the order of the legend.
var Classes = []Class{Monotone, Overshooting, Oscillatory, Sustained, Locked, Diverged, AtRest,
	Unresolved}

const (
	Monotone     Class = "monotone"
	Overshooting Class = "overshooting"
	Oscillatory  Class = "oscillatory"
	Sustained    Class = "sustained"
	Locked       Class = "locked"
	Diverged     Class = "diverged"
	AtRest       Class = "at rest"
	Unresolved   Class = "unresolved"
)

// Meanings explains the classes in the caption of a map.
var Meanings = map[Class]string{
	Monotone:     "J never turns back",
	Overshooting: "J turns back, and passes its final level at most once",
	Oscillatory:  "J passes its final level at least twice, with decreasing amplitude",
	Sustained:    "J oscillates to the end of the run without decreasing amplitude",
	Locked:       "the run ends with nearly all probability on one arm, Σπ² ≥ 0.99",
	Diverged:     "the run left the range of floating point",
	AtRest:       "J changes by no more than its error, which is below 2 % of the range of the arms’ rewards",
	Unresolved:   "the error of J is unknown or too large to tell these apart",
}

// Limits between classes.
const (
	lockedFrom = 0.99 // the smallest Σπ² of a policy that counts as locked on one arm
	// decaying is the ratio of the last half's range to the preceding quarter's below
	// which an oscillation counts as decaying. (About 200 recorded steps, evenly spaced
	// in log t, leave at least a dozen in either part. Sampled there, a steady sine of
	// random phase misses 15 % of its range in 2 % of cases.)
	decaying = 0.85
	still    = 1e-10 // largest range at rest as a share of |J|: a rounded fixed point moves by less
	// largest range plus error at rest, as a share of the range of the arms' rewards
	smallError = 0.02
	blurred    = 0.1 // share of the range beyond which an error can hide smaller swings
)

// Class returns the class of a cell by its recorded mean reward J; "" if nothing is recorded. A
// turn or a passage counts if it exceeds measure.VisibleShare times the range of J. At finite G it
// must exceed the width of the simultaneous 99 % band of the mean too, which is unknown for a
// single replica. The final level is the last recorded J. A curve that passes it less than twice
// can still turn more often, with a stiff mode on a slow one.
func (e *Evidence) Class(c *plan.Cell) Class {
	o := e.Outcome(c)
	if o != nil && o.Status == store.CellDiverged {
		return Diverged
	}
	if o == nil {
		return ""
	}
	return ClassOf(c, e.Means(o, sim.ExpectedReward, sim.Collision))
}

// ClassOf returns the class of a cell that did not diverge by what it recorded of J and Σπ².
func ClassOf(c *plan.Cell, t *store.Trajectory) Class {
	if t == nil {
		return ""
	}
	if locked(t) {
		return Locked
	}
	reward, band := bandOf(c, t)
	if math.IsNaN(band) || math.IsInf(band, 0) {
		return Unresolved
	}
	last := len(reward) - 1
	size := max(math.Abs(slices.Min(reward)), math.Abs(slices.Max(reward)))
	reach := measure.Spread(reward)
	tolerance := max(measure.VisibleShare*reach, band)
	switch {
	case reach <= max(band, still*size) &&
		reach+band <= max(smallError*measure.Spread(c.Settings.Bandit.Means()), still*size):
		return AtRest
	case reach <= tolerance:
		return Unresolved
	}
	within := func(from, to float64) []float64 { // rewards between two shares of the run
		length := float64(t.Steps[last])
		begin, _ := slices.BinarySearch(t.Steps, int(math.Ceil(from*length)))
		end, _ := slices.BinarySearch(t.Steps, int(math.Floor(to*length))+1)
		return reward[begin:end]
	}
	turned := turns(reward, tolerance)
	ringsOn := len(turned) >= 2 && 2*t.Steps[turned[len(turned)-1]] >= t.Steps[last]
	switch {
	case ringsOn && measure.Spread(within(0.5, 1)) >= decaying*measure.Spread(within(0.25, 0.5)):
		return Sustained
	case ringsOn && brief(within(0.25, 0.5)) && brief(within(0.5, 1)):
		return Unresolved
	case measure.Passages(reward, tolerance) >= 2:
		return Oscillatory
	case band > blurred*reach:
		return Unresolved
	case len(turned) > 0:
		return Overshooting
	}
	return Monotone
}

// bandOf returns the mean reward over the recorded steps, and the width of its simultaneous band.
func bandOf(c *plan.Cell, t *store.Trajectory) (reward []float64, band float64) {
	for i := range t.Steps {
		mean := c.MeanReward(t, i)
		reward = append(reward, mean.Mean)
		if t.Steps[i] > 0 { // at step 0 all replicas are the same
			lo, hi := mean.Interval(1 - 0.01/float64(len(t.Steps)))
			band = max(band, hi-lo)
		}
	}
	return reward, band
}

// Resolving returns the number of replicas with which the error of a cell's mean reward would not
// hide its class. It is NaN where the error is not known.
func (e *Evidence) Resolving(c *plan.Cell) float64 {
	reward, band := bandOf(c, e.Means(e.Outcome(c), sim.ExpectedReward))
	share := band / (blurred * measure.Spread(reward))
	return float64(c.Settings.Run.Replicas) * float64(share*share)
}

// brief reports whether recorded steps can miss the brief excursions of an oscillation: the median
// is within a tenth of the range of an end. A decaying oscillation can begin with one large swing,
// but not in two parts of the run.
func brief(curve []float64) bool {
	if len(curve) == 0 {
		return false
	}
	share := (measure.Median(curve) - slices.Min(curve)) / measure.Spread(curve)
	return share < 0.1 || share > 0.9
}

// locked reports whether nearly all probability is on one arm at the end of a run. An oscillation
// between arms leaves such a state in the last half.
func locked(t *store.Trajectory) bool {
	collision := t.Series(sim.Collision)
	if collision == nil {
		return false
	}
	at := func(i int) bool { return float64(collision.Mean[i]) >= lockedFrom }
	last := len(t.Steps) - 1
	for i := last; i > 0 && 2*t.Steps[i-1] >= t.Steps[last]; i-- {
		if at(i-1) && !at(i) {
			return false
		}
	}
	return at(last)
}

// turns returns the indices of the extremes from which a curve turns back by more than
// the tolerance.
func turns(curve []float64, tolerance float64) []int {
	var turned []int
	direction, extreme := 0.0, 0
	for i, v := range curve {
		moved := v - curve[extreme]
		switch {
		case direction == 0:
			if math.Abs(moved) > tolerance {
				direction, extreme = math.Copysign(1, moved), i
			}
		case direction*moved >= 0:
			extreme = i
		case math.Abs(moved) > tolerance:
			turned = append(turned, extreme)
			direction, extreme = -direction, i
		}
	}
	return turned
}
