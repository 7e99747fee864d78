package sim

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"grposim/grpo"
	"grposim/option"
)

// redrawCell returns a cell of six prompts whose groups of equal rewards are redrawn. One of them
// has no failures and one is nearly saturated.
func redrawCell(parameters option.Parameters, size, interval int) Cell {
	return promptCell(func(c *Cell) {
		c.ID = fmt.Sprint("redraw ", parameters, size, interval)
		p := c.Prompts
		p.Parameters, p.Order, p.Starts = parameters, option.Independent, nil
		p.Means = [][2]float64{{0.9, 0.2}, {0.02, 0.01}, {0.1, 0.8}, {1, 1}, {0.9999, 0.96}, {0.3, 0}}
		c.Estimator.GroupSize, c.Estimator.Filter, c.Lag.Interval = size, option.Redraw, interval
	})
}

// shift moves the policies of a replica apart by the given amount.
func (r *replica) shift(by float64) {
	move := func(p *grpo.Policy, by float64) {
		p.Logits[0] += by
		p.Update()
	}
	move(r.policy, by)
	if r.tabular != nil {
		for x := range r.tabular.prompts {
			move(r.tabular.prompts[x].policy, by*float64(x-2))
		}
	}
}

// Prompt x has the share P_x/ΣP of the groups, and their rewards differ. P_x, the probability that
// the rewards of a group of its snapshot differ, is summed here over the binomial law. Of their
// samples the first arm has the share E S·π_0 m_0/J + E(G−S)·π_0(1−m_0)/(1−J) over G. This holds
// again after a refresh, and at a step where an arm has the probability 0. A share is off by more
// than its limit with a probability of at most 1e-8 (Hoeffding).
func TestRedrawnPrompts(t *testing.T) {
	const draws, failure = 100_000 / thin, 1e-8
	limit := func(n float64) float64 { return math.Sqrt(math.Log(2/failure) / (2 * n)) }
	for _, parameters := range option.ParameterKinds {
		for _, size := range []int{2, 8, 100} {
			for _, interval := range []int{1, 3} {
				c := redrawCell(parameters, size, interval)
				r := recordingBatch(&c, 1).replicas[0]
				r.begin(0)
				for step := range 4 {
					if r.tabular != nil {
						r.tabular.draw(r, step)
					} else {
						r.push(step)
					}
					snapshot := func(x int) *grpo.Policy {
						if r.tabular != nil {
							return r.tabular.prompts[x].snapshot
						}
						return r.snapshot
					}
					want, sum := make([]float64, len(c.Prompts.Means)), 0.0
					ofFirst := make([]float64, len(c.Prompts.Means))
					for x, m := range c.Prompts.Means {
						j := snapshot(x).Mean(m[:])
						for s := 1; s < size; s++ {
							chance := distuv.Binomial{N: float64(size), P: j}.Prob(float64(s))
							share := float64(s) / float64(size)
							want[x] += chance
							ofFirst[x] += chance * snapshot(x).Probs[0] * (share*m[0]/j + (1-share)*(1-m[0])/(1-j))
						}
						sum += want[x]
					}
					got, first := make([]float64, len(want)), make([]float64, len(want))
					for range draws {
						x := r.sampler.prompts.choose(r.words, nil)
						r.statistics.Reset()
						x = r.sampler.promptGroup(&r.statistics, r.words, x, snapshot(x))
						arms := r.statistics.Arms
						if !(arms[0].Positive+arms[1].Positive > 0) || arms[0].Count+arms[1].Count != size {
							t.Fatalf("%s, step %d: equal, or not %d samples: %+v", c.ID, step, size, r.statistics)
						}
						got[x]++
						first[x] += float64(arms[0].Count) / float64(size)
					}
					for x, n := range got {
						if off := n/draws - want[x]/sum; !(math.Abs(off) <= limit(draws)) || want[x] == 0 && n > 0 {
							t.Errorf("%s, step %d: prompt %d has %v of %d groups, want a share of %.4f ± %.4f",
								c.ID, step, x, n, draws, want[x]/sum, limit(draws))
						}
						if n > 0 && !(math.Abs(first[x]/n-ofFirst[x]/want[x]) <= limit(n)) {
							t.Errorf("%s, step %d, prompt %d: share of the first arm %.4f, want %.4f ± %.4f",
								c.ID, step, x, first[x]/n, ofFirst[x]/want[x], limit(n))
						}
					}
					r.shift([]float64{0.7, 0.7, 800, 0}[step])
				}
			}
		}
	}
}

// The share of zero-variance groups and the reward as logged are those before any group is redrawn.
// At step 0, where the words of a single group are the same, a cell without a filter has them.
func TestRedrawnPromptsAreLoggedBefore(t *testing.T) {
	for _, parameters := range option.ParameterKinds {
		for _, size := range []int{4, 100} {
			c := redrawCell(parameters, size, 1)
			c.Estimator.GroupsPerStep, c.Fits = 1, []CurveFit{LoggedFit}
			plain := c
			plain.Estimator.Filter = option.KeepAll
			again, kept, equal := recordingBatch(&c, 1).replicas[0], recordingBatch(&plain, 1).replicas[0], 0
			for i := range 200 {
				again.begin(i)
				kept.begin(i)
				again.step(0)
				kept.step(0)
				got, want := again.values[zeroVarianceFractionIndex], kept.values[zeroVarianceFractionIndex]
				if got != want {
					t.Fatalf("%s, replica %d: zero-variance share: got %v, want %v", c.ID, i, got, want)
				}
				if again.log[0] != kept.log[0] {
					t.Fatalf("%s, replica %d: logged reward: got %v, want %v", c.ID, i, again.log[0], kept.log[0])
				}
				equal += again.statistics.ZeroVariance
			}
			if equal < 20 {
				t.Errorf("%s: %d groups were redrawn, want at least 20", c.ID, equal)
			}
		}
	}
}
