package force

import (
	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/group"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Covariance returns Cov[g](θ, θ_old), A×A, of the gradient estimate g of one optimizer step,
// which averages B groups and is clipped as in MeanForce (docs/theory.md §2). theta and old hold A
// logits each. At G = ∞ it is 0.
//
// A group's force is g = P c^R − β P_K c^K with P = I − π1ᵀ, P_K = I − π_K1ᵀ.
// The sampled KL gradient uses the same samples as the reward part, so their
// cross-covariance enters. Where rewards take two values the result is Exact,
// from sums over the number of successes; for other rewards it is Exact where the mean force is.
func Covariance(p cell.Params, theta, old []float64) (*mat.SymDense, scope.Kind) {
	p = p.Checked()
	cell.CheckLogits("theta", theta, len(p.Arms))
	cell.CheckLogits("old", old, len(p.Arms))
	m := New(&p)
	m.Set(theta, old)
	return m.Covariance(), m.Kind()
}

// Covariance is the function at the state that is set.
func (m *Model) Covariance() *mat.SymDense {
	arms := len(m.Arms)
	total := mat.NewSymDense(arms, nil)
	if m.GroupSize == option.Infinite {
		return total
	}
	if m.Limited() {
		_, variance := m.CutMoments()
		variance *= m.Factors.Noise
		return mat.NewSymDense(2, []float64{variance, -variance, -variance, variance})
	}
	if m.parts[0] == nil {
		m.parts = [3][][]float64{group.Square(arms), group.Square(arms), group.Square(arms)}
	}
	reward, cross, penalty := m.parts[0], m.parts[1], m.parts[2]
	for a := range arms {
		clear(reward[a])
		clear(cross[a])
		clear(penalty[a])
	}
	m.Law.Covariance(reward, cross, penalty)
	at := m.anchor().Probs
	projectMatrix(reward, m.Now.Probs, m.Now.Probs)
	if floats.Norm(m.Kappa, 1) > 0 { // else both are 0
		if !m.Resamples() {
			m.countCovariance(penalty)
		}
		projectMatrix(cross, m.Now.Probs, at)
		projectMatrix(penalty, at, at)
	}
	beta, factor := m.KL.Coefficient, m.Factors.Noise*Visiting(m)/float64(m.GroupsPerStep)
	for a := range arms {
		for b := a; b < arms; b++ {
			v := reward[a][b] - beta*(cross[a][b]+cross[b][a]) + beta*beta*penalty[a][b]
			total.SetSym(a, b, factor*v)
		}
	}
	if chance := Visiting(m); chance > 0 && chance < 1 {
		force := make([]float64, arms)
		m.MeanForce(force)
		other := (1/chance - 1) / float64(m.GroupsPerStep)
		total.SymRankOne(total, other, mat.NewVecDense(arms, force))
	}
	return total
}

// countCovariance writes Cov(c^K, c^K) of a group whose samples are those of π_old, whatever their
// rewards: their counts are multinomial(G, π_old).
func (m *Model) countCovariance(penalty [][]float64) {
	for a, p := range m.Past.Probs {
		for b, q := range m.Past.Probs {
			penalty[a][b] = -m.Kappa[a] * m.Kappa[b] * p * q / m.Size
		}
		penalty[a][a] += m.Kappa[a] * m.Kappa[a] * p / m.Size
	}
}

// projectMatrix overwrites M with P_left M P_rightᵀ, P = I − π1ᵀ.
func projectMatrix(m [][]float64, left, right []float64) {
	columns := make([]float64, len(m))
	for _, row := range m {
		floats.Add(columns, row)
	}
	for a, row := range m {
		for b := range row {
			row[b] -= left[a] * columns[b]
		}
		project(row, right)
	}
}
