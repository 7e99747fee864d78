package grpo_test

import (
	"math"
	"testing"

	"grposim/grpo"
	"grposim/option"
)

// equal checks that two values are the same.
func equal[T comparable](t *testing.T, of any, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%v: got %v, want %v", of, got, want)
	}
}

// near checks that a number is within a tolerance of another.
func near(t *testing.T, of any, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%v: got %.17g, want %.17g", of, got, want)
	}
}

// With a constant force a heavy ball moves by ηs and Nesterov's by η(1 + μs) at step n, where s is
// (1−μ^n)/(1−μ).
func TestMomentumFromRest(t *testing.T) {
	for _, o := range []option.Optimizer{{Momentum: 0.9}, {Kind: option.Nesterov, Momentum: 0.5}} {
		logits, state := []float64{0, 0}, grpo.NewOptimizerState(2)
		for n := 1; n <= 20; n++ {
			before := logits[0]
			grpo.Step(&o, logits, []float64{1, -1}, state, 0.2)
			s := (1 - math.Pow(o.Momentum, float64(n))) / (1 - o.Momentum)
			if o.Kind == option.Nesterov {
				s = 1 + o.Momentum*s
			}
			near(t, o.Kind, logits[0]-before, 0.2*s, 1e-14)
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
	near(t, "first logit", logits[0], 0.2, 1e-15)
	near(t, "second logit", logits[1], -0.225, 1e-15)
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
		near(t, c, grpo.RateFactor(&c.schedule, c.step), c.want, 1e-15)
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
		near(t, "sum", sum, 1, 1e-14)
		near(t, "mean", mean, c.mean, 1e-12)
		near(t, "p_2", p[2], c.one, 1e-15)
		equal(t, "oldest", len(p)-1, c.oldest)
		near(t, "age", grpo.LagAge(&option.Lag{Kind: option.Random, Ages: c.ages}), c.mean, 1e-12)
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
