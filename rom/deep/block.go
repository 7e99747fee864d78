package deep

import (
	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
)

// mixedBlock is a block. Its modes are r separate motions of x_i and p_i = ηv_i, driven by the
// constants (Λ_s x_old)_i. So the monodromy matrix needs no power of a large matrix:
//
//	(x_i, p_i) ↦ B_i^K (x_i, p_i) + Σ_{j<K} B_i^j e (Λ_s x)_i,   B_i = [1 − aκ_i, b; −κ_i, μ],  e = −η(a, 1)
//
// κ_i = ηλ_f,i, a and b those of linear.StepGains. It acts on (x, p), 2r×2r, or on x alone where no
// velocity is kept.
type mixedBlock struct{}

func (mixedBlock) monodromy(m *mixed, rate float64, k int) *mat.Dense {
	n := len(m.fresh)
	gain, velocity := linear.StepGains(m.Method, m.Momentum)
	kept := 2
	if velocity == 0 {
		kept = 1
	}
	out := mat.NewDense(kept*n, kept*n, nil)
	for i, lambda := range m.fresh {
		kappa := rate * lambda
		columns := [3][2]float64{{1, 0}, {0, 1}, {0, 0}} // what x, p and the drive become
		for c := range columns {
			x, p := columns[c][0], columns[c][1]
			drive := 0.0
			if c == 2 {
				drive = rate
			}
			for range k {
				force := -kappa*x - drive
				x, p = x+gain*force+velocity*p, m.Momentum*p+force
			}
			columns[c] = [2]float64{x, p}
		}
		for part := range kept {
			row := out.RawRowView(part*n + i)
			for j, s := range m.stale.RawRowView(i) {
				row[j] = columns[2][part] * s
			}
			row[i] += columns[0][part]
			if kept == 2 {
				row[n+i] = columns[1][part]
			}
		}
	}
	return out
}

// limit is, for even K, that of the fresh part alone, 2(1+μ) for a heavy ball. There a step turns
// the stiffest mode of Λ_f around, wᵀB = −wᵀ, so that Σ_{j<K} wᵀB^j = 0. The snapshot does not act
// on it and wᵀM = wᵀ: a multiplier 1 (docs/theory-deep.md).
func (mixedBlock) limit(m *mixed, k int) float64 {
	if k%2 == 1 {
		return 0
	}
	return linear.FrozenBlock(linear.CriticalRate, m.Method, m.Momentum, 1) / m.fresh[len(m.fresh)-1]
}

// provenStable holds, without momentum and with symmetric Λ_s, where
//
//	min(Λ_f, 2/η − Λ_f) − Λ_s is positive definite
//
// and 2/η − Λ_f too. The minimum is taken of each eigenvalue of Λ_f (docs/theory-deep.md).
func (mixedBlock) provenStable(m *mixed, rate float64) bool {
	if _, velocity := linear.StepGains(m.Method, m.Momentum); velocity > 0 || !linear.Symmetric(m.stale) {
		return false
	}
	n := len(m.fresh)
	rest := mat.NewSymDense(n, nil)
	for i, lambda := range m.fresh {
		if !(lambda < 2/rate) { // grows within the block, whatever Λ_s
			return false
		}
		for j := i; j < n; j++ {
			rest.SetSym(i, j, -0.5*(m.stale.At(i, j)+m.stale.At(j, i)))
		}
		rest.SetSym(i, i, rest.At(i, i)+min(lambda, 2/rate-lambda))
	}
	var c mat.Cholesky
	return c.Factorize(rest)
}

// intervals go up to 512, as in package linear. Of more than fineDirections directions not every K
// is looked at: all up to 16, then two neighbours, one even, of each sixth part more.
func (mixedBlock) intervals(n int) (from, to int, next func(int) int) {
	return 1, 512, func(k int) int {
		if k++; k > 16 && k%2 == 0 && n > fineDirections {
			k += k / 12 * 2
		}
		return k
	}
}
