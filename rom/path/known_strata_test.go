package path

import (
	"fmt"
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
)

// promptParams returns a cell of three prompts with the given policies.
func promptParams(policies option.Parameters, scale option.Scale) cell.Params {
	p := cell.Params{
		Arms: []option.Arm{{Mean: 0.6}, {Mean: 1.0 / 3}},
		Estimator: option.Estimator{GroupSize: 3, GroupsPerStep: 1,
			Advantage: option.Advantage{Scale: scale}, KL: option.KL{Coefficient: 0.5}},
		Optimizer: option.Optimizer{LearningRate: 0.1},
		Lag:       option.Lag{Kind: option.Block, Interval: 1},
		Prompts: cell.Prompts{First: []float64{0.9, 0.8, 0.1}, Second: []float64{0.2, 0.3, 0.5},
			Parameters: policies, Order: option.Independent},
	}
	return p
}

// Strata are quarters of the prompts by J at the start; prompts that start alike stay together.
func TestStrata(t *testing.T) {
	for _, c := range []struct {
		first []float64 // J at the start is half of it
		want  string
	}{
		{[]float64{0.8, 0.2, 0.6, 0.4, 0.1, 0.9, 0.3, 0.7}, "[4 1] [6 3] [2 7] [0 5]"},
		{[]float64{0.3, 0.1, 0.2}, "[1] [2] [0]"},
		{[]float64{0.5, 0.1}, "[1] [0]"},
		{[]float64{0.5, 0.5, 0.5}, ""},
		{[]float64{0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.9}, "[0 1 2 3 4 5 6] [7]"},
	} {
		p := promptParams(option.Tabular, option.NoScale)
		p.Prompts.First, p.Prompts.Second = c.first, make([]float64, len(c.first))
		got := ""
		for i, s := range strata(&p, []float64{0, 0}) {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprint(s.Prompts)
			if low, high := c.first[s.Prompts[0]]/2, c.first[s.Prompts[len(s.Prompts)-1]]/2; s.Low != low ||
				s.High != high || !(s.Best >= 2*low-1e-12 && s.Best <= 2*high+1e-12) {
				t.Errorf("%v: stratum from %v to %v, the best %v", c.first, s.Low, s.High, s.Best)
			}
		}
		if got != c.want {
			t.Errorf("%v: got %s, want %s", c.first, got, c.want)
		}
	}
}

// fourPrompts are prompts of which two are visited in a step.
func fourPrompts(order option.PromptOrder, momentum float64) cell.Params {
	p := promptParams(option.Tabular, option.StdScale)
	p.Prompts = cell.Prompts{
		First: []float64{0.9, 0.8, 1, 0.7}, Second: []float64{0.2, 0.3, 0, 0.1},
		Starts:     []float64{-1, 0, -2, 0.5},
		Parameters: option.Tabular, Order: order,
	}
	p.GroupsPerStep, p.GroupSize = 2, 4
	p.Optimizer = option.Optimizer{LearningRate: 0.3 * (1 - momentum), Momentum: momentum}
	return p
}

// The share of equal groups of an epoch in order is that of the prompts that the step visits, of
// the policies that the mean field, followed step by step, has there; logit gaps move in the way
// that a prompt has gone between its visits.
func TestQuantitiesOfVisitsStepByStep(t *testing.T) {
	for _, mu := range []float64{0, 0.7} {
		p := fourPrompts(option.InOrder, mu)
		p.Factors = cell.Factors{Stiffness: 1, Noise: 1e-12, Lag: 1, Mass: 1}
		const steps = 60
		at, shares, gaps := make([]int, steps), make([]float64, steps), make([]float64, steps)
		theta, velocity := make([][]float64, 4), make([][]float64, 4)
		for x := range theta {
			_, theta[x] = p.Prompt(x, nil)
			velocity[x] = make([]float64, 2)
		}
		for i := range at {
			at[i] = i
			for x := range theta {
				one, _ := p.Prompt(x, nil)
				gaps[i] += (theta[x][0] - theta[x][1]) / 4
				pushed := make([]float64, 2)
				if x/2 == i%2 {
					j := force.ExpectedReward(one, theta[x])
					shares[i] += (math.Pow(j, 4) + math.Pow(1-j, 4)) / 2
					force.Mean(pushed, one, theta[x], theta[x])
				}
				for a, f := range pushed {
					velocity[x][a] = mu*velocity[x][a] + f/2
					theta[x][a] += p.Optimizer.LearningRate * velocity[x][a]
				}
			}
		}
		paths := Paths(p, nil, at, ZeroVariance, LogitGap)
		for i := range at {
			for k, want := range [2]float64{shares[i], gaps[i]} {
				if !(math.Abs(paths[k].Mean[i]-want) <= 1e-9) {
					t.Fatalf("μ = %v, step %d: got %.10f, want %.10f (%s)", mu, i, paths[k].Mean[i], want,
						paths[k].Scope.Because)
				}
			}
		}
	}
}

// In the middle of a shuffled epoch half of the prompts have been visited and the others are drawn:
// over the six halves of four prompts J of the mean field has the predicted standard deviation, and
// so has the share of equal groups with the binomial noise of its two groups.
func TestDeviationOfShuffledEpochs(t *testing.T) {
	p := fourPrompts(option.Shuffled, 0)
	p.Factors = cell.Factors{Stiffness: 1, Noise: 1e-12, Lag: 1, Mass: 1}
	paths := Paths(p, nil, []int{0, 1}, Reward, ZeroVariance)
	var before, after, share [4]float64
	for x := range 4 {
		one, theta := p.Prompt(x, nil)
		before[x] = force.ExpectedReward(one, theta)
		share[x] = math.Pow(before[x], 4) + math.Pow(1-before[x], 4)
		pushed := make([]float64, 2)
		force.Mean(pushed, one, theta, theta)
		for a := range theta {
			theta[a] += p.Optimizer.LearningRate / 2 * pushed[a]
		}
		after[x] = force.ExpectedReward(one, theta)
	}
	var sum, square, equal, squared, noise float64
	for x := range 4 {
		for y := range x {
			j := 0.0
			for k := range 4 {
				if j += before[k] / 4; k == x || k == y {
					j += (after[k] - before[k]) / 4
				}
			}
			z := (share[x] + share[y]) / 2
			sum, square, equal, squared = sum+j/6, square+j*j/6, equal+z/6, squared+z*z/6
			noise += (share[x]*(1-share[x]) + share[y]*(1-share[y])) / 4 / 6
		}
	}
	near(t, "J", paths[0].Mean[1], sum, 1e-9)
	near(t, "deviation of J", paths[0].Deviation[1], math.Sqrt(square-sum*sum), 1e-6)
	near(t, "share", paths[1].Mean[0], equal, 1e-9)
	near(t, "deviation of the share", paths[1].Deviation[0], math.Sqrt(squared-equal*equal+noise),
		1e-6)
}

// Clipped samples and pass@k of prompts that share a policy are those of all groups of all prompts,
// counted sample by sample.
func TestQuantitiesOfSharedPrompts(t *testing.T) {
	p := promptParams(option.Shared, option.StdScale)
	p.Importance = option.Importance{Mode: option.Clip, ClipLow: 0.2, ClipHigh: 0.2}
	p = p.Checked()
	m, now, old := force.New(&p), []float64{0.4, -0.4}, []float64{0, 0}
	var share, pass float64
	for x := range p.Prompts.First {
		means := []float64{p.Prompts.First[x], p.Prompts.Second[x]}
		policy := make([]float64, 2)
		cell.Softmax(policy, now)
		pass += (1 - math.Pow(1-policy[0]*means[0]-policy[1]*means[1], 5)) / 3
		for group := range 64 { // three samples of two arms and two rewards
			chance, total, clipped := 1.0, 0, 0
			for i := range 3 {
				total += group >> (2*i + 1) & 1
			}
			for i := range 3 {
				arm, reward := group>>(2*i)&1, group>>(2*i+1)&1
				chance *= 0.5 * (float64(reward)*means[arm] + float64(1-reward)*(1-means[arm]))
				if ratio := 2 * policy[arm]; reward == 1 && ratio > 1.2 || reward == 0 && ratio < 0.8 {
					clipped++
				}
			}
			if total > 0 && total < 3 {
				share += chance * float64(clipped) / 3 / 3
			}
		}
	}
	clip := observables[ClipFraction]
	near(t, "clipped", clip.of(m, now, old), share, 1e-12)
	o, because := observableOf(&p, PassAt(5))
	if because.Out() {
		t.Fatal(because)
	}
	near(t, "pass@5", o.of(m, now, old), pass, 1e-12)
}
