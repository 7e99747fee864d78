package deep

import (
	"fmt"

	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
)

// Window is the steps From ≤ t < To of a run that starts at rest at the fixed point; the zero value stands for the stationary law.
type Window struct{ From, To int }

// Law holds variances about the fixed point under the noise of sampled groups, over independent runs, averaged over the steps of a window or the phases of a
// refresh period.
type Law struct {
	Modes  []float64 // Var a of each mode, in the order of the modes given
	Reward float64   // Var J of J, the mean over contexts, to first order, in squared units of reward
}

// Law returns the law of the given modes of d, as Modes returns them, and Var J due to these alone. A mode of
// stiffness λ takes some 1/ηλ steps to its stationary variance, which does not fall with λ, so that slow modes have a
// part in Var J by the length of the run.
// Where modes do not mix each pair is a system of its own; where they do, the whole is solved, and Reward is due to all
// directions that are not neutral. The error says where there is no stationary law.
func (d *Dynamics) Law(modes []Mode, over Window) (*Law, error) {
	if d.Mixed {
		return d.mixedLaw(modes, over)
	}
	law := &Law{Modes: make([]float64, len(modes))}
	covectors := d.covectors(modes)
	for i := range modes {
		own, ok := modes[i].alone().Law()
		if !ok {
			return nil, fmt.Errorf("mode %d, λ = %v, has no stationary law at η = %v", i, modes[i].Total(), modes[i].Rate)
		}
		law.Modes[i] = squares(&own, over, []float64{1})[0]
		law.Reward += modes[i].slope * modes[i].slope * law.Modes[i]
		for j := range i {
			noise := linear.Form(covectors[i], d.system.Noise, covectors[j])
			cov, ok := covariance(&modes[i], &modes[j], noise, over)
			if !ok {
				return nil, fmt.Errorf("modes %d and %d have no stationary law together", i, j)
			}
			law.Reward += 2 * modes[i].slope * modes[j].slope * cov
		}
	}
	return law, nil
}

// squares returns E (l·x)² of each covector.
func squares(law *linear.Law, over Window, covectors ...[]float64) []float64 {
	average, all := law.TimeAverage(), make([]float64, len(covectors))
	for i, l := range covectors {
		all[i] = linear.Form(l, average, l)
	}
	if over.To > over.From {
		lacks, _ := law.Lacks(0)
		for i, share := range law.Shares(lacks, covectors, over.From, over.To) {
			all[i] *= share
		}
	}
	return all
}

// covariance returns Cov(a, b) of two independent modes whose forces have the given covariance, from a law of the two whose noises have the
// variance |noise| each: 4 Cov(a, b) = Var(a + b) − Var(a − b).
func covariance(a, b *Mode, noise float64, over Window) (cov float64, ok bool) {
	if noise == 0 {
		return 0, true
	}
	size := max(noise, -noise)
	both := &linear.System{
		Fresh: mat.NewDense(2, 2, []float64{a.Fresh, 0, 0, b.Fresh}), Stale: mat.NewDense(2, 2, []float64{a.Stale, 0, 0, b.Stale}),
		Noise: mat.NewDense(2, 2, []float64{size, noise, noise, size}), Update: a.Update,
	}
	law, ok := both.Law()
	if !ok {
		return 0, false
	}
	s := squares(&law, over, []float64{1, 1}, []float64{1, -1})
	return (s[0] - s[1]) / 4, true
}

// covectors returns the left eigenvectors of modes on the range.
func (d *Dynamics) covectors(modes []Mode) [][]float64 {
	all := make([][]float64, len(modes))
	for i := range modes {
		all[i] = d.at.onRange(modes[i].Covector)
	}
	return all
}

// mixedLaw solves the whole on the directions that Λ_f or Λ_s moves.
func (d *Dynamics) mixedLaw(modes []Mode, over Window) (*Law, error) {
	moving := movingDirections(d.system)
	whole := *d.system
	whole.Fresh, whole.Stale, whole.Noise = linear.Within(moving, whole.Fresh), linear.Within(moving, whole.Stale), linear.Within(moving, whole.Noise)
	own, ok := whole.Law()
	if !ok {
		return nil, fmt.Errorf("no stationary law at η = %v", whole.Rate)
	}
	covectors := append(d.covectors(modes), d.slope)
	for i, l := range covectors {
		var on mat.VecDense
		on.MulVec(moving.T(), mat.NewVecDense(len(l), l))
		covectors[i] = on.RawVector().Data
	}
	all := squares(&own, over, covectors...)
	return &Law{Modes: all[:len(modes)], Reward: all[len(modes)]}, nil
}

// movingDirections returns an orthonormal basis, the columns, of the directions in which [Λ_f; Λ_s] has a singular value above
// linear.Negligible of the largest: those that are not neutral.
func movingDirections(s *linear.System) *mat.Dense {
	var both mat.Dense
	both.Stack(s.Fresh, s.Stale)
	var of mat.SVD
	if !of.Factorize(&both, mat.SVDThin) {
		panic("deep: the singular values of a stiffness do not converge")
	}
	values, count := of.Values(nil), 0
	for _, x := range values {
		if x > linear.Negligible*values[0] {
			count++
		}
	}
	var v mat.Dense
	of.VTo(&v)
	return mat.DenseCopyOf(v.Slice(0, s.Dim(), 0, count))
}
