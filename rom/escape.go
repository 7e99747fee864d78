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
	if because := kicksAcross(l.kicks(p, sigma), l.arms(l.logits), "the fixed point"); because.Out() {
		return because
	}
	n, _ := sigma.Dims()
	variances, vectors := linear.Axes(mat.NewSymDense(n, sigma.RawMatrix().Data))
	if p.Optimizer.Kind == option.Adam || variances == nil {
		return scope.Reason{}
	}
	steps := math.Ceil(3 * float64(law.Lag.Period()) / -math.Log(largest))
	if steps > longestReturn {
		return scope.Reason{}
	}
	deviations, followed, back := float64(escapeDeviations), 1, 2.0
	// Weights without bounds need no largest ratio, which takes a walk over the phases.
	if bound := math.Log1p(weight.Range(&p.Importance)); !math.IsInf(bound, 1) && bound < escapeDeviations*largestRatio(law) {
		// Ratios leave the bounds of their weights by the steps of the noise, which are √(2/κ) times
		// those of the mean force κx at one deviation x, and a fast mode makes longer ones. From so far
		// another attractor may lie half of the way back.
		deviations, followed, back = deviations*(1+math.Sqrt(2/(1-largest))), n, 4
	}
	home, x := l.arms(l.logits), make([]float64, n)
	for k := n - 1; k >= n-followed; k-- {
		size, axis := deviations*math.Sqrt(max(variances[k], 0)), mat.Col(nil, k, vectors)
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
	for _, joint := range law.Phases {
		moved := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				moved.SetSym(i, j, joint.At(i, j)+joint.At(n+i, n+j)-(joint.At(i, n+j)+joint.At(n+i, j)+joint.At(j, n+i)+joint.At(n+j, i))/2)
			}
		}
		if variances, _ := linear.Axes(moved); variances != nil {
			largest = max(largest, variances[n-1])
		}
	}
	return math.Sqrt(2 * largest)
}

// kick is what single k3 samples of an arm do to its log odds (kicksAcross).
type kick struct {
	reach float64 // escapeDeviations of the log odds against the arm at rest, ≥ 0
	size  float64 // c: a sample at the log odds u against the arm moves them by c e^u
}

// kicks returns those of each arm, nil where there are none. sigma is the covariance of the reduced coordinates.
func (l *linearization) kicks(p Params, sigma *mat.Dense) []kick {
	if p.Optimizer.Kind == option.Adam || p.KL.In != option.InLoss || p.KL.Gradient != option.K3 {
		return nil
	}
	probs, references := policyAt(l.logits), policyAt(l.Reference)
	kicks := make([]kick, len(l.class))
	for arm, a := range l.class {
		odds := make([]float64, len(probs)) // derivative of the log odds of one arm of the class
		n := l.count[a]
		prob := probs[a] / n
		for c, q := range probs {
			odds[c] = -q / math.Sqrt(l.count[c]) / (1 - prob)
		}
		odds[a] += 1 / math.Sqrt(n) / (1 - prob)
		slope := reduce(l.q, odds)
		kicks[arm] = kick{
			reach: escapeDeviations * math.Sqrt(linear.Form(slope, sigma, slope)),
			size:  kickScale(&p, references[a]/n, p.Optimizer.LearningRate/(1-p.Optimizer.Momentum)),
		}
	}
	return kicks
}

// kicksAcross returns why single samples of a rare arm may throw a policy of the given logits across the fixed point, none where noise does not
// reach so far (see kicks.go); of says whose policy it is.
//
// Cases: two arms 0.5 and 1, G = 100, β = 0.1, η = 0.7, μ = 0.9 have u₂ = 7.7, and 7 deviations from the fixed point is 8.3. In 599
// steps J falls to 0.931, where 0.994 was predicted. Two arms 0.77 and 0.16, scale mean, G = 4, B = 32, β = 0.0757, η = 1.22, Nesterov with
// μ = 0.99 have u₂ = 4.9 and at rest, 8.5 deviations below it, no such sample; from two logits off the mean path swings to 5.4, and 12 of 64 runs lock.
func kicksAcross(kicks []kick, logits []float64, of string) scope.Reason {
	if kicks == nil {
		return scope.Reason{}
	}
	probs := policyAt(logits)
	for a, k := range kicks {
		if u := math.Log1p(-probs[a]) - math.Log(probs[a]) + k.reach; throwsAcross(k.size, u) {
			return scope.KickedAcross.Because(u, escapeDeviations, of)
		}
	}
	return scope.Reason{}
}
