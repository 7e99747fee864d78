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

// fieldRewards returns J at t = 0 … steps of the mean field.
func fieldRewards(p Params, init []float64, steps int) []float64 {
	var rewards []float64
	m := force.New(&p)
	path.MeanField(p, init, steps, func(_ int, theta []float64) { rewards = append(rewards, m.Expected(theta)) })
	return rewards
}

// A learning rate near the largest number makes the logits overflow on the first step
// with a force. All logits visited before are finite, and the scope says where the
// run ended. No probability may be NaN on the way, at which binomial would panic.
func TestMeanFieldStopsWhereNumbersEnd(t *testing.T) {
	for _, method := range []option.Method{option.HeavyBall, option.Nesterov, option.Adam} {
		p := reference(option.StdScale, 100, 8)
		p.Reference = []float64{1, 0}
		p.Optimizer = option.Optimizer{Kind: method, LearningRate: 1.7e308, Momentum: 0.9, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
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

// A delay as long as the run keeps π_old at the start, as any longer delay and
// a block without a refresh do. Of 20 steps the last is the first with another
// snapshot at a delay of 18.
func TestDelayLongerThanTheRun(t *testing.T) {
	p := reference(option.StdScale, 1.2, 8)
	end := func(lag option.Lag) float64 {
		p.Lag = lag
		rewards := fieldRewards(p, []float64{0.5, 0}, 20)
		return rewards[len(rewards)-1]
	}
	want := end(option.Lag{Kind: option.Block, Interval: 20})
	for _, age := range []int{19, 20, 21, 1 << 53} {
		if got := end(option.Lag{Kind: option.Delay, Interval: age}); got != want {
			t.Errorf("delay %d ends at %v, the first snapshot at %v", age, got, want)
		}
	}
	if end(option.Lag{Kind: option.Delay, Interval: 18}) == want {
		t.Error("the snapshot never changes at a delay of 18 in 20 steps")
	}
}

// From any start the flow of two arms ends in the fixed point on its side of the
// unstable one: of the bandit of docs/theory.md §3 with fixed points 1.174, 4.516 and
// 7.733, and of one whose penalty pulls down from the start.
func TestReachedFromAStart(t *testing.T) {
	p := reference(option.StdScale, 2, 256)
	p.Arms = []option.Arm{{Law: option.Constant, Mean: 1, Std: 0}, {Law: option.Constant, Mean: 0, Std: 0}}
	for _, c := range []struct{ start, want float64 }{{0, 1.174}, {4.4, 1.174}, {-8, 1.174}, {4.6, 7.733}, {6, 7.733}, {12, 7.733}} {
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
	p.Arms = []option.Arm{{Law: option.Constant, Mean: 1, Std: 0}, {Law: option.Constant, Mean: 1, Std: 0}, {Law: option.Constant, Mean: 0, Std: 0}, {Law: option.Constant, Mean: 0, Std: 0}}
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
