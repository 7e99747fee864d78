package diagnose

import (
	"math"
	"slices"

	"grposim/fp"
	"grposim/training/change"
)

// Name names the failure mode of a run by this project's diagnostics. It panics if a recorded
// series differs in length from Steps.
//
// If there are signs of several modes, the first in this order is named. Each mode can cause the
// signs of those after it, but not of those before:
//
//  1. dynamical instability: an unstable policy may lock into one arm. It then shows the signs of
//     concentration and of equal rewards. A policy that concentrated within one lag is such a lock.
//  2. reward hacking: once the proxy reward is at its maximum, groups have equal rewards. The policy is
//     concentrated on the arms that reach it.
//  3. advantage degeneracy: without a gradient nothing shows whether the policy would stay
//     concentrated.
//  4. policy concentration: by definition rewards still vary. A policy that has found the only best
//     arm (BestReward), or still approaches it, has learned: no failure.
//
// Instability is absent only if the reward does not ring, and one of the signs that the reward need
// not show is observed too.
func Name(t Trace) Diagnosis {
	t.check()
	late, reached := importanceRatios(&t)
	rings := rewardRinging(&t)
	swings := entropySwings(&t)
	clipped := t.lateLevel("clip fraction", t.ClipFraction, 0.5)
	moved := t.lateLevel("KL to the old policy", t.KLOld, KLLimit)
	coupling := rewardCoupling(&t)
	silent := zeroVarianceGroups(&t)
	spread := remainingEntropy(&t, "remaining entropy", t.Entropy, identity)
	renyi := func(c float64) float64 { return -math.Log(c) }
	distinct := remainingEntropy(&t, "remaining collision entropy", t.Collision, renyi)

	d := Diagnosis{Mode: None}
	d.Evidence = []Evidence{late, reached, rings, swings, clipped, moved, coupling, silent, spread, distinct}
	concentrated := allObserved(spread, distinct)
	narrow := concentrated
	if t.BestReward != nil {
		for _, learned := range []Evidence{wayToBest(&t), wayLeft(&t)} {
			d.Evidence = append(d.Evidence, learned)
			if learned.Observable == Observed {
				narrow = min(narrow, learned.sign())
			}
		}
	}
	hacked, degenerate := coupling.sign(), silent.sign()
	if t.Origin == Samples {
		fallen := trueRewardFall(&t)
		reached = movedAtOnce(&t)
		d.Evidence = append(d.Evidence, reached, fallen)
		if fallen.speaks() {
			hacked = yes
		}
	}
	beyond := []Evidence{late, swings, clipped, moved} // signs that the reward need not show
	unstable := noneOf(rings, beyond)
	if slices.ContainsFunc(append(beyond, rings), Evidence.speaks) || min(reached.sign(), concentrated) == yes {
		unstable = yes
	}
	d.judge(&t, DynamicalInstability, unstable)
	d.judge(&t, RewardHacking, hacked)
	d.judge(&t, AdvantageDegeneracy, degenerate)
	d.judge(&t, PolicyConcentration, narrow)
	return d
}

// wayToBest measures which share of the way from the first reward to that of the only best arm the
// late reward has made. At 95 % or less a concentrated policy is a failure: it has lost its other
// answers without that reward. It is Undefined if the run starts with that reward.
func wayToBest(t *Trace) Evidence {
	return t.evidence("way to the best arm's reward", PolicyConcentration, func(r *run) reading {
		start, best := r.columns[0][0], *t.BestReward
		if !(best-start > roundOff*math.Abs(best)) {
			return undefined
		}
		way, last := (r.end()[0]-start)/(best-start), int(r.at[len(r.at)-1])
		return reading{way, t.lateError(r) / (best - start), AtMost, 0.95, last}
	}, t.Reward)
}

// slowestLeft is what wayLeft has of a way whose rest is c/t, as the last stretch without a KL
// penalty. Of the means of 1/t over the third and the last quarter it is ln(3/2)/ln(4/3) − 1.
var slowestLeft = math.Log(1.5)/math.Log(4./3) - 1

// wayLeft measures how much of the way to the only best arm's reward was made since the quarter
// before. The way is that left in the last quarter. A concentrated policy that still approaches
// that arm has not lost the answer. The threshold is the midpoint between a run at rest, 0, and
// slowestLeft. It is Undefined where nothing is left.
func wayLeft(t *Trace) Evidence {
	return t.evidence("rise to the best arm's reward", PolicyConcentration, func(r *run) reading {
		last := r.at[len(r.at)-1]
		quarter, _ := slices.BinarySearch(r.at, last-(last-r.at[0])/4)
		before, after := r.means(r.late, quarter)[0], r.means(quarter, len(r.at))[0]
		left := *t.BestReward - after
		if !(left > roundOff*math.Abs(*t.BestReward)) {
			return undefined
		}
		return reading{(after - before) / left, t.lateError(r) / left, AtMost, slowestLeft / 2, int(last)}
	}, t.Reward)
}

// zeroVarianceGroups measures the mean share of groups with equal rewards over the last half of the
// run. Such groups have no advantages. At the threshold ½ half of the samples contribute nothing.
//
// A lower bound can be a sign, but never the absence of one.
func zeroVarianceGroups(t *Trace) Evidence {
	const name = "zero-variance groups"
	e := t.evidence(name, AdvantageDegeneracy, func(r *run) reading {
		t.settle(r)
		return reading{r.end()[0], t.lateError(r), AtLeast, 0.5, r.onset(AtLeast, 0.5)}
	}, t.ZeroVariance)
	switch {
	case t.AtLeast && e.speaks():
		e.Diagnostic += ", at least"
	case t.AtLeast:
		return unobserved(name, AdvantageDegeneracy, NotRecorded)
	}
	return e
}

// clipLimit is the importance ratio 1 + ε up to which the clipped objective counts a sample of
// positive advantage. ε = 0.2 is the default of trainers (arXiv:1707.06347).
const clipLimit = 1.2

// LogLimit is the log ratio at that bound, in nats. KLLimit is the divergence of log ratios whose
// root mean square it is, since KL = ½E[(log ratio)²] for small ones.
var (
	LogLimit = math.Log(clipLimit)
	KLLimit  = LogLimit * LogLimit / 2
)

// lateLevel measures the late mean of a series that is a sign of instability from a threshold on.
// If the minLate-th largest late value is smaller, it is that: a few outliers are not enough. A
// level below the threshold shows absence only if it is clear of the noise. It is Undefined if
// every value is 0.
func (t *Trace) lateLevel(name string, series []float64, threshold float64) Evidence {
	return t.evidence(name, DynamicalInstability, func(r *run) reading {
		if !slices.ContainsFunc(r.columns[0], func(x float64) bool { return x != 0 }) {
			return undefined
		}
		t.settle(r)
		level, wide := min(r.end()[0], nthLargest(r.columns[0][r.late:], minLate)), 0.0
		if level < threshold {
			wide = t.lateError(r)
		}
		return reading{level, wide, AtLeast, threshold, r.onset(AtLeast, threshold)}
	}, series)
}

// movedAtOnce measures how far the policy of Samples went within one lag: the second largest
// KL(π_old‖π), of which a row may hold more than one. The threshold is half of the entropy at the
// start: a policy that lost that much at once did not lose it step by step. In a concentrated
// policy it is a sign of instability, as the ratio reached is for Expectations.
func movedAtOnce(t *Trace) Evidence {
	return t.evidence("KL to the old policy reached", DynamicalInstability, func(r *run) reading {
		h, o := t.rows(t.Entropy)
		if o != Observed {
			return undefined
		}
		return r.reached(2, h.columns[0][0]/2)
	}, t.KLOld)
}

// reached is the n-th largest value of the first column, a sign from a threshold on, since the first
// row that has reached it.
func (r *run) reached(n int, threshold float64) reading {
	first := slices.IndexFunc(r.columns[0], func(x float64) bool { return x >= threshold })
	return reading{nthLargest(r.columns[0], n), 0, AtLeast, threshold, int(r.at[max(first, 0)])}
}

// nthLargest returns the n-th largest of at least n values.
func nthLargest(x []float64, n int) float64 {
	sorted := slices.Sorted(slices.Values(x))
	return sorted[len(sorted)-n]
}

// importanceRatios measures the largest importance ratio of a step.
//
// late is its mean over the last half of the run, with the threshold clipLimit. A stable run
// converges, after which snapshot and policy agree at any lag.
//
// reached is its minLate-th largest value. In a stable run, too, the approach from far away may
// carry it past clipLimit. Its threshold is therefore √N, where N = e^H is the effective number of
// arms at the start. By that factor an arm has grown when the policy counts as concentrated, here
// within one lag.
//
// A record of a step on-policy has the ratio 1 by definition and is left out. Of Samples both are
// Undefined: the largest ratio of many tokens is large in every run.
func importanceRatios(t *Trace) (late, reached Evidence) {
	ratio := slices.Clone(t.RatioMax)
	for i, x := range ratio {
		if x == 1 {
			ratio[i] = math.NaN()
		}
	}
	of := func(name string, read func(r *run) reading) Evidence {
		e := t.evidence(name, DynamicalInstability, read, ratio)
		if t.Origin == Samples && slices.ContainsFunc(t.RatioMax, isNumber) ||
			e.Observable == NotRecorded && slices.Contains(t.RatioMax, 1) {
			return unobserved(name, DynamicalInstability, Undefined)
		}
		return e
	}
	late = of("late importance ratio", func(r *run) reading {
		return reading{r.end()[0], 0, AtLeast, clipLimit, r.onset(AtLeast, clipLimit)}
	})
	reached = of("importance ratio reached", func(r *run) reading {
		arms := math.NaN()
		if h, o := t.rows(t.Entropy); o == Observed {
			arms = fp.MathExp(h.columns[0][0])
		}
		return r.reached(minLate, math.Sqrt(arms))
	})
	return late, reached
}

// remainingEntropy measures the share of its entropy that the policy has kept: the mean over the
// last half of the run over the first value. Of Samples the mean of the first tenth of the rows
// takes its place. entropy maps the recorded series to Shannon's H or to Rényi's −log Σπ², which
// depends mostly on the most probable arms. The threshold ½ is the midpoint between a policy that
// keeps all its entropy and one on a single arm. In effective arms, e^H, it is the square root of
// their number at the start.
func remainingEntropy(t *Trace, diagnostic string, series []float64, entropy func(float64) float64) Evidence {
	return t.evidence(diagnostic, PolicyConcentration, func(r *run) reading {
		for i, x := range r.columns[0] {
			r.columns[0][i] = entropy(x)
		}
		start, scatter := r.columns[0][0], 0.0
		if t.Origin == Samples {
			early := r.columns[0][:r.late]
			start = change.Mean(r.columns[0][:max(1, len(r.at)/10)])
			scatter = standardErrors * change.Noise(early) / math.Sqrt(float64(max(1, len(r.at)/10)))
		}
		if !(start > max(roundOff, scatter)) {
			return undefined // the run starts on a single arm
		}
		t.settle(r)
		rest := r.end()[0] / start
		wide := math.Hypot(t.lateError(r), rest*scatter) / start
		return reading{rest, wide, AtMost, 0.5, r.onset(AtMost, start/2)}
	}, series)
}
