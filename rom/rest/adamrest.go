package rest

import (
	"math"
	"slices"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/linear"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// LeastEscape is the share of the escape learning rate below which none of 100 simulated runs
// escaped in 2,000 steps (docs/theory-neglected.md §6.8).
const LeastEscape = 0.8

// adamAtRest returns AdamAtRest at a learning rate, given the critical one η* of held second
// moments; nil without one. Beyond η* the second moment v of g_1 sets the rate of the motion κ =
// (1−β1)ηλ/√v to its critical value κ* = (1−β1)η*λ/√C. λ is the stiffness and C the variance of
// g_1 at the fixed point. Where the noise is small beside the force v = (λ/2)² Var z. stiffest is
// λ/√C, with more arms of the stiffest mode of the forces divided by their noise.
func adamAtRest(d *Dynamics, rate, stiffest float64) *AdamAtRest {
	if d.CriticalLearningRate == nil || !(*d.CriticalLearningRate > 0) || !(stiffest > 0) {
		return nil
	}
	escape := *d.CriticalLearningRate * stiffest / 2
	if !linear.IsFinite(escape, rate/escape) {
		return nil
	}
	return &AdamAtRest{rate / escape, escape}
}

// adamKick is the way of a logit gap by one gradient among none, which alone makes v:
// 2η(1−β1)Σ(β1/√β2)^k/√(1−β2).
func adamKick(o *option.Optimizer) float64 {
	kept := o.Beta1 / math.Sqrt(o.Beta2)
	return 2 * o.LearningRate * (1 - o.Beta1) / math.Sqrt(1-o.Beta2) / max(1-kept, 0)
}

// Limits of the search for Adam's second moment at rest: the logarithm of its ratio to the noise
// beyond which it is not searched, the error of an arm's, and the number of attempts.
const (
	largestMoment  = 60
	settledMoment  = 1e-8
	momentAttempts = 200
	largestSettled = 128 // coordinates of the state, of which each attempt solves a Lyapunov equation
)

// settledMotion returns the linear dynamics under Adam whose second moment v is that of its own
// stationary law, v_a = T_a(v) = E(ξ − Λ_f x − Λ_s x_old)_a² averaged over the phases; nil
// where none is found, as at a fixed point that is unstable at every learning rate, where a
// direction is slow, and for states of more than largestSettled coordinates. held is the dynamics
// with the second moments of the noise.
//
// Along a ray of v the right side falls, and it is +∞ below the v at which the dynamics becomes
// stable, so that there is one root, and it is stable. With two arms, whose forces are opposite,
// that is the solution. With more the root is where Broyden's method starts, for the zero of
// v_a/T_a − 1 in ln v: near the edge of stability T goes as the inverse distance, so that these are
// smooth there.
func (l *linearization) settledMotion(o option.Optimizer, held *motion) *motion {
	arms := len(l.Count)
	if oldest, _ := held.Whole.Lag.Stored(); held.Whole.Lag.Period() > linear.MaxPeriod ||
		held.Whole.Dim()*(oldest+2) > largestSettled {
		return nil
	}
	moment := make([]float64, arms)
	var found *motion
	right := func(logs []float64) (t []float64, ok bool) {
		gain := make([]float64, arms)
		for a, x := range logs {
			gain[a] = 1 / (fp.MathExp(x/2) + o.Epsilon)
		}
		m := l.newMotion(option.HeavyBall, (1-o.Beta1)*o.LearningRate, o.Beta1, gain)
		if m == nil || m.Neutral > 0 { // a direction in which nothing comes to rest
			return nil, false
		}
		law, ok := m.Whole.Law()
		if !ok {
			return nil, false
		}
		t, found = l.squares(&law, gain), m
		return t, linear.IsFinite(t...)
	}
	along := func(scale float64) float64 { // mean of ln(T/v), 0 where it is settled
		logs, sum := make([]float64, arms), 0.0
		for a := range logs {
			logs[a] = math.Log(l.noise.At(a, a)) + scale
		}
		t, ok := right(logs)
		if !ok {
			return math.Inf(1)
		}
		for a, x := range t {
			sum += math.Log(x) - logs[a]
		}
		copy(moment, logs)
		if sum /= float64(arms); math.Abs(sum) < settledMoment {
			return 0
		}
		return sum
	}
	low, at := 0.0, along(0)
	// T falls, so that the root is at most at beyond low
	for step := min(at, math.Ln2); at > 0; step *= 2 {
		if low > largestMoment {
			return nil
		}
		next := along(low + step)
		if next <= 0 {
			along(linear.Root(along, low, low+step, at))
			break
		}
		low, at = low+step, next
	}
	miss := func(logs []float64) (r []float64, size float64) {
		t, ok := right(logs)
		if !ok {
			return nil, math.Inf(1)
		}
		r = make([]float64, arms)
		for a, x := range t {
			r[a] = fp.MathExp(logs[a])/x - 1
		}
		return r, floats.Norm(r, 2)
	}
	logs := linear.Broyden(miss, moment, settledMoment, momentAttempts)
	if logs == nil {
		return nil
	}
	right(logs)
	return found
}

// atRestUnderAdam replaces the multipliers of the dynamics m, in which second moments are those of
// the noise at the fixed point, by those of the moments that the stationary law itself makes, and
// returns that motion, or m where there is none. Thresholds remain those of held second moments:
// learning rates from which on the moments grow.
func (l *linearization) atRestUnderAdam(
	prediction *Prediction, m *motion, o option.Optimizer, of Extent) *motion {
	d := &prediction.LeadingOrder
	if settled := l.settledMotion(o, m); settled != nil {
		m = settled
		if of&(Multipliers|Margin) != 0 && d.StabilityMargin == nil {
			own := multipliersAlone(settled.Dynamics)
			d.SpectralRadius, d.Multipliers, d.RelaxationRate, d.DampingRatio = own.SpectralRadius,
				own.Multipliers, own.RelaxationRate, own.DampingRatio
		}
	}
	if of&(Multipliers|StationaryLaw) == 0 {
		return m // boundaries are those of first order
	}
	prediction.Neglected.Add(scope.SecondMoment, d.relativeError(slices.Max(l.averageErrors(o, 1/(1-o.Beta2)))))
	return m
}

// addMomentError adds what a linear law with the given Var J leaves out of Adam's second moment. It
// returns the shift of E J by it and the share of Var J that may be missing.
func (l *linearization) addMomentError(prediction *Prediction, o option.Optimizer, law *linear.Law,
	reward float64) (skew, missing float64) {
	errors, signal := l.adamErrors(o, law, *prediction.LeadingOrder.SpectralRadius)
	moment := prediction.LeadingOrder.relativeError(signal)
	skew, missing = l.skewShift(o), l.sharedError(errors, law.TimeAverage())
	moment.RewardVariance, moment.RewardMean = reward*missing, skew
	prediction.Neglected.Add(scope.SecondMoment, moment)
	return skew, missing
}

// skewShift returns a bound on the shift of J because a skew force is divided by the root of its
// own square. With h = 1/(√v + ε),
//
//	E[m h] = h[F − ½c Cov(g, g²)/(√v(√v + ε))],
//	c = (1−β1)(1−β2)/(1−β1β2),   |Cov(g, g²)| ≤ √(k−1) v^{3/2},
//
// k the kurtosis of g and v its variance; whatever the law of v, the second term is at most v/ε.
func (l *linearization) skewShift(o option.Optimizer) (size float64) {
	gain, total, kurtoses := l.adamGain(o), linear.Sum(l.fresh, l.stale), l.armKurtoses()
	total.Mul(mat.NewDiagDense(len(gain), gain), total)
	gradient := l.rewardGradient()
	along := mat.NewVecDense(len(gradient), nil)
	if along.SolveVec(linear.Within(l.q, total).T(), mat.NewVecDense(len(gradient), gradient)) != nil {
		return math.Inf(1) // a direction that nothing holds may move J by any amount
	}
	c := (1 - o.Beta1) * (1 - o.Beta2) / (1 - o.Beta1*o.Beta2)
	for a, h := range gain {
		v, moves := l.noise.At(a, a), math.Abs(h*mat.Dot(l.q.RowView(a), along))
		if v > 0 && moves > 0 {
			force := v / o.Epsilon
			if skew := c * math.Sqrt(kurtoses[a]-1) * v * h / 2; skew < force { // a kurtosis may be NaN
				force = skew
			}
			size += moves * force
		}
	}
	return size
}
