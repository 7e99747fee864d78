package diagnose

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
