package deep

import (
	"fmt"

	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
)

// StationaryLaw is the stationary law of the linear dynamics under the noise of sampled groups, averaged over the phases of a
// refresh period.
type StationaryLaw struct {
	Modes  []float64 // Var a of each mode, in the order of Modes
	Reward float64   // Var J of J, the mean over contexts, to first order, in squared units of reward
}

// Law returns the stationary law of the given modes of d, as Modes returns them, each with that of a. Reward is due to these modes alone: a mode of
// stiffness λ has relaxed after some 1/ηλ steps, and shorter runs lack the share of slower ones.
// Where modes do not mix each pair is a system of its own; where they do, the whole is solved, and Reward is that of all
// directions that are not neutral. The error says where there is no stationary law.
func (d *Dynamics) Law(modes []Mode) (*StationaryLaw, error) {
	if d.Mixed {
		return d.mixedLaw(modes)
	}
	law := &StationaryLaw{Modes: make([]float64, len(modes))}
	covectors := d.covectors(modes)
	for i := range modes {
		own, ok := modes[i].alone().Law()
		if !ok {
			return nil, fmt.Errorf("mode %d, λ = %v, has no stationary law at η = %v", i, modes[i].Total(), modes[i].Rate)
		}
		law.Modes[i] = own.TimeAverage().At(0, 0)
		law.Reward += modes[i].slope * modes[i].slope * law.Modes[i]
		for j := range i {
			noise := linear.Form(covectors[i], d.system.Noise, covectors[j])
			cov, ok := covariance(&modes[i], &modes[j], noise)
			if !ok {
				return nil, fmt.Errorf("modes %d and %d have no stationary law together", i, j)
			}
			law.Reward += 2 * modes[i].slope * modes[j].slope * cov
		}
	}
	return law, nil
}

// covariance returns Cov(a, b) of two independent modes whose forces have the given covariance, from a law of the two whose noises have the
// variance |noise| each.
func covariance(a, b *Mode, noise float64) (cov float64, ok bool) {
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
	return law.TimeAverage().At(0, 1), true
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
func (d *Dynamics) mixedLaw(modes []Mode) (*StationaryLaw, error) {
	moving := movingDirections(d.system)
	whole := *d.system
	whole.Fresh, whole.Stale, whole.Noise = linear.Within(moving, whole.Fresh), linear.Within(moving, whole.Stale), linear.Within(moving, whole.Noise)
	own, ok := whole.Law()
	if !ok {
		return nil, fmt.Errorf("no stationary law at η = %v", whole.Rate)
	}
	average := own.TimeAverage()
	square := func(l []float64) float64 {
		var on mat.VecDense
		on.MulVec(moving.T(), mat.NewVecDense(len(l), l))
		return linear.Form(on.RawVector().Data, average, on.RawVector().Data)
	}
	law := &StationaryLaw{Reward: square(d.slope)}
	for _, l := range d.covectors(modes) {
		law.Modes = append(law.Modes, square(l))
	}
	return law, nil
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
