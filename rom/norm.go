package rom

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"grposim/option"
	"grposim/rom/fp"
	"grposim/rom/group"
)

// gradientSquare returns r² = E ‖g‖² = |F|² + tr C of the gradient estimate g of a step, of mean F, at the state that is set.
func gradientSquare(m *model) float64 {
	force := make([]float64, len(m.Arms))
	m.meanForce(force)
	return floats.Dot(force, force) + mat.Trace(m.covariance())
}

// normFactor returns E ‖g‖/r, and the size of what it leaves out: E ‖g‖ is a sum over events of a step, see normSums. Steps in which at
// most one group exerts a force are resolved by its number of successes (groupNorms), the others are one event.
func normFactor(m *model, now, old []float64) (mean, size float64) {
	m.set(now, old)
	square := gradientSquare(m)
	if m.GroupSize == option.Infinite || square <= 0 {
		return 1, 0
	}
	still, force := make([]float64, len(m.Arms)), make([]float64, len(m.Arms)) // of the penalty alone, and of all
	if !m.KL.Sampled() {
		m.subtractPenalty(still)
	}
	m.addEntropy(still)
	m.meanForce(force)
	groups := float64(m.GroupsPerStep)
	one := groupNorms(m, still, 1/groups)
	none := max(1-one.probability, 0)
	rest, rare := fp.Pow(none, groups), groups*fp.Pow(none, groups-1)
	all := normSums{0, rare * one.norm, rare * one.size, rare * one.square, rare * one.fourth}
	all.exactly(rest, floats.Dot(still, still))
	if m.GroupsPerStep > 1 {
		_, fourth := m.pairs().norms(force)
		all.about(1-rest-rare*one.probability, square-all.square, fourth-all.fourth)
	}
	return all.norm / math.Sqrt(all.square), all.size / math.Sqrt(all.square)
}

// normSums holds sums over events of a step, each times its probability: of 1, ‖g‖, the size of what that leaves out, ‖g‖² and ‖g‖⁴.
type normSums struct{ probability, norm, size, square, fourth float64 }

// exactly adds an event in which ‖g‖² is known.
func (s *normSums) exactly(p, square float64) {
	s.probability += p
	s.norm += p * math.Sqrt(square)
	s.square += p * square
	s.fourth += p * square * square
}

// about adds an event of which the parts of E ‖g‖² and E ‖g‖⁴ are known. With r² and v = Var ‖g‖²/r⁴ in it,
//
//	E ‖g‖ = r e^{−v/8},   r/√(1+v) ≤ E ‖g‖ ≤ r
//
// to first order in v, and for every v by Hölder and Jensen. The size is the distance to the farther of the bounds.
func (s *normSums) about(p, square, fourth float64) {
	if !(p > 0 && square > 0) {
		return
	}
	v := max(p*fourth/(square*square)-1, 0)
	least, root := 1/math.Sqrt(1+v), math.Sqrt(p*square)
	here := max(fp.Exp(-v/8), least)
	s.probability += p
	s.norm += root * here
	s.size += root * max(1-here, here-least)
	s.square += square
	s.fourth += fourth
}

// maxNormSums is the number of different groups up to which all are summed over: a millisecond.
const maxNormSums = 7_000

// groupNorms returns the sums of a step in which one group exerts a force, times a scale, beside the force still of every step. Few different groups are
// summed over one by one. Of others, given the number of successes, those whose samples are all of one arm are set apart: advantages add to 0, so
// that near a pure policy they are most of the groups and exert no force. The rest is one event for each number.
func groupNorms(m *model, still []float64, scale float64) (all normSums) {
	j, rest := m.counts.Chances(m.Old)
	alpha, delta := m.counts.Outcomes(j, rest)
	given := givenSuccesses(m, scale)
	law, few := m.counts.Successes(j, rest), differentGroups(m) <= maxNormSums
	sum := make([]float64, len(still))
	event := func(p float64, u, v []float64) (square float64) { // of a group with the force u + v
		moved, parts := 0.0, 0.0
		for a, x := range u {
			y := v[a]
			moved += (x + y) * (x + y)
			parts += x*x + y*y
			sum[a] = scale*(x+y) + still[a]
		}
		if square = floats.Dot(sum, sum); moved > 0x1p-80*parts { // beyond rounding
			all.exactly(p, square)
		}
		return square
	}
	successes, failures := group.Square(len(m.Arms)), group.Square(len(m.Arms))
	for i, w := range law.Weights {
		s := law.At(i)
		up, down := m.counts.Advantages(s)
		if up == 0 && down == 0 && !m.KL.Sampled() {
			continue
		}
		sampleForces(successes, m, up, m.Up)
		sampleForces(failures, m, down, m.Down)
		if few {
			us, vs := drawnSums(s, alpha, successes), drawnSums(m.GroupSize-s, delta, failures)
			for _, u := range us {
				for _, v := range vs {
					event(w*u.chance*v.chance, u.force, v.force)
				}
			}
			continue
		}
		c, left := given(s), 1.0
		floats.Add(c.mean, still)
		square, fourth := (&pairMoments{c.second, c.third, c.fourth}).norms(c.mean)
		for a := range still {
			p := fp.Pow(alpha[a], float64(s)) * fp.Pow(delta[a], m.size-float64(s))
			if p == 0 {
				continue
			}
			floats.Scale(float64(s), successes[a])
			floats.Scale(m.size-float64(s), failures[a])
			x := event(w*p, successes[a], failures[a])
			left, square, fourth = left-p, square-p*x, fourth-p*x*x
		}
		all.about(w*left, w*square, w*fourth)
	}
	return all
}

// differentGroups returns the number of groups that differ in how many samples of an arm succeed and fail, C(G + 2A − 1, G).
func differentGroups(m *model) float64 {
	n := 1.0
	for k := 1.0; k < 2*float64(len(m.Arms)); k++ {
		n *= (m.size + k) / k
	}
	return n
}

// drawnSum is the sum of the forces of samples that can be drawn, and the probability of it.
type drawnSum struct {
	chance float64
	force  []float64
}

// lostChance is the probability below which a sum is left out. Of 7,000 that is less than 1e-13 of the steps with as many successes.
const lostChance = 1e-18

// drawnSums returns those of n samples that are of the arms with the given probabilities, each with its force.
func drawnSums(n int, probability []float64, force [][]float64) (all []drawnSum) {
	sum := make([]float64, len(force))
	var draw func(a, left int, chance float64)
	draw = func(a, left int, chance float64) {
		before := slices.Clone(sum)
		for k := range left + 1 {
			switch {
			case chance < lostChance:
			case a < len(force)-1:
				draw(a+1, left-k, chance)
			case k == left:
				all = append(all, drawnSum{chance, slices.Clone(sum)})
			}
			floats.Add(sum, force[a])
			chance *= probability[a] * float64(left-k) / float64(k+1)
		}
		copy(sum, before)
	}
	draw(0, n, 1)
	return all
}
