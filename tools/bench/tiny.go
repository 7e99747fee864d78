package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"strings"

	"github.com/google/pprof/profile"

	"grposim/sweeps"
	"grposim/sweeps/config"
)

// The sweep of tiny cells shows that even in small cells most of the time is spent in the
// simulator.
const (
	tinyCells = "%d cells of 1000 steps of 256 replicas: outside the simulator"

	tinyConfig = `
name: tiny
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: 16, kl: {coefficient: 1}}
optimizer: {learning_rate: 0.1}
run: {steps: 1000, burn_in: 200, replicas: 256}
sweep:
  - {param: optimizer.learning_rate, range: {from: %[1]g, to: 0.1, step: %[1]g}}
  - {param: optimizer.momentum, values: [0, 0.2, 0.3, 0.4, 0.5]}
  - {param: lag.interval, values: [1, 4]}
`
)

// tinySweep returns the name of the sweep, which has ten cells for each learning rate.
func tinySweep(e effort) string { return fmt.Sprintf(tinyCells, 10*e.learningRates) }

// tinyYAML returns the configuration of the sweep.
func tinyYAML(e effort) []byte {
	return fmt.Appendf(nil, tinyConfig, 0.1/float64(e.learningRates))
}

// outside measures the share of its processor time that a sweep of tiny cells spends
// outside the simulator: in the theory, in writing files, in garbage collection. It takes
// the share from a CPU profile, which includes system calls.
func outside(ctx context.Context, e effort, folder string) ([]comparison, error) {
	c := comparison{what: tinySweep(e), over: "all its processor time", target: target{bound: 0.1}}
	spec, err := config.Load("tiny", tinyYAML(e))
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(folder, "tiny")
	if err != nil {
		return nil, err
	}
	plan := sweeps.NewPlan(spec)
	var data bytes.Buffer
	if err := pprof.StartCPUProfile(&data); err != nil {
		return nil, err
	}
	_, err = sweeps.Run(ctx, plan, dir, 2, sweeps.NoProgress{})
	pprof.StopCPUProfile()
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		return nil, err
	}
	p, err := profile.Parse(&data)
	if err != nil {
		return nil, err
	}
	inside, all := shares(p)
	work := 0.
	for i := range plan.Cells {
		work += plan.Cells[i].Work()
	}
	c.add((all-inside)/work, all/work)
	return []comparison{c}, nil
}

// shares returns the nanoseconds of a CPU profile that are spent in the simulator, and all
// nanoseconds. A sample belongs to the innermost of grposim's packages on its stack.
func shares(p *profile.Profile) (inside, all float64) {
	value := len(p.SampleType) - 1 // nanoseconds come after the number of samples
	for _, sample := range p.Sample {
		all += float64(sample.Value[value])
		if inSimulator(sample) {
			inside += float64(sample.Value[value])
		}
	}
	return inside, all
}

// inSimulator reports whether a sample belongs to sim, grpo or a package below them. It
// is false if no function of grposim is on the stack, as in garbage collection.
func inSimulator(sample *profile.Sample) bool {
	for _, location := range sample.Location {
		for _, line := range location.Line {
			if name := line.Function.Name; strings.HasPrefix(name, "grposim/") {
				return strings.HasPrefix(name, "grposim/sim") || strings.HasPrefix(name, "grposim/grpo")
			}
		}
	}
	return false
}
