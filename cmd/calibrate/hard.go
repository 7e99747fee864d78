package main

import (
	"context"
	"embed"
	"fmt"
	"math"
	"path"
	"strings"

	"grposim/sweeps"
	"grposim/sweeps/config"
)

// hardConfigs holds files of cells in which intervals are least reliable: few replicas,
// skewed noise, nearly all groups without a gradient, a threshold nearby. Their `claim`
// says what is hard.
//
//go:embed hard/*.yaml
var hardConfigs embed.FS

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
	half                  float64 // median half-width of the intervals of usedConfidence, relative to value; NaN for a band
	value                 float64 // long-run value; NaN for a band
	covered               int     // trials whose 95 % interval holds the long-run value
	below, above          int     // trials whose 95 % interval lies wholly below, and above, the long-run value
	missed                int     // trials whose interval of usedConfidence does not hold it
	right                 rulings // of the right theory, at usedConfidence
}

// bothTrials is a cell judged twice under one seed, on the same data.
type bothTrials struct{ at95, used trial }

// calibrateHard returns a row for each verdict of the hard cells, and a message for each
// requirement that is not met.
func calibrateHard(ctx context.Context, seeds, workers int, say func(format string, args ...any)) (rows []*hardRow, unmet []string, err error) {
	files, err := hardConfigs.ReadDir("hard")
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		file := path.Join("hard", f.Name())
		data, err := hardConfigs.ReadFile(file)
		if err != nil {
			return nil, nil, err
		}
		both, err := underSeeds(ctx, seeds, workers, func(ctx context.Context, seed int) (both bothTrials, err error) {
			spec, err := config.Load("cmd/calibrate/"+file, data, fmt.Sprintf("seed=%d", seed))
			if err != nil {
				return both, err
			}
			plan := sweeps.NewPlan(spec)
			outcomes, err := sweeps.Simulate(ctx, plan, 1)
			if err != nil {
				return both, err
			}
			if both.at95, err = judge(plan, outcomes, confidence); err != nil {
				return both, err
			}
			both.used, err = judge(plan, outcomes, usedConfidence)
			return both, err
		})
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, r := range newHardRows(strings.TrimSuffix(f.Name(), ".yaml"), both) {
			rows, unmet = append(rows, r), append(unmet, r.unmet()...)
		}
		say("%s: %d seeds", file, seeds)
	}
	return rows, unmet, nil
}

// newHardRows summarizes each verdict of a file over the trials.
func newHardRows(file string, both []bothTrials) []*hardRow {
	at95, used := make([]trial, len(both)), make([]trial, len(both))
	for i, b := range both {
		at95[i], used[i] = b.at95, b.used
	}
	var rows []*hardRow
	for q, v := range used[0].verdicts {
		longRun := pooled(used, q)
		r := &hardRow{
			file: file, label: v.Label, quantity: v.Quantity, seeds: len(both),
			half: halfWidth(used, q, func(*sweeps.Verdict) float64 { return math.Abs(longRun[0]) }), value: longRun[0],
			covered: covered(at95, q, longRun), missed: len(both) - covered(used, q, longRun),
			right: rulings{},
		}
		if intervalKinds[v.Claim] == simultaneous {
			r.value, r.half, r.quantity = math.NaN(), math.NaN(), "mean reward at every recorded step"
		} else {
			r.below, r.above = missedSides(at95, q, longRun[0])
		}
		for _, t := range used {
			r.right[t.verdicts[q].Verdict]++
		}
		rows = append(rows, r)
	}
	return rows
}

// missedSides counts the trials whose interval of quantity q lies wholly below, and
// wholly above, the long-run value; see covered.
func missedSides(trials []trial, q int, longRun float64) (below, above int) {
	n := float64(len(trials))
	for _, t := range trials {
		x := t.intervals[q][0]
		switch at := x.value + (longRun-x.value)*math.Sqrt(n/(n-1)); {
		case x.holds(at):
		case x.hi < at:
			below++
		default:
			above++
		}
	}
	return below, above
}

// unmet returns a message for each requirement that the row does not meet.
func (r *hardRow) unmet() []string {
	var messages []string
	say := func(format string, args ...any) {
		messages = append(messages, fmt.Sprintf("hard/%s %s, %s: ", r.file, r.label, r.quantity)+fmt.Sprintf(format, args...))
	}
	if r.missed > mostMissed {
		say("%d of %d intervals of %g %% miss the long-run value, want at most %d", r.missed, r.seeds, 100*usedConfidence, mostMissed)
	}
	if n := r.right[sweeps.Disagree]; n > 0 {
		say("the right theory disagrees for %d of %d seeds, want none", n, r.seeds)
	}
	return messages
}
