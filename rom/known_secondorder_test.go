package rom_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/path"
	"grposim/rom/rest"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// newGrid computes the exact stationary law of the on-policy chain without momentum on a
// uniform grid in z, with every outcome of a group enumerated and its end spread over
// four grid points by cubic interpolation, which keeps moments up to the third.
func newGrid(p rom.Params, centre, half float64, nodes int) nonlinear {
	z := make([]float64, nodes)
	step := 2 * half / float64(nodes-1)
	for i := range z {
		z[i] = centre - half + step*float64(i)
	}
	a := mat.NewDense(nodes, nodes, nil)
	for i := range nodes {
		oracleEachCount(p, gapAt(z[i]), gapAt(z[i]), func(w float64, g []float64) {
			u := (z[i] + p.Optimizer.LearningRate*gapOf(cutToNorm(p, g)) - z[0]) / step
			j := min(max(int(math.Floor(u)), 1), nodes-3)
			x := min(max(u-float64(j), -1), 2)
			for k, v := range []float64{-x * (x - 1) * (x - 2) / 6, (x + 1) * (x - 1) * (x - 2) / 2,
				-(x + 1) * x * (x - 2) / 2, (x + 1) * x * (x - 1) / 6} {
				a.Set(j-1+k, i, a.At(j-1+k, i)+w*v)
			}
		})
		a.Set(i, i, a.At(i, i)-1)
	}
	for j := range nodes {
		a.Set(0, j, 1)
	}
	b := mat.NewVecDense(nodes, nil)
	b.SetVec(0, 1)
	var w mat.VecDense
	if err := w.SolveVec(a, b); err != nil {
		if _, poor := err.(mat.Condition); !poor {
			panic(err)
		}
	}
	return nonlinear{z, w.RawVector().Data}
}

// cutToNorm scales g to the largest norm of p where it is longer.
func cutToNorm(p rom.Params, g []float64) []float64 {
	if c, size := p.Optimizer.MaxNorm, floats.Norm(g, 2); c > 0 && size > c {
		floats.Scale(c/size, g)
	}
	return g
}

// Var J, E J and the share of zero-variance groups against the exact law of random
// chains of two arms, far into the nonlinear range: every error is below 4 times the
// size that is predicted for it, nine of ten are below it, and a prediction that neglects
// at most 5 % of Var J is right within 10 %.
func TestSecondOrderAgainstExactChains(t *testing.T) {
	againstExactChains(t, rand.New(rand.NewPCG(7, 8)), 40, func(*rom.Params) {})
}

// The same where the largest norm clips some of the forces, a kink of each.
func TestLargestNormAgainstExactChains(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 8))
	againstExactChains(t, r, 80,
		func(p *rom.Params) { p.Optimizer.MaxNorm = 0.01 * math.Exp(r.Float64()*math.Log(50)) })
}

func againstExactChains(t *testing.T, r *rand.Rand, chains int, change func(*rom.Params)) {
	compared, above := 0, 0
	for compared < chains {
		p := bandit(option.Scale(r.IntN(2)), 0.05*math.Exp(r.Float64()*math.Log(40)),
			[]int{2, 3, 4, 8}[r.IntN(4)])
		switch r.IntN(3) {
		case 0:
			p.Arms = []option.Arm{{Law: option.Constant, Mean: 1}, {Law: option.Constant, Mean: 0}}
		case 1:
			p.Arms = []option.Arm{{Mean: r.Float64()}, {Mean: r.Float64()}}
		}
		p.Reference = []float64{6*r.Float64() - 3, 0}
		p.KL.Gradient, p.Importance.Mode, p.Advantage.Baseline = []option.KLGradient{option.ExactKL,
			option.K2, option.K3}[r.IntN(3)], option.ImportanceMode(r.IntN(2)), option.Baseline(r.IntN(2))
		p.Optimizer.LearningRate = 0.01 * math.Exp(r.Float64()*math.Log(100))
		change(&p)
		got := rom.Predict(p)
		if !got.Noise.In || !got.Exact.Scope.In {
			continue
		}
		v := *got.Exact.StationaryVariance.LogitGap
		if v > 0.3 || v < 3e-3 || p.Optimizer.LearningRate*got.Stiffness.Total < 1e-4 {
			continue // the grid resolves neither
		}
		compared++
		name := describe(p)
		reward := func(z float64) float64 { return oracleReward(p, gapAt(z)) }
		law := newGrid(p, gapOf(got.FixedPoint.Logits),
			7.5*math.Sqrt(v)+3*p.Optimizer.LearningRate*math.Sqrt(got.GradientVariance)+0.1, 200)
		mean := law.mean(reward)
		variance := law.mean(func(z float64) float64 { return (reward(z) - mean) * (reward(z) - mean) })
		share := law.mean(func(z float64) float64 {
			j, n := reward(z), float64(p.GroupSize)
			return math.Pow(j, n) + math.Pow(1-j, n)
		})
		predicted := said(t, name, got.Moments.RewardVariance)
		neglected := got.Neglected
		const rounding = 1e-8 // of the grid
		for what, x := range map[string][2]float64{
			"Var J": {predicted - variance, neglected.RewardVariance + 1e-4*variance},
			"E J": {got.FixedPoint.Reward + said(t, name,
				got.Moments.RewardShift) - mean, neglected.RewardMean + rounding},
			"share of zero-variance groups": {said(t, name, got.Moments.ZeroVariance) - share,
				neglected.ZeroVariance + rounding},
		} {
			if math.Abs(x[0]) > x[1] {
				above++
			}
			if !(math.Abs(x[0]) <= 4*x[1]) {
				t.Errorf("%s: %s is off by %.3g, of which %.3g are predicted", name, what, x[0], x[1])
			}
		}
		if neglected.RewardVariance < 0.05*predicted && math.Abs(predicted-variance) > 0.1*variance {
			t.Errorf("%s: Var J %.4g, want %.4g", name, predicted, variance)
		}
	}
	if above > 3*compared/10 {
		t.Errorf("%d of %d errors above their predicted sizes", above, 3*compared)
	}
}

// The exact laws of k3.yaml's two-valued bandit are far from linear because D″/D of the
// noise is 111: the linear variance is 2.34e-5, the true one 3.04e-5.
func TestNoiseOfStrongCurvature(t *testing.T) {
	p := bandit(option.NoScale, 0.308, 5)
	p.Arms = []option.Arm{{Law: option.Constant, Mean: -0.147714}, {Law: option.Constant, Mean: 2}}
	p.Reference = []float64{0.00168, 1.09}
	p.Importance.Mode, p.KL.Gradient, p.KL.At = option.Ratio, option.K3, option.AtCurrent
	p.Optimizer = option.Optimizer{LearningRate: 0.05872, Momentum: 0.9}
	got := rom.Predict(p)
	linear := said(t, "linear", got.Moments.RewardVariance)
	closeTo(t, "linear", linear, 2.34e-5, 0.01e-5)
	// A sample-by-sample simulation gives 3.04(3)e-5 in stationary state.
	if !got.Noise.Because.Is(scope.NoiseTooLarge) || got.Neglected.RewardVariance < 0.35e-5 {
		t.Errorf("neglected %.3g of %.3g, noise %+v", got.Neglected.RewardVariance, linear, got.Noise)
	}
}

// Var J with lag, momentum and several arms, where the second order is a few per cent,
// against simulations of the nonlinear bandits (1024 replicas of 1000 steps, standard errors
// as given), up to 3.5 standard errors.
func TestSecondOrderAgainstSimulations(t *testing.T) {
	bernoulli := func(p rom.Params, means ...float64) rom.Params {
		p.Arms, p.Reference = nil, make([]float64, len(means))
		for _, m := range means {
			p.Arms = append(p.Arms, option.Arm{Mean: m})
		}
		return p
	}
	none, std := bandit(option.NoScale, 0.5, 4), bandit(option.StdScale, 1.2, 4)
	none.KL.At, std.KL.At = option.AtCurrent, option.AtCurrent
	frozen := bandit(option.NoScale, 0.5, 4)
	nesterov := with(frozen, 0.1, 0.8, block(3))
	nesterov.Optimizer.Kind = option.Nesterov
	k3 := with(none, 0.15, 0, block(4))
	k3.KL.Coefficient, k3.KL.Gradient, k3.Importance.Mode = 0.3, option.K3, option.Ratio
	normal := with(none, 0.4, 0, block(1))
	normal.GroupSize, normal.Arms = 8,
		[]option.Arm{{Law: option.Normal, Mean: 0.9, Std: 0.4}, {Law: option.Normal, Mean: 0.2, Std: 0.3}}
	for _, c := range []struct {
		p          rom.Params
		mean, fail float64
	}{
		{with(none, 0.4, 0, block(4)), 7.804e-4, 3.7e-6},
		{with(std, 0.2, 0, block(8)), 8.829e-4, 4.0e-6},
		{with(none, 0.1, 0.8, block(4)), 9.734e-4, 5.1e-6},
		{with(none, 0.1, 0.8, delay(3)), 1.0484e-3, 5.7e-6},
		{with(frozen, 0.4, 0, delay(8)), 1.4179e-3, 6.9e-6},
		{nesterov, 9.416e-4, 4.8e-6},
		{k3, 1.1058e-4, 0.95e-6},
		{with(bernoulli(none, 0.9, 0.5, 0.2), 0.4, 0, block(2)), 4.237e-4, 2.3e-6},
		{with(bernoulli(std, 0.9, 0.5, 0.2), 0.1, 0.5, block(1)), 4.081e-4, 2.1e-6},
		{with(bernoulli(none, 0.9, 0.9, 0.2, 0.2, 0.2), 0.4, 0, block(1)), 3.567e-4, 2.5e-6},
		{normal, 3.545e-4, 1.8e-6},
	} {
		got := rom.Predict(c.p)
		closeTo(t, describe(c.p), said(t, describe(c.p), got.Moments.RewardVariance), c.mean,
			3.5*c.fail+got.Neglected.RewardVariance)
	}
}

// The average of Var x over some steps of a run that starts at the fixed point, from the
// responses of the stepped recursion to the noise of each step.
func TestSettledVarianceOfTheSteppedRecursion(t *testing.T) {
	for _, lag := range []option.Lag{block(1), block(5), delay(0), delay(3)} {
		for _, mu := range []float64{0, 0.8} {
			p := with(bandit(option.NoScale, 0.5, 16), 0.05, mu, lag)
			star, _ := rest.Reached(p)
			m := newLinearMap(p, star.Logits)
			_, average := m.stationary(mat.NewDense(1, 1, []float64{1}))
			const steps = 120
			variance := make([]float64, steps)
			for pushed := range steps {
				state := make([]float64, m.slots())
				for now := range steps {
					variance[now] += state[1] * state[1]
					noise := []float64{0}
					if now == pushed {
						noise[0] = 1
					}
					m.step(state, now%m.period() == 0, noise)
				}
			}
			for _, run := range [][2]int{{0, 1}, {0, 40}, {7, 43}, {100, 120}} {
				want := 0.0
				for _, v := range variance[run[0]:run[1]] {
					want += v / float64(run[1]-run[0]) / average.At(0, 0)
				}
				settled := rest.NewEquilibrium(p).Settled(p.Optimizer, p.Lag, run[0], run[1])
				closeTo(t, describe(p), settled.Reward, want, 1e-9)
				closeTo(t, describe(p)+" unknown", settled.Unknown, 0, 0)
			}
		}
	}
}

// The kurtosis of the force of one group of two arms along ∇J, counted over all groups, is
// within a bound that is at most six times too large.
func TestKurtosisOfTheForceByEnumeration(t *testing.T) {
	for name, change := range map[string]func(*rom.Params){
		"std":      func(*rom.Params) {},
		"rare arm": func(p *rom.Params) { p.Reference = gapAt(7) },
		"rare reward": func(p *rom.Params) {
			p.Arms = []option.Arm{{Mean: 0.001}, {Mean: 0.003}}
		},
		"second best": func(p *rom.Params) { p.Advantage.Baseline = option.SecondBest },
		"second best, seldom": func(p *rom.Params) {
			p.Advantage.Baseline,
				p.GroupSize = option.SecondBest, 14
		},
		"redrawn":            func(p *rom.Params) { p.Filter = option.Redraw },
		"scaled by the mean": func(p *rom.Params) { p.Advantage.Scale = option.MeanScale },
		"std of the others": func(p *rom.Params) {
			p.Advantage.Baseline,
				p.Advantage.Scale = option.LeaveOneOut, option.OthersStd
		},
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
	outcome := [4]float64{pi * p.Arms[0].Mean, pi * (1 - p.Arms[0].Mean), (1 - pi) * p.Arms[1].Mean,
		(1 - pi) * (1 - p.Arms[1].Mean)}
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
		path.MeanField(p, gapAt(gapOf(star.Logits)+displacement), 3000,
			func(_ int, theta []float64) { end = gapOf(theta) - gapOf(star.Logits) })
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
