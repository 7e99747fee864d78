package diagnose

import (
	"math/rand/v2"
	"testing"
)

// In a short run of white noise the best of the trial frequencies passes for a
// ringing no more often than declared: of 10,000 runs in 10, were the trials
// independent, and they are not; 40 would be nine standard deviations more. A
// threshold for one trial alone lets some 80 pass.
func TestChanceOfTheBestTrial(t *testing.T) {
	const runs = 10_000
	rng := rand.New(rand.NewPCG(7, 1))
	alarms := 0
	for range runs {
		trace := Trace{Steps: make([]int, 32), Reward: make([]float64, 32)}
		for i := range trace.Steps {
			trace.Steps[i], trace.Reward[i] = i, rng.NormFloat64()
		}
		if ringing(&trace).Value > 0 {
			alarms++
		}
	}
	if expected := falseAlarm * runs; float64(alarms) > 4*expected {
		t.Errorf("%d of %d runs of white noise ring, want %g or fewer", alarms, runs, expected)
	}
}
