package rom

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/group"
	"grposim/rom/weight"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// sample is one draw: an arm and its reward.
type sample struct {
	arm    int
	reward float64
}

// sampledForce computes the gradient estimate of docs/theory.md §1 sample by sample.
func sampledForce(p Params, theta, old []float64, group []sample) []float64 {
	arms, size := len(p.Arms), float64(len(group))
	policy := func(logits []float64) []float64 {
		out, sum := make([]float64, arms), 0.0
		for a, x := range logits {
			out[a] = math.Exp(x)
			sum += out[a]
		}
		for a := range out {
			out[a] /= sum
		}
		return out
	}
	now, past, reference := policy(theta), policy(old), policy(p.Reference)
	anchor := now
	if p.KL.At == option.AtSnapshot {
		anchor = past
	}
	if p.KL.In == option.InReward {
		group = slices.Clone(group)
		for i, s := range group {
			group[i].reward -= p.KL.Coefficient * math.Log(past[s.arm]/reference[s.arm])
		}
	}
	mean, lowest, highest := 0.0, group[0].reward, group[0].reward
	for _, s := range group {
		mean += s.reward / size
		lowest, highest = min(lowest, s.reward), max(highest, s.reward)
	}
	squares := 0.0
	for _, s := range group {
		squares += (s.reward - mean) * (s.reward - mean)
	}
	g := make([]float64, arms)
	pull := func(weight float64, arm int, at []float64) {
		for a := range g {
			e := 0.0
			if a == arm {
				e = 1
			}
			g[a] += weight * (e - at[a]) / size
		}
	}
	for _, s := range group {
		advantage := s.reward - mean
		if p.Advantage.Baseline == option.LeaveOneOut {
			advantage *= size / (size - 1)
		}
		if p.Advantage.Scale == option.StdScale {
			n := size
			if p.Advantage.Std == option.SampleStd {
				n--
			}
			advantage /= math.Sqrt(squares/n) + p.Advantage.Epsilon
		}
		if lowest == highest {
			advantage = 0
		}
		ratio := now[s.arm] / past[s.arm]
		weight := sampleWeight(&p, ratio, advantage)
		if p.KL.In == option.InAdvantage {
			advantage -= p.KL.Coefficient * math.Log(past[s.arm]/reference[s.arm])
		}
		pull(weight*advantage, s.arm, now)
		if p.KL.In != option.InLoss || p.KL.Gradient == option.ExactKL {
			continue
		}
		rho := anchor[s.arm] / past[s.arm]
		switch l := math.Log(anchor[s.arm] / reference[s.arm]); p.KL.Gradient {
		case option.K2:
			pull(-p.KL.Coefficient*l, s.arm, anchor)
		case option.K3:
			pull(-p.KL.Coefficient*(1-math.Exp(-l)), s.arm, anchor)
		case option.K1:
			pull(-p.KL.Coefficient, s.arm, anchor)
		case option.RatioK1:
			pull(-p.KL.Coefficient*rho*(l+1), s.arm, anchor)
		case option.RatioK3:
			pull(-p.KL.Coefficient*rho*l, s.arm, anchor)
		}
	}
	if p.Entropy != 0 {
		for a, q := range now {
			for _, r := range now {
				g[a] -= p.Entropy * q * r * math.Log(q/r)
			}
		}
	}
	if p.KL.Gradient == option.ExactKL && p.KL.In == option.InLoss {
		kl := 0.0
		for a, q := range anchor {
			kl += q * math.Log(q/reference[a])
		}
		for a, q := range anchor {
			g[a] -= p.KL.Coefficient * q * (math.Log(q/reference[a]) - kl)
		}
	}
	return g
}

// sampleWeight returns the weight of a sample with the importance ratio.
func sampleWeight(p *Params, ratio, advantage float64) float64 {
	weight := 1.0
	switch p.Importance.Mode {
	case option.Ratio:
		weight = ratio
	case option.Clip:
		weight = ratio
		if advantage > 0 && ratio > 1+p.Importance.ClipHigh || advantage < 0 &&
			ratio < 1-p.Importance.ClipLow {
			weight = 0
		}
	case option.VESPO:
		weight = math.Pow(ratio,
			p.Importance.Power.Positive) * math.Exp(p.Importance.Decay.Positive*(1-ratio))
		if advantage < 0 {
			weight = math.Pow(ratio,
				p.Importance.Power.Negative) * math.Exp(p.Importance.Decay.Negative*(1-ratio))
		}
	}
	return weight
}

// enumerate returns the mean and the covariance of sampledForce over all groups
// that can be drawn from the atoms (arm, reward, probability).
func enumerate(p Params, theta, old []float64, atoms []sample, chance []float64) (mean []float64,
	cov *mat.SymDense) {
	arms := len(p.Arms)
	mean = make([]float64, arms)
	second := mat.NewSymDense(arms, nil)
	group := make([]sample, p.GroupSize)
	// The order of the samples does not matter: sum over the counts of the atoms
	// with multinomial weights.
	var walk func(atom, filled int, weight float64)
	walk = func(atom, filled int, weight float64) {
		if atom == len(atoms)-1 {
			left := p.GroupSize - filled
			for i := range left {
				group[filled+i] = atoms[atom]
			}
			weight *= math.Pow(chance[atom], float64(left))
			if weight == 0 {
				return
			}
			g := sampledForce(p, theta, old, group)
			if c, size := p.Optimizer.MaxNorm, floats.Norm(g, 2); c > 0 && size > c {
				floats.Scale(c/size, g)
			}
			for a := range arms {
				mean[a] += weight * g[a]
				for b := a; b < arms; b++ {
					second.SetSym(a, b, second.At(a, b)+weight*g[a]*g[b])
				}
			}
			return
		}
		for n := 0; n <= p.GroupSize-filled; n++ {
			if n > 0 {
				group[filled+n-1] = atoms[atom]
				weight *= chance[atom] * float64(p.GroupSize-filled-n+1) / float64(n)
			}
			walk(atom+1, filled+n, weight)
		}
	}
	walk(0, 0, 1)
	cov = mat.NewSymDense(arms, nil)
	for a := range arms {
		for b := a; b < arms; b++ {
			cov.SetSym(a, b, (second.At(a, b)-mean[a]*mean[b])/float64(p.GroupsPerStep))
		}
	}
	return mean, cov
}

// everyEstimator calls visit with every combination of estimator options, set on a copy of base.
func everyEstimator(base Params, visit func(p Params)) {
	for _, baseline := range []option.Baseline{option.MeanBaseline, option.LeaveOneOut} {
		for _, scale := range []option.Scale{option.StdScale, option.NoScale} {
			for _, deviation := range []option.Deviation{option.PopulationStd, option.SampleStd} {
				for _, weighting := range []option.ImportanceMode{option.NoImportance, option.Ratio,
					option.Clip, option.VESPO} {
					for _, estimate := range []option.KLGradient{option.ExactKL, option.K2, option.K3} {
						for _, anchor := range []option.KLPoint{option.AtCurrent, option.AtSnapshot} {
							p := base
							p.Advantage.Baseline, p.Advantage.Scale, p.Advantage.Std = baseline, scale, deviation
							p.Importance.Mode, p.KL.Gradient, p.KL.At = weighting, estimate, anchor
							p.Importance.Power, p.Importance.Decay = option.Signed{Positive: 2, Negative: 3},
								option.Signed{Positive: 3, Negative: 2}
							visit(p)
						}
					}
				}
			}
		}
	}
}

// everyPenalty calls visit with the other penalties, in place of the exact one of copies of the
// estimators of everyEstimator.
func everyPenalty(base Params, visit func(p Params)) {
	everyEstimator(base, func(p Params) {
		if p.KL.Gradient != option.ExactKL {
			return
		}
		for _, estimate := range []option.KLGradient{option.ExactKL, option.K1, option.RatioK1,
			option.RatioK3} {
			p.KL.Gradient, p.Entropy = estimate, 0.3
			visit(p)
		}
		p.KL.Gradient, p.Entropy, p.KL.At = option.ExactKL, 0, option.AtCurrent
		for _, placement := range []option.KLPlacement{option.InAdvantage, option.InReward} {
			p.KL.In, p.OnTheWay = placement, true
			if placement == option.InReward || p.Importance.Mode <= option.Ratio {
				visit(p)
			}
		}
	})
}

func normals(r *rand.Rand, n int, width float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = width * r.NormFloat64()
	}
	return x
}

// The mean force and its covariance agree with the sample-by-sample estimator
// averaged over all groups, up to rounding: about 1e3 terms of order 1 at 1e-16.
func TestForceIsTheEnumeratedOne(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, arms := range []int{2, 3} {
		base := Params{
			Estimator: option.Estimator{GroupSize: 6 - arms, GroupsPerStep: 2,
				Advantage:  option.Advantage{Epsilon: 0.05},
				Importance: option.Importance{ClipLow: 0.1, ClipHigh: 0.2}, KL: option.KL{Coefficient: 0.7}},
			Lag:     block(1),
			Factors: Unit,
		}
		compare := func(p Params) {
			theta, old := normals(r, arms, 1), normals(r, arms, 1)
			p.Reference = normals(r, arms, 1)
			var atoms []sample
			var chance []float64
			past := make([]float64, arms)
			cell.Softmax(past, old)
			for a := range arms {
				m := r.Float64()
				if r.IntN(4) == 0 {
					m = math.Round(m)
				}
				p.Arms = append(p.Arms, option.Arm{Mean: m})
				atoms = append(atoms, sample{a, 1}, sample{a, 0})
				chance = append(chance, past[a]*m, past[a]*(1-m))
			}
			requireEnumerated(t, p, theta, old, atoms, chance)
		}
		everyEstimator(base, compare)
		everyPenalty(base, compare)
	}
}

// requireEnumerated fails the test unless mean and covariance of the force are exact and
// those of the enumeration of all groups of samples with these chances, to 2e-13.
func requireEnumerated(t *testing.T, p Params, theta, old []float64, atoms []sample,
	chances []float64) {
	t.Helper()
	wantMean, wantCov := enumerate(p, theta, old, atoms, chances)
	mean := make([]float64, len(theta))
	kind := force.Mean(mean, p, theta, old)
	cov, covKind := force.Covariance(p, theta, old)
	if kind != Exact || covKind != Exact {
		t.Fatalf("kinds %v, %v, want exact", kind, covKind)
	}
	for a := range mean {
		if math.Abs(mean[a]-wantMean[a]) > 2e-13 {
			t.Fatalf("%+v: mean %v, enumerated %v", p, mean, wantMean)
		}
		for b := range mean {
			if math.Abs(cov.At(a, b)-wantCov.At(a, b)) > 2e-13 {
				t.Fatalf("%+v: Cov[%d,%d] %v, enumerated %v", p, a, b, cov.At(a, b), wantCov.At(a, b))
			}
		}
	}
}

// exactForce returns mean and covariance of a force that is known exactly, which it tests.
func exactForce(t *testing.T, p Params, theta, old []float64) (mean []float64, cov *mat.SymDense) {
	t.Helper()
	mean = make([]float64, len(p.Arms))
	if kind := force.Mean(mean, p, theta, old); kind != Exact {
		t.Errorf("kind %v", kind)
	}
	cov, _ = force.Covariance(p, theta, old)
	return mean, cov
}

// Rewards of two values other than 0 and 1 are exact too.
func TestTwoConstantsAreExact(t *testing.T) {
	p := Params{
		Arms: []option.Arm{{Law: option.Constant, Mean: 0.2, Std: 0},
			{Law: option.Constant, Mean: 0.7, Std: 0}, {Law: option.Normal, Mean: 0.2, Std: 0}},
		Reference: []float64{0, 0.3, 0},
		Estimator: option.Estimator{GroupSize: 5, GroupsPerStep: 1,
			Advantage: option.Advantage{Epsilon: 0.3}, KL: option.KL{Coefficient: 0.4}},
		Lag:     block(1),
		Factors: Unit,
	}
	theta, old := []float64{0.1, 0, 0.4}, []float64{0, 0.2, -0.3}
	past := make([]float64, 3)
	cell.Softmax(past, old)
	atoms := []sample{{0, 0.2}, {1, 0.7}, {2, 0.2}}
	for _, scale := range []option.Scale{option.StdScale, option.NoScale} {
		p.Advantage.Scale = scale
		wantMean, wantCov := enumerate(p, theta, old, atoms, past)
		mean, cov := exactForce(t, p, theta, old)
		for a := range mean {
			if math.Abs(mean[a]-wantMean[a]) > 1e-13 || math.Abs(cov.At(a, a)-wantCov.At(a, a)) > 1e-13 {
				t.Errorf("scale %v arm %d: mean %v, want %v; variance %v, want %v",
					scale, a, mean[a], wantMean[a], cov.At(a, a), wantCov.At(a, a))
			}
		}
	}
}

// For rewards of three values mean and covariance are exact without scale, else expansions in 1/G
// with errors of order G⁻². Doubling G divides both errors by 4, up to the next order, which at G =
// 24 is about a tenth; with a wrong coefficient that of the mean would be divided by 2.
func TestExpansionErrorFallsAsSquare(t *testing.T) {
	base := Params{
		Arms: []option.Arm{{Law: option.Constant, Mean: 0, Std: 0},
			{Law: option.Constant, Mean: 0.4, Std: 0}, {Law: option.Constant, Mean: 1, Std: 0}},
		Reference: []float64{0, 0.3, -0.2},
		Estimator: option.Estimator{GroupsPerStep: 1, Advantage: option.Advantage{Epsilon: 0.1},
			Importance: option.Importance{ClipLow: 0.2, ClipHigh: 0.2}, KL: option.KL{Coefficient: 0.4}},
		Lag:     block(1),
		Factors: Unit,
	}
	theta, old := []float64{0.1, 0, 0.3}, []float64{0, 0.2, -0.1}
	past := make([]float64, 3)
	cell.Softmax(past, old)
	atoms := []sample{{0, 0}, {1, 0.4}, {2, 1}}
	miss := func(p Params, size int) (mean, cov float64) {
		p.GroupSize = size
		wantMean, wantCov := enumerate(p, theta, old, atoms, past)
		got := make([]float64, 3)
		m := force.New(&p)
		m.Set(theta, old)
		m.MeanForce(got)
		c := m.Covariance()
		for a := range got {
			mean = max(mean, math.Abs(got[a]-wantMean[a]))
			for b := range got {
				cov = max(cov, math.Abs(c.At(a, b)-wantCov.At(a, b)))
			}
		}
		return mean, cov
	}
	everyEstimator(base, func(p Params) {
		if weight.BySign(&p.Importance) && p.Advantage.Scale == option.NoScale {
			return // an atom may sit on the clip's kink at small G
		}
		name := fmt.Sprint(p.Advantage.Baseline, p.Advantage.Scale, p.Advantage.Std, p.Importance.Mode,
			p.KL.Gradient, p.KL.At)
		m1, c1 := miss(p, 24)
		if p.Advantage.Scale == option.NoScale && max(m1, c1) > 1e-14 {
			t.Errorf("%s: mean misses by %.3g, covariance by %.3g at G = 24", name, m1, c1)
		}
		m2, c2 := miss(p, 48)
		if m1 > 1e-12 && !(m1/m2 > 3) {
			t.Errorf("%s: mean misses by %.3g at G = 24, %.3g at 48", name, m1, m2)
		}
		if c1 > 1e-12 && !(c1/c2 > 3) {
			t.Errorf("%s: covariance misses by %.3g at G = 24, %.3g at 48", name, c1, c2)
		}
	})
}

// The expansion applied to Bernoulli arms agrees with the exact sums up to terms of
// order G⁻² in the mean, with a constant of order 10 (σ⁻³ ~ 8).
func TestExpansionOfBernoulliArms(t *testing.T) {
	base := Params{
		Arms:      []option.Arm{{Mean: 0.7}, {Mean: 0.3}, {Mean: 0.5}},
		Reference: []float64{0, 0.3, -0.2},
		Estimator: option.Estimator{GroupsPerStep: 1, GroupSize: 1000,
			Advantage:  option.Advantage{Epsilon: 0.1},
			Importance: option.Importance{ClipLow: 0.2, ClipHigh: 0.2}, KL: option.KL{Coefficient: 0.4}},
		Lag:     block(1),
		Factors: Unit,
	}
	theta, old := []float64{0.1, 0, 0.3}, []float64{0, 0.2, -0.1}
	everyEstimator(base, func(p Params) {
		exact, expanded := force.New(&p), force.New(&p)
		expanded.Law = group.NewExpanded(p.Arms, &p.Estimator, expanded.Samples)
		want, got := make([]float64, 3), make([]float64, 3)
		exact.Set(theta, old)
		expanded.Set(theta, old)
		exact.MeanForce(want)
		expanded.MeanForce(got)
		wantCov, gotCov := exact.Covariance(), expanded.Covariance()
		for a := range want {
			if math.Abs(got[a]-want[a]) > 10e-6 {
				t.Errorf("mean %v, exact %v", got, want)
			}
			for b := range want {
				if math.Abs(gotCov.At(a, b)-wantCov.At(a, b)) > 10e-6 {
					t.Errorf("Cov %v, exact %v", gotCov.At(a, b), wantCov.At(a, b))
				}
			}
		}
	})
}
