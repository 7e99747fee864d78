package sim

import (
	"slices"

	"grposim/grpo"
	"grposim/sim/measure"
)

// Walk is one replica that begins anywhere and is followed step by step.
type Walk struct {
	*replica
	each []*replica // those of the contexts of a network, else the one above
}

// NewWalk returns a walk in a complete cell. It draws its groups as a side of a Pair does.
func NewWalk(c *Cell) *Walk {
	r := newReplica(c, nil, coupledLaws(&c.Bandit, &c.Estimator))
	if c.Network == nil {
		return &Walk{r, []*replica{r}}
	}
	p := newContexts(c, coupledLaws)
	r.contexts = p
	return &Walk{r, p.each}
}

// Begin sets the walk to step 0 at logits, or at the weights of a network, with the optimizer at
// rest. Words are of the stream of the given purpose and index.
func (w *Walk) Begin(purpose Purpose, index int, values []float64) {
	w.words.Reset(Stream(w.cell.Seed, w.cell.ID, purpose, index))
	w.rollout.begin(w.cell, purpose, index)
	w.divergedAt = running
	if p, ok := w.contexts.(*contexts); ok {
		p.beginAt(values)
		return
	}
	w.start = grpo.NewPolicy(values)
	w.rest()
}

// Step does optimizer step t and reports whether all that it moves is still finite. Steps are done
// in order from t = 0.
func (w *Walk) Step(t int) (ok bool) {
	for _, r := range w.each {
		r.words = w.words
		r.push(t)
	}
	return w.update(t)
}

// update moves by the gradient of step t, and reports whether all that it moves is still finite.
func (w *Walk) update(t int) (ok bool) {
	if p, ok := w.contexts.(*contexts); ok {
		p.pull()
		return p.move(&w.cell.Optimizer, t) && measure.Finite(p.weights...)
	}
	w.move(t)
	return measure.Finite(w.policy.Logits...)
}

// Moved returns what steps move, logits or the weights of a network, and its velocity. Steps
// overwrite both.
func (w *Walk) Moved() (values, velocity []float64) {
	if p, ok := w.contexts.(*contexts); ok {
		return p.weights, p.state.Velocity()
	}
	return w.policy.Logits, w.optimizerState.Velocity()
}

// Logits returns the logits of all contexts of a network. Steps overwrite them.
func (w *Walk) Logits() []float64 { return w.contexts.(*contexts).logits }

// Reward returns J of the present policy; there is no network.
func (w *Walk) Reward() float64 { return w.policy.Mean(w.means) }

// Pair is two walks that read the same words. The n-th group of one is drawn with the same words as
// the n-th of the other, so that most of the noise cancels in their difference.
type Pair struct {
	Sides [2]*Walk // to begin with the same purpose and index
	cell  *Cell
}

// NewPair returns a pair in a complete cell.
func NewPair(c *Cell) *Pair {
	return &Pair{Sides: [2]*Walk{NewWalk(c), NewWalk(c)}, cell: c}
}

// Step does optimizer step t on both sides, and reports whether all that it moves is still finite.
// Steps are done in order from t = 0.
func (p *Pair) Step(t int) (ok bool) {
	plus, minus := p.Sides[0], p.Sides[1]
	if plus.ages != nil { // at G = ∞ only
		ok = plus.Step(t)
		return minus.Step(t) && ok
	}
	for i, one := range plus.each {
		other := minus.each[i]
		if p.cell.Lag.Refreshes(t) {
			one.refresh(t)
			other.refresh(t)
		}
		if p.cell.Draws(t) {
			one.words, other.words = plus.words, minus.words
			drawCoupled(&one.gradientSampler, &other.gradientSampler)
		}
	}
	ok = true
	for _, w := range p.Sides {
		for _, r := range w.each {
			r.gradient(r.policy, r.snapshot)
		}
		ok = w.update(t) && ok
	}
	return ok
}

// Informative returns the number of policies of which different groups push the two sides in the
// last step: 0 or 1, or that of contexts of a network. It is to be asked of steps that draw.
func (p *Pair) Informative() (policies int) {
	for i, one := range p.Sides[0].each {
		plus, minus := &one.statistics, &p.Sides[1].each[i].statistics
		if (pushes(plus) || pushes(minus)) && !slices.Equal(plus.Arms, minus.Arms) {
			policies++
		}
	}
	return policies
}
