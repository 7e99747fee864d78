package rom

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// This file has the force of two arms whose gradient is scaled to a largest norm c
// (docs/theory.md §11.6). The components of a gradient add to 0, so that its norm is √2|g_1|
// and the force of a step is g_1 cut to [−c/√2, c/√2].

// maxLimited is the largest group whose cut force is summed over the numbers of successes and
// failures of the first arm, which takes about a millisecond there.
const maxLimited = 256

// cutForce returns the bound c/√2 of |g_1| where the largest norm c may act on a finite group
// and the law of the cut force is known, else 0. That is so for two arms with rewards of
// two values and one group a step, all of which count.
func (p *Params) cutForce() float64 {
	success, _ := twoValued(p.Arms)
	switch {
	case p.Optimizer.MaxNorm == 0 || p.GroupSize == Infinite || p.Weighting == Unweighted && p.withinNorm():
	case len(p.Arms) != 2 || success == nil || p.Groups != 1 || p.GroupSize > maxLimited:
	case p.Filter == Drop || p.Baseline == RunningMean || p.shifted() || len(p.Prompts.First) > 0 || p.Samples == Reused:
	default:
		return p.Optimizer.MaxNorm / math.Sqrt2
	}
	return 0
}

// limited reports whether the force is cut. Two equal arms that are merged exert none.
func (m *model) limited() bool { return m.cut > 0 && len(m.Arms) == 2 }

// groupForce holds the coefficients of the force on the first arm of a group with s_a
// successes and f_a failures of arm a,
//
//	g_1 = u⁺ Σ_a success_a s_a + u⁻ Σ_a failure_a f_a + Σ_a arm_a (s_a + f_a) + fixed
//
// with g_1 = π_0c_1 − π_1c_0 of c^R and c^K (docs/theory.md §2).
type groupForce struct {
	success, failure, arm [2]float64
	fixed                 float64 // of the exact KL gradient and the entropy bonus
}

// groupForce returns the coefficients at the logits given to set.
func (m *model) groupForce() *groupForce {
	var f groupForce
	now, at := &m.now, m.anchor()
	for a, sign := range [2]float64{1, -1} {
		share := sign * now.probs[1-a] / m.size
		f.success[a], f.failure[a] = m.up[a]*share, m.down[a]*share
		f.arm[a] = -sign * m.Strength * m.kappa[a] * at.probs[1-a] / m.size
	}
	if m.Placement == InLoss && m.KLEstimator == ExactKL {
		f.fixed -= m.Strength * at.probs[0] * at.probs[1] * (at.logs[0] - m.reference[0] - at.logs[1] + m.reference[1])
	}
	l, _ := m.uncertainty()
	f.fixed -= m.Entropy * now.probs[0] * now.probs[1] * (l[0] - l[1])
	return &f
}

// line returns g_1 = base + s_1·success + f_1·failure of a group of s successes, with the
// advantages up and down.
func (f *groupForce) line(size, s int, up, down float64) (base, success, failure float64) {
	failures := float64(size - s)
	base = f.fixed + float64(s)*(up*f.success[1]+f.arm[1]) + failures*(down*f.failure[1]+f.arm[1])
	return base, up*(f.success[0]-f.success[1]) + f.arm[0] - f.arm[1], down*(f.failure[0]-f.failure[1]) + f.arm[0] - f.arm[1]
}

// freeze makes the model cut, until the returned function is called, those groups alone that
// the logits now set cut: their force is then a smooth function of the logits, with the
// derivatives that the force has here.
func (m *model) freeze() (back func()) {
	old := m.frozen
	if m.limited() {
		m.frozen = m.groupForce()
	}
	return func() { m.frozen = old }
}

// cutMoments returns the mean, the variance and the third cumulant of the cut g_1 of one
// group, exactly: sums over the numbers of successes, of those of the first arm and of the
// failures of the first arm, which given the first are independent and binomial (docs/theory.md §2).
func (m *model) cutMoments() (mean, variance, third float64) {
	j, rest := chances(m.past.probs, m.success)
	alpha, delta := m.x, m.y
	m.outcomes(alpha, delta, j, rest)
	alphas, deltas := [2]float64{alpha[0], alpha[1]}, [2]float64{delta[0], delta[1]}
	now := m.groupForce()
	first, stride, counts := m.successes(j, rest)
	var sums [3]float64
	for i, chance := range counts {
		s := first + i*stride
		up, down := m.advantages(s)
		base, bySuccess, byFailure := now.line(m.GroupSize, s, up, down)
		at, atSuccess, atFailure := base, bySuccess, byFailure // where the cut is decided
		if m.frozen != nil {
			at, atSuccess, atFailure = m.frozen.line(m.GroupSize, s, up, down)
		}
		var firstSuccess, firstFailure int
		firstSuccess, _, m.inner[0] = binomial(s, alphas[0], alphas[1], m.inner[0])
		firstFailure, _, m.inner[1] = binomial(m.GroupSize-s, deltas[0], deltas[1], m.inner[1])
		for k, p := range m.inner[0] {
			n := float64(firstSuccess + k)
			g, where, p := base+n*bySuccess, at+n*atSuccess, chance*p
			for l, q := range m.inner[1] {
				n := float64(firstFailure + l)
				x, decides, w := g+n*byFailure, where+n*atFailure, p*q
				if decides > m.cut {
					x = m.cut
				} else if decides < -m.cut {
					x = -m.cut
				}
				sums[0] += w * x
				sums[1] += w * x * x
				sums[2] += w * x * x * x
			}
		}
	}
	mean = sums[0]
	return mean, max(sums[1]-mean*mean, 0), sums[2] - 3*mean*sums[1] + 2*mean*mean*mean
}

// limitNodes are the numbers of standard deviations at which limitNeglect evaluates the force
// along each axis, with a distance of limitStep.
const limitStep, limitNodes = 0.5, 17

// limitNeglect returns what linear theory and its second order neglect where the noise takes
// groups across the largest norm, which is a kink of their force; zero without one. Over the
// stationary law of y = (x, x_old) the force and the noise differ from those in which the same
// groups are cut as at the fixed point by Δf and ΔD. E Δf displaces the fixed point, the slope
// of the linear regression of Δf on y changes the stiffness and E ΔD the noise; Var J
// with and without the last two differs by what is neglected of it.
func (l *linearization) limitNeglect(m *linearDynamics, law *stationary) Neglected {
	if !l.model.limited() {
		return Neglected{}
	}
	unknown := Neglected{RewardMean: math.MaxFloat64, RewardVariance: math.MaxFloat64, ZeroVariance: math.MaxFloat64}
	gradient := l.rewardGradient()
	variance := form(gradient, law.timeAverage(), gradient)
	var neglected Neglected
	current := law
	for range 2 { // the second time over the law that the first gives
		push, fresh, stale, noise := l.acrossLimit(current)
		linear := *m.whole
		linear.fresh, linear.stale, linear.noise = mat.DenseCopyOf(m.whole.fresh), mat.DenseCopyOf(m.whole.stale), mat.DenseCopyOf(m.whole.noise)
		total := linear.fresh.At(0, 0) + linear.stale.At(0, 0)
		linear.fresh.Set(0, 0, linear.fresh.At(0, 0)+fresh)
		linear.stale.Set(0, 0, linear.stale.At(0, 0)+stale)
		linear.noise.Set(0, 0, linear.noise.At(0, 0)+noise)
		next, ok := linear.stationary()
		if !ok {
			return unknown
		}
		shift, spread := push/total, math.Sqrt(law.timeAverage().At(0, 0))
		change := math.Abs(form(gradient, next.timeAverage(), gradient) - variance)
		equal := func(x float64) float64 { return l.equalRewardsAt([]float64{x}, 1) }
		size := spread
		if variance > 0 {
			size *= math.Sqrt(change / variance)
		}
		more := Neglected{math.Abs(gradient[0] * shift), change, math.Abs(equal(shift)-equal(0)) + math.Abs((equal(size)+equal(-size))/2-equal(0))}
		if !isFinite([]float64{more.RewardMean, more.RewardVariance, more.ZeroVariance}) {
			return unknown
		}
		neglected.include(more)
		current = &next
	}
	return neglected
}

// acrossLimit returns E Δf, minus the slopes of Δf on x and on x_old, and E ΔD (see
// limitNeglect) under a stationary law averaged over the phases, of one reduced coordinate.
func (l *linearization) acrossLimit(law *stationary) (push, fresh, stale, noise float64) {
	joint, phases := mat.NewSymDense(2, nil), 0.0
	law.phases(func(phase *mat.Dense) {
		for i := range 2 {
			for k := i; k < 2; k++ {
				joint.SetSym(i, k, joint.At(i, k)+phase.At(i, k))
			}
		}
		phases++
	})
	joint.ScaleSym(1/phases, joint)
	var eigen mat.EigenSym
	if !eigen.Factorize(joint, true) {
		return math.NaN(), 0, 0, 0
	}
	var axes mat.Dense
	eigen.VectorsTo(&axes)
	values := eigen.Values(nil)
	m := l.model
	m.set(l.logits, l.logits)
	m.freeze()
	frozen := m.frozen
	defer func() { m.frozen = nil }()
	// x = θ along (1, −1)/√2: the reduced force is q·g = ±√2 g_1, its variance twice that of g_1.
	along := l.q.At(0, 0) - l.q.At(1, 0)
	nodes := [2][]float64{{0}, {0}}
	for i, v := range values {
		if v > flatAxis*values[1] {
			nodes[i] = nil
			for k := range limitNodes {
				nodes[i] = append(nodes[i], limitStep*float64(k-limitNodes/2))
			}
		}
	}
	var lean [2]float64
	sum := 0.0
	y := make([]float64, 2)
	for _, a := range nodes[0] {
		for _, b := range nodes[1] {
			w := math.Exp(-(a*a + b*b) / 2)
			sum += w
			for i := range y {
				y[i] = a*math.Sqrt(max(values[0], 0))*axes.At(i, 0) + b*math.Sqrt(max(values[1], 0))*axes.At(i, 1)
			}
			m.set(l.displaced(y[:1]), l.displaced(y[1:]))
			m.frozen = nil
			mean, variance, _ := m.cutMoments()
			m.frozen = frozen
			smooth, smoothVariance, _ := m.cutMoments()
			f := along * (mean - smooth) * m.Factors.Stiffness
			push += w * f
			lean[0] += w * a * f
			lean[1] += w * b * f
			noise += w * along * along * (variance - smoothVariance) * m.Factors.Noise
		}
	}
	for i, v := range values {
		if len(nodes[i]) > 1 {
			slope := lean[i] / sum / math.Sqrt(v)
			fresh -= slope * axes.At(0, i)
			stale -= slope * axes.At(1, i)
		}
	}
	return push / sum, fresh, stale, noise / sum
}

// flatAxis is the variance along an axis of a law, in units of the largest, below which it
// counts as 0.
const flatAxis = 1e-9
