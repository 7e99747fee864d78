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
	"fmt"
	"math"

	"grposim/option"
	"grposim/rom/group"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
)

// Measured is a stiffness measured in an experiment, in the logits of the single
// arms. Factors.Stiffness multiplies it as it multiplies the closed forms.
// Measured entries carry errors:
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

// Drawn returns the number of draws of groups in the steps before t.
func (p *Params) Drawn(t int) int {
	if p.Samples == option.Reused {
		return (t + p.Lag.Interval - 1) / p.Lag.Interval
	}
	return t
}

// Draws reports whether step t draws groups.
func (p *Params) Draws(t int) bool { return p.Drawn(t+1) > p.Drawn(t) }

// Checked returns p with its defaults filled in: a nil Reference as zero logits,
// a factor of 0 as 1. It panics with the name of a field that is out of its range.
// Optimizer and Lag have checks of their own, because most functions do not use
// them.
func (p Params) Checked() Params {
	Must((&option.Bandit{Arms: p.Arms}).Check)
	arms := len(p.Arms)
	if p.Reference == nil {
		p.Reference = make([]float64, arms)
	}
	CheckLogits("Params.Reference", p.Reference, arms)
	Want(linear.IsFinite(p.Reference...), "Params.Reference", p.Reference, "finite logits")
	if p.Start != nil {
		CheckLogits("Params.Start", p.Start, arms)
		Want(linear.IsFinite(p.Start...), "Params.Start", p.Start, "finite logits")
	}
	p.Estimator.Complete()
	p.Lag.Complete()
	if p.GroupSize == 0 {
		p.GroupSize = option.Infinite
	}
	// no group has equal rewards, and all scales are those of one reward
	if p.GroupSize == option.Infinite {
		p.Filter = option.KeepAll
		group.AtInfinity(&p.Advantage)
	}
	if p.KL.Coefficient == 0 {
		p.KL.In = option.InLoss // of no penalty
	}
	Must(p.Estimator.Check)
	Must(p.ReferenceUpdate.Check)
	success, _ := group.TwoValued(p.Arms)
	Want(success != nil || p.Filter == option.KeepAll, "Params.Filter", p.Filter, "none where rewards take more than two values")
	if p.Advantage.BinaryOnly() {
		for _, arm := range p.Arms {
			Want(arm.Law == option.Bernoulli, "Params.Arms", p.Arms, "Bernoulli arms with this advantage")
		}
	}
	for _, f := range []struct {
		name  string
		value *float64
	}{
		{"Stiffness", &p.Factors.Stiffness}, {"Noise", &p.Factors.Noise},
		{"Lag", &p.Factors.Lag}, {"Mass", &p.Factors.Mass},
	} {
		Want(nonNegative(*f.value), "Params.Factors."+f.name, *f.value, "finite and above 0, or 0 for 1")
		if *f.value == 0 {
			*f.value = 1
		}
	}
	if p.Measured != nil {
		checkMeasured("Params.Measured.Fresh", p.Measured.Fresh, arms)
		checkMeasured("Params.Measured.Stale", p.Measured.Stale, arms)
	}
	p.Prompts.check(&p)
	p.cut = p.cutForce()
	return p
}

// Uniform returns the logits of the uniform policy over arms, by class; nil: all 0.
func (p *Params) Uniform() []float64 { return p.uniform }

// Cut returns the bound of |g_1| by the largest norm; 0: there is none, or its law is not known.
func (p *Params) Cut() float64 { return p.cut }

// SetUniform sets the logits of the uniform policy of classes of arms.
func (p *Params) SetUniform(logits []float64) { p.uniform = logits }

// CheckLogits panics unless logits has one entry per arm.
func CheckLogits(name string, logits []float64, arms int) {
	if len(logits) != arms {
		Want(false, name, fmt.Sprintf("%d logits", len(logits)), fmt.Sprintf("%d, one per arm", arms))
	}
}

// checkMeasured panics unless m is a square matrix with one row per arm.
func checkMeasured(name string, m *mat.Dense, arms int) {
	Want(m != nil, name, "nil", "a matrix")
	if rows, columns := m.Dims(); rows != arms || columns != arms {
		Want(false, name, fmt.Sprintf("%d×%d", rows, columns), fmt.Sprintf("%d×%d, a row per arm", arms, arms))
	}
}

// Want panics with the name of the caller's mistake unless ok.
func Want(ok bool, name string, got any, wanted string) {
	if !ok {
		panic(fmt.Sprintf("rom: %s: got %v, want %s", name, got, wanted))
	}
}

// Must panics with the caller's mistakes that check finds.
func Must(check func(*option.Mistakes)) {
	var m option.Mistakes
	check(&m)
	m.Panic("rom")
}

// nonNegative reports whether x is finite and at least 0.
func nonNegative(x float64) bool { return x >= 0 && !math.IsInf(x, 1) }

// This file computes the effect of a KL penalty, of an entropy bonus, of reused samples, of a
// largest norm and of a moving reference (docs/theory-trainers.md §11.5 and §11.6).

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

	// Measured replaces the closed forms of Λ_f and Λ_s in the linear dynamics; nil:
	// closed forms.
	Measured *Measured

	Prompts Prompts // of a cell with many; the zero value: none

	uniform []float64 // logits of the uniform policy over arms, by class; nil: all 0

	cut float64 // bound of |g_1| by the largest norm, by checked; 0: see cutForce

	// norm that the gradients of the runs in question do not exceed, see unlimited; 0: not known
	met float64
}
