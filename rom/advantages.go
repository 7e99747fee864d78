package rom

import (
	"math"

	"grposim/option"
)

// tabled reports whether the advantages are those of a table by the number S of successes,
// whose sum over a group is in general not 0 (docs/theory-trainers.md §11.4).
func (m *model) tabled() bool {
	return m.GroupSize != option.Infinite && (m.Advantage.Baseline == option.SecondBest || m.Advantage.Scale == option.OthersStd || m.Advantage.Scale == option.MeanScale)
}

// ofGroup reports whether the advantage is a reward minus the mean of its group or of the
// others in it, over 1 or the standard deviation of the group.
func (p *Params) ofGroup() bool {
	return p.Advantage.Baseline <= option.LeaveOneOut && (p.Advantage.Scale == option.StdScale || p.Advantage.Scale == option.NoScale)
}

// givenBaseline reports whether the baseline does not depend on the rewards of the step, so that
// groups of equal rewards exert a force.
func (p *Params) givenBaseline() bool {
	return p.Advantage.Baseline == option.ConstantBaseline || p.Advantage.Baseline == option.RunningMean
}

// atRest reports whether no group exerts a force, because no reward varies.
func (m *model) atRest(j, rest float64) bool {
	return (j <= 0 || rest <= 0) && !m.givenBaseline()
}

// advantages returns u⁺ and u⁻ of a group with 0 ≤ s ≤ G successes, both 0 where all rewards
// are equal unless the baseline is constant. It is not a running mean.
func (m *model) advantages(s int) (up, down float64) {
	if m.Advantage.Baseline == option.ConstantBaseline {
		return 1 - m.Advantage.Value, -m.Advantage.Value
	}
	if s == 0 || s == m.GroupSize {
		return 0, 0
	}
	share, rest := float64(s)/m.size, (m.size-float64(s))/m.size
	switch {
	case m.Advantage.Baseline == option.SecondBest: // only a lone success is better than the second best
		if s == 1 {
			up = m.inverseScale(share, rest)
		}
		return up, 0
	case m.Advantage.Scale == option.MeanScale:
		return rest / share, -1
	case m.Advantage.Scale == option.OthersStd:
		n := m.size - 1
		deviation := func(t float64) float64 {
			if t == 0 || t == n {
				return 1
			}
			return math.Sqrt(t*(n-t)/(n*(n-1))) + m.Advantage.Epsilon
		}
		x := float64(s)
		return (m.size - x) / n / deviation(x-1), -x / n / deviation(x)
	}
	inverse := m.baseline * m.inverseScale(share, rest)
	return inverse * (m.size - float64(s)) / m.size, -inverse * share
}

// tablePhi returns φ = E[u⁺(T+1) − u⁻(T)], T ~ Binomial(G−1, J), and its derivative.
func (m *model) tablePhi(j, rest float64) (phi, slope float64) {
	f := func(t int) float64 {
		up, _ := m.advantages(t + 1)
		_, down := m.advantages(t)
		return up - down
	}
	n := m.GroupSize - 1
	first, stride, weights := binomial(n, j, rest, m.weights)
	for i, w := range weights {
		phi += w * f(first+i*stride)
	}
	first, stride, weights = binomial(n-1, j, rest, weights)
	for i, w := range weights {
		t := first + i*stride
		slope += w * (f(t+1) - f(t))
	}
	m.weights = weights
	return phi, float64(n) * slope
}

// excess returns E A, the mean advantage of a sample: E[R u⁺ + (1−R) u⁻], 0 for the mean of a
// group; J − b where the baseline is given.
func (m *model) excess(j, rest float64) float64 {
	switch {
	case m.givenBaseline():
		mean, _, _ := m.givenLaw(j, rest)
		return j - mean
	case !m.tabled():
		return 0
	}
	first, stride, weights := binomial(m.GroupSize, j, rest, m.weights)
	m.weights = weights
	sum := 0.0
	for i, w := range weights {
		s := first + i*stride
		up, down := m.advantages(s)
		sum += w * (up*float64(s) + down*(m.size-float64(s))) / m.size
	}
	return sum
}

// tableMoments returns the moments of a group of tabled advantages.
func (m *model) tableMoments(j, rest float64) (g groupMoments) {
	first, stride, weights := binomial(m.GroupSize, j, rest, m.weights)
	m.weights = weights
	at := func(i int) (q, excess, share, up, down float64) {
		s := first + i*stride
		share = float64(s) / m.size
		up, down = m.advantages(s)
		return share * up, share*up + (1-share)*down, share, up, down
	}
	for i, w := range weights {
		q, excess, share, up, down := at(i)
		g.mean += w * q
		g.excess += w * excess
		g.up += w * q * up
		g.down += w * (1 - share) * down * down
	}
	for i, w := range weights {
		q, excess, share, _, _ := at(i)
		q, excess, share = q-g.mean, excess-g.excess, share-j
		g.variance += w * q * q
		g.covariance += w * q * share
		g.excessVariance += w * excess * excess
		g.excessAlong += w * q * excess
		g.excessShare += w * excess * share
	}
	return g
}

// givenLaw returns the mean of a given baseline b and of 1 − b, and the variance of b. The
// running mean is that of a mean field, else J, and has the variance
// α/(2−α) J(1−J)/N of an average of independent mean rewards of N samples.
func (m *model) givenLaw(j, rest float64) (mean, other, variance float64) {
	if m.Advantage.Baseline == option.ConstantBaseline {
		return m.Advantage.Value, 1 - m.Advantage.Value, 0
	}
	variance = m.Advantage.Rate / (2 - m.Advantage.Rate) * j * rest / (m.size * float64(m.GroupsPerStep))
	if m.running != nil {
		return *m.running, 1 - *m.running, variance
	}
	return j, rest, variance
}

// startBaseline makes the running mean that of a mean field, at its first step.
func (m *model) startBaseline() {
	if m.Advantage.Baseline == option.RunningMean {
		b := m.Advantage.Value
		m.running = &b
	}
}

// drawn returns the number of draws of groups in the steps before t.
func (p *Params) drawn(t int) int {
	if p.Samples == option.Reused {
		return (t + p.Lag.Interval - 1) / p.Lag.Interval
	}
	return t
}

// draws reports whether step t draws groups.
func (p *Params) draws(t int) bool { return p.drawn(t+1) > p.drawn(t) }

// moveBaseline moves the running mean of a mean field by one draw at J.
func (m *model) moveBaseline(j float64) { *m.running += m.Advantage.Rate * (j - *m.running) }

// givenMoments returns the moments of a group with a given baseline, averaged over its law.
func (m *model) givenMoments(j, rest float64) groupMoments {
	b, other, variance := m.givenLaw(j, rest)
	spread := j * rest / m.size // Var R
	return groupMoments{
		mean: j * other, share: j,
		up: j * (other*other + variance), down: rest * (b*b + variance),
		variance: spread * (other*other + variance), covariance: spread * other,
		excess: j - b, excessVariance: spread, excessAlong: spread * other, excessShare: spread,
	}
}

// batchMoments returns the moments of a step whose advantages are divided by the standard
// deviation or the mean of all its N = GB rewards, as those of one group: variances are B times as large.
// Given the number T of successes in the step the numbers S and F = G − S of a group are
// hypergeometric,
//
//	E[(S)_i (F)_k | T] = (G)_{i+k} (T)_i (N−T)_k/(N)_{i+k},
//
// (x)_i = x(x−1)…(x−i+1), and alike for two groups together.
func (m *model) batchMoments(j, rest float64) (g groupMoments) {
	b := float64(m.GroupsPerStep)
	n := m.size * b
	falling := func(x float64, i int) float64 {
		p := 1.0
		for k := range i {
			p *= x - float64(k)
		}
		return p
	}
	first, stride, weights := binomial(int(n), j, rest, m.weights)
	m.weights = weights
	at := func(i int) (q, inverse, share, t float64) {
		t = float64(first + i*stride)
		if t == 0 || t == n {
			return 0, 0, t / n, t
		}
		inverse = m.baseline * m.inverseScale(t/n, (n-t)/n)
		return inverse * (1 - 1/m.size) / (1 - 1/n) * (t / n) * ((n - t) / n), inverse, t / n, t
	}
	for i, w := range weights {
		q, inverse, share, t := at(i)
		one := func(s, f int) float64 { // of one group
			return falling(m.size, s+f) * falling(t, s) * falling(n-t, f) / falling(n, s+f)
		}
		g.mean += w * q
		g.share += w * share
		if inverse == 0 {
			continue
		}
		size := m.size * m.size * m.size
		pair, few, many := one(1, 1), one(1, 2), one(2, 1)
		four := 0.0
		if n > 3 {
			four = one(2, 2)
		}
		g.up += w * inverse * inverse * (few + pair) / size
		g.down += w * inverse * inverse * (many + pair) / size
		// Q = mean of R(1−R) over the groups
		square := (four + few + many + pair) / b
		if m.GroupsPerStep > 1 {
			two := falling(m.size, 2) * falling(m.size, 2) * falling(t, 2) * falling(n-t, 2) / falling(n, 4)
			square += (1 - 1/b) * two
		}
		g.variance += w * (inverse*inverse*square/(size*m.size) - q*q)
	}
	for i, w := range weights {
		q, _, share, _ := at(i)
		g.variance += w * (q - g.mean) * (q - g.mean)
		g.covariance += w * (q - g.mean) * (share - j)
	}
	g.variance *= b
	g.covariance *= b
	return g
}
