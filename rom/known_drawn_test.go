package rom

import (
	"math"
	"math/rand/v2"
	"testing"
)

// drawnChain simulates a run of prompts with a policy each, drawn with replacement: every group
// sample by sample, and again, of another prompt, while its rewards are equal and such groups
// are redrawn. It returns the mean of J over the prompts after each step.
func drawnChain(r *rand.Rand, p *Params, steps int) []float64 {
	count := len(p.Prompts.First)
	z, old, v, g, j := make([]float64, count), make([]float64, count), make([]float64, count), make([]float64, count), make([]float64, steps+1)
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	for t := range steps + 1 {
		for x := range z {
			q := sigmoid(z[x])
			j[t] += (q*p.Prompts.First[x] + (1-q)*p.Prompts.Second[x]) / float64(count)
		}
		if t%p.Lag.Age == 0 {
			copy(old, z)
		}
		clear(g)
		for range p.Groups {
			for {
				x := r.IntN(count)
				behaviour, now, sum := sigmoid(old[x]), sigmoid(z[x]), 0
				var first, success [8]bool
				for i := range p.GroupSize {
					first[i] = r.Float64() < behaviour
					mean := p.Prompts.Second[x]
					if first[i] {
						mean = p.Prompts.First[x]
					}
					if success[i] = r.Float64() < mean; success[i] {
						sum++
					}
				}
				equal := sum == 0 || sum == p.GroupSize
				if equal && p.Filter == Redraw {
					continue
				}
				share, force := float64(sum)/float64(p.GroupSize), 0.0 // 2g_1, the force on z
				for i := range p.GroupSize {
					a := -share
					if success[i] {
						a++
					}
					if p.Scale == GroupStd && !equal {
						a /= math.Sqrt(share * (1 - share))
					}
					if first[i] {
						force += 2 * a / float64(p.GroupSize)
					}
				}
				g[x] += (force - 2*p.Strength*now*(1-now)*z[x]) / float64(p.Groups)
				break
			}
		}
		for x := range z {
			v[x] = p.Optimizer.Momentum*v[x] + g[x]
			z[x] += p.Optimizer.Rate * v[x]
		}
	}
	return j
}

// The mean path of prompts with a policy each that are drawn with replacement is that of chains of
// six prompts, within what it neglects and 4.5 standard errors: 4 cells at 4 steps fail by
// chance with a probability of 1e-4.
func TestPromptsDrawnAtRandom(t *testing.T) {
	const runs, steps = 4000, 120
	for i, c := range []Params{
		{Filter: KeepAll, Scale: Unscaled, GroupSize: 4, Optimizer: Optimizer{Rate: 0.8}, Lag: Lag{Kind: Block, Age: 1}},
		{Filter: Redraw, Scale: Unscaled, GroupSize: 4, Optimizer: Optimizer{Rate: 0.8}, Lag: Lag{Kind: Block, Age: 1}},
		{Filter: KeepAll, Scale: GroupStd, GroupSize: 8, Optimizer: Optimizer{Rate: 0.15, Momentum: 0.6}, Lag: Lag{Kind: Block, Age: 4}},
		{Filter: Redraw, Scale: GroupStd, GroupSize: 8, Optimizer: Optimizer{Rate: 0.15, Momentum: 0.6}, Lag: Lag{Kind: Block, Age: 4}},
	} {
		p := c
		p.Arms, p.Groups, p.Strength = []Arm{{Mean: 0.5}, {Mean: 0.5}}, 4, 0.2
		p.Prompts = Prompts{
			First: []float64{0.9, 1, 0.3, 0.95, 0.9, 0.6}, Second: []float64{0.2, 0, 0.01, 0.8, 0.2, 0.1},
			Policies: OnePerPrompt, Order: WithReplacement,
		}
		at := []int{20, 50, 80, steps}
		path := MeanReward(p, []float64{0, 0}, at)
		if !path.Scope.In {
			t.Errorf("cell %d: %s", i, path.Scope.Because)
			continue
		}
		r := rand.New(rand.NewPCG(7, uint64(i)))
		var sum, square [steps + 1]float64
		for range runs {
			for t, j := range drawnChain(r, &p, steps) {
				sum[t] += j
				square[t] += j * j
			}
		}
		for n, step := range at {
			mean := sum[step] / runs
			deviation := math.Sqrt((square[step]/runs - mean*mean) / runs)
			miss := path.Reward[n] - mean
			t.Logf("cell %d, step %d: E J %.5f, predicted %.5f, misses %.5f ± %.5f, neglected %.5f", i, step, mean, path.Reward[n], miss, deviation, path.Neglected[n])
			if !(math.Abs(miss) <= 4.5*deviation+path.Neglected[n]) {
				t.Errorf("cell %d, step %d: E J %.5f ± %.5f, predicted %.5f, which neglects %.5f", i, step, mean, deviation, path.Reward[n], path.Neglected[n])
			}
		}
	}
}
