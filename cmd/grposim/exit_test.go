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
		return judge.Verdict{Verdict: ruling, Control: &judge.ControlVerdict{Kind: judge.PlantedFault, Verdict: control}}
	}
	agree, out := of(judge.Agree, judge.Disagree), of(judge.OutOfScope, judge.OutOfScope)
	for name, c := range map[string]struct {
		verdicts []judge.Verdict
		want     int
	}{
		"none":                      {nil, 0},
		"agree":                     {[]judge.Verdict{agree}, 0},
		"agree and out of scope":    {[]judge.Verdict{agree, out}, 0},
		"disagree":                  {[]judge.Verdict{agree, of(judge.Disagree, judge.Disagree)}, exitDisagree},
		"inconclusive":              {[]judge.Verdict{agree, of(judge.Inconclusive, judge.Disagree)}, exitInconclusive},
		"disagree and inconclusive": {[]judge.Verdict{of(judge.Disagree, judge.Disagree), of(judge.Inconclusive, judge.Disagree)}, exitDisagree},
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
