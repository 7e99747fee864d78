package rom

import (
	"math"
	"slices"

	"grposim/option"
	"grposim/rom/fp"
)

// maxCompositions is the number of compositions up to which the expectations of a
// group are sums over all of them, and maxSmeared that where a reward is normal, so
// that every composition needs an integral. The first bounds the time of one
// evaluation of the force to about a millisecond, the second that of the integrals
// of one bandit to about a tenth of a second.
const (
	maxCompositions = 10_000
	maxSmeared      = 1_000
)

// component is one of the laws N(mean, std²) of which the rewards of all arms are
// mixtures: a value of constant or Bernoulli arms (std = 0), or a normal arm. Mean and
// std are in units of compositions.unit.
type component struct {
	mean, std float64
	arm       int // whose rewards these are, with the KL in the reward, which adds another number to those of each arm; else 0
}

// compositions holds what the force of a group depends on, for every composition
// n = (n_1 … n_J), Σn_j = G: the numbers of samples from each of J components. Given
// n, the arms of the samples of component j are multinomial with probabilities
// α_aj = π_old,a q_aj/P_j, independent of their rewards. So with y_i = A_i the advantage
// of sample i, all moments of a group's force follow from
//
//	T_j = E[Σ_{i∈j} y_i | n],  W_j = E[Σ_{i∈j} y_i² | n],  U_jk = E[Σ_{i∈j} y_i Σ_{k∈k} y_k | n]
//
// (docs/theory.md §2), which do not depend on the policy. Without normal components
// the y_i are numbers and U_jk = T_jT_k.
type compositions struct {
	parts   []component
	smeared bool // a component has a density

	counts []int     // n_j, J numbers per composition
	ways   []float64 // G!/Πn_j!, one per composition
	pull   []float64 // T_j, J per composition
	above  []float64 // E[Σ_{i∈j} max(y_i, 0) | n], J per composition; nil without a clip
	square []float64 // W_j, J per composition
	pairs  []float64 // U_jk, J² per composition; nil unless smeared
}

// components returns the laws of which the rewards of arms are mixtures, in units of
// their largest distance or deviation, that unit, and shares[a][j], the probability
// of component j on arm a. With the KL in the reward, whose part of a reward is not included
// (see shiftRewards), the unit is 1.
func components(p *Params) (parts []component, unit float64, shares [][]float64) {
	low, high, wide, arms := math.Inf(1), math.Inf(-1), 0.0, p.Arms
	add := func(a int, mean, std, share float64) {
		low, high, wide = min(low, mean), max(high, mean), max(wide, std)
		part := component{mean: mean, std: std}
		if p.shifted() {
			part.arm = a
		}
		j := slices.Index(parts, part)
		if j < 0 {
			j = len(parts)
			parts = append(parts, part)
			for b := range shares {
				shares[b] = append(shares[b], 0)
			}
		}
		shares[a][j] += share
	}
	shares = make([][]float64, len(arms))
	for a, arm := range arms {
		switch {
		case arm.Law == option.Bernoulli:
			if arm.Mean < 1 {
				add(a, 0, 0, 1-arm.Mean)
			}
			if arm.Mean > 0 {
				add(a, 1, 0, arm.Mean)
			}
		case arm.Law == option.Normal:
			add(a, arm.Mean, arm.Std, 1)
		default:
			add(a, arm.Mean, 0, 1)
		}
	}
	if p.shifted() {
		return parts, 1, shares
	}
	unit = max(high-low, wide)
	for j := range parts {
		parts[j].mean = (parts[j].mean - low) / unit
		parts[j].std /= unit
	}
	return parts, unit, shares
}

// countCompositions returns the number C(G+J−1, J−1) of compositions of G into J, or
// limit + 1 if it is larger than limit.
func countCompositions(size, parts, limit int) int {
	n := 1
	for i := 1; i < parts; i++ {
		if n > limit*i/(size+i)+1 { // n(size+i)/i > limit, without overflow
			return limit + 1
		}
		n = n * (size + i) / i
	}
	return min(n, limit+1)
}

// newCompositions returns the table of a finite group of p's estimator, or nil where
// there are too many compositions or a number leaves the range of floating point.
func newCompositions(p *Params) *compositions {
	parts, unit, _ := components(p)
	c := &compositions{parts: parts}
	for _, part := range parts {
		if part.std > 0 {
			c.smeared = true
		}
		// The integrals need squares of deviations.
		if !isFinite([]float64{part.mean, part.std}) || part.std > 0 && part.std < 1e-120 {
			return nil
		}
	}
	limit := maxCompositions
	if c.smeared {
		limit = maxSmeared
	}
	j, size := len(parts), p.GroupSize
	total := countCompositions(size, j, limit)
	if total > limit {
		return nil
	}
	factorials := make([]float64, size+1) // of logarithms
	for n := 1; n <= size; n++ {
		factorials[n] = factorials[n-1] + math.Log(float64(n))
	}
	c.counts = make([]int, 0, total*j)
	n := make([]int, j)
	var walk func(part, left int, log float64)
	walk = func(part, left int, log float64) {
		if part == j-1 {
			n[part] = left
			c.counts = append(c.counts, n...)
			c.ways = append(c.ways, fp.Exp(log-factorials[left]))
			return
		}
		for k := 0; k <= left; k++ {
			n[part] = k
			walk(part+1, left-k, log-factorials[k])
		}
	}
	walk(0, size, factorials[size])
	c.pull, c.square = make([]float64, total*j), make([]float64, total*j)
	if p.bySign() {
		c.above = make([]float64, total*j)
	}
	if c.smeared {
		c.pairs = make([]float64, total*j*j)
	}
	c.evaluate(newGroupLaw(p, unit))
	if !isFinite(c.ways) || !isFinite(c.pull) || !isFinite(c.square) || !isFinite(c.pairs) {
		return nil
	}
	return c
}

// evaluate sets T, W and U of every composition.
func (c *compositions) evaluate(g *groupLaw) {
	parts, j := c.parts, len(c.parts)
	sizes := make([]float64, j)
	for i := range c.ways {
		for k, count := range c.counts[i*j : (i+1)*j] {
			sizes[k] = float64(count)
		}
		if !g.smeared(parts, sizes) {
			g.fixed(parts, sizes)
		} else {
			g.integrate(parts, sizes)
		}
		copy(c.pull[i*j:], g.pull)
		copy(c.square[i*j:], g.square)
		if c.above != nil {
			copy(c.above[i*j:], g.above)
		}
		if c.pairs != nil {
			copy(c.pairs[i*j*j:], g.pairs)
		}
	}
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
		probs: make([]float64, len(c.parts)), powers: zeros(len(c.parts), size+1), chances: make([]float64, len(c.ways)),
	}
}

// mix sets the probabilities of the components and of the compositions under π_old.
func (m *model) mix() {
	c, x := m.groups, &m.mixture
	clear(x.probs)
	for a, old := range m.past.probs {
		for j, q := range m.shares[a] {
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

// signedPull returns the two parts of T of composition i from samples with positive
// and with negative advantage.
func (c *compositions) signedPull(i, j int) (above, below float64) {
	k := i*len(c.parts) + j
	if c.above == nil {
		return c.pull[k], 0
	}
	return c.above[k], c.pull[k] - c.above[k]
}

// composedResponse writes E[c_a]/π_old,a of one group, exact for any reward law:
//
//	E[c_a]/π_old,a = (1/G) Σ_j q_aj (w⁺_a E[T⁺_j] + w⁻_a E[T⁻_j])/P_j
func (m *model) composedResponse(dst []float64) {
	m.mix()
	c, parts := m.groups, len(m.groups.parts)
	up, down := make([]float64, parts), make([]float64, parts)
	for i, chance := range m.mixture.chances {
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
		for j, q := range m.shares[a] {
			if p := m.mixture.probs[j]; q > 0 && p > 0 {
				if c.above == nil {
					sum += q * m.up[a] * up[j] / p
				} else {
					sum += q * (m.up[a]*up[j] + m.down[a]*down[j]) / p
				}
			}
		}
		dst[a] = sum / m.size
	}
}

// composedSlope returns, on-policy at the logits set, the force u_a = π_aR_a and its
// derivative through the snapshot alone, s_ab = π_a ∂R_a/∂θ_old,b, of
// E[c_a] = w_a π_old,a R_a(π_old):
//
//	R_a = (1/G) Σ_j q_aj E[T_j]/P_j
//	∂R_a/∂θ_b = (π_b/G) Σ_j (q_aj/P_j) {Σ_k E[T_j(n_k − GP_k)] q_bk/P_k − E[T_j](q_bj/P_j − 1)}
func (m *model) composedSlope() (u []float64, s [][]float64) {
	m.mix()
	c, parts, probs := m.groups, len(m.groups.parts), m.mixture.probs
	mean, lean := make([]float64, parts), square(parts) // E[T_j], E[T_j(n_k − GP_k)]
	for i, chance := range m.mixture.chances {
		if chance == 0 {
			continue
		}
		n, pull := c.counts[i*parts:(i+1)*parts], c.pull[i*parts:(i+1)*parts]
		for j, t := range pull {
			mean[j] += chance * t
			for k, count := range n {
				lean[j][k] += chance * t * (float64(count) - m.size*probs[k])
			}
		}
	}
	arms := len(m.Arms)
	u, s = make([]float64, arms), square(arms)
	for a, p := range m.now.probs {
		for j, q := range m.shares[a] {
			if q == 0 || probs[j] == 0 {
				continue
			}
			u[a] += p * q * mean[j] / probs[j] / m.size
			for b, pb := range m.now.probs {
				sum := mean[j]
				for k, qb := range m.shares[b] {
					if qb == 0 || probs[k] == 0 {
						continue
					}
					sum += lean[j][k] * qb / probs[k]
					if j == k {
						sum -= mean[j] * qb / probs[j]
					}
				}
				s[a][b] += p * pb * q / probs[j] * sum / m.size
			}
		}
	}
	return u, s
}

// composedCovariance writes Cov(c^R, c^R) and Cov(c^R, c^K) of one group, exact for any
// reward law. With β_as,j = w^s_a α_aj and one term for every sign s of the advantage
// where the weights of the two signs differ,
//
//	E[c_a c_b] G² = δ_ab Σ W_js w^s_a β_as,j + Σ (U_js,kt − δ_jk,st W_js) β_as,j β_bt,k
//	Cov(c_a, c^K_b) G²/κ_b = δ_ab Σ T_js β_as,j + Σ {E[T_js(n_k − GP_k)] − δ_jk T_js} β_as,j α_bk
//
// averaged over the compositions. With a clip that is in force it holds for rewards
// without a density only.
func (m *model) composedCovariance(reward, cross [][]float64) {
	m.mix()
	c, parts, probs := m.groups, len(m.groups.parts), m.mixture.probs
	signs := 1
	if m.clips() {
		signs = 2
	}
	types := signs * parts // (j, s) has the index s·J + j
	mean, squares := make([]float64, types), make([]float64, types)
	lean, pairs := zeros(types, parts), square(types)
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
	for i, chance := range m.mixture.chances {
		split(i)
		for k, t := range pull {
			mean[k] += chance * t
		}
	}
	// Centred in a second pass, because a variance may be much smaller than a square.
	for i, chance := range m.mixture.chances {
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
				lean[x][k] += chance * t * (float64(count) - m.size*probs[k])
			}
			for y, v := range pull {
				pairs[x][y] += chance * (t - mean[x]) * (v - mean[y])
				if c.pairs != nil {
					pairs[x][y] += chance * (c.pairs[(i*parts+j)*parts+y%parts] - t*v)
				}
			}
		}
	}
	scale := 1 / (m.size * m.size)
	weighted := func(a, x int) float64 { // w^s_a
		if x < parts {
			return m.up[a]
		}
		return m.down[a]
	}
	alpha := func(a, j int) float64 {
		if probs[j] == 0 {
			return 0
		}
		return m.past.probs[a] * m.shares[a][j] / probs[j]
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
			cross[a][a] += scale * m.kappa[a] * own * mean[x]
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
					cross[a][b] += scale * m.kappa[b] * v * own * alpha(b, k)
				}
			}
		}
	}
}
