package diagnose

import (
	"math"

	"grposim/training/change"
)

// zeroVarianceGroups measures the mean share of groups with equal rewards over the last half of the
// run. Such groups have no advantages. At the threshold ½ half of the samples contribute nothing.
//
// Where the share is not recorded, that of rows with a recorded deviation of 0 is a lower bound:
// every group has equal rewards there. A lower bound can be a sign, but never the absence of one.
func zeroVarianceGroups(t *Trace) Evidence {
	const name = "zero-variance groups"
	level := func(name string, r run) Evidence {
		t.settle(&r, 0)
		return measured(name, AdvantageDegeneracy, r.end()[0], t.lateError(&r, 0), AtLeast, 0.5, r.onset(0, AtLeast, 0.5))
	}
	r, o := t.rows(t.ZeroVariance)
	if o == Observed {
		return level(name, r)
	}
	if r, found := t.rows(t.BatchStd); o == NotRecorded && found == Observed {
		for i, x := range r.columns[0] {
			r.columns[0][i] = 0
			if x == 0 {
				r.columns[0][i] = 1
			}
		}
		if bound := level(name+", at least", r); bound.speaks() {
			return bound
		}
	}
	return unobserved(name, AdvantageDegeneracy, o)
}

// remainingRise measures which share of the whole rise of the reward falls into the last half of
// the run. It is ½ for a steady rise, 0 for one that has ended. From the midpoint ¼ on the reward
// still rises. Groups without variance may then be those of too easy or too hard prompts. It is
// Undefined if the reward has not risen by more than its scatter.
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
	return measured(name, AdvantageDegeneracy, slope*span/rise, standardErrors*stdErr*span/rise, Neither, threshold, -1)
}
