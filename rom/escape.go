package rom

import (
	"math"

	"grposim/option"
	"grposim/rom/linear"
	"grposim/rom/scope"
	"grposim/rom/weight"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A run meets displacements of up to escapeDeviations standard deviations, whose law far out is
// not normal. Smaller ones than leastEscape, in logits, are not followed, and none for more than
// longestReturn steps.
const escapeDeviations, leastEscape, longestReturn = 7, 0.2, 20000

// escape returns why a run may leave the basin of attraction of the fixed point; none where the
// mean field comes back at least half of the way in three relaxation times from
// escapeDeviations standard deviations on both sides, along the direction of the largest
// variance; where log ratios of that many deviations leave the bounds of the importance weights three quarters of it from further away, along all
// axes of the law; or, without bounds where it comes no slower in the second half of that time than in the first, as from a policy whose
// rare arms are drawn the more often the nearer it is (two arms 0.30 and 0.42, G = 64, std, β = 0.0469), while the approach to another attractor slows down. Another attractor, a limit cycle or a saturated policy, can be near a fixed point
// that is stable, where momentum or lag carries the policy far past it. law is the stationary
// law at the parameters p, and largest the modulus of its dominant multiplier.
//
// Cases: G = 3, K = 9, μ = 0.9985 (Nesterov) had Var J 0.0168 in 6,000 steps and 0.031 in 25,000 where
// 0.0102 was predicted; three arms, G = 500, B = 5, η = 0.3, clip 1.005 and delay 1 rested at J = 0.697,
// not at 0.722.
func (l *linearization) escape(p Params, law *linear.Law, largest float64) scope.Reason {
	sigma := law.TimeAverage()
	if because := l.kickedAcross(p, sigma); because.Out() {
		return because
	}
	n, _ := sigma.Dims()
	var axes mat.EigenSym
	if p.Optimizer.Kind == option.Adam || !axes.Factorize(mat.NewSymDense(n, sigma.RawMatrix().Data), true) {
		return scope.Reason{}
	}
	var vectors mat.Dense
	axes.VectorsTo(&vectors)
	steps := math.Ceil(3 * float64(law.Lag.Period()) / -math.Log(largest))
	if steps > longestReturn {
		return scope.Reason{}
	}
	if int(steps) > l.model.affordable(maxFlowWork) {
		p.tables = p.tables.WithoutIntegral() // the expansion in 1/G is good enough to tell whether a path comes back
	}
	deviations, followed, back := float64(escapeDeviations), 1, 2.0
	if bound := math.Log1p(weight.Range(&p.Importance)); bound < escapeDeviations*largestRatio(law) {
		// Ratios leave the bounds of their weights by the steps of the noise, which are √(2/κ) times
		// those of the mean force κx at one deviation x, and a fast mode makes longer ones. From so far
		// another attractor may lie half of the way back.
		deviations, followed, back = deviations*(1+math.Sqrt(2/(1-largest))), n, 4
	}
	home, x := l.arms(l.logits), make([]float64, n)
	for k := n - 1; k >= n-followed; k-- {
		size, axis := deviations*math.Sqrt(max(axes.Values(nil)[k], 0)), mat.Col(nil, k, &vectors)
		if !(size > leastEscape) {
			break
		}
		for _, side := range [2]float64{size, -size} {
			start, middle, end := l.arms(l.displaced(floats.ScaleTo(x, side, axis))), math.Inf(1), math.Inf(1)
			_, within := meanField(p, start, int(steps), func(n int, theta []float64) bool {
				if end = distance(theta, home); n <= int(steps)/2 {
					middle = end
				}
				return true
			})
			first := distance(start, home) - middle
			hastens := back == 2 && first > 0 && middle-end >= first // beside bounds of weights a force jumps, and so does a path
			if within.In && !(end < distance(start, home)/back) && !hastens {
				return scope.OtherAttractor.Because(deviations)
			}
		}
	}
	return scope.Reason{}
}

// largestRatio returns the standard deviation of the difference of two logits by which a policy has moved on from its
// snapshot, in the phase and the direction in which it is largest: no log ratio has a larger one.
func largestRatio(law *linear.Law) float64 {
	n, largest := law.Dim(), 0.0
	law.Phases(func(joint *mat.Dense) {
		moved := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				moved.SetSym(i, j, joint.At(i, j)+joint.At(n+i, n+j)-(joint.At(i, n+j)+joint.At(n+i, j)+joint.At(j, n+i)+joint.At(n+j, i))/2)
			}
		}
		var axes mat.EigenSym
		if axes.Factorize(moved, false) {
			largest = max(largest, axes.Values(nil)[n-1])
		}
	})
	return math.Sqrt(2 * largest)
}

// kickedAcross returns why single samples of a rare arm may throw the policy across the fixed point, none where noise does not
// reach so far (see kicks.go). sigma is the covariance of the reduced coordinates.
//
// Case: two arms 0.5 and 1, G = 100, β = 0.1, η = 0.7, μ = 0.9 have u₂ = 7.7, and 7 deviations from the fixed point is 8.3. In 599
// steps J falls to 0.931, where 0.994 was predicted.
func (l *linearization) kickedAcross(p Params, sigma *mat.Dense) scope.Reason {
	if p.Optimizer.Kind == option.Adam || p.KL.In != option.InLoss || p.KL.Gradient != option.K3 {
		return scope.Reason{}
	}
	probs, references := make([]float64, len(l.logits)), make([]float64, len(l.logits))
	softmax(probs, l.logits)
	softmax(references, l.Reference)
	for a, all := range probs {
		odds := make([]float64, len(probs)) // derivative of the log odds of one arm of the class
		prob, n := all/l.count[a], l.count[a]
		for c, q := range probs {
			odds[c] = -q / math.Sqrt(l.count[c]) / (1 - prob)
		}
		odds[a] += 1 / math.Sqrt(n) / (1 - prob)
		slope := reduce(l.q, odds)
		u := math.Log1p(-prob) - math.Log(prob) + escapeDeviations*math.Sqrt(linear.Form(slope, sigma, slope))
		c := p.kickScale(references[a]/n, p.Optimizer.LearningRate/(1-p.Optimizer.Momentum))
		if throwsAcross(c, u) {
			return scope.KickedAcross.Because(u, escapeDeviations)
		}
	}
	return scope.Reason{}
}
