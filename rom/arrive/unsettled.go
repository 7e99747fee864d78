package arrive

import (
	"cmp"
	"fmt"
	"math"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/fixed"
	"grposim/rom/force"
	"grposim/rom/linear"
	"grposim/rom/path"
	"grposim/rom/rest"
	"grposim/rom/scope"
)

// nearStart is the distance in logits within which a run counts as near its fixed
// point: the scale on which a softmax varies.
const nearStart = 1

// Unsettled returns what is left of the way from the logits init to the fixed point of a prediction
// for p, on the mean field in the steps from ≤ t < to ≤ 2³¹: the distance of the mean of J from J*,
// the mean square of that distance with the relative change of |∇J|² times the stationary variance,
// and the mean distance of the share of groups with equal rewards. The scope is out where the mean
// field ends more than one logit away, of arms that count in J, in another attractor or on its way,
// where it leaves the range of floating point, or where the largest norm acts on the way.
func Unsettled(p cell.Params, at *rest.Prediction, init []float64, from, to int) (
	left scope.Sizes, within scope.Scope) {
	p = p.Checked()
	if p.Tabular() {
		return unsettledTabular(p, init, from, to)
	}
	p = path.Unlimited(p, init, to-1)
	if because := p.NotDerived(cell.DynamicsAtRest); because.Is(scope.NormClips) {
		return left, because.Scope()
	}
	m := force.New(&p)
	amount, least := leastThatCounts(p.Arms, at)
	gradient := func() float64 { // |∇J|², of which so small an amount changes nothing
		square := 0.0
		j := cell.Expected(p.Arms, m.Now.Probs)
		for a, q := range m.Now.Probs {
			square += q * q * (p.Arms[a].Mean - j) * (p.Arms[a].Mean - j)
		}
		return max(square, amount*amount)
	}
	m.Expected(at.FixedPoint.Logits)
	slope, equal := gradient(), m.Law.EqualRewards(m.Now.Probs)
	remembers := memory(&p, m, at.FixedPoint, least)
	away, j, calm, resting := 0.0, 0.0, 0, path.RestingSteps+linear.NewLag(&p.Lag).Span()
	_, within = path.Follow(p, init, to-1, func(t int, theta []float64) (more bool) {
		j = m.Expected(theta)
		away = distance(at.FixedPoint, theta, m.Now.Probs, least)
		old := remembers(theta)
		if t >= from {
			miss, n := j-at.FixedPoint.Reward, float64(to-from)
			left.RewardMean += miss / n
			left.RewardVariance += miss * miss / n
			if v := at.LinearVariance(); slope > 0 && v != nil {
				left.RewardVariance += *v * (math.Abs(gradient()/slope-1) + old) / n
			}
			left.ZeroVariance += math.Abs(m.Law.EqualRewards(m.Now.Probs)-equal) / n
		}
		// Where policy, snapshot and velocity have come to rest they stay.
		if calm++; away > path.AtRest || old > unsettledBaseline {
			calm = 0
		}
		return calm < resting
	})
	left.RewardMean = math.Abs(left.RewardMean)
	if within.In && away > nearStart {
		within = scope.NotArrived.Because(to-1, away, j, at.FixedPoint.Reward,
			arrival(p, init, at.FixedPoint, least, to)).Scope()
	}
	if within.In && p.Advantage.Baseline == option.RunningMean &&
		fp.Pow(1-p.Advantage.Rate, float64(p.Drawn(from))) > unsettledBaseline {
		within = scope.BaselineRemembers.Because().Scope()
	}
	return left, within
}

// memory returns what a run leaves out of Var J at a policy of its mean path, as a share: under Adam
// the squares S of the mean forces on the way make a gain √(C/(C+S)) of that at rest, C = Var g, of
// arms that are no rarer than least.
func memory(p *cell.Params, m *force.Model, rest *fixed.Point, least float64) func(theta []float64) (
	share float64) {
	if p.Optimizer.Kind != option.Adam || p.GroupSize == option.Infinite {
		return func([]float64) float64 { return 0 }
	}
	m.Set(rest.Logits, rest.Logits)
	noise, squares, g := m.Covariance(), make([]float64, len(p.Arms)), make([]float64, len(p.Arms))
	return func(theta []float64) (share float64) {
		m.Set(theta, theta)
		m.MeanForce(g)
		for a, x := range g {
			squares[a] = p.Optimizer.Beta2*squares[a] + (1-p.Optimizer.Beta2)*x*x
			if c := noise.At(a, a); rest.Policy[a] >= least {
				share = max(share, 1-math.Sqrt(c/(c+squares[a])))
			}
		}
		return share
	}
}

// A run that has not arrived is followed for so many times its length, and at most for so many
// steps more, to find when it would have.
const (
	farther  = 10
	muchMore = 1_000_000
)

// arrival says in words when the mean field from the logits init, which has not arrived in the
// given steps, comes near a fixed point and stays there to the end of what is followed.
func arrival(p cell.Params, init []float64, point *fixed.Point, least float64,
	steps int) string {
	since, end := -1, min(farther*steps, steps+muchMore)
	probs := make([]float64, len(init))
	_, within := path.Follow(p, init, end, func(t int, theta []float64) (more bool) {
		cell.Softmax(probs, theta)
		switch near := distance(point, theta, probs, least) <= nearStart; {
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
func leastThatCounts(arms []option.Arm, at *rest.Prediction) (amount, probability float64) {
	v, span := at.LinearVariance(), cell.Span(arms)
	if v == nil || span == 0 {
		return 0, 0
	}
	amount = counted * min(math.Sqrt(*v), span/2) // no law has a larger deviation
	return amount, amount / span
}

// distance returns the largest difference between the logits of a policy of the given probabilities
// and those of the fixed point, but for a common shift, among the arms of which either has a
// probability of at least least.
func distance(f *fixed.Point, theta, probs []float64, least float64) (largest float64) {
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

// unsettledTabular is Unsettled for prompts with a policy each: the mean of what is left of
// the way of each, which bounds the effect on the mean reward.
func unsettledTabular(p cell.Params, init []float64, from, to int) (
	left scope.Sizes, within scope.Scope) {
	visit, period, because := cell.AtRest(&p)
	if because = cmp.Or(because, p.NotDerived(cell.MeanForceKnown)); because.Out() {
		return left, because.Scope()
	}
	n := float64(len(p.Prompts.First))
	for x := range p.Prompts.First {
		one, start := p.Prompt(x, init)
		one = one.Visited(&visit)
		at := rest.NewEquilibrium(one).PredictPart(
			visit.Optimizer, visit.Lag, rest.Multipliers|rest.StationaryLaw)
		if at.FixedPoint == nil {
			return left, at.Exact.Scope
		}
		by, within := Unsettled(one, &at, start, from/period, max(to/period, from/period+1))
		if !within.In {
			return left, within
		}
		left = left.Plus(scope.Sizes{RewardMean: by.RewardMean / n, RewardVariance: by.RewardVariance / n,
			ZeroVariance: by.ZeroVariance / n})
	}
	return left, scope.Scope{In: true}
}
