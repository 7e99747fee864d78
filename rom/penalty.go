package rom

import (
	"math"
	"slices"

	"grposim/option"
	"grposim/rom/linear"
)

// This file has what a KL penalty outside the loss, an entropy bonus, reused samples, a
// largest norm and a moving reference change (docs/theory-trainers.md §11.5 and §11.6).

// shifted reports whether the KL penalty is part of the rewards.
func (p *Params) shifted() bool { return p.KL.In == option.InReward && p.KL.Coefficient > 0 }

// outside reports whether there is a KL penalty that is not in the loss.
func (p *Params) outside() bool { return p.KL.Coefficient > 0 && p.KL.In != option.InLoss }

// restoring returns the part of β that restores on-policy: 0 for k1 in the loss, whose
// mean is π_old − π.
func (p *Params) restoring() float64 {
	if p.KL.In == option.InLoss && p.KL.Gradient == option.K1 {
		return 0
	}
	return p.KL.Coefficient
}

// pull returns the strength of the KL penalty and the entropy bonus together:
//
//	β KL(π‖π_ref) − α H(π) = (α+β) KL(π‖π̃) + constant,   π̃ ∝ π_ref^{β/(α+β)}
func (p *Params) pull() float64 { return p.restoring() + p.Entropy }

// balanced returns log π̃.
func (m *model) balanced() []float64 {
	share := m.restoring() / m.pull()
	logits := make([]float64, len(m.reference))
	for c, l := range m.reference {
		logits[c] = share * l
		if m.uniform != nil {
			logits[c] += (1 - share) * m.uniform[c]
		}
	}
	logSoftmax(logits, slices.Clone(logits))
	return logits
}

// addEntropy adds α∇H = −α π_a(log π_a/n_a + H), n_a the number of arms in a class.
func (m *model) addEntropy(dst []float64) {
	if m.Entropy == 0 {
		return
	}
	l, mean := m.uncertainty()
	for a, p := range m.now.probs {
		dst[a] -= m.Entropy * p * (l[a] - mean)
	}
}

// uncertainty returns log π_a, of a single arm of a class, and its mean −H.
func (m *model) uncertainty() (l []float64, mean float64) {
	l = slices.Clone(m.now.logs)
	for a, p := range m.now.probs {
		if m.uniform != nil {
			l[a] -= m.uniform[a]
		}
		if p > 0 {
			mean += p * l[a]
		}
	}
	return l, mean
}

// entropyStiffness adds α(H_w + F), w = π∘(log π + H), to the fresh stiffness.
func (m *model) entropyStiffness(fresh [][]float64) {
	l, mean := m.uncertainty()
	for a, p := range m.now.probs {
		wa := p * (l[a] - mean)
		fresh[a][a] += m.Entropy * (wa + p)
		for b, q := range m.now.probs {
			fresh[a][b] -= m.Entropy * (wa*q + p*q*(l[b]-mean) + p*q)
		}
	}
}

// shiftRewards sets what the KL penalty adds to a reward of each arm, −β log π_old/π_ref,
// and the moments of a group's compositions with it.
func (m *model) shiftRewards() {
	if !m.shifted() {
		return
	}
	for a, l := range m.past.logs {
		m.shift[a] = -m.KL.Coefficient * (l - m.reference[a])
	}
	if m.groups == nil {
		return
	}
	for j, x := range m.unshifted {
		m.groups.parts[j].mean = x + m.shift[m.groups.parts[j].arm]
	}
	m.groups.evaluate(m.law)
}

// clone returns a copy of c with numbers of its own.
func (c *compositions) clone() *compositions {
	own := *c
	own.parts, own.pull, own.square = slices.Clone(c.parts), slices.Clone(c.pull), slices.Clone(c.square)
	return &own
}

// underived returns the reason why neither the mean force nor its noise is known, "" where
// they are.
func (p *Params) underived() string {
	switch {
	case p.shifted() && p.Filter != option.KeepAll:
		return "a KL penalty in the reward is not derived with dynamic sampling"
	case p.outside() && !p.ofGroup():
		return "a KL penalty outside the loss is derived for the scales none and std of a group only"
	case len(p.Prompts.First) > 0 && (p.outside() || p.Entropy > 0 || p.ReferenceUpdate.Interval > 0):
		return "many prompts with a KL penalty outside the loss, an entropy bonus or a moving reference are not derived"
	case len(p.Prompts.First) > 0 && p.Filter == option.Drop:
		return "many prompts whose groups of equal rewards are dropped are not derived"
	case len(p.Prompts.First) > 0 && !p.tabular() && p.Filter == option.Redraw && p.KL.Coefficient > 0 && p.KL.Gradient != option.ExactKL:
		return "redrawn groups of prompts that share one policy with a sampled KL gradient are not derived"
	case !p.shifted():
		return ""
	case p.Importance.Mode > option.Ratio:
		return "the force of a KL penalty in the reward is derived without importance weights or with ratios only"
	case p.Entropy > 0:
		return "a KL penalty in the reward beside an entropy bonus is not derived"
	case p.GroupSize != option.Infinite && p.Advantage.Scale == option.StdScale && p.groups == nil:
		return "the force of a KL penalty in the reward with the std scale is known at G = ∞ and for two arms of small groups without normal rewards only"
	}
	return ""
}

// unfixed returns the reason why there is no fixed point, or why it is not derived; "" where
// it is.
func (p *Params) unfixed() string {
	switch {
	case p.ReferenceUpdate.Interval > 0:
		return "a moving reference leaves no fixed point"
	case p.pull() == 0 && p.KL.Coefficient > 0 && p.Filter == option.Redraw:
		return "no stable fixed point exists: k1 in the loss of redrawn groups pushes away from J = ½"
	case p.pull() == 0 && p.KL.Coefficient > 0:
		return "no fixed point exists: k1 in the loss is no penalty in the mean"
	case p.pull() == 0:
		return "no fixed point exists without a KL penalty"
	case p.Entropy > 0 && p.KL.Gradient == option.K3 && p.KL.In == option.InLoss && p.KL.Coefficient > 0:
		return "the fixed point of k3 with an entropy bonus is not derived"
	}
	return p.underived()
}

// tiedReward is the difference of two rewards of different arms, in units of their range, up
// to which they count as tied.
const tiedReward = 1e-6

// tied returns the least distance of a reward of one arm from one of another, with the KL in
// the reward and the std scale at finite G, where the force jumps at a tie; else +Inf.
func (m *model) tied() float64 {
	least := math.Inf(1)
	if m.shifted() && m.groups != nil {
		for j, x := range m.groups.parts {
			for _, y := range m.groups.parts[:j] {
				if x.arm != y.arm {
					least = min(least, math.Abs(x.mean-y.mean))
				}
			}
		}
	}
	return least
}

// shiftedTie reports whether a tie lies within four standard deviations of a logit gap of the
// given variance about the fixed point.
func (m *model) shiftedTie(gap float64) bool {
	return m.tied() < 4*m.KL.Coefficient*math.Sqrt(gap)
}

// sliding returns the reason why there is no linear dynamics at a fixed point at which the
// policies are set, "" where there is.
func (m *model) sliding() string {
	if !m.shifted() || m.Advantage.Scale == option.NoScale {
		return ""
	}
	if m.groups == nil {
		m.prepare()
		if m.spread() <= tiedReward*tiedReward {
			return "all rewards are equal at the fixed point, KL included, so that there is no linear regime"
		}
		return ""
	}
	if m.tied() <= tiedReward {
		return "the fixed point is a tie of two rewards, KL included: a sliding point without a stiffness"
	}
	return ""
}

// clips is the reason of a prediction that is out of scope because of the largest norm.
const clips = "the largest norm may clip the force, which changes its mean (known for two arms with rewards of two values and one group a step)"

// Unclipped is in scope if the largest norm of p clips no force: at G = ∞ where force, the
// largest norm ≥ 0 of the expected gradient on the way that is followed (+Inf: not known),
// is at most that, and else by the bound of docs/theory-trainers.md §11.6.
func Unclipped(p Params, force float64) Scope {
	if p = p.checked(); p.neverClipped(force) {
		return Scope{In: true}
	}
	return Scope{Because: clips}
}

// KnownForce is in scope if the largest norm clips no force of p at a fixed point, or if the
// mean of the clipped force is known there.
func KnownForce(p Params) Scope {
	if p = p.checked(); p.knownForce() {
		return Scope{In: true}
	}
	return Scope{Because: clips}
}

func (p *Params) knownForce() bool { return p.cut > 0 || p.neverClipped(0) }

// neverClipped reports whether no force is longer than the largest norm, at G = ∞ not even
// force, the largest that is met; there it is 0 at the fixed point. The advantages of a
// group add to 0 and have a mean modulus of at most 1 (std scale) or half the span of the
// rewards, so that with weights of at most 1 and, of the exact KL, E|ℓ − KL| ≤ 2L, L the
// largest −log π_ref,
//
//	‖g‖ ≤ (G/(G−1) with leave-one-out) · (1 or span/2)/√2 + √2(β + α)L
func (p *Params) neverClipped(force float64) bool {
	norm := p.Optimizer.MaxNorm
	return norm == 0 || p.GroupSize == option.Infinite && force <= norm ||
		(p.Importance.Mode == option.NoImportance || linear.NewLag(&p.Lag).OnPolicy()) && p.withinNorm()
}

// withinNorm reports whether the bound of neverClipped is at most the largest norm, with
// weights of at most 1.
func (p *Params) withinNorm() bool {
	if !p.ofGroup() || p.KL.Coefficient > 0 && (p.KL.In != option.InLoss || p.KL.Gradient != option.ExactKL) {
		return false
	}
	largest, low, high := 1.0, math.Inf(1), math.Inf(-1)
	for _, arm := range p.Arms {
		below, above, ok := armSupport(arm)
		if !ok {
			below, above = math.Inf(-1), math.Inf(1)
		}
		low, high = min(low, below), max(high, above)
	}
	if p.Advantage.Scale == option.NoScale {
		largest = (high - low) / 2
	}
	if p.Advantage.Baseline == option.LeaveOneOut && p.GroupSize != option.Infinite {
		largest *= float64(p.GroupSize) / float64(p.GroupSize-1)
	}
	logs := make([]float64, len(p.Arms))
	logSoftmax(logs, p.Reference)
	reach := p.KL.Coefficient*-slices.Min(logs) + p.Entropy*math.Log(float64(len(p.Arms)))
	return largest/math.Sqrt2+math.Sqrt2*reach <= p.Optimizer.MaxNorm
}
