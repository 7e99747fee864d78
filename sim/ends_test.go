package sim

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"grposim/option"
)

// endingCell returns a cell of 20 replicas with constant rewards 1 and 0 and no learning to speak of.
func endingCell() Cell {
	return Cell{
		ID: "ends", Seed: 1,
		Bandit:    option.Bandit{Arms: []option.Arm{{Law: option.Constant, Mean: 1}, {Law: option.Constant}}},
		Estimator: option.Estimator{GroupSize: 2, GroupsPerStep: 1, Advantage: option.Advantage{Baseline: option.MeanBaseline, Scale: option.NoScale, Std: option.PopulationStd}, Importance: option.Importance{Mode: option.NoImportance}, KL: option.KL{Gradient: option.ExactKL, At: option.AtCurrent}},
		Lag:       option.Lag{Kind: option.Block, Interval: 1},
		Optimizer: option.Optimizer{Kind: option.HeavyBall, LearningRate: 1e-12, Schedule: option.Schedule{Kind: option.ConstantRate}},
		Init:      []float64{0, math.Log(3)},
		Run:       Run{Steps: 40, BurnIn: 30, Replicas: 20},
		Ends:      18,
	}
}

// With constant rewards 1 and 0 and no learning to speak of, a replica ends where it began: J is
// that of its start at every recorded step, and so are the logits. One that starts beyond the
// range of floating point has no end.
func TestEnds(t *testing.T) {
	c := endingCell()
	diverging := c
	diverging.Optimizer.LearningRate = 1e308
	diverging.Optimizer.Momentum = 0.9
	results := make([]Result, 2)
	err := Simulate(t.Context(), []Cell{c, diverging}, 2, func(i int, r Result) error { results[i] = r; return nil })
	if err != nil || len(results[0].Ends) != 18 || len(results[1].Ends) != 18 {
		t.Fatalf("%v: %d and %d ends, want 18", err, len(results[0].Ends), len(results[1].Ends))
	}
	for i, e := range results[0].Ends {
		if e.DivergedAt != -1 || len(e.Rewards) != len(results[0].Steps) || math.Abs(e.Mean-0.25) > 1e-9 || math.Abs(e.Logits[1]-e.Logits[0]-math.Log(3)) > 1e-9 {
			t.Errorf("replica %d: %+v, want J = 1/4 throughout", i, e)
		}
		for _, reward := range e.Rewards {
			if math.Abs(reward-0.25) > 1e-9 {
				t.Errorf("replica %d: J = %g", i, reward)
			}
		}
	}
	lost := 0
	for _, e := range results[1].Ends {
		if e.DivergedAt != -1 {
			lost++
			if e.Logits != nil || e.DivergedAt > 40 || len(e.Rewards) == 0 {
				t.Errorf("%+v, want the rewards before it diverged alone", e)
			}
		}
	}
	if lost == 0 {
		t.Error("no replica diverged at a learning rate of 1e308")
	}
}

// Replicas that are run alone end as they do among all of the cell, in vectors or not, and have the
// same rewards at the recorded steps and at others.
func TestEndsOfReplicasAlone(t *testing.T) {
	for name, arms := range map[string][]option.Arm{
		"two arms":    {{Law: option.Bernoulli, Mean: 0.9}, {Law: option.Bernoulli, Mean: 0.2}},
		"normal arms": {{Law: option.Normal, Mean: 1, Std: 0.5}, {Law: option.Normal, Std: 0.5}, {Law: option.Normal, Mean: 0.3, Std: 0.5}},
	} {
		c := endingCell()
		c.Bandit.Arms, c.Init, c.Optimizer.LearningRate, c.Ends, c.Lag.Interval = arms, nil, 0.3, 20, 4
		var all Result
		if err := Simulate(t.Context(), []Cell{c}, 1, func(_ int, r Result) error { all = r; return nil }); err != nil {
			t.Fatal(err)
		}
		if slices.Equal(all.Ends[0].Rewards, all.Ends[1].Rewards) {
			t.Errorf("%s: two replicas are the same: %+v", name, all.Ends[0])
		}
		for _, part := range [][2]int{{0, 1}, {3, 2}, {7, 13}} {
			if got, want := Ends(c, all.Steps, part[0], part[1]), all.Ends[part[0]:part[0]+part[1]]; !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %d replicas from %d on: got %+v, want %+v", name, part[1], part[0], got, want)
			}
			every := make([]int, c.Run.Steps+1)
			for step := range every {
				every[step] = step
			}
			for i, got := range Ends(c, every, part[0], part[1]) {
				for n, step := range all.Steps {
					if want := all.Ends[part[0]+i].Rewards[n]; got.Rewards[step] != want {
						t.Errorf("%s: replica %d of %d from %d on: got %g at step %d, want %g", name, i, part[1], part[0], got.Rewards[step], step, want)
					}
				}
			}
		}
		if c.Estimator.GroupSize = option.Infinite; len(Ends(c, all.Steps, 0, 1)) != 1 {
			t.Errorf("%s: G = ∞ has one replica", name)
		}
	}
}

// Runs end as they do when they are read on the way, at any steps: those of every path, and of
// every lag.
func TestEndsFromALaterStep(t *testing.T) {
	bernoulli := func(means ...float64) (arms []option.Arm) {
		for _, mean := range means {
			arms = append(arms, option.Arm{Mean: mean})
		}
		return arms
	}
	prompts := &Prompts{Means: [][2]float64{{0.9, 0.2}, {0.6, 0.3}}}
	for name, set := range map[string]func(c *Cell){
		"two arms":       func(c *Cell) {},
		"a block":        func(c *Cell) { c.Lag.Interval = 4 },
		"an older block": func(c *Cell) { c.Lag = option.Lag{Interval: 4, Behind: 1} },
		"a delay":        func(c *Cell) { c.Lag = option.Lag{Kind: option.Delay, Interval: 3} },
		"random ages":    func(c *Cell) { c.Lag = option.Lag{Kind: option.Random, Ages: option.Ages{To: 3}} },
		"large groups":   func(c *Cell) { c.Estimator.GroupSize = 1000 },
		"Adam":           func(c *Cell) { c.Optimizer.Kind, c.Optimizer.Beta2, c.Optimizer.Epsilon = option.Adam, 0.99, 1e-8 },
		"three arms":     func(c *Cell) { c.Bandit.Arms = bernoulli(0.9, 0.5, 0.2) },
		"prompts":        func(c *Cell) { c.Prompts = prompts },
		"G = ∞":          func(c *Cell) { c.Estimator.GroupSize, c.Run.Replicas = option.Infinite, 1 },
	} {
		c := Cell{
			Bandit: option.Bandit{Arms: bernoulli(0.9, 0.2)}, Estimator: option.Estimator{GroupSize: 8},
			Optimizer: option.Optimizer{LearningRate: 0.3}, Run: Run{Steps: 40, BurnIn: 10, Replicas: 5},
		}
		set(&c)
		for count := range c.Replicas() { // few run one after the other, many in vectors
			whole := Ends(c, []int{0, 40}, 0, count+1)
			for _, steps := range [][]int{{40}, {1, 40}, {17, 18, 40}} {
				for i, got := range Ends(c, steps, 0, count+1) {
					want := whole[i]
					if last := len(got.Rewards) - 1; got.Rewards[last] != want.Rewards[1] || got.Mean != want.Mean || !slices.Equal(got.Logits, want.Logits) {
						t.Errorf("%s, replica %d of %d read at %v: %+v, want %+v", name, i, count+1, steps, got, want)
					}
				}
			}
		}
	}
}

func TestEndsWantsReplicasAndSteps(t *testing.T) {
	for _, c := range []struct {
		steps        []int
		first, count int
		want         string
	}{
		{[]int{0, 40}, 19, 2, "got 2 replicas from 19 on, want some of the cell's 20"},
		{[]int{0, 40}, 0, 0, "got 0 replicas"},
		{[]int{0, 39}, 0, 1, "got steps [0 39], want ascending ones to 40"},
		{[]int{10, 0, 40}, 0, 1, "want ascending"},
		{[]int{0, 0, 40}, 0, 1, "want ascending"},
		{nil, 0, 1, "got steps []"},
	} {
		func() {
			defer func() {
				if message := fmt.Sprint(recover()); !strings.Contains(message, c.want) {
					t.Errorf("got the panic %q, want %q", message, c.want)
				}
			}()
			Ends(endingCell(), c.steps, c.first, c.count)
		}()
	}
}

// A block that the run does not fill is one of any length: its samples are counted without an overflow.
func TestLongestBlock(t *testing.T) {
	for _, arms := range []int{2, 3} {
		for _, replicas := range []int{1, 16} {
			c := endingCell()
			c.Bandit.Arms = slices.Repeat([]option.Arm{{Law: option.Bernoulli, Mean: 0.5}}, arms)
			c.Bandit.Arms[0].Mean = 0.9
			c.Init, c.Ends, c.Run.Replicas = make([]float64, arms), replicas, replicas
			c.Optimizer.LearningRate, c.Estimator.GroupSize, c.Estimator.GroupsPerStep = 0.1, 4, 1024
			longest := c
			c.Lag.Interval, longest.Lag.Interval = 1000, 1<<53
			var results [2]Result
			if err := Simulate(t.Context(), []Cell{c, longest}, 1, func(i int, r Result) error { results[i] = r; return nil }); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(results[0].Ends, results[1].Ends) {
				t.Errorf("%d arms, %d replicas: J = %v with a block of 2^53 steps, %v of 1000", arms, replicas, results[1].Ends[0].Mean, results[0].Ends[0].Mean)
			}
		}
	}
}
