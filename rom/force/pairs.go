package force

import (
	"iter"

	"grposim/fp"
	"grposim/rom/group"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Joint returns the covariance of (g, g²) of a step with the mean force F given, 2A×2A, by arm
//
//	Cov(g_a, g_b²)  = κ_12 + 2F_b κ_11
//	Cov(g_a², g_b²) = κ_22 + 2κ_11² + 2F_a κ_12 + 2F_b κ_21 + 4F_a F_b κ_11
//
// and the excess kurtosis of g_a, 1/p where a share p of the steps exerts a force. G is finite, and
// the logits are those given to Set. Given S successes the force of a group is a sum of independent
// contributions, S of successes and G − S of failures. So are its cumulants V (pairs), T (a, b, b)
// and Q (a, a, b, b). With d the mean of g given S less that of all groups,
//
//	E[g̃_a g̃_b²]  = E[T_ab + 2 d_b V_ab + d_a V_bb + d_a d_b²]
//	E[g̃_a² g̃_b²] = E[Q_ab + V_aa V_bb + 2 V_ab² + 2 d_a T_ab + 2 d_b T_ba
//	                 + d_b² V_aa + d_a² V_bb + 4 d_a d_b V_ab + d_a² d_b²]
//
// for g̃ = g − E g. A cumulant of order n of the mean of B groups is B^{1−n} times that of one. The
// work is that of a few products of A×A matrices for every number of successes.
//
// Of many prompts the prompt is given as well. The force of rewards with many values is taken for
// normal, but for the excess of an arm that is seldom drawn. A scale of the step is that of its
// mean. In both κ_11 is that of Covariance.
func (m *Model) Joint(mean []float64) (joint [][]float64, excess []float64) {
	arms := len(m.Arms)
	second, third, fourth := group.Square(arms), group.Square(arms), group.Square(arms)
	means := make([]float64, arms)
	m.given(func(w float64, c *contribution) { floats.AddScaled(means, w, c.mean) })
	m.given(func(w float64, c *contribution) {
		floats.Sub(c.mean, means)
		for a, da := range c.mean {
			for b, db := range c.mean {
				va, vb, v := c.second[a][a], c.second[b][b], c.second[a][b]
				second[a][b] += w * (v + da*db)
				third[a][b] += w * (c.third[a][b] + 2*db*v + da*vb + da*db*db)
				fourth[a][b] += w *
					(c.fourth[a][b] + va*vb + 2*v*v + 2*da*c.third[a][b] + 2*db*c.third[b][a] +
						db*db*va + da*da*vb + 4*da*db*v + da*da*db*db)
			}
		}
	})
	size, noise, ofOne := float64(m.GroupsPerStep), m.Factors.Noise, second
	if m.Counts == nil || m.Advantage.Scale.OfStep() {
		exact := m.Covariance()
		second = group.Square(arms)
		for a, row := range second {
			mat.Row(row, a, exact)
			floats.Scale(size/noise, row)
		}
	}
	at := func(a, b int) (k11, k12, k22 float64) {
		v := ofOne[a][b]
		return second[a][b] * noise / size, third[a][b] * fp.Pow(noise, 1.5) / (size * size),
			(fourth[a][b] - ofOne[a][a]*ofOne[b][b] - 2*v*v) * noise * noise / (size * size * size)
	}
	joint, excess = JointOf(mean, at), make([]float64, arms)
	_, expanded := m.Law.(*group.Expanded)
	for a := range mean {
		v, _, k22 := at(a, a)
		switch {
		case expanded:
			excess[a] = 1 / (size * m.Size * m.Old[a])
			joint[arms+a][arms+a] += excess[a] * v * v
		case v > 0:
			excess[a] = k22 / (v * v)
		}
	}
	return joint, excess
}

// JointOf returns the covariance of Joint, given F and the cumulants κ_11, κ_12 and κ_22 of two arms.
func JointOf(mean []float64, cumulants func(a, b int) (k11, k12, k22 float64)) (joint [][]float64) {
	arms := len(mean)
	joint = group.Square(2 * arms)
	for a, fa := range mean {
		for b, fb := range mean {
			v, k12, k22 := cumulants(a, b)
			_, k21, _ := cumulants(b, a)
			joint[a][b] = v
			joint[a][arms+b], joint[arms+b][a] = k12+2*fb*v, k12+2*fb*v
			joint[arms+a][arms+b] = k22 + 2*v*v + 2*fa*k12 + 2*fb*k21 + 4*fa*fb*v
		}
	}
	return joint
}

// given calls visit with the mean and the cumulants of the force of a group, given all that they
// depend on, and with the probability of that. The next call overwrites them.
func (m *Model) given(visit func(weight float64, c *contribution)) {
	for share, one := range sharesOf(m) {
		givenParts(m, one.Given, Visiting(m)*share, visit)
	}
	if law, ok := m.Law.(*group.Composed); ok {
		givenParts(m, law.Given, 1, visit)
	}
	if m.Chance > 0 {
		visit(1-Visiting(m), newContribution(len(m.Arms)))
	}
}

// givenParts is given by the parts of groups that have a weight, with their probabilities.
func givenParts(m *Model, groups iter.Seq2[float64, []group.Part], weight float64,
	visit func(weight float64, c *contribution)) {
	c, one := newContribution(len(m.Arms)), newContribution(len(m.Arms))
	for chance, parts := range groups {
		c.clear()
		for _, part := range parts {
			if part.Count > 0 {
				one.ofOne(m, part.Advantage, part.Weights, part.Arms)
				c.add(part.Count, one)
			}
		}
		visit(weight*chance, c)
	}
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

// add adds those of a number of independent samples.
func (c *contribution) add(count float64, one *contribution) {
	floats.AddScaled(c.mean, count, one.mean)
	for a := range one.mean {
		floats.AddScaled(c.second[a], count, one.second[a])
		floats.AddScaled(c.third[a], count, one.third[a])
		floats.AddScaled(c.fourth[a], count, one.fourth[a])
	}
}

// ofOne sets c to that of one sample of a reward, with an advantage, and by arm its weight and its
// probability.
func (c *contribution) ofOne(m *Model, advantage float64, weight, probability []float64) {
	now, at := m.Now.Probs, m.anchor().Probs
	c.clear()
	for s, row := range c.forces {
		if probability[s] == 0 {
			continue
		}
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
		if probability[s] == 0 {
			continue
		}
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
