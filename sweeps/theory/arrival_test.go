package theory

import (
	"math"
	"testing"

	"grposim/sim"
)

// Where each kind of end is told from the others. At rest J* = 0.7 with probability 0.75 on arm 0,
// and 1,000 samples in a run.
func TestHowRunsEnd(t *testing.T) {
	atRest := Target{AtRest: true, Reward: 0.7, Span: 0.8, Means: []float64{0.9, 0.1, 0.9}, Front: 0.9,
		Held: 0.75, Rare: 0.25, Began: 1}
	noisy := atRest
	noisy.Deviation = 0.03
	slow := atRest
	slow.OfMean = 0.02
	begunDeep := atRest
	begunDeep.Began = Rarity([]float64{3, 0, -97})
	free := Target{Reward: 0.9, Span: 0.8, Means: []float64{0.9, 0.1, 0.9}, Front: 0.9, Held: 1, First: 1}
	equal := Target{Reward: 0.5, Span: 0, Means: []float64{0.5, 0.5}, Front: 0.5, Held: 1}
	end := func(mean, last, log0, log1 float64) sim.End {
		return sim.End{DivergedAt: -1, Rewards: []float64{0.2, last}, Mean: mean,
			Logits: []float64{log0, log1, log0 - 100}}
	}
	diverged := end(math.NaN(), 0.7, 0, 0)
	diverged.DivergedAt = 7
	back := end(0.4, 0.5, 0.1, 0)
	back.Rewards[0] = 0.71
	steps := []int{0, 100}
	still := func(last, mean float64, logits ...float64) sim.End {
		return sim.End{DivergedAt: -1, Rewards: []float64{last}, Mean: mean, Logits: logits}
	}
	deep := Target{true, 0.88, 0.8, []float64{0.9, 0.1}, 0.9, 0.975, 0.025, 0, 1, 0, 0}
	never := Target{true, 0.9, 0.8, []float64{0.9, 0.1}, 0.9, 1, 1e-9, 0, 1, 0, 0}
	for name, c := range map[string]struct {
		g    Target
		e    sim.End
		want How
	}{
		"arrived":                      {atRest, end(0.71, 0.66, math.Log(3), 0), AtTarget},
		"far at the end":               {atRest, end(0.71, 0.61, math.Log(3), 0), NotYet},
		"within the noise at the end":  {noisy, end(0.71, 0.61, math.Log(3), 0), AtTarget},
		"beyond it":                    {noisy, end(0.71, 0.57, math.Log(3), 0), NotYet},
		"within the noise of its mean": {slow, end(0.77, 0.71, math.Log(3), 0), AtTarget},
		"beyond that":                  {slow, end(0.79, 0.71, math.Log(3), 0), NotYet},
		"was there":                    {atRest, back, Unsteady},
		"too deep":                     {atRest, end(0.85, 0.86, 3, 0), TooDeep},
		"as deep as it began":          {begunDeep, end(0.85, 0.86, 3, 0), NotYet},
		"deeper than it began":         {begunDeep, end(0.85, 0.86, 4, 0), TooDeep},
		"deep and near":                {deep, still(0.9, 0.8999, 12, 0), TooDeep},
		"as deep as at rest":           {deep, still(0.88, 0.88, 3.7, 0), AtTarget},
		"rest itself is never sampled": {never, still(0.9, 0.9, 40, 0), AtTarget},
		"another arm":                  {atRest, end(0.11, 0.1, 0, 5), Elsewhere},
		"a third arm as good":          {free, still(0.9, 0.9, 0, 0, 20), AtTarget},
		"not moved from the first arm": {free, end(0.11, 0.1, 0, 5), NotYet},
		"stuck on the first arm":       {free, end(0.1, 0.1, 0, 9), Elsewhere},
		"on the way":                   {free, end(0.5, 0.6, 0.5, 0), NotYet},
		"diverged":                     {free, diverged, Overflown},
		"equal arms":                   {equal, still(0.5, 0.5, 0, 3), AtTarget},
	} {
		if got := c.g.How(&c.e, steps[len(steps)-len(c.e.Rewards):], 1000); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
