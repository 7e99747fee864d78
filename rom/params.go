package rom

import (
	"fmt"
	"math"

	"grposim/option"
	"grposim/rom/group"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
)

// checked returns p with its defaults filled in: a nil Reference as zero logits,
// a factor of 0 as 1. It panics with the name of a field that is out of its range.
// Optimizer and Lag have checks of their own, because most functions do not use
// them.
func (p Params) checked() Params {
	must((&option.Bandit{Arms: p.Arms}).Check)
	arms := len(p.Arms)
	if p.Reference == nil {
		p.Reference = make([]float64, arms)
	}
	checkLogits("Params.Reference", p.Reference, arms)
	want(linear.IsFinite(p.Reference...), "Params.Reference", p.Reference, "finite logits")
	if p.Start != nil {
		checkLogits("Params.Start", p.Start, arms)
		want(linear.IsFinite(p.Start...), "Params.Start", p.Start, "finite logits")
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
	must(p.Estimator.Check)
	must(p.ReferenceUpdate.Check)
	success, _ := group.TwoValued(p.Arms)
	want(success != nil || p.Filter == option.KeepAll, "Params.Filter", p.Filter, "none where rewards take more than two values")
	if p.Advantage.BinaryOnly() {
		for _, arm := range p.Arms {
			want(arm.Law == option.Bernoulli, "Params.Arms", p.Arms, "Bernoulli arms with this advantage")
		}
	}
	for _, f := range []struct {
		name  string
		value *float64
	}{
		{"Stiffness", &p.Factors.Stiffness}, {"Noise", &p.Factors.Noise},
		{"Lag", &p.Factors.Lag}, {"Mass", &p.Factors.Mass},
	} {
		want(nonNegative(*f.value), "Params.Factors."+f.name, *f.value, "finite and above 0, or 0 for 1")
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

// checkLogits panics unless logits has one entry per arm.
func checkLogits(name string, logits []float64, arms int) {
	if len(logits) != arms {
		want(false, name, fmt.Sprintf("%d logits", len(logits)), fmt.Sprintf("%d, one per arm", arms))
	}
}

// checkMeasured panics unless m is a square matrix with one row per arm.
func checkMeasured(name string, m *mat.Dense, arms int) {
	want(m != nil, name, "nil", "a matrix")
	if rows, columns := m.Dims(); rows != arms || columns != arms {
		want(false, name, fmt.Sprintf("%d×%d", rows, columns), fmt.Sprintf("%d×%d, a row per arm", arms, arms))
	}
}

// want panics with the name of the caller's mistake unless ok.
func want(ok bool, name string, got any, wanted string) {
	if !ok {
		panic(fmt.Sprintf("rom: %s: got %v, want %s", name, got, wanted))
	}
}

// must panics with the caller's mistakes that check finds.
func must(check func(*option.Mistakes)) {
	var m option.Mistakes
	check(&m)
	m.Panic("rom")
}

// nonNegative reports whether x is finite and at least 0.
func nonNegative(x float64) bool { return x >= 0 && !math.IsInf(x, 1) }
