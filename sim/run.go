// Package sim runs the algorithm of grpo: many replicas of one cell, in
// parallel, the same bytes for any number of workers.
//
// It must not see the theory it tests.
package sim

// Run is the length of a cell: Steps optimizer steps, of which the first
// BurnIn do not count for stationary averages, in Replicas independent
// replicas.
type Run struct {
	Steps    int
	BurnIn   int
	Replicas int
}
