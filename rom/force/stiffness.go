package force

import (
	"slices"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/group"
	"grposim/rom/weight"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Stiffness returns Λ_f = −∂E[g]/∂θ and Λ_s = −∂E[g]/∂θ_old at the logits
// θ = θ_old = theta, one per arm; both are A×A. The closed forms of docs/theory.md §3
// hold at any on-policy point, not only at fixed points. With
// H_u = diag u − uπᵀ − πuᵀ, u = π∘(m − J), F = diag π − ππᵀ, ℓ = log π/π_ref:
//
//	reward, none        Λ_f = 0           Λ_s = −φH_u − u∇φᵀ
//	reward, ratio       Λ_f = −φH_u       Λ_s = −u∇φᵀ
//	exact KL, current   β(H_w + F), w = π∘(ℓ − KL)
//	k2, current         β(1−KL)F, stale β(diag ℓ − πℓᵀ)F
//	k3, current         β(diag π_ref − π_refπᵀ − ππ_refᵀ + ππᵀ), stale β(diag κ − πκᵀ)F
//	k1, current         −βF, stale βF
//	ratio-k1, ratio-k3  as the exact KL
//	KL in the advantage without weights −βKL·F, stale β(H_w + (1+KL)F); with ratios βH_w, stale βF
//	KL at snapshot      the same sum, all stale
//	entropy bonus       as the exact KL with β = α and a uniform reference
//
// Other weights are the same as Ratio where their slopes s^± at ρ = 1 are 1, because
// on-policy ρ = 1 is inside their bounds, else see bendWeights. ∇φ = φ_G′u
// where rewards take two values. Where the mean force itself is an expansion in 1/G,
// its derivatives are central differences of that expansion, accurate to 1e-11; so are those of
// a sampled KL gradient where groups are redrawn, and those of a force that the largest norm cuts.
func Stiffness(p cell.Params, theta []float64) (fresh, stale *mat.Dense) {
	p = p.Checked()
	cell.CheckLogits("theta", theta, len(p.Arms))
	m := New(&p)
	return m.Stiffness(theta)
}

// Stiffness is the function for a model, and sets both its policies to theta.
func (m *Model) Stiffness(theta []float64) (fresh, stale *mat.Dense) {
	arms := len(m.Arms)
	m.Set(theta, theta)
	f, s := group.Square(arms), group.Square(arms)
	if m.Limited() {
		defer m.HoldCuts()()
		m.differencedStiffness(f, s, theta, m.MeanForce)
		return dense(f, 1), dense(s, 1)
	}
	switch {
	case m.Resamples():
		m.differencedStiffness(f, s, theta, func(dst []float64) {
			m.rewardForce(dst)
			m.SubtractPenalty(dst)
		})
	case !m.Law.Stiffness(f, s):
		m.differencedStiffness(f, s, theta, m.rewardForce)
	case m.Importance.Mode != option.NoImportance:
		m.bendWeights(f, s)
	}
	if m.KL.Coefficient > 0 && !m.KL.OfReward() && !m.Resamples() {
		m.penaltyStiffness(f, s)
	}
	if m.Entropy > 0 { // α(H_w + F), w = π∘(log π + H)
		l, mean := m.uncertainty()
		m.addDivergence(f, m.Entropy, l, mean, 1, 1)
	}
	by := m.Factors.Stiffness * cell.Visiting(m.Params)
	return dense(f, by), dense(s, by)
}

// dense returns factor times the square matrix with the given rows.
func dense(rows [][]float64, factor float64) *mat.Dense {
	d := mat.NewDense(len(rows), len(rows), slices.Concat(rows...))
	d.Scale(factor, d)
	return d
}

// bendWeights moves what the slopes s^± of the weights change from the stale to the fresh part of
// the reward's stiffness, given that of weights ρ. E[c_a] is linear in w^±_a, so with d_a its
// value for w^± = s^± − 1 and θ = θ_old it is
//
//	−(I − π1ᵀ) diag d (I − 1πᵀ)
func (m *Model) bendWeights(fresh, stale [][]float64) {
	up, down := weight.Slopes(&m.Importance, 1, 1)
	if up == 1 && down == 1 {
		return
	}
	for a := range m.Up {
		m.Up[a], m.Down[a] = up-1, down-1
	}
	d := make([]float64, len(m.Up))
	m.Law.Mean(d)
	m.weigh()
	part, probs := group.Square(len(d)), m.Now.Probs
	for a, x := range d {
		part[a][a] = -x
	}
	projectMatrix(part, probs, probs)
	for a, row := range part {
		floats.Add(fresh[a], row)
		floats.Sub(stale[a], row)
	}
}

// differencedStiffness adds the stiffness of a force by central differences of sixth order. With a
// step of 0.01 the error is 1e-14 from the seventh derivative and as much from rounding. The step
// is small enough to stay inside the smooth range of the weights.
func (m *Model) differencedStiffness(
	fresh, stale [][]float64, theta []float64, forceAt func(dst []float64)) {
	step := min(0.01, weight.Range(&m.Importance)/8)
	arms := len(m.Arms)
	moved, force := make([]float64, arms), make([]float64, arms)
	coefficients := [3]float64{45.0 / 60, -9.0 / 60, 1.0 / 60}
	for b := range arms {
		for i, c := range coefficients {
			for _, sign := range [2]float64{1, -1} {
				copy(moved, theta)
				moved[b] += sign * float64(i+1) * step
				m.Set(moved, theta)
				forceAt(force)
				for a, x := range force {
					if !m.KL.OfReward() || m.Importance.Mode != option.NoImportance { // else only rounding
						fresh[a][b] -= sign * c * x / step
					}
				}
				m.Set(theta, moved)
				forceAt(force)
				for a, x := range force {
					stale[a][b] -= sign * c * x / step
				}
			}
		}
	}
	m.Set(theta, theta)
}
