package sim_test

import (
	"context"
	"fmt"
	"log"

	"grposim/option"
	"grposim/rom"
	"grposim/sim"
)

func ExampleSimulate() {
	arms := []option.Arm{{Mean: 0.9}, {Mean: 0.2}} // rewards of 0 and 1
	estimator := option.Estimator{GroupSize: 16, KL: option.KL{Coefficient: 1}}
	lag := option.Lag{Interval: 4}
	optimizer := option.Optimizer{LearningRate: 0.05, Momentum: 0.9}

	cell := sim.Cell{
		Bandit: option.Bandit{Arms: arms}, Estimator: estimator, Lag: lag, Optimizer: optimizer,
		Run: sim.Run{Steps: 4000, BurnIn: 1000, Replicas: 32},
	}
	var measured sim.Result
	err := sim.Simulate(context.Background(), []sim.Cell{cell}, 2, func(_ int, r sim.Result) error {
		measured = r
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	theory := rom.Predict(rom.Params{Arms: arms, Estimator: estimator, Lag: lag, Optimizer: optimizer})
	if !theory.Noise.In {
		log.Fatal(theory.Noise.Because)
	}
	reward := theory.FixedPoint.Reward
	if shift := theory.Moments.RewardShift; shift != nil { // else theory.Moments.Because
		reward += *shift
	}
	for _, e := range measured.Estimates {
		switch e.Name {
		case sim.ExpectedRewardMean:
			fmt.Printf("E J = %.4f ± %.4f, predicted %.4f\n", e.Mean, e.StdErr, reward)
		case sim.ExpectedRewardVariance:
			fmt.Printf("Var J = %.6f ± %.6f, predicted %.6f\n", e.Mean, e.StdErr, *theory.Moments.RewardVariance)
		}
	}
	// Output:
	// E J = 0.7859 ± 0.0004, predicted 0.7852
	// Var J = 0.000759 ± 0.000018, predicted 0.000762
}
