package rom

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
)

// The mean and the variance of a force that is clipped are those of the sample-by-sample
// estimator, clipped and averaged over all groups, up to rounding.
func TestClippedForceIsTheEnumeratedOne(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 2))
	base := Params{
		Estimator: option.Estimator{GroupsPerStep: 1, Advantage: option.Advantage{Epsilon: 0.05},
			Importance: option.Importance{ClipLow: 0.1, ClipHigh: 0.2}, KL: option.KL{Coefficient: 0.7}},
		Lag:     block(1),
		Factors: Unit,
	}
	clipped := 0
	compare := func(p Params) {
		if p.KL.In == option.InReward {
			return // not derived
		}
		p.GroupSize = 3 + r.IntN(4)
		p.Optimizer.MaxNorm = 0.02 * math.Exp(r.Float64()*math.Log(40))
		theta, old := normals(r, 2, 1), normals(r, 2, 1)
		p.Reference = normals(r, 2, 1)
		past := make([]float64, 2)
		cell.Softmax(past, old)
		var atoms []sample
		var chances []float64
		values := [2]float64{0, 1}
		if r.IntN(3) == 0 { // certain rewards of two other values
			values = [2]float64{-0.4, 1.1}
			for a := range 2 {
				p.Arms = append(p.Arms, option.Arm{Law: option.Constant, Mean: values[a]})
				atoms, chances = append(atoms, sample{a, values[a]}), append(chances, past[a])
			}
		} else {
			for a := range 2 {
				m := r.Float64()
				p.Arms = append(p.Arms, option.Arm{Mean: m})
				atoms = append(atoms, sample{a, 1}, sample{a, 0})
				chances = append(chances, past[a]*m, past[a]*(1-m))
			}
		}
		free := p
		free.Optimizer.MaxNorm = 0
		with, without := make([]float64, 2), make([]float64, 2)
		force.Mean(with, p, theta, old)
		force.Mean(without, free, theta, old)
		if math.Abs(with[0]-without[0]) > 1e-3 {
			clipped++
		}
		requireEnumerated(t, p, theta, old, atoms, chances)
	}
	everyEstimator(base, compare)
	everyPenalty(base, compare)
	if clipped < 100 {
		t.Errorf("%d forces that the limit changes: too few", clipped)
	}
}

// Fixed point, stiffness and noise of the clipped force, from an independent enumeration
// of all groups sample by sample (docs/theory-trainers.md §11.6).
func TestFixedPointUnderALargestNorm(t *testing.T) {
	for _, c := range []struct {
		size                            int
		scale                           option.Scale
		beta, norm                      float64
		gap, total, fresh, stale, noise float64
	}{
		{16, option.StdScale, 1.2, 0.1, 1.34290743, 0.145641022, 0.0409333392, 0.104707683, 0.0136814926},
		{4, option.StdScale, 1.2, 0.1, 1.07309092, 0.104526941, 0.0388722393, 0.0656547009, 0.0170430261},
		{4, option.NoScale, 0.5, 0.05, 1.15971553, 0.0466241503, 0.0122008075, 0.0344233427, 0.00441038663},
		{8, option.NoScale, 0.5, 0.02, 1.1946382, 0.036690027, 0.0180948592, 0.018595168, 0.000674076845},
	} {
		p := Params{
			Arms: []option.Arm{{Mean: 0.9}, {Mean: 0.2}},
			Estimator: option.Estimator{GroupSize: c.size, GroupsPerStep: 1,
				Advantage: option.Advantage{Scale: c.scale}, KL: option.KL{Coefficient: c.beta}},
			Lag:       block(1),
			Optimizer: option.Optimizer{LearningRate: 0.1, MaxNorm: c.norm},
		}
		got := Predict(p)
		if !got.Exact.Scope.In || got.ForceKind != Exact {
			t.Errorf("%+v: %+v, %+v, %v", c, got.Exact.Scope, got.Noise, got.ForceKind)
			continue
		}
		p = p.Checked()
		m := force.New(&p)
		m.Set(got.FixedPoint.Logits, got.FixedPoint.Logits)
		for what, x := range map[string][2]float64{
			"z*":        {got.FixedPoint.Logits[0] - got.FixedPoint.Logits[1], c.gap},
			"λ":         {got.Stiffness.Total, c.total},
			"λ_f":       {got.Stiffness.Fresh, c.fresh},
			"λ_s":       {got.Stiffness.Stale, c.stale},
			"Var[2g_1]": {got.GradientVariance, c.noise},
		} {
			if math.Abs(x[0]/x[1]-1) > 2e-8 {
				t.Errorf("%+v: %s is %.9g, want %.9g", c, what, x[0], x[1])
			}
		}
	}
}

// With an advantage of a group's size or a given baseline the clipped force is that of the
// unclipped one where the limit is far away.
func TestAFarLimitChangesNothing(t *testing.T) {
	base := Params{
		Arms: []option.Arm{{Mean: 0.8}, {Mean: 0.3}},
		Estimator: option.Estimator{GroupSize: 5, GroupsPerStep: 1,
			KL: option.KL{Coefficient: 0.4, Gradient: option.K2}},
		Lag: block(1),
	}
	theta, old := []float64{0.4, 0}, []float64{0.1, 0}
	for _, change := range []func(p *Params){
		func(p *Params) {
			p.Advantage.Baseline, p.Advantage.Scale, p.Advantage.Value = option.ConstantBaseline,
				option.NoScale, 0.3
		},
		func(p *Params) {
			p.Advantage.Baseline, p.Advantage.Scale = option.LeaveOneOut,
				option.OthersStd
		},
		func(p *Params) { p.Advantage.Scale = option.MeanScale },
		func(p *Params) { p.Advantage.Baseline, p.Advantage.Scale = option.SecondBest, option.NoScale },
		func(p *Params) { p.Advantage.Scale, p.Advantage.Std = option.BatchStd, option.SampleStd },
		func(p *Params) { p.Advantage.Scale = option.PooledStd },
		func(p *Params) { p.Advantage.Scale = option.BatchMean },
		func(p *Params) { p.Filter = option.Redraw },
		func(p *Params) { p.Importance.Mode = option.Ratio },
	} {
		p := base
		change(&p)
		want, got := make([]float64, 2), make([]float64, 2)
		force.Mean(want, p, theta, old)
		noise, _ := force.Covariance(p, theta, old)
		p.Optimizer.MaxNorm = 1e6
		if q := p.Checked(); q.Cut() == 0 {
			t.Errorf("%+v: not enumerated", p)
		}
		force.Mean(got, p, theta, old)
		clipped, _ := force.Covariance(p, theta, old)
		if s, w := fmt.Sprintf("%.12g %.10g", got, clipped.At(0, 1)),
			fmt.Sprintf("%.12g %.10g", want, noise.At(0, 1)); s != w {
			t.Errorf("%+v: mean and covariance %s, want %s", p, s, w)
		}
	}
}

// About a fixed point a largest norm c scales the stiffness of two arms by P(|g| < c) of a normal
// gradient, and its variance s² to E min(g², c²), of which the on-policy variance of z is that of
// an autoregression.
func TestLimitedAtRest(t *testing.T) {
	p := Params{
		Arms: []option.Arm{{Mean: 0.9}, {Mean: 0.2}},
		Estimator: option.Estimator{GroupSize: 64, GroupsPerStep: 4,
			Advantage: option.Advantage{Scale: option.StdScale}, KL: option.KL{Coefficient: 1.2}},
		Optimizer: option.Optimizer{LearningRate: 0.05}, Lag: block(1),
	}
	free := Predict(p)
	s := math.Sqrt(free.GradientVariance / 2) // of the norm √2 |g_1|, from Var 2g_1
	for _, c := range []float64{0.3 * s, s, 2 * s} {
		p.Optimizer.MaxNorm = c
		x := c / s
		inside := math.Erf(x / math.Sqrt2)
		density := math.Exp(-x*x/2) / math.Sqrt(2*math.Pi)
		noise := free.GradientVariance * (inside - 2*x*density + x*x*(1-inside))
		kappa := 0.05 * free.Stiffness.Total * inside
		got := Predict(p)
		for name, pair := range map[string][2]float64{
			"λ":        {got.Stiffness.Total, free.Stiffness.Total * inside},
			"Var 2g_1": {got.GradientVariance, noise},
			"Var z":    {*got.LeadingOrder.StationaryVariance.LogitGap, 0.0025 * noise / (kappa * (2 - kappa))},
		} {
			if math.Abs(pair[0]/pair[1]-1) > 0.01 {
				t.Errorf("c = %.1f s: got %s = %v, want %v", x, name, pair[0], pair[1])
			}
		}
	}
}
