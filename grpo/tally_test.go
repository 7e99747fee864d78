package grpo_test

import (
	"math"
	"testing"

	"grposim/grpo"
)

// addBernoulli adds a group of which counts[a] samples drew arm a, successes[a] of
// them rewarded.
func addBernoulli(t *grpo.GroupStatistics, adv grpo.Advantage, counts, successes []int) {
	size, total := 0, 0
	for a := range counts {
		size += counts[a]
		total += successes[a]
	}
	up, down := t.OpenBernoulli(grpo.NewBernoulliAdvantages(adv, size), total)
	for a := range counts {
		t.Arms[a].AddBernoulli(up, down, counts[a], successes[a])
	}
}

// Groups in which all succeed, or none does, count as drawn but have no
// advantage.
func TestGroupsWithoutVariance(t *testing.T) {
	adv := grpo.Advantage{Scale: grpo.StdScale}
	tally := grpo.GroupStatistics{Arms: make([]grpo.ArmStatistics, 2)}
	addBernoulli(&tally, adv, []int{4, 3}, []int{4, 3})
	addBernoulli(&tally, adv, []int{1, 6}, []int{0, 0})
	if tally.Groups != 2 || tally.ZeroVariance != 2 {
		t.Errorf("%d of %d groups without variance, want 2 of 2", tally.ZeroVariance, tally.Groups)
	}
	if want := []grpo.ArmStatistics{{Count: 5}, {Count: 9}}; tally.Arms[0] != want[0] || tally.Arms[1] != want[1] {
		t.Errorf("tally %+v, want %+v", tally.Arms, want)
	}
}

// A group that drew one normal arm only has rewards of one mean, not equal
// ones: three samples of scatter 6 about it.
func TestScatterIsVariance(t *testing.T) {
	adv := grpo.Advantage{Scale: grpo.StdScale}
	tally := grpo.GroupStatistics{Arms: make([]grpo.ArmStatistics, 2)}
	tally.AddAtoms(&adv, []grpo.Atom{{Arm: 1, Count: 3, Reward: 0.5}}, 6)
	if tally.ZeroVariance != 0 || tally.Groups != 1 {
		t.Errorf("%d of %d groups without variance, want 0 of 1", tally.ZeroVariance, tally.Groups)
	}
}

// The clip fraction is of the samples whose advantage is not 0.
func TestClipFraction(t *testing.T) {
	e := grpo.Estimator{
		GroupSize: 4, GroupsPerStep: 2,
		Advantage:  grpo.Advantage{Scale: grpo.NoScale},
		Importance: grpo.Importance{Mode: grpo.Clip, ClipLow: 0.2, ClipHigh: 0.4},
	}
	// π = (¾, ¼) under groups from (½, ½): ρ = 1.5 and 0.5, so that successes of
	// the first arm and failures of the second are silenced.
	current, behaviour := grpo.NewPolicy([]float64{math.Log(3), 0}), grpo.NewPolicy([]float64{0, 0})
	tally := grpo.GroupStatistics{Arms: make([]grpo.ArmStatistics, 2)}
	addBernoulli(&tally, e.Advantage, []int{1, 3}, []int{1, 1})
	addBernoulli(&tally, e.Advantage, []int{4, 0}, []int{4, 0}) // no advantage
	if got := grpo.NewForce(e, []float64{0, 0}).ClipFraction(&tally, current, behaviour); got != 0.75 {
		t.Errorf("clip fraction %g, want 3 of 4", got)
	}
	e.Importance.Mode = grpo.Ratio
	if got := grpo.NewForce(e, []float64{0, 0}).ClipFraction(&tally, current, behaviour); got != 0 {
		t.Errorf("clip fraction %g without a clip", got)
	}
}

// Off-policy the expected force is that of docs/theory.md §2, to rounding:
//
//	none   π_old∘(m − J_old)/(s_old + ε)
//	ratio  π∘(m − J)/(s_old + ε)
func TestExpectedForceOffPolicy(t *testing.T) {
	arms := []grpo.Arm{{Reward: grpo.Bernoulli, Mean: 0.7}, {Reward: grpo.Constant, Mean: 0.1}, {Reward: grpo.Normal, Mean: 0.4, Std: 0.3}}
	variances := []float64{0.7 * 0.3, 0, 0.3 * 0.3}
	current, behaviour := grpo.NewPolicy([]float64{1.2, -0.3, 0.4}), grpo.NewPolicy([]float64{-0.5, 0.8, 0})
	mean := func(p *grpo.Policy) float64 { return p.Mean([]float64{0.7, 0.1, 0.4}) }
	square := 0.0
	for a, p := range behaviour.Probs {
		d := arms[a].Mean - mean(behaviour)
		square += p * (d*d + variances[a])
	}
	for _, c := range []struct {
		mode  grpo.ImportanceMode
		drawn *grpo.Policy
	}{{grpo.NoImportance, behaviour}, {grpo.Ratio, current}} {
		e := grpo.Estimator{
			GroupSize: grpo.Infinite, GroupsPerStep: 1,
			Advantage:  grpo.Advantage{Scale: grpo.StdScale, Epsilon: 0.05},
			Importance: grpo.Importance{Mode: c.mode},
		}
		g := make([]float64, 3)
		grpo.NewForce(e, []float64{0, 0, 0}).Expected(g, &grpo.Bandit{Arms: arms}, current, behaviour)
		for a, p := range c.drawn.Probs {
			if want := p * (arms[a].Mean - mean(c.drawn)) / (math.Sqrt(square) + 0.05); !(math.Abs(g[a]-want) <= 1e-15) {
				t.Errorf("%s: g[%d] = %.17g, want %.17g", c.mode, a, g[a], want)
			}
		}
	}
}
