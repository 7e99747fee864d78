package group

import (
	"math"

	"grposim/fp"
	"grposim/option"
)

// TwoValued describes a bandit whose rewards take at most two values. success[a] is the probability
// of the upper value on arm a, span > 0 the distance of the two. With a third value or a density
// success is nil.
//
// Bernoulli arms have span 1. Constant arms of two values are Bernoulli arms of means 0 and 1 up to
// an affine map, of which advantages depend on span alone. If all rewards are equal, every
// success[a] is 0 and span is 1.
func TwoValued(arms []option.Arm) (success []float64, span float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, arm := range arms {
		l, h, ok := Support(arm)
		if !ok {
			return nil, 0
		}
		low, high = min(low, l), max(high, h)
	}
	for _, arm := range arms {
		l, h, _ := Support(arm)
		if l != low && l != high || h != low && h != high {
			return nil, 0
		}
	}
	span = high - low
	success = make([]float64, len(arms))
	if span == 0 {
		return success, 1
	}
	for a, arm := range arms {
		switch arm.Mean {
		case low:
		case high: // exactly 1, even where span overflows to +Inf
			success[a] = 1
		default:
			success[a] = (arm.Mean - low) / span
		}
	}
	return success, span
}

// Support returns the smallest and the largest reward of an arm that takes at
// most two values; ok is false for a density.
func Support(arm option.Arm) (low, high float64, ok bool) {
	x := outcomes(arm)
	if x == nil {
		return 0, 0, false
	}
	return x[len(x)-1][0], x[0][0], true
}

// outcomes returns the rewards of an arm with their probabilities; none of a density.
func outcomes(arm option.Arm) [][2]float64 {
	switch {
	case arm.Law == option.Bernoulli && arm.Mean > 0 && arm.Mean < 1:
		return [][2]float64{{1, arm.Mean}, {0, 1 - arm.Mean}}
	case arm.Law == option.Normal && arm.Std > 0:
		return nil
	}
	return [][2]float64{{arm.Mean, 1}}
}

// partial holds the moments E[x^j; x > 0] and E[x^j; x < 0] of x = r − J on one arm, j = 0 … 4. An
// atom at x = 0 counts half on either side, where a finite group's mean falls equally often.
type partial struct {
	above, below [5]float64
}

// full returns E[x^j], j = 1 … 4.
func (m *partial) full(j int) float64 { return m.above[j] + m.below[j] }

// weighted returns E[w x^j], j = 0 … 4, where the weight w is up for x > 0 and down for x < 0.
func (m *partial) weighted(j int, up, down float64) float64 {
	return up*m.above[j] + down*m.below[j]
}

// partialMoments returns the partial moments of the arm's reward about mean. Those of a normal arm,
// x ~ N(d, σ²), follow from integration by parts: I_0 = Φ(d/σ), I_1 = d I_0 + σφ(d/σ), I_j = d
// I_{j−1} + (j−1)σ² I_{j−2}.
func partialMoments(arm option.Arm, mean float64) partial {
	var m partial
	atom := func(x, probability float64) {
		side := &m.above
		if x < 0 {
			side = &m.below
		} else if x == 0 {
			m.above[0] += probability / 2
			m.below[0] += probability / 2
			return
		}
		power := probability
		for j := range side {
			side[j] += power
			power *= x
		}
	}
	for _, x := range outcomes(arm) {
		atom(x[0]-mean, x[1])
	}
	if arm.Law == option.Normal && arm.Std > 0 {
		d, s := arm.Mean-mean, arm.Std
		half := func(d float64) (i [5]float64) {
			i[0] = 0.5 * fp.Erfc(-d/(s*math.Sqrt2))
			i[1] = positivePart(d, s)
			for j := 2; j < len(i); j++ {
				i[j] = d*i[j-1] + float64(j-1)*s*s*i[j-2]
			}
			return i
		}
		m.above = half(d)
		m.below = half(-d)
		m.below[1] = -m.below[1]
		m.below[3] = -m.below[3]
	}
	return m
}

// SecondMoment returns E(r − mean)² of the arm's reward.
func SecondMoment(arm option.Arm, mean float64) float64 {
	m := partialMoments(arm, mean)
	return m.full(2)
}

// positivePart returns E[max(x, 0)] for x ~ N(d, σ²): dΦ(d/σ) + σφ(d/σ), and max(d, 0) for σ = 0.
func positivePart(d, std float64) float64 {
	if std == 0 {
		return max(d, 0)
	}
	u := d / std
	return d*0.5*fp.Erfc(-u/math.Sqrt2) + std*fp.MathExp(-0.5*u*u)/math.Sqrt(2*math.Pi)
}

// blur returns E(x + y)⁺ − E x⁺, where x = r − mean for the arm's reward r. y ~ N(0, spread²) is
// independent of x.
func blur(arm option.Arm, mean, spread float64) float64 {
	d, sum := arm.Mean-mean, 0.0
	if arm.Law == option.Normal {
		return positivePart(d, math.Hypot(arm.Std, spread)) - positivePart(d, arm.Std)
	}
	for _, x := range outcomes(arm) {
		sum += x[1] * (positivePart(x[0]-mean, spread) - max(x[0]-mean, 0))
	}
	return sum
}
