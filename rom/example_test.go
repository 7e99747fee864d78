package rom_test

import (
	"fmt"

	"grposim/option"
	"grposim/rom"
)

// A two-arm cell: Bernoulli arms of mean 0.9 and 0.2, groups of 16, the KL penalty
// with β = 0.5, heavy ball with a refresh every 4 steps.
func ExamplePredict() {
	cell := rom.Params{
		Arms:      []option.Arm{{Law: option.Bernoulli, Mean: 0.9}, {Law: option.Bernoulli, Mean: 0.2}},
		Estimator: option.Estimator{GroupSize: 16, GroupsPerStep: 1, Advantage: option.Advantage{Scale: option.NoScale}, KL: option.KL{Coefficient: 0.5, At: option.AtSnapshot}},
		Lag:       option.Lag{Kind: option.Block, Interval: 4},
		Optimizer: option.Optimizer{Kind: option.HeavyBall, LearningRate: 0.002, Momentum: 0.9},
	}
	prediction := rom.Predict(cell)

	if prediction.FixedPoint == nil {
		fmt.Println("no fixed point")
		return
	}
	fmt.Printf("expected reward at the fixed point  %.3f\n", prediction.FixedPoint.Reward)
	fmt.Printf("stiffness of the stiffest mode      %.3f\n", prediction.Stiffness.Total)

	exact := prediction.Exact
	if !exact.Scope.In {
		fmt.Println("out of scope:", exact.Scope.Because)
		return
	}
	if rate := exact.CriticalLearningRate; rate != nil {
		fmt.Printf("critical learning rate              %.2f\n", *rate)
	}
	if !prediction.Noise.In {
		fmt.Println("out of scope:", prediction.Noise.Because)
		return
	}
	fmt.Printf("stationary variance of J            %.2g (%s)\n",
		*exact.StationaryVariance.ExpectedReward, prediction.ForceKind)

	// Output:
	// expected reward at the fixed point  0.752
	// stiffness of the stiffest mode      0.167
	// critical learning rate              0.44
	// stationary variance of J            9.8e-06 (exact)
}
