package sim

import (
	"fmt"
	"math"
	"testing"
)

// startingAt returns a cell of prompts that start at these J. The first arm has the probability ½.
func startingAt(rewards ...float64) Cell {
	return promptCell(func(c *Cell) {
		c.Prompts.Means, c.Prompts.Starts = nil, nil
		for _, reward := range rewards {
			c.Prompts.Means = append(c.Prompts.Means, [2]float64{2 * reward, 0})
			c.Prompts.Starts = append(c.Prompts.Starts, 0)
		}
		c.Run = Run{Steps: 30, Replicas: 40, Record: []Quantity{SamplesDrawn, Strata, PassAt(2)}}
	})
}

// Strata are quarters of the prompts by J at the start. Those that start alike stay together.
func TestStrata(t *testing.T) {
	for want, rewards := range map[string][]float64{
		"[[1 4] [3 6] [2 7] [0 5]]": {0.4, 0.1, 0.3, 0.2, 0.05, 0.45, 0.15, 0.35},
		"[[1] [2] [0]]":             {0.3, 0.1, 0.2},
		"[[1] [0]]":                 {0.5, 0},
		"[]":                        {0.1, 0.1, 0.1},
		"[[0 1 2 3 4 5 6] [7]]":     {0.1, 0.1 + 1e-16, 0.1, 0.1, 0.1 - 1e-16, 0.1, 0.1, 0.4},
		"[[2 3] [0] [1]]":           {0.4, 0.5, 0, 0},
		"[[0] [1 2] [3]]":           {-0.4, -0.1, -0.1 - 1e-16, 0},
	} {
		c := startingAt(rewards...)
		quantities, strata := c.own()
		equal(t, rewards, fmt.Sprint(strata), want)
		if len(quantities) != len(strata)+2 || len(strata) > 0 &&
			quantities[len(strata)] != StratumReward(len(strata)) {
			t.Errorf("%v: records %v", rewards, quantities)
		}
	}
}

// At each step the mean of the strata, weighted by the numbers of their prompts, is J. At the start
// each is the mean over its prompts.
func TestStrataAreTheMeansOfTheirPrompts(t *testing.T) {
	for name, c := range promptCells() {
		if !c.tabular() {
			continue
		}
		c.Run.Record, c.Run.Replicas = []Quantity{Strata}, 40
		r, first := simulate(t, []Cell{c}, 1)[0], len(Quantities(2))
		_, strata := c.own()
		if len(r.Quantities) != first+len(strata) || len(strata) < 2 {
			t.Fatalf("%s: records %v, want %d strata", name, r.Quantities, len(strata))
		}
		for k, prompts := range strata {
			want := 0.0
			for _, x := range prompts {
				p, m := 1/(1+math.Exp(-c.Prompts.Starts[x])), c.Prompts.Means[x]
				want += (p*m[0] + (1-p)*m[1]) / float64(len(prompts))
			}
			near(t, name, r.Trajectory[0][first+k].Mean, want, 1e-12)
		}
		for i, row := range r.Trajectory {
			mean := 0.0
			for k, prompts := range strata {
				mean += row[first+k].Mean * float64(len(prompts)) / float64(len(c.Prompts.Means))
			}
			if want := row[expectedRewardIndex].Mean; math.Abs(mean-want) > 1e-12 {
				t.Fatalf("%s, step %d: strata have the mean %.15g, all %.15g", name, r.Steps[i], mean, want)
			}
		}
	}
}
