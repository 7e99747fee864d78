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

// A predicted curve holds the recorded and the fitted steps only, so that its size does
// not grow with the run.
func TestCurveHoldsComparedSteps(t *testing.T) {
	const steps = 20_000
	text := strings.Replace(small, "steps: 300", fmt.Sprint("steps: ", steps), 1)
	c := &planText(t, text).Cells[0]
	j := newJudgement(&config.Check{}, 0.99, newEvidence(nil))
	cv, of := j.curve(c)
	if of.outOfScope != "" {
		t.Fatal(of.outOfScope)
	}
	if len(cv.reward) > 600 {
		t.Errorf("the curve has %d rewards for a run of %d steps, want at most 600", len(cv.reward), steps)
	}
	params := Params(&c.Settings, rom.Unit)
	compared := sim.RecordedSteps(steps, c.Settings.Lag)
	compared = append(compared, sim.FitSteps(sim.SaturationFit, steps)...)
	compared = append(compared, sim.FitSteps(sim.EarlySlopeFit, steps)...)
	rom.MeanField(params, c.Sim.Init, steps, func(at int, theta []float64) {
		if want := rom.ExpectedReward(params, theta); slices.Contains(compared, at) && cv.at(at) != want {
			t.Fatalf("step %d: J = %g, want %g", at, cv.at(at), want)
		}
	})
}
