package rom

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// lyapunov solves X = A X Aᵀ + Q for a stable A and a symmetric Q by doubling:
// X ← X + A X Aᵀ, A ← A², which after k rounds holds 2^k terms of the series
// Σ A^i Q A^iᵀ. ok is false where the series does not converge or the residual
// ‖X − A X Aᵀ − Q‖ exceeds 1e-9 ‖X‖.
func lyapunov(a, q *mat.Dense) (x *mat.Dense, ok bool) {
	n, _ := a.Dims()
	x = mat.DenseCopyOf(q)
	factor := mat.DenseCopyOf(a)
	largest := func(m *mat.Dense) float64 { return norm(m.RawMatrix().Data) }
	for range 64 {
		more := congruence(factor, x)
		x.Add(x, more)
		if !finite(x) {
			return nil, false
		}
		if largest(more) <= 1e-17*largest(x) {
			break
		}
		var next mat.Dense
		next.Mul(factor, factor)
		factor = &next
	}
	// Symmetric by construction but for rounding.
	for i := range n {
		for j := range i {
			v := 0.5 * (x.At(i, j) + x.At(j, i))
			x.Set(i, j, v)
			x.Set(j, i, v)
		}
	}
	residual := congruence(a, x)
	residual.Add(residual, q)
	residual.Sub(x, residual)
	miss := largest(residual)
	return x, !math.IsNaN(miss) && miss <= 1e-9*largest(x)
}

// congruence returns A X Aᵀ.
func congruence(a, x *mat.Dense) *mat.Dense {
	var left, out mat.Dense
	left.Mul(a, x)
	out.Mul(&left, a.T())
	return &out
}

// stationary is the linear stationary law: covariances of (x, x_old), 2n×2n,
// in the phases of a refresh period (steps since the refresh; a single one with
// a delay). ok is false where there is no stationary law.
func (l *linear) stationary() (phases []*mat.Dense, ok bool) {
	n := l.dim()
	a, gamma := l.step()
	q := congruence(gamma, l.noise)
	size, _ := a.Dims()
	if l.lag.Kind == Delay {
		x, ok := lyapunov(a, q)
		if !ok {
			return nil, false
		}
		old := 1 + l.lag.Age
		if l.lag.Age == 0 {
			old = 0
		}
		return []*mat.Dense{pick(x, n, old)}, true
	}
	// Noise gathered through a block, W_K = Σ_{j<K} A^j Q A^jᵀ.
	gathered := mat.NewDense(size, size, nil)
	for range l.lag.Age {
		gathered = congruence(a, gathered)
		gathered.Add(gathered, q)
	}
	sigma, ok := lyapunov(l.period(), mat.DenseCopyOf(gathered.Slice(0, 2*n, 0, 2*n)))
	if !ok {
		return nil, false
	}
	state := mat.NewDense(size, size, nil)
	for i := range size {
		for j := range size {
			state.Set(i, j, sigma.At(i%(2*n), j%(2*n)))
		}
	}
	for range l.lag.Age {
		phases = append(phases, pick(state, n, 2))
		state = congruence(a, state)
		state.Add(state, q)
	}
	return phases, true
}

// pick returns the covariance of the state's first block and its block old.
func pick(x *mat.Dense, n, old int) *mat.Dense {
	out := mat.NewDense(2*n, 2*n, nil)
	at := func(i int) int {
		if i < n {
			return i
		}
		return old*n + i - n
	}
	for i := range 2 * n {
		for j := range 2 * n {
			out.Set(i, j, x.At(at(i), at(j)))
		}
	}
	return out
}

// timeAverage returns the covariance of x averaged over the phases, n×n.
func timeAverage(phases []*mat.Dense, n int) *mat.Dense {
	sum := mat.NewDense(n, n, nil)
	for _, p := range phases {
		sum.Add(sum, p.Slice(0, n, 0, n))
	}
	sum.Scale(1/float64(len(phases)), sum)
	return sum
}
