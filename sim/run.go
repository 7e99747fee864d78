// Package sim runs the algorithm of package grpo: many independent replicas of a cell,
// in parallel. It imports nothing of package rom, the theory that it tests. Both take a cell
// in the words of package option:
//
//	arms := []option.Arm{{Mean: 0.9}, {Mean: 0.2}} // rewards of 0 and 1
//	estimator := option.Estimator{GroupSize: 16, KL: option.KL{Coefficient: 1}}
//	lag := option.Lag{Interval: 4}
//	optimizer := option.Optimizer{LearningRate: 0.05, Momentum: 0.9}
//
//	cell := sim.Cell{
//		Bandit: option.Bandit{Arms: arms}, Estimator: estimator, Lag: lag, Optimizer: optimizer,
//		Run: sim.Run{Steps: 4000, BurnIn: 1000, Replicas: 32},
//	}
//	var measured sim.Result
//	err := sim.Simulate(context.Background(), []sim.Cell{cell}, 2, func(_ int, r sim.Result) error {
//		measured = r
//		return nil
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	theory := rom.Predict(rom.Params{Arms: arms, Estimator: estimator, Lag: lag, Optimizer: optimizer})
//	if !theory.Noise.In {
//		log.Fatal(theory.Noise.Because)
//	}
//	reward := theory.FixedPoint.Reward
//	if shift := theory.Moments.RewardShift; shift != nil { // else theory.Moments.Because
//		reward += *shift
//	}
//	for _, e := range measured.Estimates {
//		switch e.Name {
//		case sim.ExpectedRewardMean:
//			fmt.Printf("E J = %.4f ± %.4f, predicted %.4f\n", e.Mean, e.StdErr, reward)
//		case sim.ExpectedRewardVariance:
//			fmt.Printf("Var J = %.6f ± %.6f, predicted %.6f\n", e.Mean, e.StdErr, *theory.Moments.RewardVariance)
//		}
//	}
//
// What a cell leaves out is the usual; see Cell. Simulate panics with all mistakes of the
// first cell that has any, a line each.
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

// Run is the length of a cell, and what it records beside the quantities that every cell records.
type Run struct {
	Steps    int // optimizer steps, ≥ 1
	BurnIn   int // initial steps left out of stationary averages, in [0, Steps); 0: no stationary estimates
	Replicas int // independent replicas, ≥ 1; at G = ∞ one is run, and this is unused

	Record []Quantity // PassAt(k), EffectiveSampleSize, SamplesDrawn, Strata, each once, at most 10 with Strata as 4; nil: none
}
