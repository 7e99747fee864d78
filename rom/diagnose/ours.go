package diagnose

import (
	"math"
	"slices"
)

// Name names the mode by this project's diagnostics.
//
// Where several speak the first of this order is named, because each can bring
// about the signs of those after it and not the other way round:
//
//  1. dynamical instability: a policy past its threshold may lock into an arm
//     and then only looks concentrated, with equal rewards. A concentrated
//     policy that moved as far as that within one lag is such a lock.
//  2. reward hacking: a proxy that is won for good has groups of equal rewards,
//     and concentrates the policy on what wins it.
//  3. advantage degeneracy: without a signal nothing says whether the policy
//     would stay concentrated.
//  4. policy concentration: by its definition rewards still vary.
func Name(t Trace) Diagnosis {
	late, reached := ratios(&t)
	rings := ringing(&t)
	swings := swinging(&t)
	coupling := coupled(&t)
	silent := silence(&t)
	spread := remaining(&t, "remaining entropy", t.Entropy, func(h float64) float64 { return h })
	distinct := remaining(&t, "remaining collision entropy", t.Collision, func(c float64) float64 { return -math.Log(c) })

	d := Diagnosis{Mode: None, Evidence: []Evidence{late, reached, rings, swings, coupling, silent, spread, distinct}}
	concentrated := concentrates(spread, distinct)
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

// trusted is the importance ratio up to which the clipped objective counts a
// sample of positive advantage: 1 + ε, ε = 0.2 (arXiv:1707.06347; the default of
// trainers).
const trusted = 1.2

// ratios reads the largest importance ratio of a step.
//
// late is its mean over the last half of the run: a stable run comes to rest and
// then draws from what it trains, at any lag.
//
// reached is the value that leastLate recorded steps reach. The approach from
// far away may carry it past 1 + ε in a stable run too; its threshold is √N,
// N = e^H the effective number of arms at the start: by that factor an arm has
// grown when a policy is taken for concentrated, here within one lag.
//
// A recorded step that begins with a fresh snapshot has the ratio 1 by
// definition and shows nothing.
func ratios(t *Trace) (late, reached Evidence) {
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
	return observed(mean, DynamicalInstability, r.end()[0], atLeast, trusted),
		observed(top, DynamicalInstability, sorted[len(sorted)-leastLate], atLeast, math.Sqrt(arms))
}

// silence reads the share of groups without a signal over the last half of the
// run. Threshold ½: from there on most of what is sampled is thrown away. (In
// line with E[J^G + (1−J)^G] it goes to 1 where J goes to 0 or 1.)
func silence(t *Trace) Evidence {
	const name = "zero-variance groups"
	r, o := t.rows(t.ZeroVariance)
	if o != Observed {
		return unobserved(name, AdvantageDegeneracy, o)
	}
	return observed(name, AdvantageDegeneracy, r.end()[0], atLeast, 0.5)
}

// remaining reads how much of its entropy the policy has kept, late over start:
// Shannon's H, or Rényi's −log Σπ², which the most probable arms decide. The
// threshold ½ is the middle between a policy that keeps all of it and one on a
// single arm; in effective arms, e^H, it is the square root of their number at
// the start.
func remaining(t *Trace, diagnostic string, series []float64, entropy func(float64) float64) Evidence {
	r, o := t.rows(series)
	if o != Observed {
		return unobserved(diagnostic, PolicyConcentration, o)
	}
	for i, x := range r.columns[0] {
		r.columns[0][i] = entropy(x)
	}
	start := r.columns[0][0]
	if !(start > roundOff) {
		return unobserved(diagnostic, PolicyConcentration, Undefined) // there was nothing to lose
	}
	return observed(diagnostic, PolicyConcentration, r.end()[0]/start, atMost, 0.5)
}

// concentrates combines the two entropies: whichever can be observed must have
// been lost, and one of them must be observable.
func concentrates(spread, distinct Evidence) bool {
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
