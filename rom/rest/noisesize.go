package rest

import (
	"fmt"
	"math"

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
// Derivation: for the force −λ(x + fx²/2 + hx³/6) and the noise D(1 + ax + bx²/2) the
// moments to fourth order give Var J as the linear one times 1 + C, x in deviations. Here
// C = b/2 − 3af/2 + f² − h/2 + 2j(a − f) + j²/2 + j′, with J ∝ x + jx²/2 + j′x³/6. An exact
// KL has |C| ≤ s²/2, k3 at a rare arm s² beside b/2, and near a fold f² is all.
func (l *linearization) sizeOfNoise(m *motion, sigma *mat.Dense, relative []float64) (
	size, spread float64) {
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
		l.model.Size*float64(l.GroupsPerStep)
	all, softmax, kicks := 0.0, 0.0, 0.0
	for c, p := range probs {
		slope := l.logSlope(c, probs)
		v := linear.Form(slope, sigma, slope) + own[c]
		if p == 0 || !(v > 0) {
			continue
		}
		w := p * p * (l.Arms[c].Mean - reward) * (l.Arms[c].Mean - reward) / l.Count[c]
		all += w * v
		softmax += w * (math.Expm1(v) - v)
		kicks += w * v * math.Sqrt(v*math.Abs(rate)*l.Count[c]/(p*draws)) / 2
	}
	if !(all > 0) {
		return 0, 0
	}
	softmax /= all
	bend, noise := l.changesAlong(gradient, sigma)
	cuts := l.changeOfCuts(sigma)
	size = softmax + max(bend-8*softmax, 0) + noise + kicks/all + cuts
	return size * nearness(m, gradient, sigma), math.Sqrt(2*softmax) + cuts
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
