package force

import (
	"grposim/fp"
	"grposim/rom/group"

	"gonum.org/v1/gonum/floats"
)

// pairMoments holds the joint cumulants of the force g of one step that the second order of Adam
// needs, A×A each, in units of force to the power of their order.
type pairMoments struct {
	Second [][]float64 // Cov(g_a, g_b)
	third  [][]float64 // of g_a, g_b, g_b
	Fourth [][]float64 // of g_a, g_a, g_b, g_b
}

// Pairs returns the pair moments of the force at the logits given to set, at a finite G. Given S
// successes the force of a group is the sum of S independent contributions of successes and G − S
// of failures, so that its cumulants V (pairs), T (a, b, b) and Q (a, a, b, b)
// are S times those of one contribution and G − S times those of the other. With d the mean of g
// given S less that of all groups,
//
//	E[g̃_a g̃_b²]  = E[T_ab + 2 d_b V_ab + d_a V_bb + d_a d_b²]
//	E[g̃_a² g̃_b²] = E[Q_ab + V_aa V_bb + 2 V_ab² + 2 d_a T_ab + 2 d_b T_ba
//	                 + d_b² V_aa + d_a² V_bb + 4 d_a d_b V_ab + d_a² d_b²]
//
// for g̃ = g − E g. A cumulant of order n of the mean of B groups is B^{1−n} times that of one. The
// work is that of a few products of A×A matrices for every number of successes.
func (m *Model) Pairs() *pairMoments {
	arms := len(m.Arms)
	all := &pairMoments{group.Square(arms), group.Square(arms), group.Square(arms)}
	j, rest := m.Counts.Chances(m.Old)
	if m.Counts.AtRest(j, rest) && !m.KL.Sampled() {
		return all
	}
	given := givenSuccesses(m)
	law, means := m.Counts.Successes(j, rest), make([]float64, arms)
	for i, w := range law.Weights {
		floats.AddScaled(means, w, given(law.At(i)).mean)
	}
	for i, w := range law.Weights {
		c := given(law.At(i))
		floats.Sub(c.mean, means)
		for a, da := range c.mean {
			for b, db := range c.mean {
				va, vb, v := c.second[a][a], c.second[b][b], c.second[a][b]
				all.Second[a][b] += w * (v + da*db)
				all.third[a][b] += w * (c.third[a][b] + 2*db*v + da*vb + da*db*db)
				all.Fourth[a][b] += w *
					(c.fourth[a][b] + va*vb + 2*v*v + 2*da*c.third[a][b] + 2*db*c.third[b][a] +
						db*db*va + da*da*vb + 4*da*db*v + da*da*db*db)
			}
		}
	}
	size, variances := float64(m.GroupsPerStep), make([]float64, arms)
	for a := range variances {
		variances[a] = all.Second[a][a]
	}
	noise := m.Factors.Noise
	for a := range arms {
		for b := range arms {
			v := all.Second[a][b]
			all.Fourth[a][b] = (all.Fourth[a][b] - variances[a]*variances[b] - 2*v*v) * noise * noise /
				(size * size * size)
			all.third[a][b] *= fp.Pow(noise, 1.5) / (size * size)
			all.Second[a][b] = v * noise / size
		}
	}
	return all
}

// givenSuccesses returns a function that gives the mean and the cumulants of the force of one
// group, given its number of successes. The next call overwrites them.
func givenSuccesses(m *Model) func(s int) *contribution {
	alpha, delta := m.Counts.Outcomes(m.Counts.Chances(m.Old))
	c := newContribution(len(m.Arms))
	success, failure := newContribution(len(m.Arms)), newContribution(len(m.Arms)) // of one sample
	success.ofOne(m, 1, m.Up, alpha)
	failure.ofOne(m, 1, m.Down, delta)
	return func(s int) *contribution {
		c.clear()
		up, down := m.Counts.Advantages(s)
		if m.KL.Sampled() { // which does not scale with the advantage
			success.ofOne(m, up, m.Up, alpha)
			failure.ofOne(m, down, m.Down, delta)
			up, down = 1, 1
		}
		c.add(float64(s), up, success)
		c.add(m.Size-float64(s), down, failure)
		return c
	}
}

// Squares returns Cov(g_a, g_b²) and Cov(g_a², g_b²) of a force of the given mean:
//
//	κ_12 + 2F_b κ_11,   κ_22 + 2κ_11² + 2F_a κ_12 + 2F_b κ_21 + 4F_a F_b κ_11
func (p *pairMoments) Squares(mean []float64) (mixed, square [][]float64) {
	mixed, square = group.Square(len(mean)), group.Square(len(mean))
	for a, fa := range mean {
		for b, fb := range mean {
			v := p.Second[a][b]
			mixed[a][b] = p.third[a][b] + 2*fb*v
			square[a][b] = p.Fourth[a][b] + 2*v*v + 2*fa*p.third[a][b] + 2*fb*p.third[b][a] + 4*fa*fb*v
		}
	}
	return mixed, square
}

// contribution holds the mean and the pair cumulants of a part of a group's force.
type contribution struct {
	mean                  []float64
	second, third, fourth [][]float64
	forces                [][]float64 // of one sample of each arm, see ofOne
}

func newContribution(arms int) *contribution {
	return &contribution{make([]float64, arms), group.Square(arms), group.Square(arms),
		group.Square(arms), group.Square(arms)}
}

func (c *contribution) clear() {
	clear(c.mean)
	for a := range c.mean {
		clear(c.second[a])
		clear(c.third[a])
		clear(c.fourth[a])
	}
}

// add adds those of a number of independent samples, with a factor of their force.
func (c *contribution) add(count, factor float64, one *contribution) {
	second := count * factor * factor
	floats.AddScaled(c.mean, count*factor, one.mean)
	for a := range one.mean {
		floats.AddScaled(c.second[a], second, one.second[a])
		floats.AddScaled(c.third[a], second*factor, one.third[a])
		floats.AddScaled(c.fourth[a], second*factor*factor, one.fourth[a])
	}
}

// ofOne sets c to that of one sample of a reward, with an advantage, and by arm its weight and its
// probability.
func (c *contribution) ofOne(m *Model, advantage float64, weight, probability []float64) {
	now, at := m.Now.Probs, m.anchor().Probs
	c.clear()
	for s, row := range c.forces {
		reward, penalty := advantage*weight[s]/m.Size, 0.0
		if m.KL.Sampled() {
			penalty = m.KL.Coefficient * m.Kappa[s] / m.Size
		}
		for a := range row {
			row[a] = penalty*at[a] - reward*now[a]
		}
		row[s] += reward - penalty
		floats.AddScaled(c.mean, probability[s], row)
	}
	for s, row := range c.forces {
		floats.Sub(row, c.mean)
		for a, x := range row {
			w := probability[s] * x
			for b, y := range row {
				c.second[a][b] += w * y
				c.third[a][b] += w * y * y
				c.fourth[a][b] += w * x * y * y
			}
		}
	}
	for a := range c.mean {
		for b := range c.mean {
			v := c.second[a][b]
			c.fourth[a][b] -= c.second[a][a]*c.second[b][b] + 2*v*v
		}
	}
}
