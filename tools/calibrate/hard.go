package main

import (
	"context"
	"fmt"
	"math"

	"grposim/sweeps/judge"
	"grposim/tools/internal/tool"
)

// usedConfidence is the confidence of a single verdict of a file with a hundred verdicts
// at the default confidence of 99 %, which they share (Bonferroni).
const usedConfidence = 0.9999

// mostMissed is the largest number of 200 intervals of usedConfidence that may miss the
// long-run value. Where the confidence is right, two miss with a probability of 2e-4.
const mostMissed = 1

// hardRow is the calibration of one verdict of a hard cell.
type hardRow struct {
	file, label, quantity string
	seeds                 int
	// median half-width of the intervals of usedConfidence, relative to value; NaN for a band
	half    float64
	value   float64 // long-run value; NaN for a band
	covered int     // trials whose 95 % interval holds the long-run value
	// trials whose 95 % interval lies wholly below, and above, the long-run value
	below, above int
	missed       int     // trials whose interval of usedConfidence does not hold it
	right        rulings // of the right theory, at usedConfidence
}

type hardRows []*hardRow

// calibrateHard returns a row for each verdict of the hard cells, and a message for each
// requirement that is not met.
func calibrateHard(
	ctx context.Context, seeds, workers int, say func(string, ...any),
) (hardRows, tool.Unmet, error) {
	cells, err := loadFiles(files, root, "hard/*.yaml")
	if err != nil {
		return nil, nil, err
	}
	return each(cells, say, func(c *cell) (rows []*hardRow, err error) {
		both, err := c.trials(ctx, seeds, workers, allData, confidence, usedConfidence)
		if err != nil {
			return nil, err
		}
		for q := range both[0][0].verdicts {
			rows = append(rows, newHardRow(c.name, q, both[0], both[1]))
		}
		return rows, nil
	})
}

// newHardRow summarizes verdict q of a file over the trials, judged at both confidences.
func newHardRow(file string, q int, at95, used []trial) *hardRow {
	longRun := pooled(used, q)
	v := &used[0].verdicts[q]
	r := &hardRow{file: file, label: v.Label, quantity: v.Quantity, seeds: len(used),
		right: ruled(used, q), value: longRun[0]}
	r.half = halfWidth(used, q, func(*judge.Verdict) float64 { return math.Abs(r.value) })
	r.below, r.covered, r.above = sides(at95, q, longRun)
	_, held, _ := sides(used, q, longRun)
	r.missed = r.seeds - held
	if intervalKinds[v.Claim] == simultaneous {
		r.value, r.half, r.quantity = math.NaN(), math.NaN(), "mean reward at every recorded step"
	}
	return r
}

// unmet returns a message for each requirement that the row does not meet.
func (r *hardRow) unmet() (messages tool.Unmet) {
	require := requirements(&messages, fmt.Sprintf("hard/%s %s, %s: ", r.file, r.label, r.quantity))
	require(r.missed <= mostMissed,
		"%d of %d intervals of %g %% miss the long-run value, want at most %d",
		r.missed, r.seeds, 100*usedConfidence, mostMissed)
	n := r.right[judge.Disagree]
	require(n == 0, "the right theory disagrees for %d of %d seeds, want none", n, r.seeds)
	return messages
}
