// Package sim runs the algorithm of package grpo: many independent replicas of a cell, in parallel.
// It imports nothing of package rom, the theory that it tests. Both take a cell in the words of
// package option (ExampleSimulate). Simulate panics with all mistakes of the first cell that has
// any, a line each.
//
//  1. A Cell is one point of a parameter sweep, with the length of the run. What it leaves out is
//     the usual; see Cell. Package probe measures more of it, by Probes beside the run, a Walk, a
//     Pair, Coupled gradients or a MeanField.
//  2. Simulate checks the cells and divides them into units of work, such as 16 replicas of one
//     cell. It runs these on a fixed number of worker goroutines.
//  3. It calls back with a Result for each finished cell. That has a status, and the recorded
//     quantities as means, standard errors and quantiles over the replicas. Its estimates have
//     names and errors: ExpectedRewardVariance is the stationary variance of J.
//
// Results are reproducible to the last bit. Every replica, every pair and every bin of a probe
// reads a random stream of its own. It is a pure function of the cell's Seed and ID, of the
// purpose and of an index (Stream). No generator is shared and no clock is read. The units of a
// cell may finish in any order; they are merged in the order of their indices. So a Result depends
// on its Cell alone: not on the number of workers, on other cells or on the machine.
package sim

import (
	"cmp"
	"context"

	"grposim/network"
	"grposim/option"
	"grposim/sim/measure"
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
	First  int        // number of the first replica, ≥ 0: none before it is run
	Edge   bool       // whether StiffnessAtEnd is measured, of a Network at G = ∞

	// Probes returns what is measured beside the run of the complete cell; nil: none.
	Probes func(c *Cell) Probes

	// Progress, if not nil, is called after each piece of work with its share of the
	// cell's, in (0, 1], from several goroutines.
	Progress func(share float64)
}

// Run is the length of a cell, and what it records beside the quantities that every cell records.
type Run struct {
	Steps    int // optimizer steps, ≥ 1
	BurnIn   int // initial steps that averages leave out, in [0, Steps); 0: no averages
	Replicas int // independent replicas, ≥ 1; at G = ∞ one is run, and this is unused

	Record []Quantity // of PassAt(k), ProbabilityOf(a), …, each once, at most 12, Strata as 4
}

// Prompts are the prompts of a cell: bandits of two Bernoulli arms. One is chosen for each of the B
// groups of a step (docs/theory-trainers.md §11.7). J is the mean of their expected rewards, and so
// are the other recorded quantities. The largest importance ratio and the norm of the gradient are
// those of all.
type Prompts struct {
	Means      [][2]float64 // mean rewards of both arms by prompt, in [0, 1]; at least 2 prompts
	Starts     []float64    // of Tabular: logit gaps of the start and π_ref; nil: the cell's
	Parameters option.Parameters
	Order      option.PromptOrder
}

// Network makes the logits of the policies of several contexts functions of shared weights. Every
// step draws Estimator.GroupsPerStep groups in each of the C contexts. Let u_x be the force on the
// logits of context x and J_x its Jacobian. The optimizer steps the weights by their gradient
//
//	g = (1/C) Σ_x J_xᵀ u_x.
//
// J is the mean of the contexts' expected rewards, and so are the other recorded quantities of
// policies. Of the importance ratio the largest of all is recorded, and the norm of the gradient is
// that of g.
type Network struct {
	New       func() network.Network // returns the network, with workspace of its own
	Weights   []float64              // at step 0, finite, P of them
	Means     [][]float64            // mean rewards by context of Bernoulli arms, in [0, 1]
	Reference [][]float64            // logits of π_ref by context, finite
}

// CurveFit is a fit to the mean curve of J over the replicas, or to the logs of the replicas.
type CurveFit string

// The fits.
const (
	SaturationFit CurveFit = "saturation"  // exponential: SaturationRate, SaturationR2
	EarlySlopeFit CurveFit = "early-slope" // the paper's estimate of the stiffness: EarlySlope
	LoggedFit     CurveFit = "logged"      // every measure.Law to the logged reward: LoggedR2, …
)

// Probes measure something of a cell beside its run, or instead of it. The workers of Simulate do
// their units in any order, several at a time.
type Probes interface {
	Alone() bool                                   // whether the cell is not run
	Units() int                                    // pieces of work, ≥ 1 where the cell is not run
	Do(ctx context.Context, unit int)              // may stop where ctx is done
	Estimates(ctx context.Context) []measure.Named // is called once, after the last unit
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

// completeNumbers gives the numbers that are left out.
func (c *Cell) completeNumbers() {
	c.Estimator.Complete()
	c.Lag.Complete()
	c.Run.Replicas = cmp.Or(c.Run.Replicas, 1)
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

// tabular reports whether the cell has prompts with a policy each.
func (c *Cell) tabular() bool { return c.Prompts != nil && c.Prompts.Parameters == option.Tabular }

// means returns the mean rewards of the arms, with prompts those of the mean prompt.
func (c *Cell) means() []float64 {
	if c.Prompts == nil {
		return c.Bandit.Means()
	}
	m := make([]float64, 2)
	for _, prompt := range c.Prompts.Means {
		m[0] += prompt[0] / float64(len(c.Prompts.Means))
		m[1] += prompt[1] / float64(len(c.Prompts.Means))
	}
	return m
}

// agedByGroup reports whether a step has several groups, each with a snapshot of its own.
func (c *Cell) agedByGroup() bool {
	single := c.Lag.Kind == option.Random && c.Lag.Ages.Drawn == option.AgePerGroup
	return single && c.Estimator.GroupsPerStep > 1
}

// Estimate returns the mean of independent values, each known but for rounding, with its standard
// error. At G = ∞, where nothing is random, it is the first of them, exact.
func (c *Cell) Estimate(values []float64, rounding float64) measure.Estimate {
	if c.Deterministic() {
		return measure.Certain(values[0])
	}
	return measure.Rounded(values, rounding)
}

// Jackknife returns the estimate of a statistic of bins, as measure.Jackknife; at G = ∞ it is exact.
func (c *Cell) Jackknife(bins int, statistic func(without int) float64) measure.Estimate {
	if c.Deterministic() {
		return measure.Certain(statistic(measure.All))
	}
	return measure.Jackknife(bins, statistic)
}
