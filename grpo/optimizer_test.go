package grpo_test

import (
	"math"
	"testing"

	"grposim/grpo"
	"grposim/option"
)

// Heavy ball with a constant force moves by η(1−μ^n)/(1−μ) at step n.
func TestHeavyBallFromRest(t *testing.T) {
	o := option.Optimizer{LearningRate: 0.1, Momentum: 0.9}
	logits, state := []float64{0, 0}, grpo.NewOptimizerState(2)
	for n := 1; n <= 20; n++ {
		before := logits[0]
		grpo.Step(&o, logits, []float64{1, -1}, state, o.LearningRate)
		want := 0.1 * (1 - math.Pow(0.9, float64(n))) / 0.1
		if got := logits[0] - before; math.Abs(got-want) > 1e-14 {
			t.Fatalf("step %d moves %g, want %g", n, got, want)
		}
	}
}

// Nesterov with a constant force moves by η(1 + μ(1−μ^n)/(1−μ)) at step n.
func TestNesterovFromRest(t *testing.T) {
	o := option.Optimizer{Kind: option.Nesterov, Momentum: 0.5}
	logits, state := []float64{0, 0}, grpo.NewOptimizerState(2)
	for n := 1; n <= 20; n++ {
		before := logits[0]
		grpo.Step(&o, logits, []float64{1, -1}, state, 0.2)
		want := 0.2 * (1 + 0.5*(1-math.Pow(0.5, float64(n)))/0.5)
		if got := logits[0] - before; math.Abs(got-want) > 1e-14 {
			t.Fatalf("step %d moves %g, want %g", n, got, want)
		}
	}
}

// With a constant force every step of Adam is η in the direction of the force,
// whatever its size; a force of 0 moves nothing.
func TestAdamIsScaleFree(t *testing.T) {
	o := option.Optimizer{Kind: option.Adam, Beta1: 0.9, Beta2: 0.999}
	logits, state := []float64{0, 0, 0}, grpo.NewOptimizerState(3)
	for n := 1; n <= 50; n++ {
		grpo.Step(&o, logits, []float64{1e-3, -40, 0}, state, 0.01)
		want := 0.01 * float64(n)
		if math.Abs(logits[0]-want) > 1e-12 || math.Abs(logits[1]+want) > 1e-12 || logits[2] != 0 {
			t.Fatalf("step %d: logits %v, want ±%g and 0", n, logits, want)
		}
	}
}

// Adam's epsilon is added to the root of the second moment: the first step is
// ηg/(|g| + ε).
func TestAdamEpsilon(t *testing.T) {
	o := option.Optimizer{Kind: option.Adam, Beta1: 0.9, Beta2: 0.99, Epsilon: 0.25}
	logits := []float64{0, 0}
	grpo.Step(&o, logits, []float64{0.5, -0.75}, grpo.NewOptimizerState(2), 0.3)
	if math.Abs(logits[0]-0.2) > 1e-15 || math.Abs(logits[1]+0.225) > 1e-15 {
		t.Errorf("logits %v, want 0.2 and -0.225", logits)
	}
}

func TestScheduleFactor(t *testing.T) {
	for _, c := range []struct {
		schedule option.Schedule
		step     int
		want     float64
	}{
		{option.Schedule{Kind: option.ConstantRate}, 10, 1},
		{option.Schedule{Warmup: 4}, 0, 0.25},
		{option.Schedule{Warmup: 4}, 3, 1},
		{option.Schedule{Kind: option.LinearDecay, Warmup: 10, Total: 110}, 35, 0.75},
		{option.Schedule{Kind: option.LinearDecay, Total: 100}, 200, 0},
		{option.Schedule{Kind: option.CosineDecay, Total: 90}, 30, 0.75},
		{option.Schedule{Kind: option.CosineDecay, Total: 90}, 45, 0.5},
		{option.Schedule{Kind: option.CosineDecay, Total: 90}, 90, 0},
	} {
		if got := grpo.RateFactor(&c.schedule, c.step); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%+v at step %d: %.17g, want %g", c.schedule, c.step, got, c.want)
		}
	}
}

// The probabilities of a law of ages add to 1 and have its mean; those of a geometric law are
// (1−r) r^j.
func TestAges(t *testing.T) {
	table := option.Ages{Law: option.TableAges}
	table.Weights = [option.MaxTableAge + 1]float64{2: 9, 22: 1}
	for _, c := range []struct {
		ages      option.Ages
		mean, one float64 // one: probability of age 2
		oldest    int
	}{
		{option.Ages{Law: option.UniformAges, From: 2, To: 6}, 4, 0.2, 6},
		{option.Ages{Law: option.UniformAges, To: 8}, 4, 1. / 9, 8},
		{table, 4, 0.9, 22},
		{option.Ages{Law: option.GeometricAges, Mean: 4}, 4, 0.2 * 0.64, 154},
	} {
		p := grpo.AgeProbabilities(&c.ages)
		sum, mean := 0.0, 0.0
		for age, x := range p {
			sum += x
			mean += x * float64(age)
		}
		if math.Abs(sum-1) > 1e-14 || math.Abs(mean-c.mean) > 1e-12 || math.Abs(p[2]-c.one) > 1e-15 || len(p) != c.oldest+1 {
			t.Errorf("%+v: sum %v, mean %v, p_2 %v, oldest %d", c.ages, sum, mean, p[2], len(p)-1)
		}
		lag := option.Lag{Kind: option.Random, Ages: c.ages}
		if age := grpo.LagAge(&lag); math.Abs(age-c.mean) > 1e-12 {
			t.Errorf("%+v: age %v", c.ages, age)
		}
	}
}

// The behaviour policy of step t is that of step max(K(⌊t/K⌋ − d), 0), or max(t−τ, 0).
func TestHistory(t *testing.T) {
	for _, lag := range []option.Lag{
		{Interval: 1}, {Interval: 4}, {Interval: 1, Behind: 1}, {Interval: 3, Behind: 2},
		{Kind: option.Delay}, {Kind: option.Delay, Interval: 1}, {Kind: option.Delay, Interval: 3},
		{Kind: option.Delay, Interval: 300, Behind: 2},
	} {
		history := grpo.NewHistory(lag, 2, 100)
		current := grpo.NewPolicy([]float64{0, 0})
		for step := range 20 {
			current.Logits[0] = float64(step)
			current.Update()
			want := step
			if lag.Kind == option.Block {
				want = max(step/lag.Interval-lag.Behind, 0) * lag.Interval
			} else {
				want = max(step-lag.Interval, 0)
			}
			if got := history.Behaviour(step, current); got.Logits[0] != float64(want) ||
				got.Probs[0] != grpo.NewPolicy(got.Logits).Probs[0] {
				t.Fatalf("%+v: step %d draws from step %v, want %d", lag, step, got.Logits[0], want)
			}
		}
	}
}
