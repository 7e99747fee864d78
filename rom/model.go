package rom

import (
	"math"
	"slices"

	"grposim/option"
)

// model is a completed Params with everything that does not depend on the logits
// precomputed. It owns scratch space, so only one goroutine may use it.
type model struct {
	*Params
	size      float64   // G; +Inf where infinite
	reference []float64 // log π_ref
	target    []float64 // log of the policy towards which all penalties together pull, see balanced
	shift     []float64 // of the rewards of each arm, with the KL in the reward
	unshifted []float64 // the values of the components without it
	law       *groupLaw // with it; nil: not needed

	// Where every reward is one of two values, lower and lower+span, the
	// number of successes (rewards at the upper value) is sufficient, and the
	// sums of docs/theory.md §2 are exact. success is then the probability of
	// the upper value, by arm; otherwise nil.
	success []float64
	span    float64

	shares  [][]float64 // q_aj, the probability of component j on arm a; nil without Params.groups or Params.integral
	mixture mixture     // of π_old, scratch

	running *float64 // b of a step of a mean field, with RunningMean; nil: it is J

	prompts []*model // of prompts that share one policy: one each; nil: there is one prompt

	frozen *groupForce // decides which groups the largest norm cuts, see freeze; nil: their own force

	near, last [2]*groupExpansion // by moment: for use near a point, see approach, and of the last point; nil: none

	baseline  float64 // G/(G−1) for leave-one-out, else 1
	deviation float64 // sample over population standard deviation

	now, past policy    // π and π_old
	up, down  []float64 // w⁺_a, w⁻_a
	kappa     []float64 // κ_a of a sampled KL estimator

	// Scratch space.
	x, y    []float64      // one entry per arm
	weights []float64      // binomial probabilities
	scales  []float64      // of groups by successes: see informative; 0: not computed yet
	pooled  []pooledNode   // see pooledNodes; nil: not computed yet
	states  []partial      // one per arm
	parts   [3][][]float64 // of covariance; nil: not needed yet
	inner   [2][]float64   // binomial probabilities of cutMoments
}

// policy is a softmax and its logarithm, one entry per arm.
type policy struct {
	probs, logs []float64
}

func newPolicy(arms int) policy {
	return policy{probs: make([]float64, arms), logs: make([]float64, arms)}
}

func (p *policy) set(theta []float64) {
	norm := softmax(p.probs, theta)
	for a, x := range theta {
		p.logs[a] = x - norm
	}
}

// newModel returns the model of p, which Params.checked has completed. Prompts with a policy
// each have no model of all.
func newModel(p *Params) *model {
	want(!p.tabular(), "Params.Prompts.Policies", p.Prompts.Parameters, "OneForAll")
	arms := len(p.Arms)
	m := &model{
		Params:    p,
		size:      math.Inf(1),
		reference: make([]float64, arms),
		baseline:  1,
		deviation: 1,
		now:       newPolicy(arms),
		past:      newPolicy(arms),
		up:        make([]float64, arms),
		down:      make([]float64, arms),
		kappa:     make([]float64, arms),
		shift:     make([]float64, arms),
		x:         make([]float64, arms),
		y:         make([]float64, arms),
		states:    make([]partial, arms),
	}
	logSoftmax(m.reference, p.Reference)
	if p.GroupSize != option.Infinite {
		m.size = float64(p.GroupSize)
		if p.Advantage.Baseline == option.LeaveOneOut {
			m.baseline = m.size / (m.size - 1)
		}
		if p.Advantage.Std == option.SampleStd {
			n := float64(m.pool())
			m.deviation = math.Sqrt(n / (n - 1))
		}
	}
	m.target = m.reference
	if p.Entropy > 0 {
		m.target = m.balanced()
	}
	if m.success, m.span = twoValued(p.Arms); p.shifted() {
		m.success = nil
	}
	if p.givenBaseline() && m.success != nil { // whose advantages depend on the rewards themselves
		m.span = 1
		for a, arm := range p.Arms {
			m.success[a] = arm.Mean
		}
	}
	m.newPrompts()
	switch {
	case p.groups != nil && p.shifted():
		own := *p
		own.groups = p.groups.clone()
		m.Params = &own
		m.law = newGroupLaw(p, 1)
		for _, part := range own.groups.parts {
			m.unshifted = append(m.unshifted, part.mean)
		}
		fallthrough
	case p.groups != nil:
		_, _, m.shares = components(p)
		m.mixture = newMixture(m.groups, p.GroupSize)
	case p.integral != nil:
		_, _, m.shares = components(p)
	}
	return m
}

// kind returns the kind of this bandit's force: Exact where rewards take two values,
// for G = ∞, without scale and clip, and where the compositions of a group can be
// summed or integrated over; else Expansion.
func (m *model) kind() Kind {
	if m.prompts != nil || m.groups != nil || m.limited() || (m.factored() || m.integral != nil) && !(m.success == nil && m.GroupSize != option.Infinite && m.bySign()) {
		return Exact
	}
	return Expansion
}

// factored reports whether the on-policy mean force is φ π_a(m_a − J) with one factor
// φ for all arms, which a mean over prompts and a force that is cut are not.
func (m *model) factored() bool {
	return m.prompts == nil && !m.limited() && (m.success != nil || m.GroupSize == option.Infinite || m.Advantage.Scale == option.NoScale)
}

// clips reports whether samples of positive and negative advantage have different
// weights.
func (m *model) clips() bool { return !slices.Equal(m.up, m.down) }

// anchor is the policy at which the KL penalty in the loss is evaluated, and whose
// projection a sampled penalty has.
func (m *model) anchor() *policy {
	if m.KL.In == option.InLoss && m.KL.At == option.AtSnapshot {
		return &m.past
	}
	return &m.now
}

// score sets κ_a, the weight of a sample of arm a in a sampled KL gradient:
// log π/π_ref (k2), 1 − π_ref/π (k3), 1 (k1), ρ(log π/π_ref + 1) or ρ log π/π_ref (with
// ratio), in the advantage w log π_old/π_ref; 0 for the exact gradient, in the reward, for
// β = 0 and for an arm with π_old = 0.
func (m *model) score() {
	at := m.anchor()
	for a := range m.kappa {
		m.kappa[a] = 0
		if m.past.probs[a] == 0 || m.KL.Coefficient == 0 || m.KL.In == option.InReward {
			continue
		}
		l, rho := at.logs[a]-m.reference[a], at.probs[a]/m.past.probs[a]
		if m.KL.In == option.InAdvantage {
			m.kappa[a] = m.up[a] * (m.past.logs[a] - m.reference[a])
			continue
		}
		switch m.KL.Gradient {
		case option.K2:
			m.kappa[a] = l
		case option.K3:
			m.kappa[a] = -math.Expm1(-l)
		case option.K1:
			m.kappa[a] = 1
		case option.RatioK1:
			m.kappa[a] = rho * (l + 1)
		case option.RatioK3:
			m.kappa[a] = rho * l
		}
	}
}
