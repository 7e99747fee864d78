package rom

import (
	"fmt"
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/scope"
)

// adamSettings is a setting of TestTypicalSettings or one drawn like it.
func adamSettings(scale option.Scale, size, interval int, beta, rate float64, means ...float64) Params {
	p := adamCell(scale, size, 1, beta, rate, 0.999, interval)
	for _, m := range means {
		p.Arms = append(p.Arms, option.Arm{Law: option.Bernoulli, Mean: m})
	}
	return p
}

// lawOfSteps returns the linearization at the fixed point of checked parameters and the law of its mean steps, nil where there is none.
func lawOfSteps(t *testing.T, p Params) (*linearization, *stepLaw) {
	t.Helper()
	l, _, because := NewEquilibrium(p).dynamicsOf(p)
	if because.Out() {
		t.Fatal(because)
	}
	return l, l.stepLaw(&p.Optimizer)
}

// The law of mean steps of settings whose second moments vary, against simulated runs: mean probabilities of the arms after 0.8 to 2 million steps (64
// replicas), of which the rarest have 1e-10 and 1e-6 at the fixed point, and Var J with its standard error.
func TestStepLawAgainstRuns(t *testing.T) {
	for _, c := range []struct {
		p                Params
		policy           []float64 // simulated; 0: more than a half
		variance, within float64
	}{
		{adamSettings(option.StdScale, 64, 8, 0.0558, 0.00112, 0.67, 0.28, 0.28, 0.43, 0.06, 0.08), []float64{0, 2.1e-5, 2.1e-5, 8.8e-5, 1.25e-5, 1.25e-5}, 2.11e-10, 0.10e-10},
		{adamSettings(option.NoScale, 16, 8, 0.0307, 0.00289, 0.64, 0.49, 0.94), []float64{4.4e-4, 1.34e-4, 0}, 7.3e-9, 0.3e-9},
		{adamSettings(option.NoScale, 16, 4, 0.045, 0.00209, 0.91, 0.09, 0.79, 0.25, 0.35, 0.77, 0.41, 0.61), nil, 2.307e-6, 0.038e-6},
		{adamSettings(option.NoScale, 64, 4, 0.0503, 0.0127, 0.91, 0.57, 0.16, 0.62), []float64{0, 1.14e-3, 3.1e-5, 3.0e-3}, 4.46e-7, 0.06e-7},
	} {
		p := c.p.checked()
		where := fmt.Sprintf("β = %g, η = %g", p.KL.Coefficient, p.Optimizer.LearningRate)
		_, x := lawOfSteps(t, p)
		if x == nil {
			t.Errorf("%s: no law", where)
			continue
		}
		if miss := math.Abs(x.variance - c.variance); miss > x.left.RewardVariance+x.follows+3*c.within {
			t.Errorf("%s: Var J %.4g to %.2g, simulated %.4g ± %.2g", where, x.variance, x.left.RewardVariance+x.follows, c.variance, c.within)
		}
		probs := make([]float64, len(x.logits))
		softmax(probs, x.logits)
		for a, want := range c.policy {
			// e^{−V/2} of the mean is not known
			if v := logPolicies(probs, x.cov).At(a, a); want > 0 && !(math.Abs(math.Log(probs[a]/want)) < 0.1+v/2) {
				t.Errorf("%s: arm %d rests at %.3g, V = %.2g, simulated %.3g", where, a, probs[a], v, want)
			}
		}
	}
}

// Where the second moment keeps its mean the law of mean steps is the self-consistent linear law.
func TestStepLawOfDenseForces(t *testing.T) {
	p := adamSettings(option.NoScale, 64, 1, 0.18, 0.00133, 0.32, 0.73, 0.62, 0.54, 0.66).checked()
	_, x := lawOfSteps(t, p)
	want := Predict(p).LeadingOrder.StationaryVariance.ExpectedReward
	if x == nil || want == nil {
		t.Fatal("no law")
	}
	adamNear(t, "Var J", x.variance, *want, 0.01**want)
	if size := x.size(); size > 0.03 {
		t.Errorf("the law leaves out %.3g of Var J", size)
	}
}

// Where ε is above all forces v is nothing beside it, and Adam has a law for two arms of which one is rare.
func TestEpsilonAboveAllForces(t *testing.T) {
	p := adamSettings(option.StdScale, 17, 3, 0.06866, 0.03339, 0.999, 0.9785)
	p.Optimizer.Epsilon, p.Optimizer.Beta1, p.Optimizer.Beta2 = 5.809, 0.9987, 0.54
	if got := Predict(p); !got.Noise.In || !(*got.LeadingOrder.StationaryVariance.ExpectedReward > 0) {
		t.Errorf("noise %v", got.Noise.Because)
	}
}

// Arms that the penalty cannot hold are never drawn from the fixed point, where nothing moves them, but runs that come from a policy that draws them keep
// them at about a sample in 1/(1−β2) steps: Var J is that of runs from equal logits (64 replicas, 300,000 steps, the second half; with its standard error), and
// after 15 memories of v its start is forgotten.
func TestArmsNeverDrawnUnderAdam(t *testing.T) {
	for _, c := range []struct {
		p                Params
		neutral          int
		variance, within float64
	}{
		{adamSettings(option.StdScale, 32, 2, 0.0435, 0.01, 0.91, 0.58, 0.90, 0.50, 0.69, 0.45, 0.27, 0.07), 1, 4.31e-7, 0.05e-7},
		{adamSettings(option.StdScale, 64, 16, 0.0278, 0.00457, 0.31, 0.88, 0.06, 0.89, 0.22, 0.68), 3, 1.71e-7, 0.03e-7},
		{adamSettings(option.StdScale, 32, 1, 0.0375, 0.00431, 0.08, 0.89, 0.83), 1, 6.5e-8, 0.3e-8},
		{adamSettings(option.StdScale, 32, 1, 0.0244, 0.00188, 0.05, 0.91, 0.16, 0.70, 0.93, 0.34, 0.08), 4, 6.4e-8, 0.33e-8},
	} {
		where := fmt.Sprintf("β = %g, η = %g", c.p.KL.Coefficient, c.p.Optimizer.LearningRate)
		e := NewEquilibrium(c.p)
		got := e.Predict(c.p.Optimizer, c.p.Lag)
		d := got.LeadingOrder
		if !got.Noise.In || d.Neutral != c.neutral || !(*d.SpectralRadius < 1) {
			t.Errorf("%s: noise %v, %d neutral directions, want %d", where, got.Noise.Because, d.Neutral, c.neutral)
			continue
		}
		variance, size := *d.StationaryVariance.ExpectedReward, got.Neglected.RewardVariance
		if math.Abs(variance-c.variance) > size+3*c.within || size > variance/4 {
			t.Errorf("%s: Var J %.4g to %.2g, simulated %.4g ± %.2g, want a size of at most a quarter", where, variance, size, c.variance, c.within)
		}
		if s := e.Settled(c.p.Optimizer, c.p.Lag, 15_000, 30_000); s.Unknown > 1e-3 {
			t.Errorf("%s: after 15,000 steps %.2g of Var J is not known, want at most 1e-3", where, s.Unknown)
		}
	}
}

// An arm that is not drawn for so long that log π falls by more than its chain covers has no law: in 800,000 steps the standard deviation of π_0 is 14 times its mean.
func TestLockedPolicyThatRests(t *testing.T) {
	got := Predict(adamSettings(option.StdScale, 16, 4, 0.0185, 0.029, 0.34, 0.56, 0.75, 0.17))
	if got.Noise.In || got.LeadingOrder.StationaryVariance.ExpectedReward != nil {
		t.Errorf("Var J %v, want none", got.LeadingOrder.StationaryVariance.ExpectedReward)
	}
}

// Runs from a policy that draws all arms keep those that runs from the fixed point lose, of which the prediction alone leaves out the difference.
func TestLostArmsByStart(t *testing.T) {
	p := Predict(adamSettings(option.StdScale, 4, 8, 0.0203, 0.00246, 0.90, 0.17, 0.69, 0.42, 0.78, 0.62))
	if p.Lost == nil {
		t.Fatal("no lost arms")
	}
	if got, want := p.From(make([]float64, 6)).Neglected.RewardVariance, p.Neglected.RewardVariance-p.Lost.Left.RewardVariance; math.Abs(got-want) > 1e-9*want {
		t.Errorf("from equal logits %g is left out of Var J, want %g", got, want)
	}
	if p.From(p.FixedPoint.Logits) != &p || p.From(nil) != &p {
		t.Error("from the fixed point less is left out")
	}
}

// A policy that is locked at the fixed point comes to rest under Adam where it still draws the other arms: Var J is that of runs from equal logits (64 replicas,
// 80,000 steps, the second half; with its standard error).
func TestLockedPolicyUnderAdam(t *testing.T) {
	for _, c := range []struct {
		p                Params
		variance, within float64
	}{
		{adamSettings(option.NoScale, 16, 4, 0.0186, 0.0011, 0.79, 0.13), 3.3e-10, 0.5e-10},
		{adamSettings(option.NoScale, 8, 4, 0.00897, 0.00805, 0.13, 0.16, 0.42, 0.58, 0.75, 0.40, 0.44), 2.6e-7, 0.25e-7},
	} {
		where := fmt.Sprintf("β = %g, η = %g", c.p.KL.Coefficient, c.p.Optimizer.LearningRate)
		got := Predict(c.p)
		variance := got.LeadingOrder.StationaryVariance.ExpectedReward
		if !got.Noise.In || variance == nil || !got.LeadingOrder.Scope.Because.Is(scope.RoundedStiffness) {
			t.Errorf("%s: noise %v and %v, want Var J at a locked fixed point", where, got.Noise.Because, got.LeadingOrder.Scope.Because)
			continue
		}
		if miss := math.Abs(*variance - c.variance); miss > min(got.Neglected.RewardVariance, *variance/4)+3*c.within {
			t.Errorf("%s: Var J %.4g to %.2g, simulated %.4g ± %.2g, want it to a quarter", where, *variance, got.Neglected.RewardVariance, c.variance, c.within)
		}
	}
}
