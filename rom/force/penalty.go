package force

import (
	"math"
	"slices"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/group"
)

// This file computes the effect of a KL penalty and of an entropy bonus
// (docs/theory-trainers.md §11.5).

// penalties are the KL penalty and the entropy bonus at a state: a current policy and a snapshot.
type penalties struct {
	*cell.Params
	*group.Samples           // π_old, weights and κ of the state
	Now, Past      Policy    // π and π_old
	LogReference   []float64 // log π_ref
	// log of the policy towards which all penalties together pull, see balanced
	Target []float64
}

// anchor is the policy at which the KL penalty in the loss is evaluated, and whose
// projection a sampled penalty has.
func (m *penalties) anchor() *Policy {
	if m.KL.In == option.InLoss && m.KL.At == option.AtSnapshot {
		return &m.Past
	}
	return &m.Now
}

// score sets κ_a, the weight of a sample of arm a in a sampled KL gradient:
// log π/π_ref (k2), 1 − π_ref/π (k3), 1 (k1), ρ(log π/π_ref + 1) or ρ log π/π_ref (with
// ratio), in the advantage w log π_old/π_ref; 0 for the exact gradient, in the reward, for
// β = 0 and for an arm with π_old = 0.
func (m *penalties) score() {
	at := m.anchor()
	for a := range m.Kappa {
		m.Kappa[a] = 0
		if m.Past.Probs[a] == 0 || m.KL.Coefficient == 0 || m.KL.In == option.InReward {
			continue
		}
		l, rho := at.Logs[a]-m.LogReference[a], at.Probs[a]/m.Past.Probs[a]
		if m.KL.OfAdvantage() {
			m.Kappa[a] = m.Up[a] * (m.Past.Logs[a] - m.LogReference[a])
			continue
		}
		switch m.KL.Gradient {
		case option.K2:
			m.Kappa[a] = l
		case option.K3:
			m.Kappa[a] = -math.Expm1(-l)
		case option.K1:
			m.Kappa[a] = 1
		case option.RatioK1:
			m.Kappa[a] = rho * (l + 1)
		case option.RatioK3:
			m.Kappa[a] = rho * l
		}
	}
}

// SetReference sets the logits of π_ref, and the policy towards which all penalties pull.
func (m *penalties) SetReference(logits []float64) {
	cell.LogSoftmax(m.LogReference, logits)
	if m.Target = m.LogReference; m.Entropy > 0 {
		m.Target = m.balanced()
	}
}

// balanced returns log π̃.
func (m *penalties) balanced() []float64 {
	share := m.Restoring() / m.Pull()
	logits := make([]float64, len(m.LogReference))
	for c, l := range m.LogReference {
		logits[c] = share * l
		if uniform := m.Uniform(); uniform != nil {
			logits[c] += (1 - share) * uniform[c]
		}
	}
	cell.LogSoftmax(logits, slices.Clone(logits))
	return logits
}

// AddEntropy adds α∇H = −α π_a(log π_a/n_a + H), n_a the number of arms in a class.
func (m *penalties) AddEntropy(dst []float64) {
	if m.Entropy == 0 {
		return
	}
	l, mean := m.uncertainty()
	for a, p := range m.Now.Probs {
		dst[a] -= m.Entropy * p * (l[a] - mean)
	}
}

// uncertainty returns log π_a, of a single arm of a class, and its mean −H.
func (m *penalties) uncertainty() (l []float64, mean float64) {
	l = slices.Clone(m.Now.Logs)
	for a, p := range m.Now.Probs {
		if uniform := m.Uniform(); uniform != nil {
			l[a] -= uniform[a]
		}
		if p > 0 {
			mean += p * l[a]
		}
	}
	return l, mean
}

// addDivergence adds β(x H_w + y F), w = π∘(ℓ − ℓ̄), F = diag π − ππᵀ. With x = y = 1 it is the
// derivative of the gradient of βKL, ℓ = log π/π_ref.
func (m *penalties) addDivergence(dst [][]float64, beta float64, l []float64, mean, x, y float64) {
	for a, p := range m.Now.Probs {
		wa := p * (l[a] - mean)
		dst[a][a] += beta * (x*wa + y*p)
		for b, q := range m.Now.Probs {
			dst[a][b] -= beta * (x*(wa*q+p*q*(l[b]-mean)) + y*p*q)
		}
	}
}

// penaltyStiffness adds the KL part of the stiffness.
func (m *penalties) penaltyStiffness(fresh, stale [][]float64) {
	probs, beta := m.Now.Probs, m.KL.Coefficient
	if m.KL.In == option.InLoss && m.KL.At == option.AtSnapshot {
		fresh = stale
	}
	l, kl := make([]float64, len(probs)), 0.0
	for a, p := range probs {
		l[a] = m.Now.Logs[a] - m.LogReference[a]
		kl += p * l[a]
	}
	// fisher adds β(diag x − πxᵀ)F to the stale part, the derivative of
	// κ∘π_old − πΣκπ_old with respect to θ_old.
	fisher := func(x []float64) {
		mean := 0.0
		for a, p := range probs {
			mean += p * x[a]
		}
		for a, p := range probs {
			for b, q := range probs {
				// x_aF_ab − π_a Σ_c x_cF_cb, Σ_c x_cF_cb = π_b(x_b − x̄)
				v := -x[a]*p*q - p*q*(x[b]-mean)
				if a == b {
					v += x[a] * p
				}
				stale[a][b] += beta * v
			}
		}
	}
	exact := func(dst [][]float64, x, y float64) { m.addDivergence(dst, beta, l, kl, x, y) }
	if m.KL.OfAdvantage() {
		if m.Importance.Mode == option.NoImportance { // π_old∘ℓ_old − πΣπ_oldℓ_old
			exact(fresh, 0, -kl)
			exact(stale, 1, 1+kl)
		} else { // π∘(ℓ_old − Σπℓ_old)
			exact(fresh, 1, 0)
			exact(stale, 0, 1)
		}
		return
	}
	switch m.KL.Gradient {
	case option.ExactKL, option.RatioK1, option.RatioK3:
		exact(fresh, 1, 1)
	case option.K1: // π_old − π
		exact(fresh, 0, -1)
		exact(stale, 0, 1)
	case option.K2:
		for a, p := range probs {
			fresh[a][a] += beta * (1 - kl) * p
			for b, q := range probs {
				fresh[a][b] -= beta * (1 - kl) * p * q
			}
		}
		fisher(l)
	case option.K3:
		for a, p := range probs {
			ra := fp.MathExp(m.LogReference[a])
			fresh[a][a] += beta * ra
			for b, q := range probs {
				rb := fp.MathExp(m.LogReference[b])
				fresh[a][b] += beta * (p*q - ra*q - p*rb)
			}
		}
		fisher(m.Kappa)
	}
}

// Policy is a softmax and its logarithm, one entry per arm.
type Policy struct {
	Probs, Logs []float64
}

func (p *Policy) Set(theta []float64) {
	norm := cell.Softmax(p.Probs, theta)
	for a, x := range theta {
		p.Logs[a] = x - norm
	}
}
