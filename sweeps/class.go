package sweeps

import (
	"math"
	"slices"

	"grposim/sim"
	"grposim/sweeps/store"
)

// Class is what the mean reward of a simulated cell looks like along its run.
// It describes; theory has no part in it.
type Class string

// Classes lists them in the order of the legend.
var Classes = []Class{Monotone, Overshooting, Oscillatory, Sustained, Locked, Diverged, AtRest}

const (
	Monotone     Class = "monotone"     // never turns back
	Overshooting Class = "overshooting" // turns back, but passes its final level once at most
	Oscillatory  Class = "oscillatory"  // passes its final level twice or more, less and less far
	Sustained    Class = "sustained"    // rings to the end of the run, no less than before
	Locked       Class = "locked"       // ends in one arm
	Diverged     Class = "diverged"     // left the range of floating point
	AtRest       Class = "at rest"      // moved by no more than is known of it
)

// Limits between classes.
const (
	// visible is the share of a curve's range below which it does not count as
	// turning back or passing a level. At G = ∞, where J is recorded to
	// rounding, any share from 1e-3 to 1e-12 gives the cells of the eight-armed
	// stand-in of docs/theory.md §9 the same classes.
	visible = 1e-3
	// lockedFrom is the Σπ² from which on a policy counts as locked in one arm.
	lockedFrom = 0.99
	// decaying is what the range of the last half of a run is of that of the
	// quarter before it, at most, where ringing decays. (Some 200 recorded steps,
	// evenly spaced in log t, leave a dozen in either at least: of a steady sine
	// at random phases they miss 15 % of the range one time in fifty.)
	decaying = 0.85
	// still is the share of J by which a start at a fixed point, rounded to 12
	// digits, may move.
	still = 1e-10
)

// class describes a cell by its recorded trajectory of the mean reward J, ""
// where there is none or, with a single replica at finite G, nothing is known
// of its noise. Turns and passages count where they exceed the larger of
// visible times the range of J and, at finite G, the width of the simultaneous
// 99 % band of the mean, which falls as 1/√(G·replicas). The final level is the
// last recorded J. One that passes its level less than twice may still have
// turned more often: with several modes a stiff one rings while a slow one
// still rises.
func (e *evidence) class(c *Cell) Class {
	o := e.outcome(c)
	if o != nil && o.Status == store.CellDiverged {
		return Diverged
	}
	if o == nil {
		return ""
	}
	t := e.trajectory(o, sim.ExpectedReward, sim.Collision)
	if t == nil {
		return ""
	}
	reward := make([]float64, len(t.Steps))
	band, size := 0.0, 0.0
	for i := range reward {
		mean := c.meanReward(t, i)
		reward[i] = mean.Mean
		size = max(size, math.Abs(mean.Mean))
		if t.Steps[i] > 0 { // where every replica starts
			lo, hi := mean.Interval(1 - 0.01/float64(len(reward)))
			band = max(band, hi-lo)
		}
	}
	if math.IsNaN(band) || math.IsInf(band, 0) {
		return ""
	}
	last := len(reward) - 1
	reach := spread(reward)
	tolerance := max(visible*reach, band)
	if reach <= max(tolerance, still*size) {
		return AtRest
	}
	within := func(from, to float64) []float64 { // shares of the run
		length := float64(t.Steps[last])
		begin, _ := slices.BinarySearch(t.Steps, int(math.Ceil(from*length)))
		end, _ := slices.BinarySearch(t.Steps, int(math.Floor(to*length))+1)
		return reward[begin:end]
	}
	turned := turns(reward, tolerance)
	ringsOn := len(turned) >= 2 && 2*t.Steps[turned[len(turned)-1]] >= t.Steps[last]
	collision := t.Series(sim.Collision)
	switch {
	case ringsOn && spread(within(0.5, 1)) >= decaying*spread(within(0.25, 0.5)):
		return Sustained
	case collision != nil && float64(collision.Mean[last]) >= lockedFrom:
		return Locked
	case passages(reward, tolerance) >= 2:
		return Oscillatory
	case len(turned) > 0:
		return Overshooting
	}
	return Monotone
}

// spread returns the range of the values, 0 of none.
func spread(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return slices.Max(values) - slices.Min(values)
}

// turns returns the extremes from which a curve comes back by more than the
// tolerance.
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

// passages counts how often a curve goes from one side of its last value to the
// other, seen where it is further away than the tolerance.
func passages(curve []float64, tolerance float64) int {
	level := curve[len(curve)-1]
	n, side := 0, 0.0
	for _, v := range curve {
		if math.Abs(v-level) <= tolerance {
			continue
		}
		if now := math.Copysign(1, v-level); now != side {
			if side != 0 {
				n++
			}
			side = now
		}
	}
	return n
}
