package grpo

import "math"

// ArmStatistics is what the samples of one arm contribute to a force: advantages
// summed by sign, because clipping treats the signs differently.
type ArmStatistics struct {
	Positive, Negative           float64 // Σ A_i over A_i > 0 and over A_i < 0
	PositiveCount, NegativeCount int     // how many of each
	Count                        int     // samples, those with A_i = 0 included
}

// GroupStatistics sums the groups of one optimizer step. It is sufficient for the
// force: O(A) numbers, whatever the group size.
type GroupStatistics struct {
	Arms         []ArmStatistics
	Groups       int // groups added
	ZeroVariance int // groups among them whose rewards are all equal
}

// Reset empties t.
func (t *GroupStatistics) Reset() {
	clear(t.Arms)
	t.Groups, t.ZeroVariance = 0, 0
}

// BernoulliAdvantages are the advantages in groups of one size G whose rewards
// are 0 or 1. With S of them 1 and R = S/G they are
//
//	A⁺ = (1−R)/s,  A⁻ = −R/s,  s = √(R(1−R))
//
// with the options of an Advantage (docs/theory.md §2).
type BernoulliAdvantages struct {
	advantage Advantage
	size      int
	known     []struct{ up, down float64 } // [S], of groups up to tabulatedSize; up is 0 until asked for
}

// tabulatedSize is the group size up to which advantages are kept, 16 bytes for
// each S that occurs.
const tabulatedSize = 1 << 17

// NewBernoulliAdvantages returns the advantages in groups of the given size ≥ 2.
// It is not for concurrent use.
func NewBernoulliAdvantages(adv Advantage, size int) *BernoulliAdvantages {
	b := &BernoulliAdvantages{advantage: adv, size: size}
	if size <= tabulatedSize {
		b.known = make([]struct{ up, down float64 }, size+1)
	}
	return b
}

// Of returns A⁺ and A⁻ where total samples have reward 1, and 0 without variance.
func (b *BernoulliAdvantages) Of(total int) (up, down float64) {
	if total < len(b.known) {
		if up = b.known[total].up; up != 0 {
			return up, b.known[total].down
		}
	}
	return b.compute(total)
}

// compute computes what Of returns, and keeps it.
func (b *BernoulliAdvantages) compute(total int) (up, down float64) {
	if total == 0 || total == b.size {
		return 0, 0
	}
	g := float64(b.size)
	mean := float64(total) / g
	variance := mean * (1 - mean)
	factor := b.advantage.factor(g, float64(variance*g))
	up, down = factor*(1-mean), -factor*mean
	if total < len(b.known) {
		b.known[total].up, b.known[total].down = up, down
	}
	return up, down
}

// OpenBernoulli begins a group of Bernoulli samples of which total have reward 1,
// the others 0. What its arms drew is added next, by ArmStatistics.AddBernoulli with
// the advantages returned, which are 0 in a group without variance.
func (t *GroupStatistics) OpenBernoulli(advantages *BernoulliAdvantages, total int) (up, down float64) {
	up, down = advantages.Of(total)
	t.Groups++
	if up == 0 {
		t.ZeroVariance++
	}
	return up, down
}

// AddBernoulli adds count samples of the arm, of which successes have reward 1 and
// advantage up, the others 0 and down.
func (t *ArmStatistics) AddBernoulli(up, down float64, count, successes int) {
	t.Count += count
	if up == 0 {
		return
	}
	failures := count - successes
	t.Positive += float64(up * float64(successes))
	t.Negative += float64(down * float64(failures))
	t.PositiveCount += successes
	t.NegativeCount += failures
}

// Atom is Count samples of one arm that share a reward. Where clipping does
// not look at the single sample, the samples of a normal arm are one atom with
// their mean reward, and their scatter about it is told separately.
type Atom struct {
	Arm    int
	Count  int
	Reward float64
}

// AddAtoms adds a group given as atoms of any reward law; scatter is
// Σ (r_i − its atom's reward)² ≥ 0, zero where each atom's rewards are equal.
func (t *GroupStatistics) AddAtoms(adv *Advantage, atoms []Atom, scatter float64) {
	size, sum := 0, 0.0
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range atoms {
		if x.Count == 0 {
			continue
		}
		size += x.Count
		sum += float64(float64(x.Count) * x.Reward)
		low, high = min(low, x.Reward), max(high, x.Reward)
		t.Arms[x.Arm].Count += x.Count
	}
	t.Groups++
	// Equality of the rewards themselves, not of their variance: seven rewards
	// of 0.95 have a computed std of 1e-16.
	if low == high && scatter == 0 {
		t.ZeroVariance++
		return
	}
	g := float64(size)
	mean := sum / g
	squares := scatter
	for _, x := range atoms {
		d := x.Reward - mean
		squares += float64(float64(x.Count) * float64(d*d))
	}
	factor := adv.factor(g, squares)
	for _, x := range atoms {
		arm, advantage := &t.Arms[x.Arm], factor*(x.Reward-mean)
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

// factor returns what turns r_i − r̄ into an advantage, for a group of g
// samples whose squared deviations from their mean sum to squares > 0: the
// leave-one-out factor G/(G−1), over the scale.
func (adv *Advantage) factor(g, squares float64) float64 {
	factor := 1.0
	if adv.Baseline == LeaveOneOut {
		factor = g / (g - 1)
	}
	if adv.Scale == NoScale {
		return factor
	}
	ddof := 0.0
	if adv.Std == SampleStd {
		ddof = 1
	}
	return factor / (math.Sqrt(squares/(g-ddof)) + adv.Epsilon)
}
