package rest

import (
	"fmt"
	"math"
	"slices"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/linear"
	"grposim/rom/scope"
	"grposim/rom/weight"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// largestNoise is the size of the noise up to which there is a law about one point.
// Below it no chain of two arms missed by more than 20 % of Var J, and none locked.
const largestNoise = 0.15

// sizeOfNoise returns what the linear law leaves out, relative to its Var J, and the
// deviation s of log π that J feels. With d the distance of a reward from J, arm a counts
// by (π_a d_a s_a)². The size is a sum of these terms, times what a threshold near adds:
//
//	(e^{s²} − 1 − s²)/s²   the softmax: log π is normal, J is not linear in it
//	f² above 4s²           a force that bends, as where two fixed points meet
//	|½ tr ∇²D Σ|/D         the noise D that moves J, which changes with the policy
//	s/(2√n)                kicks: n draws of the arm in a relaxation time
//	|δu/u|                 a largest norm, which cuts other groups up to three deviations away
//
// The mean of π_a at rest is at most π_a at the fixed point, as E g_a = 0 says of a rare arm: with k3
// E[π_a(1 − π_ref,a/π_a)] is that of the fixed point, with the exact KL E[π_a log π_a] is, which is
// convex. So its mean square is at most π_a, and the first term at most 1/π_a times its part.
//
// Derivation: for the force −λ(x + fx²/2 + hx³/6) and the noise D(1 + ax + bx²/2) the
// moments to fourth order give Var J as the linear one times 1 + C, x in deviations. Here
// C = b/2 − 3af/2 + f² − h/2 + 2j(a − f) + j²/2 + j′, with J ∝ x + jx²/2 + j′x³/6. An exact
// KL has |C| ≤ s²/2, k3 at a rare arm s² beside b/2, and near a fold f² is all.
//
// felt is the mean of s² by these weights, without π_a²s_a² in them.
func (l *linearization) sizeOfNoise(m *motion, sigma *mat.Dense, relative []float64) (
	size, spread, felt float64) {
	gradient := l.rewardGradient()
	square := 0.0
	for _, x := range gradient {
		square += x * x
	}
	rate := (linear.Form(gradient, m.Whole.Fresh, gradient) +
		linear.Form(gradient, m.Whole.Stale, gradient)) / square
	rate *= m.Whole.Rate / (1 - m.Whole.Momentum)
	if l.Samples == option.Reused {
		rate *= float64(m.Whole.Lag.Period())
	}
	own := l.aboutClass(relative)
	probs, reward, draws := cell.PolicyAt(l.logits), l.model.Expected(l.logits),
		l.model.Size*float64(l.GroupsPerStep)*cell.Visiting(&l.Params)
	all, weights, softmax, kicks := 0.0, 0.0, 0.0, 0.0
	for c, p := range probs {
		slope := l.logSlope(c, probs)
		v := linear.Form(slope, sigma, slope) + own[c]
		if p == 0 || !(v > 0) {
			continue
		}
		w := p * p * (l.Arms[c].Mean - reward) * (l.Arms[c].Mean - reward) / l.Count[c]
		all, weights = all+w*v, weights+w
		softmax += w * min(math.Expm1(v)-v, l.Count[c]/p)
		kicks += w * v * math.Sqrt(v*math.Abs(rate)*l.Count[c]/(p*draws)) / 2
	}
	if !(all > 0) {
		return 0, 0, 0
	}
	softmax /= all
	bend, noise := l.changesAlong(gradient, sigma)
	_, cuts := l.missing(sigma)
	cuts += l.changeOfCuts(sigma)
	size = softmax + max(bend-8*softmax, 0) + noise + kicks/all + cuts
	return size * nearness(m, gradient, sigma), math.Sqrt(2*softmax) + cuts, all / weights
}

// nearness returns how many times faster than the learning rate Var J grows with it, at
// least 1: near a threshold a small change of the stiffness is a large one of Var J.
func nearness(m *motion, gradient []float64, sigma *mat.Dense) float64 {
	const more = 1.001
	faster := *m.Whole
	faster.Rate *= more
	law, ok := faster.Law()
	if !ok {
		return math.Inf(1)
	}
	grown := linear.Form(gradient, law.TimeAverage(), gradient) /
		linear.Form(gradient, sigma, gradient)
	return max(1, (grown-1)/(more-1))
}

// logSlope returns ∇ log π of one arm of a class, in reduced coordinates.
func (l *linearization) logSlope(class int, probs []float64) []float64 {
	slope := make([]float64, len(probs))
	for c, p := range probs {
		slope[c] = -p / math.Sqrt(l.Count[c])
	}
	slope[class] += 1 / math.Sqrt(l.Count[class])
	return linear.Reduce(l.q, slope)
}

// changesAlong returns f² of the force along J, and the relative change of the noise that
// moves J one deviation away, on both sides of every axis of the law.
func (l *linearization) changesAlong(gradient []float64, sigma *mat.Dense) (bend, noise float64) {
	n := len(gradient)
	response, along := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	variances, axes := linear.Axes(mat.NewSymDense(n, sigma.RawMatrix().Data))
	if variances == nil || response.SolveVec(
		linear.Within(l.q, linear.Sum(l.fresh, l.stale)).T(), mat.NewVecDense(n, gradient)) != nil {
		return math.Inf(1), math.Inf(1)
	}
	w, moved := response.RawVector().Data, make([]float64, n)
	set := func(by float64, x []float64) {
		theta := l.displaced(floats.ScaleTo(moved, by, x))
		l.model.Set(theta, theta)
	}
	along.MulVec(sigma, mat.NewVecDense(n, gradient))
	deviation := math.Sqrt(linear.Form(gradient, sigma, gradient))
	if !(deviation > 0) { // rounding errors alone are left of it
		return math.Inf(1), math.Inf(1)
	}
	l.model.Set(l.logits, l.logits)
	defer l.model.HoldCuts()()
	h := l.model.DifferenceStep()
	for _, side := range [2]float64{h, -h} {
		set(side/deviation, along.RawVector().Data)
		bend += floats.Dot(w, l.forceHere()) / (h * h * deviation)
	}
	set(0, moved)
	still := linear.Form(w, l.noiseHere(), w)
	for k, v := range variances {
		for _, side := range [2]float64{1, -1} {
			set(side*math.Sqrt(max(v, 0)), mat.Col(nil, k, axes))
			noise += linear.Form(w, l.noiseHere(), w)/still - 1
		}
	}
	return bend * bend, math.Abs(noise) / 2
}

// bounded reports whether noise takes the ratio of two policies across a bound of the
// weights. gap is the largest variance of a difference of two logits.
func (l *linearization) bounded(law *linear.Law, gap float64) bool {
	l.model.Set(l.logits, l.logits)
	kink := math.Log1p(weight.Range(&l.Importance))
	return kink < 2*force.BoundReach*math.Sqrt(gap) && !linear.NewLag(&l.Lag).OnPolicy() &&
		kink < force.BoundReach*l.largestRatio(law)
}

// largestRatio returns the largest deviation of the log ratio of an arm's probability to
// that of the snapshot, over arms and phases.
func (l *linearization) largestRatio(law *linear.Law) float64 {
	n, largest, probs := law.Dim(), 0.0, cell.PolicyAt(l.logits)
	for _, joint := range law.Phases {
		for c := range probs {
			slope := l.logSlope(c, probs)
			moved := make([]float64, 2*n)
			for i, x := range slope {
				moved[i], moved[n+i] = x, -x
			}
			largest = max(largest, linear.Form(moved, joint, moved))
		}
	}
	return math.Sqrt(largest)
}

// changeOfCuts returns the largest relative change of the force within three deviations of
// the logit gap because the largest norm cuts other groups there. A size from one deviation
// alone was up to thirty times too small, against exact chains.
func (l *linearization) changeOfCuts(sigma *mat.Dense) (change float64) {
	if !l.model.Limited() {
		return 0
	}
	deviation := math.Abs(l.q.At(0, 0)-l.q.At(1, 0)) * math.Sqrt(sigma.At(0, 0))
	return l.model.ChangeOfCuts(l.logits, deviation)
}

// outOfReach returns why there is no law about one point, none where there is.
func (l *linearization) outOfReach(law *linear.Law, gap, size float64) scope.Reason {
	switch {
	case !(size <= largestNoise):
		if size < 1 {
			return scope.NoiseTooLarge.Because(fmt.Sprintf("about %.0f %%", 100*size))
		}
		return scope.NoiseTooLarge.Because("more than all")
	case l.bounded(law, gap):
		return scope.BoundWithinNoise.Because()
	}
	return scope.Reason{}
}

// shiftBeyond returns the size of the shift of E J where the law does not reach. The law's own is
// shift, and missing the share of Var J that it leaves out. Kicks of reused samples are longer.
func (l *linearization) shiftBeyond(shift, missing float64) float64 {
	if l.Samples == option.Reused {
		shift *= float64(max(l.Lag.Interval, 1))
	}
	return shift * (1 + missing)
}

// mostKicked is the way of a logit gap by one step up to which none throws a run to another arm.
const mostKicked = 1

// longestKick bounds the way of a logit gap by the samples of one step, without Adam.
func (l *linearization) longestKick() float64 {
	free, o := cell.WithoutNorm(l.Params), &l.Optimizer
	norm := force.New(&free).NormMet(l.logits, l.logits)
	if o.MaxNorm > 0 {
		norm = min(norm, o.MaxNorm)
	}
	return l.shiftBeyond(math.Sqrt2*norm*o.LearningRate/(1-o.Momentum), 0)
}

// rareReward bounds |E J − J*| by the arms beside the one in front, Σ 4π_a|m_a − m_front|. Two arms
// with the exact KL have E[pq(z* − z)] = 0. So E q ≤ (e + 1/e)q* where p is near 1.
func (l *linearization) rareReward() (bound float64) {
	probs := cell.PolicyAt(l.logits)
	front := l.Arms[floats.MaxIdx(probs)].Mean
	for a, p := range probs {
		bound += 4 * p * math.Abs(l.Arms[a].Mean-front)
	}
	return bound
}

// expansionNeglect returns what the expansion of the force in 1/G leaves out where Var J is
// variance; zero where the force is exact. The mean force is off by a share of LeftOut, as by
// a penalty that is smaller by that share.
func (l *linearization) expansionNeglect(variance float64) scope.Sizes {
	l.model.Set(l.logits, l.logits)
	mean, noise := l.model.Law.LeftOut()
	if noise == 0 {
		return scope.Sizes{}
	}
	stronger := l.Folded
	stronger.KL.Coefficient /= 1 + mean
	stronger.Entropy /= 1 + mean
	shift := math.Inf(1)
	if logits, ok := stronger.Newton(force.New(&stronger.Params), l.logits); ok {
		shift = math.Abs(l.model.Expected(logits) - l.model.Expected(l.logits))
	}
	return scope.Sizes{RewardMean: shift, RewardVariance: noise * variance}
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
	return law.MeanSquares(l.response(2))
}

// response returns Λ_f and Λ_s of (x, x_old) by arm, and so many parts of n columns in all.
func (l *linearization) response(parts int) *mat.Dense {
	arms, n := l.q.Dims()
	all := mat.NewDense(arms, parts*n, nil)
	all.Slice(0, arms, 0, n).(*mat.Dense).Mul(l.fresh, l.q)
	all.Slice(0, arms, n, 2*n).(*mat.Dense).Mul(l.stale, l.q)
	return all
}

// squares returns E g_a² of every arm, averaged over the phases, of a law with Adam's gains P. The
// noise of a step is independent of where the run is, unless its samples are reused. The law has ξ
// with its gains then, and the noise of the arms is q(qᵀPq)⁻¹ξ.
func (l *linearization) squares(law *linear.Law, gain []float64) []float64 {
	if l.Samples == option.Reused {
		arms, n := l.q.Dims()
		all, back := l.response(3), mat.NewDense(n, n, nil)
		if back.Inverse(linear.Within(l.q, mat.NewDiagDense(arms, gain))) != nil {
			return []float64{math.Inf(1)}
		}
		back.Scale(-1, back)
		all.Slice(0, arms, 2*n, 3*n).(*mat.Dense).Mul(l.q, back)
		return law.MeanSquares(all)
	}
	all := l.forceSquares(law)
	for a := range all {
		all[a] += l.noise.At(a, a)
	}
	return all
}

// momentError is the relative error of Var J by the second moment v̂ over that of v̂ itself, k(1−β2).
// With δ = v̂/v − 1 of the variance s = (k−1)(1−β2)/(1+β2), and Cov(δ, g²/v) = (1+β2)s, Var J goes as
// E[g²/v̂]/E[1/√v̂], which changes by the share −s(β2 + 3/8).
const momentError = 11.0 / 16

// adamErrors returns the relative errors of Var J by the arms' motion under Adam as far as they are
// not of second order: that of the second moment, an average over 1/(1−β2) steps, and that of the
// part s of it that the mean force makes, the largest of which is signal. This part follows the
// state instead of keeping its mean (see adamGain) to the extent (1−β2)/(1−β2r²), where r is the
// given spectral radius, and counts to first order.
func (l *linearization) adamErrors(o option.Optimizer, law *linear.Law, radius float64) (
	errors []float64, signal float64) {
	following, errors := (1-o.Beta2)/(1-o.Beta2*radius*radius), l.averageErrors(o, 1/(1-o.Beta2))
	for a, x := range l.forceSquares(law) {
		x /= l.noise.At(a, a)
		x *= following + x
		errors[a], signal = momentError*errors[a]+x, max(signal, x)
	}
	return errors, signal
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

// averageErrors returns the relative errors of the arms' gains 1/(√v + ε) where v averages the
// squares of the forces of a number of steps. It is at most √v/ε, that of v = 0.
func (l *linearization) averageErrors(o option.Optimizer, steps float64) []float64 {
	errors, block := l.armKurtoses(), max(l.Lag.Interval, 1)
	steps *= float64(l.Drawn(block)) / float64(block) // squares of reused groups are the same
	for a, kurtosis := range errors {
		errors[a] = min(kurtosis/steps, math.Sqrt(l.noise.At(a, a))/o.Epsilon)
	}
	return errors
}

// sharedError returns the relative error of Var J where the gains of the arms have the given ones.
// An arm makes its own in the share of the deviation of J that its logit makes, at most 1.
func (l *linearization) sharedError(errors []float64, sigma *mat.Dense) (largest float64) {
	gradient := l.rewardGradient()
	deviation := math.Sqrt(linear.Form(gradient, sigma, gradient))
	for a, x := range errors {
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
	return 3 * (1 + (uneven/cell.Visiting(&l.Params)-1)/float64(l.GroupsPerStep))
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
// of the next order, given sizeOfNoise. sigma is the covariance of the reduced coordinates averaged
// over the phases, laws and variances belong to the relative modes. It returns the size, +Inf where
// nothing holds the mean.
func (l *linearization) moments(
	prediction *Prediction, higher *scope.Sizes, m *motion, law *linear.Law, laws []linear.Law,
	sigma *mat.Dense, variances []float64, size, spread float64) float64 {
	n, phases := m.Whole.Dim(), law.Lag.Period()
	forces := mat.NewDense(phases, n, nil)
	for i := range laws {
		l.addRelativePush(forces, &l.relatives[i], &laws[i])
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
	byCurvature, _ := l.rewardCurvature(sigma, variances)
	for k, x := range mean {
		byMean += gradient[k] * x
	}
	out.RewardShift = new(byMean + byCurvature)
	if len(l.Class) == 2 && n == 1 { // z is the first arm's logit minus the second's
		out.LogitGapShift = new(mean[0] * (l.q.At(0, 0) - l.q.At(1, 0)))
	}

	first := linear.Form(gradient, sigma, gradient)
	higher.RewardMean = (math.Abs(byMean)+math.Abs(byCurvature))*size + math.Sqrt(first)*size*spread
	l.zeroVariance(prediction, higher, oldMean, law, laws, size, size*spread)
	return size
}
