package rom

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"grposim/option"
	"grposim/rom/fp"
	"grposim/rom/linear"
)

// values returns the probabilities under probs of the values that rewards take with
// positive probability, in the order of the arms. Values of a density do not
// contribute. Of prompts it returns those of every prompt, of the same policy.
func (m *model) values(probs []float64) []float64 {
	if m.prompts != nil {
		var all []float64
		for _, one := range m.prompts {
			all = append(all, one.values(probs)...)
		}
		return all
	}
	var values, probabilities []float64
	add := func(value, probability float64) {
		if m.shifted() { // the rewards of two arms differ
			values, probabilities = append(values, value), append(probabilities, probability)
			return
		}
		for i := range values {
			if values[i] == value {
				probabilities[i] += probability
				return
			}
		}
		values, probabilities = append(values, value), append(probabilities, probability)
	}
	for a, arm := range m.Arms {
		switch {
		case arm.Law == option.Bernoulli:
			add(1, probs[a]*arm.Mean)
			add(0, probs[a]*(1-arm.Mean))
		case arm.Law == option.Normal && arm.Std > 0:
		default:
			add(arm.Mean, probs[a])
		}
	}
	return probabilities
}

// equalRewards returns the probability that all G rewards of a group drawn from
// probs are equal: Σ_v P(r = v)^G, J^G + (1−J)^G for Bernoulli arms; of prompts the mean.
func (m *model) equalRewards(probs []float64) float64 {
	sum := 0.0
	for _, p := range m.values(probs) {
		sum += math.Pow(p, m.size)
	}
	return sum / m.promptCount()
}

// promptCount returns the number of prompts with values of their own.
func (m *model) promptCount() float64 { return float64(max(len(m.prompts), 1)) }

// value returns the entry v of values.
func (m *model) value(probs []float64, v int) float64 {
	if m.prompts != nil { // each has two
		return m.prompts[v/2].values(probs)[v%2]
	}
	return m.values(probs)[v]
}

// zeroVariance adds to prediction the mean of equalRewards over the stationary law of
// the snapshot, and what it neglects. shift and sigma are mean and covariance of x_old
// to first order, second their second order (nil: not known, and of the given relative
// size), unshifted the size of the mean's second order in standard deviations, spread the variances of
// x_old in the relative modes.
//
// P_v^G is far from linear, but depends on x_old mostly through d·x_old with
// d = ∇ log P_v. Along that direction x_old is taken as normal, with the second-order
// variance and the third cumulant γ of its density 1 + γ(u³−3u)/6; across it the mean is
// taken to second order in the deviation.
func (l *linearization) zeroVariance(prediction *Prediction, shift []float64, sigma *mat.Dense, second *secondOrder, spread []float64, relative, unshifted float64) {
	m, n := l.model, len(shift)
	if m.shifted() { // rewards that are equal at the fixed point, KL included, are so or not by rounding
		m.set(l.logits, l.logits)
		m.prepare()
		if m.spread() <= tiedReward*tiedReward {
			return
		}
	}
	h := m.differenceStep()
	probs := make([]float64, len(l.logits))
	at := func(x []float64, v int) float64 {
		softmax(probs, l.displaced(x))
		return m.value(probs, v)
	}
	along := func(v int, from, direction []float64, s float64) float64 {
		x := make([]float64, n)
		for k := range x {
			x[k] = from[k] + s*direction[k]
		}
		return math.Pow(at(x, v), m.size)
	}
	bend := func(f func(s float64) float64) float64 { return (f(h) - 2*f(0) + f(-h)) / (h * h) }
	origin := make([]float64, n)
	total, missing, still := 0.0, 0.0, 0.0
	softmax(probs, l.displaced(origin))
	for v, p := range m.values(probs) {
		if p == 0 {
			continue
		}
		slope := make([]float64, n) // ∇ log P_v
		for k := range n {
			slope[k] = derivative(func(x []float64) []float64 { return []float64{math.Log(at(x, v))} }, n, h, k)[0]
		}
		fixed := math.Pow(p, m.size)
		still += fixed
		variance := linear.Form(slope, sigma, slope)
		if !(variance > 0) {
			total += fixed
			continue
		}
		// x_old moves by Σd/√(dᵀΣd) with a unit of u.
		var moved mat.VecDense
		moved.MulVec(sigma, mat.NewVecDense(n, slope))
		moved.ScaleVec(1/math.Sqrt(variance), &moved)
		direction := moved.RawVector().Data
		wider, third := 1.0, 0.0
		if second != nil {
			wider = math.Sqrt(max(1+linear.Form(slope, second.snapshot, slope)/variance, 0))
			for i, x := range second.third {
				third += x * slope[i/(n*n)] * slope[i/n%n] * slope[i%n] / math.Pow(variance, 1.5)
			}
		}
		// The trapezoidal rule converges faster than any power of its step on the
		// normal density; a probability of 2e-17 lies beyond 8.5σ.
		const points, width = 200, 8.5
		first, more, weight := 0.0, 0.0, 0.0
		for i := range points + 1 {
			u := width * (2*float64(i)/points - 1)
			w := fp.Exp(-0.5 * u * u)
			weight += w
			first += w * along(v, shift, direction, u)
			if second != nil {
				more += w * (1 + third*(u*u*u-3*u)/6) * along(v, shift, direction, wider*u)
			}
		}
		first, more = first/weight, more/weight
		if second == nil {
			more = first // and all of the second order is missing, with the relative size given
		}
		across := -0.5 * bend(func(s float64) float64 { return along(v, origin, direction, s) })
		values, axes, _ := linear.Eigenvectors(sigma)
		for k, x := range values {
			across += 0.5 * x * bend(func(s float64) float64 { return along(v, origin, mat.Col(nil, k, axes), s) })
		}
		if n == 1 {
			across = 0
		}
		for i := range l.relatives {
			x := &l.relatives[i]
			split := make([]float64, len(x.logits))
			across += 0.5 * float64(x.multiplicity) * spread[i] * bend(func(s float64) float64 {
				logits := append([]float64{}, x.logits...)
				logits[x.a] += s / math.Sqrt2
				logits[x.b] -= s / math.Sqrt2
				softmax(split, logits)
				return math.Pow(x.split.values(split)[v], m.size)
			})
		}
		total += more + across
		// The next order: the square of the second, and the second as relative error of
		// every first-order effect.
		change := more - first
		shifted := along(v, shift, direction, 0)
		missing += (math.Abs(shifted-fixed)+math.Abs(first-shifted)+math.Abs(across))*relative + (across*across+change*change)/first +
			first*m.size*math.Sqrt(variance)*unshifted
	}
	total, still, missing = total/m.promptCount(), still/m.promptCount(), missing/m.promptCount()
	total = min(max(total, 0), 1)
	change := total - still
	prediction.Moments.ZeroVariance, prediction.Moments.ZeroVarianceShift = &total, &change
	prediction.Neglected.ZeroVariance = missing
}
