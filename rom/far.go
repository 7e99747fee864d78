package rom

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"grposim/fp"
	"grposim/rom/linear"
	"grposim/rom/scope"
)

const (
	tailStart = 6.0  // standard deviations; the second order holds before
	tailStep  = 0.25 // the shortest step of the integral, in standard deviations
	tailShare = 0.1  // the step as a share of the distance, where that is longer
	tailReach = 15.0 // displacement of a logit up to which is integrated
	tailDepth = 14.0 // quasi-potential up to which is integrated

	// Where the noise vanishes at the fixed point, the computed standard deviation of a logit is
	// rounding, which is below tailNoise.
	tailNoise = 1e-9

	// Tails lighter than tailWeight are left out. A run meets them less than once in a
	// hundred relaxation times, and in the simulation still more seldom, because kicks of
	// rare arms are large and not normal.
	tailWeight = 0.01

	// The kurtosis of a step's force from which on kicks come in bursts: fewer than half of the groups exert one. See the table in
	// docs/theory-trainers.md §11.6.
	fewPush = 6.0
)

// far returns what linear theory and its second order leave out on-policy because force and noise are not
// what they are near the fixed point: groups that the noise takes across the largest norm, and states far
// away. sigma is the covariance of the reduced coordinates. In units of the standard deviation of an arm's logit, along
// the direction Σe_a in which it moves, the stationary density is
//
//	p(s) ∝ [D(0)/D(s)] e^{−U},   U(s) = ∫_0^s t [f(t)/(f′(0)t)] [D(0)/D(t)] dt,
//
// f the mean force on the logit and D the variance of its noise: a normal density where they are
// linear and constant. U stays finite where D grows as an arm becomes rare, as with k3,
// whose D is proportional to 1/π; beyond tailStart D(0)/D(s) is left out, because a rare arm is seldom drawn, and nothing else moves
// the policy. Behind a maximum, where f changes its sign, the density is at most that of the maximum: this is where a run
// passes. The moments under p are compared with those under the density of the smooth force in which the groups are cut that
// are cut at the fixed point; without a largest norm with those within tailStart. The largest change of all arms is
// returned, nothing where the evaluations of force and noise take more than about a second.
//
// Where fewer than half of the groups exert a force, and across a largest norm all the same one, their kicks come in bursts that carry the policy
// farther than a normal law. With k the kurtosis of a step's force, and k/3 − 1 times tanh(rate) = (1 − ρ²)/(1 + ρ²) in the law of states that
// forget by a factor ρ a step, the change is also taken under a normal law of w = 1 + (k/3 − 1)tanh(rate) times the variance, in a share 1/w of the
// time, which has this kurtosis and variance.
//
// With a lag a state far away is no place to stay: the weights of samples grow as the policy moves on from the
// snapshot that drew them, and no share of such states is known.
//
// Case: two constant arms 0 and −1, G = 9, k3, β = 0.2, η = 0.2, μ = 0.9. Linear theory has a share 0.718 of
// groups of equal rewards, the tails add 0.22, and 0.938(2) was simulated. With a lag: constant arms 60, 0.2,
// 60, G = 2, k3, β = 0.5, η = 0.8, μ = 0.9, where nearly all replicas overflow at delays of 1, 5 and 30.
func (l *linearization) far(sigma *mat.Dense, rate float64) (largest scope.Sizes) {
	_, n := l.q.Dims()
	var kurtoses []float64 // of the arms' forces, for the bursts of a largest norm
	if l.model.limited() {
		kurtoses = l.armKurtoses()
	}
	onPolicy := linear.NewLag(&l.Lag).OnPolicy()
	for a := range l.logits {
		arm := l.q.RawRowView(a)
		deviation := math.Sqrt(linear.Form(arm, sigma, arm))
		if !(deviation > tailNoise) {
			continue
		}
		var ray mat.VecDense
		ray.MulVec(sigma, mat.NewVecDense(n, arm))
		ray.ScaleVec(1/deviation, &ray)
		changed, weight := l.alongRay(arm, ray.RawVector().Data, deviation)
		if kurtoses != nil && kurtoses[a] > fewPush {
			if wider := 1 + (kurtoses[a]/3-1)*fp.Tanh(rate); wider < math.Inf(1) {
				ray.ScaleVec(math.Sqrt(wider), &ray)
				inBursts, _ := l.alongRay(arm, ray.RawVector().Data, math.Sqrt(wider)*deviation)
				changed = changed.Max(inBursts.Times(1/wider, 1/wider, 1/wider))
			}
		}
		switch {
		case l.model.limited() || onPolicy && weight > tailWeight:
			largest = largest.Max(changed)
		case weight > tailWeight:
			return scope.Unknown
		}
	}
	return largest
}

// alongRay returns the moments under the stationary density along a ray less those under that of the smooth force,
// and the weight of the states beyond tailStart beside the others. The ray is the displacement by one standard deviation
// of an arm's logit, arm is e_a, both in reduced coordinates.
func (l *linearization) alongRay(arm, ray []float64, deviation float64) (changed scope.Sizes, beyond float64) {
	m, n, probs := l.model, len(arm), make([]float64, len(l.logits))
	x, logits := make([]float64, n), make([]float64, len(l.logits))
	pull := func(s float64) (force, noise float64) { // towards the fixed point; it leaves the logits there
		l.displace(logits, floats.ScaleTo(x, s, ray))
		m.set(logits, logits)
		force = -math.Copysign(1, s) * floats.Dot(arm, l.forceHere())
		return force, linear.Form(arm, mat.NewDense(n, n, l.noiseHere()), arm)
	}
	m.set(l.logits, l.logits)
	release := m.holdCuts()
	held := m.cuts
	unit, still := pull(tailStep / 64)
	unit *= 64 / tailStep
	release()
	reward := m.expected(l.logits)
	var sums [2][4]float64 // of 1, J − J*, its square, and the share of groups with equal rewards
	for _, sign := range [2]float64{-1, 1} {
		var depth, top [2]float64
		for s := 0.0; s*deviation < tailReach && min(depth[0], depth[1]) < tailDepth; {
			step := max(tailStep, tailShare*s)
			middle := sign * (s + step/2)
			force, noise := pull(middle)
			softmax(probs, logits)
			j, equal := expected(l.Arms, probs)-reward, m.law.EqualRewards(probs)
			for i := range sums {
				if i == 1 && held != nil {
					m.cuts = held
					force, noise = pull(middle)
					m.cuts = nil
				}
				rate := step * force / unit * still / noise
				top[i] = max(top[i], depth[i]+rate/2)
				depth[i] += rate
				w := step * fp.MathExp(-top[i])
				switch {
				case s < tailStart:
					w *= still / noise
				case i == 0:
					beyond += w
				case held == nil:
					continue
				}
				for k, x := range [4]float64{1, j, j * j, equal} {
					sums[i][k] += w * x
				}
			}
			s += step
		}
	}
	for i := range sums {
		for k := 1; k < 4; k++ {
			sums[i][k] /= sums[i][0]
		}
	}
	with, without := &sums[0], &sums[1]
	return scope.Sizes{
		RewardMean:     math.Abs(with[1] - without[1]),
		RewardVariance: math.Abs(with[2] - with[1]*with[1] - without[2] + without[1]*without[1]),
		ZeroVariance:   math.Abs(with[3] - without[3]),
	}, beyond / without[0]
}
