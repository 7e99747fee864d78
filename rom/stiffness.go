package rom

import (
	"gonum.org/v1/gonum/mat"

	"grposim/option"
	"grposim/rom/fp"
)

// StiffnessAt returns Λ_f = −∂E[g]/∂θ and Λ_s = −∂E[g]/∂θ_old at the logits
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
func StiffnessAt(p Params, theta []float64) (fresh, stale *mat.Dense) {
	p = p.checked()
	checkLogits("theta", theta, len(p.Arms))
	m := newModel(&p)
	return m.stiffness(theta)
}

// stiffness is StiffnessAt for a model, and sets both its policies to theta.
func (m *model) stiffness(theta []float64) (fresh, stale *mat.Dense) {
	arms := len(m.Arms)
	m.set(theta, theta)
	f, s := square(arms), square(arms)
	if m.limited() {
		defer m.freeze()()
		m.differencedStiffness(f, s, theta, m.meanForce)
		m.set(theta, theta)
		return dense(f, 1), dense(s, 1)
	}
	switch {
	case m.resamples():
		m.differencedStiffness(f, s, theta, func(dst []float64) {
			m.rewardForce(dst)
			m.subtractPenalty(dst)
		})
		m.set(theta, theta)
	case !m.shifted() && (m.factored() || m.groups != nil || m.integral != nil):
		m.rewardStiffness(f, s)
	default:
		m.differencedStiffness(f, s, theta, m.rewardForce)
		m.set(theta, theta)
	}
	if m.KL.Coefficient > 0 && !m.shifted() && !m.resamples() {
		m.penaltyStiffness(f, s)
	}
	if m.Entropy > 0 {
		m.entropyStiffness(f)
	}
	return dense(f, m.Factors.Stiffness), dense(s, m.Factors.Stiffness)
}

// dense returns factor times the square matrix with the given rows.
func dense(rows [][]float64, factor float64) *mat.Dense {
	n := len(rows)
	d := mat.NewDense(n, n, nil)
	for a, row := range rows {
		for b, x := range row {
			d.Set(a, b, factor*x)
		}
	}
	return d
}

// phiGradient returns φ, ∇φ and u of an exactly known force φu, on-policy at the
// logits set.
func (m *model) phiGradient() (phi float64, slope, u []float64) {
	probs := m.now.probs
	u, slope = make([]float64, len(probs)), make([]float64, len(probs))
	if m.success != nil {
		j, rest := chances(probs, m.success)
		derivative := m.phiSlope(j, rest)
		for a, p := range probs {
			u[a] = p * (m.success[a]*rest - (1-m.success[a])*j) // m_a − J, with all digits where J is almost 0 or 1
			slope[a] = derivative * u[a]
		}
		return m.phi(j, rest), slope, u
	}
	mean := m.prepare()
	for a, p := range probs {
		u[a] = p * (m.Arms[a].Mean - mean)
	}
	if m.Advantage.Scale == option.NoScale { // the variance, which may overflow, does not matter
		return m.baseline * (1 - 1/m.size), slope, u
	}
	variance := m.spread()
	phi, derivative, _ := m.generalScale(variance)
	for a, p := range probs {
		slope[a] = derivative * p * (m.states[a].full(2) - variance)
	}
	return phi, slope, u
}

// rewardStiffness adds the reward part of the stiffness of an exactly known force.
func (m *model) rewardStiffness(fresh, stale [][]float64) {
	if m.Importance.Mode != option.NoImportance {
		defer m.bendWeights(fresh, stale)
	}
	probs := m.now.probs
	if !m.factored() {
		m.composedStiffness(fresh, stale)
		return
	}
	phi, slope, u := m.phiGradient()
	h := stale
	if m.Importance.Mode != option.NoImportance {
		h = fresh
	}
	for a, p := range probs {
		h[a][a] -= phi * u[a]
		for b, q := range probs {
			h[a][b] += phi * (u[a]*q + p*u[b])
			stale[a][b] -= u[a] * slope[b]
		}
	}
	if !(m.tabled() || m.givenBaseline()) || m.Importance.Mode != option.NoImportance {
		return
	}
	// E A (π_old − π), because −πΣc is not 0
	excess := m.excess(chances(probs, m.success))
	for a, p := range probs {
		for b, q := range probs {
			x := -p * q
			if a == b {
				x += p
			}
			fresh[a][b] += excess * x
			stale[a][b] -= excess * x
		}
	}
}

// composedStiffness is rewardStiffness where the force is a sum over the compositions of
// a group: E[c_a] = w_aπ_old,aR_a(π_old), so that with u_a = π_aR_a, Σu = 0, the part
// −H_u is fresh with weights and else stale, and −(I − π1ᵀ)π_a∂R_a/∂θ_b is stale.
func (m *model) composedStiffness(fresh, stale [][]float64) {
	probs := m.now.probs
	var u []float64
	var slope [][]float64
	if m.integral != nil {
		u, slope = m.integratedSlope()
	} else {
		u, slope = m.composedSlope()
	}
	h := fresh
	if m.Importance.Mode == option.NoImportance {
		h = stale
	}
	for b, q := range probs {
		sum := 0.0
		for a := range probs {
			sum += slope[a][b]
		}
		for a, p := range probs {
			h[a][b] += u[a]*q + p*u[b]
			stale[a][b] -= slope[a][b] - p*sum
		}
		h[b][b] -= u[b]
	}
}

// penaltyStiffness adds the KL part of the stiffness.
func (m *model) penaltyStiffness(fresh, stale [][]float64) {
	probs, beta := m.now.probs, m.KL.Coefficient
	if m.KL.In == option.InLoss && m.KL.At == option.AtSnapshot {
		fresh = stale
	}
	l, kl := make([]float64, len(probs)), 0.0
	for a, p := range probs {
		l[a] = m.now.logs[a] - m.reference[a]
		kl += p * l[a]
	}
	// fisher adds β(diag x − πxᵀ)F to the stale part, the derivative of
	// κ∘π_old − πΣκπ_old with respect to θ_old.
	fisher := func(x []float64) {
		mean := 0.0
		for a, p := range probs {
			mean += p * x[a]
		}
		for a, p := range probs {
			for b, q := range probs {
				// x_aF_ab − π_a Σ_c x_cF_cb, Σ_c x_cF_cb = π_b(x_b − x̄)
				v := -x[a]*p*q - p*q*(x[b]-mean)
				if a == b {
					v += x[a] * p
				}
				stale[a][b] += beta * v
			}
		}
	}
	// exact adds the derivative β(x H_w + y F) of the exact gradient, w = π∘(ℓ − KL).
	exact := func(dst [][]float64, x, y float64) {
		for a, p := range probs {
			wa := p * (l[a] - kl)
			dst[a][a] += beta * (x*wa + y*p)
			for b, q := range probs {
				dst[a][b] -= beta * (x*(wa*q+p*q*(l[b]-kl)) + y*p*q)
			}
		}
	}
	if m.KL.In == option.InAdvantage {
		if m.Importance.Mode == option.NoImportance { // π_old∘ℓ_old − πΣπ_oldℓ_old
			exact(fresh, 0, -kl)
			exact(stale, 1, 1+kl)
		} else { // π∘(ℓ_old − Σπℓ_old)
			exact(fresh, 1, 0)
			exact(stale, 0, 1)
		}
		return
	}
	switch m.KL.Gradient {
	case option.ExactKL, option.RatioK1, option.RatioK3:
		exact(fresh, 1, 1)
	case option.K1: // π_old − π
		exact(fresh, 0, -1)
		exact(stale, 0, 1)
	case option.K2:
		for a, p := range probs {
			fresh[a][a] += beta * (1 - kl) * p
			for b, q := range probs {
				fresh[a][b] -= beta * (1 - kl) * p * q
			}
		}
		fisher(l)
	case option.K3:
		for a, p := range probs {
			ra := fp.Exp(m.reference[a])
			fresh[a][a] += beta * ra
			for b, q := range probs {
				rb := fp.Exp(m.reference[b])
				fresh[a][b] += beta * (p*q - ra*q - p*rb)
			}
		}
		fisher(m.kappa)
	}
}

// differencedStiffness adds the stiffness of a force by central differences of sixth order. With a step of 0.01 the error is 1e-14 from the seventh derivative
// and as much from rounding. The step is small enough to stay inside the smooth
// range of the weights.
func (m *model) differencedStiffness(fresh, stale [][]float64, theta []float64, forceAt func(dst []float64)) {
	step := min(0.01, m.smoothRange()/8)
	arms := len(m.Arms)
	moved, force := make([]float64, arms), make([]float64, arms)
	coefficients := [3]float64{45.0 / 60, -9.0 / 60, 1.0 / 60}
	for b := range arms {
		for i, c := range coefficients {
			for _, sign := range [2]float64{1, -1} {
				copy(moved, theta)
				moved[b] += sign * float64(i+1) * step
				m.set(moved, theta)
				forceAt(force)
				for a, x := range force {
					if !m.shifted() || m.Importance.Mode != option.NoImportance { // else only rounding
						fresh[a][b] -= sign * c * x / step
					}
				}
				m.set(theta, moved)
				forceAt(force)
				for a, x := range force {
					stale[a][b] -= sign * c * x / step
				}
			}
		}
	}
}
