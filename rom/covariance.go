package rom

import (
	"gonum.org/v1/gonum/mat"

	"grposim/option"
)

// ForceCovariance returns Cov[g](θ, θ_old), A×A, of the gradient estimate g of
// one optimizer step, which averages B groups and is clipped as in MeanForce (docs/theory.md §2). theta and old
// hold A logits each. At G = ∞ it is 0.
//
// A group's force is g = P c^R − β P_K c^K with P = I − π1ᵀ, P_K = I − π_K1ᵀ.
// The sampled KL gradient uses the same samples as the reward part, so their
// cross-covariance enters. Where rewards take two values the result is Exact,
// from sums over the number of successes; for other rewards it is Exact where the mean
// force is, except under a clip in force with normal rewards; otherwise it is an
// Expansion.
func ForceCovariance(p Params, theta, old []float64) (*mat.SymDense, Kind) {
	p = p.checked()
	checkLogits("theta", theta, len(p.Arms))
	checkLogits("old", old, len(p.Arms))
	m := newModel(&p)
	m.set(theta, old)
	kind := m.kind()
	if m.groups != nil && !m.composed() {
		kind = Expansion
	}
	return m.covariance(), kind
}

// composed reports whether composedCovariance holds: not for a clip in force with normal
// rewards.
func (m *model) composed() bool { return m.groups != nil && !(m.groups.smeared && m.clips()) }

func (m *model) covariance() *mat.SymDense {
	arms := len(m.Arms)
	total := mat.NewSymDense(arms, nil)
	if m.GroupSize == option.Infinite {
		return total
	}
	if m.limited() {
		_, variance, _ := m.cutMoments()
		variance *= m.Factors.Noise
		return mat.NewSymDense(2, []float64{variance, -variance, -variance, variance})
	}
	if m.parts[0] == nil {
		m.parts = [3][][]float64{square(arms), square(arms), square(arms)}
	}
	reward, cross, penalty := m.parts[0], m.parts[1], m.parts[2]
	for a := range arms {
		clear(reward[a])
		clear(cross[a])
	}
	switch {
	case m.prompts != nil:
		m.promptCovariance(reward, cross)
	case m.success != nil:
		m.countCovariance(reward, cross, penalty)
	case m.composed():
		m.composedCovariance(reward, cross)
	case m.integral != nil && !m.clips():
		m.integratedCovariance(reward, cross)
	default:
		m.expandedCovariance(reward, cross)
	}
	at := m.anchor().probs
	if !m.resamples() {
		// The counts of all samples are multinomial(G, π_old), whatever their rewards.
		for a, p := range m.past.probs {
			for b, q := range m.past.probs {
				penalty[a][b] = -m.kappa[a] * m.kappa[b] * p * q / m.size
			}
			penalty[a][a] += m.kappa[a] * m.kappa[a] * p / m.size
		}
	}
	projectMatrix(reward, m.now.probs, m.now.probs)
	projectMatrix(cross, m.now.probs, at)
	projectMatrix(penalty, at, at)
	beta, factor := m.KL.Coefficient, m.Factors.Noise/float64(m.GroupsPerStep)
	share := m.drawnShare()
	var force []float64 // of a group of a prompt that is drawn at random
	if share < 1 {
		force = make([]float64, arms)
		m.ownForce(force)
	}
	for a := range arms {
		for b := a; b < arms; b++ {
			v := reward[a][b] - beta*(cross[a][b]+cross[b][a]) + beta*beta*penalty[a][b]
			if share < 1 {
				v = share * (v + (1-share)*force[a]*force[b])
			}
			total.SetSym(a, b, factor*v)
		}
	}
	return total
}

func square(n int) [][]float64 { return zeros(n, n) }

// zeros returns a matrix of zeros.
func zeros(rows, columns int) [][]float64 {
	m := make([][]float64, rows)
	data := make([]float64, rows*columns)
	for i := range m {
		m[i] = data[i*columns : (i+1)*columns]
	}
	return m
}

// projectMatrix overwrites M with P_left M P_rightᵀ, P = I − π1ᵀ.
func projectMatrix(m [][]float64, left, right []float64) {
	columns := make([]float64, len(m))
	for _, row := range m {
		for b, x := range row {
			columns[b] += x
		}
	}
	for a, row := range m {
		for b := range row {
			row[b] -= left[a] * columns[b]
		}
		project(row, right)
	}
}

// countCovariance writes Cov(c^R, c^R), Cov(c^R, c^K) and, where groups are redrawn under a
// sampled KL gradient, Cov(c^K, c^K) of one group of two-valued rewards, in the symbols of docs/theory.md §2. Given S successes,
// their arms are multinomial(S, α) and those of the failures multinomial(G−S, δ),
// so with V_α = diag α − ααᵀ
//
//	Cov(c^R, c^R) = {E[Ru⁺²] W⁺V_αW⁺ + E[(1−R)u⁻²] W⁻V_δW⁻}/G + Var(q) d dᵀ
//	Cov(c^R, c^K) = h {W⁺V_α − W⁻V_δ} D_κ/G + Cov(q, R) d (D_κ(α−δ))ᵀ
//	Cov(c^K, c^K) = D_κ {(E R V_α + E(1−R) V_δ)/G + Var(R) (α−δ)(α−δ)ᵀ} D_κ
//
// with d = W⁺α − W⁻δ and q = Ru⁺. Where advantages do not add to 0, see docs/theory-trainers.md §11.4. Where groups are dropped it is B times that of a step's
// force, see dropped.
func (m *model) countCovariance(reward, cross, penalty [][]float64) {
	j, rest := chances(m.past.probs, m.success)
	if m.atRest(j, rest) {
		if m.resamples() {
			for a := range penalty {
				clear(penalty[a])
			}
		}
		return
	}
	g := m.moments(j, rest)
	alpha, delta := m.x, m.y
	m.outcomes(alpha, delta, j, rest)
	h := g.mean / m.size
	for a := range reward {
		up, down := m.up[a]*alpha[a], m.down[a]*delta[a]
		for b := range reward {
			upB, downB := m.up[b]*alpha[b], m.down[b]*delta[b]
			reward[a][b] = g.variance*(up-down)*(upB-downB) - (g.up*up*upB+g.down*down*downB)/m.size
			cross[a][b] = m.kappa[b] * (g.covariance*(up-down)*(alpha[b]-delta[b]) - h*(up*alpha[b]-down*delta[b]))
			if g.excessVariance != 0 {
				reward[a][b] += g.excessAlong*((up-down)*downB+down*(upB-downB)) + g.excessVariance*down*downB
				cross[a][b] += m.kappa[b] * (g.excessShare*down*(alpha[b]-delta[b]) - g.excess*down*delta[b]/m.size)
			}
			if m.resamples() {
				penalty[a][b] = m.kappa[a] * m.kappa[b] * (g.spread*(alpha[a]-delta[a])*(alpha[b]-delta[b]) -
					(g.share*alpha[a]*alpha[b]+(1-g.share)*delta[a]*delta[b])/m.size)
			}
		}
		reward[a][a] += (g.up*m.up[a]*up + g.down*m.down[a]*down) / m.size
		cross[a][a] += h*m.kappa[a]*(up-down) + g.excess*m.kappa[a]*down/m.size
		if m.resamples() {
			penalty[a][a] += m.kappa[a] * m.kappa[a] * (g.share*alpha[a] + (1-g.share)*delta[a]) / m.size
		}
	}
	if m.Filter == option.Drop {
		for a := range alpha { // the mean force of a group that is left
			alpha[a] = g.mean * (m.up[a]*alpha[a] - m.down[a]*delta[a])
		}
		p, _ := m.differ(j, rest)
		m.dropped(reward, alpha, p)
	}
}

// expandedCovariance writes the same two matrices to leading order in 1/G, for
// any reward law. They are parts of Cov(ψ)/G, with ψ the influence of one sample
// on its group's force,
//
//	ψ = F w x e_a + F′ X x² − F x Y − βκ_a e_a,   X = E[w x e_a], Y = E[w e_a],
//
// which for F = 1/√V is the ψ of docs/theory.md §2 before projection.
//
// Without scale and clip both are exact: c^R is 1 − 1/G times the samples' covariance of
// u = w e_a and r (times G/(G−1) with leave-one-out), of which Fisher's k-statistics give
//
//	Cov = Cov(ψ^R)/G + (Cov(u_a, u_b) s² + X_a X_b)/(G(G−1))
//
// and the other matrix without a further term.
func (m *model) expandedCovariance(reward, cross [][]float64) {
	m.prepare()
	arms := len(m.Arms)
	var mu [5]float64
	for j := 2; j <= 4; j++ {
		for a, old := range m.past.probs {
			mu[j] += old * m.states[a].full(j)
		}
	}
	f, slope, _ := m.generalScale(mu[2])
	x, y := m.x, m.y
	// ψ is the sum of an entry for the sample's own arm and of x² and x times
	// fixed vectors. E[·; a] is the expectation over samples of arm a.
	own2 := make([]float64, arms)   // E[(F w x)²; a]
	ownSq := make([]float64, arms)  // E[F w x · x²; a]
	ownLin := make([]float64, arms) // E[F w x · x; a]
	kOwn := make([]float64, arms)   // E[κ F w x; a]
	kSq := make([]float64, arms)    // E[κ x²; a]
	kLin := make([]float64, arms)   // E[κ x; a]
	mean := make([]float64, arms)   // E[ψ^R]
	kMean := make([]float64, arms)  // E[κ; a]
	for a, old := range m.past.probs {
		s, up, down, k := &m.states[a], m.up[a], m.down[a], m.kappa[a]
		x[a] = old * s.weighted(1, up, down)
		y[a] = f * old * s.weighted(0, up, down)
		own2[a] = f * f * old * s.weighted(2, up*up, down*down)
		ownSq[a] = f * old * s.weighted(3, up, down)
		ownLin[a] = f * old * s.weighted(2, up, down)
		kOwn[a] = k * f * x[a]
		kSq[a] = k * old * s.full(2)
		kLin[a] = k * old * s.full(1)
		kMean[a] = k * old
	}
	for a := range mean {
		mean[a] = f*x[a] + slope*x[a]*mu[2]
	}
	for a := range arms {
		ta := slope * x[a]
		for b := range arms {
			tb := slope * x[b]
			v := ownSq[a]*tb + ta*ownSq[b] - ownLin[a]*y[b] - y[a]*ownLin[b] +
				ta*tb*mu[4] - mu[3]*(ta*y[b]+y[a]*tb) + mu[2]*y[a]*y[b]
			reward[a][b] = v - mean[a]*mean[b]
			cross[a][b] = ta*kSq[b] - y[a]*kLin[b] - mean[a]*kMean[b]
		}
		reward[a][a] += own2[a]
		cross[a][a] += kOwn[a]
	}
	factor := m.baseline
	if m.Advantage.Scale == option.NoScale && !m.clips() {
		factor *= 1 - 1/m.size
		for a, old := range m.past.probs {
			for b := range arms {
				reward[a][b] += (x[a]*x[b] - y[a]*y[b]*mu[2]) / (m.size - 1)
			}
			reward[a][a] += old * m.up[a] * m.up[a] * mu[2] / (m.size - 1)
		}
	}
	for a := range arms {
		for b := range arms {
			reward[a][b] *= factor * factor / m.size
			cross[a][b] *= factor / m.size
		}
	}
}
