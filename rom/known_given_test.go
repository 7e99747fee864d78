package rom_test

import (
	"math"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/force"
	"grposim/rom/path"

	"gonum.org/v1/gonum/mat"
)

// given returns a cell of the reference bandit with a baseline that does not depend on the
// rewards of the step.
func given(baseline option.Baseline, value, rate, beta float64, size int) rom.Params {
	p := bandit(option.NoScale, beta, size)
	p.Advantage.Baseline, p.Advantage.Value, p.Advantage.Rate, p.KL.At = baseline, value, rate,
		option.AtCurrent
	return p
}

// The numbers of docs/theory-trainers.md §11.4: with a constant baseline b the drift does not
// depend on b, the noise does.
func TestKnownConstantBaseline(t *testing.T) {
	at := []float64{0.4, -0.4}
	j := oracleReward(given(option.ConstantBaseline, 0, 0, 0, 2), at)
	for _, size := range []int{2, 7, 1000} {
		for i, b := range []float64{0, j, 1} {
			p := given(option.ConstantBaseline, b, 0, 0, size)
			closeTo(t, "φ", factorAt(p), 1, 1e-14)
			cov, _ := force.Covariance(p, at, at)
			closeTo(t, "variance per sample", float64(size)*cov.At(0, 0),
				[]float64{0.066783059, 0.044714658, 0.102284426}[i], 5e-10)
		}
		// The running mean is J on average, and has the variance α/(2−α) J(1−J)/N.
		p := given(option.RunningMean, 0, 0.5, 0, size)
		p.GroupsPerStep = 3
		closeTo(t, "φ, running mean", factorAt(p), 1, 1e-14)
		cov, _ := force.Covariance(p, at, at)
		q := sigmoid(0.8)
		n := float64(3 * size)
		closeTo(t, "variance per sample, running mean", n*cov.At(0, 0),
			0.0447146580121+q*(1-q)*j*(1-j)/3/n, 1e-12)
	}
	// The force is not frozen without a weight: E g_1 = π_old (m − b) − π (J_old − b).
	p := given(option.ConstantBaseline, 0.3, 0, 0, 4)
	now, old := sigmoid(0.5), sigmoid(0.8)
	closeTo(t, "off-policy", mean(p, gapAt(0.5), gapAt(0.8))[0], old*(0.9-0.3)-now*(j-0.3), 1e-14)
	fresh, stale := force.Stiffness(p, at)
	closeTo(t, "Λ_f", fresh.At(0, 0), (j-0.3)*old*(1-old), 1e-14)
	p.Advantage.Baseline, p.GroupSize = option.LeaveOneOut, 4
	_, frozen := force.Stiffness(p, at)
	closeTo(t, "Λ_s", stale.At(0, 0), frozen.At(0, 0)-(j-0.3)*old*(1-old), 1e-14)
	// At G = ∞ too, and where all rewards are equal there is noise without a drift.
	p = given(option.ConstantBaseline, 0.3, 0, 0, option.Infinite)
	closeTo(t, "off-policy, G = ∞", mean(p, gapAt(0.5), gapAt(0.8))[0], old*(0.9-0.3)-now*(j-0.3), 1e-14)
	for _, reward := range []float64{0, 1} {
		p = given(option.ConstantBaseline, 0.3, 0, 0, 4)
		p.Arms = []option.Arm{{Mean: reward}, {Mean: reward}}
		cov, _ := force.Covariance(p, at, at)
		closeTo(t, "variance, equal rewards", 4*cov.At(0, 0), (reward-0.3)*(reward-0.3)*old*(1-old), 1e-15)
		closeTo(t, "drift, equal rewards", mean(p, at, at)[0], 0, 1e-15)
	}
}

// givenLaw returns mean and variance of J under the exact stationary law of the on-policy
// chain of z and b without momentum, b the constant baseline or, with α = 1, the mean reward of
// the step before. z is on the grid of newGrid.
func givenLaw(p rom.Params, centre, half float64, nodes int) (reward, variance float64) {
	size := p.GroupSize
	levels := 1
	if p.Advantage.Baseline == option.RunningMean {
		levels = size + 1
	}
	step := 2 * half / float64(nodes-1)
	a := mat.NewDense(nodes*levels, nodes*levels, nil)
	for i := range nodes {
		z := centre - half + step*float64(i)
		pi := oracleSoftmax(gapAt(z))
		for level := range levels {
			b, from := p.Advantage.Value, i*levels+level
			if levels > 1 {
				b = float64(level) / float64(size)
			}
			for code := range 1 << (2 * size) {
				w, successes, g := 1.0, 0, 0.0
				for n := range size {
					arm, r := code>>(2*n)&1, code>>(2*n+1)&1
					m := p.Arms[arm].Mean
					if r == 0 {
						m = 1 - m
					}
					w *= pi[arm] * m
					successes += r
					score := 2 * (1 - pi[0]) // of g_0 − g_1
					if arm == 1 {
						score = -2 * pi[0]
					}
					g += (float64(r) - b) * score / float64(size)
				}
				g -= 2 * p.KL.Coefficient * pi[0] * pi[1] * z
				u := float64(i) + p.Optimizer.LearningRate*g/step
				j := min(max(int(math.Floor(u)), 1), nodes-3)
				x := min(max(u-float64(j), -1), 2)
				for k, v := range []float64{-x * (x - 1) * (x - 2) / 6, (x + 1) * (x - 1) * (x - 2) / 2,
					-(x + 1) * x * (x - 2) / 2, (x + 1) * x * (x - 1) / 6} {
					to := (j-1+k)*levels + min(successes, levels-1)
					a.Set(to, from, a.At(to, from)+w*v)
				}
			}
			a.Set(from, from, a.At(from, from)-1)
		}
	}
	for j := range nodes * levels {
		a.Set(0, j, 1)
	}
	rhs := mat.NewVecDense(nodes*levels, nil)
	rhs.SetVec(0, 1)
	var law mat.VecDense
	if err := law.SolveVec(a, rhs); err != nil {
		if _, poor := err.(mat.Condition); !poor {
			panic(err)
		}
	}
	square := 0.0
	for i := range nodes {
		j := oracleReward(p, gapAt(centre-half+step*float64(i)))
		for level := range levels {
			w := law.AtVec(i*levels + level)
			reward += w * j
			square += w * j * j
		}
	}
	return reward, square - reward*reward
}

// E J and Var J with a given baseline against exact chains. Of the running mean the second
// order is not derived, and its size is bounded.
func TestGivenBaselineAgainstExactChains(t *testing.T) {
	for _, p := range []rom.Params{
		given(option.ConstantBaseline, 0, 0, 1, 2),
		given(option.ConstantBaseline, 0.5, 0, 1, 3),
		given(option.ConstantBaseline, 1, 0, 1, 2),
		given(option.RunningMean, 0, 1, 1, 2),
		given(option.RunningMean, 0, 1, 1, 3),
	} {
		for _, rate := range []float64{0.02, 0.1} {
			p.Optimizer.LearningRate = rate
			got := rom.Predict(p)
			if !got.Noise.In || !got.Exact.Scope.In {
				t.Fatalf("%s: out of scope: %s%s", describe(p), got.Noise.Because, got.Exact.Scope.Because)
			}
			v := said(t, "Var z", got.Exact.StationaryVariance.LogitGap)
			reward, variance := givenLaw(p, gapOf(got.FixedPoint.Logits), 7.5*math.Sqrt(v)+0.1, 160)
			predicted, shift := *got.Exact.StationaryVariance.ExpectedReward, 0.0
			if p.Advantage.Baseline == option.ConstantBaseline {
				predicted, shift = said(t, "Var J", got.Moments.RewardVariance),
					said(t, "E J", got.Moments.RewardShift)
			}
			t.Logf("%s b=%g: Var J %.5g, want %.5g ± %.2g; E J − J* %.4g, want %.4g ± %.2g", describe(p),
				p.Advantage.Value,
				predicted, variance, got.Neglected.RewardVariance, shift, reward-got.FixedPoint.Reward,
				got.Neglected.RewardMean)
			closeTo(t, describe(p)+" Var J", predicted, variance, got.Neglected.RewardVariance+1e-4*variance)
			closeTo(t, describe(p)+" E J", got.FixedPoint.Reward+shift, reward,
				got.Neglected.RewardMean+1e-8)
		}
	}
}

// The mean field with a running mean under a delay and without weights, by the recursion of
// docs/theory-trainers.md §11.4; and one that hardly moves is a constant, in the mean reward of
// runs too.
func TestRunningMeanOnAPath(t *testing.T) {
	p := given(option.RunningMean, 1, 0.2, 0.5, 4)
	p.Lag, p.Optimizer.LearningRate = delay(3), 0.7
	z, b := []float64{-2, -2, -2, -2}, 1.0 // of the last steps, the newest last
	_, scope := path.MeanField(p, gapAt(-2), 60, func(step int, theta []float64) {
		closeTo(t, "z", gapOf(theta), z[3], 1e-12)
		now, old := sigmoid(z[3]), sigmoid(z[0])
		j := 0.9*old + 0.2*(1-old)
		g := old*(0.9-b) - now*(j-b) - 0.5*now*(1-now)*z[3]
		b = 0.8*b + 0.2*j
		z = append(z[1:], z[3]+0.7*2*g)
	})
	if !scope.In {
		t.Error(scope.Because)
	}
	steps := []int{0, 5, 20, 60}
	p.Lag, p.Advantage.Rate, p.Advantage.Value, p.Optimizer.LearningRate = block(1), 1e-9, 0.3, 0.1
	slow := rom.MeanReward(p, gapAt(-2), steps)
	p.Advantage.Baseline = option.ConstantBaseline
	constant := rom.MeanReward(p, gapAt(-2), steps)
	p.Advantage.Value = 1
	other := rom.MeanReward(p, gapAt(-2), steps)
	for i := range steps {
		closeTo(t, "E J", slow.Mean[i], constant.Mean[i], 1e-9)
	}
	if math.Abs(other.Mean[2]-constant.Mean[2]) < 1e-5 {
		t.Errorf("E J does not depend on the noise: %v", other.Mean)
	}
	p.Advantage.Baseline, p.Lag = option.RunningMean, delay(3)
	if rom.MeanReward(p, gapAt(-2), steps).Scope.In {
		t.Error("the spread of runs with a running mean of old rewards is in scope without weights")
	}
}
