package grpo_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/grpo"
	"grposim/option"
)

// sample is one draw of a group.
type sample struct {
	arm    int
	reward float64
}

// definition returns the force by docs/theory.md §1, sample by sample, with the
// functions of the standard library.
func definition(e option.Estimator, groups [][]sample, theta, old, reference []float64) []float64 {
	pi, piOld, piRef := softmax(theta), softmax(old), softmax(reference)
	at, piAt := theta, pi
	if e.KL.At == option.AtSnapshot {
		at, piAt = old, piOld
	}
	g := make([]float64, len(theta))
	for _, group := range groups {
		size := float64(len(group))
		mean, low, high := 0.0, math.Inf(1), math.Inf(-1)
		for _, s := range group {
			mean += s.reward / size
			low, high = math.Min(low, s.reward), math.Max(high, s.reward)
		}
		square := 0.0
		for _, s := range group {
			square += (s.reward - mean) * (s.reward - mean)
		}
		for i, s := range group {
			baseline := mean
			if e.Advantage.Baseline == option.LeaveOneOut {
				baseline = 0
				for k, other := range group {
					if k != i {
						baseline += other.reward / (size - 1)
					}
				}
			}
			advantage := s.reward - baseline
			if e.Advantage.Scale == option.StdScale {
				n := size
				if e.Advantage.Std == option.SampleStd {
					n--
				}
				advantage /= math.Sqrt(square/n) + e.Advantage.Epsilon
			}
			if low == high {
				advantage = 0
			}
			weight := weightByDefinition(e.Importance, pi[s.arm], piOld[s.arm], advantage > 0)
			kappa := 0.0
			switch e.KL.Gradient {
			case option.K2:
				kappa = math.Log(piAt[s.arm] / piRef[s.arm])
			case option.K3:
				kappa = 1 - piRef[s.arm]/piAt[s.arm]
			case option.K1:
				kappa = 1
			case option.RatioK1:
				kappa = piAt[s.arm] / piOld[s.arm] * (1 + math.Log(piAt[s.arm]/piRef[s.arm]))
			case option.RatioK3:
				kappa = piAt[s.arm] / piOld[s.arm] * math.Log(piAt[s.arm]/piRef[s.arm])
			}
			if e.KL.In == option.InAdvantage {
				advantage -= e.KL.Coefficient * math.Log(piOld[s.arm]/piRef[s.arm])
				kappa = 0
			}
			for a := range g {
				indicator := 0.0
				if a == s.arm {
					indicator = 1
				}
				share := 1 / (size * float64(len(groups)))
				g[a] += share * weight * advantage * (indicator - pi[a])
				g[a] -= share * e.KL.Coefficient * kappa * (indicator - piAt[a])
			}
		}
	}
	for a, p := range pi {
		for b, q := range pi {
			g[a] -= e.Entropy * p * q * (theta[a] - theta[b])
		}
	}
	if e.KL.Gradient == option.ExactKL && e.KL.In == option.InLoss {
		mean := 0.0
		for a := range g {
			mean += piAt[a] * (at[a] - reference[a])
		}
		for a := range g {
			g[a] -= e.KL.Coefficient * piAt[a] * (at[a] - reference[a] - mean)
		}
	}
	return g
}

// weightByDefinition returns the weight of an arm's sample by definition (docs/theory-trainers.md
// §11.2). The arm has probability p under π and old under π_old.
func weightByDefinition(imp option.Importance, p, old float64, positive bool) float64 {
	rho := p / old
	keep := func(condition bool) float64 {
		if condition {
			return rho
		}
		return 0
	}
	by := func(s option.Signed) float64 {
		if positive {
			return s.Positive
		}
		return s.Negative
	}
	switch imp.Mode {
	case option.NoImportance:
		return 1
	case option.Ratio:
		return rho
	case option.Clip: // the slope of min(ρA, clip(ρ)A)
		return keep(positive && rho <= 1+imp.ClipHigh || !positive && rho >= 1-imp.ClipLow)
	case option.DualClip:
		return keep(positive && rho <= 1+imp.ClipHigh || !positive && rho >= 1-imp.ClipLow && rho <= imp.Cap)
	case option.Truncated:
		return math.Min(rho, imp.Cap)
	case option.Masked:
		return keep(rho >= imp.Floor && rho <= imp.Cap)
	case option.CISPO:
		return math.Max(1-imp.ClipLow, math.Min(rho, 1+imp.ClipHigh))
	case option.SAPO:
		sigma := 1 / (1 + math.Exp(-by(imp.Temperature)*(rho-1)))
		return 4 * sigma * (1 - sigma) * rho
	case option.VESPO:
		return math.Pow(rho, by(imp.Power)) * math.Exp(by(imp.Decay)*(1-rho))
	case option.DPPO:
		return keep(positive && p-old <= imp.ClipHigh || !positive && p-old >= -imp.ClipLow)
	}
	panic("no definition of " + imp.Mode.String())
}

// importance returns every field of an Importance of the mode.
func importance(mode option.ImportanceMode) option.Importance {
	return option.Importance{
		Mode: mode, ClipLow: 0.2, ClipHigh: 0.3, Floor: 0.5, Cap: 1.5,
		Temperature: option.Signed{Positive: 1, Negative: 1.05},
		Power:       option.Signed{Positive: 2, Negative: 3}, Decay: option.Signed{Positive: 3, Negative: 2},
	}
}

func softmax(theta []float64) []float64 {
	p := make([]float64, len(theta))
	sum := 0.0
	for a, l := range theta {
		p[a] = math.Exp(l)
		sum += p[a]
	}
	for a := range p {
		p[a] /= sum
	}
	return p
}

// estimators calls f with every combination of the estimator's options for any reward law.
func estimators(f func(option.Estimator)) {
	for _, baseline := range option.Baselines[:2] {
		for _, scale := range option.Scales[:2] {
			for _, std := range option.Deviations {
				for _, mode := range option.ImportanceModes {
					for _, gradient := range option.KLGradients {
						for _, at := range option.KLPoints {
							e := option.Estimator{
								Advantage:  option.Advantage{Baseline: baseline, Scale: scale, Std: std, Epsilon: 0.01},
								Importance: importance(mode),
								KL:         option.KL{Coefficient: 0.7, In: option.InLoss, Gradient: gradient, At: at},
								Entropy:    0.4,
							}
							f(e)
							if e.KL.In = option.InAdvantage; (mode == option.NoImportance || mode == option.Ratio) &&
								gradient == option.ExactKL && at == option.AtCurrent {
								f(e)
							}
						}
					}
				}
			}
		}
	}
}

func draw(rng *rand.Rand, p []float64) int {
	u := rng.Float64()
	for a, x := range p {
		if u -= x; u < 0 {
			return a
		}
	}
	return len(p) - 1
}

// The force of group statistics is that of the definition for every estimator and any samples.
// Rounding is that of sums of at most 60 terms of order 10.
func TestSampledForceIsTheDefinition(t *testing.T) {
	const tolerance = 1e-12
	rng := rand.New(rand.NewPCG(1, 2))
	estimators(func(e option.Estimator) {
		for _, arms := range []int{2, 5} {
			e.GroupSize, e.GroupsPerStep = 2+rng.IntN(9), 1+rng.IntN(3)
			theta, old, reference := make([]float64, arms), make([]float64, arms), make([]float64, arms)
			for a := range theta {
				theta[a], old[a], reference[a] = rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
			}
			bernoulli := grpo.GroupStatistics{Arms: make([]grpo.ArmStatistics, arms)}
			atoms := grpo.GroupStatistics{Arms: make([]grpo.ArmStatistics, arms)}
			graded := grpo.GroupStatistics{Arms: make([]grpo.ArmStatistics, arms)}
			var groups, gradedGroups [][]sample
			for range e.GroupsPerStep {
				counts, successes := make([]int, arms), make([]int, arms)
				var group, gradedGroup []sample
				var same, each []grpo.Atom
				for range e.GroupSize {
					s := sample{arm: draw(rng, softmax(old)), reward: float64(rng.IntN(2))}
					counts[s.arm]++
					successes[s.arm] += int(s.reward)
					group = append(group, s)
					same = append(same, grpo.Atom{Arm: s.arm, Count: 1, Reward: s.reward})
					s.reward = rng.NormFloat64()
					gradedGroup = append(gradedGroup, s)
					each = append(each, grpo.Atom{Arm: s.arm, Count: 1, Reward: s.reward})
				}
				addBernoulli(&bernoulli, e.Advantage, counts, successes)
				atoms.AddAtoms(&e.Advantage, same, 0)
				graded.AddAtoms(&e.Advantage, each, 0)
				groups, gradedGroups = append(groups, group), append(gradedGroups, gradedGroup)
			}
			force := grpo.NewForce(e, reference)
			for _, c := range []struct {
				name       string
				statistics *grpo.GroupStatistics
				groups     [][]sample
			}{{"counts", &bernoulli, groups}, {"atoms", &atoms, groups},
				{"graded rewards", &graded, gradedGroups}} {
				got := make([]float64, arms)
				force.Sampled(got, c.statistics, grpo.NewPolicy(theta), grpo.NewPolicy(old))
				want := definition(e, c.groups, theta, old, reference)
				for a := range got {
					if !(math.Abs(got[a]-want[a]) <= tolerance) {
						t.Fatalf("%s, %+v: force %v, want %v", c.name, e, got, want)
					}
				}
			}
		}
	})
}

// Where weights do not depend on the sign of A, a normal arm's samples may be one atom with their
// mean and scatter. The force is that of the single samples.
func TestScatterReplacesSingleSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	estimators(func(e option.Estimator) {
		if grpo.WeightsBySign(&e.Importance) {
			return
		}
		e.GroupSize, e.GroupsPerStep = 12, 1
		old, theta, reference := []float64{0.3, 0, -1}, []float64{0.5, 0.1, 0}, []float64{0, 0, 0}
		var group []sample
		for range e.GroupSize {
			group = append(group, sample{arm: draw(rng, softmax(old)), reward: rng.NormFloat64()})
		}
		statistics := grpo.GroupStatistics{Arms: make([]grpo.ArmStatistics, 3)}
		var atoms []grpo.Atom
		scatter := 0.0
		for a := range 3 {
			atom := grpo.Atom{Arm: a}
			for _, s := range group {
				if s.arm == a {
					atom.Reward += s.reward
					atom.Count++
				}
			}
			if atom.Count == 0 {
				continue
			}
			atom.Reward /= float64(atom.Count)
			for _, s := range group {
				if s.arm == a {
					scatter += (s.reward - atom.Reward) * (s.reward - atom.Reward)
				}
			}
			atoms = append(atoms, atom)
		}
		statistics.AddAtoms(&e.Advantage, atoms, scatter)
		got := make([]float64, 3)
		grpo.NewForce(e, reference).Sampled(got, &statistics, grpo.NewPolicy(theta), grpo.NewPolicy(old))
		want := definition(e, [][]sample{group}, theta, old, reference)
		for a := range got {
			if !(math.Abs(got[a]-want[a]) <= 1e-12) {
				t.Fatalf("%+v: force %v, want %v", e, got, want)
			}
		}
	})
}

// Advantages of equal rewards are 0, although seven rewards of 0.95 have a computed
// standard deviation of 1e-16.
func TestEqualRewardsHaveNoAdvantage(t *testing.T) {
	for _, reward := range []float64{0, 1, 0.95, -3e-7} {
		statistics := grpo.GroupStatistics{Arms: make([]grpo.ArmStatistics, 2)}
		statistics.AddAtoms(&byStd,
			[]grpo.Atom{{Arm: 0, Count: 4, Reward: reward}, {Arm: 1, Count: 3, Reward: reward}}, 0)
		if statistics.ZeroVariance != 1 || statistics.Arms[0].Positive != 0 ||
			statistics.Arms[1].Negative != 0 {
			t.Errorf("rewards all %g: %+v", reward, statistics)
		}
	}
}

// The expected force is the limit of the sampled force. That of a large group deviates by its
// standard error and a term of order 1/G.
func TestExpectedForceIsTheLimit(t *testing.T) {
	const size, sigmas = 400_000 / thin, 6 // fails with probability 2e-9 each, about 400 comparisons
	rng := rand.New(rand.NewPCG(5, 6))
	arms := []option.Arm{bernoulli(0.7), constant(0.1), normal(0.4, 0.3)}
	bandit := option.Bandit{Arms: arms}
	old, theta, reference := []float64{0.3, 0, -0.5}, []float64{0.45, -0.3, 0}, []float64{0, 0.2, 0}
	var atoms []grpo.Atom
	for range size {
		s := sample{arm: draw(rng, softmax(old))}
		switch arm := arms[s.arm]; arm.Law {
		case option.Bernoulli:
			if rng.Float64() < arm.Mean {
				s.reward = 1
			}
		case option.Constant:
			s.reward = arm.Mean
		case option.Normal:
			s.reward = arm.Mean + arm.Std*rng.NormFloat64()
		}
		atoms = append(atoms, grpo.Atom{Arm: s.arm, Count: 1, Reward: s.reward})
	}
	estimators(func(e option.Estimator) {
		e.GroupSize, e.GroupsPerStep = size, 1
		e.Importance.ClipLow, e.Importance.ClipHigh = 0.1, 0.1
		statistics := grpo.GroupStatistics{Arms: make([]grpo.ArmStatistics, 3)}
		statistics.AddAtoms(&e.Advantage, atoms, 0)
		force := grpo.NewForce(e, reference)
		got, want := make([]float64, 3), make([]float64, 3)
		force.Expected(want, &bandit, grpo.NewPolicy(theta), grpo.NewPolicy(old))
		force.Sampled(got, &statistics, grpo.NewPolicy(theta), grpo.NewPolicy(old))
		// |wA(e_a−π)| is of order 1 to 4 here, so the standard error of g is below 4/√G.
		for a := range got {
			if !(math.Abs(got[a]-want[a]) <= sigmas*4/math.Sqrt(size)) {
				t.Fatalf("%+v: sampled %v, expected %v", e, got, want)
			}
		}
	})
}

// Equal rewards give no reward force at G = ∞ either, however their mean rounds. With 0.1 three
// times the mean under some policies is 0.1 + 1.4e-17, the computed deviation 1.4e-17. The force is
// that without a penalty, exactly 0.
func TestEqualRewardsHaveNoExpectedForce(t *testing.T) {
	laws := [][]option.Arm{
		{constant(0.1), constant(0.1), constant(0.1)},
		{normal(0.95, 0), constant(0.95), normal(0.95, 0)},
		{bernoulli(1), constant(1), bernoulli(1)},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	g := make([]float64, 3)
	estimators(func(e option.Estimator) {
		e.GroupSize, e.GroupsPerStep = option.Infinite, 1
		e.KL.Coefficient, e.Advantage.Epsilon, e.Entropy = 0, 0, 0
		for _, arms := range laws {
			theta, old := make([]float64, 3), make([]float64, 3)
			for a := range theta {
				theta[a], old[a] = rng.NormFloat64(), rng.NormFloat64()
			}
			force := grpo.NewForce(e, make([]float64, 3))
			force.Expected(g, &option.Bandit{Arms: arms}, grpo.NewPolicy(theta), grpo.NewPolicy(old))
			for _, x := range g {
				if x != 0 {
					t.Fatalf("%+v, %v: force %v, want 0", e, arms, g)
				}
			}
		}
	})
}

// Bounded weights stay numbers at ratios near the ends of the range of floating point.
func TestWeightsOfExtremeRatios(t *testing.T) {
	statistics := grpo.GroupStatistics{Arms: []grpo.ArmStatistics{{Positive: 1, PositiveCount: 1,
		Count: 1}, {Negative: -1, NegativeCount: 1, Count: 1}}, Groups: 1}
	e := option.Estimator{GroupSize: 2, GroupsPerStep: 1, Advantage: byStd}
	for _, mode := range []option.ImportanceMode{option.SAPO, option.VESPO, option.Truncated, option.CISPO} {
		for _, decay := range []float64{0, 2, 1e300} {
			e.Importance = importance(mode)
			e.Importance.Decay = option.Signed{Positive: decay, Negative: decay}
			for _, gap := range []float64{0, 40, -40, 744, -744, 800, -800} {
				g := make([]float64, 2)
				grpo.NewForce(e, []float64{0, 0}).Sampled(g, &statistics, grpo.NewPolicy([]float64{gap, 0}),
					grpo.NewPolicy([]float64{-gap, 0}))
				if math.IsNaN(g[0]) || math.IsNaN(g[1]) {
					t.Errorf("%s, decay %g, logit gap %g: force %v", mode, decay, gap, g)
				}
			}
		}
	}
}

// Of the samples whose advantage is not 0 (8 of 9), the share whose weight is set to 0 is all of one
// sign beyond a bound. It is 0 in modes that hold the ratio at a bound.
func TestClipFractionOfEveryMode(t *testing.T) {
	// ρ = 1.354, 0.609
	current, old := grpo.NewPolicy([]float64{0.9, 0}), grpo.NewPolicy([]float64{0.1, 0})
	statistics := grpo.GroupStatistics{Arms: []grpo.ArmStatistics{
		{Positive: 3, PositiveCount: 3, Negative: -1, NegativeCount: 1, Count: 4},
		{Positive: 1, PositiveCount: 1, Negative: -3, NegativeCount: 3, Count: 5},
	}, Groups: 1}
	for mode, want := range map[option.ImportanceMode]float64{
		option.NoImportance: 0, option.Ratio: 0, option.Clip: 6. / 8, option.DualClip: 6. / 8,
		option.Truncated: 0, option.Masked: 4. / 8,
		option.CISPO: 0, option.SAPO: 0, option.VESPO: 0, option.DPPO: 0,
	} {
		e := option.Estimator{GroupSize: 9, GroupsPerStep: 1, Advantage: byStd, Importance: importance(mode)}
		e.Importance.Floor, e.Importance.Cap = 0.7, 1.36
		f := grpo.NewForce(e, []float64{0, 0})
		f.Sampled(make([]float64, 2), &statistics, current, old)
		equal(t, mode, f.ClipFraction(&statistics), want)
	}
}
