//go:build long

package rom

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"

	"gonum.org/v1/gonum/floats"
)

// drawAdamCell returns a random cell of two to five arms under Adam, and where its runs start.
func drawAdamCell(r *rand.Rand) (p Params, start []float64, steps int) {
	between := func(low, high float64) float64 { return math.Exp(math.Log(low) + r.Float64()*math.Log(high/low)) }
	rate := between(2e-3, 3e-2)
	p = adamCell(option.Scale(r.IntN(2)), []int{4, 8, 16}[r.IntN(3)], []int{1, 1, 4}[r.IntN(3)], []float64{0, between(0.005, 1)}[r.IntN(2)], rate,
		[]float64{0.95, 0.98, 0.999}[r.IntN(3)], []int{1, 1, 4, 16}[r.IntN(4)])
	p.Advantage.Baseline, p.Advantage.Epsilon = option.Baseline(r.IntN(2)), 1e-6
	p.Importance.Mode = []option.ImportanceMode{option.NoImportance, option.Ratio}[r.IntN(2)]
	for range 2 + r.IntN(4) {
		p.Arms = append(p.Arms, option.Arm{Law: option.Bernoulli, Mean: 0.05 + 0.9*r.Float64()})
		start = append(start, r.NormFloat64())
	}
	return p.checked(), start, int(min(2/rate, 400))
}

// simulateAdam returns the mean of J and its standard error at the steps at, sample by sample.
func simulateAdam(p Params, start []float64, at []int, runs int, r *rand.Rand) (mean, deviation []float64) {
	arms, o := len(p.Arms), p.Optimizer
	mean, deviation = make([]float64, len(at)), make([]float64, len(at))
	probs, past, group := make([]float64, arms), make([]float64, arms), make([]sample, p.GroupSize)
	for range runs {
		theta, old := append([]float64{}, start...), append([]float64{}, start...)
		m, v := make([]float64, arms), make([]float64, arms)
		decay1, decay2, n := 1.0, 1.0, 0
		for t := 0; ; t++ {
			softmax(probs, theta)
			if at[n] == t {
				j := expected(p.Arms, probs)
				mean[n] += j / float64(runs)
				deviation[n] += j * j / float64(runs)
				if n++; n == len(at) {
					break
				}
			}
			if t%p.Lag.Interval == 0 {
				copy(old, theta)
			}
			softmax(past, old)
			force := make([]float64, arms)
			for range p.GroupsPerStep {
				for i := range group {
					a, u := 0, r.Float64()
					for a < arms-1 && u >= past[a] {
						u -= past[a]
						a++
					}
					group[i] = sample{arm: a}
					if r.Float64() < p.Arms[a].Mean {
						group[i].reward = 1
					}
				}
				floats.AddScaled(force, 1/float64(p.GroupsPerStep), sampledForce(p, theta, old, group))
			}
			decay1, decay2 = decay1*o.Beta1, decay2*o.Beta2
			for a, g := range force {
				m[a], v[a] = o.Beta1*m[a]+(1-o.Beta1)*g, o.Beta2*v[a]+(1-o.Beta2)*g*g
				theta[a] += o.LearningRate * m[a] / (1 - decay1) / (math.Sqrt(v[a]/(1-decay2)) + o.Epsilon)
			}
		}
	}
	for n, j := range mean {
		deviation[n] = math.Sqrt(max(deviation[n]-j*j, 0) / float64(runs))
	}
	return mean, deviation
}

// On the way E J of simulated runs is as predicted, up to the size of what the prediction leaves out. Of 24 cells at 6 steps one
// mean is more than 5.5 standard errors further away with a probability of 6e-6.
func TestLongAdamPathSimulated(t *testing.T) {
	r, scoped := rand.New(rand.NewPCG(20261127, 37)), 0
	for range 24 {
		p, start, steps := drawAdamCell(r)
		var at []int
		for i := range 6 {
			at = append(at, (i+1)*steps/6)
		}
		path := MeanReward(p, start, at)
		if !path.Scope.In {
			t.Fatalf("%+v: %s", p, path.Scope.Because)
		}
		mean, deviation := simulateAdam(p, start, at, 1000, r)
		for n, j := range mean {
			if !(math.Abs(j-path.Reward[n]) <= path.Neglected[n]+5.5*deviation[n]) {
				t.Errorf("%+v from %v: at step %d E J is %.5f(%.5f), predicted %.5f, neglecting %.5f", p, start, at[n], j, deviation[n], path.Reward[n], path.Neglected[n])
			}
		}
		if path.Neglected[5] < 0.01 {
			scoped++
		}
	}
	if scoped < 20 {
		t.Errorf("%d of 24 paths neglect less than 0.01", scoped)
	}
}
