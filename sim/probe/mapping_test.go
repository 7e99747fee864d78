package probe

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
	"grposim/sim"
)

// frozenArms returns random Bernoulli arms under a frozen force without scale, with a search for
// the instability and its threshold. The fixed point is θ* = (1 − 1/G)m/β. There each mode has β
// times an eigenvalue of F as stiffness, all of it stale; the largest is found by powers.
func frozenArms(
	random *rand.Rand, arms, size, groups int, lag option.Lag, mu float64,
) (c Cell, threshold float64) {
	c = locationCell(option.NoImportance, option.AtSnapshot, Location{
		Event: Instability, Param: LearningRate, From: 0.5, To: 60, Tolerance: 0.01})
	beta := 0.3 + 0.5*random.Float64()
	c.Bandit, c.Reference, c.Init = option.Bandit{}, make([]float64, arms), make([]float64, arms)
	direction, norm := make([]float64, arms), 0.0
	for a := range arms {
		mean := 0.05 + 0.9*random.Float64()
		c.Bandit.Arms = append(c.Bandit.Arms, option.Arm{Mean: mean})
		c.Init[a] = mean * (1 - 1/float64(size)) / beta
		norm += math.Exp(c.Init[a])
		direction[a] = random.NormFloat64()
	}
	lambda := 0.0
	for range 1000 {
		mean, square := 0.0, 0.0
		for a, x := range direction {
			mean += math.Exp(c.Init[a]) / norm * x
		}
		for a := range direction {
			direction[a] = math.Exp(c.Init[a]) / norm * (direction[a] - mean)
			square += direction[a] * direction[a]
		}
		lambda = beta * math.Sqrt(square)
		for a := range direction {
			direction[a] /= math.Sqrt(square)
		}
	}
	c.ID = fmt.Sprint(arms, size, lag, mu)
	c.Estimator.GroupSize, c.Estimator.GroupsPerStep, c.Estimator.KL.Coefficient = size, groups, beta
	c.Lag, c.Optimizer.Momentum, c.Run = lag, mu, sim.Run{Steps: 10, Replicas: 16}
	c.Location.Point, c.Location.Offset, c.Location.Direction = c.Init, 0.08, make([]float64, arms)
	c.Location.Direction[0], c.Location.Direction[1] = 1, -1
	s := &c.Stiffness[0]
	s.Point, s.Direction, s.Covector, s.Displacement = c.Init, direction, direction, 0.1
	s.Pairs = 1 + 400_000/groups
	low, high := 0.0, 1e-3
	for ; !frozenGrows(high, lag, mu); low, high = high, 1.02*high {
	}
	for range 12 {
		if middle := (low + high) / 2; frozenGrows(middle, lag, mu) {
			high = middle
		} else {
			low = middle
		}
	}
	return c, high / lambda
}

// frozenGrows reports whether one mode with a frozen force grows at κ = ηλ, step by step.
func frozenGrows(kappa float64, lag option.Lag, mu float64) bool {
	const steps = 20_000
	x, v, path := 1.0, 0.0, []float64{}
	size := func(from, to int) (sum float64) {
		for _, x := range path[from:to] {
			sum += math.Abs(x)
		}
		return sum
	}
	for t := range steps {
		path = append(path, x)
		old := t - lag.Interval
		if lag.Kind == option.Block {
			old = (t/lag.Interval - lag.Behind) * lag.Interval
		}
		v = mu*v - kappa*path[max(old, 0)]
		if x += v; math.Abs(x) > 1e100 {
			return true
		}
	}
	if size(steps-1000, steps) < 1e-100 {
		return false
	}
	return size(steps/2, 3*steps/4) < size(3*steps/4, steps)
}

// At finite G the threshold of any arms, blocks and delays is that of the modes' exact linear map.
// Each end is decided by 3 standard errors; the cubic terms of the force move it by 0.3 %.
func TestLocatedThresholdsOfManyArms(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	behind := block(2)
	behind.Behind = 1
	samples, width := 4096, 0.3
	if thin == 1 {
		samples = 32768
	}
	var cells []Cell
	var want []float64
	for i, lag := range []option.Lag{block(5), delay(3), behind, block(1), delay(1), delay(6)} {
		for j, mu := range []float64{0, 0.5, 0.9} {
			if thin > 1 && i+j != 2 {
				continue
			}
			arms, size := 3+(i+3*j)%6, 4<<random.IntN(5)
			if lag == behind || lag == delay(3) {
				arms = 2
			}
			c, threshold := frozenArms(random, arms, size, samples/size, lag, mu)
			cells, want = append(cells, c), append(want, threshold)
		}
	}
	_, low, high := located(t, cells)
	for i, c := range cells {
		lo, hi := low[i]/want[i], high[i]/want[i]
		t.Logf("%d arms, G = %d, %v, μ = %g: located in [%.4f, %.4f] of the threshold",
			len(c.Init), c.Estimator.GroupSize, c.Lag.Kind, c.Optimizer.Momentum, lo, hi)
		if !(lo < 1.01 && hi > 0.99 && hi-lo < width) {
			t.Errorf("%d arms, G = %d, %+v, μ = %g: located in [%.4f, %.4f] of the threshold, want 1",
				len(c.Init), c.Estimator.GroupSize, c.Lag, c.Optimizer.Momentum, lo, hi)
		}
	}
}
