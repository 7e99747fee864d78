package main

import (
	"fmt"

	"grposim/cmd/internal/tool"
	"grposim/sim/measure"
)

// falseAlarm is the probability that agree rejects one estimate of two contenders that
// simulate the same law. The test is Student's t with Welch's degrees of freedom, from the
// scatter over replicas. Every timed run is compared, in mean and in variance; that makes
// about 200 comparisons.
const falseAlarm = 1e-6

// agree returns tool.Unmet if the two outcomes come from different stationary laws,
// to within a probability of falseAlarm for each of mean and variance, so that their times cannot be
// compared.
func agree(p process, peer string, ours, theirs outcome) error {
	for _, x := range []struct {
		quantity     string
		ours, theirs measure.Estimate
	}{
		{"mean", ours.mean, theirs.mean},
		{"variance", ours.variance, theirs.variance},
	} {
		stdErr, df := measure.Combine([]measure.Estimate{x.ours, x.theirs})
		difference := measure.Estimate{Mean: x.ours.Mean - x.theirs.Mean, StdErr: stdErr, DF: df}
		if low, high := difference.Interval(1 - falseAlarm); !(low <= 0 && 0 <= high) {
			return tool.Unmet{fmt.Sprintf("%s and grposim disagree on %s: %s of the %s %.6g ± %.2g and %.6g ± %.2g (standard errors), a difference that occurs by chance with a probability below %.0e",
				peer, p, x.quantity, p.observed(), x.theirs.Mean, x.theirs.StdErr, x.ours.Mean, x.ours.StdErr, falseAlarm)}
		}
	}
	return nil
}
