package diagnose

import (
	"math"

	"grposim/rom/fp"
	"grposim/training/change"
)

// zeroVarianceGroups measures the mean share of groups with equal rewards over the
// last half of the run; such groups have no advantages. At the threshold ½ half of
// the samples contribute nothing. (In line with E[J^G + (1−J)^G] the share goes to
// 1 where J goes to 0 or 1.)
//
// Where the share is not recorded, the share of rows whose recorded standard deviation
// is 0 is a lower bound of it: in such a row every group has equal rewards. A lower
// bound can be a sign, but never the absence of one.
func zeroVarianceGroups(t *Trace) Evidence {
	const name, threshold = "zero-variance groups", 0.5
	r, o := t.rows(t.ZeroVariance)
	if o == Observed {
		t.settle(&r, 0)
		return measured(name, AdvantageDegeneracy, r.end()[0], t.lateError(&r, 0), AtLeast, threshold, r.onset(0, AtLeast, threshold))
	}
	for _, std := range [][]float64{t.RewardStd, t.BatchStd} {
		if r, found := t.rows(std); o == NotRecorded && found == Observed {
			for i, x := range r.columns[0] {
				r.columns[0][i] = 0
				if x == 0 {
					r.columns[0][i] = 1
				}
			}
			t.settle(&r, 0)
			bound := measured(name+", at least", AdvantageDegeneracy, r.end()[0], t.lateError(&r, 0), AtLeast, threshold, r.onset(0, AtLeast, threshold))
			if bound.speaks() {
				return bound
			}
		}
	}
	return unobserved(name, AdvantageDegeneracy, o)
}

// unexplainedGroups measures by how much the share of zero-variance groups exceeds the
// one that the spread of the prompts' difficulties explains, over the last half of the
// run. Rewards are 0 or 1, with the probability p of a success that differs between
// prompts by a Beta law: the expected share is E[p^G + (1−p)^G]. The law is fitted to the
// mean reward E[p] and the mean standard deviation within a group (expectedGroups). The
// threshold is 0: the value is a sign if it is above 0 by more than its error.
//
// It is Undefined if the group size is not known, or if no Beta law fits: the mean reward
// is outside (0, 1), or the deviation larger than that of equal prompts.
func unexplainedGroups(t *Trace) Evidence {
	const name = "zero-variance groups beyond difficulty"
	r, o := t.rows(t.ZeroVariance, t.Reward, t.RewardStd)
	if o != Observed {
		return unobserved(name, AdvantageDegeneracy, o)
	}
	if t.GroupSize == 0 {
		return unobserved(name, AdvantageDegeneracy, Undefined)
	}
	t.settle(&r, 0)
	late := r.end()
	expected := expectedGroups(late[1], late[2], t.GroupSize)
	wide := t.lateError(&r, 0)
	if std := t.lateError(&r, 2); std > 0 { // the error of the deviation, carried over
		least := expectedGroups(late[1], late[2]+std, t.GroupSize)
		if math.IsNaN(least) {
			least = equalRewards(late[1], math.Inf(1), t.GroupSize)
		}
		wide = math.Hypot(wide, expected-least)
	}
	return measured(name, AdvantageDegeneracy, late[0]-expected, wide, AtLeast, roundOff, r.onset(0, AtLeast, 0.5))
}

// expectedGroups returns E[p^G + (1−p)^G] under the Beta law of p with the given mean
// whose groups of G rewards have the given mean standard deviation (divisor G − 1); NaN if
// there is none.
func expectedGroups(average, std float64, size int) float64 {
	if !(average > 0 && average < 1) || !(std >= 0 && std <= meanDeviation(average, math.Inf(1), size)) {
		return math.NaN()
	}
	lo, hi := -40.0, 40.0 // ln(a+b)
	for range 100 {
		middle := (lo + hi) / 2
		if meanDeviation(average, fp.Exp(middle), size) < std {
			lo = middle
		} else {
			hi = middle
		}
	}
	return equalRewards(average, fp.Exp((lo+hi)/2), size)
}

// equalRewards returns E[p^G + (1−p)^G] for p ~ Beta(average·total, (1−average)·total), at
// an infinite total for p = average.
func equalRewards(average, total float64, size int) float64 {
	law := successes(average, total, size)
	return law[0] + law[size]
}

// meanDeviation returns the mean standard deviation (divisor G − 1) of G rewards of 0 or 1
// for the same law of p: E √(k(G−k)/(G(G−1))).
func meanDeviation(average, total float64, size int) float64 {
	sum, n := 0.0, float64(size)
	for k, p := range successes(average, total, size) {
		sum += p * math.Sqrt(float64(k)*(n-float64(k))/(n*(n-1)))
	}
	return sum
}

// successes returns the probabilities of k = 0 … size successes of the beta-binomial law.
func successes(average, total float64, size int) []float64 {
	law := make([]float64, size+1)
	for k := range law {
		sum := 0.0
		for i := range size { // ∏ (s+i)/(i+1) of successes, failures, over that of the total
			x := float64(i)
			switch {
			case math.IsInf(total, 1) && i < k:
				sum += math.Log(average)
			case math.IsInf(total, 1):
				sum += math.Log(1 - average)
			case i < k:
				sum += math.Log((average*total + x) / (total + x))
			default:
				sum += math.Log(((1-average)*total + x - float64(k)) / (total + x))
			}
			if i < k {
				sum += math.Log((float64(size) - x) / (x + 1))
			}
		}
		law[k] = fp.Exp(sum)
	}
	return law
}

// remainingRise measures which share of the whole rise of the reward falls into the last
// half of the run: of a steady rise ½, of one that has ended 0. The threshold is the
// midpoint ¼, past which the reward still rises: no sign of a failure, but an excuse of
// groups without variance (excused). The rise is that of the line fitted to the last half.
// It is Undefined if the reward has not risen by more than its scatter.
func remainingRise(t *Trace) Evidence {
	const name, threshold = "late share of the reward's rise", 0.25
	r, o := t.rows(t.Reward)
	if o != Observed {
		return unobserved(name, AdvantageDegeneracy, o)
	}
	at, late := r.at[r.late:], r.columns[0][r.late:]
	slope, stdErr := change.Line(at, late)
	span := at[len(at)-1] - at[0]
	start := r.start()[0]
	rise := change.Mean(late) + slope*span/2 - start
	scatter := standardErrors * change.Noise(r.columns[0]) / math.Sqrt(float64(max(1, len(r.at)/10)))
	if !(rise > max(scatter, roundOff*math.Abs(start))) {
		return unobserved(name, AdvantageDegeneracy, Undefined)
	}
	wide := 0.0
	if t.Origin == Samples {
		wide = standardErrors * stdErr * span / rise
	}
	return measured(name, AdvantageDegeneracy, slope*span/rise, wide, Neither, threshold, -1)
}
