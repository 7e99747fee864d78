package judge

import (
	"slices"
	"testing"

	"grposim/rom"
	"grposim/sweeps/config"
)

// The answer names the claims of an experiment, or the experiments of several, disagreements first,
// in at most three sentences.
func TestAnswer(t *testing.T) {
	of := func(experiment, claim string, ruling Ruling) Verdict {
		return Verdict{Experiment: experiment, Claim: claim, Verdict: ruling, Reason: "not-arrived"}
	}
	refuted := of("one", "early-slope", Agree)
	refuted.Expect, refuted.PredictionKind = config.Fails, rom.PaperRule
	wrong := of("one", "arrival", Disagree)
	wrong.Hypothesis = &TestedHypothesis{Hypothesis: config.Hypothesis{Relation: config.AtLeast, Value: 0.9}}
	a, b := of("one", "fixed-point", Agree), of("two", "stiffness", Agree)
	for _, c := range []struct {
		verdicts []Verdict
		want     []string
	}{
		{nil, []string{"There is nothing to judge: no check has a verdict."}},
		{[]Verdict{a}, []string{"The one verdict agrees: fixed-point."}},
		{[]Verdict{a, a}, []string{"All 2 verdicts agree: fixed-point."}},
		{[]Verdict{a, b}, []string{"All 2 verdicts agree: one and two."}},
		{[]Verdict{a, refuted, refuted}, []string{
			"2 of 3 verdicts refute a formula, as expected: early-slope (paper-rule).",
			"1 agrees: fixed-point."}},
		{[]Verdict{of("one", "stiffness", Disagree), wrong, a, of("one", "fixed-point", OutOfScope)},
			[]string{"1 of 4 verdicts disagrees with the theory: stiffness.",
				"1 refutes what the file claims: arrival ≥ 0.9.",
				"1 agrees: fixed-point; 1 is out of scope: fixed-point (not-arrived)."}},
	} {
		if got := Answer(c.verdicts); !slices.Equal(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
