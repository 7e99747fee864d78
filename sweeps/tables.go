package sweeps

import (
	"encoding/csv"
	"io"
	"iter"
	"slices"

	"grposim/rom"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// cellsCSV writes the content of cells.csv: parameters, status and estimates. The
// intervals have the confidence of those in verdicts (NewEvidence). An end
// that an interval does not have is empty, as is every number that is not finite.
func (e *Experiment) cellsCSV(w io.Writer) error {
	var estimates []string
	for _, c := range e.Plan.Cells {
		for _, estimate := range e.Outcomes[c.ID].Estimates {
			if n := estimate.Name; !slices.Contains(estimates, n) && !plan.IsMatrixEntry(n) { // in cells.jsonl
				estimates = append(estimates, estimate.Name)
			}
		}
	}
	confidence := e.evidence.Confidence
	columns := names(columnDocs().Status)
	for _, n := range estimates {
		columns = append(columns, n, n+"_lo", n+"_hi")
	}
	numbers := tabledNumbers(e.Plan)
	for _, n := range numbers {
		if columns = append(columns, n.name); n.form == &numberForms[0] {
			columns = append(columns, n.name+"_lo", n.name+"_hi")
		}
	}
	return e.cellTable(w, columns, plan.Always, func(evidence *claim.Evidence, c *plan.Cell) []string {
		o := e.Outcomes[c.ID]
		row := []string{string(o.Status), number(&confidence)}
		for _, n := range estimates {
			estimate, ok := o.Estimate(n)
			if !ok {
				row = append(row, "", "", "")
				continue
			}
			row = append(row, number(&estimate.Mean))
			row = append(row, ends(c.Interval(n, estimate, confidence))...)
		}
		var recorded *store.Trajectory
		if len(numbers) > 0 {
			recorded = evidence.Means(o)
		}
		class := claim.ClassOf(c, recorded)
		for _, n := range numbers {
			estimate := n.of(c, recorded, class)
			if row = append(row, number(&estimate.Mean)); n.form == &numberForms[0] {
				row = append(row, ends(estimate.Interval(confidence))...)
			}
		}
		return row
	})
}

// ends returns the fields of an interval.
func ends(lo, hi float64) []string { return []string{number(&lo), number(&hi)} }

// tabledNumbers lists the recorded numbers of cells.csv: each quantity's end, with its interval,
// and mean over time, and the time of J to 95 %.
func tabledNumbers(p *plan.Plan) (numbers []recordedNumber) {
	quantities := recordedQuantities(p)
	add := func(name string) {
		n, _ := parseNumber(name)
		numbers = append(numbers, n)
	}
	for _, q := range quantities {
		add(string(q) + endSuffix)
		add(string(q) + timeMeanSuffix)
	}
	if len(quantities) > 0 {
		add(timeTo95)
		add(samplesTo95)
	}
	return numbers
}

// predictionsCSV writes the content of predictions.csv: parameters and predictions.
func (e *Experiment) predictionsCSV(w io.Writer) error {
	row := func(evidence *claim.Evidence, c *plan.Cell) (row []string) {
		p := prediction{Prediction: evidence.Cache.Predict(&c.Settings, rom.Unit),
			scope: evidence.Cache.Stationary(&c.Settings).Scope()}
		p.full = &p.Exact
		if p.ForceKind == rom.Expansion {
			p.full = &p.LeadingOrder
		}
		for _, column := range columnDocs().Predictions {
			switch value := predicted[column.Name](&p).(type) {
			case *float64:
				row = append(row, number(value))
			case string:
				row = append(row, value)
			}
		}
		return row
	}
	return e.cellTable(w, names(columnDocs().Predictions), e.evidence.Part, row)
}

// rowsTogether is the number of rows of a table that are computed, in parallel, before they
// are written.
const rowsTogether = 4096

// tableKeys returns the keys that tables of the cells have columns for: all but sparse ones
// of which every cell holds the default.
func tableKeys(p *plan.Plan) (keys []config.Key) {
	for _, k := range config.Keys {
		used := func(c *plan.Cell) bool { return !k.AtDefault(&c.Settings) }
		if !k.Sparse || slices.ContainsFunc(p.Cells, used) {
			keys = append(keys, k)
		}
	}
	return keys
}

// cellTable writes a CSV table of one row per cell: its identity, its parameters, and the values of
// the given columns. It calls part before each row.
func (e *Experiment) cellTable(w io.Writer, columns []string, part func() (more bool),
	values func(e *claim.Evidence, c *plan.Cell) []string) error {
	keys := tableKeys(e.Plan)
	header := slices.Concat(names(columnDocs().Identity),
		config.Each(keys, func(k config.Key) string { return k.Path }))
	table := csv.NewWriter(w)
	if err := table.Write(append(header, columns...)); err != nil {
		return err
	}
	for cells := range slices.Chunk(e.Plan.Cells, rowsTogether) {
		rows := make([][]string, len(cells))
		e.evidence.InParallel(len(cells), part, func(evidence *claim.Evidence, i int) {
			c := cells[i]
			row := []string{c.ID, c.Label(), c.Variant}
			for _, k := range keys {
				row = append(row, config.Format(k.Get(&c.Settings)))
			}
			rows[i] = append(row, values(evidence, c)...)
		})
		if e.evidence.Failure != nil {
			return e.evidence.Failure
		}
		if err := table.WriteAll(rows); err != nil {
			return err
		}
	}
	table.Flush()
	return table.Error()
}

// Predictions yields each cell of a plan with its prediction, in the order of the plan.
func Predictions(p *plan.Plan) iter.Seq2[*plan.Cell, *theory.Prediction] {
	return func(yield func(*plan.Cell, *theory.Prediction) bool) {
		cache := theory.NewCache()
		for _, c := range p.Cells {
			if !yield(c, cache.Line(c.ID, &c.Settings, VarianceMargin(p, c))) {
				return
			}
		}
	}
}

// VarianceMargin returns the margin within which Var J of a cell is judged: that of the file's
// first check of the theory's own prediction, else all of it.
func VarianceMargin(p *plan.Plan, c *plan.Cell) theory.Margin {
	for _, planned := range p.Checks {
		check := planned.Check
		has := func(set plan.CellSet) bool { return slices.Contains(set.Cells, c) }
		if check.Claim.Name == "stationary-fluctuation" && check.Prediction == "" &&
			check.Hypothesis == nil && slices.ContainsFunc(planned.Sets, has) {
			return theory.Margin{Share: check.Margin, Absolute: check.AbsoluteMargin,
				Called: "the margin of the file's check,"}
		}
	}
	return theory.OwnSize
}
