// Package linear is the linear dynamics about a fixed point (docs/theory.md §5). It takes the
// stiffness, the covariance of the noise, an optimizer and a lag. It gives multipliers, thresholds
// in the learning rate and the lag's interval, onset of oscillation, stability margin and
// stationary law. It knows nothing of bandits, groups and estimators.
//
// A System is the whole recursion, a Mode that of one independent mode, Dynamics all of them. Law
// is the stationary law of a System. A Lag is the rule of the snapshot, one file for each kind.
package linear

import (
	"math"
	"math/cmplx"

	"grposim/option"

	"gonum.org/v1/gonum/mat"
)

// Update is the rule by which the force moves the logits: optimizer and lag.
type Update struct {
	Method   option.Method // heavy ball or Nesterov
	Rate     float64       // η > 0
	Momentum float64       // μ within [0, 1)
	Lag      Lag
	AgeDraws int // independent random ages whose forces one step averages; 0: ages make no noise
}

// System is the recursion of small displacements x from a fixed point (docs/theory.md §5). x has n
// coordinates, in an orthonormal basis of the centred logits:
//
//	g_t = −Λ_f x_t − Λ_s x_old + ξ_t,   Cov ξ = Noise
//	heavy ball  v′ = μv + g,  x′ = x + ηv′
//	Nesterov    v′ = μv + g,  x′ = x + η(g + μv′)
//
// With random ages x_old is the mean Σ p_j x_{t−j}, and ξ includes ageNoise.
type System struct {
	Fresh, Stale *mat.Dense // Λ_f and Λ_s, n×n
	Noise        *mat.Dense // Cov ξ, n×n
	Update
	Samples option.Samples // Reused: ξ is the same in all steps of a block
}

// Dim returns n.
func (s *System) Dim() int {
	n, _ := s.Fresh.Dims()
	return n
}

// StepGains returns the coefficients a of the force and b of the velocity in x′ = x + η(a g + b v).
// They are 1 and μ for the heavy ball, 1+μ and μ² for Nesterov.
func StepGains(method option.Method, momentum float64) (force, velocity float64) {
	if method == option.Nesterov {
		return 1 + momentum, momentum * momentum
	}
	return 1, momentum
}

// step returns the matrix A of one optimizer step, s′ = A s + Γ ξ, and Γ. The state s
// is (x, v, past positions), the newest of them first.
func (s *System) step() (a, gamma *mat.Dense) {
	n := s.Dim()
	force, velocity := StepGains(s.Method, s.Momentum)
	old := s.Lag.weights()
	size := n * len(old)
	a = mat.NewDense(size, size, nil)
	gamma = mat.NewDense(size, n, nil)
	add := func(row, column int, v float64) { a.Set(row, column, a.At(row, column)+v) }
	for i := range n {
		for j := range n {
			fresh, stale := s.Fresh.At(i, j), s.Stale.At(i, j)
			add(i, j, -s.Rate*force*fresh)
			add(n+i, j, -fresh)
			for k, weight := range old {
				if weight != 0 {
					add(i, k*n+j, -s.Rate*force*(weight*stale))
					add(n+i, k*n+j, -(weight * stale))
				}
			}
		}
		add(i, i, 1)
		add(i, n+i, s.Rate*velocity)
		add(n+i, n+i, s.Momentum)
		gamma.Set(i, i, s.Rate*force)
		gamma.Set(n+i, i, 1)
		for k := range s.Lag.positions() {
			keep, gain, from := s.Lag.next(k)
			add((2+k)*n+i, (2+k)*n+i, keep)
			add((2+k)*n+i, from*n+i, gain)
		}
	}
	return a, gamma
}

// Monodromy returns the monodromy matrix, whose eigenvalues are the multipliers: M = P A^K E. It
// maps one period of the state without the position that a refresh drops.
func (s *System) Monodromy() *mat.Dense {
	a, _ := s.step()
	a.Pow(a, s.Lag.Period())
	return s.refresh(a)
}

// refreshes reports whether the last block of the state is replaced at the start of a period.
func (s *System) refreshes() bool {
	last := 1 + s.Lag.positions()
	return s.Lag.source(last) != last
}

// refresh returns P M E of a map M on the state. E makes the state at a period's start from that at
// the end before, P drops the block that is replaced. Without refreshes it is M.
func (s *System) refresh(m *mat.Dense) *mat.Dense {
	if !s.refreshes() {
		return m
	}
	size, _ := m.Dims()
	free := size - s.Dim()
	out := mat.NewDense(free, free, nil)
	for i := range free {
		for j := range size {
			at := s.beforeRefresh(j)
			out.Set(i, at, out.At(i, at)+m.At(i, j))
		}
	}
	return out
}

// beforeRefresh returns the coordinate of the state at the end of a period that becomes coordinate
// i at the start of the next one.
func (s *System) beforeRefresh(i int) int {
	n := s.Dim()
	return s.Lag.source(i/n)*n + i%n
}

// at returns s with another learning rate and lag.
func (s *System) at(rate float64, lag Lag) *System {
	moved := *s
	moved.Rate, moved.Lag = rate, lag
	return &moved
}

// Identity returns the n×n identity matrix.
func Identity(n int) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	for i := range n {
		m.Set(i, i, 1)
	}
	return m
}

// Finite reports whether every entry of m is finite.
func Finite(m *mat.Dense) bool { return IsFinite(m.RawMatrix().Data...) }

// Multipliers returns the eigenvalues of m, sorted by Sort; nil where m is
// not finite, or where the QR iteration does not converge.
func Multipliers(m *mat.Dense) (values []complex128) {
	if !Finite(m) {
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
	Sort(values)
	return values
}

// unconverged reports whether gonum panicked because the QR iteration did not converge, given the
// value recovered (nil: no panic). For the few small matrices that do not, its Dhseqr calls Dlaqr04
// with a slice of the wrong length. Any other panic is raised again.
func unconverged(panicked any) bool {
	switch panicked {
	case nil:
		return false
	case "lapack: bad length of wr":
		return true
	}
	panic(panicked)
}

// Radius returns the spectral radius of m. It is +Inf where m is not finite, as a power can be, and
// NaN where the QR iteration does not converge.
func Radius(m *mat.Dense) float64 {
	if !Finite(m) {
		return math.Inf(1)
	}
	values := Multipliers(m)
	if values == nil {
		return math.NaN()
	}
	return cmplx.Abs(values[0])
}

// single returns the 1×1 matrix of x.
func single(x float64) *mat.Dense { return mat.NewDense(1, 1, []float64{x}) }
