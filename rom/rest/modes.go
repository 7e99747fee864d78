package rest

import (
	"cmp"
	"math"
	"slices"

	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
)

// Modes returns the A−1 modes of Λ_f + Λ_s on the centred subspace, stiffest
// first; fresh and stale are the A×A matrices of StiffnessAt, A ≥ 2. The total
// stiffness is symmetric wherever rewards take two values. Where it is not, both
// modes of a complex pair have the real part as their Total; one has the real part
// of the eigenvectors, the other the imaginary part.
func Modes(fresh, stale *mat.Dense) []Mode {
	arms, _ := fresh.Dims()
	return modes(fresh, stale, linear.BasisOfArms(arms))
}

// modes returns the modes of fresh + stale in the subspace spanned by the columns of
// q, stiffest first.
func modes(fresh, stale *mat.Dense, q *mat.Dense) []Mode {
	f, s := linear.Within(q, fresh), linear.Within(q, stale)
	n, _ := f.Dims()
	total := mat.NewDense(n, n, nil)
	total.Add(f, s)
	values, right, left := linear.Eigenvectors(total)
	all := make([]Mode, n)
	for k := range n {
		r, l := right.ColView(k), left.ColView(k)
		var direction, covector mat.VecDense
		direction.MulVec(q, r)
		covector.MulVec(q, l)
		d, c := slices.Clone(direction.RawVector().Data), slices.Clone(covector.RawVector().Data)
		// Scale the largest |entry| to 1, the first of those equal up to rounding.
		largest, at := 0.0, 0
		for a, x := range d {
			if math.Abs(x) > largest*(1+1e-9) {
				largest, at = math.Abs(x), a
			}
		}
		scale := d[at]
		dot := 0.0
		for a := range d {
			d[a] /= scale
			dot += d[a] * c[a]
		}
		for a := range c {
			c[a] /= dot
		}
		mode := Mode{Total: values[k], Direction: d, Covector: c}
		mode.Fresh, mode.Stale = linear.Form(c, fresh, d), linear.Form(c, stale, d)
		all[k] = mode
	}
	slices.SortStableFunc(all, func(a, b Mode) int { return cmp.Compare(b.Total, a.Total) })
	return all
}
