package rest

import (
	"math"
	"math/cmplx"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/fixed"
	"grposim/rom/linear"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/mat"
)

// motion is the linear dynamics at a fixed point.
type motion struct {
	*linear.Dynamics
	gain []float64 // multiplies the force of each arm; nil: 1
}

// newMotion returns the linear dynamics under an optimizer with the given
// method, rate and momentum. gain, one entry per arm, multiplies the force (Adam's
// preconditioner; nil: 1). It returns nil where a matrix is not finite.
func (l *linearization) newMotion(
	method option.Method, rate, momentum float64, gain []float64) *motion {
	fresh, stale, noise := l.fresh, l.stale, l.noise
	if gain != nil {
		p := mat.NewDiagDense(len(gain), gain)
		var f, s, half, n mat.Dense
		f.Mul(p, fresh)
		s.Mul(p, stale)
		half.Mul(p, noise)
		n.Mul(&half, p)
		fresh, stale, noise = &f, &s, &n
	}
	tolerance := linear.Rounded
	if l.Measured != nil {
		tolerance = measuredTolerance
	}
	var relatives []linear.Relative
	for _, x := range l.relatives {
		relatives = append(relatives, x.Relative)
	}
	m := linear.New(&linear.System{
		Fresh: linear.Within(l.q, fresh), Stale: linear.Within(l.q, stale),
		Noise: linear.Within(l.q, noise),
		Update: linear.Update{Method: method, Rate: rate, Momentum: momentum, Lag: linear.NewLag(&l.Lag),
			AgeDraws: l.AgeDraws()},
		Samples: l.Samples,
	}, relatives, tolerance)
	if m == nil {
		return nil
	}
	return &motion{Dynamics: m, gain: gain}
}

// multipliersAlone returns the dynamics without its variances and thresholds.
func multipliersAlone(m *linear.Dynamics) Dynamics {
	values := m.Multipliers() // sorted; nil: not known
	d := Dynamics{Scope: scope.Scope{In: true}, Neutral: m.Neutral}
	if len(values) > 0 {
		largest := cmplx.Abs(values[0])
		d.SpectralRadius = &largest
		relaxation := -math.Log(largest) / float64(m.Whole.Lag.Period())
		d.RelaxationRate = &relaxation
		if ratio, ok := linear.DampingRatio(values); ok {
			d.DampingRatio = &ratio
		}
	}
	for _, z := range values[:min(len(values), linear.MaxListed)] {
		d.Multipliers = append(d.Multipliers, [2]float64{real(z), imag(z)})
	}
	return d
}

// Local is the linear dynamics about a policy that is its own snapshot, a fixed point or not.
type Local struct {
	Reward      float64      // J there, in units of reward
	Stiffness   float64      // λ of the stiffest mode, in units of force per logit
	Multipliers []complex128 // the largest first, at least one
	Oscillates  bool         // see linear.Dynamics
}

// About returns a function that gives the linear dynamics of p about the logits of all arms at a
// learning rate; ok is false where it is not finite or not known.
func About(p cell.Params) func(theta []float64, rate float64) (local Local, ok bool) {
	f := fixed.Fold(p)
	return func(theta []float64, rate float64) (local Local, ok bool) {
		logits := make([]float64, len(f.Count))
		for a, c := range f.Class {
			logits[c] = theta[a] + math.Log(f.Count[c])
		}
		l := newLinearization(f, logits)
		if !l.finite() {
			return local, false
		}
		motion := l.newMotion(f.Optimizer.Kind, rate, f.Optimizer.Momentum, nil)
		if motion == nil || motion.TooLarge().Out() {
			return local, false
		}
		values := motion.Multipliers()
		if len(values) == 0 {
			return local, false
		}
		return Local{l.model.Expected(logits), l.modes()[0].total, values, motion.Oscillates()}, true
	}
}
