package main

import (
	"fmt"
	"strconv"
	"strings"

	"grposim/grpo"
	"grposim/sim"
)

// process is the stochastic process that all contenders simulate: Bernoulli arms
// of the given mean rewards, block lag, the exact KL penalty at the current policy
// towards the uniform one, heavy ball; from the uniform policy.
type process struct {
	means        []float64
	groupSize    int
	interval     int
	importance   grpo.ImportanceMode
	scale        grpo.Scale
	learningRate float64
}

const (
	momentum      = 0.9
	klCoefficient = 1
	learningRate  = 0.05 // relaxes within some 20 steps

	// burnIn is the number of steps that do not count: the start, √μ a step, is
	// forgotten to e^−15.
	burnIn = 300
)

// newProcess is frozen, with the std scale, on arms evenly spaced over the rewards:
// 0.9 and 0.2 if they are two.
func newProcess(arms, groupSize, interval int) process {
	means := []float64{0.9, 0.2}
	if arms != 2 {
		means = make([]float64, arms)
		for a := range means {
			means[a] = (float64(arms-a) - 0.5) / float64(arms)
		}
	}
	return process{means, groupSize, interval, grpo.NoImportance, grpo.StdScale, learningRate}
}

// with returns the process with another importance and scale.
func (p process) with(importance grpo.ImportanceMode, scale grpo.Scale) process {
	p.importance, p.scale = importance, scale
	return p
}

func (p process) String() string {
	return fmt.Sprintf("%d arms, G = %d, K = %d, %s", len(p.means), p.groupSize, p.interval, p.importance)
}

// observed names what the stationary law is of.
func (p process) observed() string {
	if len(p.means) == 2 {
		return "logit gap"
	}
	return "expected reward"
}

// length is how much of a process is simulated.
type length struct{ steps, replicas int }

// cell is the process for grposim.
func (p process) cell(l length, seed int) sim.Cell {
	c := sim.Cell{
		ID: "bench", Seed: uint64(seed),
		Estimator: grpo.Estimator{
			GroupSize: p.groupSize, GroupsPerStep: 1,
			Advantage:  grpo.Advantage{Baseline: grpo.MeanBaseline, Scale: p.scale, Std: grpo.PopulationStd},
			Importance: grpo.Importance{Mode: p.importance},
			KL:         grpo.KL{Coefficient: klCoefficient, Gradient: grpo.ExactKL, At: grpo.AtCurrent},
		},
		Lag: grpo.Lag{Kind: grpo.Block, Interval: p.interval},
		Optimizer: grpo.Optimizer{
			Kind: grpo.HeavyBall, LearningRate: p.learningRate, Momentum: momentum,
			Schedule: grpo.Schedule{Kind: grpo.ConstantRate},
		},
		Init: make([]float64, len(p.means)), Reference: make([]float64, len(p.means)),
		Run: sim.Run{Steps: l.steps, BurnIn: burnIn, Replicas: l.replicas},
	}
	for _, m := range p.means {
		c.Bandit.Arms = append(c.Bandit.Arms, grpo.Arm{Reward: grpo.Bernoulli, Mean: m})
	}
	c.Bandit.TrueMeans = p.means
	return c
}

// flags is the process for a peer (bench/peers/README.md).
func (p process) flags(l length, seed int) []string {
	var means []string
	for _, m := range p.means {
		means = append(means, strconv.FormatFloat(m, 'g', -1, 64))
	}
	return []string{
		"--means", strings.Join(means, ","),
		"--group-size", strconv.Itoa(p.groupSize),
		"--interval", strconv.Itoa(p.interval),
		"--importance", string(p.importance),
		"--scale", string(p.scale),
		"--momentum", fmt.Sprint(momentum),
		"--learning-rate", fmt.Sprint(p.learningRate),
		"--kl", fmt.Sprint(klCoefficient),
		"--steps", strconv.Itoa(l.steps),
		"--burn-in", strconv.Itoa(burnIn),
		"--replicas", strconv.Itoa(l.replicas),
		"--seed", strconv.Itoa(seed),
		"--workers", "1",
	}
}
