package config_test

import (
	"fmt"

	"grposim/sweeps/config"
)

const small = `name: small
seed: 1
bandit:
  arms:
    - {reward: bernoulli, mean: 0.9}
    - {reward: bernoulli, mean: 0.2}
grpo: {group_size: 16}
optimizer: {learning_rate: 0.02}
run: {steps: 2000}
sweep:
  - {param: grpo.group_size, values: [4, 8, 16]}
  - {param: lag.interval, values: [1, 4]}
`

func ExampleLoad() {
	spec, err := config.Load("small.yaml", []byte(small), "run.steps=500")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(spec.Name+":", len(spec.Points()), "cells of", spec.Base.Run.Steps, "steps")
	// Output: small: 6 cells of 500 steps
}
