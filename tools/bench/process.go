package main

import (
	"fmt"
	"strconv"
	"strings"

	"grposim/option"
	"grposim/sim"
)

// process is the stochastic process that all contenders simulate: Bernoulli arms, block
// refresh, the exact KL penalty of the current policy with the uniform reference, and the
// heavy ball. It starts at the uniform policy.
type process struct {
	means        []float64 // mean rewards of the arms
	groupSize    int       // G
	interval     int       // refresh interval K in steps
	importance   option.ImportanceMode
	scale        option.Scale
	learningRate float64
	penaltyAt    option.KLPoint // which peers have at the current policy
}

const (
	momentum      = 0.9
	klCoefficient = 1
	learningRate  = 0.05 // the policy of few arms relaxes within about 20 steps
)

// burnIn returns the number of steps that are not averaged. The effect of the start decays
// by √μ per step, over 300 steps to e^−15; with many arms by the rate ηβ/(1−μ)A of the
// slowest mode, which the penalty alone damps.
func (p process) burnIn() int { return max(300, 30*len(p.means)) }

// newProcess returns a process without importance ratios, with the std scale. The mean
// rewards of two arms are 0.9 and 0.2, those of more are evenly spaced in (0, 1).
func newProcess(arms, groupSize, interval int) process {
	means := []float64{0.9, 0.2}
	if arms != 2 {
		means = make([]float64, arms)
		for a := range means {
			means[a] = (float64(arms-a) - 0.5) / float64(arms)
		}
	}
	return process{means, groupSize, interval, option.NoImportance, option.StdScale, learningRate, option.AtCurrent}
}

// with returns the process with another importance mode and scale.
func (p process) with(importance option.ImportanceMode, scale option.Scale) process {
	p.importance, p.scale = importance, scale
	return p
}

// atSnapshot returns the process with the KL penalty at the snapshot.
func (p process) atSnapshot() process {
	p.penaltyAt = option.AtSnapshot
	return p
}

func (p process) String() string {
	return fmt.Sprintf("%d arms, G = %d, K = %d, %s", len(p.means), p.groupSize, p.interval, p.importance)
}

// observed names the quantity whose stationary mean and variance are compared.
func (p process) observed() string {
	if len(p.means) == 2 {
		return "logit gap"
	}
	return "expected reward"
}

// length is the number of steps and replicas of a run.
type length struct{ steps, replicas int }

// cell returns the process as a cell of grposim.
func (p process) cell(l length, seed int) sim.Cell {
	c := sim.Cell{
		ID: "bench", Seed: uint64(seed),
		Estimator: option.Estimator{
			GroupSize: p.groupSize, GroupsPerStep: 1,
			Advantage:  option.Advantage{Baseline: option.MeanBaseline, Scale: p.scale, Std: option.PopulationStd},
			Importance: option.Importance{Mode: p.importance},
			KL:         option.KL{Coefficient: klCoefficient, Gradient: option.ExactKL, At: p.penaltyAt},
		},
		Lag: option.Lag{Kind: option.Block, Interval: p.interval},
		Optimizer: option.Optimizer{
			Kind: option.HeavyBall, LearningRate: p.learningRate, Momentum: momentum,
			Schedule: option.Schedule{Kind: option.ConstantRate},
		},
		Init: make([]float64, len(p.means)), Reference: make([]float64, len(p.means)),
		Run: sim.Run{Steps: l.steps, BurnIn: p.burnIn(), Replicas: l.replicas},
	}
	for _, m := range p.means {
		c.Bandit.Arms = append(c.Bandit.Arms, option.Arm{Law: option.Bernoulli, Mean: m})
	}
	c.Bandit.TrueMeans = p.means
	return c
}

// flags returns the process as the flags of a peer (bench/peers/README.md).
func (p process) flags(l length, seed int) []string {
	var means []string
	for _, m := range p.means {
		means = append(means, strconv.FormatFloat(m, 'g', -1, 64))
	}
	return []string{
		"--means", strings.Join(means, ","),
		"--group-size", strconv.Itoa(p.groupSize),
		"--interval", strconv.Itoa(p.interval),
		"--importance", p.importance.String(),
		"--scale", p.scale.String(),
		"--momentum", fmt.Sprint(momentum),
		"--learning-rate", fmt.Sprint(p.learningRate),
		"--kl", fmt.Sprint(klCoefficient),
		"--steps", strconv.Itoa(l.steps),
		"--burn-in", strconv.Itoa(p.burnIn()),
		"--replicas", strconv.Itoa(l.replicas),
		"--seed", strconv.Itoa(seed),
		"--workers", "1",
	}
}
