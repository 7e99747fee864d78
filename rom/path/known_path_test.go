package path

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// The mean path along ten bandits, against programs written from docs/theory.md §1 alone: the
// Gaussian closure, which takes every average anew in every step, and a simulation that draws
// sample by sample (20,000 to 100,000 runs; the standard error in the last place given). Held
// forces err by a hundredth of a shift.
func TestMeanPathsOfTheReference(t *testing.T) {
	of := func(size int, scale option.Scale, rate float64, means ...float64) cell.Params {
		p, _ := plainRun(size, rate, means...)
		p.Advantage.Scale = scale
		return p
	}
	type at struct {
		step                      int
		field, gaussian, runs, se float64
	}
	for name, c := range map[string]struct {
		p    cell.Params
		set  func(p *cell.Params)
		init []float64
		at   []at
	}{
		"two arms": {of(4, option.NoScale, 0.3, 0.2, 0.9), nil, nil, []at{
			{15, .72262603, .72106510, .721059, 6e-6}, {60, .85309388, .85240012, .852402, 4e-6}}},
		"blocks": {of(8, option.StdScale, 0.1, 0.2, 0.9), func(p *cell.Params) { p.Lag.Interval = 4 },
			nil, []at{
				{32, .79741346, .79678381, .796780, 3e-6}, {62, .85176108, .85137780, .851378, 2e-6}}},
		"three arms, ratio, momentum": {of(4, option.StdScale, 0.1, 0.1, 0.5, 0.9), func(p *cell.Params) {
			p.Importance.Mode, p.Lag.Interval, p.Optimizer.Momentum = option.Ratio, 4, 0.5
		}, nil, []at{{32, .77633470, .77231492, .772249, 14e-6},
			{62, .84847083, .84673274, .846690, 7e-6}}},
		"eight arms, long blocks": {of(
			16, option.NoScale, 2, .1, .1+.8/7, .1+1.6/7, .1+2.4/7, .1+3.2/7, .1+4./7, .1+4.8/7, .9),
			func(p *cell.Params) {
				p.GroupsPerStep, p.Importance.Mode, p.Lag.Interval = 2, option.Ratio, 16
			}, nil, []at{{15, .74486300, .74206646, .742190, 29e-6},
				{63, .88862784, .88798364, .886938, 39e-6}}},
		"rare best arm, penalty": {of(4, option.NoScale, 0.5, 0.2, 0.9), func(p *cell.Params) {
			p.KL, p.Reference = option.KL{Coefficient: 0.05, Gradient: option.ExactKL, At: option.AtCurrent},
				[]float64{0, 0}
		}, []float64{0, math.Log(0.05 / 0.95)},
			[]at{{40, .52877538, .51780634, .515127, 94e-6}, {160, .88279660, .88244547, .882286, 4e-6}}},
		"delay": {of(4, option.NoScale, 0.3, 0.2, 0.9), func(p *cell.Params) {
			p.Lag, p.Optimizer.Momentum = option.Lag{Kind: option.Delay, Interval: 3}, 0.5
		}, nil, []at{{15, .81440245, .81054326, .81045, 9e-5}, {30, .86230585, .86083652, .86079, 4e-5}}},
		"redrawn": {of(4, option.StdScale, 0.15, 0.2, 0.9),
			func(p *cell.Params) { p.Filter = option.Redraw }, nil, []at{
				{15, .76324696, .76170381, .761695, 6e-6}, {60, .87996696, .87950438, .879506, 2e-6}}},
		"normal rewards": {of(16, option.StdScale, 0.1, 0.2, 0.9), func(p *cell.Params) {
			p.Advantage.Baseline, p.Advantage.Std = option.LeaveOneOut, option.SampleStd
			p.Arms[0].Law, p.Arms[1].Law = option.Normal, option.Normal
			p.Arms[0].Std, p.Arms[1].Std = 0.3, 0.3
		}, nil, []at{{step: 15, runs: .7209456, se: 20e-6}, {step: 62, runs: .8589879, se: 12e-6}}},
		"three arms, long blocks": {of(8, option.StdScale, 0.6, 0.1, 0.5, 0.9),
			func(p *cell.Params) { p.Lag.Interval = 16 }, nil, []at{
				{15, .85314089, .84668201, .846688, 25e-6}, {47, .89208717, .89197628, .891893, 4e-6}}},
		"k3 of the snapshot": {of(4, option.NoScale, 0.3, 0.2, 0.9), func(p *cell.Params) {
			p.Importance.Mode, p.Lag.Interval = option.Ratio, 4
			p.KL, p.Reference = option.KL{Coefficient: 0.1, Gradient: option.K3, At: option.AtSnapshot},
				[]float64{0, 0}
		}, nil, []at{{16, .71853102, .71727319, .717284, 11e-6},
			{62, .82065123, .82030655, .820306, 5e-6}}},
		"largest norm that cuts": {of(8, option.StdScale, 0.2, 0.2, 0.9), func(p *cell.Params) {
			p.Importance.Mode, p.Lag.Interval = option.Ratio, 4
			p.Optimizer.Momentum, p.Optimizer.MaxNorm = 0.5, 0.2
		}, nil, []at{{step: 8, runs: .6736085, se: 25e-6}, {step: 32, runs: .8475836, se: 22e-6}}},
	} {
		p, init := c.p, c.init
		if c.set != nil {
			c.set(&p)
		}
		if init == nil {
			init = make([]float64, len(p.Arms))
		}
		p = p.Checked()
		for _, want := range c.at {
			run := followOn(p, init, []int{want.step}, want.step, 0, []observable{rewardOf},
				newSpread(p, init, want.step))
			close := func(what string, got, want, within float64) {
				if !(math.Abs(got-want) <= within) {
					t.Errorf("%s: %s %.8f, want %.8f within %.1g", name, what, got, want, within)
				}
			}
			if want.field > 0 {
				close("mean field", run.field[0][0], want.field, 6e-9)
				close("Gaussian closure", run.field[0][0]+run.noisy[0][0].shift, want.gaussian,
					0.015*math.Abs(want.gaussian-want.field))
			}
			whole := Paths(p, init, []int{want.step}, Reward)[0]
			close("mean of runs", whole.Mean[0], want.runs, 4*want.se+whole.Neglected[0])
		}
	}
}

// Runs of two arms with ratios, sample by sample from docs/theory.md §1 alone: J has the predicted
// mean within what is neglected and five standard errors, and the predicted deviation within 5 %, of
// which that of 4,000 runs errs by 1.1 %.
func TestPathsOfSeveralOldPolicies(t *testing.T) {
	const steps, runs = 24, 4000
	for name, c := range map[string]struct {
		lag   option.Lag
		adam  bool
		stale func(r *rand.Rand, t int) int // step of the snapshot
		// β does, while the clip widens and π_ref moves; no deviation is known near a bound
		falls bool
	}{
		"age by group": {option.Lag{Kind: option.Random, Ages: option.Ages{To: 4}}, false,
			func(r *rand.Rand, t int) int { return t - r.IntN(5) }, false},
		"a block behind": {option.Lag{Interval: 3, Behind: 1}, false,
			func(_ *rand.Rand, t int) int { return t - t%3 - 3 }, false},
		"schedules, moving reference": {option.Lag{Interval: 3}, false,
			func(_ *rand.Rand, t int) int { return t - t%3 }, true},
		"geometric ages, Adam": {option.Lag{Kind: option.Random, Ages: option.Ages{
			Law: option.GeometricAges, Mean: 1}}, true,
			func(r *rand.Rand, t int) int { return t - int(-math.Log2(1-r.Float64())) }, false},
	} {
		p, init := plainRun(8, 0.3, 0.2, 0.9)
		p.Lag, p.GroupsPerStep, p.Importance.Mode = c.lag, 4, option.Ratio
		if p.Optimizer.Momentum = 0.5; c.adam {
			p.Optimizer = option.Optimizer{Kind: option.Adam, LearningRate: 0.02, Beta1: 0.5, Beta2: 0.9}
		}
		if c.falls {
			p.Importance = option.Importance{Mode: option.Clip, ClipLow: 0.9, ClipHigh: 0.9,
				Schedule: option.Schedule{Warmup: 90}}
			p.Reference, p.KL = []float64{0, 0}, option.KL{Coefficient: 0.5, Gradient: option.ExactKL,
				At: option.AtCurrent, Schedule: option.Schedule{Kind: option.LinearDecay, Total: 30}}
			p.ReferenceUpdate = option.ReferenceUpdate{
				Interval: 5, Rate: 0.6, Optimizer: option.ResetState}
		}
		r, sum, squares := rand.New(rand.NewPCG(5, 6)), 0.0, 0.0
		for range runs {
			gap, anchor, velocity, second, probs := 0.0, 0.0, 0.0, 0.0, []float64(nil) // of the better arm
			for t := range steps {
				now, force := 1/(1+math.Exp(-gap)), 0.0
				within := 0.01 * float64(t+1)
				if c.falls {
					force = -0.5 * (1 - float64(t)/30) * now * (1 - now) * (gap - anchor)
				}
				probs = append(probs, now)
				for range 4 {
					old, wins, by := probs[max(c.stale(r, t), 0)], 0.0, [2]float64{} // by success
					for range 8 {
						reward, mean, ratio, push := 0, 0.2, (1-now)/(1-old), -now
						if r.Float64() < old {
							mean, ratio, push = 0.9, now/old, 1-now
						}
						if r.Float64() < mean {
							reward, wins = 1, wins+1./8
						}
						clipped := [2]bool{ratio < 1-within, ratio > 1+within}
						if c.falls && clipped[reward] {
							continue
						}
						by[reward] += ratio * push / 32
					}
					force += (1-wins)*by[1] - wins*by[0]
				}
				velocity, second = 0.5*velocity+force, 0.9*second+0.1*force*force
				moved, n := velocity, float64(t+1)
				if c.adam {
					moved /= 2 * (1 - math.Pow(0.5, n)) * math.Sqrt(second/(1-math.Pow(0.9, n)))
				}
				if gap += 2 * p.Optimizer.LearningRate * moved; c.falls && t%5 == 4 {
					anchor, velocity = 0.4*anchor+0.6*gap, 0
				}
			}
			j := 0.2 + 0.7/(1+math.Exp(-gap))
			sum, squares = sum+j/runs, squares+j*j/runs
		}
		deviation, path := math.Sqrt(squares-sum*sum), Paths(p, init, []int{steps}, Reward)[0]
		if !(math.Abs(path.Mean[0]-sum) <= path.Neglected[0]+5*deviation/math.Sqrt(runs)) ||
			!(c.falls || math.Abs(path.Deviation[0]/deviation-1) <= 0.05) ||
			!(path.Neglected[0] <= 0.04 && math.Abs(path.Mean[0]-sum) <= 0.001) {
			t.Errorf("%s: %+v, runs have %.6f ± %.6f", name, path, sum, deviation)
		}
	}
}

// The first step of Adam takes a group to ±η on the logits of its arms, by the signs of the sums of
// their advantages. What its law of second order leaves out on one arm may not cancel another's.
func TestFirstStepUnderAdam(t *testing.T) {
	const eta, arms, size = 0.03, 5, 4
	r := rand.New(rand.NewPCG(7, 8))
	for range 40 {
		p, init := plainRun(size, eta, make([]float64, arms)...)
		p.Optimizer = option.Optimizer{Kind: option.Adam, LearningRate: eta, Beta1: 0.9, Beta2: 0.999}
		for a := range p.Arms {
			p.Arms[a], init[a] = option.Arm{Law: option.Constant, Mean: r.Float64()}, 1.5*r.NormFloat64()
		}
		want, probs := 0.0, cell.PolicyAt(init)
		for group := range 625 { // its arms are the digits
			moved, chance, mean, sums := slices.Clone(init), 1.0, 0.0, make([]float64, arms)
			for n := group; len(moved) < arms+size; n /= arms {
				moved, chance = append(moved, float64(n%arms)), chance*probs[n%arms]
				mean += p.Arms[n%arms].Mean / size
			}
			for _, a := range moved[arms:] {
				sums[int(a)] += p.Arms[int(a)].Mean - mean
			}
			for a, sum := range sums {
				if math.Abs(sum) > 1e-12 {
					moved[a] += math.Copysign(eta, sum)
				}
			}
			for _, z := range cell.PolicyAt(moved[:arms]) {
				want -= chance * z * math.Log(z)
			}
		}
		path := Paths(p, init, []int{1}, Entropy)[0]
		if !(math.Abs(path.Mean[0]-want) <= path.Neglected[0]) {
			t.Errorf("got %v within %v, want %v", path.Mean, path.Neglected, want)
		}
	}
}

// Forces of several ages are expanded about laws of two policies. About the joint law of all, which
// costs more, they are the same up to a share of the order of the variance of the logits.
func TestAgesAgainstTheirJointLaw(t *testing.T) {
	const steps = 12
	p, init := plainRun(8, 0.3, 0.2, 0.5, 0.9)
	p.Lag, p.GroupsPerStep = option.Lag{Kind: option.Random, Ages: option.Ages{To: 3}}, 2
	p.Importance.Mode = option.Ratio
	check := func(what string, got, want [][]float64, law [][]float64) {
		x, y := slices.Concat(got...), slices.Concat(want...)
		off, most := floats.Distance(x, y, math.Inf(1)), floats.Norm(y, math.Inf(1))
		if !(off > 0 && off <= trace(law)*most) {
			t.Errorf("%s is off by %.2g of %.2g, the variance %.2g", what, off, most, trace(law))
		}
	}
	s := newSpread(p.Checked(), init, steps)
	Follow(p.Checked(), init, steps, func(t int, theta []float64) bool {
		if s.step(t, theta); t < steps-1 {
			return true
		}
		mean, cov, _ := s.policies(s.inputs(t))
		clear(s.locals)
		got, _ := s.force(t, theta, s.at(t, theta))
		force, noise, middle := make([]float64, 3), mat.NewSymDense(3, nil), (*mat.SymDense)(nil)
		want := expand(mean, cov, s.DifferenceStep(), func(x []float64, w float64) []float64 {
			var olds [][]float64
			for i, old := range s.at(t, theta) {
				olds = append(olds, s.moved(old, x[2*i+2:2*i+4]))
			}
			s.meanForce(force, s.moved(theta, x[:2]), olds)
			here := s.covariance(force)
			if addScaled(noise, w, here); w == 1 {
				middle = here
			} else {
				addScaled(noise, -w, middle)
			}
			return linear.Reduce(s.q, force)
		})
		check("slope", got.slope, want.slope, cov)
		check("bend", [][]float64{got.bend}, [][]float64{want.bend}, cov)
		check("noise", [][]float64{got.noise.RawMatrix().Data},
			[][]float64{linear.Within(s.q, noise).RawMatrix().Data}, cov)
		return false
	})
	p.Optimizer = option.Optimizer{Kind: option.Adam, LearningRate: 0.02, Beta1: 0.5, Beta2: 0.9}
	p = p.Checked()
	a := newAdamState(p, init, steps)
	for t := range steps {
		a.step(t)
	}
	mean, cov, _ := a.policies(a.inputs(steps - 1))
	clear(a.locals)
	got, _ := a.derive(a.inputs(steps-1), mean, cov)
	want := expand(mean, cov, a.DifferenceStep(),
		func(x []float64, _ float64) []float64 { return a.moments(x) })
	check("slope under Adam", got.slope, want.slope, cov)
	check("bend under Adam", [][]float64{got.bend}, [][]float64{want.bend}, cov)
}

// Equal arms that start alike are followed by halves. What differs from the law of all arms is a
// share of the order of the variance of a gap of two logits, and the mean field does not.
func TestEqualArmsByHalves(t *testing.T) {
	p, init := plainRun(16, 0.5, slices.Repeat([]float64{0.1}, 31)...)
	for a := range 3 {
		p.Arms[10*a].Mean = 0.9
	}
	p.Lag, p.Importance.Mode = option.Lag{Kind: option.Delay, Interval: 2}, option.Ratio
	p.KL, p.Optimizer.Kind = option.KL{Coefficient: 0.1}, option.Nesterov
	p = p.Checked()
	of := []observable{rewardOf, observables[Entropy], observables[EffectiveSamples]}
	at := []int{5, 20}
	want := followOn(p, init, at, at[1], 0, of, newSpread(p, init, at[1]))
	q, start, folded, by := fold(p, init, of)
	s := newSpread(q, start, at[1])
	s.bases = by
	got := followOn(q, start, at, at[1], 0, folded, s)
	for i := range of {
		for n, x := range want.noisy[i] {
			y, off := got.noisy[i][n], x.variance
			if !(math.Abs(x.shift-y.shift) <= off*math.Abs(x.shift) && off > 0 && off < 0.3 &&
				math.Abs(x.deviation-y.deviation) <= off*x.deviation &&
				math.Abs(want.field[i][n]-got.field[i][n]) <= 1e-12*want.field[i][n]) {
				t.Errorf("%d at %d: %v %+v, of all arms %v %+v",
					i, at[n], got.field[i][n], y, want.field[i][n], x)
			}
		}
	}
}

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
	of := Paths(p, init, []int{step}, ZeroVariance)[0]
	if !of.Scope.In {
		t.Fatal(of.Scope.Because)
	}
	return of.Mean[0], of.Neglected[0]
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

// The groups are drawn by the snapshot: within a block the share stays.
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
}

// near fails unless got agrees with want to the relative error.
func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s: got %.12g, want %.12g to %.1g", what, got, want, relative)
	}
}

// promptParams returns a cell of three prompts with the given policies.
func promptParams(policies option.Parameters, scale option.Scale) cell.Params {
	p := cell.Params{
		Arms: []option.Arm{{Mean: 0.6}, {Mean: 1.0 / 3}},
		Estimator: option.Estimator{GroupSize: 3, GroupsPerStep: 1,
			Advantage: option.Advantage{Scale: scale}, KL: option.KL{Coefficient: 0.5}},
		Optimizer: option.Optimizer{LearningRate: 0.1},
		Lag:       option.Lag{Kind: option.Block, Interval: 1},
		Prompts: cell.Prompts{First: []float64{0.9, 0.8, 0.1}, Second: []float64{0.2, 0.3, 0.5},
			Parameters: policies, Order: option.Independent},
	}
	return p
}

// Strata are quarters of the prompts by J at the start; prompts that start alike stay together.
func TestStrata(t *testing.T) {
	for _, c := range []struct {
		first []float64 // J at the start is half of it
		want  string
	}{
		{[]float64{0.8, 0.2, 0.6, 0.4, 0.1, 0.9, 0.3, 0.7}, "[4 1] [6 3] [2 7] [0 5]"},
		{[]float64{0.3, 0.1, 0.2}, "[1] [2] [0]"},
		{[]float64{0.5, 0.1}, "[1] [0]"},
		{[]float64{0.5, 0.5, 0.5}, ""},
		{[]float64{0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.9}, "[0 1 2 3 4 5 6] [7]"},
	} {
		p := promptParams(option.Tabular, option.NoScale)
		p.Prompts.First, p.Prompts.Second = c.first, make([]float64, len(c.first))
		got := ""
		for i, s := range strata(&p, []float64{0, 0}) {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprint(s.Prompts)
			if low, high := c.first[s.Prompts[0]]/2, c.first[s.Prompts[len(s.Prompts)-1]]/2; s.Low != low ||
				s.High != high || !(s.Best >= 2*low-1e-12 && s.Best <= 2*high+1e-12) {
				t.Errorf("%v: stratum from %v to %v, the best %v", c.first, s.Low, s.High, s.Best)
			}
		}
		if got != c.want {
			t.Errorf("%v: got %s, want %s", c.first, got, c.want)
		}
	}
}

// fourPrompts are prompts of which two are visited in a step.
func fourPrompts(order option.PromptOrder, momentum float64) cell.Params {
	p := promptParams(option.Tabular, option.StdScale)
	p.Prompts = cell.Prompts{
		First: []float64{0.9, 0.8, 1, 0.7}, Second: []float64{0.2, 0.3, 0, 0.1},
		Starts:     []float64{-1, 0, -2, 0.5},
		Parameters: option.Tabular, Order: order,
	}
	p.GroupsPerStep, p.GroupSize = 2, 4
	p.Optimizer = option.Optimizer{LearningRate: 0.3 * (1 - momentum), Momentum: momentum}
	return p
}

// The share of equal groups of an epoch in order is that of the prompts that the step visits, of
// the policies that the mean field, followed step by step, has there; logit gaps move in the way
// that a prompt has gone between its visits.
func TestQuantitiesOfVisitsStepByStep(t *testing.T) {
	for _, mu := range []float64{0, 0.7} {
		p := fourPrompts(option.InOrder, mu)
		p.Factors = cell.Factors{Stiffness: 1, Noise: 1e-12, Lag: 1, Mass: 1}
		const steps = 60
		at, shares, gaps := make([]int, steps), make([]float64, steps), make([]float64, steps)
		theta, velocity := make([][]float64, 4), make([][]float64, 4)
		for x := range theta {
			_, theta[x] = p.Prompt(x, nil)
			velocity[x] = make([]float64, 2)
		}
		for i := range at {
			at[i] = i
			for x := range theta {
				one, _ := p.Prompt(x, nil)
				gaps[i] += (theta[x][0] - theta[x][1]) / 4
				pushed := make([]float64, 2)
				if x/2 == i%2 {
					j := force.ExpectedReward(one, theta[x])
					shares[i] += (math.Pow(j, 4) + math.Pow(1-j, 4)) / 2
					force.Mean(pushed, one, theta[x], theta[x])
				}
				for a, f := range pushed {
					velocity[x][a] = mu*velocity[x][a] + f/2
					theta[x][a] += p.Optimizer.LearningRate * velocity[x][a]
				}
			}
		}
		paths := Paths(p, nil, at, ZeroVariance, LogitGap)
		for i := range at {
			for k, want := range [2]float64{shares[i], gaps[i]} {
				if !(math.Abs(paths[k].Mean[i]-want) <= 1e-9) {
					t.Fatalf("μ = %v, step %d: got %.10f, want %.10f (%s)", mu, i, paths[k].Mean[i], want,
						paths[k].Scope.Because)
				}
			}
		}
	}
}

// In the middle of a shuffled epoch half of the prompts have been visited and the others are drawn:
// over the six halves of four prompts J of the mean field has the predicted standard deviation, and
// so has the share of equal groups with the binomial noise of its two groups.
func TestDeviationOfShuffledEpochs(t *testing.T) {
	p := fourPrompts(option.Shuffled, 0)
	p.Factors = cell.Factors{Stiffness: 1, Noise: 1e-12, Lag: 1, Mass: 1}
	paths := Paths(p, nil, []int{0, 1}, Reward, ZeroVariance)
	var before, after, share [4]float64
	for x := range 4 {
		one, theta := p.Prompt(x, nil)
		before[x] = force.ExpectedReward(one, theta)
		share[x] = math.Pow(before[x], 4) + math.Pow(1-before[x], 4)
		pushed := make([]float64, 2)
		force.Mean(pushed, one, theta, theta)
		for a := range theta {
			theta[a] += p.Optimizer.LearningRate / 2 * pushed[a]
		}
		after[x] = force.ExpectedReward(one, theta)
	}
	var sum, square, equal, squared, noise float64
	for x := range 4 {
		for y := range x {
			j := 0.0
			for k := range 4 {
				if j += before[k] / 4; k == x || k == y {
					j += (after[k] - before[k]) / 4
				}
			}
			z := (share[x] + share[y]) / 2
			sum, square, equal, squared = sum+j/6, square+j*j/6, equal+z/6, squared+z*z/6
			noise += (share[x]*(1-share[x]) + share[y]*(1-share[y])) / 4 / 6
		}
	}
	near(t, "J", paths[0].Mean[1], sum, 1e-9)
	near(t, "deviation of J", paths[0].Deviation[1], math.Sqrt(square-sum*sum), 1e-6)
	near(t, "share", paths[1].Mean[0], equal, 1e-9)
	near(t, "deviation of the share", paths[1].Deviation[0], math.Sqrt(squared-equal*equal+noise),
		1e-6)
}

// Clipped samples and pass@k of prompts that share a policy are those of all groups of all prompts,
// counted sample by sample.
func TestQuantitiesOfSharedPrompts(t *testing.T) {
	p := promptParams(option.Shared, option.StdScale)
	p.Importance = option.Importance{Mode: option.Clip, ClipLow: 0.2, ClipHigh: 0.2}
	p = p.Checked()
	m, now, old := force.New(&p), []float64{0.4, -0.4}, []float64{0, 0}
	var share, pass float64
	for x := range p.Prompts.First {
		means := []float64{p.Prompts.First[x], p.Prompts.Second[x]}
		policy := make([]float64, 2)
		cell.Softmax(policy, now)
		pass += (1 - math.Pow(1-policy[0]*means[0]-policy[1]*means[1], 5)) / 3
		for group := range 64 { // three samples of two arms and two rewards
			chance, total, clipped := 1.0, 0, 0
			for i := range 3 {
				total += group >> (2*i + 1) & 1
			}
			for i := range 3 {
				arm, reward := group>>(2*i)&1, group>>(2*i+1)&1
				chance *= 0.5 * (float64(reward)*means[arm] + float64(1-reward)*(1-means[arm]))
				if ratio := 2 * policy[arm]; reward == 1 && ratio > 1.2 || reward == 0 && ratio < 0.8 {
					clipped++
				}
			}
			if total > 0 && total < 3 {
				share += chance * float64(clipped) / 3 / 3
			}
		}
	}
	clip := observables[ClipFraction]
	near(t, "clipped", clip.of(m, now, old), share, 1e-12)
	o, because := observableOf(&p, "pass_at_5")
	if because.Out() {
		t.Fatal(because)
	}
	near(t, "pass@5", o.of(m, now, old), pass, 1e-12)
}

// betaNodes returns the nodes and the weights of Gauss and Jacobi for the mean over p ~ Beta(a, b),
// from the recurrence of the polynomials (Golub and Welsch).
func betaNodes(a, b float64, count int) (nodes, weights []float64) {
	alpha, beta := b-1, a-1
	jacobi := mat.NewSymDense(count, nil)
	for k := range count {
		s, n := alpha+beta, float64(k)
		diagonal, off := (beta*beta-alpha*alpha)/((2*n+s)*(2*n+s+2)),
			4*n*(n+alpha)*(n+beta)*(n+s)/((2*n+s)*(2*n+s)*(2*n+s+1)*(2*n+s-1))
		if k == 0 {
			diagonal = (beta - alpha) / (s + 2)
		}
		if k == 1 {
			off = 4 * (1 + alpha) * (1 + beta) / ((2 + s) * (2 + s) * (3 + s))
		}
		jacobi.SetSym(k, k, (1+diagonal)/2)
		if k > 0 {
			jacobi.SetSym(k, k-1, math.Sqrt(off)/2)
		}
	}
	var e mat.EigenSym
	if !e.Factorize(jacobi, true) {
		panic("no eigenvalues")
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	for k := range count {
		weights = append(weights, vectors.At(0, k)*vectors.At(0, k))
	}
	return e.Values(nil), weights
}

// Prompts of 0/1 arms with a policy each that start at p ~ Beta(a, b), G = 8, β = 0, η = 0.1
// without scale and 0.05 with the std scale, after n visits: the mean field is that of the map z′ =
// z + ηE[2g_1], and mean reward and share of equal groups are within what is neglected and 5
// standard errors of 40,000 prompts, each run once, of another program (docs/theory-trainers.md
// §11.7).
func TestPromptsOfBeta(t *testing.T) {
	for _, c := range []struct {
		a, b                       float64
		scale                      option.Scale
		rate                       float64
		n                          int
		mapped, mean, error        float64 // J
		mappedShare, share, errors float64 // of equal groups
	}{
		{1, 1, option.NoScale, 0.1, 100, .85694267, .85674, 8e-5, .53027236, .53061, 15e-5},
		{.5, .5, option.NoScale, 0.1, 100, .77396226, .77382, 9e-5, .59534648, .59584, 14e-5},
		{50, 50, option.NoScale, 0.1, 100, .92640638, .92629, 3e-5, .54277248, .54290, 14e-5},
		{1, 9, option.NoScale, 0.1, 100, .45944870, .45925, 18e-5, .38259488, .38397, 20e-5},
		{1, 9, option.NoScale, 0.1, 400, .84425978, .84318, 24e-5, .79013530, .78994, 29e-5},
		{1, 1, option.StdScale, 0.05, 100, .88433865, .88405, 9e-5, .59563887, .59580, 16e-5},
		{1, 9, option.StdScale, 0.05, 100, .53381427, .53345, 20e-5, .38994795, .39173, 24e-5},
		{1, 9, option.StdScale, 0.05, 400, .89214927, .89079, 25e-5, .84887645, .84802, 31e-5},
	} {
		p := cell.Params{
			Arms: []option.Arm{{Mean: 1}, {Mean: 0}},
			Estimator: option.Estimator{GroupSize: 8, GroupsPerStep: 1,
				Advantage: option.Advantage{Scale: c.scale}},
			Lag:       option.Lag{Kind: option.Block, Interval: 1},
			Optimizer: option.Optimizer{LearningRate: c.rate},
		}
		nodes, weights := betaNodes(c.a, c.b, 80)
		var field, mean, neglected [2]float64
		for k, x := range nodes {
			z := math.Log(x / (1 - x))
			p.Reference = []float64{z / 2, -z / 2}
			for i, path := range Paths(p, p.Reference, []int{c.n}, Reward, ZeroVariance) {
				field[i] += weights[k] * path.Field[0]
				mean[i] += weights[k] * path.Mean[0]
				neglected[i] += weights[k] * path.Neglected[0]
			}
		}
		for i, x := range [2][3]float64{{c.mapped, c.mean, c.error}, {c.mappedShare, c.share, c.errors}} {
			t.Logf("Beta(%v, %v), %v, %d visits: %.8f on the mean field, %.8f over runs ± %.1g, "+
				"simulated %v ± %.1g", c.a, c.b, c.scale, c.n, field[i], mean[i], neglected[i], x[1], x[2])
			if math.Abs(field[i]-x[0]) > 6e-9 {
				t.Errorf("got %.8f on the mean field, want %.8f", field[i], x[0])
			}
			if !(math.Abs(mean[i]-x[1]) <= neglected[i]+5*x[2]) {
				t.Errorf("got %.6f ± %.2g, simulated %v ± %v", mean[i], neglected[i], x[1], x[2])
			}
		}
	}
}

// The std scale speeds hard prompts. Of 0/1 arms at β = 0 the time to 95 % of the way is ∫dz/F(z)
// in units of 1/η_eff, at G = ∞ without scale that of z + sinh z, as 1/p_0 where p_0 is small, and
// with the std scale that of 2 sinh(z/2), as 1/√p_0. At finite G a group of a hard prompt has one
// success at most, and the std scale multiplies its force by G/√(G−1) alone: 3.024 for G = 8,
// beside 2.121 at p = ½ (docs/theory-trainers.md §11.7).
func TestDifficultyBiasOfTheScale(t *testing.T) {
	starts := []float64{0.01, 0.05, 0.2, 0.5}
	for _, c := range []struct {
		scale  option.Scale
		size   int
		force  func(p float64) float64 // F
		closed func(z float64) float64 // ∫dz/F; nil: no closed form
		want   string                  // the times
	}{
		{option.NoScale, option.Infinite, func(p float64) float64 { return 2 * p * (1 - p) },
			func(z float64) float64 { return z + math.Sinh(z) }, "66.6 25.4 18.4 23.2"},
		{option.StdScale, option.Infinite, func(p float64) float64 { return 2 * math.Sqrt(p*(1-p)) },
			func(z float64) float64 { return 2 * math.Sinh(z/2) }, "14.0 8.4 6.2 6.1"},
		{option.NoScale, 8, func(p float64) float64 { return 2 * p * (1 - p) * 7 / 8 }, nil,
			"76.1 29.0 21.0 26.5"},
		{option.StdScale, 8, func(p float64) float64 { return 2 * deviationOfGroup(p, 8) }, nil,
			"27.4 11.4 8.3 9.8"},
	} {
		const rate, period = 0.01, 2 // η_eff, M
		p := cell.Params{
			Arms: []option.Arm{{Mean: 1}, {Mean: 0}},
			Estimator: option.Estimator{GroupSize: c.size, GroupsPerStep: 2,
				Advantage: option.Advantage{Scale: c.scale}},
			Lag:       option.Lag{Kind: option.Block, Interval: 1},
			Optimizer: option.Optimizer{LearningRate: 2 * rate},
			Prompts: cell.Prompts{First: []float64{1, 1, 1, 1}, Second: make([]float64, 4),
				Parameters: option.Tabular, Order: option.Shuffled},
			Factors: cell.Factors{Stiffness: 1, Noise: 1e-12, Lag: 1, Mass: 1},
		}
		for _, x := range starts {
			p.Prompts.Starts = append(p.Prompts.Starts, math.Log(x/(1-x)))
		}
		at := make([]int, 9000)
		for i := range at {
			at[i] = period * i
		}
		strata := Paths(p, nil, at, Reward)[0].Strata
		if len(strata) != 4 {
			t.Fatalf("%d strata of four prompts", len(strata))
		}
		times := ""
		for k, x := range starts {
			level, curve, n := x+0.95*(1-x), strata[k].Mean, 0
			for curve[n] < level {
				n++
			}
			got := rate * (float64(n) - (curve[n]-level)/(curve[n]-curve[n-1]))
			end := math.Log(level / (1 - level))
			const intervals = 4000
			want, h := 0.0, (end-p.Prompts.Starts[k])/intervals
			for i := range intervals {
				want += h / c.force(1/(1+math.Exp(-p.Prompts.Starts[k]-(float64(i)+0.5)*h)))
			}
			near(t, fmt.Sprintf("%v, G = %d, p_0 = %v: time", c.scale, c.size, x), got, want, 3e-3)
			if c.closed != nil {
				near(t, "closed form", want, c.closed(end)-c.closed(p.Prompts.Starts[k]), 1e-5)
			}
			times += fmt.Sprintf(" %.1f", want)
		}
		if times != " "+c.want {
			t.Errorf("%v, G = %d: times%s, want %s", c.scale, c.size, times, c.want)
		}
	}
	hard, half := deviationOfGroup(1e-9, 8)/(1e-9*7./8), deviationOfGroup(0.5, 8)/(0.25*7./8)
	near(t, "std against none, hard", hard, 8/math.Sqrt(7), 1e-6)
	near(t, "std against none, p = ½", half, 2.121, 2e-4)
}

// deviationOfGroup returns E √(S(G−S))/G, the mean standard deviation of the rewards of a group
// with S ~ Binomial(G, p) successes.
func deviationOfGroup(p float64, size int) (mean float64) {
	ways := 1.0
	for s := range size + 1 {
		mean += ways * math.Pow(p, float64(s)) * math.Pow(1-p, float64(size-s)) *
			math.Sqrt(float64(s*(size-s))) / float64(size)
		ways *= float64(size-s) / float64(s+1)
	}
	return mean
}

// adamRow is a time, E J of the mean field and to second order, and Var J.
type adamRow struct {
	at                      int
	first, second, variance float64
}

// adamCells are paths that another program computed, with derivatives at the mean in the place of
// sums over points that are spread as the law is, which changes E J by up to 5e-5 and Var J by up
// to 4 %.
var adamCells = []struct {
	name  string
	means []float64
	start []float64
	p     cell.Params
	rows  []adamRow
}{
	{"P1", []float64{0.9, 0.2}, nil, adamCell(option.NoScale, 8, 1, 0, 0.003, 0.999, 1),
		[]adamRow{{50, .597860, .597987, 2.0158e-6}, {200, .717423, .717502, 1.01255e-5},
			{800, .860267, .860249, 2.86753e-6}}},
	{"P2", []float64{0.9, 0.2}, nil, adamCell(option.NoScale, 4, 1, .1, 0.01, 0.95, 1),
		[]adamRow{{20, .605947, .605799, 2.85799e-5}, {100, .762317, .761459, 5.96245e-5},
			{200, .832597, .831070, 4.50326e-5}, {400, .869791, .867245, 2.71920e-5}}},
	{"P3", []float64{0.6, 0.4}, nil, adamCell(option.NoScale, 4, 1, 0, 0.03, 0.95, 1),
		[]adamRow{{10, .509870, .509158, 9.86608e-5}, {40, .537097, .535072, 2.38369e-4},
			{100, .570757, .568129, 1.40963e-4}, {170, .586118, .584336, 5.04258e-5}}},
	{"P4", []float64{0.55, 0.45}, []float64{-.5, .5},
		adamCell(option.StdScale, 16, 8, 0.02, 0.005, 0.98, 4),
		[]adamRow{{200, .512027, .512001, 1.84945e-6}, {600, .542650, .542586, 3.93515e-7}}},
	{"P5", []float64{0.85, 0.4}, []float64{-2.15, 2.15},
		adamCell(option.NoScale, 4, 8, 0, 0.006, 0.98, 1),
		[]adamRow{{300, .458508, .458608, 9.24451e-5}, {600, .771814, .770450, 8.95948e-5}}},
	{"M1", []float64{.9, .6, .3, .1}, []float64{0, .5, -.5, 1},
		adamCell(option.NoScale, 8, 1, .05, .005, .98, 1),
		[]adamRow{{100, .497073, .497226, 9.14711e-6}, {400, .733098, .732602, 3.24300e-5}}},
	{"M2", []float64{.9, .6, .3, .1}, []float64{0, .5, -.5, 1},
		adamCell(option.StdScale, 16, 1, 0, .01, .95, 4),
		[]adamRow{{200, .770768, .770660, 3.23222e-5}, {400, .880852, .880368, 2.18638e-6}}},
}

func adamCell(scale option.Scale, size, groups int, beta, rate, beta2 float64,
	interval int) cell.Params {
	return cell.Params{
		Estimator: option.Estimator{
			GroupSize: size, GroupsPerStep: groups, Advantage: option.Advantage{Scale: scale},
			KL: option.KL{Coefficient: beta},
		},
		Lag:       option.Lag{Interval: interval},
		Optimizer: option.Optimizer{Kind: option.Adam, LearningRate: rate, Beta1: 0.9, Beta2: beta2, Epsilon: 1e-8},
	}
}

func TestAdamPathKnown(t *testing.T) {
	for _, c := range adamCells {
		p := c.p
		for _, m := range c.means {
			p.Arms = append(p.Arms, option.Arm{Law: option.Bernoulli, Mean: m})
		}
		start := c.start
		if start == nil {
			start = make([]float64, len(c.means))
		}
		p = p.Checked()
		var at []int
		for _, r := range c.rows {
			at = append(at, r.at)
		}
		first := followOn(p, start, at, at[len(at)-1], 0, []observable{rewardOf}, nil)
		second := adamPath(p, start, at, at[len(at)-1], []observable{rewardOf})[0]
		for i, r := range c.rows {
			variance := second[i].deviation * second[i].deviation
			where := fmt.Sprintf("%s at t = %d", c.name, r.at)
			adamNear(t, where+", J on the mean field", first.field[0][i], r.first, 1e-6)
			adamNear(t, where+", E J", second[i].shift, r.second, 6e-5)
			adamNear(t, where+", Var J", variance, r.variance, 0.05*r.variance)
		}
	}
}

func adamNear(t *testing.T, name string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: got %.9g, want %.9g ± %.2g", name, got, want, tol)
	}
}

// With sure rewards 1 and 0 a group with k right samples moves the gap by 2η(k/G)(1−k/G)(ρ_0π_1 +
// ρ_1π_0) in each of the steps that use it, far from the policy that drew it.
func TestReusedGroupOfTwoArms(t *testing.T) {
	const steps, size, rate = 3, 200, 1.7
	p, init := plainRun(size, rate, 1, 0)
	p.Lag, p.Samples, p.Importance.Mode = option.Lag{Interval: steps}, option.Reused, option.Ratio
	want := 0.0
	for k := range size + 1 {
		share, gap, right := float64(k)/size, 0.0, 0.5
		for range steps {
			gap += 2 * rate * share * (1 - share) * 4 * right * (1 - right)
			right = 1 / (1 + math.Exp(-gap))
		}
		want += right * distuv.Binomial{N: size, P: 0.5}.Prob(float64(k))
	}
	path := Paths(p, init, []int{steps}, Reward)[0]
	if off := math.Abs(path.Mean[0] - want); !(off < math.Abs(path.Field[0]-want)/20) {
		t.Errorf("J %v (mean field %v), want %v", path.Mean[0], path.Field[0], want)
	}
}

// In the first step Adam moves both logits by η, along the force of a group of two. If it has none
// they move along the penalty. Nothing in the mean says how many runs have none.
func TestRunsWithoutAForce(t *testing.T) {
	const eta, m0, m1 = 0.01, 0.56, 0.45
	p, _ := plainRun(2, eta, m0, m1)
	p.KL.Coefficient, p.Reference = 0.04, []float64{0, 0}
	p.Optimizer = option.Optimizer{Kind: option.Adam, LearningRate: eta, Beta1: 0.9, Beta2: 0.999,
		Epsilon: 1e-8}
	init := []float64{-0.2, -0.75}
	q := cell.PolicyAt(init)
	up := 2 * q[0] * q[1] * m0 * (1 - m1) // all else moves the first logit down
	after := func(step float64) float64 {
		q := cell.PolicyAt([]float64{init[0] + step, init[1] - step})
		return q[0]*m0 + q[1]*m1
	}
	want := up*after(eta) + (1-up)*after(-eta)
	path := Paths(p, init, []int{1}, Reward)[0]
	if off := math.Abs(path.Mean[0] - want); !(off <= path.Neglected[0]) {
		t.Errorf("J %v leaves out %v, want %v", path.Mean[0], path.Neglected[0], want)
	}
}

// While all groups have one arm, k1 in the loss alone moves runs away from it by η a step. What
// makes up for that in the mean are rare samples, which most runs have not seen yet.
func TestK1MovesRunsWithoutRareSamples(t *testing.T) {
	const eta, steps, gap = 0.02, 40, 6.0
	p, _ := plainRun(2, eta, 0.9, 0.2)
	p.KL, p.Reference = option.KL{Coefficient: 0.01, Gradient: option.K1}, []float64{0, 0}
	p.Optimizer = adamCell(option.NoScale, 2, 1, 0, eta, 0.999, 1).Optimizer
	path := Paths(p, []float64{gap / 2, -gap / 2}, []int{steps}, Reward)[0]
	right, chance := 0.0, 1.0
	for n := range steps + 1 {
		if right = 1 / (1 + math.Exp(2*eta*float64(n)-gap)); n < steps {
			chance *= right * right
		}
	}
	if off := chance * (path.Mean[0] - 0.2 - 0.7*right); !(off > 0 && off <= path.Neglected[0]) {
		t.Errorf("J %v leaves out %v, want %v", path.Mean[0], path.Neglected[0], off)
	}
}

// Along a reused batch of two arms g/|g| is a sign: runs hardly differ, while the first order in
// noise gives them a deviation. Later batches average.
func TestDeviationOfSignsIsNotKnown(t *testing.T) {
	p, init := plainRun(64, 0.01, 0.9, 0.2)
	p.Lag, p.Samples = option.Lag{Interval: 8}, option.Reused
	p.Optimizer = option.Optimizer{Kind: option.Adam, LearningRate: 0.01, Beta1: 0.9, Beta2: 0.95,
		Epsilon: 1e-8}
	path := Paths(p, init, []int{8, 240}, Reward)[0]
	if !math.IsNaN(path.Deviation[0]) || !(path.Deviation[1] > 0) {
		t.Errorf("deviations %v, want none after 8 steps, one after 240", path.Deviation)
	}
}

// Once runs come near a bound of the clip, what spreads them has no order.
func TestDeviationNearABoundIsNotKnown(t *testing.T) {
	p, init := plainRun(64, 0.1, 0.9, 0.2)
	p.Lag = option.Lag{Interval: 16}
	p.Importance = option.Importance{Mode: option.Clip, ClipLow: 0.2, ClipHigh: 0.2}
	path := Paths(p, init, []int{4, 48}, Reward)[0]
	if !(path.Deviation[0] > 0) || !math.IsNaN(path.Deviation[1]) {
		t.Errorf("deviations %v, want one after 4 steps, none after 48", path.Deviation)
	}
}
