package arrive

import (
	"math"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/fixed"
	"grposim/rom/force"
	"grposim/rom/group"
)

// The locking of runs without a penalty (docs/theory-neglected.md §6.12): by chance
// they go to a wrong arm, from where they return by ever rarer samples of the best one.

// decideLocking flags the share of runs on a wrong arm at the end. Of more than two arms it is the
// sum over the wrong ones, of each as if there were no others. With reused samples K steps are one
// of Kη.
func (row *Row) decideLocking(c *course) {
	row.Quantity = "share of runs on a wrong arm"
	row.Bound = flagged
	steps, gain := float64(c.steps), c.Optimizer.LearningRate/(1-c.Optimizer.Momentum)
	if c.Samples == option.Reused {
		steps, gain = max(steps/float64(c.Lag.Interval), 1), gain*float64(c.Lag.Interval)
	}
	for b := range c.Arms {
		if c.Arms[b].Mean == c.Arms[c.front].Mean {
			continue
		}
		mean, _ := loneSample(&c.Params, c.front, b)
		pull, z := 2*gain*mean*steps, c.init[c.front]-c.init[b]
		if pull*fp.MathExp(min(z, 0)) < leftMiddle {
			row.Because = c.notThere()
			return
		}
		row.Value += c.locked(b, z, min(math.Log(pull), fixed.SaturatedGap), gain)
	}
	row.Value = min(row.Value, 1)
	if row.loseAtMost(math.Inf(1)); row.Value <= row.Bound {
		row.loseAtMost(unflaggedShare / flagged * row.Value)
	}
}

// leftMiddle is aT e^z, a = 2η E A/(1−μ) of a lone sample of the best arm, of a start at z ≤ 0,
// where the mean path from the middle has come to z = 2.5, z + sinh z = aT/2. Runs that are not so
// far have not arrived, and are not locked either.
const leftMiddle = 17

// lockingStep is the distance in logits of the points at which locked takes force and noise.
const lockingStep = 0.1

// locked returns the share of runs that are lost to arm b from the gap z of the best arm over it.
// Below −edge nothing brings them back. It is that of a walk whose odds to fall back by dz decline
// as exp(−λ dz), of which exp(−∫λ) is the scale.
func (c *course) locked(b int, z, edge, gain float64) float64 {
	pair := cell.WithoutNorm(c.Params)
	pair.Arms = []option.Arm{c.Arms[c.front], c.Arms[b]}
	pair.Reference, pair.Start = []float64{0, 0}, nil
	m, lambda := force.New(&pair), 1.0
	log, below, above := 0.0, 0.0, 0.0
	for x := -edge; x < min(max(edge, z+1), fixed.SaturatedGap); x += lockingStep {
		theta := []float64{x / 2, -x / 2}
		m.Set(theta, theta)
		lambda = decline(m, lambda)
		log -= lockingStep * lambda * float64(c.GroupsPerStep) / (2 * gain)
		if x < z {
			below += fp.MathExp(log)
		} else {
			above += fp.MathExp(log)
		}
	}
	return above / max(below+above, math.SmallestNonzeroFloat64)
}

// decline returns Cramér's exponent of a walk: the λ ≠ 0 at which E exp(−λg) = 1, up to 1 %. g is
// the force of a group on arm 0 of two, on-policy without a penalty. For a normal g it is
// 2E[g]/Var g. It is large where no group pushes back, and searched near the given one.
func decline(m *force.Model, near float64) float64 {
	law, p, force := m.Counts, m.Now.Probs[0], make([]float64, 2)
	j, rest := law.Chances(m.Old)
	alpha, delta := law.Outcomes(j, rest)
	counts := law.Successes(j, rest)
	excess := func(lambda float64) (sum float64) { // E exp(−λg) − 1
		sample := func(share, advantage float64) float64 { // log E exp(−λg) of one of its samples
			by := lambda * advantage / m.Size
			return math.Log1p(share*math.Expm1(-by*(1-p)) + (1-share)*math.Expm1(by*p))
		}
		for i, w := range counts.Weights {
			s := float64(counts.At(i))
			up, down := law.Advantages(counts.At(i))
			sum += w * math.Expm1(s*sample(alpha[0], up)+(m.Size-s)*sample(delta[0], down))
		}
		return sum
	}
	m.MeanForce(force)
	const factor, most = 1.5, 1e6
	high := math.Copysign(math.Abs(near), force[0])
	for !(excess(high) > 0) && math.Abs(high) < most {
		high *= factor
	}
	for excess(high/factor) > 0 {
		high /= factor
	}
	low := high / factor
	for math.Abs(high-low) > 0.01*math.Abs(high) {
		if middle := (low + high) / 2; excess(middle) > 0 {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// loneSample returns the mean advantage of a lone sample of arm a among G−1 of arm b, of rewards of
// two values, and that of those with a positive one; 0 where none is.
func loneSample(p *cell.Params, a, b int) (mean, positive float64) {
	counts := group.NewCounts(p.Arms, &p.Estimator, group.NewSamples(len(p.Arms)))
	own, others := counts.Success[a], counts.Success[b]
	law := group.NewBinomial(p.GroupSize-1, others, 1-others, nil)
	above := 0.0
	for i, chance := range law.Weights {
		n := law.At(i)
		up, _ := counts.Advantages(n + 1)
		_, down := counts.Advantages(n)
		mean += chance * (own*up + (1-own)*down)
		if up > 0 {
			positive += chance * own * up
			above += chance * own
		}
	}
	return mean, positive / max(above, math.SmallestNonzeroFloat64)
}

// The kicks of k3 (docs/theory-neglected.md §6.12). Where an arm is so rare that
// hardly any step draws it, the restoring force of k3 is there in the mean only. At the log odds u
// against the arm it is delivered by samples that come with the probability e^{−u}, each of which
// moves u in all, by momentum too, by c e^u less what the reward's part of it is.

// kickScale returns c = 2ηβπ_ref/(GB(1−μ)) for an arm of reference probability reference, in
// logits; gain is η/(1−μ), the sum of the steps that a force causes.
func kickScale(p *cell.Params, reference, gain float64) float64 {
	return 2 * gain * p.KL.Coefficient * reference / (float64(p.GroupSize) * float64(p.GroupsPerStep))
}

// throwsAcross reports whether a sample at the log odds u against its arm throws the policy farther
// to the other side than it was, c e^u > 2u.
func throwsAcross(c, u float64) bool {
	return u > 0 && c*fp.MathExp(u) > 2*u && (u > 1 || c > 2/math.E)
}

// crossing returns u₂, the log odds from which on throwsAcross holds, the larger solution of c e^u
// = 2u; 0 for c > 2/e, where it always does, and +Inf for c = 0.
func crossing(c float64) float64 {
	switch {
	case c > 2/math.E:
		return 0
	case c <= 0:
		return math.Inf(1)
	}
	above := 1.0
	for !throwsAcross(c, above) {
		above *= 2
	}
	below := max(above/2, 1)
	for range 60 {
		if middle := (below + above) / 2; throwsAcross(c, middle) {
			above = middle
		} else {
			below = middle
		}
	}
	return above
}
