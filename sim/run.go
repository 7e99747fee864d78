// Package sim runs the algorithm of package grpo: many independent replicas of a cell,
// in parallel. It imports nothing of package rom, the theory that it tests.
//
//  1. A Cell is one point of a parameter sweep: a bandit, an estimator, a lag, an
//     optimizer, a start, the length of the run, and the probes that measure something
//     in addition to it.
//  2. Simulate checks the cells, divides them into units of work, such as 16 replicas
//     of one cell, and runs these on a fixed number of worker goroutines.
//  3. It calls back with a Result for each finished cell: its status, the recorded
//     quantities as means, standard errors and quantiles over the replicas, and
//     estimates with their errors, each with a name: the stationary variance of J is
//     ExpectedRewardVariance, measured if Run.BurnIn > 0.
//
// Results are reproducible to the last bit. Every replica, every pair of replicas and
// every bin of a stiffness probe reads a random stream that is a pure function of the
// cell's Seed and ID, of the purpose and of an index (Stream). No generator is shared
// and no clock is read. The units of a cell may finish in any order; they are merged in
// the order of their indices. So a Result depends on its Cell alone: not on the number
// of workers, on other cells or on the machine.
package sim

// Run is the length of a cell.
type Run struct {
	Steps    int // optimizer steps, ≥ 1
	BurnIn   int // initial steps left out of stationary averages, in [0, Steps); 0: no stationary estimates
	Replicas int // independent replicas, ≥ 1; at G = ∞ one is run, and this is unused
}
