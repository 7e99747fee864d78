package main

import (
	"io"
	"testing"

	"grposim/sweeps/judge"
)

// The exit code of verdicts: 1 if one disagrees, else 3 if one is inconclusive, none
// agrees or a control is not caught, else 0.
func TestVerdictExit(t *testing.T) {
	of := func(ruling judge.Ruling, control judge.Ruling) judge.Verdict {
		planted := judge.ControlVerdict{Kind: judge.PlantedFault, Verdict: control}
		return judge.Verdict{Verdict: ruling, Control: &planted}
	}
	agree, out := of(judge.Agree, judge.Disagree), of(judge.OutOfScope, judge.OutOfScope)
	wrong, unsure := of(judge.Disagree, judge.Disagree), of(judge.Inconclusive, judge.Disagree)
	for name, c := range map[string]struct {
		verdicts []judge.Verdict
		want     int
	}{
		"none":                      {nil, 0},
		"agree":                     {[]judge.Verdict{agree}, 0},
		"agree and out of scope":    {[]judge.Verdict{agree, out}, 0},
		"disagree":                  {[]judge.Verdict{agree, wrong}, exitDisagree},
		"inconclusive":              {[]judge.Verdict{agree, unsure}, exitInconclusive},
		"disagree and inconclusive": {[]judge.Verdict{wrong, unsure}, exitDisagree},
		"out of scope":              {[]judge.Verdict{out}, exitInconclusive},
		"a control that agrees":     {[]judge.Verdict{of(judge.Agree, judge.Agree)}, exitInconclusive},
	} {
		got := 0
		if err := verdictExit(io.Discard, c.verdicts); err != nil {
			got = exitCode(io.Discard, err)
		}
		if got != c.want {
			t.Errorf("%s: exit code %d, want %d", name, got, c.want)
		}
	}
}
