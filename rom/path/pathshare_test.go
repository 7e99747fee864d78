package path

import (
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/linear"
)

// The law of runs can be lost: under k3 single samples throw runs across. From there on
// nothing is known, which does not fail.
func TestLostLaw(t *testing.T) {
	p, init := plainRun(8, 0.4, 0.2, 0.9)
	p.GroupsPerStep, p.Optimizer.Momentum, p.Advantage.Scale = 8, 0.9, option.StdScale
	p.Importance = option.Importance{Mode: option.Clip, ClipLow: 0.2, ClipHigh: 0.2}
	p.KL = option.KL{Coefficient: 0.04, Gradient: option.K3}
	for i, path := range Paths(p, init, []int{3, 300}, Reward, Entropy) {
		if !path.Scope.In || !linear.IsFinite(path.Neglected[:1]...) ||
			linear.IsFinite(path.Neglected[1:]...) {
			t.Errorf("quantity %d: %+v, want a size at step 3 and none at step 300", i, path)
		}
	}
}

// plainRun returns Bernoulli arms without a penalty, from the uniform policy.
func plainRun(size int, rate float64, means ...float64) (p cell.Params, init []float64) {
	p = cell.Params{Estimator: option.Estimator{GroupSize: size, GroupsPerStep: 1,
		Advantage: option.Advantage{Scale: option.NoScale}}, Lag: option.Lag{Interval: 1},
		Optimizer: option.Optimizer{LearningRate: rate}}
	for _, mean := range means {
		p.Arms = append(p.Arms, option.Arm{Mean: mean})
	}
	return p, make([]float64, len(means))
}

// shareAt returns the predicted share of groups of equal rewards at a step, which has to be in
// scope.
func shareAt(t *testing.T, p cell.Params, init []float64, step int) (share, neglected float64) {
	t.Helper()
	of := MeanZeroVariance(p, init, step, step+1)
	if of.Out() {
		t.Fatal(of.Because)
	}
	return of.Value, of.Size()
}

// Without a penalty there is no fixed point, and the share of groups of equal rewards along the
// path is predicted all the same. The numbers are those of 20,000 or more runs of simulations
// written from theory.md §1 alone, which draw sample by sample, with their standard errors.
func TestShareAlongThePath(t *testing.T) {
	first, init := plainRun(4, 0.3, 0.2, 0.9)
	third, three := plainRun(4, 0.1, 0.1, 0.5, 0.9)
	third.Advantage.Scale, third.Importance.Mode, third.Lag.Interval,
		third.Optimizer.Momentum = option.StdScale, option.Ratio, 4, 0.5
	for name, c := range map[string]struct {
		p             cell.Params
		init          []float64
		step          int
		simulated, se float64
		field         float64 // on the mean field
	}{
		"two arms":                           {first, init, 60, 0.528868, 7e-6, 0.53011372},
		"three arms, old policies, momentum": {third, three, 32, 0.361400, 13e-6, 0.36574457},
	} {
		share, neglected := shareAt(t, c.p, c.init, c.step)
		if miss := math.Abs(share - c.simulated); miss > 4*c.se+neglected ||
			miss > math.Abs(c.field-c.simulated)/20 {
			t.Errorf("%s: %.6f with %.2g neglected, simulated %.6f(%g)", name, share, neglected, c.simulated,
				c.se)
		}
	}
}

// The groups are drawn by the snapshot: within a block the share stays, and with a delay it is that
// of the policy then.
func TestShareIsOfTheSnapshot(t *testing.T) {
	p, init := plainRun(8, 0.1, 0.2, 0.9)
	p.Lag.Interval = 4
	share := func(step int) float64 {
		x, _ := shareAt(t, p, init, step)
		return x
	}
	at := share(32)
	for step := 33; step < 36; step++ {
		near(t, "share within the block", share(step), at, 1e-12)
	}
	if next := share(36); !(math.Abs(next-at) > 1e-4) {
		t.Errorf("%g in the next block and %g before, want another policy", next, at)
	}
	p.Lag = option.Lag{Kind: option.Delay, Interval: 3}
	present := observables[ZeroVariance]
	present.of = func(m *force.Model, now, _ []float64) float64 {
		return observables[ZeroVariance].of(m, nil, now)
	}
	present.depends = ofPolicy
	path := pathsOf(p.Checked(), init, []int{20}, false, present)[0]
	near(t, "share under a delay", share(23), path.Mean[0], 1e-12)
}

// near fails unless got agrees with want to the relative error.
func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s: got %.12g, want %.12g to %.1g", what, got, want, relative)
	}
}
