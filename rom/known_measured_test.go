package rom_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
)

// measured returns p with the exact stiffness at its fixed point, times factor, as
// Measured.
func measured(t *testing.T, p rom.Params, factor float64) rom.Params {
	t.Helper()
	f, ok := rom.Reached(p)
	if !ok {
		t.Fatalf("%s: no fixed point", describe(p))
	}
	fresh, stale := rom.StiffnessAt(p, f.Logits)
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

// measuredMap returns the stepped recursion for the measured matrices.
func measuredMap(p rom.Params) linearMap {
	q := centredBasis(len(p.Arms))
	project := func(l *mat.Dense) *mat.Dense {
		var out mat.Dense
		out.Product(q.T(), l, q)
		return &out
	}
	return linearMap{opt: p.Optimizer, lag: p.Lag, fresh: project(p.Measured.Fresh), stale: project(p.Measured.Stale), basis: q}
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
		if size := math.Hypot(z[0], z[1]); size > 0.05 { // smaller ones may be multiple zeros of a defective matrix
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

// Measured entries along the free direction (1, …, 1) have no effect.
func TestMeasuredStiffnessOfTheFreeDirection(t *testing.T) {
	for _, p := range []rom.Params{with(bandit(option.NoScale, 0.5, 16), 0.1, 0.9, block(3)), completions(option.Ratio, option.AtCurrent, delay(3))} {
		p = measured(t, p, 1)
		want := rom.Predict(p)
		r := rand.New(rand.NewPCG(73, 1))
		shifted := func(m *mat.Dense) *mat.Dense {
			n, _ := m.Dims()
			row, column := make([]float64, n), make([]float64, n)
			for a := range n {
				row[a], column[a] = 0.1*r.NormFloat64(), 0.1*r.NormFloat64()
			}
			out := mat.NewDense(n, n, nil)
			out.Apply(func(a, b int, v float64) float64 { return v + row[a] + column[b] }, m)
			return out
		}
		p.Measured = &rom.Measured{Fresh: shifted(p.Measured.Fresh), Stale: shifted(p.Measured.Stale)}
		dynamicsAgree(t, describe(p), rom.Predict(p).Exact, want.Exact, 1, 1e-9)
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

// Figure 6 for eight arms measured with errors of 0.3 % of the largest stiffness, in
// both readings, with delays up to 20: thresholds are found, they are where the
// recursion with those matrices first loses stability, and they are near those
// without error.
func TestMeasuredThresholdsOfEightArms(t *testing.T) {
	for _, c := range []struct {
		weighting option.ImportanceMode
		at        option.KLPoint
	}{{option.Ratio, option.AtCurrent}, {option.NoImportance, option.AtSnapshot}} {
		for _, lag := range []option.Lag{delay(1), delay(7), delay(20), block(12)} {
			p := disturbed(measured(t, completions(c.weighting, c.at, lag), 1), 1e-3, 5)
			const limit = 500 // yardsticks, about a second and a half
			var got rom.Prediction
			if n := rom.Yardsticks(limit, func() { got = rom.Predict(p) }); n >= limit {
				t.Errorf("%s: Predict took %.0f yardsticks", describe(p), n)
			}
			rate := said(t, describe(p), got.Exact.CriticalLearningRate)
			for _, share := range []float64{0.05, 0.3, 0.6, 0.9, 1 - 1e-6} {
				q := p
				q.Optimizer.LearningRate = share * rate
				if r := measuredMap(q).radius(); r >= 1 {
					t.Errorf("%s: radius %v at %v of the critical learning rate", describe(p), r, share)
				}
			}
			q := p
			q.Optimizer.LearningRate = (1 + 1e-6) * rate
			if r := measuredMap(q).radius(); r < 1 {
				t.Errorf("%s: radius %v above the critical learning rate", describe(p), r)
			}
			exact := said(t, describe(p), rom.Predict(completions(c.weighting, c.at, lag)).Exact.CriticalLearningRate)
			closeTo(t, describe(p)+" against no error", rate, exact, 0.05*exact)

			first, found := 0, false
			for age := 0; age <= 20 && !found; age++ {
				q.Optimizer.LearningRate, q.Lag.Interval = 0.3, age
				if age > 0 || lag.Kind == option.Delay {
					found = measuredMap(q).radius() >= 1
				}
				first = age
			}
			if k := got.Exact.CriticalRefreshInterval; found != (k != nil && *k <= 20) || found && *k != float64(first) {
				t.Errorf("%s: critical interval %v, the first unstable of 20 is %d (%v)", describe(p), k, first, found)
			}
		}
	}
}

// Measured matrices of a size other than A×A panic.
func TestMeasuredStiffnessOfAnotherBandit(t *testing.T) {
	p := measured(t, bandit(option.NoScale, 0.5, 16), 1)
	p.Arms = append(p.Arms, p.Arms[0])
	p.Reference = append(p.Reference, 0)
	defer func() {
		if recover() == nil {
			t.Error("no panic for 2×2 matrices and three arms")
		}
	}()
	rom.Predict(p)
}

// ClosedForm uses the measured stiffness.
func TestClosedFormOfAMeasuredStiffness(t *testing.T) {
	p := with(bandit(option.NoScale, 0.5, 16), 0.01, 0.5, delay(2))
	f, _ := rom.Reached(p)
	init := gapAt(gapOf(f.Logits) + 0.01)
	stiffer, _ := rom.ClosedForm(measured(t, p, 1.1), init)
	faster, _ := rom.ClosedForm(with(p, 0.011, 0.5, delay(2)), init)
	for _, at := range []float64{0, 10, 300} {
		closeTo(t, "J", stiffer(at), faster(at), 1e-14)
	}
}
