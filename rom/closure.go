package rom

import (
	"math"
	"slices"

	"grposim/rom/linear"
	"grposim/rom/weight"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// closure says how averages over the law of runs are taken: of the force, its slope, the covariance of the
// noise and an observable. They are taken at a middle and at two points along each axis of the covariance.
type closure struct {
	// reach returns the distance of the points from the middle along an axis with the given standard
	// deviation. Derivatives need least.
	reach func(deviation, least float64) float64
	// about is 1 if the middle is the mean of runs, 0 if it is the mean field. Then the mean of runs
	// moves with the slope there, and the noise is that of the middle.
	about float64
	// held says that a sample whose weight is at a bound in the middle keeps that weight at the points, so
	// that no weight jumps or has a kink between them.
	held bool
	// crossed says that to the mean of a force with held weights each of its jumps is added in the share of the runs beyond its bound.
	crossed bool
	// kicked says that points are at least as far from the middle as one sample of a group that a block uses throughout moves
	// the policies, by kicks. Two points there, with the variance of the law, have the fourth moment of a rare sample.
	kicked bool
	kicks  [][]float64
	// scattered says that the variance of the samples of a step is part of an observable's deviation.
	scattered bool
}

// The closures. The Gaussian one, exact to fourth order along each axis, gives the predicted mean. The strict
// one keeps what is of first order in the variance of the noise, here of a step without momentum,
//
//	E θ = θ̄ + δ,   δ′ = δ + η(Lδ + ½F″Σ),   Σ′ = MΣMᵀ + η²C(θ̄),   E O = O(θ̄) + ∇O δ + ½ tr(∇²O Σ)
//
// with F the mean force, L its slope and M = 1 + ηL. Both are right to this order, so that their distance is of the next.
var (
	gaussian = closure{reach: func(deviation, least float64) float64 { return max(math.Sqrt(3)*deviation, least) }, about: 1, scattered: true}
	held     = closure{reach: gaussian.reach, about: 1, held: true}
	crossed  = closure{reach: gaussian.reach, about: 1, held: true, crossed: true}
	kicked   = closure{reach: gaussian.reach, about: 1, kicked: true}
	strict   = closure{reach: func(_, least float64) float64 { return least }, held: true}
)

// middle returns the displacement from the mean field about which averages are taken, of runs with the given mean.
func (c *closure) middle(mean []float64) []float64 {
	x := slices.Clone(mean)
	floats.Scale(c.about, x)
	return x
}

// points calls centre and pair with the displacements of a rule that is exact for
// polynomials of degree 3 under the normal law with this mean and covariance, and for the Gaussian closure of
// degree 5 along the axes of the covariance: the mean itself, then pairs mean ± r e_i
// along each axis e_i with variance σ_i². The pair's second difference (f₊ + f₋ −
// 2f)/r² has weight ½σ_i² in the mean of f. r is the reach, for the Gaussian closure √3σ_i, and at least least.
func (c *closure) points(mean []float64, cov [][]float64, least float64, centre func(x []float64), pair func(up, down, axis []float64, r, variance float64)) {
	centre(mean)
	d := len(mean)
	symmetric := mat.NewSymDense(d, slices.Concat(cov...))
	variances, axes := linear.Axes(symmetric)
	up, down, axis := make([]float64, d), make([]float64, d), make([]float64, d)
	for i, v := range variances {
		v = max(v, 0)
		r := c.reach(math.Sqrt(v), least)
		mat.Col(axis, i, axes)
		for _, kick := range c.kicks {
			r = max(r, math.Abs(floats.Dot(kick[:d], axis)))
		}
		for k, x := range axis {
			up[k], down[k] = mean[k]+r*x, mean[k]-r*x
		}
		pair(up, down, axis, r, v)
	}
}

// bounded returns a function that gives the samples of arms whose weight is now at a bound, by the sign of the advantage, the
// weight that they have now, and the others the ratio. Weights without bounds stay as they are.
func (m *model) bounded() (hold func()) {
	if _, _, ok := weight.Bands(&m.Importance, 1); !ok {
		return func() {}
	}
	ratio := func(a int) float64 {
		if old := m.past.probs[a]; old > 0 {
			return m.now.probs[a] / old
		}
		return 0
	}
	up, down := slices.Clone(m.Up), slices.Clone(m.Down)
	for a := range up {
		if up[a] == ratio(a) {
			up[a] = math.NaN()
		}
		if down[a] == ratio(a) {
			down[a] = math.NaN()
		}
	}
	return func() {
		for a := range up {
			m.Up[a], m.Down[a] = up[a], down[a]
			if math.IsNaN(up[a]) {
				m.Up[a] = ratio(a)
			}
			if math.IsNaN(down[a]) {
				m.Down[a] = ratio(a)
			}
		}
	}
}
