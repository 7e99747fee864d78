package group

import (
	"math"
	"slices"

	"grposim/option"
	"grposim/rom/fp"
	"grposim/rom/weight"
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
	arm       int // with the KL in the reward, the arm whose rewards these are, because the penalty differs from arm to arm; else 0
}

// representable reports whether mean and std are in range, with squares of deviations, which integrals need.
func (c *component) representable() bool {
	return isFinite([]float64{c.mean, c.std}) && !(c.std > 0 && c.std < 1e-120)
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
// (see Composed.Refresh), the unit is 1 and the components of two arms differ.
func components(arms []option.Arm, shifted bool) (parts []component, unit float64, shares [][]float64) {
	low, high, wide := math.Inf(1), math.Inf(-1), 0.0
	add := func(a int, mean, std, share float64) {
		low, high, wide = min(low, mean), max(high, mean), max(wide, std)
		part := component{mean: mean, std: std}
		if shifted {
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
	if shifted {
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

// LargestSummed returns the size of the largest group of at most the estimator's size with at most limit
// compositions; below 2 there is none.
func LargestSummed(arms []option.Arm, e *option.Estimator, limit int) int {
	parts, _, _ := components(arms, e.KL.OfReward())
	size := 1
	for size < e.GroupSize && countCompositions(size+1, len(parts), limit) <= limit {
		size++
	}
	return size
}

// newCompositions returns the table of a finite group of an estimator, or nil where
// there are too many compositions or a number leaves the range of floating point.
func newCompositions(arms []option.Arm, e *option.Estimator) *compositions {
	parts, unit, _ := components(arms, e.KL.OfReward())
	c := &compositions{parts: parts}
	for _, part := range parts {
		if part.std > 0 {
			c.smeared = true
		}
		if !part.representable() {
			return nil
		}
	}
	limit := maxCompositions
	if c.smeared {
		limit = maxSmeared
	}
	j, size := len(parts), e.GroupSize
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
	if weight.BySign(&e.Importance) {
		c.above = make([]float64, total*j)
	}
	if c.smeared {
		c.pairs = make([]float64, total*j*j)
	}
	c.evaluate(newConditional(e, j, unit))
	if !isFinite(c.ways) || !isFinite(c.pull) || !isFinite(c.square) || !isFinite(c.pairs) {
		return nil
	}
	return c
}

// evaluate sets T, W and U of every composition.
func (c *compositions) evaluate(g *conditional) {
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

// clone returns a copy of c with numbers of its own.
func (c *compositions) clone() *compositions {
	own := *c
	own.parts, own.pull, own.square = slices.Clone(c.parts), slices.Clone(c.pull), slices.Clone(c.square)
	return &own
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
