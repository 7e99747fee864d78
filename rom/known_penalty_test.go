package rom_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/linear"
	"grposim/rom/path"
	"grposim/rom/rest"
	"grposim/rom/scope"
)

// Λ_f and Λ_s of every place and gradient of the KL penalty, with an entropy bonus, are the
// derivatives of the mean force.
func TestStiffnessOfPenalties(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, size := range []int{8, option.Infinite} {
		for _, scale := range []option.Scale{option.StdScale, option.NoScale} {
			for _, weighting := range []option.ImportanceMode{option.NoImportance, option.Ratio} {
				for _, estimator := range []option.KLGradient{option.K1, option.RatioK1, option.RatioK3} {
					for _, anchor := range []option.KLPoint{option.AtCurrent, option.AtSnapshot} {
						p, theta, _ := randomCell(r, option.Bernoulli, 3, size)
						p.Advantage.Scale, p.Importance.Mode, p.KL.Gradient, p.KL.At, p.Entropy = scale, weighting,
							estimator, anchor, 0.4
						checkStiffness(t, p, theta)
					}
				}
				for _, placement := range []option.KLPlacement{option.InAdvantage, option.InReward} {
					p, theta, _ := randomCell(r, option.Bernoulli, 2, size)
					p.Advantage.Scale, p.Importance.Mode, p.KL.In = scale, weighting, placement
					checkStiffness(t, p, theta)
				}
			}
		}
	}
}

// With k3 beside an entropy bonus the mean force vanishes at the fixed point.
func TestK3BesideAnEntropyBonus(t *testing.T) {
	for _, arms := range [][]option.Arm{{{Mean: 0.9}, {Mean: 0.2}}, {{Mean: 0.9}, {Mean: 0.5}, {Mean: 0.5}, {Mean: 0.1}}} {
		for _, filter := range []option.Filter{option.KeepAll, option.Redraw} {
			p := bandit(option.StdScale, 0.3, 8)
			p.Reference, p.Arms, p.Filter, p.KL.Gradient, p.KL.At, p.Entropy = nil, arms, filter,
				option.K3, option.AtCurrent, 0.1
			point, _ := rest.Reached(p)
			p = p.Checked()
			m, g := force.New(&p), make([]float64, len(arms))
			m.Set(point.Logits, point.Logits)
			m.MeanForce(g)
			if size := linear.Norm(g); !(size < 1e-11) {
				t.Errorf("%s: a force of %g", describe(p), size)
			}
		}
	}
}

// An entropy bonus is a change of the penalty: β → β+α, θ_ref → θ_ref β/(α+β).
func TestEntropyBonusIsAPenalty(t *testing.T) {
	p := bandit(option.StdScale, 0.9, 16)
	p.Arms = append(p.Arms, p.Arms[1], option.Arm{Mean: 0.5}) // two equal arms
	p.Reference = []float64{0, 0.8, 0.8, -0.4}
	p.Lag, p.Importance.Mode, p.KL.At = block(3), option.Ratio, option.AtCurrent
	same := p
	p.Entropy = 0.3
	same.KL.Coefficient = 1.2
	same.Reference = []float64{0, 0.6, 0.6, -0.3}
	same.Start = p.Reference
	got, want := rom.Predict(p), rom.Predict(same)
	closeTo(t, "J*", got.FixedPoint.Reward, want.FixedPoint.Reward, 1e-12)
	closeTo(t, "λ", got.Stiffness.Total, want.Stiffness.Total, 1e-12)
	closeTo(t, "λ_s", got.Stiffness.Stale, want.Stiffness.Stale, 1e-12)
	closeTo(t, "smallest λ", got.Stiffness.Slowest, want.Stiffness.Slowest, 1e-12)
	closeTo(t, "Var J", *got.Moments.RewardVariance, *want.Moments.RewardVariance, 1e-12)
}

// k1 in the loss has the force −β(π_old − π), Λ_f = −βF and Λ_s = βF. Without another
// penalty there is no fixed point. With an entropy bonus that is small beside it, two arms
// are unstable from ηβ·2pq·ā = 1−μ on, where a real multiplier passes 1.
func TestK1InTheLossIsAntiDamping(t *testing.T) {
	p := bandit(option.NoScale, 0.5, option.Infinite)
	p.KL.Gradient, p.KL.At = option.K1, option.AtCurrent
	fresh, stale := force.Stiffness(p, []float64{0.7, 0})
	p.KL.Coefficient = 0
	none, reward := force.Stiffness(p, []float64{0.7, 0})
	pq := sigmoid(0.7) * sigmoid(-0.7)
	closeTo(t, "Λ_f", fresh.At(0, 0)-none.At(0, 0), -0.5*pq, 1e-15)
	closeTo(t, "Λ_s", stale.At(0, 0)-reward.At(0, 0), 0.5*pq, 1e-15)
	p.KL.Coefficient = 0.5
	if got := rom.Predict(p); got.FixedPoint != nil ||
		!strings.Contains(got.Exact.Scope.Because.String(), "k1 in the loss") {
		t.Errorf("fixed point %v, because %q, want none", got.FixedPoint, got.Exact.Scope.Because)
	}
	p.Arms = []option.Arm{{Mean: 0.5}, {Mean: 0.5}} // equal arms: p = q = ½
	p.Entropy, p.KL.Coefficient, p.Lag = 1e-6, 2, delay(4)
	for _, momentum := range []float64{0, 0.9} {
		p.Optimizer = option.Optimizer{LearningRate: 0.01, Momentum: momentum}
		got := rom.Predict(p)
		want := (1 - momentum) / (2 * 0.5 * 4)
		rate := got.Exact.CriticalLearningRate
		if rate == nil {
			t.Fatalf("μ = %g: no critical η", momentum)
		}
		closeTo(t, "critical η", *rate/want, 1, 1e-5)
		// The mean field without the bonus: a small constant force starts the motion and
		// leaves the differences of the increments, which grow by the multiplier r,
		// (r − μ)r³ = κ(1 + r + r² + r³): 0.0387 and 23.3 (μ = 0), 0.497 and 2.00 (0.9).
		for _, share := range []float64{0.96, 1.04} {
			q := p
			q.Entropy, q.Arms, q.Optimizer.LearningRate = 0, []option.Arm{{Mean: 0.5 + 1e-8}, {Mean: 0.5}}, share*want
			r, kappa := 1.0, share*want
			for range 10_000 {
				r += 0.3 * (momentum + kappa*(1+r+r*r+r*r*r)/(r*r*r) - r)
			}
			closeTo(t, "growth", growth(q)/math.Pow(r, 200), 1, 1e-3)
		}
	}
}

// growth returns the growth of the change of increments of z on the mean field from step 150
// to 350.
func growth(p rom.Params) float64 {
	var z []float64
	path.MeanField(p, []float64{0, 0}, 352,
		func(_ int, theta []float64) { z = append(z, theta[0]-theta[1]) })
	change := func(t int) float64 { return z[t+2] - 2*z[t+1] + z[t] }
	return change(350) / change(150)
}

// KL in the reward, before the advantage: without scale z* = z_ref + Δ/β and λ = 2c_Gβpq at
// every G; with the std scale at G = ∞ the same z* and λ = 2βpq/s, s² = Σπ m(1−m).
func TestKLInTheReward(t *testing.T) {
	pq := sigmoid(1.4) * sigmoid(-1.4)
	s := math.Sqrt(sigmoid(1.4)*0.09 + sigmoid(-1.4)*0.16)
	for _, size := range []int{4, 16, option.Infinite} {
		for _, weighting := range []option.ImportanceMode{option.NoImportance, option.Ratio} {
			p := bandit(option.NoScale, 0.5, size)
			p.KL.In, p.Importance.Mode = option.InReward, weighting
			factor := 1.0
			if size > 0 {
				factor -= 1 / float64(size)
			}
			got := rom.Predict(p)
			closeTo(t, "z*, no scale", gapOf(got.FixedPoint.Logits), 1.4, 1e-12)
			closeTo(t, "λ, no scale", got.Stiffness.Total, factor*2*0.5*pq, 1e-11)
			if weighting == option.NoImportance && got.Stiffness.Fresh != 0 {
				t.Errorf("λ_f = %g, want 0", got.Stiffness.Fresh)
			}
		}
	}
	p := bandit(option.StdScale, 0.5, option.Infinite)
	p.KL.In = option.InReward
	got := rom.Predict(p)
	closeTo(t, "z*, G = ∞", gapOf(got.FixedPoint.Logits), 1.4, 1e-12)
	closeTo(t, "λ, G = ∞", got.Stiffness.Total, 2*0.5*pq/s, 1e-10)
}

// In the advantage the penalty is k2 at the snapshot, projected with the current policy: the
// fixed point is that of the exact KL.
func TestKLInTheAdvantage(t *testing.T) {
	for _, weighting := range []option.ImportanceMode{option.NoImportance, option.Ratio} {
		p := bandit(option.StdScale, 1.2, 16)
		p.KL.In, p.Importance.Mode = option.InAdvantage, weighting
		got := rom.Predict(p)
		printed(t, "z*", gapOf(got.FixedPoint.Logits), 1.278577203, 1e-9)
		printed(t, "λ", got.Stiffness.Total, 0.3391527175, 1e-9)
	}
}

// Reused samples: without momentum the frozen force has the variance V = NK/(κ(2−Kκ)) at a
// refresh, and V(1−kκ)² + k²N in the step k after it. With momentum the exact recursion of a
// block agrees with the sum of the effects of its common noise.
func TestReusedSamples(t *testing.T) {
	for _, interval := range []int{1, 2, 8} {
		p := bandit(option.NoScale, 0.5, 16)
		p.Samples, p.Lag, p.Optimizer = option.Reused, block(interval),
			option.Optimizer{LearningRate: 0.02}
		got := rom.Predict(p)
		kappa, noise, k := 0.02*got.Stiffness.Total, 0.02*0.02*got.GradientVariance, float64(interval)
		start := noise * k / (kappa * (2 - k*kappa))
		want := 0.0
		for j := range interval {
			x := float64(j)
			want += (start*(1-x*kappa)*(1-x*kappa) + x*x*noise) / k
		}
		closeTo(t, "Var z", *got.Exact.StationaryVariance.LogitGap/want, 1, 1e-9)
		if m := got.Moments; interval > 1 && (*m.RewardVariance != *got.Exact.StationaryVariance.ExpectedReward || m.RewardShift != nil || !m.Because.Is(scope.NotPredicted)) {
			t.Error("second order of reused samples, which is not derived")
		}
	}
	p := bandit(option.NoScale, 0.5, 16)
	p.Samples, p.Lag, p.Importance.Mode, p.KL.At = option.Reused, block(3), option.Ratio,
		option.AtCurrent
	p.Optimizer = option.Optimizer{LearningRate: 0.05, Momentum: 0.8}
	got := rom.Predict(p)
	// A linear run: the response of x to one block's noise, squared and summed over the phases.
	x, v, sum := 0.0, 0.0, 0.0
	for step := range 20_000 {
		force := -got.Stiffness.Fresh * x
		if step < 3 {
			force++
		}
		sum += x * x
		v = 0.8*v + force
		x += 0.05 * v
	}
	closeTo(t, "Var z with momentum",
		*got.Exact.StationaryVariance.LogitGap/(sum*got.GradientVariance/3), 1, 1e-9)
	// Slow Adam is that with the rate (1−β1)η/√Var g.
	p.Optimizer = option.Optimizer{Kind: option.Adam, Beta1: 0.8, Beta2: 0.999,
		LearningRate: 1e-5 / 0.2 * math.Sqrt(got.GradientVariance) / 2}
	slow := rom.Predict(p).LeadingOrder.StationaryVariance.LogitGap
	p.Optimizer = option.Optimizer{LearningRate: 1e-5, Momentum: 0.8}
	closeTo(t, "Var z under Adam", *slow / *rom.Predict(p).Exact.StationaryVariance.LogitGap, 1, 1e-3)
}

// The largest norm 1 of trainers clips no force of a tabular bandit: with weights of 1 the reward's
// part is at most 1/√2 with the std scale and √2/4 without, over all groups. With ratios, n = 1/√2
// exp(3√2·0.1 n) + 0.1961 has the solution 1.576.
func TestLargestNorm(t *testing.T) {
	for _, c := range []struct {
		scale      option.Scale
		beta, norm float64
		weighting  option.ImportanceMode
		lag        option.Lag
		in         bool
	}{
		{option.StdScale, 0.2, 1, option.NoImportance, block(4), true},
		{option.StdScale, 0.2, 0.9, option.NoImportance, block(4), false}, // 0.7071 + 0.2·0.9803 = 0.9032
		{option.StdScale, 0.2, 0.91, option.NoImportance, block(4), true},
		{option.NoScale, 0.2, 0.56, option.NoImportance, block(4), true}, // 0.3536 + 0.1961 = 0.5497
		{option.NoScale, 0.2, 0.54, option.NoImportance, block(4), false},
		{option.StdScale, 0.2, 1.57, option.Ratio, block(4), false},
		{option.StdScale, 0.2, 1.58, option.Ratio, block(4), true},
		{option.StdScale, 0.2, 1, option.Ratio, block(1), true},
		{option.StdScale, 1.2, 1, option.NoImportance, block(1), false},
	} {
		p := bandit(c.scale, c.beta, 16)
		p.Importance.Mode, p.Lag = c.weighting, c.lag
		free := rom.Predict(p)
		p.Optimizer.MaxNorm = c.norm
		if got := cell.Unclipped(p, math.Inf(1)); got.In != c.in {
			t.Errorf("%+v: unclipped %v, because %q", c, got.In, got.Because)
		}
		if c.in {
			closeTo(t, "Var z", *rom.Predict(p).Exact.StationaryVariance.LogitGap / *free.Exact.StationaryVariance.LogitGap, 1, 1e-9)
		}
	}
}

// A largest norm of 1 that no gradient of the runs reaches changes no number along the path.
func TestIdleNorm(t *testing.T) {
	for name, set := range map[string]func(p *rom.Params){
		"clip, four steps a block": func(p *rom.Params) {
			p.Importance, p.Lag = option.Importance{Mode: option.Clip, ClipLow: 0.2, ClipHigh: 0.2}, block(4)
		},
		"sampled penalty": func(p *rom.Params) {
			p.KL = option.KL{Coefficient: 0.04, Gradient: option.K3}
		},
		"Adam": func(p *rom.Params) {
			p.Optimizer = option.Optimizer{Kind: option.Adam, LearningRate: 0.01, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
			p.Importance, p.Lag = option.Importance{Mode: option.Ratio}, block(2)
		},
	} {
		p := bandit(option.StdScale, 0, 8)
		p.GroupsPerStep = 8
		set(&p)
		limited, start, at := p, make([]float64, len(p.Arms)), []int{0, 40, 151}
		limited.Optimizer.MaxNorm = 1
		all := []path.Observed{path.Reward, path.Entropy}
		got, want := rom.Paths(limited, start, at, all...), rom.Paths(p, start, at, all...)
		if fmt.Sprint(got) != fmt.Sprint(want) || !got[0].Scope.In {
			t.Errorf("%s: %+v, without a largest norm %+v", name, got[0], want[0])
		}
	}
}
