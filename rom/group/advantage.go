package group

import (
	"math"

	"grposim/option"
)

// scaling is a row of the table of advantages of two-valued rewards, of one scale. In a group (or
// step) with the share R of successes, 0 < R < 1, inverse is the advantage per r_i − r̄. r_i − r̄
// is in units of span; leave-one-out's factor is not included. Where advantages need not add to 0,
// byCount gives those of a success and a failure.
type scaling struct {
	inverse func(c *Counts, share, rest float64) float64
	byCount func(c *Counts, s int) (up, down float64) // 0 < s < G successes; nil: inverse·(r_i − r̄)
	most    func(span float64) float64                // MostAdvantage of a mean baseline

	// slope returns d inverse/dR, given inverse, which is φ′ at G = ∞. atInfinity is the scale that
	// this one becomes where all groups have the same rewards.
	slope      func(c *Counts, share, rest, inverse float64) float64
	atInfinity option.Scale

	// form returns how the expectations of finite groups are computed; nil: ofGroup.
	form func(c *Counts) advantage
}

// scalings is the table, by Scale.
var scalings = [...]scaling{
	option.StdScale: {inverse: overStd, slope: stdSlope, atInfinity: option.StdScale, most: one},
	option.NoScale: {
		most:       func(span float64) float64 { return span / 2 },
		inverse:    func(c *Counts, _, _ float64) float64 { return c.span },
		slope:      func(*Counts, float64, float64, float64) float64 { return 0 },
		atInfinity: option.NoScale,
	},
	option.BatchStd:  {inverse: overStd, atInfinity: option.StdScale, form: newOfStep, most: one},
	option.OthersStd: {inverse: overStd, atInfinity: option.StdScale, byCount: overOthers, most: unknown},
	option.MeanScale: {
		inverse: overMean, slope: meanSlope, atInfinity: option.MeanScale, most: two,
		byCount: func(c *Counts, s int) (up, down float64) {
			return (c.size - float64(s)) / c.size / (float64(s) / c.size), -1
		},
	},
	option.PooledStd: {inverse: overStd, atInfinity: option.StdScale, form: newPooled, most: one},
	option.BatchMean: {inverse: overMean, atInfinity: option.MeanScale, form: newOfStep, most: two},
}

// Bounds that do not depend on the range of the rewards.
func one(float64) float64     { return 1 }
func two(float64) float64     { return 2 }
func unknown(float64) float64 { return math.Inf(1) }

// MostAdvantage returns a bound of the mean modulus of the advantages of a large group, +Inf if none
// is known. Where they do not add to 0 it bounds twice that of one sign. span is the rewards' range.
func MostAdvantage(adv *option.Advantage, span float64) float64 {
	switch {
	case adv.Baseline.Given():
		return 2
	case adv.Baseline == option.SecondBest:
		return math.Inf(1)
	}
	return scalings[adv.Scale].most(span)
}

// overStd returns 1/(s + ε/span), s = √(R(1−R)) times the correction of the sample deviation.
func overStd(c *Counts, share, rest float64) float64 {
	return 1 / (c.deviation*math.Sqrt(share*rest) + c.e.Advantage.Epsilon/c.span)
}

func stdSlope(_ *Counts, share, rest, inverse float64) float64 {
	return -inverse * inverse * (rest - share) / (2 * math.Sqrt(share*rest))
}

// overMean returns 1/R.
func overMean(_ *Counts, share, _ float64) float64 { return 1 / share }

func meanSlope(_ *Counts, _, _, inverse float64) float64 { return -inverse * inverse }

// overOthers returns the advantages of OthersStd.
func overOthers(c *Counts, s int) (up, down float64) {
	n := c.size - 1
	deviation := func(t float64) float64 {
		if t == 0 || t == n {
			return 1
		}
		return math.Sqrt(t*(n-t)/(n*(n-1))) + c.e.Advantage.Epsilon
	}
	x := float64(s)
	return (c.size - x) / n / deviation(x-1), -x / n / deviation(x)
}

// bestOnly returns the advantages of SecondBest: only a lone success is better than the second
// best.
func bestOnly(c *Counts, s int) (up, down float64) {
	if s == 1 {
		up = c.row.inverse(c, 1/c.size, (c.size-1)/c.size)
	}
	return up, 0
}

// AtInfinity changes an advantage to the one that it becomes at G = ∞.
func AtInfinity(adv *option.Advantage) {
	if scale := scalings[adv.Scale].atInfinity; scale != adv.Scale {
		adv.Baseline, adv.Scale, adv.Std = option.MeanBaseline, scale, option.PopulationStd
	}
}

// pool returns the number of samples whose rewards decide the scale: G, or N = GB where it is that
// of the step.
func pool(e *option.Estimator) int {
	if e.Advantage.Scale.OfStep() {
		return e.GroupSize * e.GroupsPerStep
	}
	return e.GroupSize
}

// Advantages returns u⁺ and u⁻ of a group with 0 ≤ s ≤ G successes. Both are 0 where all rewards
// are equal unless the baseline is constant. The baseline is not a running mean. The scale of a
// step must be that of one group.
func (c *Counts) Advantages(s int) (up, down float64) {
	switch {
	case c.e.Advantage.Baseline == option.ConstantBaseline:
		return 1 - c.e.Advantage.Value, -c.e.Advantage.Value
	case s == 0 || s == c.e.GroupSize:
		return 0, 0
	case c.byCount != nil:
		return c.byCount(c, s)
	}
	share, rest := float64(s)/c.size, (c.size-float64(s))/c.size
	inverse := c.baseline * c.row.inverse(c, share, rest)
	return inverse * (c.size - float64(s)) / c.size, -inverse * share
}

// advantage computes the expectations of a group for one form of advantage.
type advantage interface {
	phi(j, rest float64) float64     // φ_G(J) without a filter
	slope(j, rest float64) float64   // its derivative
	moments(j, rest float64) moments // of a finite group
	excess(j, rest float64) float64  // E A, the mean advantage of a sample: E[R u⁺ + (1−R) u⁻]
	bound() float64                  // of φ_G; +Inf: none is known
}

// What a form answers unless it knows better.
func (c *Counts) excess(_, _ float64) float64 { return 0 }
func (c *Counts) bound() float64              { return math.Inf(1) }

// newAdvantage chooses the form.
func newAdvantage(c *Counts) advantage {
	c.row = &scalings[c.e.Advantage.Scale]
	c.byCount = c.row.byCount
	if c.e.Advantage.Baseline == option.SecondBest {
		c.byCount = bestOnly
	}
	switch {
	case c.e.Advantage.Baseline.Given():
		return &given{c}
	case c.e.GroupSize == option.Infinite:
		return &atInfinity{c}
	case c.byCount != nil:
		return &uneven{c}
	case c.row.form != nil:
		return c.row.form(c)
	}
	return &ofGroup{Counts: c}
}

// atInfinity is the form at G = ∞, where R = J, and where the best and the second-best reward are
// equal with certainty.
type atInfinity struct{ *Counts }

func (a *atInfinity) still(j, rest float64) bool {
	return j <= 0 || rest <= 0 || a.e.Advantage.Baseline == option.SecondBest
}

func (a *atInfinity) phi(j, rest float64) float64 {
	if a.still(j, rest) {
		return 0
	}
	return a.row.inverse(a.Counts, j, rest)
}

func (a *atInfinity) slope(j, rest float64) float64 {
	if a.still(j, rest) {
		return 0
	}
	return a.row.slope(a.Counts, j, rest, a.row.inverse(a.Counts, j, rest))
}

func (a *atInfinity) moments(_, _ float64) moments { return moments{} }

// ofGroup is the form of advantages that are inverse·(r_i − r̄), by the rewards of a group.
//
// S(G−S) Binomial(S; G, J) = G(G−1)J(1−J) Binomial(S−1; G−2, J) turns the sum over groups into
// φ_G = c(1 − 1/G) E[1/s((T+1)/G)], T ~ Binomial(G−2, J). It neither divides by J(1−J) nor contains
// groups without variance. c is G/(G−1) for leave-one-out and else 1, and 1/s is inverse. Without
// scale it is c(1 − 1/G) span.
type ofGroup struct {
	*Counts
	last struct{ j, rest, phi float64 } // phi is 0 before the first; a block changes only the policy
}

func (a *ofGroup) phi(j, rest float64) float64 {
	c := a.baseline * (1 - 1/a.size)
	if a.e.Advantage.Scale == option.NoScale {
		return c * a.span
	}
	if last := &a.last; last.phi == 0 || last.j != j || last.rest != rest {
		last.j, last.rest, last.phi = j, rest, c*a.binomial(pool(a.e)-2, j, rest).Mean(a.informative)
	}
	return a.last.phi
}

// slope is the derivative of a binomial expectation,
// d/dJ E[f(T)] = n E[f(T′+1) − f(T′)], T′ ~ Binomial(n−1, J).
func (a *ofGroup) slope(j, rest float64) float64 {
	n := pool(a.e) - 2
	if n == 0 || a.e.Advantage.Scale == option.NoScale {
		return 0
	}
	sum := a.binomial(n-1, j, rest).Mean(func(t int) float64 { return a.informative(t+1) - a.informative(t) })
	return a.baseline * (1 - 1/a.size) * float64(n) * sum
}

// informative returns inverse for a pool of T+1 successes, 0 ≤ T ≤ G−2. It
// has at least one success and one failure, so s > 0.
func (c *Counts) informative(t int) float64 {
	if t < len(c.inverses) && c.inverses[t] != 0 {
		return c.inverses[t]
	}
	s, n := float64(t+1), float64(pool(c.e))
	inverse := c.row.inverse(c, s/n, (n-s)/n)
	if c.inverses == nil {
		c.inverses = make([]float64, min(pool(c.e), mostInverses))
	}
	if t < len(c.inverses) {
		c.inverses[t] = inverse
	}
	return inverse
}

// mostInverses is the number of values of informative that are kept, so that a law takes a few
// kilobytes.
const mostInverses = 512

// bound is φ of a group with one success, which is the largest.
func (a *ofGroup) bound() float64 { return a.baseline * (1 - 1/a.size) * a.informative(0) }

// uneven is the form of advantages that need not add to 0 over a group (docs/theory-trainers.md
// §11.4).
type uneven struct{ *Counts }

// phi returns E f(T), T ~ Binomial(G−1, J).
func (a *uneven) phi(j, rest float64) float64 {
	return a.binomial(a.e.GroupSize-1, j, rest).Mean(a.gap)
}

func (a *uneven) slope(j, rest float64) float64 {
	n := a.e.GroupSize - 1
	return float64(n) * a.binomial(n-1, j, rest).Mean(func(t int) float64 { return a.gap(t+1) - a.gap(t) })
}

// gap returns f(T) = u⁺(T+1) − u⁻(T): by how much the success of one sample changes its own
// advantage.
func (a *uneven) gap(t int) float64 {
	up, _ := a.Advantages(t + 1)
	_, down := a.Advantages(t)
	return up - down
}

func (a *uneven) excess(j, rest float64) float64 {
	law, sum := a.binomial(a.e.GroupSize, j, rest), 0.0
	for i, w := range law.Weights {
		s := law.At(i)
		up, down := a.Advantages(s)
		sum += w * (up*float64(s) + down*(a.size-float64(s))) / a.size
	}
	return sum
}

// moments returns those of groups with advantages of their own.
func (c *Counts) moments(j, rest float64) (g moments) {
	law := c.Successes(j, rest)
	at := func(i int) (q, excess, share, up, down float64) {
		s := law.At(i)
		share = float64(s) / c.size
		up, down = c.Advantages(s)
		return share * up, share*up + (1-share)*down, share, up, down
	}
	for i, w := range law.Weights {
		q, excess, share, up, down := at(i)
		g.mean += w * q
		g.excess += w * excess
		g.up += w * q * up
		g.down += w * (1 - share) * down * down
		g.share += w * share
	}
	// Centred in a second pass: at J = ½ Var q is only about 1/G² of E q².
	for i, w := range law.Weights {
		q, excess, share, _, _ := at(i)
		g.spread += w * (share - g.share) * (share - g.share)
		q, excess, share = q-g.mean, excess-g.excess, share-j
		g.variance += w * q * q
		g.covariance += w * q * share
		g.excessVariance += w * excess * excess
		g.excessAlong += w * q * excess
		g.excessShare += w * excess * share
	}
	return g
}

// given is the form where the baseline does not depend on the rewards of the step, so that
// groups of equal rewards exert a force.
type given struct{ *Counts }

func (a *given) phi(_, _ float64) float64   { return 1 }
func (a *given) slope(_, _ float64) float64 { return 0 }

func (a *given) excess(j, rest float64) float64 {
	mean, _, _ := a.law(j, rest)
	return j - mean
}

// law returns the mean of the baseline b and of 1 − b, and the variance of b. A running mean is
// Running, or J where none is followed. Its variance is α/(2−α) J(1−J)/N, that of an exponential
// average of independent means of N rewards.
func (a *given) law(j, rest float64) (mean, other, variance float64) {
	adv := &a.e.Advantage
	if adv.Baseline == option.ConstantBaseline {
		return adv.Value, 1 - adv.Value, 0
	}
	variance = adv.Rate / (2 - adv.Rate) * j * rest / (a.size * float64(a.e.GroupsPerStep))
	if a.Running != nil {
		return *a.Running, 1 - *a.Running, variance
	}
	return j, rest, variance
}

// moments returns those averaged over the law of the baseline.
func (a *given) moments(j, rest float64) moments {
	b, other, variance := a.law(j, rest)
	spread := j * rest / a.size // Var R
	return moments{
		mean: j * other, share: j,
		up: j * (other*other + variance), down: rest * (b*b + variance),
		variance: spread * (other*other + variance), covariance: spread * other,
		excess: j - b, excessVariance: spread, excessAlong: spread * other, excessShare: spread,
	}
}
