package sweeps

import (
	"math"
	"strings"
	"testing"

	"grposim/rom"
	"grposim/sim/probe"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// shiftsOf returns the shifts of a configuration's checks by one fault.
func shiftsOf(t *testing.T, file string, fault config.Fault) []judge.Shift {
	t.Helper()
	return judge.Shifts(planText(t, file), []judge.Mistake{func(*config.Check, *config.Settings) config.Fault { return fault }})[0]
}

// scaled is the fault of wrong constants.
func scaled(factors rom.Factors) config.Fault { return config.Fault{Scale: factors} }

// Faults whose shift is known in closed form.
func TestShifts(t *testing.T) {
	const offset = `
name: offset
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
policy: {init: {fixed_point_offset: 0.001}}
grpo: {group_size: 16, advantage: {scale: none}, kl: {coefficient: 0.5, at: snapshot}}
optimizer: {learning_rate: 0.1}
run: {steps: 300, burn_in: 100, replicas: 10}
checks:
`
	stiffer := rom.Factors{Stiffness: 1.25, Noise: 1, Lag: 1, Mass: 1}
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
		{"variance ∝ noise", resting, "{claim: stationary-fluctuation, margin: 0.02}", scaled(rom.Factors{Stiffness: 1, Noise: 1.1, Lag: 1, Mass: 1}), 0.1, 5, 1e-3},
		{"stiffness itself", resting, "{claim: stiffness, displacement: 0.1, draws: 10, margin: 0.05}", scaled(stiffer), 0.25, 5, 1e-9},
		{
			"fixed point by β", resting, "{claim: fixed-point, margin: 0.001}",
			config.Fault{Set: func(s *config.Settings) { s.Estimator.KL.Coefficient = 0.55 }, Scale: rom.Unit},
			reward(0.55)/reward(0.5) - 1, 1000 * (reward(0.55)/reward(0.5) - 1), 0.01,
		},
		{
			"threshold η = 2/λ", strings.Replace(resting, "group_size: 16", "group_size: inf", 1),
			"{claim: stability-threshold, displacement: 0.001, draws: 1, margin: 0.01, locate: {param: optimizer.learning_rate, from: 0.5, to: 4, tolerance: 0.001}}",
			scaled(stiffer), -0.2, -20, 1e-6,
		},
		{"trajectory", strings.Replace(offset, "group_size: 16", "group_size: inf", 1), "{claim: trajectory, absolute_margin: 0.01}", scaled(stiffer), math.NaN(), 100 * worst, 0.02},
		{
			"another failure mode", resting, "{claim: failure-mode, mode: none, margin: 0.25}",
			config.Fault{Scale: rom.Unit, Names: config.Names{Mode: "reward-hacking"}}, 1, 4, 1e-9,
		},
	} {
		shifts := shiftsOf(t, test.file+"  - "+test.check+"\n", test.fault)
		if len(shifts) == 0 {
			t.Errorf("%s: no shift", test.name)
			continue
		}
		s := shifts[0]
		same := func(got, want float64) bool {
			return math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= test.within*math.Abs(want)
		}
		if !same(s.Relative, test.relative) || !same(math.Abs(s.Margins), math.Abs(test.margins)) {
			t.Errorf("%s: relative %g, in margins %g; want %g and %g", test.name, s.Relative, s.Margins, test.relative, test.margins)
		}
	}
}

// The theory as derived shifts no comparison.
func TestNoFaultShiftsNothing(t *testing.T) {
	shifts := shiftsOf(t, `
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
		t.Errorf("%d comparisons, want 5", len(shifts))
	}
	for _, s := range shifts {
		if s.Margins != 0 || s.OutOfScope != "" {
			t.Errorf("%s: %s is shifted by %g margins; out of scope: %q", s.Check.Claim.Name, s.Quantity, s.Margins, s.OutOfScope)
		}
	}
}

// A located value is compared at the measured stiffness: where the error of that is not
// known, the verdict is inconclusive.
func TestLocatedAtAnUnknownStiffness(t *testing.T) {
	const lambda = 0.1670956266 // docs/theory.md §5
	located := func(stiffness store.NamedEstimate) judge.Verdict {
		fresh, stale := stiffness, stiffness
		fresh.Name, fresh.Mean = plan.StiffnessFresh, 0
		stale.Name = plan.StiffnessStale
		return judgeOne(t, "{claim: stability-threshold, displacement: 0.001, draws: 10, margin: 0.01, locate: {param: optimizer.learning_rate, from: 0.5, to: 4, tolerance: 0.001}}",
			outcomeOf(stiffness, fresh, stale,
				store.NamedEstimate{Name: probe.LocatedLow, Mean: 2 / lambda, DF: -1}, store.NamedEstimate{Name: probe.LocatedHigh, Mean: 2 / lambda, DF: -1}))
	}
	if v := located(store.NamedEstimate{Name: plan.StiffnessTotal, Mean: lambda, StdErr: 1e-4 * lambda, DF: 63}); v.Verdict != agree {
		t.Errorf("relative error 1e-4: %v because %s", v.Verdict, v.Because)
	}
	if v := located(store.NamedEstimate{Name: plan.StiffnessTotal, Mean: lambda, DF: 0}); v.Verdict != inconclusive {
		t.Errorf("error of a single draw: %v because %s", v.Verdict, v.Because)
	}
}
