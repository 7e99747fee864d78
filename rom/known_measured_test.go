package rom_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/force"
	"grposim/rom/linear"
	"grposim/rom/rest"

	"gonum.org/v1/gonum/mat"
)

// measured returns p with the exact stiffness at its fixed point, times factor, as
// Measured.
func measured(t *testing.T, p rom.Params, factor float64) rom.Params {
	t.Helper()
	f, ok := rest.Reached(p)
	if !ok {
		t.Fatalf("%s: no fixed point", describe(p))
	}
	fresh, stale := force.Stiffness(p, f.Logits)
	fresh.Scale(factor, fresh)
	stale.Scale(factor, stale)
	p.Measured = &rom.Measured{Fresh: fresh, Stale: stale}
	return p
}

// disturbed returns p with independent normal errors of the given standard deviation
// added to every measured entry.
func disturbed(p rom.Params, std float64, seed uint64) rom.Params {
	r := rand.New(rand.NewPCG(seed, 1))
	noisy := func(m *mat.Dense) *mat.Dense {
		out := mat.DenseCopyOf(m)
		out.Apply(func(_, _ int, v float64) float64 { return v + std*r.NormFloat64() }, m)
		return out
	}
	p.Measured = &rom.Measured{Fresh: noisy(p.Measured.Fresh), Stale: noisy(p.Measured.Stale)}
	return p
}

// completions returns the substitute for the paper's eight completions at its Figure 6
// (docs/theory.md §9), as written (ratio, KL at the current policy) or with the
// whole force at the snapshot.
func completions(weighting option.ImportanceMode, at option.KLPoint, lag option.Lag) rom.Params {
	p := with(bandit(option.StdScale, 1, option.Infinite), 0.3, 0.8, lag)
	p.Importance.Mode, p.KL.At = weighting, at
	p.Arms, p.Reference = nil, make([]float64, 8)
	for _, r := range []float64{0, 0, 0, 0.5, 0.5, 1, 1, 2} {
		p.Arms = append(p.Arms, option.Arm{Law: option.Constant, Mean: r})
	}
	return p
}

// both compares two predictions, which must both be there or both be nil.
func both(t *testing.T, name string, got, want *float64, relative float64) {
	t.Helper()
	if (got == nil) != (want == nil) {
		t.Errorf("%s: got %v, want %v", name, got, want)
		return
	}
	if want != nil {
		closeTo(t, name, *got, *want, relative*math.Abs(*want))
	}
}

// dynamicsAgree compares two predictions of linear dynamics, of which got has
// learning rates lower by factor.
func dynamicsAgree(t *testing.T, name string, got, want rom.Dynamics, factor, relative float64) {
	t.Helper()
	if got.Scope != want.Scope {
		t.Errorf("%s: scope %+v, want %+v", name, got.Scope, want.Scope)
	}
	scaled := func(x *float64) *float64 {
		if x == nil {
			return nil
		}
		y := *x * factor
		return &y
	}
	both(t, name+" critical learning rate", scaled(got.CriticalLearningRate), want.CriticalLearningRate, relative)
	// An onset is a double root, accurate to the square root of rounding.
	both(t, name+" onset", scaled(got.OscillationLearningRate), want.OscillationLearningRate, max(relative, 3e-6))
	if factor != 1 {
		return
	}
	both(t, name+" radius", got.SpectralRadius, want.SpectralRadius, relative)
	both(t, name+" critical interval", got.CriticalRefreshInterval, want.CriticalRefreshInterval, relative)
	both(t, name+" relaxation", got.RelaxationRate, want.RelaxationRate, 1e3*relative)
	// Equal multipliers, of equal arms, differ by the square root of rounding.
	both(t, name+" ζ", got.DampingRatio, want.DampingRatio, max(relative, 1e-7))
	both(t, name+" Var J", got.StationaryVariance.ExpectedReward, want.StationaryVariance.ExpectedReward, relative)
	both(t, name+" Var z", got.StationaryVariance.LogitGap, want.StationaryVariance.LogitGap, relative)
	if len(got.Multipliers) != len(want.Multipliers) {
		t.Errorf("%s: %d multipliers, want %d", name, len(got.Multipliers), len(want.Multipliers))
		return
	}
	for i, z := range want.Multipliers {
		// smaller ones may be multiple zeros of a defective matrix
		if size := math.Hypot(z[0], z[1]); size > 0.05 {
			closeTo(t, name+" multiplier", math.Hypot(got.Multipliers[i][0], got.Multipliers[i][1]), size, 1e-6)
		}
	}
}

// A stiffness measured without error changes no prediction; one that is 10 % larger
// divides every threshold in η by 1.1.
func TestMeasuredStiffness(t *testing.T) {
	all := cells(t, 71)
	for _, lag := range []option.Lag{block(1), block(4), delay(2)} {
		all = append(all, completions(option.Ratio, option.AtCurrent, lag), completions(option.NoImportance, option.AtSnapshot, lag))
	}
	for i, p := range all {
		// A stride coprime to 10 covers every kind of staleness, lag and optimizer.
		if i%(6*rom.Thin+1) != 0 && i < len(all)-6 {
			continue
		}
		want, got, stiffer := rom.Predict(p), rom.Predict(measured(t, p, 1)), rom.Predict(measured(t, p, 1.1))
		dynamicsAgree(t, describe(p), got.Exact, want.Exact, 1, 1e-8)
		dynamicsAgree(t, describe(p)+" reduced", got.LeadingOrder, want.LeadingOrder, 1, 1e-8)
		dynamicsAgree(t, describe(p)+" stiffer", stiffer.Exact, want.Exact, 1.1, 1e-8)
		dynamicsAgree(t, describe(p)+" stiffer, reduced", stiffer.LeadingOrder, want.LeadingOrder, 1.1, 1e-8)
		closeTo(t, describe(p)+" λ", got.Stiffness.Total, want.Stiffness.Total, 1e-12)
		closeTo(t, describe(p)+" λ, stiffer", stiffer.Stiffness.Total, 1.1*want.Stiffness.Total, 1e-12)
		closeTo(t, describe(p)+" slowest", stiffer.Stiffness.Slowest, 1.1*want.Stiffness.Slowest, 1e-12)
		both(t, describe(p)+" rule", got.RuleAtStiffness.CriticalLearningRate, want.RuleAtStiffness.CriticalLearningRate, 1e-10)
		both(t, describe(p)+" rule's K", got.RuleAtStiffness.CriticalRefreshInterval, want.RuleAtStiffness.CriticalRefreshInterval, 1e-10)
		both(t, describe(p)+" rule's onset", got.RuleAtStiffness.OscillationLearningRate, want.RuleAtStiffness.OscillationLearningRate, 1e-10)
		both(t, describe(p)+" sufficient", got.SufficientRule.CriticalLearningRate, want.SufficientRule.CriticalLearningRate, 1e-8)
		both(t, describe(p)+" E J − J*", got.Moments.RewardShift, want.Moments.RewardShift, 1e-4)

		// Factors.Stiffness has the same effect as a measured stiffness of that factor.
		planted := measured(t, p, 1)
		planted.Factors.Stiffness = 1.1
		dynamicsAgree(t, describe(p)+" planted", rom.Predict(planted).Exact, stiffer.Exact, 1, 1e-12)
	}
}

// A rounding error in a part that is 0 in theory leaves a frozen force frozen. A block
// of 20,000 steps shows it: it is in scope only for a force that is entirely frozen
// or entirely current.
func TestMeasuredRoundingKeepsAFrozenForce(t *testing.T) {
	frozen := with(bandit(option.NoScale, 0.5, 16), 1e-6, 0.9, block(20_000))
	current := frozen
	current.Importance.Mode, current.KL.At = option.Ratio, option.AtCurrent
	graded := completions(option.NoImportance, option.AtSnapshot, block(20_000))
	for name, p := range map[string]rom.Params{"frozen": frozen, "current": current, "eight arms": graded} {
		p = measured(t, p, 1)
		want := rom.Predict(p)
		if !want.Exact.Scope.In {
			t.Fatalf("%s: %+v", name, want.Exact.Scope)
		}
		dynamicsAgree(t, name, rom.Predict(disturbed(p, 1e-12, 1)).Exact, want.Exact, 1, 1e-9)
		if got := rom.Predict(disturbed(p, 1e-5, 1)).Exact; got.Scope.In && name != "eight arms" {
			t.Errorf("%s: in scope with an error of 1e-5, which is not rounding", name)
		}
	}
	for _, k := range []int{1, 2, 16} {
		p := disturbed(measured(t, with(bandit(option.NoScale, 0.5, 16), 0.1, 0.9, block(k)), 1), 1e-12, 3)
		got := rom.Predict(p)
		closeTo(t, "κ*", said(t, "κ*", got.Exact.CriticalLearningRate)*got.Stiffness.Total, linear.FrozenBlock(linear.CriticalRate, option.HeavyBall, 0.9, k), 1e-9)
		closeTo(t, "κ_osc", said(t, "κ_osc", got.Exact.OscillationLearningRate)*got.Stiffness.Total, linear.FrozenBlock(linear.OnsetRate, option.HeavyBall, 0.9, k), 1e-9)
	}
}

// Modes stay independent under errors that make their matrices asymmetric, equal
// modes included. The sufficient rule, given for independent modes only, shows it.
func TestMeasuredModesStayIndependent(t *testing.T) {
	for _, lag := range []option.Lag{block(4), delay(3)} {
		p := measured(t, completions(option.NoImportance, option.AtSnapshot, lag), 1)
		want := rom.Predict(p)
		for seed := range uint64(20) {
			got := rom.Predict(disturbed(p, 1e-9, seed))
			if got.SufficientRule.CriticalLearningRate == nil {
				t.Fatalf("%s: coupled by an error of 1e-9 (seed %d)", describe(p), seed)
			}
			dynamicsAgree(t, describe(p), got.Exact, want.Exact, 1, 1e-5)
		}
	}
}
