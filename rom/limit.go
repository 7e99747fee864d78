package rom

import (
	"math"

	"grposim/option"
	"grposim/rom/group"
	"grposim/rom/linear"
)

// This file has the force of two arms whose gradient is scaled to a largest norm c
// (docs/theory-trainers.md §11.6). The components of a gradient add to 0, so that its norm is
// √2|g_1| and the force of a step is g_1 cut to [−c/√2, c/√2].

// maxLimited is the largest group whose cut force is summed over the numbers of successes and
// failures of the first arm, which takes about a millisecond there.
const maxLimited = 256

// cutForce returns the bound c/√2 of |g_1| where the largest norm c may act on a finite group
// and the law of the cut force is known, else 0. That is so for two arms with rewards of
// two values and one group a step, all of which count.
func (p *Params) cutForce() float64 {
	success, _ := group.TwoValued(p.Arms)
	switch {
	case p.Optimizer.MaxNorm == 0 || p.GroupSize == option.Infinite || p.Importance.Mode == option.NoImportance && p.largestForce() <= p.Optimizer.MaxNorm:
	case len(p.Arms) != 2 || success == nil || p.GroupsPerStep != 1 || p.GroupSize > maxLimited:
	case p.Filter == option.Drop || p.Advantage.Baseline == option.RunningMean || p.KL.OfReward() || len(p.Prompts.First) > 0 || p.Samples == option.Reused:
	default:
		return p.Optimizer.MaxNorm / math.Sqrt2
	}
	return 0
}

// limited reports whether the force is cut. Two equal arms that are merged exert none.
func (m *model) limited() bool { return m.cut > 0 && len(m.Arms) == 2 }

// groupForce holds the coefficients of the force on the first arm of a group with s_a
// successes and f_a failures of arm a,
//
//	g_1 = u⁺ Σ_a success_a s_a + u⁻ Σ_a failure_a f_a + Σ_a arm_a (s_a + f_a) + fixed
//
// with g_1 = π_0c_1 − π_1c_0 of c^R and c^K (docs/theory.md §2).
type groupForce struct {
	success, failure, arm [2]float64
	fixed                 float64 // of the exact KL gradient and the entropy bonus
}

// newGroupForce returns the coefficients at the logits given to set.
func newGroupForce(m *model) *groupForce {
	var f groupForce
	now, at := &m.now, m.anchor()
	for a, sign := range [2]float64{1, -1} {
		share := sign * now.probs[1-a] / m.size
		f.success[a], f.failure[a] = m.Up[a]*share, m.Down[a]*share
		f.arm[a] = -sign * m.KL.Coefficient * m.Kappa[a] * at.probs[1-a] / m.size
	}
	if m.KL.In == option.InLoss && m.KL.Gradient == option.ExactKL {
		f.fixed -= m.KL.Coefficient * at.probs[0] * at.probs[1] * (at.logs[0] - m.reference[0] - at.logs[1] + m.reference[1])
	}
	l, _ := m.uncertainty()
	f.fixed -= m.Entropy * now.probs[0] * now.probs[1] * (l[0] - l[1])
	return &f
}

// line returns g_1 = base + s_1·success + f_1·failure of a group of s successes, with the
// advantages up and down.
func (f *groupForce) line(size, s int, up, down float64) (base, success, failure float64) {
	failures := float64(size - s)
	base = f.fixed + float64(s)*(up*f.success[1]+f.arm[1]) + failures*(down*f.failure[1]+f.arm[1])
	return base, up*(f.success[0]-f.success[1]) + f.arm[0] - f.arm[1], down*(f.failure[0]-f.failure[1]) + f.arm[0] - f.arm[1]
}

// holdCuts makes the model cut, until the returned function is called, those groups alone that
// the logits now set cut: their force is then a smooth function of the logits, with the
// derivatives that the force has here.
func (m *model) holdCuts() (back func()) {
	old := m.cuts
	if m.limited() {
		m.cuts = newGroupForce(m)
	}
	return func() { m.cuts = old }
}

// cutMoments returns the mean and the variance of the cut g_1 of one group, exactly: sums over the
// numbers of successes, of those of the first arm and of the failures of the first arm, which given
// the first are independent and binomial (docs/theory.md §2).
func (m *model) cutMoments() (mean, variance float64) {
	j, rest := m.counts.Chances(m.Old)
	alpha, delta := m.counts.Outcomes(j, rest)
	alphas, deltas := [2]float64{alpha[0], alpha[1]}, [2]float64{delta[0], delta[1]}
	now := newGroupForce(m)
	counts := m.counts.Successes(j, rest)
	var sums [2]float64
	for i, chance := range counts.Weights {
		s := counts.At(i)
		up, down := m.counts.Advantages(s)
		base, bySuccess, byFailure := now.line(m.GroupSize, s, up, down)
		at, atSuccess, atFailure := base, bySuccess, byFailure // where the cut is decided
		if m.cuts != nil {
			at, atSuccess, atFailure = m.cuts.line(m.GroupSize, s, up, down)
		}
		successes := group.NewBinomial(s, alphas[0], alphas[1], m.inner[0])
		failures := group.NewBinomial(m.GroupSize-s, deltas[0], deltas[1], m.inner[1])
		m.inner = [2][]float64{successes.Weights, failures.Weights}
		for k, p := range successes.Weights {
			n := float64(successes.First + k)
			g, where, p := base+n*bySuccess, at+n*atSuccess, chance*p
			for l, q := range failures.Weights {
				n := float64(failures.First + l)
				x, decides, w := g+n*byFailure, where+n*atFailure, p*q
				if decides > m.cut {
					x = m.cut
				} else if decides < -m.cut {
					x = -m.cut
				}
				sums[0] += w * x
				sums[1] += w * x * x
			}
		}
	}
	mean = sums[0]
	return mean, max(sums[1]-mean*mean, 0)
}

// saturatedGap is the logit gap beyond which fixed points of a cut force are not searched for: the
// rare arm has a probability of 1e-26, so that rounding decides the dynamics.
const saturatedGap = 60

// cutZeros returns the logits of the fixed points of a cut force that a scan of the logit gap
// finds.
func cutZeros(m *model) (all [][]float64) {
	logits := func(gap float64) []float64 { return []float64{gap / 2, -gap / 2} }
	force := func(gap float64) float64 {
		m.set(logits(gap), logits(gap))
		mean, _ := m.cutMoments()
		return mean / (m.now.probs[0] * m.now.probs[1])
	}
	last := force(-saturatedGap)
	for gap := -saturatedGap + scanStep; gap <= saturatedGap; gap += scanStep {
		next := force(gap)
		if (last < 0) != (next < 0) {
			all = append(all, logits(linear.Root(force, gap-scanStep, gap, last)))
		}
		last = next
	}
	return all
}
