package grpo_test

import (
	"math"
	"testing"

	"grposim/grpo"
	"grposim/option"
)

// byStd are the advantages of GRPO: the group's mean as baseline, its standard
// deviation as scale.
var byStd = option.Advantage{
	Baseline: option.MeanBaseline, Scale: option.StdScale, Std: option.PopulationStd,
}

func bernoulli(mean float64) option.Arm { return option.Arm{Law: option.Bernoulli, Mean: mean} }

func constant(mean float64) option.Arm { return option.Arm{Law: option.Constant, Mean: mean} }

func normal(mean, std float64) option.Arm {
	return option.Arm{Law: option.Normal, Mean: mean, Std: std}
}

// addBernoulli adds a group with counts[a] samples of arm a, successes[a] of which
// have reward 1.
func addBernoulli(s *grpo.GroupStatistics, adv option.Advantage, counts, successes []int) {
	size, total := 0, 0
	for a := range counts {
		size += counts[a]
		total += successes[a]
	}
	up, down := s.OpenBernoulli(grpo.NewBernoulliAdvantages(adv, size), total)
	for a := range counts {
		s.Arms[a].AddBernoulli(up, down, counts[a], successes[a])
	}
}

// Groups in which all samples succeed, or none does, are counted but have advantages
// of 0.
func TestGroupsWithoutVariance(t *testing.T) {
	statistics := grpo.GroupStatistics{Arms: make([]grpo.ArmStatistics, 2)}
	addBernoulli(&statistics, byStd, []int{4, 3}, []int{4, 3})
	addBernoulli(&statistics, byStd, []int{1, 6}, []int{0, 0})
	if statistics.Groups != 2 || statistics.ZeroVariance != 2 {
		t.Errorf("%d of %d groups are equal, want 2 of 2", statistics.ZeroVariance, statistics.Groups)
	}
	want := []grpo.ArmStatistics{{Count: 5}, {Count: 9}}
	if statistics.Arms[0] != want[0] || statistics.Arms[1] != want[1] {
		t.Errorf("statistics %+v, want %+v", statistics.Arms, want)
	}
}

// A baseline that does not depend on the rewards of the step gives groups of equal rewards
// advantages, and counts those that are not 0.
func TestGivenBaseline(t *testing.T) {
	for b, want := range map[float64][]grpo.ArmStatistics{
		0: {{Positive: 2, PositiveCount: 2, Count: 4}, {Positive: 2, PositiveCount: 2, Count: 4}},
		0.25: {{Positive: 1.5, Negative: -0.5, PositiveCount: 2, NegativeCount: 2, Count: 4},
			{Positive: 1.5, Negative: -0.5, PositiveCount: 2, NegativeCount: 2, Count: 4}},
		1: {{Negative: -2, NegativeCount: 2, Count: 4}, {Negative: -2, NegativeCount: 2, Count: 4}},
	} {
		for _, adv := range []option.Advantage{
			{Baseline: option.ConstantBaseline, Scale: option.NoScale, Value: b},
			{Baseline: option.RunningMean, Scale: option.NoScale, Value: 0.7, Rate: 0.5},
		} {
			statistics := grpo.GroupStatistics{Arms: make([]grpo.ArmStatistics, 2), Baseline: b}
			addBernoulli(&statistics, adv, []int{2, 2}, []int{2, 2})
			addBernoulli(&statistics, adv, []int{2, 2}, []int{0, 0})
			if statistics.Arms[0] != want[0] || statistics.Arms[1] != want[1] || statistics.ZeroVariance != 2 {
				t.Errorf("%s, b = %g: %+v, want %+v", adv.Baseline, b, statistics, want)
			}
			statistics.Rewarded = 6 // of 8
			if statistics.MoveBaseline(0.2, 8); math.Abs(statistics.Baseline-(0.8*b+0.15)) > 1e-15 {
				t.Errorf("b = %g becomes %g", b, statistics.Baseline)
			}
		}
	}
}

// With a constant baseline the expected force is Σ π_old w (m − b)(e_a − π) for any rewards.
func TestExpectedForceOfConstantBaseline(t *testing.T) {
	e := option.Estimator{
		GroupSize: option.Infinite, GroupsPerStep: 1,
		Advantage:  option.Advantage{Baseline: option.ConstantBaseline, Scale: option.NoScale, Value: 0.3},
		Importance: option.Importance{Mode: option.NoImportance},
	}
	// (¾, ¼) and (½, ½)
	now, old := grpo.NewPolicy([]float64{math.Log(3), 0}), grpo.NewPolicy([]float64{0, 0})
	for _, means := range [][2]float64{{0.9, 0.2}, {1, 1}, {0, 0}} {
		g := make([]float64, 2)
		bandit := option.Bandit{Arms: []option.Arm{bernoulli(means[0]), bernoulli(means[1])}}
		grpo.NewForce(e, []float64{0, 0}).Expected(g, &bandit, now, old)
		want := 0.5*(means[0]-0.3)*0.25 - 0.5*(means[1]-0.3)*0.75
		if math.Abs(g[0]-want) > 1e-15 || math.Abs(g[1]+want) > 1e-15 {
			t.Errorf("means %v: force %v, want ±%g", means, g, want)
		}
	}
}

// A group of one normal arm is one atom, but its rewards are not equal: three samples
// with scatter 6 about their mean.
func TestScatterIsVariance(t *testing.T) {
	statistics := grpo.GroupStatistics{Arms: make([]grpo.ArmStatistics, 2)}
	statistics.AddAtoms(&byStd, []grpo.Atom{{Arm: 1, Count: 3, Reward: 0.5}}, 6)
	if statistics.ZeroVariance != 0 || statistics.Groups != 1 {
		t.Errorf("%d of %d groups are equal, want 0 of 1", statistics.ZeroVariance, statistics.Groups)
	}
}

// Off-policy the expected force is that of docs/theory.md §2, to rounding:
//
//	none   π_old∘(m − J_old)/(s_old + ε)
//	ratio  π∘(m − J)/(s_old + ε)
func TestExpectedForceOffPolicy(t *testing.T) {
	arms := []option.Arm{bernoulli(0.7), constant(0.1), normal(0.4, 0.3)}
	variances := []float64{0.7 * 0.3, 0, 0.3 * 0.3}
	current, behaviour := grpo.NewPolicy([]float64{1.2, -0.3, 0.4}), grpo.NewPolicy([]float64{-0.5, 0.8, 0})
	mean := func(p *grpo.Policy) float64 { return p.Mean([]float64{0.7, 0.1, 0.4}) }
	square := 0.0
	for a, p := range behaviour.Probs {
		d := arms[a].Mean - mean(behaviour)
		square += p * (d*d + variances[a])
	}
	for _, c := range []struct {
		mode   option.ImportanceMode
		acting *grpo.Policy
	}{{option.NoImportance, behaviour}, {option.Ratio, current}} {
		e := option.Estimator{
			GroupSize: option.Infinite, GroupsPerStep: 1,
			Advantage: option.Advantage{Baseline: option.MeanBaseline, Scale: option.StdScale,
				Std: option.PopulationStd, Epsilon: 0.05},
			Importance: option.Importance{Mode: c.mode},
		}
		g := make([]float64, 3)
		grpo.NewForce(e, []float64{0, 0, 0}).Expected(g, &option.Bandit{Arms: arms}, current, behaviour)
		for a, p := range c.acting.Probs {
			want := p * (arms[a].Mean - mean(c.acting)) / (math.Sqrt(square) + 0.05)
			near(t, c.mode, g[a], want, 1e-15)
		}
	}
}

// Under a clip every value of a reward counts on its side of J_old. Beside a constant 2 that lies
// above both values of a Bernoulli arm, beside −2 below both. The ratios are 3/2 and 1/2: only
// negative advantages of the first arm and positive ones of the second remain.
func TestExpectedForceOutsideBernoulliValues(t *testing.T) {
	for _, c := range []struct{ constant, success float64 }{{2, 0.3}, {2, 1}, {-2, 0.3}, {-2, 0}} {
		arms := []option.Arm{bernoulli(c.success), constant(c.constant)}
		current, behaviour := grpo.NewPolicy([]float64{math.Log(3), 0}), grpo.NewPolicy([]float64{0, 0})
		e := option.Estimator{
			GroupSize: option.Infinite, GroupsPerStep: 1,
			Advantage:  option.Advantage{Baseline: option.MeanBaseline, Scale: option.NoScale},
			Importance: option.Importance{Mode: option.Clip, ClipLow: 0.2, ClipHigh: 0.2},
		}
		g := make([]float64, 2)
		grpo.NewForce(e, []float64{0, 0}).Expected(g, &option.Bandit{Arms: arms}, current, behaviour)
		mean := (c.success + c.constant) / 2
		first := 1.5 * 0.5 * (c.success*min(1-mean, 0) + (1-c.success)*min(0-mean, 0))
		second := 0.5 * 0.5 * max(c.constant-mean, 0)
		for a, want := range []float64{first - 0.75*(first+second), second - 0.25*(first+second)} {
			near(t, c, g[a], want, 1e-15)
		}
	}
}

// The numbers derived from a policy, for π = (½, ¼, ¼) and q = (⅛, ⅛, ¾).
func TestPolicyNumbers(t *testing.T) {
	p := grpo.NewPolicy([]float64{5 + math.Ln2, 5, 5})
	q := grpo.NewPolicy([]float64{-2, -2, -2 + math.Log(6)})
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"entropy", p.Entropy(), 1.5 * math.Ln2},
		{"collision", p.Collision(), 3. / 8},
		{"mean of 4, 0, 1", p.Mean([]float64{4, 0, 1}), 2.25},
		{"KL(π‖q)", p.Divergence(q), 1.25*math.Ln2 - 0.25*math.Log(3)},
		{"KL(q‖π)", q.Divergence(p), 0.75*math.Log(3) - 0.375*math.Ln2},
		{"KL(π‖π)", p.Divergence(p), 0},
		{"largest π/q", p.MaxRatio(q), 4},
		{"largest q/π", q.MaxRatio(p), 3},
		{"log Σe^θ", p.LogNorm(), 5 + math.Log(4)},
	} {
		if !(math.Abs(c.got-c.want) <= 1e-14) {
			t.Errorf("%s is %.17g, want %.17g", c.name, c.got, c.want)
		}
	}
}

// An arm whose probability underflows contributes 0, as in the limit of probability 0.
func TestPolicyWithUnderflow(t *testing.T) {
	p, q := grpo.NewPolicy([]float64{800, 0}), grpo.NewPolicy([]float64{0, 0})
	equal(t, "entropy", p.Entropy(), 0)
	near(t, "KL to the uniform policy", p.Divergence(q), math.Ln2, 1e-12)
	equal(t, "largest ratio", q.MaxRatio(p), 0.5)
}

// The log of the norm is that of the present logits, after a change and in a copy.
func TestLogNormAfterAChange(t *testing.T) {
	p, q := grpo.NewPolicy([]float64{1, 2, 3}), grpo.NewPolicy([]float64{0, 0, 0})
	for _, logits := range [][]float64{{1, 2, 3}, {-4, 0, 2}, {5, 5, 5}} {
		copy(p.Logits, logits)
		p.Update()
		want := math.Log(math.Exp(logits[0]) + math.Exp(logits[1]) + math.Exp(logits[2]))
		q.LogNorm()
		q.Set(p)
		for _, got := range []float64{p.LogNorm(), q.LogNorm(), p.LogNorm()} {
			near(t, logits, got, want, 1e-14*math.Abs(want))
		}
	}
}
