package rom

import (
	"math"
	"math/cmplx"

	"grposim/option"

	"gonum.org/v1/gonum/mat"
)

// linear is the recursion of small displacements x from a fixed point
// (docs/theory.md §5) in n reduced coordinates, an orthonormal basis of the centred
// logits:
//
//	g_t = −Λ_f x_t − Λ_s x_old + ξ_t,   Cov ξ = noise
//	heavy ball  v′ = μv + g,  x′ = x + ηv′
//	Nesterov    v′ = μv + g,  x′ = x + η(g + μv′)
//
// With random ages x_old is the mean Σ p_j x_{t−j} over their law, and ξ includes the age
// noise: see ageNoise.
type linear struct {
	fresh, stale *mat.Dense    // Λ_f and Λ_s, n×n
	noise        *mat.Dense    // Cov ξ, n×n
	method       option.Method // heavy ball or Nesterov
	rate         float64       // η > 0
	momentum     float64       // μ within [0, 1)
	lag          option.Lag
	ageDraws     int            // independent ages of a step, see Params.ageDraws
	samples      option.Samples // Reused: ξ is the same in all steps of a block
}

// dim returns n.
func (l *linear) dim() int {
	n, _ := l.fresh.Dims()
	return n
}

// stepGains returns the coefficients a of the force and b of the velocity in the step of
// x, x′ = x + η(a g + b v): a = 1, b = μ for the heavy ball and a = 1+μ, b = μ²
// for Nesterov.
func stepGains(method option.Method, momentum float64) (force, velocity float64) {
	if method == option.Nesterov {
		return 1 + momentum, momentum * momentum
	}
	return 1, momentum
}

// memory returns the number of past positions in the state, besides (x, v): 1 + d for a
// block (those of the last 1 + d refreshes), τ for a delay (x_{t−1}, …, x_{t−τ}), S for
// random ages up to S, and 1 for a geometric law (y_{t−1} with y_t = (1−r)x_t + ry_{t−1}).
func (l *linear) memory() int {
	switch {
	case l.lag.Kind == option.Block:
		return 1 + l.lag.Behind
	case l.lag.Kind == option.Delay:
		return l.lag.Interval
	case l.lag.Ages.Law == option.GeometricAges:
		return 1
	}
	return int((*ageLaw)(&l.lag.Ages).oldest())
}

// old returns the weights of the blocks of the state, (x, v, past positions), in x_old.
func (l *linear) old() []float64 {
	weights := make([]float64, 2+l.memory())
	switch {
	case l.lag.Kind == option.Delay && l.lag.Interval == 0:
		weights[0] = 1
	case l.lag.Kind != option.Random:
		weights[len(weights)-1] = 1
	case l.lag.Ages.Law == option.GeometricAges:
		weights[2] = (*ageLaw)(&l.lag.Ages).ratio()
		weights[0] = 1 - weights[2]
	default:
		p := (*ageLaw)(&l.lag.Ages).probabilities()
		weights[0] = p[0]
		copy(weights[2:], p[1:])
	}
	return weights
}

// step returns the matrix A of one optimizer step, s′ = A s + Γ ξ, and Γ. The state s
// is (x, v, past positions): inside a block the newest of them first and x_old last, with a
// delay or random ages (x_t, v_t, x_{t−1}, …), where A is the companion matrix. See memory.
func (l *linear) step() (a, gamma *mat.Dense) {
	n := l.dim()
	force, velocity := stepGains(l.method, l.momentum)
	old := l.old()
	size := n * (2 + l.memory())
	a = mat.NewDense(size, size, nil)
	gamma = mat.NewDense(size, n, nil)
	add := func(row, column int, v float64) { a.Set(row, column, a.At(row, column)+v) }
	for i := range n {
		for j := range n {
			f, s := l.fresh.At(i, j), l.stale.At(i, j)
			add(i, j, -l.rate*force*f)
			add(n+i, j, -f)
			for k, weight := range old {
				if weight != 0 {
					add(i, k*n+j, -l.rate*force*(weight*s))
					add(n+i, k*n+j, -(weight * s))
				}
			}
		}
		add(i, i, 1)
		add(i, n+i, l.rate*velocity)
		add(n+i, n+i, l.momentum)
		gamma.Set(i, i, l.rate*force)
		gamma.Set(n+i, i, 1)
		for k := range l.memory() {
			switch {
			case l.lag.Kind == option.Block:
				add((2+k)*n+i, (2+k)*n+i, 1)
			case l.lag.Kind == option.Random && l.lag.Ages.Law == option.GeometricAges:
				add(2*n+i, i, old[0])
				add(2*n+i, 2*n+i, old[2])
			case k == 0:
				add(2*n+i, i, 1)
			default:
				add((2+k)*n+i, (1+k)*n+i, 1)
			}
		}
	}
	return a, gamma
}

// monodromy returns the monodromy matrix, whose eigenvalues are the multipliers: the
// map of one refresh period on (x, v) and d past snapshots, M = P A^K E, or the companion
// matrix without a block.
func (l *linear) monodromy() *mat.Dense {
	a, _ := l.step()
	if l.lag.Kind != option.Block {
		return a
	}
	return l.refresh(power(a, l.lag.Interval))
}

// refresh returns P M E of a map M on the state inside a block: E copies x into the newest
// snapshot and moves the others back, P drops the oldest.
func (l *linear) refresh(m *mat.Dense) *mat.Dense {
	size, _ := m.Dims()
	free := size - l.dim()
	out := mat.NewDense(free, free, nil)
	for i := range free {
		for j := range size {
			at := l.beforeRefresh(j)
			out.Set(i, at, out.At(i, at)+m.At(i, j))
		}
	}
	return out
}

// beforeRefresh returns the coordinate of the state without its oldest snapshot that a
// refresh moves to coordinate i of the whole state.
func (l *linear) beforeRefresh(i int) int {
	switch n := l.dim(); {
	case i < 2*n:
		return i
	case i < 3*n:
		return i - 2*n
	default:
		return i - n
	}
}

// power returns m^k, k ≥ 0, by repeated squaring.
func power(m *mat.Dense, k int) *mat.Dense {
	n, _ := m.Dims()
	out := identity(n)
	factor := mat.DenseCopyOf(m)
	for ; k > 0; k >>= 1 {
		if k&1 == 1 {
			var next mat.Dense
			next.Mul(out, factor)
			out = &next
		}
		if k > 1 {
			var next mat.Dense
			next.Mul(factor, factor)
			factor = &next
		}
	}
	return out
}

// identity returns the n×n identity matrix.
func identity(n int) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	for i := range n {
		m.Set(i, i, 1)
	}
	return m
}

// finite reports whether every entry of m is finite.
func finite(m *mat.Dense) bool { return isFinite(m.RawMatrix().Data) }

// multipliers returns the eigenvalues of m, sorted by sortMultipliers; nil where m is
// not finite, or where the QR iteration does not converge.
func multipliers(m *mat.Dense) (values []complex128) {
	if !finite(m) {
		return nil
	}
	defer func() {
		if unconverged(recover()) {
			values = nil
		}
	}()
	var e mat.Eigen
	if !e.Factorize(m, mat.EigenNone) {
		return nil
	}
	values = e.Values(nil)
	sortMultipliers(values)
	return values
}

// unconverged reports whether gonum panicked because the QR iteration did not
// converge, given the value recovered (nil: no panic). For the few small matrices
// that do not, its Dhseqr calls Dlaqr04 with a slice of the wrong length. Any other
// panic is raised again.
func unconverged(panicked any) bool {
	switch panicked {
	case nil:
		return false
	case "lapack: bad length of wr":
		return true
	}
	panic(panicked)
}

// radius returns the spectral radius of m: +Inf where m is not finite, as a power of
// a finite matrix can be, and NaN where the QR iteration does not converge.
func radius(m *mat.Dense) float64 {
	if !finite(m) {
		return math.Inf(1)
	}
	values := multipliers(m)
	if values == nil {
		return math.NaN()
	}
	return cmplx.Abs(values[0])
}

// single returns the 1×1 matrix of x.
func single(x float64) *mat.Dense { return mat.NewDense(1, 1, []float64{x}) }
