package sim

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// startingAt returns a cell of prompts with a policy each that start at these J: the mean of the first arm, with the probability ½.
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

// A name of a quantity is that of a stratum if it is the name that StratumReward writes.
func TestStratumNames(t *testing.T) {
	for k := 1; k <= MaxStrata; k++ {
		if got, ok := StratumReward(k).Stratum(); got != k || !ok {
			t.Errorf("%s: got %d, %v", StratumReward(k), got, ok)
		}
	}
	for _, q := range []Quantity{"reward_of_stratum_", "reward_of_stratum_0", "reward_of_stratum_5", "reward_of_stratum_01", "reward_of_stratum_+1", Strata, "1"} {
		if k, ok := q.Stratum(); ok {
			t.Errorf("%s: got %d", q, k)
		}
	}
}

// Strata are quarters of the prompts by J at the start. Prompts that start alike stay together, and empty strata are left out.
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
		if got := fmt.Sprint(strata); got != want {
			t.Errorf("%v: got %s, want %s", rewards, got, want)
		}
		if len(quantities) != len(strata)+2 || len(strata) > 0 && quantities[len(strata)] != StratumReward(len(strata)) {
			t.Errorf("%v: records %v", rewards, quantities)
		}
	}
}

// Of every cell with a policy for each prompt the strata at the start are known from the start of each prompt, ranked pair by pair, and at each step
// their mean, weighted by the numbers of their prompts, is J. At most one prompt moves in a step of one group.
func TestStrataAreTheMeansOfTheirPrompts(t *testing.T) {
	for name, c := range promptCells() {
		if !c.tabular() {
			continue
		}
		c.Run.Record, c.Run.Replicas = []Quantity{Strata}, 40
		start := make([]float64, len(c.Prompts.Means))
		for x, m := range c.Prompts.Means {
			z := c.Init[0] - c.Init[1]
			if c.Prompts.Starts != nil {
				z = c.Prompts.Starts[x]
			}
			p := 1 / (1 + math.Exp(-z))
			start[x] = p*m[0] + (1-p)*m[1]
		}
		sums, counts := [MaxStrata]float64{}, [MaxStrata]float64{}
		for _, a := range start {
			f := 0.0
			for _, b := range start {
				switch {
				case math.Abs(a-b) < 1e-9:
					f += 0.5 / float64(len(start))
				case b < a:
					f += 1 / float64(len(start))
				}
			}
			number := int(4*f + 1e-9)
			sums[number] += a
			counts[number]++
		}
		r := simulate(t, []Cell{c}, 1)[0]
		first := len(Quantities(2))
		k := 0
		for number, n := range counts {
			if n == 0 {
				continue
			}
			if got, want := r.Trajectory[0][first+k].Mean, sums[number]/n; math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: stratum %d starts at %.15g, want %.15g", name, k+1, got, want)
			}
			k++
		}
		if len(r.Quantities) != first+k || k < 2 {
			t.Fatalf("%s: records %v, want %d strata", name, r.Quantities, k)
		}
		weights := slices.DeleteFunc(counts[:], func(n float64) bool { return n == 0 })
		for i, row := range r.Trajectory {
			mean := 0.0
			for k, n := range weights {
				mean += row[first+k].Mean * n / float64(len(start))
			}
			if want := row[expectedRewardIndex].Mean; math.Abs(mean-want) > 1e-12 {
				t.Fatalf("%s, step %d: strata have the mean %.15g, all prompts %.15g", name, r.Steps[i], mean, want)
			}
		}
	}
}
