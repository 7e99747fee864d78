package diagnose

import (
	"fmt"
	"math"
	"slices"

	"grposim/rom/fp"
	"grposim/training/change"
)

// minCycles is the smallest number of cycles in the last half of a run that counts
// as an oscillation. With fewer, up to one random walk in ten passes as an
// oscillation; with four, less than two in a thousand runs of noise with any
// correlation time do, random walks included.
const minCycles = 4

// cycleStep is the spacing of the trial frequencies, in cycles per last half of
// the run. Frequencies closer than that are not independent.
const cycleStep = 0.5

// minAmplitudeRatio is the ratio of amplitudes, late over early, from which an
// oscillation counts as not decaying. Undamped the ratio is 1. A mode that loses
// less than a factor e in half a run decays too slowly for the run to show it.
const minAmplitudeRatio = 1 / math.E

// roundOff is the amplitude, relative to the values themselves, below which a
// variation counts as rounding error.
const roundOff = 1e-9

// rewardRinging measures the amplitude of the regular oscillation of the reward in
// the last half of a run, divided by half the range of the reward in the first half;
// 0 if there is no oscillation. It is about 1 for a bounded limit cycle and more for
// a growing oscillation; for a damped one it goes to 0 with the length of the run.
//
// Noise about a fixed point does not decay either, but is not regular. The
// oscillation is the sinusoid that, together with a straight line, fits best by
// least squares, at any spacing of the steps (a Lomb–Scargle periodogram). It counts
// only if it explains most of the variance about the line, and a larger share than
// the best of as many trials explains in white noise, except with probability
// change.FalseAlarm. Of n values, two fix the line and two the sinusoid, so in one trial
// chance explains a share above c with probability (1−c)^((n−4)/2). Oscillations of
// more than n/2 cycles are not resolved.
func rewardRinging(t *Trace) Evidence {
	const name = "reward ringing"
	r, o := t.rows(t.Reward)
	if o != Observed {
		return unobserved(name, DynamicalInstability, o)
	}
	if t.Origin == Samples {
		return sampledRinging(&r, name)
	}
	early := extent(r.columns[0][:r.late]) / 2
	rings := lateSinusoid(&r)
	return observed(name, DynamicalInstability, rings.amplitude/early, AtLeast, minAmplitudeRatio, rings.since(&r))
}

// lateSinusoid returns the best sinusoid in the last half of the first column, nothing
// if the sinusoid does not count (see rewardRinging).
func lateSinusoid(r *run) (o oscillation) {
	x := r.columns[0]
	late, n := newPeriodogram(r.at[r.late:], x[r.late:]), float64(len(x)-r.late)
	if !(math.Sqrt(late.total/n) > roundOff*largest(x)) {
		return o
	}
	found := late.best(minCycles, n/2)
	if !(found.explained/late.total > chanceShare(found.trials, n)) {
		return o
	}
	return late.oscillation(found)
}

// largest returns the largest absolute value.
func largest(x []float64) (most float64) {
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	return most
}

// chanceShare is the share of the variance that the best of some trial frequencies must
// exceed in n values to count (see rewardRinging).
func chanceShare(trials, n float64) float64 {
	return max(1-fp.Pow(change.FalseAlarm/trials, 2/(n-4)), 0.5)
}

// entropySwings counts how often the policy concentrates and spreads again in the
// last half of a run. One swing is a fall of the entropy followed by a rise, each by
// at least half of its largest value, so that the effective number of arms e^H
// changes by at least the square root of its largest value, down and up again. An
// instability far past its threshold is not regular, but grows until the softmax
// saturates. The threshold is minCycles, as for an oscillation: noise may cause a
// swing, but not so many. Of Samples fewer leave the sign open, and it is Undefined if the
// noise of single rows makes swings of that size.
func entropySwings(t *Trace) Evidence {
	const name = "entropy swings"
	r, o := t.rows(t.Entropy)
	if o != Observed {
		return unobserved(name, DynamicalInstability, o)
	}
	half := slices.Max(r.columns[0]) / 2
	hidden := t.Origin == Samples && half < standardErrors*math.Sqrt2*change.Noise(r.columns[0][r.late:])
	if !(half > 0) || hidden {
		return unobserved(name, DynamicalInstability, Undefined)
	}
	swings, falling, turn := 0.0, true, r.columns[0][r.late] // turn: the extreme value since the last turn
	for _, h := range r.columns[0][r.late:] {
		switch {
		case falling && h <= turn-half:
			falling, turn = false, h
		case !falling && h >= turn+half:
			swings++
			falling, turn = true, h
		case falling:
			turn = max(turn, h)
		default:
			turn = min(turn, h)
		}
	}
	e := observed(name, DynamicalInstability, swings, AtLeast, minCycles, int(r.at[r.late]))
	if t.Origin == Samples && swings > 0 && swings < minCycles {
		e.Error = minCycles - swings
		e.hidden = fmt.Sprintf("the entropy swings by half of its largest value, %g times in the last half of the run, and fewer than %d are not told from noise", swings, minCycles)
	}
	return e
}

// extent returns the range of x: its largest minus its smallest value.
func extent(x []float64) float64 { return slices.Max(x) - slices.Min(x) }

// explainedBy returns the part of the sum of squares of y that the best linear combination
// of u and v explains, by the products of y, u and v.
func explainedBy(uu, uv, vv, uy, vy float64) float64 {
	determinant := uu*vv - uv*uv
	switch { // u and v are linearly dependent if every step has one of two phases
	case determinant > roundOff*uu*vv:
	case uu > vv:
		return uy * uy / uu
	case vv > 0:
		return vy * vy / vv
	default:
		return 0
	}
	return (vv*uy*uy - 2*uv*uy*vy + uu*vy*vy) / determinant
}
