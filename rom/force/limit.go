package force

import (
	"math"

	"grposim/option"
	"grposim/rom/group"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
)

// This file has the force of two arms whose gradient is scaled to a largest norm c
// (docs/theory-trainers.md §11.6). The components of a gradient add to 0, so that its norm is
// √2|g_1| and the force of a step is g_1 cut to [−c/√2, c/√2].

// newGroupForce returns the coefficients at the logits given to set.
func newGroupForce(m *Model) *groupForce {
	var f groupForce
	now, at := &m.Now, m.anchor()
	for a, sign := range [2]float64{1, -1} {
		share := sign * now.Probs[1-a] / m.Size
		f.success[a], f.failure[a] = m.Up[a]*share, m.Down[a]*share
		f.arm[a] = -sign * m.KL.Coefficient * m.Kappa[a] * at.Probs[1-a] / m.Size
	}
	if m.KL.In == option.InLoss && m.KL.Gradient == option.ExactKL {
		f.fixed -= m.KL.Coefficient * at.Probs[0] * at.Probs[1] *
			(at.Logs[0] - m.LogReference[0] - at.Logs[1] + m.LogReference[1])
	}
	l, _ := m.uncertainty()
	f.fixed -= m.Entropy * now.Probs[0] * now.Probs[1] * (l[0] - l[1])
	return &f
}

// line returns g_1 = base + s_1·success + f_1·failure of a group of s successes, with the
// advantages up and down.
func (f *groupForce) line(size, s int, up, down float64) (base, success, failure float64) {
	failures := float64(size - s)
	base = f.fixed + float64(s)*(up*f.success[1]+f.arm[1]) + failures*(down*f.failure[1]+f.arm[1])
	return base, up*(f.success[0]-f.success[1]) + f.arm[0] - f.arm[1],
		down*(f.failure[0]-f.failure[1]) + f.arm[0] - f.arm[1]
}

// HoldCuts makes the model cut, until the returned function is called, those groups alone that
// the logits now set cut: their force is then a smooth function of the logits, with the
// derivatives that the force has here.
func (m *Model) HoldCuts() (back func()) {
	old := m.cuts
	if m.Limited() {
		m.cuts = newGroupForce(m)
	}
	return func() { m.cuts = old }
}

// ChangeOfCuts returns the largest relative change of the force within three deviations of the
// logit gap from logits because other groups are cut there.
func (m *Model) ChangeOfCuts(logits []float64, deviation float64) (change float64) {
	m.Set(logits, logits)
	held := newGroupForce(m)
	for _, away := range [6]float64{-3, -2, -1, 1, 2, 3} {
		gap := away * deviation
		theta := []float64{logits[0] + gap/2, logits[1] - gap/2}
		m.Set(theta, theta)
		free, _ := m.CutMoments()
		m.cuts = held
		same, _ := m.CutMoments()
		m.cuts = nil
		change = max(change, math.Abs(free/same-1))
	}
	return change
}

// CutMoments returns the mean and the variance of the cut g_1 of one group, exactly.
func (m *Model) CutMoments() (mean, variance float64) {
	most, square := m.Cut(), 0.0
	eachGroup(m, newGroupForce(m), m.cuts, func(x, decides, w float64) {
		if math.Abs(decides) > most {
			x = math.Copysign(most, decides)
		}
		mean += w * x
		square += w * x * x
	})
	return mean, max(square-mean*mean, 0)
}

// eachGroup calls visit with g_1 of each group that two arms may have, with g_1 where a cut is decided
// (nil: the same), and its probability. It runs over prompts and numbers of successes. Given these,
// the successes and the failures of the first arm are independent and binomial (docs/theory.md §2).
func eachGroup(m *Model, now, where *groupForce, visit func(x, decides, w float64)) {
	for share, law := range sharesOf(m) {
		for chance, parts := range law.Given {
			s, alpha, delta := int(parts[0].Count), parts[0].Arms, parts[1].Arms
			up, down := parts[0].Advantage, parts[1].Advantage
			base, bySuccess, byFailure := now.line(m.GroupSize, s, up, down)
			at, atSuccess, atFailure := base, bySuccess, byFailure
			if where != nil {
				at, atSuccess, atFailure = where.line(m.GroupSize, s, up, down)
			}
			successes, weights := numbers(m, 0, s, alpha)
			failures, others := numbers(m, 1, m.GroupSize-s, delta)
			for k, n := range successes {
				g, where, p := base+n*bySuccess, at+n*atSuccess, share*chance*weights[k]
				for l, n := range failures {
					visit(g+n*byFailure, where+n*atFailure, p*others[l])
				}
			}
		}
	}
}

// numbers returns the values of a binomial number of the first arm, and their probabilities. Other
// prompts smooth the cut, so that two nodes serve large groups.
func numbers(m *Model, part, size int, chances []float64) (values, weights []float64) {
	if n, p := float64(size), chances[0]; m.Others != nil && m.GroupSize > 2*group.LeastExpanded {
		return twoNodes(n*p, n*p*chances[1], (chances[1]-p)/2)
	}
	law := group.NewBinomial(size, chances[0], chances[1], m.inner[part])
	for k := range law.Weights {
		values = append(values, float64(law.First+k))
	}
	m.inner[part] = law.Weights
	return values, law.Weights
}

// twoNodes returns the nodes and weights with the first three cumulants of a law. The third is
// twice skew times the variance.
func twoNodes(mean, variance, skew float64) (nodes, weights []float64) {
	if variance <= 0 {
		return []float64{mean}, []float64{1}
	}
	reach := math.Sqrt(variance + skew*skew)
	return []float64{mean + skew - reach, mean + skew + reach},
		[]float64{(1 + skew/reach) / 2, (1 - skew/reach) / 2}
}

const (
	latticeNodes = 2048 // a power of 2
	latticeReach = 12   // deviations of a step from its mean
)

// LimitedStep returns the cumulants of g_1 of a step that is cut to [−c/√2, c/√2], where
// Params.GroupsCounted, given mean and variance without the cut. Other prompts with a policy each
// add R to g_1², which makes the cut c|g_1|/√(2(g_1² + R)). R is taken for gamma, by two nodes.
// Of B groups that are drawn with replacement it is that beside one, Cov(R, g_1) = −E R E g_1/B.
func LimitedStep(m *Model, c, mean, variance float64) (cumulants [4]float64) {
	free, law, chance := make([]float64, 0, 1024), make([]float64, 0, 1024), Visiting(m)
	eachGroup(m, newGroupForce(m), nil, func(x, _, w float64) {
		free, law = append(free, x), append(law, chance*w)
	})
	if chance < 1 {
		free, law = append(free, 0), append(law, 1-chance)
	}
	if m.GroupsPerStep > 1 {
		free, law = onLattice(m, free, law, mean, variance)
	}
	others, shares := twoNodes(m.others[0], m.others[1], m.others[1]/m.others[0])
	size := len(others) * len(free)
	values, weights := make([]float64, 0, size), make([]float64, 0, size)
	for n, square := range others {
		for i, x := range free {
			rest := square
			if chance < 1 && m.GroupsPerStep > 1 && variance > 0 { // the more of this prompt, the less
				rest *= max(1+(1-(x-mean)*mean/variance)/float64(m.GroupsPerStep-1), 0)
			}
			norm := max(math.Sqrt(x*x+rest), math.SmallestNonzeroFloat64)
			most := c / math.Sqrt2 * (math.Abs(x) / norm)
			values = append(values, max(-most, min(most, x)))
			weights = append(weights, shares[n]*law[i])
		}
	}
	cumulants[0] = floats.Dot(values, weights)
	for i, x := range values {
		x -= cumulants[0]
		for n, power := 1, x; n < 4; n++ {
			power *= x
			cumulants[n] += weights[i] * power
		}
	}
	cumulants[3] -= 3 * cumulants[1] * cumulants[1]
	cumulants[0] *= m.Factors.Stiffness
	cumulants[1] *= m.Factors.Noise
	return cumulants
}

// onLattice returns the law of the mean of B groups, given that of one and mean and variance of a
// step. The values of a group are split between neighbours on a lattice about the mean. The spectrum
// of B groups is the B-th power of that of one. This adds at most B/4 of the square of the lattice's
// step to the variance.
func onLattice(m *Model, values, weights []float64, mean, variance float64) (at, law []float64) {
	groups := float64(m.GroupsPerStep)
	far := max(floats.Max(values)-mean, mean-floats.Min(values))
	nodes := latticeNodes
	if m.Others != nil {
		nodes /= 4
	}
	step := 2.01 * min(far, max(latticeReach*math.Sqrt(variance), 2*far/groups)) / float64(nodes)
	if step == 0 {
		return []float64{mean}, []float64{1}
	}
	law = make([]float64, nodes)
	for i, x := range values {
		place := (x - mean) / (groups * step)
		low := math.Floor(place)
		law[int(low)&(nodes-1)] += weights[i] * (1 - place + low)
		law[int(low+1)&(nodes-1)] += weights[i] * (place - low)
	}
	if m.series == nil {
		m.series = fourier.NewFFT(nodes)
	}
	spectrum := m.series.Coefficients(nil, law)
	for i, x := range spectrum {
		spectrum[i] = complex(1/float64(nodes), 0)
		for n := m.GroupsPerStep; n > 0; n /= 2 {
			if n%2 == 1 {
				spectrum[i] *= x
			}
			x *= x
		}
	}
	m.series.Sequence(law, spectrum)
	for i := range law {
		at = append(at, mean+float64(i-i/(nodes/2)*nodes)*step)
	}
	return at, law
}
