package rom

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/mat"
)

// linear is the recursion of small displacements x from a fixed point
// (docs/theory.md §5) in n reduced coordinates, an orthonormal basis of the centred
// logits:
//
//	g_t = −Λ_f x_t − Λ_s x_old + ξ_t,   Cov ξ = noise
//	heavy ball  v′ = μv + g,  x′ = x + ηv′
//	Nesterov    v′ = μv + g,  x′ = x + η(g + μv′)
type linear struct {
	fresh, stale *mat.Dense // Λ_f and Λ_s, n×n
	noise        *mat.Dense // Cov ξ, n×n
	method       Method     // heavy ball or Nesterov
	rate         float64    // η > 0
	momentum     float64    // μ within [0, 1)
	lag          Lag
	samples      Samples // Reused: ξ is the same in all steps of a block
}

// dim returns n.
func (l *linear) dim() int {
	n, _ := l.fresh.Dims()
	return n
}

// stepGains returns the coefficients a of the force and b of the velocity in the step of
// x, x′ = x + η(a g + b v): a = 1, b = μ for the heavy ball and a = 1+μ, b = μ²
// for Nesterov.
func stepGains(method Method, momentum float64) (force, velocity float64) {
	if method == Nesterov {
		return 1 + momentum, momentum * momentum
	}
	return 1, momentum
}

// memory returns the number of past positions in the state, besides (x, v):
// 1 for a block (x_old), τ for a delay (x_{t−1}, …, x_{t−τ}).
func (l *linear) memory() int {
	if l.lag.Kind == Block {
		return 1
	}
	return l.lag.Age
}

// step returns the matrix A of one optimizer step, s′ = A s + Γ ξ, and Γ. The state s
// is (x, v, x_old) inside a block and (x_t, v_t, x_{t−1}, …, x_{t−τ}) with a delay,
// where A is the companion matrix.
func (l *linear) step() (a, gamma *mat.Dense) {
	n := l.dim()
	force, velocity := stepGains(l.method, l.momentum)
	old := 1 + l.memory() // the block of the state that holds x_old
	if l.lag.Kind == Delay && l.lag.Age == 0 {
		old = 0
	}
	size := n * (2 + l.memory())
	a = mat.NewDense(size, size, nil)
	gamma = mat.NewDense(size, n, nil)
	add := func(row, column int, v float64) { a.Set(row, column, a.At(row, column)+v) }
	for i := range n {
		for j := range n {
			f, s := l.fresh.At(i, j), l.stale.At(i, j)
			add(i, j, -l.rate*force*f)
			add(i, old*n+j, -l.rate*force*s)
			add(n+i, j, -f)
			add(n+i, old*n+j, -s)
		}
		add(i, i, 1)
		add(i, n+i, l.rate*velocity)
		add(n+i, n+i, l.momentum)
		gamma.Set(i, i, l.rate*force)
		gamma.Set(n+i, i, 1)
		if l.lag.Kind == Block {
			add(2*n+i, 2*n+i, 1)
		}
		for k := range l.memory() {
			if l.lag.Kind == Delay {
				from := 0
				if k > 0 {
					from = 1 + k
				}
				add((2+k)*n+i, from*n+i, 1)
			}
		}
	}
	return a, gamma
}

// monodromy returns the monodromy matrix, whose eigenvalues are the multipliers: the
// map of one refresh period on (x, v), M = P A^K E, or the companion matrix with a
// delay.
func (l *linear) monodromy() *mat.Dense {
	a, _ := l.step()
	if l.lag.Kind == Delay {
		return a
	}
	return l.refresh(power(a, l.lag.Age))
}

// refresh returns P M E of a map M on (x, v, x_old): E copies x into x_old, P drops
// x_old.
func (l *linear) refresh(m *mat.Dense) *mat.Dense {
	n := l.dim()
	out := mat.NewDense(2*n, 2*n, nil)
	for i := range 2 * n {
		for j := range 2 * n {
			v := m.At(i, j)
			if j < n {
				v += m.At(i, 2*n+j)
			}
			out.Set(i, j, v)
		}
	}
	return out
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
