package rest

import (
	"math"
	"slices"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/linear"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// secondOrderSize is the size of the terms of second order relative to the linear
// Var J, over the variance of a logit gap: of two arms over wide ranges of scale, β, G
// and η the moduli of all terms add to 1 to 5 times that variance, and the terms
// themselves, of both signs, to less than once.
const secondOrderSize = 5

// secondOrderBound bounds the terms of second order where they are not computed, given
// the linear Var J, the largest variance of a logit gap and the variance of the quadratic
// part of J, which remains where the linear one vanishes: J changes by √(Var J/V) per
// gap, and its mean by that times V and half of its curvature.
func secondOrderBound(reward, gap, quadratic float64) scope.Sizes {
	return scope.Sizes{RewardMean: 1.5 * math.Sqrt(reward*gap),
		RewardVariance: secondOrderSize * (gap*reward + quadratic), ZeroVariance: 1}
}

// rounding returns the size of Var J that the rounding of J makes of itself. A variance
// of 0, of equal arms for example, is known to no better.
func (l *linearization) rounding() float64 {
	largest := 0.0
	for _, arm := range l.Arms {
		largest = max(largest, math.Abs(arm.Mean))
	}
	return largest * largest * 0x1p-104
}

// adamGain returns 1/(√Var g_a + ε) for every arm, Adam's divisor at the fixed point.
func (l *linearization) adamGain(o option.Optimizer) []float64 {
	gain := make([]float64, len(l.Count))
	for a := range gain {
		gain[a] = 1 / (math.Sqrt(l.noise.At(a, a)) + o.Epsilon)
	}
	return gain
}

// forceSquares returns E(Λ_f x + Λ_s x_old)_a² of every arm, averaged over the phases.
func (l *linearization) forceSquares(law *linear.Law) []float64 {
	arms, n := l.q.Dims()
	response := mat.NewDense(arms, 2*n, nil)
	response.Slice(0, arms, 0, n).(*mat.Dense).Mul(l.fresh, l.q)
	response.Slice(0, arms, n, 2*n).(*mat.Dense).Mul(l.stale, l.q)
	return law.MeanSquares(response)
}

// adamError returns the relative error of Adam's linear variance as far as it is not that of second
// order: that of its second moment, an average over 1/(1−β2) steps, and that of the part s of it
// that the mean force makes. This part follows the state instead of keeping its mean (see adamGain)
// to the extent (1−β2)/(1−β2r²), where r is the given spectral radius, and counts to first order.
func (l *linearization) adamError(o option.Optimizer, law *linear.Law, radius float64) float64 {
	signal := 0.0
	for a, x := range l.forceSquares(law) {
		signal = max(signal, x/l.noise.At(a, a))
	}
	following := (1 - o.Beta2) / (1 - o.Beta2*radius*radius)
	return l.averageError(o) + signal*(following+signal)
}

// relativeError returns the given share of the relaxation rate and of the damping ratio. Where
// gains and forces change by that share, neither changes by more.
func (d *Dynamics) relativeError(relative float64) (n scope.Sizes) {
	of := func(x *float64) float64 {
		if x == nil || *x == 0 {
			return 0
		}
		return relative * math.Abs(*x)
	}
	n.RelaxationRate, n.DampingRatio = of(d.RelaxationRate), of(d.DampingRatio)
	return n
}

// averageError returns the largest of averageErrors over the 1/(1−β2) steps of the second moment.
func (l *linearization) averageError(o option.Optimizer) float64 {
	return slices.Max(l.averageErrors(o, 1/(1-o.Beta2))) // NaN if one is
}

// averageErrors returns the relative errors of the arms' gains 1/(√v + ε) where v averages the
// squares of the forces of a number of steps. It is at most √v/ε, that of v = 0.
func (l *linearization) averageErrors(o option.Optimizer, steps float64) []float64 {
	errors := l.armKurtoses()
	for a, kurtosis := range errors {
		errors[a] = min(kurtosis/steps, math.Sqrt(l.noise.At(a, a))/o.Epsilon)
	}
	return errors
}

// rewardError returns the relative error of Var J by that of a law about averages of a number of
// steps (averageErrors). An arm makes the error of its gain in the share of the deviation of J that
// its own logit makes, at most 1.
func (l *linearization) rewardError(o option.Optimizer, steps float64, sigma *mat.Dense) (
	largest float64) {
	gradient := l.rewardGradient()
	deviation := math.Sqrt(linear.Form(gradient, sigma, gradient))
	for a, x := range l.averageErrors(o, steps) {
		row := l.q.RawRowView(a)
		share := math.Abs(floats.Dot(row, gradient)) * math.Sqrt(linear.Form(row, sigma, row)) / deviation
		largest = max(largest, min(1, share)*x)
	}
	return largest
}

// armKurtoses returns the kurtosis of the force on the logit of each arm; merged arms count as one.
// A group whose rewards differ exerts one only if the arm has some of its samples and not all:
// advantages add to 0.
func (l *linearization) armKurtoses() []float64 {
	uneven, m := l.unevenness(), l.model
	all := m.Now.Probs
	equal := m.Law.EqualRewards(all)
	kurtoses, others, only := make([]float64, len(all)), slices.Clone(all), make([]float64, len(all))
	for a, p := range all {
		others[a], only[a] = 0, p
		some := -math.Expm1(m.Size*math.Log1p(-p)) - fp.Pow(p, m.Size)
		// of the groups whose rewards differ
		share := (some - (equal - m.Law.EqualRewards(others) - m.Law.EqualRewards(only))) / (1 - equal)
		others[a], only[a] = p, 0
		kurtoses[a] = math.Inf(1)
		if share > 0 {
			kurtoses[a] = l.kurtosis(uneven / share)
		}
	}
	return kurtoses
}

// kurtosis returns 3 + 3(uneven−1)/B, a bound on the kurtosis of the force of B groups; uneven is E
// v²/(E v)² of unevenness, which is 1/p where a share p of the groups exerts a force and all of
// these one of equal size.
func (l *linearization) kurtosis(uneven float64) float64 {
	return 3 * (1 + (uneven-1)/float64(l.GroupsPerStep))
}

// rewardKurtosis is kurtosis of the force along ∇J, where an arm that is rare and shifts J much
// has the factor 1 + Σπd⁴/(3BG(Σπd²)²), d the distance of an arm's component of ∇J from their mean.
func (l *linearization) rewardKurtosis() float64 {
	kurtosis, reward, mean, square, fourth := l.kurtosis(l.unevenness()), l.model.Expected(l.logits),
		0.0, 0.0, 0.0
	slope := func(c int, p float64) float64 { return p / l.Count[c] * (l.Arms[c].Mean - reward) }
	for c, p := range l.model.Now.Probs {
		mean += p * slope(c, p)
	}
	for c, p := range l.model.Now.Probs {
		d := slope(c, p) - mean
		square += p * d * d
		fourth += p * d * d * d * d
	}
	if square == 0 {
		return kurtosis
	}
	return kurtosis * (1 + fourth/(square*square)/(3*l.model.Size*float64(l.GroupsPerStep)))
}

// unevenness returns that of a group at the fixed point, see group.Law. It sets the model's policy
// to that of the fixed point.
func (l *linearization) unevenness() float64 {
	cell.Softmax(l.model.Now.Probs, l.logits)
	return l.model.Law.Unevenness(l.model.Now.Probs)
}

// moments adds the moments of second order in the noise to prediction, and sets higher to the sizes
// of the next order. sigma is the covariance of the reduced coordinates averaged over the phases,
// laws and variances belong to the relative modes.
func (l *linearization) moments(
	prediction *Prediction, higher *scope.Sizes, m *motion, law *linear.Law, laws []linear.Law,
	sigma *mat.Dense, variances []float64) (size float64) {
	n, phases := m.Whole.Dim(), law.Lag.Period()
	forces := mat.NewDense(phases, n, nil)
	old := make([]float64, len(laws)) // variance of x_old
	for i := range laws {
		l.addRelativePush(forces, &l.relatives[i], &laws[i])
		old[i] = laws[i].Snapshot().At(0, 0)
	}
	means := l.curvature().meanState(law, forces)
	if means == nil {
		return math.Inf(1)
	}
	mean := make([]float64, n)
	for p := range phases {
		floats.AddScaled(mean, 1/float64(phases), means.RawRowView(p)[:n])
	}
	oldMean := means.RawRowView(0)[:n] // at a refresh x_old is x, with a delay they have the same mean
	out := &prediction.Moments
	gradient := l.rewardGradient()
	byMean := 0.0
	byCurvature, quadratic := l.rewardCurvature(sigma, variances)
	for k, x := range mean {
		byMean += gradient[k] * x
	}
	shift := byMean + byCurvature
	out.RewardShift = &shift
	if n == 1 {
		// z is the first arm's logit minus the second's.
		gap := mean[0] * (l.q.At(0, 0) - l.q.At(1, 0))
		if len(l.Class) == 2 {
			out.LogitGapShift = &gap
		}
	}

	first := linear.Form(gradient, sigma, gradient)
	size, spread := l.sizeOfNoise(m, sigma, variances)
	higher.RewardVariance = max(size*first, 2*quadratic)
	higher.RewardMean = (math.Abs(byMean)+math.Abs(byCurvature))*size + math.Sqrt(first)*size*spread
	l.zeroVariance(prediction, higher, oldMean, law.Snapshot(), old, size, size*spread)
	return size
}
