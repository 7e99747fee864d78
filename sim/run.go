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

// Run is the length of a cell, and what it records beside the quantities that every cell records.
type Run struct {
	Steps    int // optimizer steps, ≥ 1
	BurnIn   int // initial steps that averages leave out, in [0, Steps); 0: no averages
	Replicas int // independent replicas, ≥ 1; at G = ∞ one is run, and this is unused

	Record []Quantity // of PassAt(k), EffectiveSampleSize, …, each once, at most 10, Strata as 4
}
