package rom

import (
	"math"
	"math/cmplx"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/linear"
	"grposim/rom/rest"

	"gonum.org/v1/gonum/mat"
)

// promptParams returns a cell of three prompts with the given policies.
func promptParams(policies option.Parameters, scale option.Scale) Params {
	return Params{
		Arms: []option.Arm{{Mean: 0.6}, {Mean: 1.0 / 3}},
		Estimator: option.Estimator{GroupSize: 3, GroupsPerStep: 1,
			Advantage: option.Advantage{Scale: scale}, KL: option.KL{Coefficient: 0.5}},
		Optimizer: option.Optimizer{LearningRate: 0.1},
		Lag:       block(1),
		Prompts: cell.Prompts{First: []float64{0.9, 0.8, 0.1}, Second: []float64{0.2, 0.3, 0.5},
			Parameters: policies, Order: option.Independent},
	}
}

// The mean force and its covariance of prompts that share one policy, cut or not, are those of all
// groups of all prompts, counted one by one: a group of three samples has 4³ outcomes.
func TestSharedPromptsByEnumeration(t *testing.T) {
	for _, gradient := range []option.KLGradient{option.K2, option.ExactKL} {
		for _, scale := range []option.Scale{option.NoScale, option.StdScale} {
			for _, weighting := range []option.ImportanceMode{option.NoImportance, option.Ratio} {
				for norm, cut := range map[float64]float64{0: math.Inf(1), 0.2: 0.2 / math.Sqrt2} {
					p := promptParams(option.Shared, scale)
					p.Importance.Mode, p.KL.Gradient, p.Optimizer.MaxNorm = weighting, gradient, norm
					theta, old := []float64{0.3, -0.3}, []float64{0.1, -0.2}
					pi, behaviour := cell.PolicyAt(theta), cell.PolicyAt(old)
					whole, mean, square := 0.0, 0.0, 0.0
					for x := range 3 {
						success := [2]float64{p.Prompts.First[x], p.Prompts.Second[x]}
						for outcome := range 64 {
							probability, sum, g := 1.0/3, 0.0, 0.0
							var arm [3]int
							var reward [3]float64
							for i := range 3 {
								o := outcome >> (2 * i) & 3
								arm[i], reward[i] = o&1, float64(o>>1)
								probability *= behaviour[arm[i]] * (success[arm[i]]*reward[i] + (1-success[arm[i]])*(1-reward[i]))
								sum += reward[i]
							}
							r := sum / 3
							for i, a := range arm {
								weight, score := 1.0, [2]float64{1 - pi[0], -pi[0]}[a]
								if weighting == option.Ratio {
									weight = pi[a] / behaviour[a]
								}
								if r > 0 && r < 1 {
									advantage := reward[i] - r
									if scale == option.StdScale {
										advantage /= math.Sqrt(r * (1 - r))
									}
									g += weight * advantage * score / 3
								}
								if gradient == option.K2 {
									g -= p.KL.Coefficient * math.Log(2*pi[a]) * score / 3
								}
							}
							if gradient == option.ExactKL {
								g -= p.KL.Coefficient * pi[0] * pi[1] * math.Log(pi[0]/pi[1])
							}
							g = min(max(g, -cut), cut)
							whole += probability
							mean += probability * g
							square += probability * g * g
						}
					}
					mean, square = mean/whole, square/whole
					pushed := make([]float64, 2)
					if kind := force.Mean(pushed, p, theta, old); kind != Exact ||
						math.Abs(pushed[0]-mean) > 1e-14 {
						t.Errorf("%v, scale %v, weighting %v: mean force %v (%s), want %v", gradient, scale,
							weighting, pushed[0], kind, mean)
					}
					noise, _ := force.Covariance(p, theta, old)
					if want := square - mean*mean; math.Abs(noise.At(0, 0)-want) > 1e-14 {
						t.Errorf("%v, scale %v, weighting %v: variance %v, want %v", gradient, scale, weighting,
							noise.At(0, 0), want)
					}
				}
			}
		}
	}
}

// Prompts that are equal and share one policy are one prompt: fixed point, stiffness,
// thresholds and the moments of second order are those of the plain bandit.
func TestEqualSharedPromptsAreOne(t *testing.T) {
	for _, scale := range []option.Scale{option.NoScale, option.StdScale} {
		p := Params{
			Arms: []option.Arm{{Mean: 0.9}, {Mean: 0.2}},
			Estimator: option.Estimator{GroupSize: 16, GroupsPerStep: 4,
				Advantage: option.Advantage{Scale: scale}, KL: option.KL{Coefficient: 1.2}},
			Optimizer: option.Optimizer{LearningRate: 0.1, Momentum: 0.5},
			Lag:       block(4),
		}
		kurtosis := func() float64 {
			return rest.NewEquilibrium(p).Settled(p.Optimizer, p.Lag, 100, 200).Kurtosis
		}
		one, oneKurtosis := Predict(p), kurtosis()
		p.Prompts = cell.Prompts{First: []float64{0.9, 0.9}, Second: []float64{0.2, 0.2},
			Parameters: option.Shared, Order: option.Independent}
		two := Predict(p)
		for name, x := range map[string][3]float64{ // the two, and the relative error of differences
			"J*":                {one.FixedPoint.Reward, two.FixedPoint.Reward, 1e-12},
			"stiffness":         {one.Stiffness.Stale, two.Stiffness.Stale, 1e-9},
			"gradient variance": {one.GradientVariance, two.GradientVariance, 1e-12},
			"critical rate":     {*one.Exact.CriticalLearningRate, *two.Exact.CriticalLearningRate, 1e-9},
			"linear variance": {*one.Exact.StationaryVariance.ExpectedReward,
				*two.Exact.StationaryVariance.ExpectedReward, 1e-9},
			"kurtosis":            {oneKurtosis, kurtosis(), 1e-12},
			"shift":               {*one.Moments.RewardShift, *two.Moments.RewardShift, 1e-6},
			"zero-variance share": {*one.Moments.ZeroVariance, *two.Moments.ZeroVariance, 1e-3},
			// the third cumulant is not known of prompts
			"variance, next order": {*one.Moments.RewardVariance, *two.Moments.RewardVariance, 1e-3},
		} {
			if math.Abs(x[1]-x[0]) > x[2]*math.Abs(x[0]) {
				t.Errorf("scale %v, filter %v, %s: %v of two equal prompts, %v of one", scale, p.Filter, name, x[1], x[0])
			}
		}
	}
}

// tabularField is the mean field of prompts with a policy each, step by step: J̄ at each step
// under a heavy ball that steps all prompts, with a force on the B that are visited.
func tabularField(p Params, steps int) (reward []float64) {
	n := len(p.Prompts.First)
	theta, velocity := make([][]float64, n), make([][]float64, n)
	for x := range theta {
		_, start := p.Prompt(x, []float64{0, 0})
		theta[x], velocity[x] = append([]float64{}, start...), make([]float64, 2)
	}
	for t := range steps + 1 {
		mean := 0.0
		for x := range theta {
			one, _ := p.Prompt(x, nil)
			mean += force.ExpectedReward(one, theta[x]) / float64(n)
			pushed := make([]float64, 2)
			if place := t * p.GroupsPerStep % n; x >= place && x < place+p.GroupsPerStep {
				force.Mean(pushed, one, theta[x], theta[x])
			}
			for a := range pushed {
				velocity[x][a] = p.Optimizer.Momentum*velocity[x][a] + pushed[a]/float64(p.GroupsPerStep)
				theta[x][a] += p.Optimizer.LearningRate * velocity[x][a]
			}
		}
		reward = append(reward, mean)
	}
	return reward
}

// The predicted mean reward of prompts with a policy each, in epochs in order, is that of the
// mean field step by step, at any step; without noise, and with momentum up to the predicted
// error of the interpolation.
func TestTabularRewardStepByStep(t *testing.T) {
	for _, mu := range []float64{0, 0.5, 0.9} {
		p := promptParams(option.Tabular, option.StdScale)
		p.Prompts.First, p.Prompts.Second = []float64{0.9, 0.8, 0.1, 1, 0.7, 0.6},
			[]float64{0.2, 0.3, 0.5, 0, 0.1, 0.9}
		p.Prompts.Starts = []float64{-1, 0, 1, -2, 0.5, 0.2}
		p.Prompts.Order, p.GroupsPerStep, p.GroupSize = option.InOrder, 2, 8
		p.Optimizer = option.Optimizer{LearningRate: 0.2 * (1 - mu), Momentum: mu}
		p.Factors.Noise = 1e-12
		field := tabularField(p, 200)
		at := make([]int, len(field))
		for i := range at {
			at[i] = i
		}
		path := MeanReward(p, nil, at)
		for i, want := range field {
			if allowed := 1e-12 + 2*path.Neglected[i]; !(math.Abs(path.Mean[i]-want) <= allowed) {
				t.Fatalf("μ = %v, step %d: got %.12f, want %.12f ± %.1g (%s)", mu, i, path.Mean[i], want,
					allowed, path.Scope.Because)
			}
			if mu == 0 && path.Neglected[i] > 1e-9 || path.Neglected[i] > 2e-3 {
				t.Fatalf("μ = %v, step %d: neglects %v", mu, i, path.Neglected[i])
			}
		}
		if got := force.ExpectedReward(p, []float64{0, 0}); math.Abs(got-field[0]) > 1e-15 {
			t.Errorf("J at step 0: got %v, want %v", got, field[0])
		}
	}
}

// In a shuffled epoch of two steps half of the prompts have been visited after one: the mean
// over the orders is the mean of the rewards before and after the visits.
func TestTabularRewardOfShuffledEpochs(t *testing.T) {
	p := promptParams(option.Tabular, option.NoScale)
	p.Prompts.First, p.Prompts.Second = []float64{1, 0.4}, []float64{0, 0.8}
	p.Factors.Noise = 1e-12
	orders := [2][]float64{}
	for i := range orders {
		p.Prompts.Order = option.InOrder
		orders[i] = tabularField(p, 40)
		p.Prompts.First[0], p.Prompts.First[1] = p.Prompts.First[1], p.Prompts.First[0]
		p.Prompts.Second[0], p.Prompts.Second[1] = p.Prompts.Second[1], p.Prompts.Second[0]
	}
	p.Prompts.Order = option.Shuffled
	path := MeanReward(p, []float64{0, 0}, []int{0, 1, 2, 3, 20, 31, 40})
	for i, step := range []int{0, 1, 2, 3, 20, 31, 40} {
		if want := (orders[0][step] + orders[1][step]) / 2; math.Abs(path.Mean[i]-want) > 1e-12 {
			t.Errorf("step %d: got %v, want %v", step, path.Mean[i], want)
		}
	}
}

// The variance of prompts that coast with momentum between their visits is that of the recursion of
// x and v, step by step, up to the predicted error.
func TestCoastingPromptsStepByStep(t *testing.T) {
	p := promptParams(option.Tabular, option.NoScale)
	p.Prompts.Order, p.Optimizer = option.InOrder, option.Optimizer{LearningRate: 0.04, Momentum: 0.8}
	want := 0.0
	for x := range p.Prompts.First {
		one, _ := p.Prompt(x, nil)
		at := Predict(one)
		xx, xv, vv := 0.0, 0.0, 0.0 // covariance
		for step := range 6000 {
			slope, noise := 0.0, 0.0
			if step%3 == x {
				slope, noise = at.Stiffness.Total, at.GradientVariance
			}
			xv, vv = 0.8*xv-slope*xx, 0.64*vv-1.6*slope*xv+slope*slope*xx+noise
			xx, xv = xx+0.08*xv+0.0016*vv, xv+0.04*vv
			if step >= 5997 {
				want += xx / 27
			}
		}
	}
	got := Predict(p)
	share := got.Neglected.RewardVariance / *got.Moments.RewardVariance
	if gap := *got.Exact.StationaryVariance.LogitGap; math.Abs(gap/want-1) > share || share > 0.1 {
		t.Errorf("got Var z = %v, want %v ± %v of it", gap, want, share)
	}
}

// Where groups of equal rewards are redrawn, of other prompts too, the groups of a step are of a
// prompt in proportion to its chance of unequal rewards, 1 − J^G − (1−J)^G.
func TestRedrawnPromptsAtRest(t *testing.T) {
	p := promptParams(option.Tabular, option.NoScale)
	p.Filter, p.Optimizer = option.Redraw, option.Optimizer{Kind: option.Adam, LearningRate: 1e-4,
		Beta1: 0.9, Beta2: 0.999}
	var bandits []Params
	sum, want := 0.0, 0.0
	for x := range p.Prompts.First {
		one, _ := p.Prompt(x, nil)
		j := Predict(one).FixedPoint.Reward
		one.Chance = 1 - j*j*j - (1-j)*(1-j)*(1-j)
		bandits, sum = append(bandits, one), sum+one.Chance
	}
	for _, one := range bandits {
		one.Chance /= sum
		at := Predict(one)
		want += *at.LinearVariance() / 9
	}
	if got := *Predict(p).Moments.RewardVariance; math.Abs(got/want-1) > 1e-9 {
		t.Errorf("got Var J = %v, want %v", got, want)
	}
}

// The linear map of a prompt from one visit to the next has the multipliers of an on-policy heavy
// ball with μ_eff = μ^M and η_eff = η s_M/B, and its threshold is 2(1+μ^M)/s_M in units of B/λ.
func TestVisitsAreAHeavyBall(t *testing.T) {
	const mu, rate, lambda = 0.9, 0.05, 0.7
	for _, period := range []int{1, 4, 16} {
		p := promptParams(option.Tabular, option.NoScale)
		p.Prompts.First, p.Prompts.Second = make([]float64, 2*period), make([]float64, 2*period)
		p.GroupsPerStep, p.Prompts.Order = 2, option.InOrder
		p.Optimizer = option.Optimizer{LearningRate: rate, Momentum: mu}
		visit, steps, because := p.Visits()
		if because.Out() || steps != period {
			t.Fatalf("got %d steps between visits (%s), want %d", steps, because, period)
		}
		step := func(force float64) *mat.Dense { // of (x, v)
			return mat.NewDense(2, 2, []float64{1 - rate*force, rate * mu, -force, mu})
		}
		epoch := mat.DenseCopyOf(step(lambda / 2))
		for range period - 1 {
			var next mat.Dense
			next.Mul(step(0), epoch)
			epoch = &next
		}
		got := multipliersOf(epoch)
		number := func(x float64) *mat.Dense { return mat.NewDense(1, 1, []float64{x}) }
		ball := linear.New(&linear.System{Fresh: number(lambda), Stale: number(0), Noise: number(0),
			Update: linear.Update{
				Rate: visit.Optimizer.LearningRate, Momentum: visit.Optimizer.Momentum,
				Lag: linear.NewLag(&option.Lag{Kind: option.Block, Interval: 1}),
			}}, nil, linear.Rounded)
		want := ball.Multipliers()
		if math.Abs(cmplx.Abs(got[0])-cmplx.Abs(want[0])) > 1e-12 ||
			math.Abs(cmplx.Abs(got[1])-cmplx.Abs(want[1])) > 1e-12 {
			t.Errorf("M = %d: multipliers %v, want %v", period, got, want)
		}
		power := math.Pow(mu, float64(period))
		sum := (1 - power) / (1 - mu)
		// η_c λ/B
		critical := ball.Threshold(linear.CriticalRate).At * rate / visit.Optimizer.LearningRate / 2 * lambda
		if want := 2 * (1 + power) / sum; math.Abs(critical-want) > 1e-9*want {
			t.Errorf("M = %d: threshold ηλ/B = %v, want %v", period, critical, want)
		}
	}
}

func multipliersOf(m *mat.Dense) []complex128 {
	var e mat.Eigen
	if !e.Factorize(m, mat.EigenNone) {
		panic("no eigenvalues")
	}
	return e.Values(nil)
}
