package rom

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
	"grposim/rom/group"
	"grposim/rom/linear"
	"grposim/rom/scope"
)

// mixed returns a bandit with arms of every law.
func mixed(size int) Params {
	return Params{
		Arms:      []option.Arm{{Law: option.Normal, Mean: 1, Std: 0.3}, {Law: option.Bernoulli, Mean: 0.4, Std: 0}, {Law: option.Constant, Mean: 0.2, Std: 0}, {Law: option.Normal, Mean: -0.5, Std: 1.2}},
		Reference: []float64{0, 0.3, -0.2, 0.1},
		Estimator: option.Estimator{GroupSize: size, GroupsPerStep: 2, Advantage: option.Advantage{Epsilon: 0.1}, Importance: option.Importance{ClipLow: 0.2, ClipHigh: 0.3}, KL: option.KL{Coefficient: 0.4}},
		Lag:       option.Lag{Kind: option.Block, Interval: 1},
		Factors:   Unit,
	}
}

// Graded rewards: mean and covariance agree with the estimator averaged over all groups,
// also where a clip is in force, up to rounding.
func TestCompositionsAreTheEnumeratedGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	base := mixed(5)
	base.Arms = []option.Arm{{Law: option.Constant, Mean: 0.2, Std: 0}, {Law: option.Bernoulli, Mean: 0.4, Std: 0}, {Law: option.Constant, Mean: 1.3, Std: 0}}
	everyEstimator(base, func(p Params) {
		theta, old := normals(r, 3, 1), normals(r, 3, 1)
		p.Reference = normals(r, 3, 1)
		past := make([]float64, 3)
		softmax(past, old)
		atoms := []sample{{0, 0.2}, {1, 1}, {1, 0}, {2, 1.3}}
		requireEnumerated(t, p, theta, old, atoms, []float64{past[0], 0.4 * past[1], 0.6 * past[1], past[2]})
	})
}

// Without scale and clip a force is a polynomial of second order in a reward, its
// covariance one of fourth, so that five nodes of Gauss and Hermite integrate a normal
// reward exactly.
func TestUnscaledNormalRewardsAreExact(t *testing.T) {
	nodes := [5]float64{0, 1.3556261799742659, -1.3556261799742659, 2.8569700138728056, -2.8569700138728056}
	chances := [5]float64{8.0 / 15, 0.22207592200561266, 0.22207592200561266, 0.011257411327720689, 0.011257411327720689}
	base := mixed(4)
	base.Arms = []option.Arm{{Law: option.Normal, Mean: 1, Std: 0.3}, {Law: option.Constant, Mean: 0.2, Std: 0}, {Law: option.Normal, Mean: -0.5, Std: 1.2}}
	base.Reference = []float64{0, 0.3, -0.2}
	theta, old := []float64{0.1, 0, 0.3}, []float64{0, 0.2, -0.1}
	past := make([]float64, 3)
	softmax(past, old)
	var atoms []sample
	var chance []float64
	for a, arm := range base.Arms {
		for i, x := range nodes {
			atoms = append(atoms, sample{a, arm.Mean + arm.Std*x})
			chance = append(chance, past[a]*chances[i])
		}
	}
	for _, baseline := range []option.Baseline{option.MeanBaseline, option.LeaveOneOut} {
		for _, weighting := range []option.ImportanceMode{option.NoImportance, option.Ratio} {
			p := base
			p.Advantage.Scale, p.Advantage.Baseline, p.Importance.Mode, p.KL.Gradient = option.NoScale, baseline, weighting, option.K2
			wantMean, wantCov := enumerate(p, theta, old, atoms, chance)
			mean := make([]float64, 3)
			kind := MeanForce(mean, p, theta, old)
			cov, _ := ForceCovariance(p, theta, old)
			if kind != Exact {
				t.Errorf("kind %v", kind)
			}
			for a := range mean {
				near(t, "mean", mean[a], wantMean[a], 1e-11)
				for b := range mean {
					near(t, "covariance", cov.At(a, b), wantCov.At(a, b), 1e-10)
				}
			}
		}
	}
}

// Two samples have opposite advantages: with d = r_1 − r_2 and the population deviation
// ½|d|, that of the first is d/(|d| + 2ε). Integrated here over d by the trapezoidal
// rule on either side of the kink, whose error of second order Richardson removes.
func TestPairsOfNormalRewards(t *testing.T) {
	for _, epsilon := range []float64{0, 1e-3, 0.4, 20} {
		p := mixed(2)
		p.Arms, p.Reference = []option.Arm{{Law: option.Normal, Mean: 1, Std: 0.3}, {Law: option.Normal, Mean: 0.2, Std: 0.7}}, []float64{0, 0}
		p.Advantage.Epsilon, p.KL.Coefficient, p.GroupsPerStep = epsilon, 0, 1
		p = p.checked()
		m := newModel(&p)
		theta := []float64{0.3, 0}
		m.set(theta, theta)
		expect := func(mean, std float64, f func(y float64) float64) float64 {
			trapezoid := func(n int) float64 {
				sum := 0.0
				for _, sign := range [2]float64{1, -1} {
					h := 12.0 / float64(n)
					for i := range n + 1 {
						d := float64(i) * h
						w := h
						if i == 0 || i == n {
							w = h / 2
						}
						y := sign
						if epsilon > 0 {
							y = sign * d / (d + 2*epsilon)
						}
						u := (sign*d - mean) / std
						sum += w * f(y) * math.Exp(-u*u/2) / (std * math.Sqrt(2*math.Pi))
					}
				}
				return sum
			}
			coarse, fine, finest := trapezoid(50_000), trapezoid(100_000), trapezoid(200_000)
			a, b := (4*fine-coarse)/3, (4*finest-fine)/3
			return (16*b - a) / 15
		}
		line := func(y float64) float64 { return y }
		squared := func(y float64) float64 { return y * y }
		pi := m.past.probs
		both := math.Hypot(0.3, 0.7)
		meanY := expect(0.8, both, line)
		// g_0 = ½Σy_i(e_{a_i} − π): ± y where the arms differ, else 0.
		want := pi[0] * pi[1] * meanY
		got := make([]float64, 2)
		m.meanForce(got)
		near(t, "mean", got[0], want, 1e-10)
		second := 0.5 * pi[0] * pi[1] * expect(0.8, both, squared) // g_0 = ½y if the arms differ, of either order
		near(t, "variance", m.covariance().At(0, 0), second-want*want, 1e-9)
	}
}

// Sampled groups of mixed laws, with a clip in force, agree with mean and variance.
// 4 comparisons of the mean and 4 of the variance per estimator at 6 standard errors,
// two-sided failure probability 2e-9 each; the error of a variance is estimated from the
// fourth moment.
func TestCompositionsAreSampledGroups(t *testing.T) {
	const groups = 60_000
	r := rand.New(rand.NewPCG(33, 34))
	theta, old := []float64{0.4, 0, -0.3, 0.1}, []float64{0, 0.2, 0.1, -0.2}
	for _, weighting := range []option.ImportanceMode{option.NoImportance, option.Clip} {
		for _, epsilon := range []float64{0, 0.2} {
			p := mixed(6)
			p.Importance.Mode, p.Advantage.Epsilon, p.KL.Gradient, p.GroupsPerStep = weighting, epsilon, option.K3, 1
			checkSampledGroups(t, r, p, theta, old, groups)
		}
	}
}

// checkSampledGroups compares an exact force with that of a number of sampled groups: its
// mean, and its variance unless a clip is in force, where it is that of leading order. Each
// comparison is at 6 standard errors; that of a variance is estimated from the fourth
// moment.
func checkSampledGroups(t *testing.T, r *rand.Rand, p Params, theta, old []float64, groups float64) {
	t.Helper()
	n := len(p.Arms)
	mean, past := make([]float64, n), make([]float64, n)
	if kind := MeanForce(mean, p, theta, old); kind != Exact {
		t.Fatalf("kind %v", kind)
	}
	cov, _ := ForceCovariance(p, theta, old)
	softmax(past, old)
	power := group.Zeros(5, n)
	drawn := make([]sample, p.GroupSize)
	for range int(groups) {
		for i := range drawn {
			u, a := r.Float64(), 0
			for ; a < n-1 && u > past[a]; a++ {
				u -= past[a]
			}
			arm := p.Arms[a]
			drawn[i] = sample{a, arm.Mean}
			switch arm.Law {
			case option.Normal:
				drawn[i].reward += arm.Std * r.NormFloat64()
			case option.Bernoulli:
				drawn[i].reward = 0
				if r.Float64() < arm.Mean {
					drawn[i].reward = 1
				}
			}
		}
		for a, g := range sampledForce(p, theta, old, drawn) {
			x := 1.0
			for k := 1; k < 5; k++ {
				x *= g - mean[a]
				power[k][a] += x / groups
			}
		}
	}
	for a := range mean {
		variance := power[2][a] - power[1][a]*power[1][a]
		if wrong := math.Abs(power[1][a]); wrong > 6*math.Sqrt(variance/groups) {
			t.Errorf("weighting %v, ε = %g, arm %d: mean %v off by %.3g ± %.3g", p.Importance.Mode, p.Advantage.Epsilon, a, mean[a], wrong, math.Sqrt(variance/groups))
		}
		wrong, spread := math.Abs(variance-cov.At(a, a)), math.Sqrt((power[4][a]-variance*variance)/groups)
		if p.Importance.Mode != option.Clip && wrong > 6*spread {
			t.Errorf("weighting %v, ε = %g, arm %d: variance %v off by %.3g ± %.3g", p.Importance.Mode, p.Advantage.Epsilon, a, variance, wrong, spread)
		}
	}
}

// The stiffness from sums over compositions is the derivative of the force by the
// differences that serve for expansions: with errors of 1e-14 of the seventh derivative
// and of rounding.
func TestComposedStiffness(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 36))
	for _, size := range []int{2, 5, 9} {
		for _, weighting := range []option.ImportanceMode{option.NoImportance, option.Ratio, option.Clip, option.VESPO} {
			p := mixed(size)
			p.Importance.Mode, p.Importance.Power, p.Importance.Decay = weighting, option.Signed{Positive: 2, Negative: 3}, option.Signed{Positive: 3, Negative: 2}
			p = p.checked()
			m := newModel(&p)
			theta := normals(r, 4, 0.7)
			m.set(theta, theta)
			fresh, stale := group.Square(4), group.Square(4)
			m.law.Stiffness(fresh, stale)
			if weighting != option.NoImportance {
				m.bendWeights(fresh, stale)
			}
			wantFresh, wantStale := group.Square(4), group.Square(4)
			m.differencedStiffness(wantFresh, wantStale, theta, m.rewardForce)
			for a := range 4 {
				for b := range 4 {
					near(t, "fresh", fresh[a][b]+1, wantFresh[a][b]+1, 1e-12)
					near(t, "stale", stale[a][b]+1, wantStale[a][b]+1, 1e-12)
				}
			}
		}
	}
}

// Fixed points of normal arms in groups of few samples, against the simulator: means of J
// of 1,000 and 64 replicas at small learning rates, within four standard errors and the
// second-order shift of the noise, at most 4e-4.
func TestFixedPointsOfNormalArms(t *testing.T) {
	for _, c := range []struct {
		size            int
		std, strength   float64
		anchor          option.KLPoint
		reward, allowed float64
	}{
		{2, 0.3, 1.2, option.AtSnapshot, 0.6941, 1e-3}, {4, 0.3, 1.2, option.AtSnapshot, 0.77277, 1e-3},
		{16, 0.3, 1.2, option.AtSnapshot, 0.83618, 1e-3}, {4, 0.1, 0.5, option.AtCurrent, 0.9659, 4e-3},
	} {
		p := Params{
			Arms:      []option.Arm{{Law: option.Normal, Mean: 1, Std: c.std}, {Law: option.Normal, Mean: 0, Std: c.std}},
			Estimator: option.Estimator{GroupSize: c.size, GroupsPerStep: 1, KL: option.KL{Coefficient: c.strength, At: c.anchor}},
			Lag:       option.Lag{Kind: option.Block, Interval: 1},
			Optimizer: option.Optimizer{LearningRate: 0.01},
		}
		point, ok := Reached(p)
		if !ok || math.Abs(point.Reward-c.reward) > c.allowed {
			t.Errorf("G = %d, std %g: J* = %v, %v, simulated %v", c.size, c.std, point.Reward, ok, c.reward)
		}
	}
}

// At finite G and β > 0 there is a fixed point, whatever the rewards, and the force
// vanishes there.
func TestFixedPointsOfAnyRewards(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 38))
	laws := []option.Law{option.Bernoulli, option.Constant, option.Normal}
	for range 60 {
		arms := 2 + r.IntN(3)
		p := Params{
			Estimator: option.Estimator{GroupSize: 2 + r.IntN(6), GroupsPerStep: 1, KL: option.KL{Coefficient: math.Exp(2*r.NormFloat64() - 1), Gradient: []option.KLGradient{option.ExactKL, option.K2, option.K3}[r.IntN(3)]}, Importance: option.Importance{Mode: option.ImportanceMode(r.IntN(2))}, Advantage: option.Advantage{Baseline: option.Baseline(r.IntN(2))}},
			Lag:       option.Lag{Kind: option.Block, Interval: 1},
			Reference: normals(r, arms, 1),
		}
		for range arms {
			p.Arms = append(p.Arms, option.Arm{Law: laws[r.IntN(3)], Mean: r.Float64(), Std: 0.01 + r.Float64()})
		}
		all := FixedPoints(p)
		if len(all) == 0 {
			t.Errorf("%+v: none", p)
		}
		force := make([]float64, arms)
		for _, point := range all {
			MeanForce(force, p, point.Logits, point.Logits)
			if linear.Norm(force) > 1e-9 {
				t.Errorf("%+v: force %v at %v", p, force, point.Policy)
			}
		}
	}
}

// Which of the two is said: that there is no fixed point, or that none was found.
func TestReasonsWithoutFixedPoint(t *testing.T) {
	p := reference(option.StdScale, 0, 16)
	if got := Predict(p); got.FixedPoint != nil || got.Exact.Scope.Because.String() != "no fixed point exists without a KL penalty" {
		t.Errorf("β = 0: %+v", got.Exact.Scope)
	}
	p = reference(option.StdScale, 0.9*BetaCritical(0), option.Infinite)
	p.Arms = []option.Arm{{Mean: 1}, {Mean: 0}}
	if got := Predict(p); got.FixedPoint != nil || got.Exact.Scope.Because.String() != fmt.Sprintf("no fixed point exists at G = ∞ below the critical KL coefficient, %.2g", math.Ceil(10*BetaCritical(0))/10) {
		t.Errorf("below β_c: %+v", got.Exact.Scope)
	}
	p.Arms = []option.Arm{{Law: option.Constant, Mean: 1, Std: 0}, {Law: option.Constant, Mean: 0, Std: 0}, {Law: option.Constant, Mean: 0.5, Std: 0}}
	p.Reference, p.KL.Coefficient = nil, 0.1
	if got := Predict(p); got.FixedPoint != nil || !got.Exact.Scope.Because.Is(scope.NoneFound) {
		t.Errorf("three values: %+v", got.Exact.Scope)
	}
}
