package findings

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"grposim/training/logs"
)

// rewards is a log of rewards at the steps 10, 20, …
func rewards(x []float64) *logs.Log { return table(len(x), columns{"reward": x}) }

// What leaps before the reward falls is said first, with its level before.
func TestEarliestSign(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	x, norm, kl := make([]float64, 160), make([]float64, 160), make([]float64, 160)
	for i := range x {
		x[i], norm[i], kl[i] = 0.7+0.02*rng.NormFloat64(), 0.3+0.1*rng.Float64(), 0.02
		if i >= 118 {
			norm[i] *= 88
		}
		if i >= 121 {
			kl[i] = 3
		}
		if i >= 124 {
			x[i] = 0.03
		}
	}
	l := table(160, columns{"reward": x, "grad_norm": norm, "kl_ref": kl})
	const want = "grad_norm grows 82 times from 0.366 at about step 1180, " +
		"then reward falls from 0.699 to 0.03"
	if f := rewardCollapse(l); len(f) != 1 || !strings.HasPrefix(f[0].Text, want) {
		t.Errorf("got %+v, want %s", f, want)
	}
}

// A reward that collapses, early, late or slowly, is a failure since its fall. One that loses
// little is a remark. One that rises, recovers, oscillates or is missing is nothing.
func TestRewardCollapse(t *testing.T) {
	rise := func(i int) float64 { return 0.7 - 0.5*math.Exp(-float64(i)/20) }
	fallen := func(at int, by float64) func(int) float64 {
		return func(i int) float64 {
			if i >= at {
				return rise(i) - by
			}
			return rise(i)
		}
	}
	for _, c := range []struct {
		name        string
		curve       func(int) float64
		level       Level
		since, last int // steps between which the fall begins
	}{
		{"rises", rise, "", 0, 0},
		{"collapses", fallen(80, 0.6), Failure, 800, 820},
		{"collapses in the last rows", fallen(190, 0.6), Failure, 1900, 1920},
		{"loses a fifth", fallen(120, 0.1), Remark, 1190, 1230},
		{"recovers", func(i int) float64 {
			if i > 60 && i < 80 {
				return 0.1
			}
			return rise(i)
		}, "", 0, 0},
		{"declines", func(i int) float64 { return rise(i) - float64(max(0, i-80))/250 }, Failure, 1100, 1600},
		{"oscillates", func(i int) float64 { return 0.5 + 0.3*math.Sin(float64(i)/11.8) }, "", 0, 0},
		{"declines without noise", func(i int) float64 { return 1e6 - float64(i) }, Failure, 900, 1400},
	} {
		rng := rand.New(rand.NewPCG(3, 9))
		x := make([]float64, 200)
		for i := range x {
			x[i] = c.curve(i) + 0.03*rng.NormFloat64()
			if i%17 == 5 {
				x[i] = math.NaN()
			}
		}
		got := rewardCollapse(rewards(x))
		switch {
		case c.level == "" && len(got) == 0:
		case len(got) != 1 || got[0].Level != c.level || got[0].Since < c.since || got[0].Since > c.last:
			t.Errorf("%s: %+v, want %s since %d to %d", c.name, got, c.level, c.since, c.last)
		}
	}
	if got := rewardCollapse(new(logs.Log)); got != nil {
		t.Errorf("no reward: %+v", got)
	}
}

// A score of evaluation that does not fall makes a fall of the reward a remark. One that falls too
// does not, nor does one that ends before. A fall where the run was resumed says so.
func TestRewardFallsAlone(t *testing.T) {
	for _, c := range []struct {
		scores []float64 // at the steps 110, 410, …
		want   Level
	}{
		{[]float64{0.3, 0.4, 0.5, 0.5, 0.6, 0.6}, Remark},
		{[]float64{0.3, 0.4, 0.5, 0.4, 0.3, 0.3}, Failure},
		{[]float64{0.3, 0.4, 0.5, math.NaN(), math.NaN(), math.NaN()}, Failure},
	} {
		x := make([]float64, 200)
		rng := rand.New(rand.NewPCG(3, 11))
		for i := range x {
			if x[i] = 0.7 + 0.03*rng.NormFloat64(); i >= 100 {
				x[i] -= 0.3
			}
		}
		l := rewards(x)
		l.Resumes = []int{1010}
		column := logs.Column{Quantity: logs.EvalScore, Key: "eval_reward", Values: c.scores}
		l.Evaluation = &logs.Table{Columns: []logs.Column{column}}
		for i := range c.scores {
			l.Evaluation.Steps = append(l.Evaluation.Steps, 110+300*i)
		}
		got := rewardCollapse(l)
		if len(got) != 1 || got[0].Level != c.want || got[0].Since != 1010 ||
			!strings.Contains(got[0].Text, "where the run was resumed") ||
			strings.Contains(got[0].Text, "eval_reward does not fall") != (c.want == Remark) {
			t.Errorf("%v: %+v, want a %s since the resume at 1010", c.scores, got, c.want)
		}
	}
}

// Rewards that fall with the data in every epoch, and come back, are no collapse.
func TestEpochsAreNoCollapse(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 12))
	failures := 0
	for range 100 {
		x := make([]float64, 400)
		for i := range x {
			x[i] = 0.6 - 0.2*float64(i%50)/50 + 0.06*rng.NormFloat64()
		}
		for _, f := range rewardCollapse(rewards(x)) {
			if f.Level == Failure {
				failures++
			}
		}
	}
	if failures > 5 {
		t.Errorf("%d of 100 runs of eight epochs fail, want at most 5", failures)
	}
}

// Rewards that do not fall in the mean are said to fall in at most one of a thousand runs. Of 500,
// 5 are exceeded with probability 2e-5.
func TestHealthyRewardsDoNotFall(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 10))
	alarms := 0
	for range 500 {
		n, memory, walk := 12+rng.IntN(200), 0.6*rng.Float64(), 0.0
		size, speed := rng.Float64(), 20*rng.Float64()
		x := make([]float64, n)
		for i := range x {
			walk = memory*walk + rng.NormFloat64()
			x[i] = size*(1-math.Exp(-speed*float64(i)/float64(n))) + 0.1*walk
		}
		alarms += len(rewardCollapse(rewards(x)))
	}
	if alarms > 5 {
		t.Errorf("%d of 500 healthy rewards are said to fall, want at most 5", alarms)
	}
}
