package linear

import (
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// decouple returns the modes of s as independent recursions, where Λ_f and Λ_s are diagonal in one
// real basis (one is 0, or they commute). Otherwise ok is false. mixing is the largest relative
// off-diagonal entry that counts as rounding or noise.
func (s *System) decouple(mixing float64) (parts []Mode, ok bool) {
	n := s.Dim()
	_, right, left := Eigenvectors(Sum(s.Fresh, s.Stale))
	small := mixing * (Norm(s.Fresh.RawMatrix().Data) + Norm(s.Stale.RawMatrix().Data))
	for k := range n {
		scale := mat.Dot(left.ColView(k), right.ColView(k))
		for i := range n {
			left.Set(i, k, left.At(i, k)/scale)
		}
	}
	diagonal := func(m *mat.Dense) *mat.Dense {
		out := product(product(left.T(), m), right)
		for i := range n {
			for j := range n {
				if i != j && !(math.Abs(out.At(i, j)) <= small) {
					return nil
				}
			}
		}
		return out
	}
	fresh, stale := diagonal(s.Fresh), diagonal(s.Stale)
	if fresh == nil || stale == nil {
		return nil, false
	}
	for k := range n {
		parts = append(parts, s.Mode(fresh.At(k, k), stale.At(k, k)))
	}
	return parts, true
}

// mixedThreshold returns the threshold of modes that mix. On-policy only the total stiffness
// counts, whose modes do not mix. A search for a learning rate would end at a multiple of
// 1/max(|Λ_f|, |Λ_s|). The threshold lies above that where the two nearly cancel.
func (s *System) mixedThreshold(of Event) Threshold {
	if of != CriticalInterval && s.Lag.OnPolicy() {
		total := *s
		total.Fresh, total.Stale = Sum(s.Fresh, s.Stale), mat.NewDense(s.Dim(), s.Dim(), nil)
		if parts, ok := total.decouple(Rounded.Mixing); ok {
			least := Never
			for i := range parts {
				least = least.Or(parts[i].threshold(of))
			}
			return least
		}
	}
	return s.Lag.mixed(of, s)
}

// Mode returns the recursion of one mode under s's optimizer and lag.
func (s *System) Mode(fresh, stale float64) Mode { return Mode{fresh, stale, s.Update} }

// oscillates returns 1 where a slow multiplier is complex or negative, 0 where none is, and NaN
// where they are not known. whole has all multipliers of a period; a step inside a period counts
// too.
func (s *System) oscillates(whole []complex128) float64 {
	n, inside := s.Dim(), whole
	if s.Lag.Period() > 1 {
		a, _ := s.step()
		inside = Multipliers(mat.DenseCopyOf(a.Slice(0, 2*n, 0, 2*n)))
	}
	switch {
	case whole == nil || inside == nil:
		return math.NaN()
	case oscillates(whole, n) || oscillates(inside, n):
		return 1
	}
	return 0
}

// oscillates reports whether one of the slow multipliers, the n largest of n modes,
// is complex or negative. The others come from momentum, and a negative one of them
// does not make its mode oscillate. Moduli below 1e-6 and relative imaginary parts
// below 1e-6 are rounding of a zero or a double eigenvalue.
func oscillates(values []complex128, n int) bool {
	return slices.ContainsFunc(values[:min(n, len(values))], func(z complex128) bool {
		size := cmplx.Abs(z)
		return size > 1e-6 && (math.Abs(imag(z)) > 1e-6*size || real(z) < 0)
	})
}
