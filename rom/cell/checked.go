package cell

import (
	"fmt"
	"math"
	"slices"

	"grposim/option"
	"grposim/rom/group"
	"grposim/rom/linear"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/mat"
)

// Unclipped is in scope if the largest norm of p clips no force: at G = ∞ where force, the
// largest norm ≥ 0 of the expected gradient on the way that is followed (+Inf: not known),
// is at most that, and else by the bound of largestForce.
func Unclipped(p Params, force float64) scope.Scope {
	if p = p.Checked(); p.NeverClipped(force) {
		return scope.Scope{In: true}
	}
	return p.Clipped(force).Scope()
}

// KnownForce is in scope if the largest norm clips no force of p at a fixed point, or if the
// mean of the clipped force is known there.
func KnownForce(p Params) scope.Scope {
	if p = p.Checked(); p.cut > 0 || p.NeverClipped(0) {
		return scope.Scope{In: true}
	}
	return p.Clipped(0).Scope()
}

// Checked returns p with its defaults filled in: a nil Reference as zero logits, a factor of 0 as
// 1. It panics with the name of a field that is out of its range. Optimizer and Lag have checks of
// their own, because most functions do not use them.
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
		p.KL = option.KL{} // whose other words say nothing
	}
	Must(p.Estimator.Check)
	Must(p.ReferenceUpdate.Check)
	Want(!manyValues(&p) || p.Filter == option.KeepAll, "Params.Filter", p.Filter,
		"none where rewards take more than two values")
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
	if p.TrueMeans != nil {
		CheckLogits("Params.TrueMeans", p.TrueMeans, arms)
		Want(linear.IsFinite(p.TrueMeans...), "Params.TrueMeans", p.TrueMeans, "finite rewards")
	}
	p.Prompts.check(&p)
	p.cut = p.cutForce()
	return p
}

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
		Want(false, name, fmt.Sprintf("%d×%d", rows, columns),
			fmt.Sprintf("%d×%d, a row per arm", arms, arms))
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

// check panics unless the prompts fit p.
func (s *Prompts) check(p *Params) {
	if len(s.First) == 0 {
		return
	}
	Want(len(s.Second) == len(s.First), "Params.Prompts.Second", len(s.Second),
		"as many numbers as First")
	for _, m := range slices.Concat(s.First, s.Second) {
		Want(m >= 0 && m <= 1, "Params.Prompts", m, "mean rewards within [0, 1]")
	}
	Want(p.Filter != option.Redraw || s.Order == option.Independent, "Params.Prompts.Order", s.Order,
		"WithReplacement where groups of equal rewards are redrawn")
	Want(len(p.Arms) == 2 && p.Arms[0].Law == option.Bernoulli && p.Arms[1].Law == option.Bernoulli,
		"Params.Arms", p.Arms, "two Bernoulli arms, with prompts")
	if s.Starts != nil {
		Want(s.Parameters == option.Tabular && len(s.Starts) == len(s.First) &&
			linear.IsFinite(s.Starts...), "Params.Prompts.Starts", s.Starts,
			"a finite number for each prompt with a policy of its own")
	}
}
