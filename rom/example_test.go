package rom_test

import (
	"fmt"

	"grposim/rom"
)

// A two-arm cell: Bernoulli arms of mean 0.9 and 0.2, groups of 16, the KL penalty
// with β = 0.5, heavy ball with a refresh every 4 steps.
func ExamplePredict() {
	cell := rom.Params{
		Arms:      []rom.Arm{{Law: rom.Bernoulli, Mean: 0.9}, {Law: rom.Bernoulli, Mean: 0.2}},
		GroupSize: 16,
		Groups:    1,
		Scale:     rom.Unscaled,
		Strength:  0.5,
		Anchor:    rom.AtSnapshot,
		Lag:       rom.Lag{Kind: rom.Block, Age: 4},
		Optimizer: rom.Optimizer{Method: rom.HeavyBall, Rate: 0.002, Momentum: 0.9},
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
