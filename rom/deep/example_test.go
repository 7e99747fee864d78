package deep_test

import (
	"fmt"

	"grposim/network"
	"grposim/option"
	"grposim/rom"
	"grposim/rom/deep"
	"grposim/rom/linear"
)

// Addition modulo 3 by a small network whose initial policy is the reference; ratio and k3, four
// steps from each snapshot.
func ExampleRange_Dynamics() {
	task := network.Addition(3, 0.9, 0.2)
	policy := network.NewMLP(task.Inputs, []int{16}, task.Arms, network.Tanh)
	weights := policy.Initial(1)
	reference := make([]float64, policy.Contexts()*policy.Arms())
	policy.Logits(weights, reference)
	contexts := make([]rom.Params, policy.Contexts())
	for x := range contexts {
		from, to := x*task.Arms, (x+1)*task.Arms
		contexts[x] = rom.Params{Reference: reference[from:to], Estimator: option.Estimator{
			GroupSize: 16, Advantage: option.Advantage{Scale: option.NoScale},
			Importance: option.Importance{Mode: option.Ratio}, KL: option.KL{Coefficient: 0.4, Gradient: option.K3},
		}}
		for _, mean := range task.Means[from:to] {
			contexts[x].Arms = append(contexts[x].Arms, option.Arm{Mean: mean})
		}
	}
	point := deep.FixedPoint(contexts)
	if _, err := network.Fit(policy, weights, point.Logits); err != nil {
		panic(err)
	}
	policy.Logits(weights, reference) // products are now those at the fixed point

	fresh := deep.Largest(policy, point.Fresh, 1, 10)[0].Value
	lag := option.Lag{Kind: option.Block, Interval: 4}
	dynamics := deep.NewRange(policy).Dynamics(point, linear.Update{Rate: 0.1, Lag: linear.NewLag(&lag)})
	critical := dynamics.Threshold(linear.CriticalRate).At
	fmt.Printf("J at the fixed point  %.3f\n", point.Reward)
	fmt.Printf("critical rate × λ_f   %.3f\n", critical*fresh)
	fmt.Printf("critical interval     %v\n", dynamics.Threshold(linear.CriticalInterval).At)

	// Output:
	// J at the fixed point  0.675
	// critical rate × λ_f   2.000
	// critical interval     +Inf
}
