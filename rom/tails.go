package rom

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"grposim/rom/fp"
	"grposim/rom/linear"
	"grposim/rom/scope"
)

const (
	tailStart = 6.0  // standard deviations; the second order holds before
	tailStep  = 1.0  // the shortest step of the integral, in standard deviations
	tailShare = 0.25 // the step as a share of the distance, where that is longer
	tailReach = 15.0 // displacement of a logit up to which is integrated
	tailDepth = 14.0 // quasi-potential up to which is integrated

	// Where the noise vanishes at the fixed point, the computed standard deviation of a logit is
	// rounding, which is below tailNoise.
	tailNoise = 1e-9

	// Tails lighter than tailWeight are left out. A run meets them less than once in a
	// hundred relaxation times, and in the simulation still more seldom, because kicks of
	// rare arms are large and not normal.
	tailWeight = 0.01
)

// tails returns the parts of E J, Var J and the share of zero-variance groups that are
// due to states far from the fixed point, under a stationary law with the covariance
// sigma of the reduced coordinates. In units of the standard deviation of arm a's logit,
// along the direction Σe_a in which it moves, the density is about e^{−U}/√2π with the
// quasi-potential
//
//	U(s) = ∫_0^s t [f(t)/(f′(0)t)] [D(0)/D(t)] dt,
//
// f the mean force on the logit and D the variance of its noise: s²/2 where they are
// linear and constant. U stays finite where D grows as an arm becomes rare, as with k3,
// whose D is proportional to 1/π. Behind a maximum, where f changes its sign, the density
// is at most that of the maximum: this is where a run passes. With a lag such a state is no
// place to stay: the weights of samples grow as the policy moves on from the snapshot that drew
// them, and no share of such states is known. The largest of all arms is
// returned, nothing where the up to 60 evaluations of the force and its covariance
// for each arm take more than about a second.
//
// Case: two constant arms 0 and −1, G = 9, k3, β = 0.2, η = 0.2, μ = 0.9. Linear theory has a share 0.718 of
// groups of equal rewards, the tails add 0.226, and 0.938(2) was simulated. With a lag: constant arms 60, 0.2,
// 60, G = 2, k3, β = 0.5, η = 0.8, μ = 0.9, where nearly all replicas overflow at delays of 1, 5 and 30.
func (l *linearization) tails(sigma *mat.Dense) scope.Sizes {
	_, n := l.q.Dims()
	var largest scope.Sizes
	if l.model.affordable(maxFlowWork) < 60*n {
		return largest
	}
	defer l.model.law.Leave()()
	probs := make([]float64, len(l.logits))
	observe := func(x []float64) (reward, equal float64) {
		logits := l.displaced(x)
		softmax(probs, logits)
		return l.model.expected(logits), l.model.law.EqualRewards(probs)
	}
	noise := func(y []float64) *mat.Dense { return mat.NewDense(n, n, l.reducedNoise(y)) }
	still := noise(make([]float64, 2*n))
	reward, equal := observe(make([]float64, n))
	for a := range l.logits {
		v := l.q.RawRowView(a)
		deviation := math.Sqrt(linear.Form(v, sigma, v))
		if !(deviation > tailNoise) {
			continue
		}
		var ray mat.VecDense
		ray.MulVec(sigma, mat.NewVecDense(n, v))
		ray.ScaleVec(1/deviation, &ray)
		var far scope.Sizes
		weight := 0.0
		for _, sign := range []float64{1, -1} {
			y := make([]float64, 2*n)
			move := func(s float64) {
				for k := range n {
					y[k] = sign * s * ray.AtVec(k)
					y[n+k] = y[k]
				}
			}
			force := func() (sum float64) {
				for k, f := range l.reducedForce(y) {
					sum -= sign * v[k] * f
				}
				return sum
			}
			move(tailStep / 64)
			unit := force() * 64 / tailStep / linear.Form(v, still, v)
			depth, top := 0.0, 0.0
			for s := 0.0; s*deviation < tailReach && depth < tailDepth; {
				step := max(tailStep, tailShare*s)
				move(s + step/2)
				depth += step * force() / linear.Form(v, noise(y), v) / unit
				top = max(top, depth)
				if s += step; s <= tailStart {
					continue
				}
				r, e := observe(y[:n])
				w := step * fp.Exp(-top) / math.Sqrt(2*math.Pi)
				weight += w
				far.RewardMean += w * math.Abs(r-reward)
				far.RewardVariance += w * (r - reward) * (r - reward)
				far.ZeroVariance += w * math.Abs(e-equal)
			}
		}
		switch whole := 1 + weight; {
		case weight <= tailWeight:
		case linear.NewLag(&l.Lag).OnPolicy():
			largest = largest.Max(scope.Sizes{RewardMean: far.RewardMean / whole, RewardVariance: far.RewardVariance / whole, ZeroVariance: far.ZeroVariance / whole})
		default:
			return scope.Unknown
		}
	}
	return largest
}
