package sweeps

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
)

// A predicted curve is kept where anything compares it, however long the run.
func TestCurveIsKeptWhereCompared(t *testing.T) {
	const steps = 20_000
	text := strings.Replace(small, "steps: 300", fmt.Sprint("steps: ", steps), 1)
	c := &planText(t, text).Cells[0]
	j := newJudgement(&config.Check{}, 0.99, newEvidence(nil))
	cv, of := j.curve(c)
	if of.outOfScope != "" {
		t.Fatal(of.outOfScope)
	}
	if len(cv.reward) > 600 {
		t.Errorf("%d rewards are kept of a run of %d steps", len(cv.reward), steps)
	}
	params := Params(&c.Settings, rom.Unit)
	compared := sim.RecordedSteps(steps, c.Settings.Lag)
	compared = append(compared, sim.FitSteps(sim.SaturationFit, steps)...)
	compared = append(compared, sim.FitSteps(sim.EarlySlopeFit, steps)...)
	rom.MeanField(params, c.Sim.Init, steps, func(at int, theta []float64) {
		if want := rom.ExpectedReward(params, theta); slices.Contains(compared, at) && cv.at(at) != want {
			t.Fatalf("step %d: %g, want %g", at, cv.at(at), want)
		}
	})
}
