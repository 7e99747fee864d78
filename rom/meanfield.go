package rom

import (
	"fmt"
	"math"
	"slices"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/linear"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/floats"
)

// MeanField computes θ_{t+1} = optimizer(E[g](θ_t, θ_old)) for steps ≥ 0 optimizer
// steps from the logits init, one per arm, with zero velocity. It calls visit at
// t = 0 … steps with the logits, which are valid during the call only.
//
// Its kind is Exact where the mean force is: the exact law of the simulator at G = ∞, and at finite
// G the limit of many groups per step. Else it is an Expansion, as it is where the exact force
// would take more than a few seconds. The scope is out if a logit, a velocity or a reward's mean or
// deviation is not finite or larger than largestSquared; the run ends there, without visiting that
// state.
//
// Adam divides by the root of its second moment, to which the noise of finite
// groups contributes: E[g²] = (E g)² + Var g, averaged over groups. That is
// LeadingOrder.
func MeanField(p Params, init []float64, steps int, visit func(t int, theta []float64)) (Kind, Scope) {
	return meanField(p.checked(), init, steps, func(t int, theta []float64) (more bool) {
		visit(t, theta)
		return true
	})
}

// meanField is MeanField of checked parameters with a visit that ends the run by returning
// false, and may change the logits.
func meanField(p Params, init []float64, steps int, visit func(t int, theta []float64) (more bool)) (Kind, Scope) {
	must(p.Optimizer.Check)
	must(p.Lag.Check)
	arms := len(p.Arms)
	checkLogits("init", init, arms)
	want(steps >= 0, "steps", steps, "at least 0")
	if p.ReferenceUpdate.Interval > 0 {
		return Exact, Scope{Because: scope.MovingReference.Because()}
	}
	m := newModel(&p)
	m.startBaseline()
	theta := slices.Clone(init)
	force, part := make([]float64, arms), make([]float64, arms)
	velocity, second := make([]float64, arms), make([]float64, arms)
	decay1, decay2 := 1.0, 1.0
	o := &p.Optimizer
	past := newSnapshots(&p.Lag, theta, steps)
	rewardsSquarable := !slices.ContainsFunc(p.Arms, func(a option.Arm) bool { return !isSquarable([]float64{a.Mean, a.Std}) })
	kind := m.kind()
	if o.Kind == option.Adam && p.GroupSize != option.Infinite {
		if because := p.notDerived(adamMoment); because.Out() {
			return LeadingOrder, Scope{Because: because}
		}
		kind = LeadingOrder
	}
	for t := range steps + 1 {
		if !isSquarable(theta) || !isSquarable(velocity) || !linear.IsFinite(second...) || !rewardsSquarable {
			return kind, overflow(t)
		}
		if !visit(t, theta) || t == steps {
			break
		}
		clear(force)
		past.store(t, theta)
		mean := 0.0
		past.each(t, func(share float64, old []float64) {
			m.set(theta, old)
			m.meanForce(part)
			for a, g := range part {
				force[a] += share * g
			}
			if m.running != nil {
				mean += share * expected(p.Arms, m.past.probs)
			}
		})
		if m.running != nil && p.draws(t) {
			m.moveBaseline(mean)
		}
		if !isSquarable(force) {
			return kind, overflow(t)
		}
		if size := floats.Norm(force, 2); o.MaxNorm > 0 && size > o.MaxNorm && p.GroupSize == option.Infinite {
			for a := range force {
				force[a] *= o.MaxNorm / size
			}
		}
		rate := rateAt(o, t)
		switch o.Kind {
		case option.HeavyBall:
			for a, g := range force {
				velocity[a] = o.Momentum*velocity[a] + g
				theta[a] += rate * velocity[a]
			}
		case option.Nesterov:
			for a, g := range force {
				velocity[a] = o.Momentum*velocity[a] + g
				theta[a] += rate * (g + o.Momentum*velocity[a])
			}
		case option.Adam:
			decay1 *= o.Beta1
			decay2 *= o.Beta2
			noise := m.covariance()
			for a, g := range force {
				velocity[a] = o.Beta1*velocity[a] + (1-o.Beta1)*g
				second[a] = o.Beta2*second[a] + (1-o.Beta2)*(g*g+max(noise.At(a, a), 0))
				scale := math.Sqrt(second[a]/(1-decay2)) + o.Epsilon
				if scale != 0 {
					theta[a] += rate * velocity[a] / (1 - decay1) / scale
				}
			}
		}
	}
	return kind, Scope{In: true}
}

// overflow is the scope of a mean field that leaves the range of floating point at step t.
func overflow(t int) Scope {
	return Scope{Because: scope.PathOverflows.Because(t)}
}

// nearStart is the distance in logits within which a run counts as near its fixed
// point: the scale on which a softmax varies.
const nearStart = 1

// Unsettled returns what is left of the way from the logits init to the fixed point of a prediction
// for p, on the mean field in the steps from ≤ t < to ≤ 2³¹: the distance of the mean of J from J*,
// the mean square of that distance with the relative change of |∇J|² times the stationary variance,
// and the mean distance of the share of groups with equal rewards. The scope is out where the mean
// field ends more than one logit away, of arms that count in J, in another attractor or on its way,
// where it leaves the range of floating point, or where the largest norm acts on the way.
func (s *Settled) Unsettled(p Params, at *Prediction, init []float64, from, to int) (left scope.Sizes, within Scope) {
	p = p.checked()
	if p.tabular() {
		return unsettledTabular(p, init, from, to)
	}
	if p = unlimited(p, init, to-1); !p.knownForce() {
		return left, Scope{Because: p.clipped(math.Inf(1))}
	}
	m := newModel(&p)
	amount, least := leastThatCounts(p.Arms, at)
	gradient := func() float64 { // |∇J|², of which so small an amount changes nothing
		square := 0.0
		j := expected(p.Arms, m.now.probs)
		for a, q := range m.now.probs {
			square += q * q * (p.Arms[a].Mean - j) * (p.Arms[a].Mean - j)
		}
		return max(square, amount*amount)
	}
	m.expected(at.FixedPoint.Logits)
	slope, equal := gradient(), m.law.EqualRewards(m.now.probs)
	away, j, calm, resting := 0.0, 0.0, 0, restingSteps+linear.NewLag(&p.Lag).Span()
	_, within = meanField(p, init, to-1, func(t int, theta []float64) (more bool) {
		j = m.expected(theta)
		away = at.FixedPoint.distance(theta, m.now.probs, least)
		if t >= from {
			miss, n := j-at.FixedPoint.Reward, float64(to-from)
			left.RewardMean += miss / n
			left.RewardVariance += miss * miss / n
			if v := at.variance(); slope > 0 && v != nil {
				left.RewardVariance += *v * math.Abs(gradient()/slope-1) / n
			}
			left.ZeroVariance += math.Abs(m.law.EqualRewards(m.now.probs)-equal) / n
		}
		// Where policy, snapshot and velocity have come to rest they stay.
		if calm++; away > settled {
			calm = 0
		}
		return calm < resting
	})
	left.RewardMean = math.Abs(left.RewardMean)
	if within.In && away > nearStart {
		within = Scope{Because: scope.NotArrived.Because(to-1, away, j, at.FixedPoint.Reward, arrival(p, init, at.FixedPoint, least, to))}
	}
	if within.In && p.Advantage.Baseline == option.RunningMean && fp.Pow(1-p.Advantage.Rate, float64(p.drawn(from))) > unsettledBaseline {
		within = Scope{Because: scope.BaselineRemembers.Because()}
	}
	return left, within
}

// A run that has not arrived is followed for so many times its length, and at most for so many
// steps more, to find when it would have.
const (
	farther  = 10
	muchMore = 1_000_000
)

// arrival says in words when the mean field from the logits init, which has not arrived in the
// given steps, comes near a fixed point and stays there to the end of what is followed.
func arrival(p Params, init []float64, point *FixedPoint, least float64, steps int) string {
	since, end := -1, min(farther*steps, steps+muchMore)
	probs := make([]float64, len(init))
	_, within := meanField(p, init, end, func(t int, theta []float64) (more bool) {
		softmax(probs, theta)
		switch near := point.distance(theta, probs, least) <= nearStart; {
		case !near:
			since = -1
		case since < 0:
			since = t
		}
		return true
	})
	if !within.In || since < 0 {
		return fmt.Sprintf("it does not come near it in %d steps", end)
	}
	return fmt.Sprintf("it is near it from step %d on", since)
}

// counted is the share of the standard deviation of J that an arm has to be able to add to J for
// its logit to count: one that adds less changes Var J by a hundredth where its probability varies
// by itself.
const counted = 0.1

// leastThatCounts returns the amount that an arm has to be able to add to J for its logit to count
// in the distance from the fixed point, and the probability from which on it can: an arm that is
// rarer in both policies moves J by less than counted standard deviations, of which Unsettled takes
// account. Both are 0 where J has no noise, or that is not known.
func leastThatCounts(arms []option.Arm, at *Prediction) (amount, probability float64) {
	lowest, highest := arms[0].Mean, arms[0].Mean
	for _, arm := range arms {
		lowest, highest = min(lowest, arm.Mean), max(highest, arm.Mean)
	}
	v, span := at.variance(), highest-lowest
	if v == nil || span == 0 {
		return 0, 0
	}
	amount = counted * min(math.Sqrt(*v), span/2) // no law has a larger deviation
	return amount, amount / span
}

// distance returns the largest difference between the logits of a policy of the given probabilities
// and those of the fixed point, but for a common shift, among the arms of which either has a
// probability of at least least.
func (f *FixedPoint) distance(theta, probs []float64, least float64) (largest float64) {
	shift, n := 0.0, 0.0
	for a, x := range f.Logits {
		if max(probs[a], f.Policy[a]) >= least {
			shift, n = shift+theta[a]-x, n+1
		}
	}
	for a, x := range f.Logits {
		if max(probs[a], f.Policy[a]) >= least {
			largest = max(largest, math.Abs(theta[a]-x-shift/n))
		}
	}
	return largest
}

// While the first value of a running mean has more than the weight unsettledBaseline in it, the run
// has not settled. In the noise its square counts.
const unsettledBaseline = 1e-3

// A run rests at its fixed point if it has been within settled logits of it for
// restingSteps steps more than the snapshot's age.
const (
	settled      = 1e-9
	restingSteps = 100
)

// variance returns the stationary variance of J of the linear dynamics; nil: none.
func (prediction *Prediction) variance() *float64 {
	if prediction.Exact.Scope.In {
		return prediction.Exact.StationaryVariance.ExpectedReward
	}
	return prediction.LeadingOrder.StationaryVariance.ExpectedReward
}

// largestSquared is the size beyond which the square of a logit, of a velocity or of a reward,
// summed over a run, can leave the range of floating point, as the variance of a simulated run then
// does.
const largestSquared = 1e150

// isSquarable reports whether no entry of x is NaN or larger than largestSquared.
func isSquarable(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return !(math.Abs(v) <= largestSquared) })
}

// rateAt returns the learning rate of step t ≥ 0; see Optimizer.
func rateAt(o *option.Optimizer, t int) float64 {
	if t < o.Schedule.Warmup {
		return o.LearningRate * float64(t+1) / float64(o.Schedule.Warmup)
	}
	x := 1.0
	if t < o.Schedule.Total {
		x = float64(t-o.Schedule.Warmup) / float64(o.Schedule.Total-o.Schedule.Warmup)
	}
	switch o.Schedule.Kind {
	case option.LinearDecay:
		return o.LearningRate * (1 - x)
	case option.CosineDecay:
		return o.LearningRate * 0.5 * (1 + math.Cos(math.Pi*x))
	}
	return o.LearningRate
}

// snapshots stores past logits of a run for the behaviour policy: of the last refreshes
// (block), or of the last steps and the present one, never more than the run has.
type snapshots struct {
	period int // steps from one stored policy to the next
	oldest int // age, in periods, of the oldest policy that is used
	// of random ages: probabilities by age, the last with those beyond the run; nil: the oldest is
	// used
	shares []float64
	ring   [][]float64 // the logits of period n are at n modulo its length
}

// newSnapshots returns the snapshots of a run of the given number of steps that starts
// at init.
func newSnapshots(l *option.Lag, init []float64, steps int) *snapshots {
	lag := linear.NewLag(l)
	s := &snapshots{period: lag.Period()}
	s.oldest, s.shares = lag.Stored()
	n := min(s.oldest, steps) + 1
	if s.shares != nil {
		kept := 0.0
		for _, p := range s.shares[:n-1] {
			kept += p
		}
		s.shares = append(s.shares[:n-1:n-1], 1-kept)
	}
	s.ring = make([][]float64, n)
	for i := range s.ring {
		s.ring[i] = slices.Clone(init)
	}
	return s
}

// store stores the logits theta of step t. It has to be called once in every step.
func (s *snapshots) store(t int, theta []float64) {
	if t%s.period == 0 {
		copy(s.ring[t/s.period%len(s.ring)], theta)
	}
}

// aged returns the logits of the given age, in periods, in step t; those of step 0 for an age that
// reaches back before it.
func (s *snapshots) aged(t, age int) []float64 {
	return s.ring[max(t/s.period-age, 0)%len(s.ring)]
}

// at stores the logits theta of step t and returns θ_old: the logits of d refreshes before
// the last (block), or of step max(t−τ, 0) (delay). It has to be called once in every step.
// The ages are not random.
func (s *snapshots) at(t int, theta []float64) []float64 {
	s.store(t, theta)
	return s.aged(t, s.oldest)
}

// each calls visit with the logits of every age in step t, which have been stored, and the
// probability of the age.
func (s *snapshots) each(t int, visit func(share float64, old []float64)) {
	if s.shares == nil {
		visit(1, s.aged(t, s.oldest))
		return
	}
	for age, share := range s.shares {
		if share > 0 {
			visit(share, s.aged(t, age))
		}
	}
}
