package rom_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/force"
	"grposim/rom/linear"
	"grposim/rom/rest"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/mat"
)

// measured returns p with the exact stiffness at its fixed point, times factor, as Measured.
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
	both(t, name+" critical learning rate", scaled(got.CriticalLearningRate),
		want.CriticalLearningRate, relative)
	// An onset is a double root, accurate to the square root of rounding.
	both(t, name+" onset", scaled(got.OscillationLearningRate), want.OscillationLearningRate,
		max(relative, 3e-6))
	if factor != 1 {
		return
	}
	both(t, name+" radius", got.SpectralRadius, want.SpectralRadius, relative)
	both(t, name+" critical interval", got.CriticalRefreshInterval, want.CriticalRefreshInterval, relative)
	both(t, name+" relaxation", got.RelaxationRate, want.RelaxationRate, 1e3*relative)
	// Equal multipliers, of equal arms, differ by the square root of rounding.
	both(t, name+" ζ", got.DampingRatio, want.DampingRatio, max(relative, 1e-7))
	both(t, name+" Var J", got.StationaryVariance.ExpectedReward,
		want.StationaryVariance.ExpectedReward, relative)
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
		all = append(all, completions(option.Ratio, option.AtCurrent, lag),
			completions(option.NoImportance, option.AtSnapshot, lag))
	}
	for i, p := range all {
		// A stride coprime to 10 covers every kind of staleness, lag and optimizer.
		if i%(6*rom.Thin+1) != 0 && i < len(all)-6 {
			continue
		}
		want, got, stiffer := rom.Predict(p), rom.Predict(measured(t, p, 1)),
			rom.Predict(measured(t, p, 1.1))
		dynamicsAgree(t, describe(p), got.Exact, want.Exact, 1, 1e-8)
		dynamicsAgree(t, describe(p)+" reduced", got.LeadingOrder, want.LeadingOrder, 1, 1e-8)
		dynamicsAgree(t, describe(p)+" stiffer", stiffer.Exact, want.Exact, 1.1, 1e-8)
		dynamicsAgree(t, describe(p)+" stiffer, reduced", stiffer.LeadingOrder, want.LeadingOrder, 1.1, 1e-8)
		closeTo(t, describe(p)+" λ", got.Stiffness.Total, want.Stiffness.Total, 1e-12)
		closeTo(t, describe(p)+" λ, stiffer", stiffer.Stiffness.Total, 1.1*want.Stiffness.Total, 1e-12)
		closeTo(t, describe(p)+" slowest", stiffer.Stiffness.Slowest, 1.1*want.Stiffness.Slowest, 1e-12)
		both(t, describe(p)+" rule", got.RuleAtStiffness.CriticalLearningRate,
			want.RuleAtStiffness.CriticalLearningRate, 1e-10)
		both(t, describe(p)+" rule's K", got.RuleAtStiffness.CriticalRefreshInterval,
			want.RuleAtStiffness.CriticalRefreshInterval, 1e-10)
		both(t, describe(p)+" rule's onset", got.RuleAtStiffness.OscillationLearningRate,
			want.RuleAtStiffness.OscillationLearningRate, 1e-10)
		both(t, describe(p)+" sufficient", got.SufficientRule.CriticalLearningRate,
			want.SufficientRule.CriticalLearningRate, 1e-8)
		both(t, describe(p)+" E J − J*", got.Moments.RewardShift, want.Moments.RewardShift, 1e-4)

		// Factors.Stiffness has the same effect as a measured stiffness of that factor.
		planted := measured(t, p, 1)
		planted.Factors.Stiffness = 1.1
		dynamicsAgree(t, describe(p)+" planted", rom.Predict(planted).Exact, stiffer.Exact, 1, 1e-12)
	}
}

// A rounding error in a part that is 0 in theory leaves a frozen force frozen. A block of 20,000
// steps shows it: it is in scope only for a force that is entirely frozen or entirely current.
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
		closeTo(t, "κ*", said(t, "κ*", got.Exact.CriticalLearningRate)*got.Stiffness.Total,
			linear.FrozenBlock(linear.CriticalRate, option.HeavyBall, 0.9, k), 1e-9)
		closeTo(t, "κ_osc", said(t, "κ_osc", got.Exact.OscillationLearningRate)*got.Stiffness.Total,
			linear.FrozenBlock(linear.OnsetRate, option.HeavyBall, 0.9, k), 1e-9)
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

// Two equally good arms beside a bad one that β cannot hold: λ = βπ = 0.01 between the good ones,
// and nothing moves the bad one. Its stiffness of 5.5e-38 is no ground for "unstable", nor for an
// interval of 7e36 steps.
func TestNeutralArm(t *testing.T) {
	p := rom.Params{
		Arms:      []option.Arm{{Mean: 0.9}, {Mean: 0.9}, {Mean: 0.2}},
		Estimator: option.Estimator{GroupSize: 8, GroupsPerStep: 8, KL: option.KL{Coefficient: 0.02}},
		Optimizer: option.Optimizer{LearningRate: 0.05},
		Lag:       option.Lag{Interval: 1},
	}
	got := rom.Predict(p)
	if got.Exact.Neutral != 1 || got.LeadingOrder.Neutral != 1 {
		t.Errorf("%d and %d neutral directions, want 1", got.Exact.Neutral, got.LeadingOrder.Neutral)
	}
	closeTo(t, "radius", *got.Exact.SpectralRadius, 1-0.05*0.01, 1e-12)
	closeTo(t, "critical rate", *got.Exact.CriticalLearningRate, 2/0.01, 1e-9)
	closeTo(t, "sufficient rate", *got.SufficientRule.CriticalLearningRate, 2/0.01, 1e-9)
	if x := got.SufficientRule.CriticalRefreshInterval; x != nil {
		t.Errorf("an interval of %g steps, want none: nothing is stale between the good arms", *x)
	}
	if got.Noise.In || !strings.Contains(got.Noise.Because.String(),
		"neutral, neither stable nor unstable, in 1 of 2 directions") {
		t.Errorf("noise: %+v, want that the fixed point is neutral", got.Noise)
	}
}

// An arm that the reference hardly knows is never drawn. It adds a neutral direction, and changes
// none of the numbers of the others: of modes with a recursion each, and of modes that mix, which a
// block with the std scale and the KL at the snapshot of three arms has.
func TestNeutralArmChangesNothing(t *testing.T) {
	arms := []option.Arm{{Mean: 0.9}, {Mean: 0.2}, {Mean: 0.5}}
	reference := []float64{0, 0.4, -0.3}
	for name, change := range map[string]func(p *rom.Params){
		"on-policy":     func(p *rom.Params) {},
		"block":         func(p *rom.Params) { p.Lag = option.Lag{Interval: 5} },
		"normal, block": func(p *rom.Params) { normal(p); p.Lag = option.Lag{Interval: 5} },
		"delay, Nesterov": func(p *rom.Params) {
			p.Optimizer.Kind = option.Nesterov
			p.Lag = delay(3)
		},
		"normal, delay": func(p *rom.Params) { normal(p); p.Lag = delay(3) },
		"ratio, snapshot": func(p *rom.Params) {
			p.Importance.Mode, p.KL.At, p.Lag = option.Ratio, option.AtSnapshot, option.Lag{Interval: 4}
		},
	} {
		p := rom.Params{
			Arms:      arms,
			Reference: reference,
			Estimator: option.Estimator{GroupSize: 8, GroupsPerStep: 2, KL: option.KL{Coefficient: 0.7}},
			Lag:       option.Lag{Interval: 1},
			Optimizer: option.Optimizer{LearningRate: 0.1, Momentum: 0.5},
		}
		change(&p)
		more := p
		more.Arms = append(p.Arms[:3:3], p.Arms[0])
		more.Reference = append(reference[:3:3], -80)
		want, got := rom.Predict(p), rom.Predict(more)
		w, _ := want.Linear()
		g, _ := got.Linear()
		if g.Neutral != 1 || w.Neutral != 0 {
			t.Errorf("%s: %d neutral directions, and %d without the arm, want 1 and 0", name, g.Neutral, w.Neutral)
			continue
		}
		both(t, name+", radius", g.SpectralRadius, w.SpectralRadius, 1e-9)
		both(t, name+", critical rate", g.CriticalLearningRate, w.CriticalLearningRate, 1e-7)
		both(t, name+", onset", g.OscillationLearningRate, w.OscillationLearningRate, 1e-6)
		both(t, name+", critical interval", g.CriticalRefreshInterval, w.CriticalRefreshInterval, 1e-7)
		both(t, name+", sufficient rate", got.SufficientRule.CriticalLearningRate,
			want.SufficientRule.CriticalLearningRate, 1e-7)
		both(t, name+", sufficient interval", got.SufficientRule.CriticalRefreshInterval,
			want.SufficientRule.CriticalRefreshInterval, 1e-7)
		both(t, name+", decay of the reduced-order model", got.LeadingOrder.RelaxationRate,
			want.LeadingOrder.RelaxationRate, 1e-7)
		both(t, name+", relaxation", g.RelaxationRate, w.RelaxationRate, 1e-7)
		if !got.Noise.Because.Is(scope.RoundedStiffness) {
			t.Errorf("%s: noise %+v, want that it is neutral", name, got.Noise)
		}
	}
}

// normal gives the arms rewards of different normal laws, whose modes mix where only part of the
// force is stale.
func normal(p *rom.Params) {
	p.Arms = []option.Arm{{Law: option.Normal, Mean: 0.9, Std: 0.3},
		{Law: option.Normal, Mean: 0.2, Std: 0.8}, {Law: option.Normal, Mean: 0.5, Std: 0.1}}
	p.Advantage.Scale = option.NoScale
}

// Where the rewards differ by far more than β the policy locks on the better arm. The coefficient
// that the reason names is the least, to two digits, at which there is a dynamics.
func TestLockedPolicy(t *testing.T) {
	number := regexp.MustCompile(`there is one from an? (KL|entropy) coefficient of (\S+) on$`)
	for name, c := range map[string]struct {
		p     rom.Params
		arm   int
		which string
	}{
		"std": {rom.Params{Arms: []option.Arm{{Mean: 0.9}, {Mean: 0.2}},
			Estimator: option.Estimator{GroupSize: 8, KL: option.KL{Coefficient: 0.001}}}, 0, "KL"},
		"G = ∞": {rom.Params{Arms: []option.Arm{{Mean: 0.2}, {Mean: 0.6}}, Estimator: option.Estimator{Advantage: option.Advantage{Scale: option.NoScale}, KL: option.KL{Coefficient: 1e-4}}}, 1, "KL"},
		"entropy": {rom.Params{Arms: []option.Arm{{Mean: 0.2}, {Mean: 0.6}, {Mean: 0.3}},
			Estimator: option.Estimator{GroupSize: 16, Entropy: 0.002}}, 1, "entropy"},
	} {
		c.p.GroupsPerStep, c.p.Optimizer.LearningRate, c.p.Lag.Interval = 1, 0.05, 1
		because := rom.Predict(c.p).Exact.Scope.Because.String()
		found := number.FindStringSubmatch(because)
		if found == nil || found[1] != c.which ||
			!strings.Contains(because, fmt.Sprintf("locks on arm %d,", c.arm)) {
			t.Errorf("%s: %q, want the arm %d and a coefficient", name, because, c.arm)
			continue
		}
		least, err := strconv.ParseFloat(found[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		for share, in := range map[float64]bool{1: true, 0.89: false} { // two digits are good to a tenth
			q := c.p
			if q.KL.Coefficient > 0 {
				q.KL.Coefficient = share * least
			} else {
				q.Entropy = share * least
			}
			if got := rest.NewEquilibrium(q).PredictPart(q.Optimizer, q.Lag,
				rest.DynamicsAlone).Exact.Scope; got.In != in {
				t.Errorf("%s: at %g times %g: in scope %v because %s, want %v", name, share, least, got.In,
					got.Because, in)
			}
		}
		if !(least > math.Max(c.p.KL.Coefficient, c.p.Entropy)) {
			t.Errorf("%s: a coefficient of %g, want more than the present one", name, least)
		}
	}
}
