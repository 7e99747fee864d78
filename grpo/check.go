package grpo

import (
	"fmt"

	"grposim/option"
)

// must panics with the caller's mistakes that check finds.
func must(check func(*option.Mistakes)) {
	var m option.Mistakes
	check(&m)
	m.Panic("grpo")
}

// CheckEstimator adds the mistakes of an estimator: those of its options, and a baseline
// that has no expected gradient at G = ∞.
func CheckEstimator(e *option.Estimator, m *option.Mistakes) {
	e.Check(m)
	if b := e.Advantage.Baseline; b == option.SecondBest || b == option.RunningMean {
		m.Want(e.GroupSize != option.Infinite, "Estimator.GroupSize", "Infinite", "a finite size with the baseline "+b.String())
	}
}

// mustBe panics with one mistake unless ok.
func mustBe(ok bool, field string, got any, want string) {
	if !ok {
		must(func(m *option.Mistakes) { m.Want(false, field, got, want) })
	}
}

// mustHaveArms panics unless a policy can have so many arms.
func mustHaveArms(arms int) { mustBe(arms >= 2, "number of arms", arms, "≥ 2") }

// unknown returns the panic text for a word of no meaning.
func unknown(field string, w fmt.Stringer) string { return "grpo: " + field + ": got " + w.String() }
