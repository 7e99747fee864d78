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
