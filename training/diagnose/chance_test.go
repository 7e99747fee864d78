package diagnose

import (
	"math/rand/v2"
	"testing"

	"grposim/training/change"
)

// In short runs of white noise the best of the trial frequencies counts as an
// oscillation no more often than declared. Of 10,000 runs 10 would, if the trials
// were independent, which they are not; 40 is nine standard deviations more. A
// threshold for a single trial lets about 80 pass.
func TestChanceOfTheBestTrial(t *testing.T) {
	const runs = 10_000
	rng := rand.New(rand.NewPCG(7, 1))
	alarms := 0
	for range runs {
		trace := Trace{Steps: make([]int, 32), Reward: make([]float64, 32)}
		for i := range trace.Steps {
			trace.Steps[i], trace.Reward[i] = i, rng.NormFloat64()
		}
		if rewardRinging(&trace).Value > 0 {
			alarms++
		}
	}
	if expected := change.FalseAlarm * runs; float64(alarms) > 4*expected {
		t.Errorf("%d of %d runs of white noise count as oscillating, want at most 4 times %g", alarms, runs, expected)
	}
}
