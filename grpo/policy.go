package grpo

import (
	"math"

	"grposim/fp"
)

// Policy is a softmax policy: Probs[a] = exp(Logits[a]) / Σ_b exp(Logits[b]). It is not
// for concurrent use.
type Policy struct {
	Logits []float64 // θ, one per arm; after changing them, call Update
	Probs  []float64 // π, one per arm, in [0, 1]; NaN if a logit is not finite

	shift, norm float64 // the largest logit, Σ exp(Logits − shift)
	logNorm     float64 // log Σ exp(Logits) if known
	known       bool
}

// NewPolicy returns the policy of a copy of logits. It panics unless there are at least 2.
func NewPolicy(logits []float64) *Policy {
	mustHaveArms(len(logits))
	p := &Policy{Logits: append([]float64(nil), logits...), Probs: make([]float64, len(logits))}
	p.Update()
	return p
}

// Update sets Probs from Logits. A logit that is not finite makes the
// probabilities NaN; Update does not panic.
func (p *Policy) Update() {
	p.known = false
	logits := p.Logits
	probs := p.Probs[:len(logits)]
	if len(logits) == 2 { // the same bits as below, without loops
		first, second, e := logits[0], logits[1], 1.0
		gap := first - second
		if first != second {
			e = fp.Exp(-math.Abs(gap))
		}
		p.norm = 1 + e
		inverse := 1 / p.norm
		if gap >= 0 {
			p.shift, probs[0], probs[1] = first, inverse, e*inverse
		} else {
			p.shift, probs[0], probs[1] = second, e*inverse, inverse
		}
		return
	}
	shift := logits[0]
	for _, l := range logits[1:] {
		if l > shift {
			shift = l
		}
	}
	norm := fp.ExpBelow(probs, logits, shift)
	inverse := 1 / norm
	for a := range probs {
		probs[a] *= inverse
	}
	p.shift, p.norm = shift, norm
}

// Set makes p a copy of q, which has as many arms.
func (p *Policy) Set(q *Policy) {
	copy(p.Logits, q.Logits)
	copy(p.Probs, q.Probs)
	p.shift, p.norm, p.logNorm, p.known = q.shift, q.norm, q.logNorm, q.known
}

// LogNorm returns log Σ_a exp(Logits[a]), so that log Probs[a] = Logits[a] − LogNorm.
// It is computed at the first call after a change.
func (p *Policy) LogNorm() float64 {
	if !p.known {
		p.logNorm, p.known = p.shift+fp.Log(p.norm), true
	}
	return p.logNorm
}

// Mean returns Σ_a Probs[a]·values[a], which is J if values are the arms' means.
func (p *Policy) Mean(values []float64) float64 {
	sum := 0.0
	values = values[:len(p.Probs)]
	for a, x := range p.Probs {
		sum += float64(x * values[a])
	}
	return sum
}

// Entropy returns −Σ_a Probs[a] log Probs[a] in nats; arms of probability 0 contribute 0.
func (p *Policy) Entropy() float64 {
	logNorm := p.LogNorm()
	sum := 0.0
	for a, x := range p.Probs {
		if x > 0 {
			sum -= float64(x * (p.Logits[a] - logNorm))
		}
	}
	return sum
}

// Collision returns Σ_a Probs[a]², the probability that two independent samples
// fall on the same arm.
func (p *Policy) Collision() float64 { return p.Mean(p.Probs) }

// Divergence returns KL(p‖q) = Σ_a p_a log(p_a/q_a) in nats; arms with p_a = 0 contribute 0.
func (p *Policy) Divergence(q *Policy) float64 {
	logNorm := p.LogNorm() - q.LogNorm()
	sum := 0.0
	for a, x := range p.Probs {
		if x > 0 {
			sum += float64(x * (p.Logits[a] - q.Logits[a] - logNorm))
		}
	}
	return sum
}

// MaxRatio returns max_a p_a/behaviour_a over the arms with behaviour_a > 0: the
// largest importance ratio that a sample can have.
func (p *Policy) MaxRatio(behaviour *Policy) float64 {
	largest := 0.0
	for a, x := range p.Probs {
		if b := behaviour.Probs[a]; b > 0 {
			largest = max(largest, x/b)
		}
	}
	return largest
}
