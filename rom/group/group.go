// Package group has the expectations over one group of G rewards on which the mean force and its
// covariance depend (docs/theory.md §2). It knows arms, probabilities and the estimator: no logits,
// no penalty, no dynamics.
//
// New chooses a Law for the rewards and the estimator, once:
//
//   - Counts: rewards of two values, by sums over the number of successes. Its advantages are a table
//     (advantage.go), and a filter of groups acts on it (filter.go).
//   - Limit: any rewards at G = ∞.
//   - Composed: rewards of few values or densities, by sums over the compositions of a group.
//   - Expanded: any other, to first order in 1/G.
//
// NewPrompts makes the Law of many prompts, each with Counts of its own.
//
// A Law reads the Samples that it was given, whose owner changes them from state to state.
package group

import (
	"math"
	"slices"

	"grposim/fp"
	"grposim/option"

	"gonum.org/v1/gonum/floats"
)

// Samples holds the policy that draws the samples of a group and their weights, one entry per arm.
type Samples struct {
	Old      []float64 // π_old
	Up, Down []float64 // importance weights w⁺ and w⁻ of samples with A > 0 and A < 0
	Kappa    []float64 // κ, the weight in a sampled KL gradient
	Shift    []float64 // what the KL in the reward adds to the rewards
}

// NewSamples returns those of the given number of arms.
func NewSamples(arms int) *Samples {
	column := func() []float64 { return make([]float64, arms) }
	return &Samples{column(), column(), column(), column(), column()}
}

// Clipped reports whether samples of positive and of negative advantage have different weights.
func (s *Samples) Clipped() bool { return !slices.Equal(s.Up, s.Down) }

// Law is the law of c^R and c^K of the groups that a filter leaves. c^R is the mean weighted
// advantages of a group's samples, by arm, and c^K their mean κ.
type Law interface {
	// Mean writes E[c^R].
	Mean(dst []float64)
	// Covariance writes Cov(c^R, c^R) and Cov(c^R, c^K), given zeros. Where groups are redrawn under a
	// sampled KL gradient it also writes Cov(c^K, c^K), which else does not depend on the rewards.
	Covariance(reward, cross, penalty [][]float64)
	// Stiffness adds what a change of the policy, π = π_old, and of π_old alone takes from E[c^R] −
	// πΣE[c^R]. Weights are 1 or ρ. It returns false where that has no closed form.
	Stiffness(fresh, stale [][]float64) (known bool)

	// Factored reports whether E[c^R_a] is φ π_a(m_a − J) with one factor φ for all arms, π = π_old.
	Factored() bool
	// Factor returns φ, ∇φ and u_a = π_a(m_a − J) of a factored law, π = π_old.
	Factor() (phi float64, slope, u []float64)
	// Leading returns φ, of a law that is not factored that of its leading term in 1/G, and 0
	// where all rewards are equal.
	Leading() float64
	// Reach returns a bound of φ/pull, of two arms without a common factor of |R_a − R_b|/pull, R the
	// Response; +Inf where none is known.
	Reach(pull float64) float64
	// Exact reports whether Mean is exact under all weights, and Covariance under weights
	// that do not depend on the sign.
	Exact() bool
	// LeftOut returns the relative sizes of what Mean and Covariance leave out.
	LeftOut() (mean, noise float64)

	// Values returns the probabilities of the values that rewards take, if arms have the probabilities
	// probs. They are in the order of the arms, those of all prompts one after the other. That of a
	// density is 0.
	Values(probs []float64) []float64
	// Value returns the entry v of Values, without the others.
	Value(probs []float64, v int) float64
	// Prompts returns the number of prompts with values of their own.
	Prompts() float64
	// EqualRewards returns the probability that all G rewards of a group drawn from probs are equal,
	// Σ_v P(r = v)^G. It is J^G + (1−J)^G for Bernoulli arms; of prompts the mean.
	EqualRewards(probs []float64) float64
	// Unevenness returns E v²/(E v)² of a group drawn from probs, v its mean square advantage given
	// its rewards. Where v is the same in all groups whose rewards differ, of probability p, it is
	// 1/p.
	Unevenness(probs []float64) float64

	// Spread returns the variance of one reward.
	Spread() float64
}

// New returns the law of a group of one bandit.
func New(arms []option.Arm, e *option.Estimator, s *Samples) Law {
	if c := NewCounts(arms, e, s); c != nil {
		return c
	}
	if e.GroupSize == option.Infinite {
		return &Limit{newBase(arms, e, s)}
	}
	if !e.KL.OfReward() {
		if l := Compose(arms, e, s); l != nil {
			return l
		}
	}
	return NewExpanded(arms, e, s)
}

// Response writes E[c^R_a]/π_old,a of a law with this π_old, of an expansion also where that is 0.
func Response(l Law, old, dst []float64) {
	if e, is := l.(*Expanded); is {
		e.response(dst)
		return
	}
	l.Mean(dst)
	floats.Div(dst, old)
}

// base has what all laws share, and what most of them answer to the questions of Law.
type base struct {
	*Samples
	arms      []option.Arm
	e         *option.Estimator
	size      float64   // G; +Inf where infinite
	baseline  float64   // G/(G−1) for leave-one-out, else 1
	deviation float64   // sample over population standard deviation
	states    []partial // of the reward of each arm, see prepare
	takes     []take    // nil: not yet listed
	values    int       // number of different ones in takes
}

func newBase(arms []option.Arm, e *option.Estimator, s *Samples) base {
	b := base{Samples: s, arms: arms, e: e, size: math.Inf(1), baseline: 1, deviation: 1}
	if e.GroupSize != option.Infinite {
		b.size = float64(e.GroupSize)
		if e.Advantage.Baseline == option.LeaveOneOut {
			b.baseline = b.size / (b.size - 1)
		}
		if e.Advantage.Std == option.SampleStd {
			n := float64(pool(e))
			b.deviation = math.Sqrt(n / (n - 1))
		}
	}
	return b
}

func (b *base) Factored() bool                 { return false }
func (b *base) Exact() bool                    { return true }
func (b *base) LeftOut() (mean, noise float64) { return 0, 0 }
func (b *base) Prompts() float64               { return 1 }

func (b *base) Value(probs []float64, v int) float64 { return b.Values(probs)[v] }

func (b *base) Values(probs []float64) []float64 {
	takes := b.listed()
	values := make([]float64, b.values)
	for _, t := range takes {
		if t.std == 0 {
			values[t.value] += probs[t.arm] * t.chance
		}
	}
	return values
}

// take is a value that the reward of an arm takes, by its place in Values, and its probability
// given the arm. A density counts as one value.
type take struct {
	arm, value          int
	reward, std, chance float64
}

// listed returns the values of rewards, arm by arm, listed at the first call.
func (b *base) listed() []take {
	if b.takes != nil {
		return b.takes
	}
	values := make([][2]float64, 0, 2*len(b.arms))
	b.takes = make([]take, 0, 2*len(b.arms))
	for a, arm := range b.arms {
		all, std := outcomes(arm), 0.0
		if all == nil {
			all, std = [][2]float64{{arm.Mean, 1}}, arm.Std
		}
		for _, x := range all {
			at := slices.Index(values, [2]float64{x[0], std})
			if at < 0 || b.e.KL.OfReward() { // then no two arms have equal rewards
				at = len(values)
				values = append(values, [2]float64{x[0], std})
			}
			b.takes = append(b.takes, take{a, at, x[0], std, x[1]})
		}
	}
	b.values = len(values)
	return b.takes
}

func (b *base) Unevenness(probs []float64) float64 { return b.uneven(b.EqualRewards(probs)) }

// uneven is Unevenness of groups whose rewards are equal with the given probability, else uneven
// alike.
func (b *base) uneven(equal float64) float64 {
	if b.e.Filter == option.Redraw {
		return 1
	}
	return 1 / (1 - equal)
}

func (b *base) EqualRewards(probs []float64) float64 { return b.equal(b.Values(probs)) }

// equal returns Σp^G.
func (b *base) equal(values []float64) (sum float64) {
	for _, p := range values {
		sum += fp.Pow(p, b.size)
	}
	return sum
}

func (b *base) Reach(pull float64) float64 {
	if adv := &b.e.Advantage; adv.Scale == option.StdScale && adv.Epsilon > 0 {
		return b.baseline / (adv.Epsilon * pull)
	}
	return math.Inf(1)
}

// reachOfTwo is Reach of two arms without a common factor: no advantage exceeds √(G−1) standard
// deviations of the group.
func (b *base) reachOfTwo(pull float64) float64 {
	return 2 * b.baseline * math.Sqrt(b.size-1) / (b.deviation * pull)
}

func (b *base) Leading() float64 {
	f, _, _ := b.generalScale(b.Spread())
	if b.e.Advantage.Scale == option.NoScale {
		f *= b.baseline * (1 - 1/b.size)
	}
	return f
}

// Spread returns the variance of a single reward drawn under π_old; 0
// where all rewards of positive probability are equal. That is decided by their values,
// because their computed mean and so the sum of squares has rounding errors.
func (b *base) Spread() float64 {
	b.prepare()
	sum, low, high := 0.0, math.Inf(1), math.Inf(-1)
	for a, old := range b.Old {
		if old == 0 {
			continue
		}
		sum += old * b.states[a].full(2)
		if l, h, ok := Support(b.arms[a]); ok {
			low, high = min(low, l+b.Shift[a]), max(high, h+b.Shift[a])
		} else {
			low, high = math.Inf(-1), math.Inf(1)
		}
	}
	if low == high {
		return 0
	}
	return sum
}

// prepare computes every arm's partial moments about J_old and returns J_old.
func (b *base) prepare() float64 {
	if b.states == nil {
		b.states = make([]partial, len(b.arms))
	}
	mean, low, high := 0.0, math.Inf(1), math.Inf(-1)
	for a, old := range b.Old {
		x := b.arms[a].Mean + b.Shift[a]
		mean, low, high = mean+old*x, min(low, x), max(high, x)
	}
	mean = min(max(mean, low), high) // that of equal means is exact, else rounding is a force
	for a, arm := range b.arms {
		b.states[a] = partialMoments(arm, mean-b.Shift[a])
	}
	return mean
}

// generalScale returns F(V) = 1/(√V + ε), F′ and F″ at the variance V of a single reward. √V is
// multiplied by the correction of the sample deviation. Without scale F = 1 and F′ = F″ = 0; for
// V = 0 all three are 0.
func (b *base) generalScale(variance float64) (f, slope, curvature float64) {
	if variance <= 0 {
		return 0, 0, 0
	}
	if b.e.Advantage.Scale == option.NoScale {
		return 1, 0, 0
	}
	s, d := math.Sqrt(variance), b.deviation
	f = 1 / (d*s + b.e.Advantage.Epsilon)
	slope = -d * f * f / (2 * s)
	curvature = d*f*f/(4*s*s*s) + d*d*f*f*f/(2*s*s)
	return f, slope, curvature
}

// Factor is that of rewards of any law, at G = ∞ or without scale.
func (b *base) Factor() (phi float64, slope, u []float64) {
	probs := b.Old
	u, slope = make([]float64, len(probs)), make([]float64, len(probs))
	mean := b.prepare()
	for a, p := range probs {
		u[a] = p * (b.arms[a].Mean - mean)
	}
	if b.e.Advantage.Scale == option.NoScale { // the variance, which may overflow, does not matter
		return b.baseline * (1 - 1/b.size), slope, u
	}
	variance := b.Spread()
	phi, derivative, _ := b.generalScale(variance)
	for a, p := range probs {
		slope[a] = derivative * p * (b.states[a].full(2) - variance)
	}
	return phi, slope, u
}

// Stiffness is that of a factored law of any rewards.
func (b *base) Stiffness(fresh, stale [][]float64) (known bool) {
	if b.e.KL.OfReward() {
		return false
	}
	phi, slope, u := b.Factor()
	b.addStiffness(fresh, stale, phi, slope, u)
	return true
}

// addStiffness adds that of the force φu: −φH_u − u∇φᵀ, of which the first is stale without
// weights.
func (b *base) addStiffness(fresh, stale [][]float64, phi float64, slope, u []float64) {
	h := stale
	if b.e.Importance.Mode != option.NoImportance {
		h = fresh
	}
	for a, p := range b.Old {
		h[a][a] -= phi * u[a]
		for c, q := range b.Old {
			h[a][c] += phi * (u[a]*q + p*u[c])
			stale[a][c] -= u[a] * slope[c]
		}
	}
}

// Square returns an n×n matrix of zeros.
func Square(n int) [][]float64 { return Zeros(n, n) }

// Zeros returns a matrix of zeros.
func Zeros(rows, columns int) [][]float64 {
	return slices.Collect(slices.Chunk(make([]float64, rows*columns), columns))
}
