package sim

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"grposim/option"
)

// validCell uses every field that validation reads.
func validCell() Cell {
	c := referenceCell()
	c.Bandit.Arms[1] = option.Arm{Law: option.Normal, Mean: 0.2, Std: 0.1}
	c.Run = Run{Steps: 20, BurnIn: 5, Replicas: 2}
	c.Estimator.Importance.Mode = option.Clip
	c.Fits = []CurveFit{SaturationFit}
	return c
}

// Simulate panics on the caller's goroutine with the field, its value and its range.
func TestInvalidCells(t *testing.T) {
	const several = "arms: got 0, want ≥ 2\nsim: Estimator.GroupSize: got 0, want ≥ 2\nsim: Opt"
	const finite = ", want 2 finite numbers, one an arm"
	prompts := func(change func(c *Cell)) func(c *Cell) {
		return func(c *Cell) { *c = promptCell(nothing); change(c) }
	}
	for want, change := range map[string]func(c *Cell){
		"sim: number of " + several:                   func(c *Cell) { *c = Cell{} },
		"sim: Bandit.TrueMeans: got []" + finite:      func(c *Cell) { c.Bandit.TrueMeans = []float64{} },
		"sim: Estimator.GroupSize: got 1099511627776": func(c *Cell) { c.Estimator.GroupSize = 1 << 40 },
		"sim: ReferenceUpdate.Interval: got -1":       func(c *Cell) { c.ReferenceUpdate.Interval = -1 },
		"sim: Init: got [0 NaN]" + finite:             func(c *Cell) { c.Init = []float64{0, math.NaN()} },
		"sim: Run.BurnIn: got 20":                     func(c *Cell) { c.Run.BurnIn = 20 },
		"sim: Run.Record: got entropy":                func(c *Cell) { c.Run.Record = []Quantity{Entropy} },
		"want rewards of 0 or 1":                      func(c *Cell) { c.Run.Record = []Quantity{PassAt(2)} },
		"want prompts with a policy each":             func(c *Cell) { c.Run.Record = []Quantity{Strata} },
		"sim: Prompts.Means[0]":                       prompts(func(c *Cell) { c.Prompts.Means[0][1] = 1.5 }),
		"sim: Prompts.Starts":                         prompts(func(c *Cell) { c.Prompts.Parameters = option.Shared }),
		"sim: Prompts.Order: got shuf":                prompts(func(c *Cell) { c.Estimator.Filter = option.Redraw }),
		"sim: Lag.Kind":                               prompts(func(c *Cell) { c.Lag.Kind = option.Delay }),
		"sim: Network.Means[1]: got [0.9 1.5 0.4]": func(c *Cell) {
			*c, _ = DeepCell(BaseOfNetworks(), []float64{1, 2})
			c.Network.Means[1][1] = 1.5
		},
		"sim: Optimizer.MaxNorm: got 2": func(c *Cell) {
			*c, _ = DeepCell(BaseOfNetworks(), []float64{1, 2})
			c.Optimizer.MaxNorm = 2
		},
	} {
		c := validCell()
		change(&c)
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("got %q, want %q in it", got, want)
				}
			}()
			err := Simulate(t.Context(), []Cell{validCell(), c}, 1,
				func(int, Result) error { t.Error("a cell was simulated"); return nil })
			t.Errorf("error %v, want a panic", err)
		}()
	}
}

func nothing(*Cell) {}

// Lists that are nil stand for the arms' means and for zero logits.
func TestNilLists(t *testing.T) {
	full := validCell()
	full.Init, full.Reference = []float64{0, 0}, []float64{0, 0}
	short := full
	short.Bandit.TrueMeans, short.Init, short.Reference = nil, nil, nil
	results := simulate(t, []Cell{full, short}, 1)
	same(t, "lists", results[0], results[1])
}
