package rom_test

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/rest"
	"grposim/rom/scope"
)

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
	if got.Noise.In || !strings.Contains(got.Noise.Because.String(), "neutral, neither stable nor unstable, in 1 of 2 directions") {
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
			p.Lag = option.Lag{Kind: option.Delay, Interval: 3}
		},
		"normal, delay": func(p *rom.Params) { normal(p); p.Lag = option.Lag{Kind: option.Delay, Interval: 3} },
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
		both(t, name+", sufficient rate", got.SufficientRule.CriticalLearningRate, want.SufficientRule.CriticalLearningRate, 1e-7)
		both(t, name+", sufficient interval", got.SufficientRule.CriticalRefreshInterval, want.SufficientRule.CriticalRefreshInterval, 1e-7)
		both(t, name+", decay of the reduced-order model", got.LeadingOrder.RelaxationRate, want.LeadingOrder.RelaxationRate, 1e-7)
		both(t, name+", relaxation", g.RelaxationRate, w.RelaxationRate, 1e-7)
		if !got.Noise.Because.Is(scope.RoundedStiffness) {
			t.Errorf("%s: noise %+v, want that it is neutral", name, got.Noise)
		}
	}
}

// normal gives the arms rewards of different normal laws, whose modes mix where only part of the
// force is stale.
func normal(p *rom.Params) {
	p.Arms = []option.Arm{{Law: option.Normal, Mean: 0.9, Std: 0.3}, {Law: option.Normal, Mean: 0.2, Std: 0.8}, {Law: option.Normal, Mean: 0.5, Std: 0.1}}
	p.Advantage.Scale = option.NoScale
}

// Where the rewards differ by far more than β the policy locks on the better arm. The coefficient
// that the reason names is the least, to two digits, at which there is a dynamics.
func TestLockedPolicy(t *testing.T) {
	number := regexp.MustCompile(`there is one from a (KL|entropy) coefficient of (\S+) on$`)
	for name, c := range map[string]struct {
		p     rom.Params
		arm   int
		which string
	}{
		"std":     {rom.Params{Arms: []option.Arm{{Mean: 0.9}, {Mean: 0.2}}, Estimator: option.Estimator{GroupSize: 8, KL: option.KL{Coefficient: 0.001}}}, 0, "KL"},
		"G = ∞":   {rom.Params{Arms: []option.Arm{{Mean: 0.2}, {Mean: 0.6}}, Estimator: option.Estimator{Advantage: option.Advantage{Scale: option.NoScale}, KL: option.KL{Coefficient: 1e-4}}}, 1, "KL"},
		"entropy": {rom.Params{Arms: []option.Arm{{Mean: 0.2}, {Mean: 0.6}, {Mean: 0.3}}, Estimator: option.Estimator{GroupSize: 16, Entropy: 0.002}}, 1, "entropy"},
	} {
		c.p.GroupsPerStep, c.p.Optimizer.LearningRate, c.p.Lag.Interval = 1, 0.05, 1
		because := rom.Predict(c.p).Exact.Scope.Because.String()
		found := number.FindStringSubmatch(because)
		if found == nil || found[1] != c.which || !strings.Contains(because, fmt.Sprintf("locks on arm %d,", c.arm)) {
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
			if got := rest.NewEquilibrium(q).PredictPart(q.Optimizer, q.Lag, rest.DynamicsAlone).Exact.Scope; got.In != in {
				t.Errorf("%s: at %g times %g: in scope %v because %s, want %v", name, share, least, got.In, got.Because, in)
			}
		}
		if !(least > math.Max(c.p.KL.Coefficient, c.p.Entropy)) {
			t.Errorf("%s: a coefficient of %g, want more than the present one", name, least)
		}
	}
}
