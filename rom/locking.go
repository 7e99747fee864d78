package rom

import (
	"math"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/group"
	"grposim/rom/scope"
)

// This file has the locking of runs without a penalty (docs/theory-neglected.md §6.12). A step moves the logit gap z of the best arm over another one by
// 2η/(GB(1−μ)) Σ A, the sum over the step's samples of the best arm, whose law depends on z alone. So z is a Markov chain, and the share of runs with z < 0
// after T steps is u_T of u_t(z) = E u_{t−1}(z + Δz), u_0 the indicator of z < 0. On a lattice of z a step is a matrix and T steps are its power.

// The share is that on the fine lattice; the difference to that on the coarse one is neglected.
var fineLattice, coarseLattice = lattice{0.4, 96}, lattice{0.8, 48}

// decideLocking sets the share of runs that are on a wrong arm at the end. Momentum is between two limits: the policy follows a sample at once by all that it
// moves in the end, or not before the 1/(1−μ) steps that a velocity lasts are over. The share is their mean, and half of their difference is neglected. With
// reused samples and no weights K steps are one step of Kη.
//
// Of more than two arms it is the sum over the wrong ones, of each as if there were no others. That is a bound from below, which only the flag reads: there
// the mean force itself widens a lead that a wrong arm has by chance, as long as both are better than the mean of all.
func (row *ArrivalRow) decideLocking(w *way) {
	row.Quantity = "share of runs on a wrong arm"
	row.Bound = flagged
	row.Share.Because = w.notDerived(wrongArmShare)
	steps, gain := w.steps, w.Optimizer.LearningRate/(1-w.Optimizer.Momentum)
	if reused(&w.Params, 0) {
		steps, gain = max(steps/w.Lag.Interval, 1), gain*float64(w.Lag.Interval)
	}
	for b := range w.Arms {
		if w.Arms[b].Mean == w.Arms[w.front].Mean {
			continue
		}
		l, back, z := w.newLocking(b, gain), newLoneSample(&w.Params, w.front, b), w.init[w.front]-w.init[b]
		if l.scale*l.samples*back.mean()*float64(steps)*fp.MathExp(min(z, 0)) < leftMiddle {
			row.Because = w.notThere()
			return
		}
		coarse := l.share(z, steps, 1, coarseLattice)
		if row.Share.Out() {
			row.Value += coarse
			continue
		}
		atOnce := l.share(z, steps, 1, fineLattice)
		late := atOnce
		if lasts := int(math.Round(1 / (1 - w.Optimizer.Momentum))); lasts > 1 {
			late = l.share(z, steps, lasts, fineLattice)
		}
		row.Value = (atOnce + late) / 2
		row.Share.Value = row.Value
		row.Share.Leave(scope.HigherOrder, math.Abs(atOnce-late)/2+math.Abs(atOnce-coarse))
	}
	row.Value = min(row.Value, 1)
}

// leftMiddle is aT e^z, a = 2η E A/(1−μ) of a lone sample of the best arm, of a start at z ≤ 0, where the mean path from the middle has come to z = 2.5,
// z + sinh z = aT/2. Runs that are not so far have not arrived, and are not locked either.
const leftMiddle = 17

// locking is the walk of z, the logit gap of the best arm over one other.
type locking struct {
	counts       *group.Counts
	own, other   float64 // probability of the upper reward of the best arm and of the other
	size, groups int     // G and B
	samples      float64 // GB
	scale        float64 // the way of z by a sample of the best arm with the advantage 1, in logits
}

// newLocking returns the walk against arm b; gain is the sum of the steps that a force causes.
func (w *way) newLocking(b int, gain float64) *locking {
	counts := group.NewCounts(w.Arms, &w.Estimator, group.NewSamples(len(w.Arms)))
	samples := float64(w.GroupSize) * float64(w.GroupsPerStep)
	scale := min(2*gain/samples, longest/largestAdvantage(&w.Params))
	return &locking{counts, counts.Success[w.front], counts.Success[b], w.GroupSize, w.GroupsPerStep, samples, scale}
}

// longest is a way by one sample after which none is drawn any more, in logits: longer ones do the same, and sums of them are finite.
const longest = 1e100

// largestAdvantage returns the largest advantage of a sample: √(n−1) if they are divided by the standard deviation of n rewards, n − 1
// by their mean, and without a scale the span of the rewards, of normal ones within three standard deviations.
func largestAdvantage(p *Params) float64 {
	size, low, high := float64(p.GroupSize), math.Inf(1), math.Inf(-1)
	if p.Advantage.Scale.OfStep() {
		size *= float64(p.GroupsPerStep)
	}
	for _, arm := range p.Arms {
		below, above, ok := group.Support(arm)
		if !ok {
			below, above = arm.Mean-3*arm.Std, arm.Mean+3*arm.Std
		}
		low, high = min(low, below), max(high, above)
	}
	switch p.Advantage.Scale {
	case option.NoScale:
		return high - low
	case option.MeanScale, option.BatchMean:
		return size - 1
	}
	return math.Sqrt(size - 1)
}
