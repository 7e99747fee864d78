package diagnose

import (
	"math"
	"slices"
)

// Name names the failure mode of a run by this project's diagnostics. It panics if
// a recorded series differs in length from Steps.
//
// If the diagnostics find signs of several modes, the first in this order is named,
// because each mode can cause the signs of those after it, but not of those before:
//
//  1. dynamical instability: an unstable policy may lock into one arm and then
//     shows the signs of concentration and of equal rewards. A concentrated policy
//     that moved as far as that within one lag is such a lock.
//  2. reward hacking: once the proxy reward is at its maximum, groups have equal
//     rewards and the policy is concentrated on the arms that reach it.
//  3. advantage degeneracy: without a gradient nothing shows whether the policy
//     would stay concentrated.
//  4. policy concentration: by definition rewards still vary.
func Name(t Trace) Diagnosis {
	t.check()
	late, reached := importanceRatios(&t)
	rings := rewardRinging(&t)
	swings := entropySwings(&t)
	coupling := rewardCoupling(&t)
	silent := zeroVarianceGroups(&t)
	spread := remainingEntropy(&t, "remaining entropy", t.Entropy, identity)
	distinct := remainingEntropy(&t, "remaining collision entropy", t.Collision, func(c float64) float64 { return -math.Log(c) })

	d := Diagnosis{Mode: None, Evidence: []Evidence{late, reached, rings, swings, coupling, silent, spread, distinct}}
	concentrated := policyConcentrated(spread, distinct)
	switch {
	case late.speaks(), rings.speaks(), swings.speaks(), reached.speaks() && concentrated:
		d.Mode = DynamicalInstability
	case coupling.speaks():
		d.Mode = RewardHacking
	case silent.speaks():
		d.Mode = AdvantageDegeneracy
	case concentrated:
		d.Mode = PolicyConcentration
	}
	return d
}

// clipLimit is the importance ratio 1 + ε up to which the clipped objective counts
// a sample of positive advantage, with ε = 0.2 (arXiv:1707.06347; the default of
// trainers).
const clipLimit = 1.2

// importanceRatios measures how far the largest importance ratio of a step goes.
//
// late is its mean over the last half of the run, with the threshold clipLimit: a
// stable run converges, after which snapshot and policy agree at any lag.
//
// reached is its minLate-th largest value. In a stable run, too, the approach from
// far away may carry it past clipLimit. Its threshold is therefore √N, where
// N = e^H is the effective number of arms at the start: the factor by which an arm
// has grown when the policy counts as concentrated, here within one lag.
//
// A recorded step that begins with a fresh snapshot has the ratio 1 by definition
// and is left out.
func importanceRatios(t *Trace) (late, reached Evidence) {
	const mean, top = "late importance ratio", "importance ratio reached"
	ratio := slices.Clone(t.RatioMax)
	for i, x := range ratio {
		if x == 1 {
			ratio[i] = math.NaN()
		}
	}
	r, o := t.rows(ratio)
	if o == NotRecorded && slices.Contains(t.RatioMax, 1) {
		o = Undefined
	}
	if o != Observed {
		return unobserved(mean, DynamicalInstability, o), unobserved(top, DynamicalInstability, o)
	}
	arms := math.NaN()
	if h, o := t.rows(t.Entropy); o == Observed {
		arms = math.Exp(h.columns[0][0])
	}
	sorted := slices.Sorted(slices.Values(r.columns[0]))
	return observed(mean, DynamicalInstability, r.end()[0], atLeast, clipLimit),
		observed(top, DynamicalInstability, sorted[len(sorted)-minLate], atLeast, math.Sqrt(arms))
}

// zeroVarianceGroups measures the mean share of groups with equal rewards over the
// last half of the run; such groups have no advantages. At the threshold ½ half of
// the samples contribute nothing. (In line with E[J^G + (1−J)^G] the share goes to
// 1 where J goes to 0 or 1.)
func zeroVarianceGroups(t *Trace) Evidence {
	const name = "zero-variance groups"
	r, o := t.rows(t.ZeroVariance)
	if o != Observed {
		return unobserved(name, AdvantageDegeneracy, o)
	}
	return observed(name, AdvantageDegeneracy, r.end()[0], atLeast, 0.5)
}

// remainingEntropy measures the share of its entropy that the policy has kept: the
// mean over the last half of the run divided by the first value. entropy maps the
// recorded series to Shannon's H or to Rényi's −log Σπ², which depends mostly on
// the most probable arms. The threshold ½ is the midpoint between a policy that
// keeps all its entropy and one on a single arm; in effective arms, e^H, it is the
// square root of their number at the start.
func remainingEntropy(t *Trace, diagnostic string, series []float64, entropy func(float64) float64) Evidence {
	r, o := t.rows(series)
	if o != Observed {
		return unobserved(diagnostic, PolicyConcentration, o)
	}
	for i, x := range r.columns[0] {
		r.columns[0][i] = entropy(x)
	}
	start := r.columns[0][0]
	if !(start > roundOff) {
		return unobserved(diagnostic, PolicyConcentration, Undefined) // the run starts on a single arm
	}
	return observed(diagnostic, PolicyConcentration, r.end()[0]/start, atMost, 0.5)
}

// policyConcentrated combines the two entropies: at least one must be observable,
// and each that is observable must be a sign of concentration.
func policyConcentrated(spread, distinct Evidence) bool {
	seen := false
	for _, e := range []Evidence{spread, distinct} {
		if e.Observable == Observed {
			if !e.speaks() {
				return false
			}
			seen = true
		}
	}
	return seen
}
