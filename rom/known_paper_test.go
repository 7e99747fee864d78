package rom_test

import (
	"math"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/paper"
	"grposim/rom/rest"
)

// The paper's ζ at its Figure 6, η = 0.30, μ = 0.80, K = 0.12: below 1 for every
// lag (docs/theory.md §9). It equals the damping ratio of the paper's rule and that of
// the reduced-order model for a frozen force under delay.
func TestPaperDampingRatio(t *testing.T) {
	for _, c := range []struct {
		tau  float64
		want float64
	}{{0, 0.556}, {1, 0.451}, {2, 0.342}, {4, 0.135}} {
		got := paper.DampingRatio(0.12, 0.3, 0.8, c.tau)
		printed(t, "ζ", got, c.want, 1e-3)
		p := rom.Predict(free(0.12, 0.3, 0.8, delay(int(c.tau))))
		closeTo(t, "ζ of the rule", said(t, "ζ of the rule", p.RuleAtStiffness.DampingRatio), got, 1e-12)
		closeTo(t, "ζ of the model", said(t, "ζ of the model", p.LeadingOrder.DampingRatio), got, 1e-12)
	}
	// For a block, too, the paper takes the age K_ref throughout.
	inBlock := rom.Predict(free(0.12, 0.3, 0.8, block(4)))
	closeTo(t, "ζ of a block", said(t, "ζ of a block", inBlock.RuleAtStiffness.DampingRatio),
		paper.DampingRatio(0.12, 0.3, 0.8, 4), 1e-12)
	if beyond := paper.DampingRatio(0.12, 0.3, 0.8, 6); beyond >= 0 {
		t.Errorf("ζ = %v beyond the threshold 5.56", beyond)
	}
}

// ζ = 1, as the paper truncates it, against the exact onset of oscillation
// (docs/theory.md §4, §9): κ at μ = 0.5, and η at K = 0.12, μ = 0.8.
func TestOnsetsOfTheDelayedOscillator(t *testing.T) {
	for _, c := range []struct {
		stiffness, mu    float64
		tau              float64
		truncated, exact float64
		unit             float64
	}{
		{1, .5, 0, .08333, .08579, 1e-5}, {1, .5, 1, .06155, .0625, 1e-5},
		{1, .5, 2, .04815, .0481, 5e-5}, {1, .5, 4, .0332, .0323, 1e-4}, {1, .5, 16, .0114, .0105, 1e-4},
		{.12, .8, 1, .0831, .0833, 1e-4}, {.12, .8, 4, .0627, .0624, 1e-4},
		{.12, .8, 16, .0305, .0291, 1e-4}, {.12, .8, 64, .0098, .0089, 1e-4},
	} {
		p := free(c.stiffness, 0.01, c.mu, delay(int(c.tau)))
		got := rom.Predict(p)
		onset := paper.Onset(c.mu, c.tau) / c.stiffness
		printed(t, "ζ = 1", onset, c.truncated, c.unit)
		closeTo(t, "ζ at it", paper.DampingRatio(c.stiffness, onset, c.mu, c.tau), 1, 1e-12)
		closeTo(t, "ζ = 1 of the rule", said(t, describe(p), got.RuleAtStiffness.OscillationLearningRate),
			onset, 1e-12*onset)
		closeTo(t, "ζ = 1 of the model", said(t, describe(p), got.LeadingOrder.OscillationLearningRate),
			onset, 1e-9*onset)
		printed(t, "exact onset", said(t, describe(p), got.Exact.OscillationLearningRate), c.exact, c.unit)
	}
}

// The paper's curve solves M e″ + C e′ + K e = 0 from rest, overdamped, critical,
// ringing and growing. Fourth-order differences with h = 0.1 at time scales of
// at least 1.5 steps: (h/1.5)⁴/90·6 of a curve of size 1 to 3, and 1e-16/h².
func TestPaperCurve(t *testing.T) {
	const start, end, h = 0.6, 1.4, 0.1
	for _, c := range []struct {
		stiffness, rate, mu, age float64
	}{
		{0.12, 0.05, 0.8, 1}, {0.12, paper.Onset(0.8, 1) / 0.12, 0.8, 1}, {0.12, 0.3, 0.8, 4},
		{0.12, 0.3, 0.8, 6}, {0.12, 0.3, 0.8, 0}, {0, 0.3, 0.8, 2}, {1, 0.3, 0, 12},
	} {
		e := paper.Curve(c.stiffness, c.rate, c.mu, c.age, start, end)
		tau, pull := c.age, c.stiffness*c.rate
		m, damping := (1+c.mu+pull*tau*tau)/(2*c.rate), (1-c.mu-pull*tau)/c.rate
		closeTo(t, "e(0)", e(0), start, 1e-15)
		closeTo(t, "rest", (e(1e-4)-start)/1e-4, 0, 1e-4)
		for _, at := range []float64{0.5, 3, 10} {
			first := (e(at-2*h) - 8*e(at-h) + 8*e(at+h) - e(at+2*h)) / (12 * h)
			second := (-e(at-2*h) + 16*e(at-h) - 30*e(at) + 16*e(at+h) - e(at+2*h)) / (12 * h * h)
			size := math.Abs(m*second) + math.Abs(damping*first) + math.Abs(c.stiffness*(e(at)-end)) + m*1e-8
			closeTo(t, "M e″ + C e′ + K e", m*second+damping*first+c.stiffness*(e(at)-end), 0, 2e-6*size)
		}
	}
	// Critical damping from rest: 1 − (1 + ωt)e^{−ωt}, its inflection at 1/ω.
	eta := paper.Onset(0.8, 0) / 0.12
	omega := math.Sqrt(2 * 0.12 * eta / 1.8)
	e := paper.Curve(0.12, eta, 0.8, 0, 0, 1)
	for _, at := range []float64{1, 1 / omega, 3 / omega} {
		closeTo(t, "critically damped", e(at), 1-(1+omega*at)*math.Exp(-omega*at), 1e-9)
	}
}

// The paper's own stiffness on the stand-in of docs/theory.md §9: K = 0.120 where the
// stiffest mode has 0.289, and so its K_ref* = 5.56 at η = 0.3, μ = 0.8 (facts of the
// paper's Figure 6). Two arms without scale have dJ/dt in closed form: with J* − J
// exponential at rate κ per step K is λ/(η(1+λ)), λ = −ln(1−κ), to the order of the gap.
func TestPaperStiffness(t *testing.T) {
	p := completions(option.Ratio, option.AtCurrent, delay(3))
	p.Optimizer = option.Optimizer{LearningRate: 0.3, Momentum: 0.8}
	k, scope := rest.PaperStiffness(p)
	if !scope.In {
		t.Fatal(scope.Because)
	}
	printed(t, "K", k, 0.120, 5e-4)
	got := rom.Predict(p)
	closeTo(t, "K of the rule", said(t, "K", got.PaperRule.Stiffness), k, 1e-14)
	printed(t, "K_ref*", said(t, "K_ref*", got.PaperRule.CriticalRefreshInterval), 5.54, 0.02)
	printed(t, "λ", said(t, "λ", got.RuleAtStiffness.Stiffness), 0.289, 1e-3)
	closeTo(t, "ζ", said(t, "ζ", got.PaperRule.DampingRatio), paper.DampingRatio(k, 0.3, 0.8, 3), 1e-14)
	closeTo(t, "ζ = 1", said(t, "onset", got.PaperRule.OscillationLearningRate), paper.Onset(0.8, 3)/k, 1e-14)

	// From a start close to the fixed point the slope is that of the slowest decay to
	// which J is linear: with two arms λ of the only mode.
	two := bandit(option.NoScale, 0.5, option.Infinite)
	point, _ := rest.Reached(two)
	two.Start = []float64{point.Logits[0] + 5e-5, point.Logits[1] - 5e-5}
	near, scope := rest.PaperStiffness(two)
	if !scope.In {
		t.Fatal(scope.Because)
	}
	rate := -math.Log1p(-0.01 * rom.Predict(two).Stiffness.Total)
	closeTo(t, "K near the fixed point", near, rate/(0.01*(1+rate)), 1e-4)
	// A run from the fixed point has no early slope, and so the rule no threshold.
	two.Start = point.Logits
	two.Lag, two.Optimizer = delay(1), option.Optimizer{LearningRate: 0.1}
	if at := rom.Predict(two); at.PaperRule.CriticalLearningRate != nil ||
		!at.PaperRule.Because.Out() || at.RuleAtStiffness.CriticalLearningRate == nil {
		t.Errorf("at the fixed point: %+v and %+v", at.PaperRule, at.RuleAtStiffness)
	}
	// The planted fault multiplies the force and so the slope.
	p.Factors.Stiffness = 1.1
	stiffer, _ := rest.PaperStiffness(p)
	if r := stiffer / k; r < 1.05 || r > 1.15 {
		t.Errorf("stiffness × 1.1 gives K × %v", r)
	}
}
