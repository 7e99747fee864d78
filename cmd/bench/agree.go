package main

import (
	"fmt"

	"grposim/sim/measure"
)

// falseAlarm is the probability that one estimate of two contenders of the same
// law is said to disagree: by Student's t with Welch's degrees of freedom, from
// the scatter over replicas. Every run that is timed is compared, in mean and in
// variance: some 200 comparisons in all.
const falseAlarm = 1e-6

// disagreement is an error: two contenders do not simulate the same process, so
// their times are not comparable.
type disagreement struct {
	process      process
	quantity     string
	ours, theirs measure.Estimate
	peer         string
}

func (d *disagreement) Error() string {
	return fmt.Sprintf("%s and grposim disagree on %s: %s of the %s %.6g ± %.2g and %.6g ± %.2g (standard errors), which chance does with probability %.0e",
		d.peer, d.process, d.quantity, d.process.observed(), d.theirs.Mean, d.theirs.StdErr, d.ours.Mean, d.ours.StdErr, falseAlarm)
}

// agree returns a *disagreement unless both outcomes may come from one law.
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
			return &disagreement{p, x.quantity, x.ours, x.theirs, peer}
		}
	}
	return nil
}
