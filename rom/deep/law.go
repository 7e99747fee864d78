package deep

import (
	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
)

// Window is the steps From ≤ t < To of a run that starts at the fixed point. 0 is the stationary
// law.
type Window struct{ From, To int }

// Law holds variances about the fixed point under the noise of sampled groups, over independent
// runs. They are averaged over the steps of a window or the phases of a refresh period.
type Law struct {
	Modes  []float64 // Var a of each mode, in the order of the modes given
	Reward float64   // Var J of J, the mean over contexts, to first order, in squared units of reward
}

// Law returns the law of the given modes of d, as Modes returns them, and Var J due to these alone.
// A mode of stiffness λ takes some 1/ηλ steps to its stationary variance, which does not fall with
// λ. So the part of slow modes in Var J depends on the length of the run. Where modes do not mix
// each pair is a system of its own. Where they do, the whole is solved, and Reward is due to all
// directions that are not neutral. It is nil where there is no stationary law.
func (d *Dynamics) Law(modes []Mode, over Window) *Law {
	if d.Mixed {
		return d.mixedLaw(modes, over)
	}
	count, covectors := len(modes), d.covectors(modes)
	law := &Law{Modes: make([]float64, count)}
	amplitudes := mat.NewDense(2*count, 2*count, nil) // covariance of those now and of the snapshot
	for i := range modes {
		own, ok := modes[i].alone().Law()
		if !ok {
			return nil
		}
		setPair(amplitudes, own.Over(over.From, over.To), i, i)
		for j := range i {
			noise := linear.Form(covectors[i], d.system.Noise, covectors[j])
			if noise == 0 {
				continue
			}
			both, ok := correlatedPair(&modes[i], &modes[j], noise).Law()
			if !ok {
				return nil
			}
			setPair(amplitudes, both.Over(over.From, over.To), i, j)
		}
	}
	for i := range modes {
		law.Modes[i] = amplitudes.At(i, i)
		for j := range modes {
			law.Reward += modes[i].slope * modes[j].slope * amplitudes.At(i, j)
		}
	}
	return law
}

// setPair sets the part of modes i and j in the covariance of all amplitudes, now and of the
// snapshot. of is the covariance of the two alone: between them, or of one if i = j.
func setPair(all, of *mat.Dense, i, j int) {
	count, size := all.RawMatrix().Rows/2, of.RawMatrix().Rows/2
	for a := range 2 {
		for b := range 2 {
			v, u := of.At(a*size, b*size+size-1), of.At(a*size+size-1, b*size)
			all.Set(a*count+i, b*count+j, v)
			all.Set(a*count+j, b*count+i, u)
		}
	}
}

// correlatedPair returns two independent modes whose forces have the covariance c, and the variance
// |c| each.
func correlatedPair(a, b *Mode, c float64) *linear.System {
	size := max(c, -c)
	return &linear.System{Fresh: mat.NewDense(2, 2, []float64{a.Fresh, 0, 0, b.Fresh}),
		Stale: mat.NewDense(2, 2, []float64{a.Stale, 0, 0, b.Stale}),
		Noise: mat.NewDense(2, 2, []float64{size, c, c, size}), Update: a.Update}
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
func (d *Dynamics) mixedLaw(modes []Mode, over Window) *Law {
	moving := movingDirections(d.system)
	whole := d.system.Within(moving)
	own, ok := whole.Law()
	if !ok {
		return nil
	}
	size := whole.Dim()
	now := linear.Congruence(moving, mat.DenseCopyOf(own.Over(over.From, over.To).Slice(0, size, 0, size)))
	law := new(Law)
	for _, l := range d.covectors(modes) {
		law.Modes = append(law.Modes, linear.Form(l, now, l))
	}
	law.Reward = linear.Form(d.slope, now, d.slope)
	return law
}

// movingDirections returns an orthonormal basis, the columns, of the directions that are not
// neutral. In these [Λ_f; Λ_s] has a singular value above linear.Negligible of the largest.
func movingDirections(s *linear.System) *mat.Dense {
	sizes, axes := s.Directions()
	count := 0
	for _, x := range sizes {
		if x > linear.Negligible*sizes[0] {
			count++
		}
	}
	return axes.Slice(0, s.Dim(), 0, count).(*mat.Dense)
}
