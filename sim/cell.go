package sim

import "grposim/grpo"

// Cell is one point of a sweep: numbers only, ready to run.
type Cell struct {
	ID        string // with Seed, names the cell's random streams
	Seed      uint64
	Bandit    grpo.Bandit
	Estimator grpo.Estimator
	Lag       grpo.Lag
	Optimizer grpo.Optimizer
	Init      []float64 // logits at step 0
	Reference []float64 // logits of π_ref
	Run       Run
	Stiffness []StiffnessProbe // measured besides the run

	Relaxation *RelaxationProbe // measured besides the run; nil: not
	Location   *LocationProbe   // nil: none; such a cell simulates nothing else
	Fits       []CurveFit       // numbers read off the mean curve of J
	Traces     int              // how many replicas' recorded series the Result returns
}

// Deterministic reports whether the cell follows the expected gradient: all
// replicas would be the same.
func (c *Cell) Deterministic() bool { return c.Estimator.GroupSize == grpo.Infinite }

// replicas is how many replicas are run.
func (c *Cell) replicas() int {
	if c.Deterministic() {
		return 1
	}
	return c.Run.Replicas
}

// means returns the arms' mean rewards.
func means(bandit *grpo.Bandit) []float64 {
	m := make([]float64, len(bandit.Arms))
	for a, arm := range bandit.Arms {
		m[a] = arm.Mean
	}
	return m
}
