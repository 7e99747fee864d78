package grpo

import "math"

// ArmTally is what the samples of one arm contribute to a force: advantages
// summed by sign, because clipping treats the signs differently.
type ArmTally struct {
	Positive, Negative           float64 // Σ A_i over A_i > 0 and over A_i < 0
	PositiveCount, NegativeCount int     // how many of each
	Count                        int     // samples, those with A_i = 0 included
}

// Tally sums the groups of one optimizer step. It is sufficient for the
// force: O(A) numbers, whatever the group size.
type Tally struct {
	Arms         []ArmTally
	Groups       int // groups added
	ZeroVariance int // groups among them whose rewards are all equal
}

// Reset empties t.
func (t *Tally) Reset() {
	clear(t.Arms)
	t.Groups, t.ZeroVariance = 0, 0
}

// AddBernoulli adds a group of G Bernoulli samples, of which successes[a] drew
// arm a and reward 1, failures[a] drew arm a and reward 0.
//
// With S = Σ successes and R = S/G the advantages are u⁺ = (1−R)/s and
// u⁻ = −R/s, s = √(R(1−R)) (docs/theory.md §2).
func (t *Tally) AddBernoulli(adv *Advantage, size int, successes, failures []int) {
	total := 0
	for _, s := range successes {
		total += s
	}
	t.Groups++
	if total == 0 || total == size {
		t.ZeroVariance++
		for a := range t.Arms {
			t.Arms[a].Count += successes[a] + failures[a]
		}
		return
	}
	g := float64(size)
	mean := float64(total) / g
	variance := mean * (1 - mean)
	factor := adv.factor(g, float64(variance*g))
	up := factor * (1 - mean)
	down := -factor * mean
	for a := range t.Arms {
		arm, s, f := &t.Arms[a], successes[a], failures[a]
		arm.Positive += float64(up * float64(s))
		arm.Negative += float64(down * float64(f))
		arm.PositiveCount += s
		arm.NegativeCount += f
		arm.Count += s + f
	}
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
func (t *Tally) AddAtoms(adv *Advantage, atoms []Atom, scatter float64) {
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
