package rest

import (
	"math"

	"grposim/fp"
	"grposim/rom/cell"
	"grposim/rom/linear"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/mat"
)

// zeroVariance adds to prediction the mean of EqualRewards over the stationary law of the snapshot,
// and what it neglects. shift and sigma are mean and covariance of x_old, laws those of
// the relative modes. relative is the size of the next order beside each effect of this one, and
// unshifted that of the mean in standard deviations.
//
// P_v^G is far from linear, but depends on x_old mostly through d·x_old with d = ∇ log P_v. Along
// that direction x_old is taken as normal. Across it the mean is taken to second order in the
// deviation.
func (l *linearization) zeroVariance(
	prediction *Prediction, higher *scope.Sizes, shift []float64, law *linear.Law, laws []linear.Law,
	relative, unshifted float64) {
	m, n, sigma := l.model, len(shift), law.Snapshot()
	// where rewards, KL included, are equal at the fixed point, rounding decides whether they count as
	// equal
	if m.KL.OfReward() {
		m.Set(l.logits, l.logits)
		if m.Equalled() {
			prediction.Moments.Because = scope.NoNumber.Because("share of groups with equal rewards")
			return
		}
	}
	h := m.DifferenceStep()
	probs, logits, x := make([]float64, len(l.logits)), make([]float64, len(l.logits)),
		make([]float64, n)
	at := func(x []float64, v int) float64 {
		l.displace(logits, x)
		cell.Softmax(probs, logits)
		return m.Law.Value(probs, v)
	}
	along := func(v int, from, direction []float64, s float64) float64 {
		for k := range x {
			x[k] = from[k] + s*direction[k]
		}
		return fp.Pow(at(x, v), m.Size)
	}
	bend := func(f func(s float64) float64) float64 { return (f(h) - 2*f(0) + f(-h)) / (h * h) }
	origin := make([]float64, n)
	total, missing, still := 0.0, 0.0, 0.0
	cell.Softmax(probs, l.displaced(origin))
	for v, p := range m.Law.Values(probs) {
		if p == 0 {
			continue
		}
		slope := make([]float64, n) // ∇ log P_v
		clear(x)
		for k := range n {
			x[k] = h
			above := at(x, v)
			x[k] = -h
			slope[k], x[k] = math.Log(above/at(x, v))/(2*h), 0
		}
		fixed := fp.Pow(p, m.Size)
		still += fixed
		variance := linear.Form(slope, sigma, slope)
		if !(variance > 0) {
			total += fixed
			continue
		}
		// x_old moves by Σd/√(dᵀΣd) with a unit of u.
		var moved mat.VecDense
		moved.MulVec(sigma, mat.NewVecDense(n, slope))
		moved.ScaleVec(1/math.Sqrt(variance), &moved)
		direction := moved.RawVector().Data
		first := 0.0
		weight := overNormal(func(u, w float64) { first += w * along(v, shift, direction, u) })
		first /= weight
		across := -0.5 * bend(func(s float64) float64 { return along(v, origin, direction, s) })
		values, axes, _ := linear.Eigenvectors(sigma)
		for k, x := range values {
			across += 0.5 * x * bend(
				func(s float64) float64 { return along(v, origin, mat.Col(nil, k, axes), s) })
		}
		if n == 1 {
			across = 0
		}
		for i := range l.relatives {
			x := &l.relatives[i]
			across += 0.5 * float64(x.Multiplicity) * laws[i].Snapshot().At(0, 0) * bend(func(s float64) float64 {
				return fp.Pow(x.split.Law.Values(cell.PolicyAt(x.displaced(s)))[v], m.Size)
			})
		}
		total += first + across
		// The next order, as relative error of every effect of this one.
		shifted := along(v, shift, direction, 0)
		missing += (math.Abs(shifted-fixed)+math.Abs(first-shifted)+math.Abs(across))*relative +
			across*across/first +
			first*m.Size*math.Sqrt(variance)*unshifted
	}
	total, still, missing = total/m.Law.Prompts(), still/m.Law.Prompts(), missing/m.Law.Prompts()
	total = min(max(total, 0), 1)
	prediction.Moments.ZeroVariance, prediction.Moments.ZeroVarianceShift = &total, new(total-still)
	higher.ZeroVariance = missing
}

// overNormal visits the points u of the trapezoidal rule on the standard normal density, with
// their weights, and returns the sum of these. The rule converges faster than any power of its
// step; a probability of 2e-17 lies beyond 8.5σ.
func overNormal(visit func(u, w float64)) (weight float64) {
	const points, width = 200, 8.5
	for i := range points + 1 {
		u := width * (2*float64(i)/points - 1)
		w := fp.MathExp(-0.5 * u * u)
		weight += w
		visit(u, w)
	}
	return weight
}
