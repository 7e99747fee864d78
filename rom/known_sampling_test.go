package rom_test

import (
	"math"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/fixed"
	"grposim/rom/force"
	"grposim/rom/rest"
)

// redrawn returns a cell of the reference bandit in which groups of equal rewards are redrawn.
func redrawn(scale option.Scale, beta float64, size int) rom.Params {
	return rom.Params{
		Arms:      []option.Arm{{Mean: 0.9}, {Mean: 0.2}},
		Estimator: option.Estimator{GroupSize: size, GroupsPerStep: 1, Filter: option.Redraw, Advantage: option.Advantage{Scale: scale}, KL: option.KL{Coefficient: beta, At: option.AtSnapshot}},
		Lag:       block(1),
		Optimizer: option.Optimizer{LearningRate: 0.1},
	}
}

// The numbers of docs/theory-trainers.md §11.3, to the printed digits.
func TestKnownRedraw(t *testing.T) {
	for _, c := range []struct {
		scale                    option.Scale
		beta                     float64
		size                     int
		gap, stiffness, variance float64
	}{
		{option.NoScale, 0.5, 4, 1.774024878, 0.0593647073, 3.571999848e-2},
		{option.NoScale, 0.5, 16, 1.326737896, 0.1598478314, 1.156587191e-2},
		{option.StdScale, 1.2, 4, 1.501210523, 0.1921987622, 1.665528106e-1},
		{option.StdScale, 1.2, 16, 1.294011976, 0.3220245212, 5.033342750e-2},
	} {
		p := rom.Predict(redrawn(c.scale, c.beta, c.size))
		closeTo(t, "z*", p.FixedPoint.Logits[0]-p.FixedPoint.Logits[1], c.gap, 5e-10)
		closeTo(t, "λ", p.Stiffness.Total, c.stiffness, 5e-9*c.stiffness)
		closeTo(t, "Var 2g", p.GradientVariance, c.variance, 5e-10*c.variance)
	}
}

// The numbers of docs/theory-trainers.md §11.3 with a sampled KL gradient, to the printed digits:
// two Bernoulli arms, and 0/1 arms, which have a fixed point below the critical coefficient too.
func TestKnownRedrawnPenalty(t *testing.T) {
	for _, c := range []struct {
		estimate                 option.KLGradient
		certain                  bool
		size                     int
		gap, stiffness, variance float64
	}{
		{option.K2, false, 4, 1.447221597, 0.339710366, 1.149963814e-01},
		{option.K2, false, 8, 1.565263463, 0.239915940, 6.193792513e-02},
		{option.K3, false, 4, 1.114687695, 0.723262822, 1.337077161e-01},
		{option.K3, false, 8, 1.175592209, 0.602326560, 7.059843246e-02},
		{option.RatioK1, false, 4, 1.969720859, 0.233262592, 1.469838988e-01},
		{option.RatioK1, false, 8, 1.765315688, 0.180339806, 1.044925788e-01},
		{option.K2, true, 4, 4.092947542, 0.236463434, 1.252900154e-02},
		{option.K2, true, 8, 5.950176978, 0.121515738, 1.868290204e-03},
		{option.K3, true, 4, 2.011392896, 0.945924283, 6.882492117e-02},
		{option.K3, true, 8, 2.299277042, 0.683029929, 4.285663963e-02},
		{option.RatioK1, true, 4, 5.115746084, 0.240474421, 4.629370636e-03},
		{option.RatioK1, true, 8, 6.965505957, 0.122904554, 6.820511272e-04},
	} {
		p := redrawn(option.StdScale, 1, c.size)
		if p.KL.Gradient = c.estimate; c.certain {
			p.Arms, p.KL.Coefficient = []option.Arm{{Mean: 1}, {Mean: 0}}, 0.5
		}
		same := []rom.Params{p}
		if c.estimate == option.K2 { // which has the fixed point of two others
			same = append(same, p, p)
			same[1].KL.Gradient = option.RatioK3
			same[2].KL.Gradient, same[2].KL.In = option.ExactKL, option.InAdvantage
		}
		for _, p := range same {
			got := rom.Predict(p)
			closeTo(t, "z*", got.FixedPoint.Logits[0]-got.FixedPoint.Logits[1], c.gap, 5e-10)
			closeTo(t, "λ", got.Stiffness.Total, c.stiffness, 5e-9)
			closeTo(t, "Var 2g", got.GradientVariance, c.variance, 5e-10*c.variance)
		}
	}
	// A large group has three fixed points, as without a filter.
	p := redrawn(option.StdScale, 2, 256)
	p.Arms, p.KL.Gradient = []option.Arm{{Mean: 1}, {Mean: 0}}, option.K2
	if n := len(fixed.Points(p)); n != 3 {
		t.Errorf("%d fixed points, want 3", n)
	}
	// k1 is no penalty, and redrawn groups make it push.
	p.KL.Gradient = option.K1
	if got := rom.Predict(p); got.FixedPoint != nil || got.Exact.Scope.In {
		t.Error("k1 in the loss has a fixed point")
	}
}

// factorAt returns φ at J of the reference bandit at z = 0.8, from the mean force.
func factorAt(p rom.Params) float64 {
	theta := []float64{0.8, 0}
	p.KL.Coefficient = 0
	force := mean(p, theta, theta)
	q := 1 / (1 + math.Exp(-0.8))
	return force[0] / (q * (1 - q) * 0.7)
}

func TestKnownRedrawnFactors(t *testing.T) {
	for i, size := range []int{4, 8, 16} {
		closeTo(t, "φ, std", factorAt(redrawn(option.StdScale, 0, size)),
			[]float64{2.112576157, 2.041656973, 2.068952710}[i], 5e-10)
		closeTo(t, "φ, none", factorAt(redrawn(option.NoScale, 0, size)),
			[]float64{0.971112055, 0.918584141, 0.939606189}[i], 5e-10)
	}
	// With B groups of which those of equal rewards are dropped the drift is smaller by 1 − (1−P)^B.
	for _, c := range []struct {
		size, groups int
		factor       float64
	}{{4, 4, 2.106898}, {8, 8, 2.041657}} {
		p := redrawn(option.StdScale, 0, c.size)
		p.Filter, p.GroupsPerStep = option.Drop, c.groups
		closeTo(t, "φ, dropped", factorAt(p), c.factor, 5e-7)
	}
}

// With 0/1 arms and redrawn groups a fixed point exists only above a critical KL coefficient,
// and then a second one, beyond which the policy runs to the better arm.
func TestKnownCriticalPenalty(t *testing.T) {
	for i, size := range []int{4, 8, 16, 64, option.Infinite} {
		critical := []float64{2.003549, 1.748488, 1.566284, 1.470890, 1.508880}[i]
		p := redrawn(option.StdScale, critical*(1+1e-6), size)
		p.Arms = []option.Arm{{Mean: 1}, {Mean: 0}}
		if n := len(fixed.Points(p)); n != 2 {
			t.Errorf("G = %d: %d fixed points above the critical coefficient, want 2", size, n)
		}
		p.KL.Coefficient = critical * (1 - 1e-6)
		if n := len(fixed.Points(p)); n != 0 {
			t.Errorf("G = %d: %d fixed points below the critical coefficient, want none", size, n)
		}
		if prediction := rom.Predict(p); prediction.FixedPoint != nil || prediction.Exact.Scope.In {
			t.Errorf("G = %d: a prediction without a fixed point", size)
		}
		p.KL.Coefficient = critical * 1.1
		at := fixed.Points(p)
		for k, sign := range []float64{1, -1} {
			if λ := rest.Modes(force.Stiffness(p, at[k].Logits))[0].Total; !(sign*λ > 0) {
				t.Errorf("G = %d: λ = %v at fixed point %d", size, λ, k)
			}
		}
		p.Start = []float64{at[1].Logits[0] + 0.1, at[1].Logits[1]}
		if _, ok := rest.Reached(p); ok {
			t.Errorf("G = %d: a fixed point is reached from beyond the unstable one", size)
		}
	}
}

// The factors of docs/theory-trainers.md §11.4 at z = 0.8, to the printed digits.
func TestKnownAdvantageFactors(t *testing.T) {
	cell := func(baseline option.Baseline, scale option.Scale, size, groups int) rom.Params {
		p := redrawn(scale, 0, size)
		p.Filter, p.Advantage.Baseline, p.GroupsPerStep = option.KeepAll, baseline, groups
		return p
	}
	for i, shape := range [][2]int{{4, 4}, {8, 8}, {16, 4}} {
		closeTo(t, "REINFORCE++-baseline", factorAt(cell(option.MeanBaseline, option.PooledStd, shape[0],
			shape[1])), []float64{1.837810957, 2.006573667, 2.077633872}[i], 5e-10)
		closeTo(t, "batch std", factorAt(cell(option.MeanBaseline, option.BatchStd, shape[0], shape[1])),
			[]float64{1.651452013, 1.892775872, 2.027974149}[i], 5e-10)
	}
	for i, size := range []int{4, 8, 16} {
		closeTo(t, "MaxRL", factorAt(cell(option.MeanBaseline, option.MeanScale, size, 1)),
			[]float64{1.417518189, 1.463695968, 1.464167089}[i], 5e-10)
		closeTo(t, "NeMo-RL", factorAt(cell(option.LeaveOneOut, option.OthersStd, size, 1)),
			[]float64{1.475505515, 2.050087850, 2.199241980}[i], 5e-10)
	}
	p := cell(option.SecondBest, option.StdScale, 4, 1)
	p.Advantage.Std = option.SampleStd
	closeTo(t, "pass@k", factorAt(p), 0.063721, 5e-7)
	for i, shape := range [][2]int{{4, 4}, {8, 8}} {
		closeTo(t, "GPG", factorAt(cell(option.MeanBaseline, option.BatchMean, shape[0], shape[1])),
			[]float64{1.171333671, 1.301481900}[i], 5e-10)
	}
	// REINFORCE++: one group of all samples of the step.
	closeTo(t, "REINFORCE++", factorAt(cell(option.MeanBaseline, option.StdScale, 16, 1)), 2.064315, 5e-7)

	// E A ≠ 0 leaves a force (π_old − π) E A: NeMo-RL at z = 0.5 with the snapshot at 0.8.
	now, old := []float64{0.5, 0}, []float64{0.8, 0}
	for i, size := range []int{4, 16} {
		p = cell(option.LeaveOneOut, option.OthersStd, size, 1)
		without := mean(p, old, old)[0]
		closeTo(t, "E A", (mean(p, now, old)[0]-without)/(1/(1+math.Exp(-0.8))-1/(1+math.Exp(-0.5))),
			[]float64{0.05801, -0.03205}[i], 5e-6)
		if size == 4 {
			closeTo(t, "NeMo-RL off-policy", mean(p, now, old)[0], 0.224854, 5e-7)
			closeTo(t, "without E A", without, 0.220937, 5e-7)
		}
	}
}
