package rom

import (
	"fmt"
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/force"
	"grposim/rom/path"
	"grposim/rom/rest"
)

// gapChain is the exact law of z = θ_1 − θ_0 of two Bernoulli arms, on-policy without
// momentum, on a grid: a step from each grid point draws every group, and the
// probability of each is split linearly between the two grid points next to where it
// leads. The split adds at most h²/4 to the variance of a step.
type gapChain struct {
	low, h float64
	moves  [][]move // by grid point
}

type move struct {
	to     int
	chance float64
}

func newGapChain(p Params, low, high, h float64) *gapChain {
	c := &gapChain{low: low, h: h}
	n := int((high-low)/h) + 1
	group := make([]sample, p.GroupSize)
	for i := range n {
		z := low + float64(i)*h
		theta := []float64{z / 2, -z / 2}
		q := 1 / (1 + math.Exp(-z))
		atoms := []sample{{0, 1}, {0, 0}, {1, 1}, {1, 0}}
		chance := []float64{q * p.Arms[0].Mean, q * (1 - p.Arms[0].Mean), (1 - q) * p.Arms[1].Mean,
			(1 - q) * (1 - p.Arms[1].Mean)}
		var moves []move
		var walk func(atom, filled int, weight float64)
		walk = func(atom, filled int, weight float64) {
			if atom == len(atoms)-1 {
				for k := filled; k < len(group); k++ {
					group[k] = atoms[atom]
				}
				weight *= math.Pow(chance[atom], float64(len(group)-filled))
				if weight == 0 {
					return
				}
				at := (z + 2*p.Optimizer.LearningRate*sampledForce(p, theta, theta, group)[0] - low) / h
				k := min(max(int(at), 0), n-2)
				moves = append(moves, move{k, weight * (1 - (at - float64(k)))},
					move{k + 1, weight * (at - float64(k))})
				return
			}
			for k := 0; k <= len(group)-filled; k++ {
				if k > 0 {
					group[filled+k-1] = atoms[atom]
					weight *= chance[atom] * float64(len(group)-filled-k+1) / float64(k)
				}
				walk(atom+1, filled+k, weight)
			}
		}
		walk(0, 0, 1)
		c.moves = append(c.moves, moves)
	}
	return c
}

// rewards returns E J and the standard deviation of J at t = 0 … steps from the gap z.
func (c *gapChain) rewards(p Params, z float64, steps int) (mean, deviation []float64) {
	law := make([]float64, len(c.moves))
	at := (z - c.low) / c.h
	law[int(at)], law[int(at)+1] = 1-(at-math.Floor(at)), at-math.Floor(at)
	for range steps + 1 {
		j, square, next := 0.0, 0.0, make([]float64, len(law))
		for i, x := range law {
			q := 1 / (1 + math.Exp(-c.low-float64(i)*c.h))
			of := q*p.Arms[0].Mean + (1-q)*p.Arms[1].Mean
			j += x * of
			square += x * of * of
			for _, m := range c.moves[i] {
				next[m.to] += x * m.chance
			}
		}
		mean, deviation = append(mean, j), append(deviation, math.Sqrt(max(square-j*j, 0)))
		law = next
	}
	return mean, deviation
}

// The shift by noise takes away most of the error of the mean field, and what is left is
// of the predicted size, to a factor of two, from runs with little noise to runs that
// leave a plateau one by one, where the prediction has to say that it is useless. The
// deviation of J over runs errs by a share of the order of the variance of z, here up to 0.15. The
// grid adds at most h²/4 to the variance of z in each of 150 steps and J″ ≤ Δ/10, which
// moves E J by less than 8e-4 at h = 0.01 and, where the noise is larger, 3e-3 at 0.02.
func TestMeanRewardAgainstTheExactLaw(t *testing.T) {
	with := func(scale option.Scale, kl option.KLGradient, beta float64, size int, rate,
		best float64) Params {
		p := reference(scale, beta, size)
		p.Arms[0].Mean, p.KL.Gradient, p.Optimizer.LearningRate = best, kl, rate
		return p
	}
	for _, c := range []struct {
		name  string
		p     Params
		start float64
		// error of the mean field at least, and how much smaller that of the prediction is
		least, factor float64
		useless       bool // the prediction must say that it neglects more than 0.1
	}{
		{"no scale", with(option.NoScale, option.ExactKL, 0.5, 4, 0.3, 0.9), 0, 0.0008, 5, false},
		{"strong noise", with(option.NoScale, option.ExactKL, 0.5, 4, 1, 0.9), 0, 0.003, 5, false},
		{"k3", with(option.StdScale, option.K3, 0.4, 2, 0.2, 0.6), 1.5, 0.001, 2, false},
		{"k2", with(option.StdScale, option.K2, 0.4, 8, 0.2, 0.6), -1.5, 0.0015, 5, false},
		{"downwards", with(option.StdScale, option.ExactKL, 1.2, 4, 0.3, 0.9), 4, 0.005, 5, false},
		{"from a plateau", with(option.StdScale, option.ExactKL, 0.1, 4, 0.4, 0.9), -5.5, 0.005, 0, true},
	} {
		const steps = 150
		h := 0.01
		if c.p.Optimizer.LearningRate > 0.5 {
			h = 0.02
		}
		exact, deviation := newGapChain(c.p, -15, 15, h).rewards(c.p, c.start, steps)
		at := make([]int, steps+1)
		for i := range at {
			at[i] = i
		}
		init := []float64{c.start / 2, -c.start / 2}
		field := fieldRewards(c.p, init, steps)
		predicted := MeanReward(c.p, init, at)
		got, neglected := predicted.Mean, predicted.Neglected
		if predicted.Kind != Exact || !predicted.Scope.In {
			t.Fatalf("%s: %v, %+v", c.name, predicted.Kind, predicted.Scope)
		}
		without, with := 0.0, 0.0
		for i := range exact {
			without, with = max(without, math.Abs(field[i]-exact[i])), max(with, math.Abs(got[i]-exact[i]))
			if grid := 8 * h * h; math.Abs(got[i]-exact[i]) > 2*neglected[i]+grid {
				t.Errorf("%s, step %d: E J = %.5f, exactly %.5f, neglected %.2g", c.name, i, got[i], exact[i], neglected[i])
				break
			}
		}
		worst := 0.0
		for i := 1; i <= steps; i++ {
			worst = max(worst, math.Abs(predicted.Deviation[i]/deviation[i]-1))
		}
		if worst > 0.15 && !c.useless {
			t.Errorf("%s: the deviation of J is wrong by %.3g", c.name, worst)
		}
		// the size does not depend on the other steps that are asked for
		for _, step := range []int{40, 80, 120} {
			if alone := MeanReward(c.p, init,
				[]int{step}); math.Abs(got[step]-exact[step]) > 2*alone.Neglected[0]+8*h*h {
				t.Errorf("%s, step %d alone: neglected %.2g, the error is %.2g", c.name, step,
					alone.Neglected[0], got[step]-exact[step])
			}
		}
		last := neglected[steps]
		if without < c.least || with*c.factor > without || (last > 0.1) != c.useless {
			t.Errorf("%s: the mean field is wrong by %.5f, the prediction by %.5f; neglected %.2g", c.name,
				without, with, last)
		}
	}
}

// Around a fixed point, under every lag and optimizer, the spread becomes that of the stationary
// law, which predict.go solves for in one piece, and the shift of J with it: to first order in the
// noise, here 1e-4, and to the hundredth that holdCentre and holdSpread leave.
func TestSpreadBecomesStationary(t *testing.T) {
	for _, method := range []option.Method{option.HeavyBall, option.Nesterov} {
		for _, lag := range []option.Lag{block(1), block(4), delay(0), delay(3)} {
			for _, weighting := range []option.ImportanceMode{option.NoImportance, option.Ratio} {
				p := reference(option.StdScale, 1.2, 16)
				p.GroupsPerStep, p.KL.At, p.Importance.Mode, p.Lag = 1000, option.AtCurrent, weighting, lag
				p.Optimizer = option.Optimizer{Kind: method, LearningRate: 0.1, Momentum: 0.5}
				checkStationary(t, p)
			}
		}
	}
}

func checkStationary(t *testing.T, p Params) {
	want := Predict(p)
	const steps = 400
	init, count := want.FixedPoint.Logits, 20*(p.Lag.Interval+1)
	at := make([]int, count) // whole periods
	for i := range at {
		at[i] = steps - count + i
	}
	paths := path.Paths(p, init, at, path.Reward, path.LogitGap)
	variance, shift, deviation := 0.0, 0.0, 0.0
	for i := range at {
		shift += (paths[0].Mean[i] - paths[0].Field[i]) / float64(count)
		deviation += paths[0].Deviation[i] / float64(count)
		variance += paths[1].Deviation[i] * paths[1].Deviation[i] / float64(count)
	}
	name := fmt.Sprintf("method %d, lag %+v, weighting %d: ", p.Optimizer.Kind, p.Lag,
		p.Importance.Mode)
	near(t, name+"Var z", variance, *want.Exact.StationaryVariance.LogitGap, 0.02)
	near(t, name+"deviation of J", deviation, math.Sqrt(*want.Exact.StationaryVariance.ExpectedReward), 0.01)
	near(t, name+"shift of J", shift, *want.Moments.RewardShift, 0.03)
}

// About an unstable fixed point rounding errors grow by the multiplier |1 − ηλ| in every
// step, also where a rate that is small at first has made all runs equal before.
func TestRoundingGrowsByTheMultiplier(t *testing.T) {
	p := reference(option.StdScale, 1.2, option.Infinite)
	point := Predict(p)
	p.Optimizer = option.Optimizer{Kind: option.HeavyBall, LearningRate: 2.5 / point.Stiffness.Total}
	got := MeanReward(p, point.FixedPoint.Logits, []int{0, 10, 20, 30, 40, 50})
	for i := 2; i < len(got.Neglected); i++ {
		near(t, "growth in ten steps", got.Neglected[i]/got.Neglected[i-1], math.Pow(1.5, 10), 0.1)
	}
	p.Optimizer.Schedule.Warmup = 1000
	if got = MeanReward(p, []float64{2, -2}, []int{500, 1000}); !(got.Neglected[0] < 1e-14 &&
		got.Neglected[1] > 1e-5) {
		t.Errorf("in a warm-up rounding moves J by %v, want little and then much", got.Neglected)
	}
}

// fieldRewards returns J at t = 0 … steps of the mean field.
func fieldRewards(p Params, init []float64, steps int) []float64 {
	var rewards []float64
	m := force.New(&p)
	path.MeanField(p, init, steps,
		func(_ int, theta []float64) { rewards = append(rewards, m.Expected(theta)) })
	return rewards
}

// A learning rate near the largest number makes the logits overflow on the first step
// with a force. All logits visited before are finite, and the scope says where the
// run ended. No probability may be NaN on the way, at which binomial would panic.
func TestMeanFieldStopsWhereNumbersEnd(t *testing.T) {
	for _, method := range []option.Method{option.HeavyBall, option.Nesterov, option.Adam} {
		p := reference(option.StdScale, 100, 8)
		p.Reference = []float64{1, 0}
		p.Optimizer = option.Optimizer{Kind: method, LearningRate: 1.7e308, Momentum: 0.9, Beta1: 0.9,
			Beta2: 0.999, Epsilon: 1e-8}
		visited := 0
		_, scope := path.MeanField(p, []float64{0, 0}, 1000, func(step int, theta []float64) {
			if step != visited {
				t.Fatalf("%v: step %d after %d steps", method, step, visited)
			}
			visited++
			for _, x := range theta {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Fatalf("%v: logits %v at step %d", method, theta, step)
				}
			}
		})
		want := fmt.Sprintf("the mean field leaves the range of floating point at step %d", visited)
		if scope.In || scope.Because.String() != want || visited == 0 || visited > 10 {
			t.Errorf("%v: %+v after %d steps", method, scope, visited)
		}
	}
}

// A delay as long as the run keeps π_old at the start, as any longer delay and a block without a
// refresh do. Of 20 steps the last is the first with another snapshot at a delay of 18.
func TestDelayLongerThanTheRun(t *testing.T) {
	p := reference(option.StdScale, 1.2, 8)
	end := func(lag option.Lag) float64 {
		p.Lag = lag
		rewards := fieldRewards(p, []float64{0.5, 0}, 20)
		return rewards[len(rewards)-1]
	}
	want := end(block(20))
	for _, age := range []int{19, 20, 21, 1 << 53} {
		if got := end(delay(age)); got != want {
			t.Errorf("delay %d ends at %v, the first snapshot at %v", age, got, want)
		}
	}
	if end(delay(18)) == want {
		t.Error("the snapshot never changes at a delay of 18 in 20 steps")
	}
}

// From any start the flow of two arms ends in the fixed point on its side of the
// unstable one: of the bandit of docs/theory.md §3 with fixed points 1.174, 4.516 and
// 7.733, and of one whose penalty pulls down from the start.
func TestReachedFromAStart(t *testing.T) {
	p := reference(option.StdScale, 2, 256)
	p.Arms = []option.Arm{{Law: option.Constant, Mean: 1, Std: 0},
		{Law: option.Constant, Mean: 0, Std: 0}}
	for _, c := range []struct{ start, want float64 }{{0, 1.174}, {4.4, 1.174}, {-8, 1.174},
		{4.6, 7.733}, {6, 7.733}, {12, 7.733}} {
		p.Start = []float64{c.start / 2, -c.start / 2}
		point, ok := rest.Reached(p)
		if z := 2 * point.Logits[0]; !ok || math.Abs(z-c.want) > 1e-3 {
			t.Errorf("from %v: z = %v, want %v", c.start, z, c.want)
		}
	}
	p.GroupSize = option.Infinite // without the upper fixed point
	p.Start = []float64{3, -3}
	if point, ok := rest.Reached(p); ok {
		t.Errorf("from 6 at G = ∞: %+v, want none", point)
	}
}

// Of several arms, with equal arms that start apart, the fixed point is that in which
// small on-policy steps end, up to what 20,000 of them leave of the slowest mode.
func TestReachedWithSeveralArms(t *testing.T) {
	p := reference(option.StdScale, 2, 256)
	p.Arms = []option.Arm{{Law: option.Constant, Mean: 1, Std: 0}, {Law: option.Constant, Mean: 1,
		Std: 0}, {Law: option.Constant, Mean: 0, Std: 0}, {Law: option.Constant, Mean: 0, Std: 0}}
	p.Reference = nil
	p.Optimizer = option.Optimizer{LearningRate: 0.5}
	seen := make(map[float64]bool)
	for _, start := range [][]float64{{0, 0, 0, 0}, {1, 0, 0, -1}, {5, 5, -4, -3}, {4, 2, -3, -3}} {
		p.Start = start
		point, ok := rest.Reached(p)
		rewards := fieldRewards(p.Checked(), start, 20_000)
		if !ok || math.Abs(point.Reward-rewards[len(rewards)-1]) > 1e-5 {
			t.Errorf("from %v: J = %v, small steps end at %v", start, point.Reward, rewards[len(rewards)-1])
		}
		seen[math.Round(100*point.Reward)] = true
	}
	if len(seen) != 2 {
		t.Errorf("the starts reach %v, want two fixed points", seen)
	}
}
