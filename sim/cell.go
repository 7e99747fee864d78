package sim

import (
	"grposim/grpo"
	"grposim/option"
)

// Cell is one point of a parameter sweep: what to simulate and what to measure. Simulate checks
// every field. A cell needs arms, a group size, a learning rate and a number of steps. What else is
// left out is the usual: one group a step, on-policy, the group's mean and deviation, no weights,
// no penalty. The optimizer is then a plain gradient step, the start and the reference are the
// uniform policy, and there is one replica.
type Cell struct {
	ID        string // with Seed, selects the cell's random streams; equal ones give equal streams
	Seed      uint64
	Bandit    option.Bandit // TrueMeans may be nil: the arms' means
	Prompts   *Prompts      // replace the means of the arms of Bandit; nil: there is one prompt
	Network   *Network      // gives the logits of several contexts; nil: there is one policy
	Estimator option.Estimator
	Lag       option.Lag
	Optimizer option.Optimizer
	Init      []float64 // logits at step 0, finite, one an arm; nil: zeros
	Reference []float64 // logits of π_ref, finite, one an arm; nil: zeros
	Run       Run

	ReferenceUpdate option.ReferenceUpdate // of π_ref, which begins as Reference

	Fits   []CurveFit // fits to the mean curve of J
	Traces int        // number of replicas whose recorded series the Result returns, ≥ 0
	Ends   int        // number of replicas whose ends the Result returns, ≥ 0
	Edge   bool       // whether StiffnessAtEnd is measured, of a Network at G = ∞

	// Probes returns what is measured beside the run of the complete cell; nil: none.
	Probes func(c *Cell) Probes

	// Progress, if not nil, is called after each piece of work with its share of the
	// cell's, in (0, 1], from several goroutines.
	Progress func(share float64)
}

// Deterministic reports whether the cell follows the expected gradient, G = ∞, so that
// all its replicas are equal.
func (c *Cell) Deterministic() bool { return c.Estimator.GroupSize == option.Infinite }

// Replicas returns the number of replicas that run: one if all are equal.
func (c *Cell) Replicas() int {
	if c.Deterministic() {
		return 1
	}
	return max(c.Run.Replicas, 1)
}

// Draws reports whether step t draws groups of its own, or at G = ∞ evaluates the expected
// gradient. It does in every step, or with reused samples at a refresh.
func (c *Cell) Draws(t int) bool {
	return c.Estimator.Samples != option.Reused || c.Lag.Refreshes(t)
}

// checked returns the complete cell. It panics with the mistakes of its caller: lists that were
// left out have none.
func (c Cell) checked() *Cell {
	m := new(option.Mistakes)
	c.Check(m)
	m.Panic("sim")
	return c.complete()
}

// completeNumbers gives the numbers that are left out.
func (c *Cell) completeNumbers() {
	c.Estimator.Complete()
	c.Lag.Complete()
	if c.Run.Replicas == 0 {
		c.Run.Replicas = 1
	}
}

// complete returns a copy of the cell with values for what it leaves out.
func (c Cell) complete() *Cell {
	c.completeNumbers()
	if c.Bandit.TrueMeans == nil {
		c.Bandit.TrueMeans = c.means()
	}
	if c.Init == nil {
		c.Init = make([]float64, len(c.Bandit.Arms))
	}
	if c.Reference == nil {
		c.Reference = make([]float64, len(c.Bandit.Arms))
	}
	return &c
}

// policies returns those of the contexts of a cell, nil where there is one policy.
func (c *Cell) policies() policies {
	switch {
	case c.tabular():
		return newTabular(c)
	case c.Network != nil:
		return newContexts(c, newLaws)
	}
	return nil
}

// means returns the arms' mean rewards.
func means(bandit *option.Bandit) []float64 {
	m := make([]float64, len(bandit.Arms))
	for a, arm := range bandit.Arms {
		m[a] = arm.Mean
	}
	return m
}

// Memory returns about how many bytes one worker needs for the policies of the replicas that it
// runs together. There are 16 for each arm of the present and of all older snapshots that the lag
// needs. With Network each replica also has some 8 lists of the P weights, such as its own, the
// gradient, the optimizer's state and the workspace.
func (c *Cell) Memory() float64 {
	policies := 4 + max(grpo.StoredPolicies(&c.Lag, c.Run.Steps)-1, 0) // with the initial
	if c.tabular() {
		policies += 2 * len(c.Prompts.Means) // with the state of the optimizer
	}
	weights := 0.0
	if c.Network != nil {
		policies *= len(c.Network.Means)
		weights = float64(min(chunkSize, c.Replicas())) * 8 * 8 * float64(len(c.Network.Weights))
	}
	if c.Prompts != nil && c.Estimator.Filter == option.Redraw {
		policies += len(c.Prompts.Means) // as much as promptRedraws
	}
	return float64(chunkSize*float64(policies)*float64(16*len(c.Bandit.Arms)+100)) + weights
}
