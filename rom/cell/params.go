// Package cell is what the theory is asked about: a cell, checked, and what is not derived for it.
//
//  1. Params describes a cell in the vocabulary of package option. Params.Checked fills in
//     defaults, and panics with the name of a field that is out of its range.
//  2. Params.NotDerived asks the table of domains, before anything is computed, whether the theory
//     answers a Question of this cell.
//  3. Plain leaves out the options that cannot act. A largest norm is one where
//     Params.NeverClipped.
package cell

import (
	"math"
	"slices"

	"grposim/fp"
	"grposim/option"

	"gonum.org/v1/gonum/mat"
)

// Measured is a stiffness measured in an experiment, in the logits of the single arms.
// Factors.Stiffness multiplies it as it multiplies the closed forms. Measured entries carry errors:
//
//   - Components along (1, …, 1), a shift of all logits that no policy depends on,
//     are projected out.
//   - A part (fresh or stale) that is at most unmeasurable times the other, in the
//     whole matrices or in one mode, is set to 0. A force that is entirely frozen
//     or entirely current thus stays so.
//   - Modes that mix by less than measuredMixing are treated as independent.
//   - Larger errors couple modes that are independent in theory. Thresholds and
//     multipliers then follow from the matrices as given, with errors of the same
//     order. The onset of oscillation in a block does not: errors turn two modes of
//     equal stiffness into a complex pair at any learning rate.
//
// Equal arms are not merged, because their measured entries differ.
type Measured struct {
	Fresh *mat.Dense // Λ_f = −∂E[g]/∂θ, A×A
	Stale *mat.Dense // Λ_s = −∂E[g]/∂θ_old, A×A
}

// MaxPathArms is the largest number of arms with which the spread of runs is followed. A step takes
// the forces of 4(A−1) displaced policies.
const MaxPathArms = 64

// The largest number of coordinates of which a covariance is followed, and of arms times ages of
// snapshots of which slopes are taken.
const MaxPathState, MaxDrawing = 4096, 512

// Drawn returns the number of draws of groups in the steps before t.
func (p *Params) Drawn(t int) int {
	if p.Samples == option.Reused {
		return (t + p.Lag.Interval - 1) / p.Lag.Interval
	}
	return t
}

// Draw returns the number of the draw, from 0, whose groups step t uses.
func Draw(p *Params, t int) int { return p.Drawn(t+1) - 1 }

// From returns the logits from which the mean field starts.
func (p *Params) From() []float64 {
	if p.Start == nil {
		return p.Reference
	}
	return p.Start
}

// Draws reports whether step t draws groups.
func (p *Params) Draws(t int) bool { return p.Drawn(t+1) > p.Drawn(t) }

// Visiting returns the probability that a group of a step is of this prompt, see Chance.
func Visiting(p *Params) float64 {
	if p.Chance > 0 && p.turn.prompts == 0 {
		return p.Chance
	}
	return 1
}

// Uniform returns the logits of the uniform policy over arms, by class; nil: all 0.
func (p *Params) Uniform() []float64 { return p.uniform }

// Cut returns the bound of |g_1| by the largest norm; 0: there is none, or its law is not known.
func (p *Params) Cut() float64 { return p.cut }

// SetUniform sets the logits of the uniform policy of classes of arms.
func (p *Params) SetUniform(logits []float64) { p.uniform = logits }

// Restoring returns the part of β that restores on-policy: 0 for k1 in the loss, whose
// mean is π_old − π.
func (p *Params) Restoring() float64 {
	if p.KL.In == option.InLoss && p.KL.Gradient == option.K1 {
		return 0
	}
	return p.KL.Coefficient
}

// Pull returns the strength of the KL penalty and the entropy bonus together:
//
//	β KL(π‖π_ref) − α H(π) = (α+β) KL(π‖π̃) + constant,   π̃ ∝ π_ref^{β/(α+β)}
func (p *Params) Pull() float64 { return p.Restoring() + p.Entropy }

// Factors multiply constants of the theory by numbers > 0, to plant a known fault
// in a prediction. A factor left 0 stands for 1, so that the zero value is Unit.
type Factors struct {
	Stiffness float64 // of the mean force and so of the stiffness; fixed points stay
	Noise     float64 // of the covariance of the force
	Lag       float64 // of the snapshot's age, in the reduced-order model only
	Mass      float64 // of the mass, in the reduced-order model only
}

// Unit is the theory as derived.
var Unit = Factors{Stiffness: 1, Noise: 1, Lag: 1, Mass: 1}

// Params is a cell: all that the theory depends on, in the vocabulary of package option.
type Params struct {
	Arms      []option.Arm // at least 2
	Reference []float64    // logits of π_ref, one per arm, finite; nil: all 0

	option.Estimator // a GroupSize of 0 stands for Infinite; Filter: rewards of two values only

	ReferenceUpdate option.ReferenceUpdate

	Lag       option.Lag       // unused by functions of the force alone
	Optimizer option.Optimizer // the same, but for its largest norm
	Factors   Factors

	// Start is where the on-policy mean field begins that decides which fixed point
	// is reached, logits, one per arm, finite; nil: the reference.
	Start []float64

	// Measured replaces the closed forms of Λ_f and Λ_s in the linear dynamics; nil: closed forms.
	Measured *Measured

	Prompts Prompts // of a cell with many; the zero value: none

	// TrueMeans are the intended mean rewards by arm, which no run is led by; nil: those of Arms.
	TrueMeans []float64

	// Chance is the probability that a group of a step is of this prompt, of one among others with a
	// policy each; 0: it is.
	Chance float64

	// Others is of the other prompts by step, the last for later ones; nil: not known yet. Where
	// groups are redrawn it is ΣP, P the probability that rewards of a group differ, and Chance is
	// P/(P + Others). Under a largest norm it is mean and variance of what they add to g_1².
	Others   [][2]float64
	OnTheWay bool // rewards with the KL in them have the law of their compositions, which has jumps

	turn    turn
	uniform []float64 // logits of the uniform policy over arms, by class; nil: all 0

	cut float64 // bound of |g_1| by the largest norm, by checked; 0: see cutForce

	// norm that the gradients of the runs in question do not exceed, see unlimited; 0: not known
	met float64
}

// Prompts are the prompts of a cell: bandits of two Bernoulli arms with one reference
// policy, of which one is drawn for each of the B groups of a step (docs/theory-trainers.md §11.7).
// The arms of Params then are those of the mean prompt. The zero value stands for none.
type Prompts struct {
	First, Second []float64 // mean rewards of the two arms by prompt, within [0, 1]
	// logit gap of π_ref of each prompt, where it starts, finite; option.Tabular only; nil:
	// Params.Reference and the start of all
	Starts     []float64
	Parameters option.Parameters
	Order      option.PromptOrder
}

// Tabular reports whether p has prompts with a policy each.
func (p *Params) Tabular() bool {
	return len(p.Prompts.First) > 0 && p.Prompts.Parameters == option.Tabular
}

func ReferenceLogs(p *Params) []float64 {
	logs := make([]float64, len(p.Reference))
	LogSoftmax(logs, p.Reference)
	return logs
}

// Softmax writes π_a = e^{θ_a}/Σ_b e^{θ_b} into dst. The largest logit is
// subtracted first, so that no exponential overflows; probabilities below the
// range of floating point (about 1e-308) are 0. It returns log Σ_b e^{θ_b}.
func Softmax(dst, theta []float64) (norm float64) {
	top, sum := slices.Max(theta), 0.0
	for a, x := range theta {
		dst[a] = fp.MathExp(x - top)
		sum += dst[a]
	}
	for a := range dst {
		dst[a] /= sum
	}
	return top + math.Log(sum)
}

// PolicyAt returns π_a by arm, a new list.
func PolicyAt(theta []float64) []float64 {
	probs := make([]float64, len(theta))
	Softmax(probs, theta)
	return probs
}

// LogSoftmax writes log π_a into dst. Unlike log(softmax) it stays finite
// where a probability underflows.
func LogSoftmax(dst, theta []float64) {
	norm := Softmax(dst, theta)
	for a, x := range theta {
		dst[a] = x - norm
	}
}

// Span returns the largest mean reward of an arm less the smallest.
func Span(arms []option.Arm) float64 {
	low, high := arms[0].Mean, arms[0].Mean
	for _, arm := range arms {
		low, high = min(low, arm.Mean), max(high, arm.Mean)
	}
	return high - low
}

// Expected returns Σ_a π_a m_a.
func Expected(arms []option.Arm, probs []float64) float64 {
	sum := 0.0
	for a, p := range probs {
		sum += p * arms[a].Mean
	}
	return sum
}
