package main

import (
	"math"
	"strings"
	"testing"

	"grposim/rom"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
)

// shiftsBy returns the shifts of a configuration's checks by one fault.
func shiftsBy(t *testing.T, file string, fault config.Fault) []shift {
	t.Helper()
	spec, err := config.Load(t.Name(), []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return shiftsOf(plan.New(spec), []mistake{func(*config.Check, *config.Settings) config.Fault { return fault }})[0]
}

// Faults whose shift is known in closed form.
func TestShifts(t *testing.T) {
	const resting = `
name: resting
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
policy: {init: fixed-point}
grpo: {group_size: 16, advantage: {scale: none}, kl: {coefficient: 0.5, at: snapshot}}
optimizer: {learning_rate: 0.1}
run: {steps: 300, burn_in: 100, replicas: 10}
checks:
`
	const threshold = "{claim: stability-threshold, displacement: 0.001, draws: 1, margin: 0.01, " +
		"locate: {param: optimizer.learning_rate, from: 0.5, to: 4, tolerance: 0.001}}"
	offset := strings.Replace(resting, "fixed-point", "{fixed_point_offset: 0.001}", 1)
	stiffer, noisier := config.Fault{Scale: rom.Unit}, config.Fault{Scale: rom.Unit}
	stiffer.Scale.Stiffness, noisier.Scale.Noise = 1.25, 1.1
	exact := func(file string) string { return strings.Replace(file, "size: 16", "size: inf", 1) }
	logistic := func(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
	// z* = c_GΔ/β, times β
	gap := 0.9375 * 0.7
	// to first order
	reward := func(beta float64) float64 { return 0.2 + 0.7*logistic(gap/beta) }
	// on-policy, μ = 0
	decay := func(lambda float64, t int) float64 { return math.Pow(1-0.1*lambda, float64(t)) }
	worst := 0.0
	for t := range 301 {
		worst = max(worst, decay(0.1670956266, t)-decay(1.25*0.1670956266, t))
	}
	for _, test := range []struct {
		name, file, check string
		fault             config.Fault
		relative, margins float64
		within            float64 // relative
	}{
		// up to the second order
		{"variance ∝ noise", resting, "{claim: stationary-fluctuation, margin: 0.02}", noisier, 0.1, 5,
			1e-3},
		{
			"stiffness itself", resting, "{claim: stiffness, displacement: 0.1, draws: 10, margin: 0.05}",
			stiffer, 0.25, 5, 1e-9,
		},
		{
			"fixed point by β", resting, "{claim: fixed-point, margin: 0.001}",
			config.Fault{Scale: rom.Unit, Set: func(s *config.Settings) { s.Estimator.KL.Coefficient = 0.55 }},
			reward(0.55)/reward(0.5) - 1, 1000 * (reward(0.55)/reward(0.5) - 1), 0.01,
		},
		{"threshold η = 2/λ", exact(resting), threshold, stiffer, -0.2, -20, 1e-6},
		{
			"trajectory", exact(offset), "{claim: trajectory, absolute_margin: 0.01}",
			stiffer, math.NaN(), 100 * worst, 0.02,
		},
		{
			"another failure mode", resting, "{claim: failure-mode, mode: none, margin: 0.25}",
			config.Fault{Scale: rom.Unit, Names: config.Names{Mode: "reward-hacking"}}, 1, 4, 1e-9,
		},
	} {
		shifts := shiftsBy(t, test.file+"  - "+test.check+"\n", test.fault)
		if len(shifts) == 0 {
			t.Errorf("%s: no shift", test.name)
			continue
		}
		s := shifts[0]
		same := func(got, want float64) bool {
			return math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= test.within*math.Abs(want)
		}
		if !same(s.relative, test.relative) || !same(math.Abs(s.margins), math.Abs(test.margins)) {
			t.Errorf("%s: %+v; want %g and %g", test.name, s, test.relative, test.margins)
		}
	}
}

// The theory as derived shifts no comparison.
func TestNoFaultShiftsNothing(t *testing.T) {
	shifts := shiftsBy(t, `
name: recurrence
seed: 1
bandit: {arms: [{reward: constant, mean: 1}, {reward: constant, mean: 0}]}
grpo: {group_size: inf, importance: {mode: ratio}, kl: {coefficient: 2}}
lag: {interval: 50}
optimizer: {learning_rate: 0.5}
run: {steps: 500}
checks:
  - {claim: recurrence, absolute_margin: 1e-9}
  - {claim: trajectory, absolute_margin: 0.01}
  - {claim: relaxation, offset: 0.001, margin: 0.01}
  - {claim: saturation-fit, margin: 0.01}
`, config.NoFault)
	if len(shifts) != 5 {
		t.Errorf("got %d comparisons, want 5", len(shifts))
	}
	for _, s := range shifts {
		if s.margins != 0 { // NaN: out of scope
			t.Errorf("%s is shifted: %+v", s.check.Claim.Name, s)
		}
	}
}
