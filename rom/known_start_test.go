package rom_test

import (
	"math"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/path"
	"grposim/rom/rest"
	"grposim/rom/scope"
)

// The kurtosis of the force of one group of two arms along ∇J, counted over all groups, is
// within a bound that is at most six times too large.
func TestKurtosisOfTheForceByEnumeration(t *testing.T) {
	for name, change := range map[string]func(*rom.Params){
		"std":                 func(*rom.Params) {},
		"rare arm":            func(p *rom.Params) { p.Reference = gapAt(7) },
		"rare reward":         func(p *rom.Params) { p.Arms = []option.Arm{{Mean: 0.001}, {Mean: 0.003}} },
		"second best":         func(p *rom.Params) { p.Advantage.Baseline = option.SecondBest },
		"second best, seldom": func(p *rom.Params) { p.Advantage.Baseline, p.GroupSize = option.SecondBest, 14 },
		"redrawn":             func(p *rom.Params) { p.Filter = option.Redraw },
		"scaled by the mean":  func(p *rom.Params) { p.Advantage.Scale = option.MeanScale },
		"std of the others":   func(p *rom.Params) { p.Advantage.Baseline, p.Advantage.Scale = option.LeaveOneOut, option.OthersStd },
	} {
		p := bandit(option.StdScale, 0.8, 6)
		change(&p)
		star, ok := rest.Reached(p)
		if !ok {
			t.Fatalf("%s: no fixed point", name)
		}
		want := kurtosisByEnumeration(p, sigmoid(gapOf(star.Logits)))
		got := rest.NewEquilibrium(p).Settled(p.Optimizer, p.Lag, 0, 100).Kurtosis
		if !(got >= want && got < 6*want) {
			t.Errorf("%s: kurtosis of at most %.4g, want one to six times %.4g", name, got, want)
		}
	}
}

// kurtosisByEnumeration returns E(g−Eg)⁴/Var² of the force of a group on the gap of two arms,
// of which the first has the probability pi. The KL penalty is exact, without noise.
func kurtosisByEnumeration(p rom.Params, pi float64) float64 {
	size := p.GroupSize
	factorial := func(n int) float64 { return math.Gamma(float64(n) + 1) }
	outcome := [4]float64{pi * p.Arms[0].Mean, pi * (1 - p.Arms[0].Mean), (1 - pi) * p.Arms[1].Mean, (1 - pi) * (1 - p.Arms[1].Mean)}
	var total float64
	var moments [5]float64
	var add func(counts [4]int, next, left int)
	add = func(counts [4]int, next, left int) {
		if next < 3 {
			for n := range left + 1 {
				counts[next] = n
				add(counts, next+1, left-n)
			}
			return
		}
		counts[3] = left
		probability := factorial(size)
		for i, n := range counts {
			probability *= math.Pow(outcome[i], float64(n)) / factorial(n)
		}
		s := counts[0] + counts[2]
		if s == 0 || s == size {
			if p.Filter == option.Redraw {
				return
			}
			total += probability
			moments[0] += probability
			return
		}
		up, down := slowAdvantages(p, s)
		g := (up*float64(counts[0])+down*float64(counts[1]))*(1-pi) - (up*float64(counts[2])+down*float64(counts[3]))*pi
		total += probability
		for k, x := 0, probability; k < len(moments); k, x = k+1, x*g {
			moments[k] += x
		}
	}
	add([4]int{}, 0, size)
	for k := range moments {
		moments[k] /= total
	}
	m := moments[1]
	variance := moments[2] - m*m
	return (moments[4] - 4*m*moments[3] + 6*m*m*moments[2] - 3*m*m*m*m) / (variance * variance)
}

// slowAdvantages returns the advantages of a success and of a failure in a group with s
// successes, 0 < s < G, from its rewards.
func slowAdvantages(p rom.Params, s int) (up, down float64) {
	rewards := make([]float64, p.GroupSize)
	for i := range s {
		rewards[i] = 1
	}
	moments := func(r []float64) (mean, squares float64) {
		for _, x := range r {
			mean += x / float64(len(r))
		}
		for _, x := range r {
			squares += (x - mean) * (x - mean)
		}
		return mean, squares
	}
	n := float64(p.GroupSize)
	mean, squares := moments(rewards)
	std := math.Sqrt(squares / n)
	switch {
	case p.Advantage.Baseline == option.SecondBest:
		if s == 1 {
			up = 1 / std
		}
		return up, 0
	case p.Advantage.Scale == option.MeanScale:
		return (1 - mean) / mean, -1
	case p.Advantage.Scale == option.OthersStd:
		of := func(others []float64, reward float64) float64 {
			mean, squares := moments(others)
			if squares == 0 {
				return reward - mean
			}
			return (reward - mean) / math.Sqrt(squares/(n-2))
		}
		return of(rewards[1:], 1), of(rewards[:p.GroupSize-1], 0)
	}
	return (1 - mean) / std, -mean / std
}

// Adam's correction of the bias of its first moment lets the first steps go as far as the force.
// The average of Var J over some steps of a run that starts at the fixed point is that of the
// responses to the noise of each step, stepped one by one.
func TestStartOfAdamByStepping(t *testing.T) {
	for _, beta1 := range []float64{0, 0.9, 0.97} {
		for _, rate := range []float64{0.00003, 0.0003, 0.0008} {
			p := bandit(option.StdScale, 1.2, 16)
			p.Optimizer = option.Optimizer{Kind: option.Adam, LearningRate: rate, Beta1: beta1, Beta2: 0.999999}
			z := math.Exp(-*rom.Predict(p).LeadingOrder.RelaxationRate) // the dominant multiplier, real
			kappa := (1 + beta1 - z - beta1/z) / (1 - beta1)
			// respond calls observe with x after each step of the response to a unit force.
			respond := func(pushed, steps int, correction func(t int) float64, observe func(t int, x float64)) {
				x, momentum := 0.0, 0.0
				for now := range steps {
					force := -kappa * x
					if now == pushed {
						force++
					}
					momentum = beta1*momentum + (1-beta1)*force
					x += momentum / correction(now)
					observe(now, x)
				}
			}
			stationary := 0.0
			respond(0, int(-20/math.Log(z)), func(int) float64 { return 1 }, func(_ int, x float64) { stationary += x * x })
			const steps = 700
			variance := make([]float64, steps+1) // before step t
			for pushed := range steps {
				respond(pushed, steps, func(t int) float64 { return 1 - math.Pow(beta1, float64(t+1)) }, func(t int, x float64) { variance[t+1] += x * x / stationary })
			}
			for _, from := range []int{240, 300, 500} {
				want := 0.0
				for _, x := range variance[from:steps] {
					want += x / float64(steps-from)
				}
				at := rest.NewEquilibrium(p).Settled(p.Optimizer, p.Lag, from, steps)
				name := describe(p)
				closeTo(t, name, at.Reward, want, 0.001)
				closeTo(t, name+" largest", at.Largest, want, 0.001)
			}
			if early := rest.NewEquilibrium(p).Settled(p.Optimizer, p.Lag, 60, steps).Unknown; (early > 4) != (beta1 > 0) {
				t.Errorf("%s: unknown %g from step 60", describe(p), early)
			}
		}
	}
}

// A fixed point whose basin of attraction ends between 2 and 3 logits (by the mean field from
// points farther and farther away) is out of scope where the noise reaches that far, with one group
// a step, and not with ten.
func TestNoiseThatReachesAnotherAttractor(t *testing.T) {
	p := bandit(option.StdScale, 1.6, 3)
	p.Arms = []option.Arm{{Law: option.Constant, Mean: 1}, {Law: option.Constant, Mean: 0}}
	p.Advantage.Epsilon, p.KL.At, p.Lag = 0.26, option.AtCurrent, block(9)
	p.Optimizer = option.Optimizer{Kind: option.Nesterov, LearningRate: 0.03, Momentum: 0.9985}
	star, ok := rest.Reached(p)
	if !ok {
		t.Fatal("no fixed point")
	}
	for displacement, comesBack := range map[float64]bool{1: true, 3: true, -2: true, -3: false} {
		end := 0.0
		path.MeanField(p, gapAt(gapOf(star.Logits)+displacement), 3000, func(_ int, theta []float64) { end = gapOf(theta) - gapOf(star.Logits) })
		if (math.Abs(end) < 0.5) != comesBack {
			t.Errorf("from %g logits the mean field ends at %g", displacement, end)
		}
	}
	for groups, large := range map[int]bool{1: true, 10: false} {
		p.GroupsPerStep = groups
		if noise := rom.Predict(p).Noise; noise.Because.Is(scope.NoiseTooLarge) != large {
			t.Errorf("%d groups a step: %q", groups, noise.Because)
		}
	}
}
