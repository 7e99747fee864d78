package group

import (
	"math"

	"grposim/fp"
	"grposim/option"
)

// Differ returns P = 1 − J^G − (1−J)^G and its derivative G((1−J)^{G−1} − J^{G−1}) in J = j,
// rest = 1 − J. P is the probability that the rewards of a group differ.
func (c *Counts) Differ(j, rest float64) (p, slope float64) {
	small := min(j, rest)
	p = -math.Expm1(c.size*math.Log1p(-small)) - fp.Pow(small, c.size)
	return p, c.size * (fp.Pow(rest, c.size-1) - fp.Pow(j, c.size-1))
}

// filterFactor returns what a filter of groups of equal rewards multiplies φ by, and its derivative
// in J (docs/theory-trainers.md §11.3). It is 1/P where they are redrawn. Where they are dropped,
// it is (1 − (1−P)^B)/P: a step's force is the mean of the groups that are left, 0 if none is. For
// P → 0 it is B.
func (c *Counts) filterFactor(j, rest float64) (factor, slope float64) {
	if c.e.Filter == option.KeepAll {
		return 1, 0
	}
	p, dp := c.Differ(j, rest)
	if c.e.Filter == option.Redraw {
		return 1 / p, -dp / p / p
	}
	if p == 0 {
		return float64(c.e.GroupsPerStep), 0
	}
	b := float64(c.e.GroupsPerStep)
	some := -math.Expm1(b * math.Log1p(-p))
	return some / p, dp * (b*fp.Pow(1-p, b-1) - some/p) / p
}

// Successes returns the law of the number S of successes of a group that exerts a force:
// Binomial(G, J). Where a filter leaves no others, 0 < S < G is given. The next call of a method
// overwrites it.
func (c *Counts) Successes(j, rest float64) Binomial {
	law := c.binomial(c.e.GroupSize, j, rest)
	if c.e.Filter == option.KeepAll {
		return law
	}
	sum := 0.0
	for i := range law.Weights {
		if s := law.At(i); s == 0 || s == c.e.GroupSize {
			law.Weights[i] = 0
		}
		sum += law.Weights[i]
	}
	for i := range law.Weights {
		law.Weights[i] /= sum
	}
	return law
}

// Given yields the numbers of successes and of failures of a group that exerts a force, with their
// probabilities, and the advantages. Those of a scale of the step are by its mean. The next one
// overwrites it.
func (c *Counts) Given(yield func(chance float64, parts []Part) bool) {
	j, rest := c.Chances(c.Old)
	if c.AtRest(j, rest) && !c.e.KL.Sampled() {
		return
	}
	alpha, delta := c.Outcomes(j, rest)
	parts, scale := []Part{{Arms: alpha, Weights: c.Up}, {Arms: delta, Weights: c.Down}}, 0.0
	if c.e.Advantage.Scale.OfStep() && c.e.GroupsPerStep > 1 {
		scale = c.PhiOfAll(j, rest) / (1 - 1/c.size)
	}
	law := c.Successes(j, rest)
	for i, w := range law.Weights {
		s := float64(law.At(i))
		up, down := scale*(1-s/c.size), -scale*s/c.size
		if scale == 0 {
			up, down = c.Advantages(law.At(i))
		}
		parts[0].Count, parts[0].Advantage = s, up
		parts[1].Count, parts[1].Advantage = c.size-s, down
		if !yield(w, parts) {
			return
		}
	}
}

// Kept returns the probabilities that the rewards of a group differ, given one success or one
// failure. They are 1 − J^{G−1} and 1 − (1−J)^{G−1}.
func (c *Counts) Kept(j, rest float64) (success, failure float64) {
	if rest < j {
		return -math.Expm1((c.size - 1) * math.Log1p(-rest)), -math.Expm1((c.size - 1) * math.Log(rest))
	}
	return -math.Expm1((c.size - 1) * math.Log(j)), -math.Expm1((c.size - 1) * math.Log1p(-j))
}

// SampleShares writes the expected share of each arm among the samples of a step: π_old, or with
// redrawn groups π_a[m_a(1 − J^{G−1}) + (1−m_a)(1 − (1−J)^{G−1})]/P.
func (c *Counts) SampleShares(dst []float64) {
	copy(dst, c.Old)
	j, rest := c.Chances(c.Old)
	if c.e.Filter != option.Redraw || j <= 0 || rest <= 0 {
		return
	}
	p, _ := c.Differ(j, rest)
	success, failure := c.Kept(j, rest)
	for a, s := range c.Success {
		dst[a] *= (s*success + (1-s)*failure) / p
	}
}

// dropped takes the covariance v and the mean f of a group that exerts a force. It makes v B times
// the covariance of the mean of the n of B groups that are left. With W = P(n ≥ 1) it is
//
//	E[1/n; n ≥ 1] v + W(1−W) f fᵀ
func (c *Counts) dropped(v [][]float64, f []float64, p float64) {
	law, inverse := NewBinomial(c.e.GroupsPerStep, p, 1-p, nil), 0.0
	for i, w := range law.Weights {
		if n := law.At(i); n > 0 {
			inverse += w / float64(n)
		}
	}
	b := float64(c.e.GroupsPerStep)
	none := fp.Pow(1-p, b)
	for a, row := range v {
		for c := range row {
			row[c] = b * (inverse*row[c] + none*(1-none)*f[a]*f[c])
		}
	}
}
