package rom

import (
	"math"

	"grposim/rom/group"
)

// pairMoments holds the joint cumulants of the force g of one step that the second order of Adam
// needs, A×A each, in units of force to the power of their order.
type pairMoments struct {
	second [][]float64 // Cov(g_a, g_b)
	third  [][]float64 // of g_a, g_b, g_b
	fourth [][]float64 // of g_a, g_a, g_b, g_b
}

// pairs returns the pair moments of the force at the logits given to set, at a finite G. Given S
// successes the force of a group is the sum of S independent contributions of successes and
// G − S of failures, as in thirdCumulant, so that its cumulants V (pairs), T (a, b, b) and Q (a, a, b, b)
// are S times those of one contribution and G − S times those of the other. With d the mean of g given
// S less that of all groups,
//
//	E[g̃_a g̃_b²]  = E[T_ab + 2 d_b V_ab + d_a V_bb + d_a d_b²]
//	E[g̃_a² g̃_b²] = E[Q_ab + V_aa V_bb + 2 V_ab² + 2 d_a T_ab + 2 d_b T_ba + d_b² V_aa + d_a² V_bb + 4 d_a d_b V_ab + d_a² d_b²]
//
// for g̃ = g − E g. A cumulant of order n of the mean of B groups is B^{1−n} times that of one. The work
// is that of a few products of A×A matrices for every number of successes.
func (m *model) pairs() *pairMoments {
	arms := len(m.Arms)
	all := &pairMoments{group.Square(arms), group.Square(arms), group.Square(arms)}
	j, rest := m.counts.Chances(m.Old)
	if m.counts.AtRest(j, rest) && !m.KL.Sampled() {
		return all
	}
	alpha, delta := m.counts.Outcomes(j, rest)
	law := m.counts.Successes(j, rest)
	given, means := make([]*contribution, len(law.Weights)), make([]float64, arms)
	for i, w := range law.Weights {
		s := law.At(i)
		up, down := m.counts.Advantages(s)
		c := newContribution(arms)
		c.add(m, float64(s), up, m.Up, alpha)
		c.add(m, m.size-float64(s), down, m.Down, delta)
		given[i] = c
		for a, x := range c.mean {
			means[a] += w * x
		}
	}
	for i, w := range law.Weights {
		c := given[i]
		for a := range c.mean {
			c.mean[a] -= means[a]
		}
		for a, da := range c.mean {
			for b, db := range c.mean {
				va, vb, v := c.second[a][a], c.second[b][b], c.second[a][b]
				all.second[a][b] += w * (v + da*db)
				all.third[a][b] += w * (c.third[a][b] + 2*db*v + da*vb + da*db*db)
				all.fourth[a][b] += w * (c.fourth[a][b] + va*vb + 2*v*v + 2*da*c.third[a][b] + 2*db*c.third[b][a] +
					db*db*va + da*da*vb + 4*da*db*v + da*da*db*db)
			}
		}
	}
	size, variances := float64(m.GroupsPerStep), make([]float64, arms)
	for a := range variances {
		variances[a] = all.second[a][a]
	}
	noise := m.Factors.Noise
	for a := range arms {
		for b := range arms {
			v := all.second[a][b]
			all.fourth[a][b] = (all.fourth[a][b] - variances[a]*variances[b] - 2*v*v) * noise * noise / (size * size * size)
			all.third[a][b] *= math.Pow(noise, 1.5) / (size * size)
			all.second[a][b] = v * noise / size
		}
	}
	return all
}

// squares returns Cov(g_a, g_b²) and Cov(g_a², g_b²) of a force of the given mean:
//
//	κ_12 + 2F_b κ_11,   κ_22 + 2κ_11² + 2F_a κ_12 + 2F_b κ_21 + 4F_a F_b κ_11
func (p *pairMoments) squares(mean []float64) (mixed, square [][]float64) {
	mixed, square = group.Square(len(mean)), group.Square(len(mean))
	for a, fa := range mean {
		for b, fb := range mean {
			v := p.second[a][b]
			mixed[a][b] = p.third[a][b] + 2*fb*v
			square[a][b] = p.fourth[a][b] + 2*v*v + 2*fa*p.third[a][b] + 2*fb*p.third[b][a] + 4*fa*fb*v
		}
	}
	return mixed, square
}

// contribution holds the mean and the pair cumulants of the force of a group of which the number of
// successes is known.
type contribution struct {
	mean                  []float64
	second, third, fourth [][]float64
	values                [][]float64 // scratch: of one sample, by its arm and the logit
}

func newContribution(arms int) *contribution {
	return &contribution{make([]float64, arms), group.Square(arms), group.Square(arms), group.Square(arms), group.Square(arms)}
}

// add adds those of a number of independent samples of one reward, with an advantage, and by arm their
// weights and probabilities.
func (c *contribution) add(m *model, count, advantage float64, weight, probability []float64) {
	if count == 0 {
		return
	}
	now, at := m.now.probs, m.anchor().probs
	centre := make([]float64, len(now))
	for s, row := range c.values {
		reward, penalty := advantage*weight[s]/m.size, 0.0
		if m.KL.Sampled() {
			penalty = m.KL.Coefficient * m.Kappa[s] / m.size
		}
		for a := range row {
			row[a] = penalty*at[a] - reward*now[a]
		}
		row[s] += reward - penalty
		for a, x := range row {
			centre[a] += probability[s] * x
		}
	}
	second, third, fourth := group.Square(len(now)), group.Square(len(now)), group.Square(len(now))
	for s, row := range c.values {
		for a := range row {
			row[a] -= centre[a]
		}
		for a, x := range row {
			w := probability[s] * x
			for b, y := range row {
				second[a][b] += w * y
				third[a][b] += w * y * y
				fourth[a][b] += w * x * y * y
			}
		}
	}
	for a, x := range centre {
		c.mean[a] += count * x
		for b := range centre {
			v := second[a][b]
			c.second[a][b] += count * v
			c.third[a][b] += count * third[a][b]
			c.fourth[a][b] += count * (fourth[a][b] - second[a][a]*second[b][b] - 2*v*v)
		}
	}
}
