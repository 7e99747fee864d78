package group

import (
	"math"
	"slices"

	"grposim/option"
)

// Composed is the law of a group whose compositions can be summed, exact for any rewards. Only
// under a clip in force with normal rewards its covariance is that of leading order.
type Composed struct {
	Expanded
	compositions *compositions
	shares       [][]float64 // q_aj, the probability of component j on arm a
	mixture      mixture     // of π_old, scratch

	unshifted   []float64    // with the KL in the reward, the values of the components without it
	conditional *conditional // with it; nil: not needed
}

func newComposed(e *Expanded, c *compositions) *Composed {
	l := &Composed{Expanded: *e, compositions: c, shares: sharesOf(e.arms, e.e.KL.OfReward())}
	if e.e.KL.OfReward() {
		l.compositions = c.clone()
		l.conditional = newConditional(e.e, len(c.parts), 1)
		for _, part := range c.parts {
			l.unshifted = append(l.unshifted, part.mean)
		}
	}
	l.mixture = newMixture(l.compositions, e.e.GroupSize)
	return l
}

// sharesOf returns the probability of each component on each arm.
func sharesOf(arms []option.Arm, shifted bool) [][]float64 {
	_, _, shares := components(arms, shifted)
	return shares
}

func (c *Composed) Exact() bool       { return true }
func (c *Composed) ClipExpands() bool { return c.compositions.smeared && c.Clipped() }

func (c *Composed) Work() float64 {
	return float64(len(c.compositions.ways) * len(c.compositions.parts) * len(c.compositions.parts))
}

// Refresh computes the moments of all compositions with the KL in the reward.
func (c *Composed) Refresh() {
	for j, x := range c.unshifted {
		c.compositions.parts[j].mean = x + c.Shift[c.compositions.parts[j].arm]
	}
	c.compositions.evaluate(c.conditional)
}

func (c *Composed) Tied() float64 {
	least := math.Inf(1)
	if c.unshifted == nil {
		return least
	}
	for j, x := range c.compositions.parts {
		for _, y := range c.compositions.parts[:j] {
			if x.arm != y.arm {
				least = min(least, math.Abs(x.mean-y.mean))
			}
		}
	}
	return least
}

// Reach is that of Law; with the KL in the reward it outweighs any difference beyond the span of the rewards.
func (c *Composed) Reach(pull float64) float64 {
	if c.unshifted != nil {
		return (slices.Max(c.unshifted) - slices.Min(c.unshifted)) / c.e.KL.Coefficient
	}
	return c.Expanded.Reach(pull)
}

func (c *Composed) Mean(dst []float64) { c.perGroup(dst, c.Response) }

func (c *Composed) Response(dst []float64) {
	if c.e.Advantage.Scale == option.StdScale || c.Clipped() {
		c.response(dst)
		return
	}
	c.Expanded.Response(dst) // which is exact
}

func (c *Composed) Covariance(reward, cross, penalty [][]float64) {
	if c.ClipExpands() {
		c.Expanded.Covariance(reward, cross, penalty)
		return
	}
	c.covariance(reward, cross)
}

func (c *Composed) Stiffness(fresh, stale [][]float64) (known bool) {
	switch {
	case c.unshifted != nil:
		return false
	case c.Factored():
		return c.Expanded.Stiffness(fresh, stale)
	}
	u, slope := c.slope()
	c.addResponseStiffness(fresh, stale, u, slope)
	return true
}

// mixture is a policy over arms as one over components, P_j = Σ_a π_old,a q_aj, and the
// probabilities of all compositions.
type mixture struct {
	probs   []float64   // one per component
	powers  [][]float64 // P_j^n, n = 0 … G, one row per component
	chances []float64   // one per composition
}

// newMixture returns a mixture for groups of the given size.
func newMixture(c *compositions, size int) mixture {
	return mixture{
		probs: make([]float64, len(c.parts)), powers: Zeros(len(c.parts), size+1), chances: make([]float64, len(c.ways)),
	}
}

// mix sets the probabilities of the components and of the compositions under π_old.
func (l *Composed) mix() {
	c, x := l.compositions, &l.mixture
	clear(x.probs)
	for a, old := range l.Old {
		for j, q := range l.shares[a] {
			x.probs[j] += old * q
		}
	}
	for j, p := range x.probs {
		power := 1.0
		for n := range x.powers[j] {
			x.powers[j][n] = power
			power *= p
		}
	}
	parts := len(c.parts)
	for i, chance := range c.ways {
		for j, n := range c.counts[i*parts : (i+1)*parts] {
			chance *= x.powers[j][n]
		}
		x.chances[i] = chance
	}
}

// response writes E[c_a]/π_old,a of one group, exact for any reward law:
//
//	E[c_a]/π_old,a = (1/G) Σ_j q_aj (w⁺_a E[T⁺_j] + w⁻_a E[T⁻_j])/P_j
func (l *Composed) response(dst []float64) {
	l.mix()
	c, parts := l.compositions, len(l.compositions.parts)
	up, down := make([]float64, parts), make([]float64, parts)
	for i, chance := range l.mixture.chances {
		if chance == 0 {
			continue
		}
		for j := range parts {
			above, below := c.signedPull(i, j)
			up[j] += chance * above
			down[j] += chance * below
		}
	}
	for a := range dst {
		sum := 0.0
		for j, q := range l.shares[a] {
			if p := l.mixture.probs[j]; q > 0 && p > 0 {
				if c.above == nil {
					sum += q * l.Up[a] * up[j] / p
				} else {
					sum += q * (l.Up[a]*up[j] + l.Down[a]*down[j]) / p
				}
			}
		}
		dst[a] = sum / l.size
	}
}

// slope returns, on-policy, the force u_a = π_aR_a and its
// derivative through the snapshot alone, s_ab = π_a ∂R_a/∂θ_old,b, of
// E[c_a] = w_a π_old,a R_a(π_old):
//
//	R_a = (1/G) Σ_j q_aj E[T_j]/P_j
//	∂R_a/∂θ_b = (π_b/G) Σ_j (q_aj/P_j) {Σ_k E[T_j(n_k − GP_k)] q_bk/P_k − E[T_j](q_bj/P_j − 1)}
func (l *Composed) slope() (u []float64, s [][]float64) {
	l.mix()
	c, parts, probs := l.compositions, len(l.compositions.parts), l.mixture.probs
	mean, lean := make([]float64, parts), Square(parts) // E[T_j], E[T_j(n_k − GP_k)]
	for i, chance := range l.mixture.chances {
		if chance == 0 {
			continue
		}
		n, pull := c.counts[i*parts:(i+1)*parts], c.pull[i*parts:(i+1)*parts]
		for j, t := range pull {
			mean[j] += chance * t
			for k, count := range n {
				lean[j][k] += chance * t * (float64(count) - l.size*probs[k])
			}
		}
	}
	arms := len(l.arms)
	u, s = make([]float64, arms), Square(arms)
	for a, p := range l.Old {
		for j, q := range l.shares[a] {
			if q == 0 || probs[j] == 0 {
				continue
			}
			u[a] += p * q * mean[j] / probs[j] / l.size
			for b, pb := range l.Old {
				sum := mean[j]
				for k, qb := range l.shares[b] {
					if qb == 0 || probs[k] == 0 {
						continue
					}
					sum += lean[j][k] * qb / probs[k]
					if j == k {
						sum -= mean[j] * qb / probs[j]
					}
				}
				s[a][b] += p * pb * q / probs[j] * sum / l.size
			}
		}
	}
	return u, s
}

// covariance writes Cov(c^R, c^R) and Cov(c^R, c^K) of one group, exact for any
// reward law. With β_as,j = w^s_a α_aj and one term for every sign s of the advantage
// where the weights of the two signs differ,
//
//	E[c_a c_b] G² = δ_ab Σ W_js w^s_a β_as,j + Σ (U_js,kt − δ_jk,st W_js) β_as,j β_bt,k
//	Cov(c_a, c^K_b) G²/κ_b = δ_ab Σ T_js β_as,j + Σ {E[T_js(n_k − GP_k)] − δ_jk T_js} β_as,j α_bk
//
// averaged over the compositions. With a clip that is in force it holds for rewards
// without a density only.
func (l *Composed) covariance(reward, cross [][]float64) {
	l.mix()
	c, parts, probs := l.compositions, len(l.compositions.parts), l.mixture.probs
	signs := 1
	if l.Clipped() {
		signs = 2
	}
	types := signs * parts // (j, s) has the index s·J + j
	mean, squares := make([]float64, types), make([]float64, types)
	lean, pairs := Zeros(types, parts), Square(types)
	pull := make([]float64, types)
	split := func(i int) {
		for j, t := range c.pull[i*parts : (i+1)*parts] {
			if signs == 1 {
				pull[j] = t
			} else {
				pull[j], pull[parts+j] = max(t, 0), min(t, 0)
			}
		}
	}
	for i, chance := range l.mixture.chances {
		split(i)
		for k, t := range pull {
			mean[k] += chance * t
		}
	}
	// Centred in a second pass, because a variance may be much smaller than a square.
	for i, chance := range l.mixture.chances {
		if chance == 0 {
			continue
		}
		split(i)
		n := c.counts[i*parts : (i+1)*parts]
		for x, t := range pull {
			j := x % parts
			if signs == 1 || t != 0 {
				squares[x] += chance * c.square[i*parts+j]
			}
			for k, count := range n {
				lean[x][k] += chance * t * (float64(count) - l.size*probs[k])
			}
			for y, v := range pull {
				pairs[x][y] += chance * (t - mean[x]) * (v - mean[y])
				if c.pairs != nil {
					pairs[x][y] += chance * (c.pairs[(i*parts+j)*parts+y%parts] - t*v)
				}
			}
		}
	}
	scale := 1 / (l.size * l.size)
	weighted := func(a, x int) float64 { // w^s_a
		if x < parts {
			return l.Up[a]
		}
		return l.Down[a]
	}
	alpha := func(a, j int) float64 {
		if probs[j] == 0 {
			return 0
		}
		return l.Old[a] * l.shares[a][j] / probs[j]
	}
	for a := range reward {
		for x := range types {
			j := x % parts
			w := weighted(a, x)
			own := w * alpha(a, j)
			if own == 0 {
				continue
			}
			reward[a][a] += scale * w * own * squares[x]
			cross[a][a] += scale * l.Kappa[a] * own * mean[x]
			for b := range reward {
				for y := range types {
					v := pairs[x][y]
					if x == y {
						v -= squares[x]
					}
					reward[a][b] += scale * v * own * weighted(b, y) * alpha(b, y%parts)
				}
				for k := range parts {
					v := lean[x][k]
					if j == k {
						v -= mean[x]
					}
					cross[a][b] += scale * l.Kappa[b] * v * own * alpha(b, k)
				}
			}
		}
	}
}
