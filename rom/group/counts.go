package group

import (
	"math"

	"grposim/option"
)

// Counts is the law of a group whose rewards take two values, lower and lower + span. The
// number S of successes, rewards at the upper value, is sufficient.
type Counts struct {
	base
	Success []float64 // m_a, the probability of the upper value, by arm

	// Running is b of a running mean that is followed; nil: the baseline is about J.
	Running *float64

	span        float64
	row         *scaling                                  // of the advantages
	byCount     func(c *Counts, s int) (up, down float64) // see scaling; nil: advantages add to 0
	advantage   advantage
	alpha, beta []float64 // scratch, see Outcomes
	weights     []float64 // scratch, of sums over numbers of successes
	inverses    []float64 // of informative, as far as they have been needed, else 0; nil: none has
}

// NewCounts returns the law of a group of arms. It is nil where rewards take a third value or have
// a density, or where the KL is part of them.
func NewCounts(arms []option.Arm, e *option.Estimator, s *Samples) *Counts {
	success, span := TwoValued(arms)
	if success == nil || e.KL.OfReward() {
		return nil
	}
	if e.Advantage.Baseline.Given() { // advantages depend on the rewards themselves
		span = 1
		for a, arm := range arms {
			success[a] = arm.Mean
		}
	}
	c := &Counts{
		base: newBase(arms, e, s), Success: success, span: span,
		alpha: make([]float64, len(arms)), beta: make([]float64, len(arms)),
	}
	c.advantage = newAdvantage(c)
	return c
}

// Chances returns J = Σπ_a m_a and 1−J as sums of non-negative terms.
func (c *Counts) Chances(probs []float64) (j, rest float64) {
	for a, p := range probs {
		j += p * c.Success[a]
		rest += p * (1 - c.Success[a])
	}
	return j, rest
}

// Outcomes returns the probabilities α of the arms among the successes and δ among the
// failures of samples from π_old; 0 where there are none. The next call overwrites them.
func (c *Counts) Outcomes(j, rest float64) (alpha, delta []float64) {
	for a, old := range c.Old {
		c.alpha[a], c.beta[a] = 0, 0
		if j > 0 {
			c.alpha[a] = old * c.Success[a] / j
		}
		if rest > 0 {
			c.beta[a] = old * (1 - c.Success[a]) / rest
		}
	}
	return c.alpha, c.beta
}

// AtRest reports whether no group exerts a force, because no reward varies.
func (c *Counts) AtRest(j, rest float64) bool {
	return (j <= 0 || rest <= 0) && !c.e.Advantage.Baseline.Given()
}

// binomial returns the law of the number of successes among n samples.
func (c *Counts) binomial(n int, j, rest float64) Binomial {
	law := NewBinomial(n, j, rest, c.weights)
	c.weights = law.Weights
	return law
}

func (c *Counts) Factored() bool   { return true }
func (c *Counts) Leading() float64 { return c.Phi(c.Chances(c.Old)) }

func (c *Counts) Mean(dst []float64) {
	j, rest := c.Chances(c.Old)
	if c.e.Filter != option.KeepAll && (j <= 0 || rest <= 0) { // no group can have both rewards
		clear(dst)
		return
	}
	factor := c.Phi(j, rest)
	for a, old := range c.Old {
		s := c.Success[a]
		slope := c.Up[a] * (s - j)
		if c.Up[a] != c.Down[a] {
			slope = c.Up[a]*s*rest - c.Down[a]*(1-s)*j
		}
		dst[a] = factor * old * slope
	}
	if excess := c.advantage.excess(j, rest); excess != 0 {
		for a, old := range c.Old {
			dst[a] += excess * old * (c.Up[a]*c.Success[a] + c.Down[a]*(1-c.Success[a]))
		}
	}
}

// Phi returns φ_G(J) = h_G/(J(1−J)), h_G = E[R u⁺], from the probabilities J of a success and 1−J
// of a failure. It is the factor of the mean force E[g_a] = π_a(m_a − J)φ_G (docs/theory.md §2). A
// filter multiplies it by filterFactor.
func (c *Counts) Phi(j, rest float64) float64 {
	factor, _ := c.filterFactor(j, rest)
	return factor * c.PhiOfAll(j, rest)
}

// PhiOfAll is Phi without a filter.
func (c *Counts) PhiOfAll(j, rest float64) float64 { return c.advantage.phi(j, rest) }

// PhiSlope returns φ_G′(J).
func (c *Counts) PhiSlope(j, rest float64) float64 {
	slope := c.advantage.slope(j, rest)
	if c.e.Filter == option.KeepAll {
		return slope
	}
	factor, filtered := c.filterFactor(j, rest)
	return factor*slope + filtered*c.PhiOfAll(j, rest)
}

func (c *Counts) Reach(pull float64) float64 {
	switch {
	case c.e.GroupSize == option.Infinite:
		return c.base.Reach(pull)
	case c.e.Filter != option.KeepAll:
		return math.Inf(1)
	}
	return c.advantage.bound() / pull
}

func (c *Counts) Factor() (phi float64, slope, u []float64) {
	u, slope = make([]float64, len(c.Old)), make([]float64, len(c.Old))
	j, rest := c.Chances(c.Old)
	derivative := c.PhiSlope(j, rest)
	for a, p := range c.Old {
		u[a] = p * (c.Success[a]*rest - (1-c.Success[a])*j) // m_a − J, accurate where J is almost 0 or 1
		slope[a] = derivative * u[a]
	}
	return c.Phi(j, rest), slope, u
}

func (c *Counts) Stiffness(fresh, stale [][]float64) (known bool) {
	phi, slope, u := c.Factor()
	c.addStiffness(fresh, stale, phi, slope, u)
	if c.e.Importance.Mode != option.NoImportance {
		return true
	}
	// E A (π_old − π), because −πΣc is not 0
	if excess := c.advantage.excess(c.Chances(c.Old)); excess != 0 {
		for a, p := range c.Old {
			for b, q := range c.Old {
				x := -p * q
				if a == b {
					x += p
				}
				fresh[a][b] += excess * x
				stale[a][b] -= excess * x
			}
		}
	}
	return true
}

// Unevenness is that of Law; an advantage that does not add to 0 differs from group to group.
func (c *Counts) Unevenness(probs []float64) float64 {
	if _, uneven := c.advantage.(*uneven); !uneven {
		return c.base.Unevenness(probs)
	}
	squares := func(s int) float64 {
		share := float64(s) / c.size
		up, down := c.Advantages(s)
		return share*up*up + (1-share)*down*down
	}
	j, rest := c.Chances(probs)
	law := NewBinomial(c.e.GroupSize, j, rest, nil)
	mean, square := law.Mean(squares), law.Mean(func(s int) float64 { v := squares(s); return v * v })
	return square / (mean * mean)
}

// moments holds the expectations over S ~ Binomial(G, J) successes on which the covariance of a
// group's force depends. With a filter 0 < S < G is given. R = S/G, u⁺ and u⁻ are the advantages of
// a success and of a failure, q = R u⁺ = −(1−R)u⁻.
type moments struct {
	mean       float64 // h_G = E q
	up, down   float64 // E[R u⁺²], E[(1−R) u⁻²]
	variance   float64 // Var q
	covariance float64 // Cov(q, R)
	share      float64 // E R
	spread     float64 // Var R

	// Of advantages that need not add to 0 also, with e = R u⁺ + (1−R) u⁻:
	excess, excessVariance   float64 // E e, Var e
	excessAlong, excessShare float64 // Cov(q, e), Cov(e, R)
}

// Covariance is that of Law, in the symbols of docs/theory.md §2. Given S successes, their arms are
// multinomial(S, α) and those of the failures multinomial(G−S, δ). With V_α = diag α − ααᵀ
//
//	Cov(c^R, c^R) = {E[Ru⁺²] W⁺V_αW⁺ + E[(1−R)u⁻²] W⁻V_δW⁻}/G + Var(q) d dᵀ
//	Cov(c^R, c^K) = h {W⁺V_α − W⁻V_δ} D_κ/G + Cov(q, R) d (D_κ(α−δ))ᵀ
//	Cov(c^K, c^K) = D_κ {(E R V_α + E(1−R) V_δ)/G + Var(R) (α−δ)(α−δ)ᵀ} D_κ
//
// where d = W⁺α − W⁻δ and q = Ru⁺. Where advantages do not add to 0, see docs/theory-trainers.md
// §11.4. Where groups are dropped it is B times that of a step's force, see dropped.
func (c *Counts) Covariance(reward, cross, penalty [][]float64) {
	j, rest := c.Chances(c.Old)
	resamples := c.e.Resamples()
	if c.AtRest(j, rest) {
		if resamples {
			for a := range penalty {
				clear(penalty[a])
			}
		}
		return
	}
	g := c.advantage.moments(j, rest)
	alpha, delta := c.Outcomes(j, rest)
	h := g.mean / c.size
	for a := range reward {
		up, down := c.Up[a]*alpha[a], c.Down[a]*delta[a]
		for b := range reward {
			upB, downB := c.Up[b]*alpha[b], c.Down[b]*delta[b]
			reward[a][b] = g.variance*(up-down)*(upB-downB) - (g.up*up*upB+g.down*down*downB)/c.size
			cross[a][b] = c.Kappa[b] * (g.covariance*(up-down)*(alpha[b]-delta[b]) - h*(up*alpha[b]-down*delta[b]))
			if g.excessVariance != 0 {
				reward[a][b] += g.excessAlong*((up-down)*downB+down*(upB-downB)) + g.excessVariance*down*downB
				cross[a][b] += c.Kappa[b] * (g.excessShare*down*(alpha[b]-delta[b]) - g.excess*down*delta[b]/c.size)
			}
			if resamples {
				penalty[a][b] = c.Kappa[a] * c.Kappa[b] * (g.spread*(alpha[a]-delta[a])*(alpha[b]-delta[b]) -
					(g.share*alpha[a]*alpha[b]+(1-g.share)*delta[a]*delta[b])/c.size)
			}
		}
		reward[a][a] += (g.up*c.Up[a]*up + g.down*c.Down[a]*down) / c.size
		cross[a][a] += h*c.Kappa[a]*(up-down) + g.excess*c.Kappa[a]*down/c.size
		if resamples {
			penalty[a][a] += c.Kappa[a] * c.Kappa[a] * (g.share*alpha[a] + (1-g.share)*delta[a]) / c.size
		}
	}
	if c.e.Filter == option.Drop {
		for a := range alpha { // the mean force of a group that is left
			alpha[a] = g.mean * (c.Up[a]*alpha[a] - c.Down[a]*delta[a])
		}
		p, _ := c.Differ(j, rest)
		c.dropped(reward, alpha, p)
	}
}
