package main

import (
	"io"
	"testing"

	"grposim/sweeps"
)

// The exit code of verdicts: 1 if one disagrees, else 3 if one is inconclusive, none
// agrees or a control is not caught, else 0.
func TestVerdictExit(t *testing.T) {
	of := func(ruling sweeps.Ruling, control sweeps.Ruling) sweeps.Verdict {
		return sweeps.Verdict{Verdict: ruling, Control: &sweeps.ControlVerdict{Kind: sweeps.PlantedFault, Verdict: control}}
	}
	agree, out := of(sweeps.Agree, sweeps.Disagree), of(sweeps.OutOfScope, sweeps.OutOfScope)
	for name, c := range map[string]struct {
		verdicts []sweeps.Verdict
		want     int
	}{
		"none":                      {nil, 0},
		"agree":                     {[]sweeps.Verdict{agree}, 0},
		"agree and out of scope":    {[]sweeps.Verdict{agree, out}, 0},
		"disagree":                  {[]sweeps.Verdict{agree, of(sweeps.Disagree, sweeps.Disagree)}, exitDisagree},
		"inconclusive":              {[]sweeps.Verdict{agree, of(sweeps.Inconclusive, sweeps.Disagree)}, exitInconclusive},
		"disagree and inconclusive": {[]sweeps.Verdict{of(sweeps.Disagree, sweeps.Disagree), of(sweeps.Inconclusive, sweeps.Disagree)}, exitDisagree},
		"out of scope":              {[]sweeps.Verdict{out}, exitInconclusive},
		"a control that agrees":     {[]sweeps.Verdict{of(sweeps.Agree, sweeps.Agree)}, exitInconclusive},
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
