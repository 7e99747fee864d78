package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"grposim/sweeps"
	"grposim/sweeps/config"
)

// Requirements, as shares of the seeds.
const (
	leastCovered   = 0.90
	mostCovered    = 0.985 // a band and a share may cover more often
	mostRefuted    = 0.005 // a right theory that disagrees: one seed of 200
	leastUndecided = 0.95  // of starved trials
	leastWrong     = 0.10  // by how much a control's prediction is off
)

// rulings counts trials by their verdict.
type rulings map[sweeps.Ruling]int

// row is the calibration of one quantity of a claim.
type row struct {
	claim, quantity string
	cover           cover
	seeds           int
	margin          float64 // as the check has it
	relative        bool    // to the prediction
	half            float64 // median half-width, in margins
	offset          float64 // long-run value − prediction, in margins; NaN for a band
	covered         int
	right           rulings
	fault           string // the control
	shift           sweeps.Shift
	wrong           rulings
	starved         []starvation
}

// starvation is what trials say that lack data of one kind.
type starvation struct {
	of   diet
	said rulings
	half float64 // median half-width, in margins
}

// calibrate runs all trials of a cell and tallies them, a row a quantity.
func (c *cell) calibrate(ctx context.Context, seeds, workers int, say func(format string, args ...any)) ([]*row, error) {
	began := time.Now()
	well, err := c.trials(ctx, seeds, workers, fed)
	if err != nil {
		return nil, err
	}
	diets := c.starvations()
	poorly := make([][]trial, len(diets))
	for i, diet := range diets {
		if poorly[i], err = c.trials(ctx, seeds, workers, diet); err != nil {
			return nil, err
		}
	}
	shifts, err := c.controlShifts()
	if err != nil {
		return nil, err
	}
	var rows []*row
	for q := range well[0].verdicts {
		r := newRow(c, q, well)
		for i, diet := range diets {
			r.starved = append(r.starved, newStarvation(diet, poorly[i], q))
		}
		r.shift = shifts[q]
		r.quantity = shifts[q].Quantity
		rows = append(rows, r)
	}
	say("%s: %d seeds, %.0f ms each", c.claim, seeds, float64(time.Since(began).Milliseconds())*float64(workers)/float64(seeds))
	return rows, nil
}

// controlShifts is by how much the control moves each of the cell's quantities.
func (c *cell) controlShifts() ([]sweeps.Shift, error) {
	plan, err := c.plan(1, fed)
	if err != nil {
		return nil, err
	}
	fault := func(check *config.Check, _ *config.Settings) config.Fault { return check.Control.Fault() }
	shifts := sweeps.Shifts(plan, []sweeps.Mistake{fault})[0]
	if len(shifts) != plan.Verdicts {
		return nil, fmt.Errorf("%d of %d verdicts can be shifted", len(shifts), plan.Verdicts)
	}
	return shifts, nil
}

// newRow tallies quantity q of the trials.
func newRow(c *cell, q int, well []trial) *row {
	check := &c.spec.Checks[0]
	r := &row{
		claim: c.claim, cover: c.cover, seeds: len(well),
		margin: check.AbsoluteMargin, right: rulings{}, wrong: rulings{},
	}
	if check.Margin > 0 {
		r.margin, r.relative = check.Margin, true
	}
	for _, t := range well {
		v := &t.verdicts[q]
		r.fault = v.Control.Fault
		r.right[v.Verdict]++
		r.wrong[v.Control.Verdict]++
	}
	r.half = halfWidth(well, q)
	longRun := pooled(well, q)
	r.covered = covered(well, q, longRun)
	r.offset = math.NaN()
	switch v := &well[0].verdicts[q]; c.cover {
	case simultaneous:
	case bracket:
		r.offset = (longRun[0] - 1) * float64(v.Predicted) / float64(v.Margin)
	default:
		r.offset = (longRun[0] - float64(v.Predicted)) / float64(v.Margin)
	}
	return r
}

// newStarvation tallies quantity q of trials that lack data.
func newStarvation(of diet, poorly []trial, q int) starvation {
	s := starvation{of: of, said: rulings{}, half: halfWidth(poorly, q)}
	for _, t := range poorly {
		s.said[t.verdicts[q].Verdict]++
	}
	return s
}

// halfWidth is the median half-width of the verdicts' intervals, in margins. What
// could not be measured has an interval of any width.
func halfWidth(trials []trial, q int) float64 {
	halves := make([]float64, len(trials))
	for i, t := range trials {
		v := &t.verdicts[q]
		halves[i] = float64(v.Hi-v.Lo) / 2 / float64(v.Margin)
		if math.IsNaN(halves[i]) {
			halves[i] = math.Inf(1)
		}
	}
	slices.Sort(halves)
	return halves[len(halves)/2]
}

// pooled is the mean over all trials of each value of a quantity: what the
// measurement tends to in the long run, whatever the theory says.
func pooled(trials []trial, q int) []float64 {
	mean := make([]float64, len(trials[0].intervals[q]))
	for _, t := range trials {
		for i, x := range t.intervals[q] {
			mean[i] += x.value / float64(len(trials))
		}
	}
	return mean
}

// covered counts the trials all of whose intervals hold the long-run value. A
// trial's own value is one of the n in the pool, which makes it √((n−1)/n) times
// as far from the pool's mean as from the truth: the distance is stretched back.
func covered(trials []trial, q int, longRun []float64) int {
	n := float64(len(trials))
	stretch := math.Sqrt(n / (n - 1))
	count := 0
	for _, t := range trials {
		all := true
		for i, x := range t.intervals[q] {
			at := x.value + (longRun[i]-x.value)*stretch
			all = all && x.holds(at) // NaN is held by nothing
		}
		if all {
			count++
		}
	}
	return count
}

// unmet says which requirements the row does not meet.
func (r *row) unmet() []string {
	var complaints []string
	n := float64(r.seeds)
	require := func(met bool, format string, args ...any) {
		if !met {
			complaints = append(complaints, r.claim+", "+r.quantity+": "+fmt.Sprintf(format, args...))
		}
	}
	share := float64(r.covered) / n
	require(share >= leastCovered, "95 %% intervals cover the long-run value for %.1f %% of the seeds, want at least %g %%", 100*share, 100*leastCovered)
	require(share <= mostCovered || r.cover != pointwise, "95 %% intervals cover the long-run value for %.1f %% of the seeds, want at most %g %%", 100*share, 100*mostCovered)
	require(float64(r.right[sweeps.Disagree]) <= mostRefuted*n, "the right theory disagrees for %d of %d seeds, want at most %g", r.right[sweeps.Disagree], r.seeds, mostRefuted*n)
	require(r.right[sweeps.Agree] > 0, "the right theory never agrees")
	require(r.wrong[sweeps.Agree] == 0, "a theory with %s agrees for %d of %d seeds, want none", r.fault, r.wrong[sweeps.Agree], r.seeds)
	if wrong := math.Abs(r.shift.Relative); !math.IsNaN(wrong) {
		require(wrong >= leastWrong-rounding, "%s moves the prediction by %.1f %%, want at least %g %%", r.fault, 100*wrong, 100*leastWrong)
	}
	for _, s := range r.starved {
		require(s.half > 1, "starved of %s, the half-width is %.2g margins, want more than 1", s.of, s.half)
		require(float64(s.said[sweeps.Inconclusive]) >= leastUndecided*n, "starved of %s, %d of %d trials are inconclusive, want at least %g %%", s.of, s.said[sweeps.Inconclusive], r.seeds, 100*leastUndecided)
		require(s.said[sweeps.Agree] == 0, "starved of %s, %d of %d trials agree, want none", s.of, s.said[sweeps.Agree], r.seeds)
	}
	return complaints
}
