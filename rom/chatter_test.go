package rom

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
)

// chattering returns two arms with the rewards 1 and 0 and the KL penalty in the reward, whose
// fixed point z* = 1/β is a sliding point.
func chattering(size, groups int, rate float64) Params {
	return Params{
		Arms:      []option.Arm{{Law: option.Constant, Mean: 1}, {Law: option.Constant, Mean: 0}},
		Estimator: option.Estimator{GroupSize: size, GroupsPerStep: groups, Advantage: option.Advantage{Scale: option.StdScale}, KL: option.KL{Coefficient: 0.5, In: option.InReward}},
		Lag:       option.Lag{Kind: option.Block, Interval: 1},
		Optimizer: option.Optimizer{Kind: option.HeavyBall, LearningRate: rate},
	}
}

// At G = 16 and β = 0.5 the standard deviation of z is 0.626·2η√(pq) (docs/theory-trainers.md §11.5), so
// that Var z ∝ η².
func TestPrintedChatter(t *testing.T) {
	for _, rate := range []float64{0.1, 0.01} {
		got := Predict(chattering(16, 1, rate))
		if !got.Noise.In || got.Exact.Scope.In {
			t.Fatalf("η = %v: noise %+v, linear dynamics %+v", rate, got.Noise, got.Exact.Scope)
		}
		pi := got.FixedPoint.Policy
		deviation := math.Sqrt(*got.LeadingOrder.StationaryVariance.LogitGap) / (2 * rate * math.Sqrt(pi[0]*pi[1]))
		if s := fmt.Sprintf("%.3f", deviation); s != "0.626" {
			t.Errorf("η = %v: sd z = %s·2η√(pq), want 0.626", rate, s)
		}
	}
}

// The variance of J of a chain whose groups are drawn sample by sample, with the softmax anew at
// each step, within 2 % (its standard error is 0.3 %; p rises with z) and what is neglected.
func TestChatterOfAChain(t *testing.T) {
	for _, c := range []struct {
		size, groups int
		baseline     option.Baseline
		deviation    option.Deviation
	}{{16, 1, option.MeanBaseline, option.PopulationStd}, {4, 1, option.MeanBaseline, option.SampleStd}, {8, 3, option.LeaveOneOut, option.PopulationStd}} {
		p := chattering(c.size, c.groups, 0.02)
		p.Advantage.Baseline, p.Advantage.Std = c.baseline, c.deviation
		got := Predict(p)
		want := *got.LeadingOrder.StationaryVariance.ExpectedReward
		if !(got.Neglected.RewardVariance < 0.02*want) {
			t.Fatalf("%+v: neglects %v of %v", c, got.Neglected.RewardVariance, want)
		}
		random := rand.New(rand.NewPCG(7, uint64(c.size)))
		z, sum, squares, n := 2.01, 0.0, 0.0, 0.0
		for step := range 400_000 {
			first, force := 1/(1+math.Exp(-z)), 0.0
			better := 1 - p.KL.Coefficient*(math.Log(2*first)-math.Log(2*(1-first))) // the reward of the first arm less that of the second
			for range c.groups {
				drawn := 0.0
				for range c.size {
					if random.Float64() < first {
						drawn++
					}
				}
				if r := drawn / float64(c.size); r > 0 && r < 1 {
					s := math.Abs(better) * math.Sqrt(r*(1-r))
					if c.deviation == option.SampleStd {
						s *= math.Sqrt(float64(c.size) / float64(c.size-1))
					}
					advantage := better * (1 - r) / s
					if c.baseline == option.LeaveOneOut {
						advantage *= float64(c.size) / float64(c.size-1)
					}
					force += r * advantage / float64(c.groups)
				}
			}
			z += 2 * p.Optimizer.LearningRate * force
			if step >= 1000 {
				j := 1 / (1 + math.Exp(-z))
				sum, squares, n = sum+j, squares+j*j, n+1
			}
		}
		if variance := squares/n - sum*sum/(n*n); math.Abs(variance-want) > 0.02*want {
			t.Errorf("%+v: Var J = %v, want %v", c, variance, want)
		}
	}
}

// Elsewhere the law of a chattering run is not derived.
func TestChatterScope(t *testing.T) {
	for name, change := range map[string]func(*Params){
		"momentum":       func(p *Params) { p.Optimizer.Momentum = 0.5 },
		"lag":            func(p *Params) { p.Lag.Interval = 2 },
		"epsilon":        func(p *Params) { p.Advantage.Epsilon = 1e-4 },
		"few samples":    func(p *Params) { p.GroupSize = 3 },
		"a rare arm":     func(p *Params) { p.KL.Coefficient = 0.1 },
		"noisy rewards":  func(p *Params) { p.Arms = []option.Arm{{Mean: 0.99}, {Mean: 0}} },
		"a largest norm": func(p *Params) { p.Optimizer.MaxNorm = 0.1 },
		"G = ∞":          func(p *Params) { p.GroupSize = option.Infinite },
		"decaying rate":  func(p *Params) { p.Optimizer.Schedule.Kind, p.Optimizer.Schedule.Total = option.LinearDecay, 100 },
	} {
		p := chattering(16, 1, 0.02)
		change(&p)
		if got := Predict(p); got.Chatter != 0 {
			t.Errorf("%s: the law of a chattering run", name)
		}
	}
}
