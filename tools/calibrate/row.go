package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/theory"
	"grposim/tools/internal/tool"
)

// Requirements.
const (
	leastCoverage     = 0.90  // share of seeds
	mostCoverage      = 0.985 // share of seeds; only of pointwise intervals
	mostRefuted       = 0.005 // share of seeds for which the right theory disagrees: 1 of 200
	leastInconclusive = 0.95  // share of seeds with reduced data
	leastControl      = 0.10  // |wrong − right| prediction, relative to the right one
)

// rulings is the number of trials by verdict.
type rulings map[judge.Ruling]int

// row is the calibration of one quantity of a claim.
type row struct {
	claim, quantity string
	kind            intervalKind
	seeds           int
	// of the check: a fraction of the prediction if relative, else in units of the quantity
	margin   float64
	relative bool
	half     float64 // median half-width of the intervals, in margins
	bias     float64 // long-run value − prediction, in margins; NaN for a band
	covered  int     // trials whose interval holds the long-run value
	right    rulings // of the right theory
	fault    string  // of the control
	shift    shift   // by how much the control moves the prediction
	wrong    rulings // of the control
	reduced  reducedRow
}

// reducedRow is the calibration of one quantity from trials with reduced data.
type reducedRow struct {
	budget  dataBudget
	rulings rulings
	half    float64 // median half-width of the intervals, in margins
}

type rows []*row

// calibrate runs all trials of a cell and returns a row for each quantity.
func (c *cell) calibrate(ctx context.Context, seeds, workers int) (rows []*row, err error) {
	full, err := c.trials(ctx, seeds, workers, allData, confidence)
	if err != nil {
		return nil, err
	}
	budget := c.reducedBudget()
	reduced, err := c.trials(ctx, seeds, workers, budget, confidence)
	if err != nil {
		return nil, err
	}
	shifts, err := c.controlShifts()
	if err != nil {
		return nil, err
	}
	for q := range full[0][0].verdicts {
		r := c.newRow(q, full[0])
		half := halfWidth(reduced[0], q, inMargins)
		r.reduced = reducedRow{budget, ruled(reduced[0], q), half}
		r.shift, r.quantity = shifts[q], shifts[q].quantity
		rows = append(rows, r)
	}
	return rows, nil
}

// controlShifts returns by how much the control moves each of the cell's quantities.
func (c *cell) controlShifts() ([]shift, error) {
	plan, err := c.plan(1, allData, theory.NewCache())
	if err != nil {
		return nil, err
	}
	fault := func(c *config.Check, _ *config.Settings) config.Fault { return c.Control.Fault() }
	shifts := shiftsOf(plan, []mistake{fault})[0]
	if n := claim.Verdicts(plan); len(shifts) != n {
		return nil, fmt.Errorf("a shift is defined for %d of %d verdicts", len(shifts), n)
	}
	return shifts, nil
}

// newRow summarizes quantity q over the trials with all data.
func (c *cell) newRow(q int, trials []trial) *row {
	check, first := &c.spec.Checks[0], &trials[0].verdicts[q]
	r := &row{claim: c.name, kind: intervalKinds[c.name], seeds: len(trials),
		margin: cmp.Or(check.Margin, check.AbsoluteMargin), relative: check.Margin > 0,
		half: halfWidth(trials, q, inMargins), right: ruled(trials, q), wrong: rulings{},
		fault: first.Control.Fault}
	for _, t := range trials {
		r.wrong[t.verdicts[q].Control.Verdict]++
	}
	longRun := pooled(trials, q)
	_, r.covered, _ = sides(trials, q, longRun)
	switch predicted, margin := float64(first.Predicted), float64(first.Margin); r.kind {
	case simultaneous:
		r.bias = math.NaN()
	case bracket: // the long-run value is that of located/predicted
		r.bias = (longRun[0] - 1) * predicted / margin
	default:
		r.bias = (longRun[0] - predicted) / margin
	}
	return r
}

// ruled counts the verdicts on quantity q.
func ruled(trials []trial, q int) rulings {
	n := rulings{}
	for _, t := range trials {
		n[t.verdicts[q].Verdict]++
	}
	return n
}

// inMargins is the unit of half-widths relative to the margin.
func inMargins(v *judge.Verdict) float64 { return float64(v.Margin) }

// halfWidth returns the median half-width of the intervals of quantity q, in the given
// unit. The half-width is +Inf in a trial that could not measure the quantity.
func halfWidth(trials []trial, q int, unit func(*judge.Verdict) float64) float64 {
	halves := make([]float64, len(trials))
	for i, t := range trials {
		v := &t.verdicts[q]
		halves[i] = float64(v.Hi-v.Lo) / 2 / unit(v)
		if math.IsNaN(halves[i]) {
			halves[i] = math.Inf(1)
		}
	}
	slices.Sort(halves)
	return halves[len(halves)/2]
}

// pooled returns the long-run value of each value of quantity q: its mean over all
// trials, which does not depend on the theory.
func pooled(trials []trial, q int) []float64 {
	mean := make([]float64, len(trials[0].intervals[q]))
	for _, t := range trials {
		for i, x := range t.intervals[q] {
			mean[i] += x.value / float64(len(trials))
		}
	}
	return mean
}

// sides counts the trials whose interval of quantity q lies wholly below the long-run value, holds
// it, and lies above it or is not known. A band holds it if all its intervals do, and else counts
// by the first that does not. The mean over the n trials includes the trial's own value, which
// reduces its standard deviation about the mean to √((n−1)/n) times that about the truth; so the
// distance is multiplied by √(n/(n−1)).
func sides(trials []trial, q int, longRun []float64) (below, held, above int) {
	n := float64(len(trials))
	stretch := math.Sqrt(n / (n - 1))
	for _, t := range trials {
		at := func(i int) float64 {
			x := t.intervals[q][i].value
			return x + (longRun[i]-x)*stretch
		}
		i := 0
		for i < len(longRun) && t.intervals[q][i].holds(at(i)) { // false if at is NaN
			i++
		}
		switch {
		case i == len(longRun):
			held++
		case t.intervals[q][i].hi < at(i):
			below++
		default:
			above++
		}
	}
	return below, held, above
}

// unmet returns a message for each requirement that the row does not meet.
func (r *row) unmet() (messages tool.Unmet) {
	require := requirements(&messages, r.claim+", "+r.quantity+": ")
	n := float64(r.seeds)
	share := float64(r.covered) / n
	const covered = "95 %% intervals cover the long-run value for %.1f %% of the seeds, want at "
	require(share >= leastCoverage, covered+"least %g %%", 100*share, 100*leastCoverage)
	require(share <= mostCoverage || r.kind != pointwise,
		covered+"most %g %%", 100*share, 100*mostCoverage)
	refuted, passed := r.right[judge.Disagree], r.wrong[judge.Agree]
	require(float64(refuted) <= mostRefuted*n,
		"the right theory disagrees for %d of %d seeds, want at most %g", refuted, r.seeds, mostRefuted*n)
	require(r.right[judge.Agree] > 0, "the right theory never agrees")
	require(passed == 0,
		"a theory with %s agrees for %d of %d seeds, want none", r.fault, passed, r.seeds)
	wrong := math.Abs(r.shift.relative)
	require(math.IsNaN(wrong) || wrong >= leastControl-rounding,
		"%s moves the prediction by %.1f %%, want at least %g %%", r.fault, 100*wrong, 100*leastControl)
	few := "with few " + string(r.reduced.budget)
	undecided, agree := r.reduced.rulings[judge.Inconclusive], r.reduced.rulings[judge.Agree]
	require(r.reduced.half > 1,
		"%s the half-width is %.2g margins, want more than 1", few, r.reduced.half)
	require(float64(undecided) >= leastInconclusive*n,
		"%s %d of %d trials are inconclusive, want at least %g %%",
		few, undecided, r.seeds, 100*leastInconclusive)
	require(agree == 0, "%s %d of %d trials agree, want none", few, agree, r.seeds)
	return messages
}

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
