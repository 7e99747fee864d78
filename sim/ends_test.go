package sim

import (
	"math"
	"slices"
	"testing"

	"grposim/option"
)

// endingCell returns a cell of 20 replicas with constant rewards 1 and 0 that hardly learns.
func endingCell() Cell {
	return Cell{
		ID: "ends", Seed: 1,
		Bandit: option.Bandit{Arms: []option.Arm{{Law: option.Constant, Mean: 1}, {Law: option.Constant}}},
		Estimator: option.Estimator{
			GroupSize: 2, GroupsPerStep: 1, Advantage: option.Advantage{Scale: option.NoScale},
		},
		Lag: option.Lag{Interval: 1}, Optimizer: option.Optimizer{LearningRate: 1e-12},
		Init: []float64{0, math.Log(3)}, Run: Run{Steps: 40, BurnIn: 30, Replicas: 20},
		Ends: 18,
	}
}

// With constant rewards 1 and 0 and no learning to speak of, a replica ends where it began. One
// whose logits leave the range of floating point has no end.
func TestEnds(t *testing.T) {
	c := endingCell()
	diverging := c
	diverging.Optimizer.LearningRate, diverging.Optimizer.Momentum = 1e308, 0.9
	results := simulate(t, []Cell{c, diverging}, 2)
	if len(results[0].Ends) != 18 || len(results[1].Ends) != 18 {
		t.Fatalf("%d and %d ends, want 18", len(results[0].Ends), len(results[1].Ends))
	}
	for i, e := range results[0].Ends {
		if e.DivergedAt != -1 || len(e.Rewards) != len(results[0].Steps) ||
			math.Abs(e.Mean-0.25) > 1e-9 || math.Abs(e.Logits[1]-e.Logits[0]-math.Log(3)) > 1e-9 {
			t.Errorf("replica %d: %+v, want J = 1/4 throughout", i, e)
		}
		for _, reward := range e.Rewards {
			near(t, i, reward, 0.25, 1e-9)
		}
	}
	for _, e := range results[1].Ends {
		if e.DivergedAt == -1 || e.Logits != nil || e.DivergedAt > 40 || len(e.Rewards) == 0 {
			t.Errorf("%+v, want the rewards before it diverged alone", e)
		}
	}
}

// Runs end as they do among all of the cell, alone or in parts, read at any steps.
func TestEndsOfReplicasAlone(t *testing.T) {
	for name, set := range map[string]func(c *Cell){
		"two arms":       func(c *Cell) {},
		"a block":        func(c *Cell) { c.Lag.Interval = 4 },
		"an older block": func(c *Cell) { c.Lag = option.Lag{Interval: 4, Behind: 1} },
		"a delay":        func(c *Cell) { c.Lag = option.Lag{Kind: option.Delay, Interval: 3} },
		"random ages":    func(c *Cell) { c.Lag = option.Lag{Kind: option.Random, Ages: option.Ages{To: 3}} },
		"large groups":   func(c *Cell) { c.Estimator.GroupSize = 1000 },
		"Adam": func(c *Cell) {
			c.Optimizer.Kind, c.Optimizer.Beta2, c.Optimizer.Epsilon = option.Adam, 0.99, 1e-8
		},
		"three arms":  func(c *Cell) { c.Bandit.Arms = append(c.Bandit.Arms, option.Arm{Mean: 0.5}) },
		"normal arms": func(c *Cell) { c.Bandit.Arms[0] = option.Arm{Law: option.Normal, Mean: 1, Std: 0.5} },
		"prompts":     func(c *Cell) { c.Prompts = &Prompts{Means: [][2]float64{{0.9, 0.2}, {0.6, 0.3}}} },
		"G = ∞":       func(c *Cell) { c.Estimator.GroupSize, c.Run.Replicas = option.Infinite, 1 },
	} {
		c := Cell{
			Bandit:    option.Bandit{Arms: []option.Arm{{Mean: 0.9}, {Mean: 0.2}}},
			Estimator: option.Estimator{GroupSize: 8},
			Optimizer: option.Optimizer{LearningRate: 0.3}, Run: Run{Steps: 40, BurnIn: 10, Replicas: 20},
			Ends: 20,
		}
		set(&c)
		all := simulate(t, []Cell{c}, 1)[0]
		if c.Replicas() > 1 {
			last := c
			last.First, last.Run.Replicas = 7, 13
			for i, e := range simulate(t, []Cell{last}, 1)[0].Ends {
				if want := all.Ends[7+i]; e.Mean != want.Mean || !slices.Equal(e.Logits, want.Logits) {
					t.Errorf("%s: %+v is replica %d of the last, want %+v", name, e, i, want)
				}
			}
		}
		for _, part := range [][2]int{{0, 1}, {3, 2}, {7, 13}} { // alone, in vectors
			if c.Replicas() == 1 {
				part = [2]int{0, 1}
			}
			for _, steps := range [][]int{all.Steps, {0, 40}, {1, 40}, {17, 18, 40}} {
				for i, got := range Ends(c, steps, part[0], part[1]) {
					want := all.Ends[part[0]+i]
					for n, step := range steps {
						if at := slices.Index(all.Steps, step); at >= 0 && got.Rewards[n] != want.Rewards[at] {
							t.Errorf("%s, replica %d: J = %v at step %d, want %v", name, part[0]+i, got.Rewards[n], step,
								want.Rewards[at])
						}
					}
					if got.Mean != want.Mean || !slices.Equal(got.Logits, want.Logits) {
						t.Errorf("%s, replica %d read at %v: %+v, want %+v", name, part[0]+i, steps, got, want)
					}
				}
			}
		}
	}
}

// A block that the run does not fill is one of any length: its samples are counted without an
// overflow.
func TestLongestBlock(t *testing.T) {
	for _, replicas := range []int{1, 16} {
		c := endingCell()
		c.Bandit.Arms = []option.Arm{{Mean: 0.9}, {Mean: 0.5}, {Mean: 0.5}}
		c.Init, c.Ends, c.Run.Replicas = nil, replicas, replicas
		c.Optimizer.LearningRate, c.Estimator.GroupSize, c.Estimator.GroupsPerStep = 0.1, 4, 1024
		longest := c
		c.Lag.Interval, longest.Lag.Interval = 1000, 1<<53
		results := simulate(t, []Cell{c, longest}, 1)
		same(t, replicas, results[0].Ends, results[1].Ends)
	}
}
