package force

import (
	"cmp"
	"math"
	"slices"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/group"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/floats"
)

// MeanForce writes the mean force E[g](θ, θ_old) into dst (docs/theory.md §2) and
// returns its Kind. dst, theta and old have one entry per arm.
//
// It is Exact at finite G where rewards take two values: E[c_a] = φ_G π_old,a [w⁺_a
// m_a(1−J) − w⁻_a(1−m_a)J], g = c − πΣc, with m and J the probabilities of the upper value. It is
// Exact for every reward law at G = ∞, and without scale and clip. Else the reward part is of first
// order in 1/G, see group.Expanded. With a largest norm that may clip the force of two arms it is
// the mean of the clipped force, Exact, see cutForce; for other finite groups it is not clipped.
// The KL part is exact in every case: a sampled estimator averages to κ∘π_old − π_K Σκπ_old.
func Mean(dst []float64, p cell.Params, theta, old []float64) scope.Kind {
	p = p.Checked()
	cell.CheckLogits("dst", dst, len(p.Arms))
	cell.CheckLogits("theta", theta, len(p.Arms))
	cell.CheckLogits("old", old, len(p.Arms))
	m := New(&p)
	m.Set(theta, old)
	m.MeanForce(dst)
	return m.Kind()
}

// MeanForce writes E[g] at the logits given to set.
func (m *Model) MeanForce(dst []float64) {
	if m.Limited() {
		dst[0], _ = m.CutMoments()
		dst[0] *= m.Factors.Stiffness
		dst[1] = -dst[0]
		return
	}
	m.rewardForce(dst)
	m.SubtractPenalty(dst)
	m.AddEntropy(dst)
	floats.Scale(m.Factors.Stiffness*Visiting(m), dst)
}

// rewardForce writes the reward part of E[g], without Factors.Stiffness.
func (m *Model) rewardForce(dst []float64) {
	m.Law.Mean(dst)
	project(dst, m.Now.Probs)
}

// project writes c − πΣc over c.
func project(c, probs []float64) {
	sum := 0.0
	for _, x := range c {
		sum += x
	}
	for a, p := range probs {
		c[a] -= p * sum
	}
}

// Informed returns the share of the steps, from 0 to 1, of which as many with a force of one size
// decide as much about a run at finite G with the policy of the logits theta, one an arm: 1/(1 +
// (u−1)/B), u = E v²/(E v)² of a group, v its mean square advantage given its rewards. It is 1, a
// bound, for prompts with a policy each, and 0 where no group exerts a force.
func Informed(p cell.Params, theta []float64) float64 {
	p = p.Checked()
	if p.Tabular() {
		return 1
	}
	cell.CheckLogits("theta", theta, len(p.Arms))
	m := New(&p)
	m.Set(theta, theta)
	if u := m.Law.Unevenness(m.Now.Probs); !math.IsNaN(u) {
		return 1 / (1 + (u-1)/float64(p.GroupsPerStep))
	}
	return 0
}

// SubtractPenalty subtracts β times the mean KL gradient.
func (m *Model) SubtractPenalty(dst []float64) {
	if m.KL.Coefficient == 0 || m.KL.OfReward() {
		return
	}
	at := m.anchor()
	if m.KL.In == option.InLoss && m.KL.Gradient == option.ExactKL {
		kl := 0.0
		for a, p := range at.Probs {
			kl += p * (at.Logs[a] - m.LogReference[a])
		}
		for a, p := range at.Probs {
			dst[a] -= m.KL.Coefficient * p * (at.Logs[a] - m.LogReference[a] - kl)
		}
		return
	}
	c := m.x
	copy(c, m.Old)
	if m.Counts != nil {
		m.Counts.SampleShares(c)
	}
	for a := range c {
		c[a] *= m.KL.Coefficient * m.Kappa[a]
	}
	project(c, at.Probs)
	floats.Sub(dst, c)
}

// tiedReward is the difference of two rewards of different arms, in units of their range, up
// to which they count as tied.
const tiedReward = 1e-6

// Sliding returns the reason why there is no linear dynamics at a fixed point at which the
// policies are set, none where there is.
func (m *Model) Sliding() scope.Reason {
	if m.KL.OfReward() && m.Advantage.Scale == option.StdScale && m.Equalled() {
		return scope.NotPredicted.Because("rewards that are all equal at the fixed point, KL included")
	}
	return scope.Reason{}
}

// Equalled reports whether all rewards are equal, up to rounding.
func (m *Model) Equalled() bool { return m.Law.Spread() <= tiedReward*tiedReward }

// ExpectedReward returns J(θ) = Σ_a π_a m_a, where π = softmax(θ) and m_a is the
// mean reward of arm a. theta has one logit per arm. Of prompts with a policy each it is the
// mean of J at their starts.
func ExpectedReward(p cell.Params, theta []float64) float64 {
	cell.Must((&option.Bandit{Arms: p.Arms}).Check)
	cell.CheckLogits("theta", theta, len(p.Arms))
	return overPrompts(&p, theta, func(arms []option.Arm, theta []float64) float64 {
		return cell.Expected(arms, cell.PolicyAt(theta))
	})
}

// overPrompts returns the mean of a number over prompts with a policy each, else the number.
func overPrompts(p *cell.Params, theta []float64, of func(arms []option.Arm, theta []float64) float64) (
	mean float64) {
	if !p.Tabular() {
		return of(p.Arms, theta)
	}
	for x := range p.Prompts.First {
		one, start := p.Prompt(x, theta)
		mean += of(one.Arms, start) / float64(len(p.Prompts.First))
	}
	return mean
}

// BestReward returns the largest expected reward of any policy: the mean of the best arm or, of
// prompts with a policy each, the mean over the prompts of that.
func BestReward(p cell.Params) float64 {
	cell.Must((&option.Bandit{Arms: p.Arms}).Check)
	return overPrompts(&p, nil, func(arms []option.Arm, _ []float64) float64 {
		return slices.MaxFunc(arms, func(a, b option.Arm) int { return cmp.Compare(a.Mean, b.Mean) }).Mean
	})
}

// RewardVariance returns the variance of one sampled reward, Σ_a π_a (m_a² + s_a²) − J², where
// π = softmax(θ) and s_a² is the variance of the rewards of arm a. theta has one logit per arm.
func RewardVariance(p cell.Params, theta []float64) float64 {
	cell.Must((&option.Bandit{Arms: p.Arms}).Check)
	cell.CheckLogits("theta", theta, len(p.Arms))
	probs := cell.PolicyAt(theta)
	j, sum := cell.Expected(p.Arms, probs), 0.0
	for a, p_a := range probs {
		sum += p_a * group.SecondMoment(p.Arms[a], j)
	}
	return sum
}
