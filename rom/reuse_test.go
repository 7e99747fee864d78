package rom

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
)

// The covariance of the force, which is computed for given weights, is that of the sums by arm times the
// derivative of the force by them, for every law of a group, weight and sampled gradient, at policies that differ from their
// snapshot by up to two logits.
func TestForceIsLinearInTheSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	bernoulli := []option.Arm{{Law: option.Bernoulli, Mean: 0.9}, {Law: option.Bernoulli, Mean: 0.2}, {Law: option.Bernoulli, Mean: 0.4}, {Law: option.Bernoulli}}
	constant := []option.Arm{{Law: option.Constant, Mean: 1}, {Law: option.Constant, Mean: 0.3}, {Law: option.Constant, Mean: -1}}
	normal := []option.Arm{{Law: option.Normal, Mean: 1, Std: 0.5}, {Law: option.Normal, Std: 0.2}}
	bounded := option.Importance{Mode: option.Clip, ClipLow: 0.2, ClipHigh: 0.3}
	smooth := option.Importance{Mode: option.SAPO, Temperature: option.Signed{Positive: 1, Negative: 1.05}}
	k3, k1, exact := option.KL{Coefficient: 0.3, Gradient: option.K3}, option.KL{Coefficient: 0.3, Gradient: option.RatioK1}, option.KL{Coefficient: 0.3}
	for _, c := range []struct {
		name       string
		arms       []option.Arm
		importance option.Importance
		kl         option.KL
		advantage  option.Advantage
		filter     option.Filter
		size       int
	}{
		{"fixed", bernoulli, option.Importance{}, exact, option.Advantage{Scale: option.NoScale}, option.KeepAll, 6},
		{"ratio, std", bernoulli, option.Importance{Mode: option.Ratio}, exact, option.Advantage{}, option.KeepAll, 6},
		{"clip", bernoulli, bounded, exact, option.Advantage{}, option.KeepAll, 6},
		{"clip, k3", bernoulli, bounded, k3, option.Advantage{}, option.KeepAll, 6},
		{"sapo, k1, redrawn", bernoulli, smooth, k1, option.Advantage{Scale: option.NoScale}, option.Redraw, 6},
		{"clip, dropped", bernoulli, bounded, exact, option.Advantage{Scale: option.NoScale}, option.Drop, 6},
		{"clip, scale of the batch", bernoulli, bounded, k3, option.Advantage{Scale: option.BatchStd}, option.KeepAll, 6},
		{"clip, no baseline", bernoulli, bounded, k3, option.Advantage{Scale: option.NoScale, Baseline: option.ConstantBaseline, Value: 0.3}, option.KeepAll, 6},
		{"clip, compositions", constant, bounded, k3, option.Advantage{}, option.KeepAll, 5},
		{"ratio, compositions", constant, option.Importance{Mode: option.Ratio}, k3, option.Advantage{}, option.KeepAll, 5},
		{"clip, density", normal, bounded, k3, option.Advantage{}, option.KeepAll, 4},
		{"in the advantage", bernoulli, option.Importance{Mode: option.Ratio}, option.KL{Coefficient: 0.3, In: option.InAdvantage}, option.Advantage{Scale: option.NoScale}, option.KeepAll, 6},
		{"in the reward", constant, option.Importance{Mode: option.Ratio}, option.KL{Coefficient: 0.3, In: option.InReward}, option.Advantage{Scale: option.NoScale}, option.KeepAll, 5},
	} {
		p := Params{Arms: c.arms, Estimator: option.Estimator{
			GroupSize: c.size, GroupsPerStep: 3, Filter: c.filter, Advantage: c.advantage, Importance: c.importance, KL: c.kl,
		}}.checked()
		m, n := newModel(&p), len(p.Arms)-1
		now, old, ones := make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
		for a := range now {
			old[a], ones[a] = r.NormFloat64(), 1
			now[a] = old[a] + 2*r.Float64()
		}
		q := basis(ones)
		m.set(now, old)
		want := linear.Within(q, m.covariance())
		by := bySums(m, q)
		push := mat.NewDense(n, m.sums(), nil)
		for i, row := range by {
			push.SetRow(i, row)
		}
		got := linear.Within(mat.DenseCopyOf(push.T()), sumsCovariance(m))
		for i := range n {
			for k := range n {
				near(t, c.name, got.At(i, k), want.At(i, k), 1e-9)
			}
		}
	}
}

// Without weights and penalty the force of given groups does not depend on the policy, so that a block of K steps with reused samples is one
// step with the learning rate ηK: mean, size and deviation of J agree to the hundredth that holdCentre and holdSpread leave.
func TestReusedBlockIsOneLongStep(t *testing.T) {
	one, init := plainRun(4, 0.4, 0.2, 0.9, 0.5)
	init[2] = 0.3
	block := one
	block.Samples, block.Lag.Interval, block.Optimizer.LearningRate = option.Reused, 5, 0.08
	want, got := MeanReward(one, init, []int{1, 4, 20}), MeanReward(block, init, []int{5, 20, 100})
	for n, mean := range want.Mean {
		near(t, "E J", got.Mean[n], mean, 1e-4)
		near(t, "shift", got.Mean[n]-got.Field[n], mean-want.Field[n], 0.02)
		near(t, "deviation", got.Deviation[n], want.Deviation[n], 0.02)
	}
}

// One sample that a long block uses throughout is carried −ln(1−x)/x times as far as by its first use, twice as far at x = 0.797; a block of
// two steps adds x/2 and then e^{x/2} times that.
func TestCarried(t *testing.T) {
	near(t, "a long block", carried(0.5, 1_000_000), 2*math.Ln2, 1e-5)
	near(t, "twice", carried(0.7968, 1_000_000), 2, 1e-3)
	near(t, "two steps", carried(1, 2), (1+math.Exp(0.5))/2, 1e-12)
	near(t, "one step", carried(3, 1), 1, 0)
	near(t, "a rate of 0", carried(0, 5), 1, 0)
	p := Params{
		Arms:      []option.Arm{{Law: option.Bernoulli, Mean: 0.9}, {Law: option.Bernoulli, Mean: 0.2}},
		Estimator: option.Estimator{GroupSize: 5, Samples: option.Reused, Importance: option.Importance{Mode: option.Ratio}},
		Lag:       option.Lag{Interval: 1000}, Optimizer: option.Optimizer{Momentum: 0.5},
	}.checked()
	for _, c := range []struct {
		x, largest float64
		scale      option.Scale
		groups     int
		flips      bool
	}{
		{0.79, 2, option.StdScale, 1, false}, {0.81, 2, option.StdScale, 1, true}, {0.81, 1, option.NoScale, 1, true}, {0.79, 1, option.NoScale, 3, false},
		{0.81, 4, option.MeanScale, 1, true}, {0.79, 3, option.BatchStd, 2, false}, {0.81, 3, option.BatchStd, 2, true},
	} {
		p.Advantage.Scale, p.GroupsPerStep = c.scale, c.groups
		p.Optimizer.LearningRate = c.x * float64(5*c.groups) * 0.5 / (2 * 1000 * c.largest)
		if flips(&p) != c.flips {
			t.Errorf("%+v: flips %v", c, flips(&p))
		}
	}
}
