package rom

import (
	"math/bits"
	"slices"

	"grposim/rom/linear"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// stretch is a number of steps of the recursion as a map of the state s, to second order: s′ = F s + ½ D ss + noise of the covariance
// W + C′s and the third cumulant S. Tensors are lists of entries, the last index the fastest.
type stretch struct {
	f, back *mat.Dense  // F and Fᵀ
	noise   *mat.Dense  // W
	curved  []float64   // D: state, state; state after
	slope   []float64   // C′: state; state after, state after
	skews   [][]float64 // S, or where it is assumed 0 and S

	across *mat.Dense   // FΣ
	space  [2][]float64 // for products
	linear.Rotator
}

func newStretch(f, noise *mat.Dense, curved, slope []float64, skews [][]float64) *stretch {
	size, _ := f.Dims()
	s := &stretch{f: f, back: mat.DenseCopyOf(f.T()), noise: noise, curved: curved, slope: slope, skews: skews, across: mat.NewDense(size, size, nil)}
	for i := range s.space {
		s.space[i] = make([]float64, len(curved))
	}
	return s
}

// pass takes third cumulants K through the stretch, given the covariance Σ before it:
//
//	F⊗F⊗F K + S,   of the first one + Σ_3 (FΣ D ΣFᵀ) + Σ_3 FΣ C′
func (s *stretch) pass(state *mat.Dense, thirds [][]float64) {
	first, second := s.space[0], s.space[1]
	for i, t := range thirds {
		copy(t, s.Rotate(s.f, s.Rotate(s.f, s.Rotate(s.f, t, first), second), first))
		floats.Add(t, s.skews[i])
	}
	s.Rotate(state, s.back.RawMatrix().Data, s.across.RawMatrix().Data)
	apart := s.Rotate(s.across, s.Rotate(s.across, s.curved, first), second) // the index that stands alone first
	floats.Add(apart, s.Rotate(s.across, s.slope, first))                    // and last
	t, size := thirds[0], len(s.back.RawRowView(0))
	for a := range size {
		for b := range size {
			for k := range size {
				t[(a*size+b)*size+k] += apart[(a*size+b)*size+k] + apart[(b*size+k)*size+a] + apart[(k*size+a)*size+b]
			}
		}
	}
}

// then returns the stretch s with another one after it,
//
//	D = F₂D₁ + D₂(F₁·, F₁·),   C′ = F₂C₁′F₂ᵀ + C₂′F₁ + F₂W₁ D₂(F₁·) + its transpose
func (s *stretch) then(next *stretch) *stretch {
	size, _ := s.f.Dims()
	turn := func(a *mat.Dense, t []float64) []float64 { return s.Rotate(a, t, make([]float64, len(t))) }
	still := linear.Identity(size)
	curved := turn(next.f, turn(still, turn(still, s.curved)))
	floats.Add(curved, turn(still, turn(s.back, turn(s.back, next.curved))))
	var f, across mat.Dense
	f.Mul(next.f, s.f)
	across.Mul(next.f, s.noise)
	late := turn(s.back, next.slope) // the state before last
	cross := turn(s.back, turn(&across, next.curved))
	for a := range size {
		for b := range size {
			for k := range size {
				late[(a*size+b)*size+k] += cross[(a*size+b)*size+k] + cross[(b*size+a)*size+k]
			}
		}
	}
	slope := turn(next.f, turn(next.f, turn(still, s.slope)))
	floats.Add(slope, turn(still, turn(still, late)))
	noise := linear.Congruence(next.f, s.noise)
	noise.Add(noise, next.noise)
	skews := make([][]float64, len(s.skews))
	for i, skew := range s.skews {
		skews[i] = slices.Clone(skew)
	}
	next.pass(s.noise, skews)
	return newStretch(&f, noise, curved, slope, skews)
}

// times returns the stretch s count ≥ 1 times, by doubling.
func (s *stretch) times(count int) *stretch {
	all := s
	for bit := bits.Len(uint(count)) - 2; bit >= 0; bit-- {
		if all = all.then(all); count>>bit&1 == 1 {
			all = all.then(s)
		}
	}
	return all
}
