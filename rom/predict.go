package rom

import (
	"math/cmplx"

	"gonum.org/v1/gonum/mat"
)

// Predict returns everything the theory says of p at rest.
func Predict(p Params) Prediction {
	newModel(&p)
	f := fold(p)
	logits := f.reached()
	prediction := Prediction{ForceKind: newModel(&f.Params).kind()}
	if logits == nil {
		none := Scope{Because: "no fixed point"}
		prediction.Exact.Scope, prediction.LeadingOrder.Scope, prediction.Noise = none, none, none
		return prediction
	}
	prediction.FixedPoint = &f.points([][]float64{logits})[0]
	r := newRest(f, logits)
	top := r.modes[0]
	prediction.Stiffness = ModeStiffness{top.Total, top.Fresh, top.Stale, r.modes[len(r.modes)-1].Total}
	if len(p.Arms) == 2 {
		prediction.GradientVariance = 4 * r.noise.At(0, 0)
	}
	l := &linear{
		fresh: within(r.q, r.fresh), stale: within(r.q, r.stale), noise: within(r.q, r.noise),
		method: p.Optimizer.Method, rate: p.Optimizer.Rate, momentum: p.Optimizer.Momentum, lag: p.Lag,
	}
	d := &prediction.Exact
	d.Scope.In = true
	for _, z := range multipliers(l.period()) {
		d.Multipliers = append(d.Multipliers, [2]float64{real(z), imag(z)})
		if d.SpectralRadius == nil {
			radius := cmplx.Abs(z)
			d.SpectralRadius = &radius
		}
	}
	if d.SpectralRadius == nil || *d.SpectralRadius >= 1 || p.GroupSize == Infinite {
		prediction.Noise.Because = "unstable, or no noise"
		return prediction
	}
	phases, ok := l.stationary()
	if !ok {
		return prediction
	}
	prediction.Noise.In = true
	sigma := timeAverage(phases, l.dim())
	gradient := mat.NewVecDense(l.dim(), r.rewardGradient())
	reward := mat.Inner(gradient, sigma, gradient)
	d.StationaryVariance.ExpectedReward = &reward
	if len(p.Arms) == 2 {
		gap := 2 * sigma.At(0, 0) // z = θ_1 − θ_0 is √2 times the unit coordinate
		d.StationaryVariance.LogitGap = &gap
	}
	return prediction
}
