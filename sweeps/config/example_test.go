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
	fmt.Println(spec.Name)
	fmt.Println(len(spec.Points()), "cells")
	fmt.Println(spec.Base.Run.Steps, "steps")
	// Output:
	// small
	// 6 cells
	// 500 steps
}

func ExampleLoad_misspeltKey() {
	_, err := config.Load("small.yaml", []byte(small+"lag: {intervall: 4}\n"))
	fmt.Println(err)
	// Output:
	// small.yaml:13:7: lag.intervall: got an unknown key, want kind, interval, behind, ages or samples, did you mean "interval"?
}
