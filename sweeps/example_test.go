package sweeps_test

import (
	"context"
	"fmt"
	"log"

	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
)

// A sweep over the group size G, in memory. Its check compares the mean reward in the
// long run with the theory's fixed point, and as a control with that of a deliberately
// wrong theory, in which the KL penalty is too strong.
func Example() {
	const text = `
name: example
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
policy: {init: fixed-point}
grpo: {group_size: 16, advantage: {scale: none}, kl: {coefficient: 0.5, at: snapshot}}
optimizer: {learning_rate: 0.1}
run: {steps: 1000, burn_in: 200, replicas: 8}
sweep: [{param: grpo.group_size, values: [16, 64]}]
checks:
  - {claim: fixed-point, margin: 0.03, control: {set: {grpo.kl.coefficient: 1}}}
`
	spec, err := config.Load("example.yaml", []byte(text))
	if err != nil {
		log.Fatal(err)
	}
	p := plan.New(spec)
	outcomes, err := plan.Simulate(context.Background(), p, 2)
	if err != nil {
		log.Fatal(err)
	}
	verdicts, err := sweeps.Judge(p, outcomes)
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range verdicts {
		fmt.Printf("%s, %s: %v\n", v.Label, v.Quantity, v.Verdict)
		fmt.Printf("with %s: %v\n", v.Control.Fault, v.Control.Verdict)
	}
	fmt.Println(judge.Summarize(verdicts))
	// Output:
	// G=16, expected reward, mean: agree
	// with grpo.kl.coefficient = 1: disagree
	// G=64, expected reward, mean: agree
	// with grpo.kl.coefficient = 1: disagree
	// 2 agree, 0 disagree, 0 inconclusive, 0 out of scope; 2 of 2 planted faults caught (2 change a setting, law, mode or class)
}
