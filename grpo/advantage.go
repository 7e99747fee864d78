package grpo

import (
	"fmt"
	"math"

	"grposim/option"
)

// ArmStatistics sums the samples of one arm over the groups of a step: advantages
// by sign, because importance weights may depend on the sign.
type ArmStatistics struct {
	Positive      float64 // Σ A_i over A_i > 0, ≥ 0
	Negative      float64 // Σ A_i over A_i < 0, ≤ 0
	PositiveCount int     // number of samples with A_i > 0
	NegativeCount int     // number of samples with A_i < 0
	Count         int     // number of samples, those with A_i = 0 included
}

// GroupStatistics sums the groups of one optimizer step. It is sufficient for the
// force: O(A) numbers, whatever the group size.
type GroupStatistics struct {
	Arms         []ArmStatistics // one per arm, allocated by the caller
	Groups       int             // number of groups added
	Rewarded     int             // Bernoulli samples with reward 1 in them, before redraws
	ZeroVariance int             // groups among them whose rewards are all equal, before redraws
	Baseline     float64         // b of the groups that are added, with RunningMean
}

// MoveBaseline moves the baseline towards the mean reward of the groups, of which there are
// samples in all, b ← (1−α)b + αr̄.
func (s *GroupStatistics) MoveBaseline(rate, samples float64) {
	s.Baseline = float64((1-rate)*s.Baseline) + float64(rate*(float64(s.Rewarded)/samples))
}

// Reset removes all groups from s, and leaves the baseline.
func (s *GroupStatistics) Reset() {
	clear(s.Arms)
	s.Groups, s.Rewarded, s.ZeroVariance = 0, 0, 0
}

// BernoulliAdvantages are the advantages in groups of one size G whose rewards are 0 or 1. With S
// of them 1 and R = S/G they are
//
//	A⁺ = (1−R)/s,  A⁻ = −R/s,  s = √(R(1−R))
//
// with the options of an Advantage (docs/theory.md §2). With ConstantBaseline A⁺ = 1−b and A⁻ = −b
// for all S. With RunningMean they are those of its first b. It caches, so each goroutine has its
// own.
type BernoulliAdvantages struct {
	advantage option.Advantage
	size      int                          // G
	known     []struct{ up, down float64 } // A⁺ and A⁻ by S for small G; up is 0 until computed
}

// tabulatedSize is the largest group size whose advantages are cached, in 16 bytes
// for each S from 0 to G.
const tabulatedSize = 1 << 17

// NewBernoulliAdvantages returns the advantages in groups of the given size ≥ 2.
// It panics if an option of adv or the size is not valid.
func NewBernoulliAdvantages(adv option.Advantage, size int) *BernoulliAdvantages {
	must(adv.Check)
	mustBe(size >= 2, "group size", size, "≥ 2")
	b := &BernoulliAdvantages{advantage: adv, size: size}
	if size <= tabulatedSize {
		b.known = make([]struct{ up, down float64 }, size+1)
	}
	return b
}

// Of returns A⁺ and A⁻ of a group with S = total rewards of 1, 0 ≤ S ≤ G. Both are 0
// if S = 0 or S = G, unless the baseline is given. It panics if S is out of range.
func (b *BernoulliAdvantages) Of(total int) (up, down float64) {
	if total < len(b.known) {
		if up = b.known[total].up; up != 0 {
			return up, b.known[total].down
		}
	}
	return b.compute(total)
}

// compute computes the result of Of and caches it.
func (b *BernoulliAdvantages) compute(total int) (up, down float64) {
	if total < 0 || total > b.size {
		mustBe(false, "number of rewards of 1", total, fmt.Sprintf("from 0 to the group size %d", b.size))
	}
	g := float64(b.size)
	byCount := scalings[b.advantage.Scale].byCount
	if b.advantage.Baseline == option.SecondBest {
		byCount = bestOnly
	}
	switch adv := &b.advantage; {
	case adv.Baseline.Given():
		return 1 - adv.Value, -adv.Value
	case total == 0 || total == b.size:
		return 0, 0
	case byCount != nil:
		up, down = byCount(adv, g, total)
	default:
		mean := float64(total) / g
		factor := factor(adv, g, float64(mean*(1-mean))*g, mean)
		up, down = factor*(1-mean), -factor*mean
	}
	if total < len(b.known) {
		b.known[total].up, b.known[total].down = up, down
	}
	return up, down
}

// OpenBernoulli adds an empty group of Bernoulli samples, of which total have reward 1 and the
// others 0. It returns the advantages A⁺ and A⁻, both 0 in a group without variance unless the
// baseline is given. The caller then adds the samples of each arm by ArmStatistics.AddBernoulli
// with these.
func (s *GroupStatistics) OpenBernoulli(advantages *BernoulliAdvantages, total int) (up, down float64) {
	up, down = advantages.Of(total)
	if advantages.advantage.Baseline == option.RunningMean {
		up, down = 1-s.Baseline, -s.Baseline
	}
	s.Groups++
	s.Rewarded += total
	if total == 0 || total == advantages.size {
		s.ZeroVariance++
	}
	return up, down
}

// AddBernoulli adds count samples of the arm. successes of them have reward 1 and advantage
// up = A⁺, the others reward 0 and advantage down = A⁻.
func (s *ArmStatistics) AddBernoulli(up, down float64, count, successes int) {
	s.Count += count
	failures := count - successes
	if up > 0 {
		s.Positive += float64(up * float64(successes))
		s.PositiveCount += successes
	}
	if down < 0 {
		s.Negative += float64(down * float64(failures))
		s.NegativeCount += failures
	}
}

// Atom is a number of samples of one arm that share a reward. Where weights do not depend on the
// sign of the advantage (WeightsBySign), the samples of a normal arm are one atom with their mean.
// AddAtoms takes their scatter about it apart.
type Atom struct {
	Arm    int     // index of the arm
	Count  int     // number of samples, ≥ 0
	Reward float64 // reward of each sample, or their mean
}

// AddAtoms adds a group of any reward law, given as atoms. Scatter is
// Σ (r_i − reward of its atom)² ≥ 0, zero if the rewards of each atom are equal.
func (s *GroupStatistics) AddAtoms(adv *option.Advantage, atoms []Atom, scatter float64) {
	size, sum := 0, 0.0
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range atoms {
		if x.Count == 0 {
			continue
		}
		size += x.Count
		sum += float64(float64(x.Count) * x.Reward)
		low, high = min(low, x.Reward), max(high, x.Reward)
		s.Arms[x.Arm].Count += x.Count
	}
	s.Groups++
	// Equality of the rewards themselves, not of their variance: seven rewards
	// of 0.95 have a computed std of 1e-16.
	if low == high && scatter == 0 {
		s.ZeroVariance++
		return
	}
	g := float64(size)
	mean := sum / g
	squares := scatter
	for _, x := range atoms {
		d := x.Reward - mean
		squares += float64(float64(x.Count) * float64(d*d))
	}
	factor := factor(adv, g, squares, mean)
	for _, x := range atoms {
		arm, advantage := &s.Arms[x.Arm], factor*(x.Reward-mean)
		switch total := float64(advantage * float64(x.Count)); {
		case advantage > 0:
			arm.Positive += total
			arm.PositiveCount += x.Count
		case advantage < 0:
			arm.Negative += total
			arm.NegativeCount += x.Count
		}
	}
}

// scaling is a row of the table of advantages, of one scale.
type scaling struct {
	// divisor returns the scale of rewards with the given standard deviation > 0 and mean. They are of
	// a group, or of the step where the scale is OfStep.
	divisor func(adv *option.Advantage, deviation, mean float64) float64
	// byCount returns A⁺ and A⁻ in a group of g rewards of which 0 < total < g are 1 and the others 0;
	// nil: (r_i − r̄)/divisor.
	byCount func(adv *option.Advantage, g float64, total int) (up, down float64)
}

// scalings is the table, by Scale.
var scalings = [...]scaling{
	option.StdScale:  {divisor: deviationPlus},
	option.NoScale:   {divisor: func(*option.Advantage, float64, float64) float64 { return 1 }},
	option.BatchStd:  {divisor: deviationPlus},
	option.OthersStd: {divisor: deviationPlus, byCount: overOthers},
	option.MeanScale: {divisor: meanReward, byCount: func(_ *option.Advantage, g float64, total int) (up, down float64) {
		mean := float64(total) / g
		return (1 - mean) / mean, -1
	}},
	option.PooledStd: {divisor: deviationPlus},
	option.BatchMean: {divisor: meanReward},
}

func deviationPlus(adv *option.Advantage, deviation, _ float64) float64 {
	return deviation + adv.Epsilon
}

func meanReward(_ *option.Advantage, _, mean float64) float64 { return mean }

// bestOnly returns the advantages of SecondBest: only a lone reward of 1 is better than the second
// best.
func bestOnly(adv *option.Advantage, g float64, total int) (up, down float64) {
	if mean := float64(total) / g; total == 1 {
		up = factor(adv, g, float64(mean*(1-mean))*g, mean)
	}
	return up, 0
}

// overOthers returns the advantages of OthersStd. With t rewards of 1 among n other samples the
// scale is √(t(n−t)/(n(n−1))) + ε, or 1 where they are equal.
func overOthers(adv *option.Advantage, g float64, total int) (up, down float64) {
	n := g - 1
	scale := func(t int) float64 {
		square := float64(t) * (n - float64(t))
		if square == 0 {
			return 1
		}
		return math.Sqrt(square/float64(n*(n-1))) + adv.Epsilon
	}
	return (1 - float64(total-1)/n) / scale(total-1), -float64(total) / n / scale(total)
}

// factor returns the factor between r_i − r̄ and the advantage, in a group of g samples. squares is
// Σ (r_i − r̄)² > 0. It is the leave-one-out factor G/(G−1), or 1, over the scale. A scale that is
// known only after all groups of the step is left out.
func factor(adv *option.Advantage, g, squares, mean float64) float64 {
	factor := 1.0
	if adv.Baseline == option.LeaveOneOut {
		factor = g / (g - 1)
	}
	if adv.Scale.OfStep() {
		return factor
	}
	return factor / scalings[adv.Scale].divisor(adv, deviation(adv, g, squares), mean)
}

// stepScale returns what a Scale.OfStep divides the advantages of a step of n samples by. It is 1
// where all rewards are equal, of PooledStd in every group.
func stepScale(adv *option.Advantage, n float64, s *GroupStatistics) float64 {
	mean := float64(s.Rewarded) / n
	squares := float64(mean*(1-mean)) * n
	if adv.Scale == option.PooledStd { // Σ (r_i − r̄)² = S(1−R) in a group, the sum of its r_i > r̄
		squares = 0
		for a := range s.Arms {
			squares += s.Arms[a].Positive
		}
	}
	if squares == 0 {
		return 1
	}
	return scalings[adv.Scale].divisor(adv, deviation(adv, n, squares), mean)
}

// deviation returns the standard deviation s of a group's rewards, √(squares/G) or
// √(squares/(G−1)).
func deviation(adv *option.Advantage, g, squares float64) float64 {
	if adv.Std == option.SampleStd {
		g--
	}
	return math.Sqrt(squares / g)
}
