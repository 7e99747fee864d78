package sweeps

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// recordedNumber is a number of what a cell recorded of one quantity, the mean over replicas.
type recordedNumber struct {
	name     string
	quantity sim.Quantity
	form     *numberForm
	level    float64 // of a time to a level
}

// numberForm is what is made of a recorded series: NAME of a quantity with the suffix.
type numberForm struct {
	suffix string
	doc    string // %[1]s stands for the quantity
	unit   string // "": that of the quantity
	of     func(r *recordedRun) measure.Estimate
}

// squared is the unit of a form that is the square of that of the quantity.
const squared = "²"

// recordedRun is the series of a cell from which a number is made.
type recordedRun struct {
	*plan.Cell
	t     *store.Trajectory
	s     *store.RecordedSeries // of the quantity
	class claim.Class           // of the cell
	level float64
}

// numberForms are the forms of recorded numbers. Of a name without any of the suffixes the form is
// the first.
var numberForms = []numberForm{
	{endSuffix, "%[1]s at the last step, the mean over the replicas.", "", (*recordedRun).end},
	{timeMeanSuffix, "Mean of %[1]s over the replicas and over time, from the first record at or after the burn-in to the last: the integral by the trapezoid rule over the recorded steps, divided by their span. A record of the steps since the last one counts for these.", "", (*recordedRun).timeMean},
	{"_variance", "Variance of %[1]s over the replicas at the last step.", squared,
		(*recordedRun).variance},
	{"_" + timeTo95, settlingDoc, inSteps,
		func(r *recordedRun) measure.Estimate { return r.settled(r.steps()) }},
	{"_" + samplesTo95, "Samples drawn up to the step from which on %[1]s stays within 5 %% of its way from its final level (" + timeTo95 + ")." + samplesDoc, inSamples, func(r *recordedRun) measure.Estimate { return r.settled(r.samples()) }},
	{"_" + levelTime, "Optimizer step at which %[1]s first reaches the level that `--level` gives, in its unit, interpolated linearly between recorded steps. Above its value at the start the level is reached from below, else from above.", inSteps, func(r *recordedRun) measure.Estimate { return r.reached(r.steps()) }},
	{"_" + levelSamples, "Samples drawn until %[1]s first reaches the level that `--level` gives." + samplesDoc, inSamples, func(r *recordedRun) measure.Estimate { return r.reached(r.samples()) }},
}

// Suffixes of two forms.
const (
	endSuffix      = "_end"
	timeMeanSuffix = "_time_mean"
)

// Names of the times of the expected reward, and suffixes of those of other quantities.
const (
	timeTo95     = "time_to_95"
	samplesTo95  = "samples_to_95"
	levelTime    = "time_to_level"
	levelSamples = "samples_to_level"
)

// settlingDoc says what Cell.settled returns; %s stands for the quantity.
const settlingDoc = "First recorded step from which on %[1]s stays within 5 %% of its way from the start to its final level. The level is the mean of the final records: those from the burn-in on, or without burn-in those in the last fifth of the run. " +
	"A cell has none if %[1]s does not settle before the final records begin or oscillates to the end of the run (`sustained`; at G = ∞ also `unresolved`), and if noise can decide: if 5 %% of the way is less than t·s, s the standard deviation of the final records and t Student's quantile at which ± t·s holds every recorded value of a stationary run with 99 %% confidence together."

// samplesDoc says what is known of samples.
const samplesDoc = " Where `grpo.filter` is redraw they are known only if `run.record` has samples; else a step that draws takes group_size × groups_per_step, and one that reuses a batch none."

// recordedColumn describes a quantity that cells can record; false if none can record it.
func recordedColumn(q sim.Quantity) (c store.Column, ok bool) {
	name := string(q)
	_, passes := q.Samples()
	_, ofArm := q.Arm()
	_, ofStratum := q.Stratum()
	switch {
	case ofArm:
		name = armColumn
	case passes:
		name = passColumn
	case ofStratum:
		name = stratumColumn
	}
	all := slices.Concat(columnDocs().Quantities, columnDocs().Recorded)
	i := slices.Index(names(all), name)
	if i < 0 || strings.HasSuffix(string(q), "_K") {
		return c, false
	}
	all[i].Name = string(q)
	return all[i], true
}

// parseNumber returns the recorded number with a name; false if it is none.
func parseNumber(name string) (n recordedNumber, ok bool) {
	whole := name
	if slices.Contains([]string{timeTo95, samplesTo95, levelTime, levelSamples}, name) {
		whole = string(sim.ExpectedReward) + "_" + name
	}
	n = recordedNumber{name: name, quantity: sim.Quantity(whole), form: &numberForms[0]}
	for i := range numberForms {
		if quantity, found := strings.CutSuffix(whole, numberForms[i].suffix); found {
			n.quantity, n.form = sim.Quantity(quantity), &numberForms[i]
		}
	}
	_, ok = recordedColumn(n.quantity)
	return n, ok
}

// toLevel reports whether the number is a time to a level, which has to be given.
func (n *recordedNumber) toLevel() bool { return strings.HasSuffix(n.form.suffix, "_level") }

// column describes the number. Its Doc is whole sentences.
func (n *recordedNumber) column() store.Column {
	c, _ := recordedColumn(n.quantity)
	c.Name = n.name
	if n.form == &numberForms[0] {
		c.Doc += " At the last step, the mean over the replicas."
		return c
	}
	name := string(n.quantity)
	if n.quantity == sim.ExpectedReward {
		name = "J"
	}
	c.Doc = fmt.Sprintf(n.form.doc, name)
	switch {
	case n.form.unit == squared && c.Unit != pureRatio:
		c.Unit, c.Range = c.Unit+squared, atLeast0
	case n.form.unit == squared:
		c.Range = atLeast0
	case n.form.unit != "":
		c.Unit, c.Range = n.form.unit, atLeast0
	}
	return c
}

// words names the number in words, with its unit if that is asked for.
func (n *recordedNumber) words(unit bool) string {
	text := strings.ReplaceAll(n.name, "_", " ")
	switch {
	case n.toLevel():
		text = strings.TrimSuffix(text, "level") + config.Format(n.level)
	case strings.HasSuffix(n.name, timeTo95), strings.HasSuffix(n.name, samplesTo95):
		text += " %"
	}
	switch of := n.column().Unit; {
	case !unit || of == pureRatio || of == inSamples: // which the name has
		return text
	case of == inSteps:
		return text + ", optimizer steps"
	default:
		return text + ", " + of
	}
}

// quantityFlag is the flag that names recorded numbers, for messages.
const quantityFlag = "--quantity"

// askedNumber returns the recorded number with a name that a flag gives.
func askedNumber(name string, level *float64) (n recordedNumber, problems config.Problems) {
	n, known := parseNumber(name)
	switch {
	case !known:
		suffixes := config.Each(numberForms, func(form numberForm) string { return form.suffix })
		short := []string{timeTo95, samplesTo95, levelTime, levelSamples}
		all := slices.Concat(names(columnDocs().Quantities), names(columnDocs().Recorded))
		return n, config.Wrong(quantityFlag, "got %q, want one of %s, or one of the last %d with %s",
			name, strings.Join(append(short, all...), ", "), len(all), strings.Join(suffixes, ", "))
	case n.toLevel() && level == nil:
		return n, config.Wrong("--level", "got nothing, want the level of %s", name)
	case n.toLevel():
		n.level = *level
	}
	return n, nil
}

// of returns the number of a cell from its recorded series; its Mean is NaN where there is none.
func (n *recordedNumber) of(c *plan.Cell, t *store.Trajectory, class claim.Class) measure.Estimate {
	if t == nil || len(t.Steps) == 0 || t.Series(n.quantity) == nil {
		return measure.Estimate{Mean: math.NaN()}
	}
	return n.form.of(&recordedRun{c, t, t.Series(n.quantity), class, n.level})
}

// end returns the mean over replicas at the last record.
func (r *recordedRun) end() measure.Estimate {
	return r.MeanOf(r.t, r.s.Quantity, len(r.t.Steps)-1)
}

// variance returns the variance over replicas at the last record.
func (r *recordedRun) variance() measure.Estimate {
	end := r.end()
	switch {
	case end.DF == measure.Exactly:
		return measure.Certain(0)
	case end.DF < 1:
		return measure.Estimate{Mean: math.NaN()}
	}
	return measure.Estimate{Mean: end.StdErr * end.StdErr * float64(end.DF+1)}
}

// timeMean returns the mean over the steps from the burn-in on. A record of the steps since the
// last one stands for these alone, any other for half of the steps to its neighbours. The standard
// error of a weighted mean of the records is at most the weighted mean of theirs (Minkowski), which
// is used.
func (r *recordedRun) timeMean() measure.Estimate {
	steps, last := r.t.Steps, len(r.t.Steps)-1
	begin, _ := slices.BinarySearch(steps, r.Settings.Run.BurnIn)
	mean := r.end()
	if begin >= last {
		return mean
	}
	mean.Mean, mean.StdErr = 0, 0
	span := float64(steps[last] - steps[begin])
	for i := begin; i < last; i++ {
		before := i
		if r.s.Quantity.SinceRecord(r.Settings.Lag) {
			before = i + 1
		}
		half := float64(steps[i+1]-steps[i]) / 2 / span
		mean.Mean += float64(half * float64(r.s.Mean[before]+r.s.Mean[i+1]))
		mean.StdErr += float64(half * float64(r.s.StdErr[before]+r.s.StdErr[i+1]))
	}
	if r.Deterministic() {
		mean.StdErr = 0
	}
	return mean
}

func (r *recordedRun) steps() []float64 {
	return config.Each(r.t.Steps, func(step int) float64 { return float64(step) })
}

// samples returns how many samples were drawn up to each recorded step, NaN where that is not
// known.
func (r *recordedRun) samples() []float64 {
	at := make([]float64, len(r.t.Steps))
	recorded := r.t.Series(sim.SamplesDrawn)
	in := sim.Cell{Estimator: r.Settings.Estimator, Lag: r.Settings.Lag}
	for i, step := range r.t.Steps {
		n, known := in.SamplesBefore(step)
		switch {
		case known:
			at[i] = n
		case recorded != nil:
			at[i] = float64(recorded.Mean[i])
		default:
			at[i] = math.NaN()
		}
	}
	return at
}

// reached returns where the mean first reaches the level, interpolated linearly between records;
// NaN where it does not. at holds the place of each record.
func (r *recordedRun) reached(at []float64) measure.Estimate {
	mean, steps := r.s.Means(), r.steps()
	step := theory.Reaches(r.t.Steps, mean, r.level, r.level >= mean[0])
	after, _ := slices.BinarySearch(steps, step)
	switch {
	case math.IsNaN(step) || after == len(at):
		return measure.Estimate{Mean: math.NaN()}
	case after == 0:
		return measure.Estimate{Mean: at[0]}
	}
	before, last := steps[after-1], steps[after]
	return measure.Estimate{Mean: at[after-1] + (at[after]-at[after-1])*(step-before)/(last-before)}
}

// settled returns where the mean has come within 5 % of its way from the start to its final level,
// and stays: the mean over the final records, which are those from the burn-in on or, without
// burn-in, those in the last fifth of the run. It is NaN where it does not stay there before the
// final records begin, where there are fewer than two of them, where the class of the cell says
// that J oscillates to the end (unresolved at G = ∞: in swings that recorded steps can miss), and
// where noise can decide the step: where 5 % of the way is less than t·s. Here s is the standard
// deviation of the final records, and t Student's quantile for which the intervals ± t·s hold every
// record of a stationary run with 99 % together (Bonferroni); a few final records do not fix s
// well, and t is large for them.
func (r *recordedRun) settled(where []float64) measure.Estimate {
	nowhere := measure.Estimate{Mean: math.NaN()}
	if r.class == claim.Sustained || r.class == claim.Unresolved && r.Deterministic() {
		return nowhere
	}
	steps, last := r.t.Steps, len(r.t.Steps)-1
	values := r.s.Means()
	from := r.Settings.Run.BurnIn
	if from == 0 {
		from = steps[last] - steps[last]/5
	}
	begin, _ := slices.BinarySearch(steps, from)
	final := measure.Mean(values[begin:])
	final.StdErr *= math.Sqrt(float64(len(values) - begin)) // of one record, not of their mean
	low, high := final.Interval(1 - 0.01/float64(len(values)))
	near := 0.05 * math.Abs(final.Mean-values[0])
	if !(2*near > high-low) { // NaN for a single record
		return nowhere
	}
	at := last + 1
	for at > 0 && math.Abs(values[at-1]-final.Mean) <= near {
		at--
	}
	if at >= begin {
		return nowhere
	}
	return measure.Estimate{Mean: where[at]}
}

// recordedQuantities lists the quantities that cells of the plan record, in the order of their
// series; none if no cell records a run.
func recordedQuantities(p *plan.Plan) (all []sim.Quantity) {
	seen := make(map[sim.Quantity]bool)
	for _, c := range p.Cells {
		if c.Status == store.NoFixedPoint || c.Searches() {
			continue
		}
		usual := sim.Quantities(len(c.Settings.Bandit.Arms))
		for _, named := range append(usual, c.Settings.Run.Record...) {
			for _, q := range named.Parts() {
				if !seen[q] {
					seen[q], all = true, append(all, q)
				}
			}
		}
	}
	return all
}

// quantityColumns describes the quantities that a table of the plan's trajectories can have.
func quantityColumns(p *plan.Plan) []store.Column {
	columns := slices.Clone(columnDocs().Quantities)
	for _, q := range recordedQuantities(p) {
		if !slices.Contains(names(columns), string(q)) {
			column, _ := recordedColumn(q)
			columns = append(columns, column)
		}
	}
	return columns
}

// moves reports whether the mean of a quantity moves by more than its noise in any of the cells:
// by more than the simultaneous 99 % band of the records, and than 2 % of its largest size. Of a
// single replica the error is not known: it does not move.
func moves(e *claim.Evidence, cells []*plan.Cell, q sim.Quantity) bool {
	return slices.ContainsFunc(cells, func(c *plan.Cell) bool {
		o := e.Outcome(c)
		if o == nil {
			return false
		}
		t := e.Means(o, sim.ExpectedReward, q)
		if t == nil || t.Series(q) == nil {
			return false
		}
		band, size := 0.0, 0.0
		means := make([]float64, len(t.Steps))
		for i := range means {
			mean := c.MeanOf(t, q, i)
			means[i], size = mean.Mean, max(size, math.Abs(mean.Mean))
			lo, hi := mean.Interval(1 - 0.01/float64(len(means)))
			band = max(band, hi-lo)
		}
		return measure.Spread(means) > max(band, 0.02*size)
	})
}
