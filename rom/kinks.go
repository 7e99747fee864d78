package rom

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"grposim/option"
	"grposim/fp"
	"grposim/rom/linear"
	"grposim/rom/scope"
	"grposim/rom/weight"
)

const (
	// Displacements over which is averaged, in pairs ±y: a probability p is found with the relative error √(2/(1024p)).
	// With a largest norm, where the mean over groups leaves
	// kinks that are weak, 256 are enough.
	kinkPoints, leastKinkPoints = 1024, 256

	kinkPhases = 32  // phases of a refresh period of which the law is taken, evenly spread
	kinkRounds = 3   // laws that are computed anew, see the table in docs/theory-neglected.md §6.6
	kinkState  = 250 // entries of the largest state whose law is computed with equal arms taken apart, about a second
)

// kinks holds a force that has kinks and its smooth continuation: weights that are the ratio everywhere, and the groups
// cut that are cut at the fixed point.
type kinks struct {
	*linearization
	smooth *linearization // with the model of the continuation
	gain   *mat.Dense     // of Adam, on reduced forces; nil: 1
	points [][]float64    // 2n standard normal numbers each
}

// newKinks returns nil where there is no kink, and on-policy, where far finds what the largest norm changes. gap is the
// largest variance of a difference of two logits.
func (l *linearization) newKinks(m *motion, gap float64) *kinks {
	_, _, banded := weight.Bands(&l.Importance, 1)
	banded = banded && math.Log1p(weight.Range(&l.Importance)) < 12*math.Sqrt(gap) // six deviations of a log ratio, which are at most 2√gap
	l.model.set(l.logits, l.logits)
	if linear.NewLag(&l.Lag).OnPolicy() || !banded && !l.model.limited() {
		return nil
	}
	smooth, params, n := *l, l.Params, m.Whole.Dim()
	if banded {
		params.Importance = option.Importance{Mode: option.Ratio}
	}
	smooth.model = newModel(&params)
	smooth.model.set(l.logits, l.logits)
	smooth.model.holdCuts()
	k := &kinks{linearization: l, smooth: &smooth}
	if m.gain != nil {
		k.gain = linear.Within(l.q, mat.NewDiagDense(len(m.gain), m.gain))
	}
	points := kinkPoints
	if l.model.limited() {
		points = leastKinkPoints
	}
	k.points = normalPoints(points/2, 2*n)
	return k
}

// normalPoints returns pairs ±y of points that are spread evenly over the standard normal density of a dimension: of point
// i = 1, 2 … the probabilities are the fractional parts of ½ + i/φ^j, φ the root of φ^{d+1} = φ + 1 (the golden ratio for d = 1,
// after M. Roberts).
func normalPoints(pairs, dimension int) (points [][]float64) {
	phi := 2.0
	for range 64 {
		phi = fp.Pow(1+phi, 1/float64(dimension+1))
	}
	for i := range pairs {
		plus, minus := make([]float64, dimension), make([]float64, dimension)
		for j := range plus {
			_, u := math.Modf(0.5 + float64(i+1)*fp.Pow(phi, -float64(j+1)))
			plus[j] = math.Sqrt2 * math.Erfinv(2*u-1)
			minus[j] = -plus[j]
		}
		points = append(points, plus, minus)
	}
	return points
}

// roots returns the symmetric root of the covariance of (x, x_old) by phase; nil where one is not finite.
func roots(law *linear.Law) (all []*mat.Dense) {
	every := (law.Lag.Period() + kinkPhases - 1) / kinkPhases
	for phase, joint := range law.Phases {
		if phase%every != every/2 {
			continue
		}
		size, _ := joint.Dims()
		if !linear.Finite(joint) {
			return nil
		}
		lengths, vectors := linear.Axes(mat.NewSymDense(size, joint.RawMatrix().Data))
		if lengths == nil {
			return nil
		}
		var half, root mat.Dense
		for i, v := range lengths {
			lengths[i] = math.Sqrt(max(v, 0))
		}
		half.Mul(vectors, mat.NewDiagDense(size, lengths))
		root.Mul(&half, vectors.T())
		all = append(all, &root)
	}
	return all
}

// averages are means over a law: of what the kinks change, in reduced coordinates, of J, and of the share of groups
// with equal rewards.
type averages struct {
	force         *mat.VecDense
	response      [2]*mat.Dense // of −Δg to x and to x_old
	noise         *mat.Dense    // ΔCov g
	even          *mat.Dense    // covariance of the part of Δg that is even in the displacement
	reward, equal float64
}

// over returns the averages over a law about mean. The linear force az that is nearest to Δg in mean square, z = (x, x − x_old), has
// a = ⟨Δg zᵀ⟩⟨zzᵀ⟩⁻¹, the mean derivative of Δg where the law is normal (Stein's identity).
func (k *kinks) over(law *linear.Law, mean *mat.VecDense) *averages {
	n, roots := mean.Len(), roots(law)
	if roots == nil {
		return nil
	}
	square := func() *mat.Dense { return mat.NewDense(n, n, nil) }
	d := &averages{force: mat.NewVecDense(n, nil), response: [2]*mat.Dense{square(), square()}, noise: square(), even: square()}
	squares, products, pair := mat.NewDense(2*n, 2*n, nil), mat.NewDense(2*n, n, nil), mat.NewVecDense(n, nil)
	w := 1 / float64(len(k.points))
	for i, point := range k.points {
		var at mat.VecDense
		at.MulVec(roots[i/2%len(roots)], mat.NewVecDense(2*n, point))
		y, z := at.RawVector().Data, mat.NewVecDense(2*n, nil)
		for j := range n {
			z.SetVec(j, y[j])
			z.SetVec(n+j, y[j]-y[n+j])
			y[j] += mean.AtVec(j)
			y[n+j] += mean.AtVec(j)
		}
		d.reward += w * k.model.expected(k.displaced(y[:n]))
		softmax(k.model.now.probs, k.displaced(y[n:]))
		d.equal += w * k.model.law.EqualRewards(k.model.now.probs)
		g := mat.NewVecDense(n, k.difference(y, w, d.noise))
		squares.RankOne(squares, w, z, z)
		products.RankOne(products, w, z, g)
		pair.AddScaledVec(pair, 0.5, g)
		if i%2 == 1 {
			d.even.RankOne(d.even, 2*w, pair, pair)
			d.force.AddScaledVec(d.force, 2*w, pair)
			pair.Zero()
		}
	}
	d.even.RankOne(d.even, -1, d.force, d.force)
	a := nearest(squares, products)
	for i := range n {
		for j := range n {
			d.response[0].Set(i, j, -a.At(j, i)-a.At(n+j, i))
			d.response[1].Set(i, j, a.At(n+j, i))
		}
	}
	if k.gain != nil {
		d.force.MulVec(k.gain, mat.VecDenseCopyOf(d.force))
		for _, x := range d.response {
			x.Mul(k.gain, mat.DenseCopyOf(x))
		}
		d.noise, d.even = linear.Congruence(k.gain, d.noise), linear.Congruence(k.gain, d.even)
	}
	return d
}

// difference returns Δg at the displacement y and adds w times ΔCov g to noise.
func (k *kinks) difference(y []float64, w float64, noise *mat.Dense) []float64 {
	n := len(y) / 2
	theta, past := k.displaced(y[:n]), k.displaced(y[n:])
	k.model.set(theta, past)
	other := k.smooth.model
	other.set(theta, past)
	if !other.limited() && slices.Equal(k.model.Up, other.Up) && slices.Equal(k.model.Down, other.Down) {
		return make([]float64, n)
	}
	smooth, spread := k.smooth.forceHere(), k.smooth.noiseHere()
	floats.AddScaled(noise.RawMatrix().Data, w, k.noiseHere())
	floats.AddScaled(noise.RawMatrix().Data, -w, spread)
	force := k.forceHere()
	floats.Sub(force, smooth)
	return force
}

// nearest solves squares·a = products, where coordinates may not vary, or vary alike.
func nearest(squares, products *mat.Dense) *mat.Dense {
	n, _ := squares.Dims()
	units := mat.NewDiagDense(n, nil)
	for i := range n {
		if v := squares.At(i, i); v > 0 {
			units.SetDiag(i, 1/math.Sqrt(v))
		}
	}
	scaled := linear.Within(mat.DenseCopyOf(units), squares)
	for i := range n {
		scaled.Set(i, i, scaled.At(i, i)+1e-12) // above the rounding of correlations
	}
	var right, a mat.Dense
	right.Mul(units, products)
	_ = a.Solve(scaled, &right) // fails where a number is not finite, and then a is not
	a.Mul(units, mat.DenseCopyOf(&a))
	return &a
}

// kinkNeglect returns what linear theory and its second order leave out because noise takes the policy across kinks
// of the force: bounds of weights and the largest norm off-policy, and ties (docs/theory-neglected.md §6.6). It is
// the difference of two computations, by statistical linearisation: Δg, what the force has beside its smooth
// continuation, is replaced by the linear force that is nearest in mean square over the stationary law, and its
// noise by the mean over that law. With the stiffness and the noise
//
//	Λ_f − ⟨∂Δg/∂x⟩,   Λ_s − ⟨∂Δg/∂x_old⟩,   Cov g + ⟨ΔCov g⟩
//
// about a fixed point displaced by Λ⁻¹⟨Δg⟩ the law is another one, from which the averages are computed anew.
//
// What remains of Δg is a further force. Its part that is even in the displacement neither restores nor drives. Var J
// has its static response Λ⁻¹⟨Δg Δgᵀ⟩Λ⁻ᵀ as far as it lasts: the share ϱT/(1 + ϱT), ϱ the relaxation rate, T half of the mean age of a
// snapshot where ratios leave their bounds, which stay there until a refresh, and else half a relaxation time.
//
// Nothing is known of so many equal arms that the law of all apart takes long. Another attractor within reach of the noise, which
// a clip can make, is escape's to find: means 0.9 and 0.2, std scale, β = 1.2, G = 64, η = 2.4, blocks of 2, clip 0.4 have
// Var J = 1.1e-3 by linear theory and by the average over its law, and 2.3e-3 in simulation. gap is the
// largest variance of a difference of two logits.
func (l *linearization) kinkNeglect(m *motion, law *linear.Law, gap float64) (neglected scope.Sizes) {
	k := l.newKinks(m, gap)
	if k == nil {
		return neglected
	}
	if len(l.relatives) > 0 {
		if size, _ := law.A.Dims(); size/m.Whole.Dim()*(len(l.class)-1) > kinkState {
			return scope.Unknown
		}
		apart := *l.apart()
		apart.Optimizer, apart.Lag = l.Optimizer, l.Lag
		if whole := apart.newMotion(m.Whole.Method, m.Whole.Rate, m.Whole.Momentum, nil); whole != nil {
			if all, ok := whole.Whole.Law(); ok {
				return apart.kinkNeglect(whole, &all, gap)
			}
		}
		return scope.Unknown
	}
	gradient := l.rewardGradient()
	variance := linear.Form(gradient, law.TimeAverage(), gradient)
	own := multipliersAlone(m.Dynamics)
	first := k.over(law, mat.NewVecDense(m.Whole.Dim(), nil))
	d := first
	for round := range kinkRounds {
		if d == nil {
			return scope.Unknown
		}
		var fresh, stale, noise, total, still, static mat.Dense
		var shift mat.VecDense
		fresh.Add(m.Whole.Fresh, d.response[0])
		stale.Add(m.Whole.Stale, d.response[1])
		noise.Add(m.Whole.Noise, d.noise)
		total.Add(&fresh, &stale)
		whole := *m.Whole
		whole.Fresh, whole.Stale, whole.Noise = &fresh, &stale, &noise
		next, ok := whole.Law()
		if !ok || shift.SolveVec(&total, d.force) != nil {
			return scope.Unknown
		}
		if d = k.over(&next, &shift); d == nil || still.Solve(&total, d.even) != nil || static.Solve(&total, still.T()) != nil {
			return scope.Unknown
		}
		steeper, lasts := multipliersAlone(m.Replaced(&whole)), 0.5
		if !l.model.limited() && steeper.RelaxationRate != nil {
			lasts = *steeper.RelaxationRate * whole.Lag.Age(linear.MeanAge) / 2
		}
		change := linear.Form(gradient, next.TimeAverage(), gradient) - variance
		if round < kinkRounds-2 { // the law may swing about its end
			continue
		}
		neglected = neglected.Max(scope.Sizes{
			RewardMean:     math.Abs(d.reward - first.reward),
			RewardVariance: math.Abs(change) + lasts/(1+lasts)*max(linear.Form(gradient, &static, gradient), 0),
			ZeroVariance:   math.Abs(d.equal - first.equal),
			RelaxationRate: distanceOf(own.RelaxationRate, steeper.RelaxationRate),
			DampingRatio:   distanceOf(own.DampingRatio, steeper.DampingRatio),
		})
	}
	return neglected
}

// distanceOf returns |x − y|: 0 where there is no x, and +Inf where there is no y.
func distanceOf(x, y *float64) float64 {
	switch {
	case x == nil:
		return 0
	case y == nil:
		return math.Inf(1)
	}
	return math.Abs(*x - *y)
}
