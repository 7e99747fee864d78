package sweeps

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"grposim/rom"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// VerdictsJSON writes verdicts.json: the name, the summary, the decided statements of the paper,
// and the verdicts. Their text takes much memory, so they are written one by one.
func VerdictsJSON(w io.Writer, name string, verdicts []Verdict) error {
	head, err := json.MarshalIndent(struct {
		Name       string            `json:"name"`
		Summary    Summary           `json:"summary"`
		Statements []JudgedStatement `json:"statements,omitempty"`
	}{name, Summarize(verdicts), DecidedStatements(verdicts)}, "", "  ")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s,\n  \"verdicts\": [", bytes.TrimSuffix(head, []byte("\n}"))); err != nil {
		return err
	}
	separator, end := "\n    ", "]\n}\n"
	for i := range verdicts {
		text, err := json.MarshalIndent(&verdicts[i], "    ", "  ")
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s%s", separator, text); err != nil {
			return err
		}
		separator, end = ",\n    ", "\n  ]\n}\n"
	}
	_, err = io.WriteString(w, end)
	return err
}

// VerdictsMarkdown writes the statements of the paper that the verdicts decide, the
// summary and the table of verdicts as Markdown.
func VerdictsMarkdown(w io.Writer, verdicts []Verdict) error {
	b := bufio.NewWriter(w)
	if statements := DecidedStatements(verdicts); statements != nil {
		fmt.Fprintf(b, "%s\n\n", Headline(statements))
		writeMarkdown(b, StatementColumns, len(statements), func(i int) []string { return statements[i].Cells() })
		b.WriteString("\n")
	}
	s := Summarize(verdicts)
	fmt.Fprintf(b, "%s\n\n%s\n\n", s.Measurements(), s)
	writeMarkdown(b, VerdictColumns, len(verdicts), func(i int) []string { return verdicts[i].Cells() })
	return b.Flush()
}

// writeMarkdown writes a Markdown table of rows row(0), …, row(rows − 1).
func writeMarkdown(b io.Writer, columns []string, rows int, row func(i int) []string) {
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for n := range rows {
		cells := row(n)
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
}

// VerdictColumns are the columns of a table of verdicts for people: see Verdict.Cells.
var VerdictColumns = []string{"experiment", "claim", "cell", "quantity", "measured", "predicted", "margin", "verdict", "control"}

// Cells returns a verdict as VerdictColumns, the measured value with its interval.
// Numbers are rounded; "–" stands for what is missing.
func (v *Verdict) Cells() []string {
	_, _, predicted, margin := v.Numbers()
	switch {
	case v.Hypothesis != nil:
		predicted += " (hypothesis)"
	case v.PredictionKind != rom.Exact:
		predicted += " (" + string(v.PredictionKind) + ")"
	}
	if v.Expect == config.Fails {
		predicted += ", expected to fail"
	}
	verdict := v.Verdict.String()
	if v.Verdict != Agree || v.Hypothesis != nil {
		// which have columns of their own
		verdict += ": " + strings.TrimPrefix(v.Because, v.Quantity+" "+v.measured()+": ")
	}
	control := "–"
	if v.Control != nil {
		control = v.Control.Fault + ": " + v.Control.Verdict.String()
	}
	return []string{v.Experiment, v.Claim, cmp.Or(v.Label, "–"), v.Quantity, v.measured(), predicted, margin, verdict, control}
}

// Numbers returns the numbers of a verdict for people, rounded; "–" stands for what is missing.
// interval is "" where measured says beyond which value it lies.
func (v *Verdict) Numbers() (measured, interval, predicted, margin string) {
	digits := v.digits()
	if math.IsInf(float64(v.Hi), 1) && !math.IsInf(float64(v.Lo), 0) && !math.IsNaN(float64(v.Lo)) {
		measured = "beyond " + format(v.Lo, digits)
	} else {
		measured, interval = format(v.Measured, digits), fmt.Sprintf("[%s, %s]", format(v.Lo, digits), format(v.Hi, digits))
	}
	predicted, margin = format(v.Predicted, digits), "± "+format(v.Margin, 2)
	if math.IsInf(float64(v.Predicted), 1) {
		predicted = "none"
	}
	if v.Hypothesis != nil {
		predicted = v.Hypothesis.String()
		if v.Margin == 0 { // a bound
			margin = "–"
		}
	}
	return measured, interval, predicted, margin
}

// digits returns the number of significant digits of the measured value.
func (v *Verdict) digits() int {
	return significant(float64(v.Measured), float64(v.Hi)-float64(v.Lo))
}

// measured returns the measured value with its interval, or beyond which value it lies.
func (v *Verdict) measured() string {
	measured, interval, _, _ := v.Numbers()
	return strings.TrimSpace(measured + " " + interval)
}

// significant returns the significant digits of x, at most 12, that show two digits of the width of
// its interval. It is 4 where one is zero or not known.
func significant(x, width float64) int {
	if !(math.Abs(x) > 0) || !(width > 0) || math.IsInf(width, 0) {
		return 4
	}
	return min(max(2+int(math.Floor(math.Log10(math.Abs(x))))-int(math.Floor(math.Log10(width))), 2), 12)
}

// format returns x with a number of significant digits; "–" for NaN.
func format(x store.Number, digits int) string {
	switch f := float64(x); {
	case math.IsNaN(f):
		return "–"
	case math.IsInf(f, 1):
		return "∞"
	case math.IsInf(f, -1):
		return "−∞"
	default:
		return strconv.FormatFloat(f, 'g', digits, 64)
	}
}

// cellsCSV writes the content of cells.csv: parameters, status and estimates. The
// intervals have the confidence of those in verdicts (Plan.IntervalConfidence). An end
// that an interval does not have is empty, as is every number that is not finite.
func (e *Experiment) cellsCSV(w io.Writer) error {
	var estimates []string
	seen := make(map[string]bool)
	for i := range e.Plan.Cells {
		for _, estimate := range e.Outcomes[e.Plan.Cells[i].ID].Estimates {
			if !seen[estimate.Name] && !matrixEstimate(estimate.Name) { // they are in cells.jsonl
				seen[estimate.Name] = true
				estimates = append(estimates, estimate.Name)
			}
		}
	}
	confidence := e.Plan.IntervalConfidence()
	columns := []string{"status", "interval_confidence"}
	for _, n := range estimates {
		columns = append(columns, n, n+"_lo", n+"_hi")
	}
	numbers := e.Plan.tabledNumbers()
	for _, n := range numbers {
		if columns = append(columns, n.name); n.form == &numberForms[0] {
			columns = append(columns, n.name+"_lo", n.name+"_hi")
		}
	}
	return e.cellTable(w, columns, func() bool { return true }, func(evidence *evidence, c *Cell) []string {
		o := e.Outcomes[c.ID]
		row := []string{string(o.Status), number(&confidence)}
		for _, n := range estimates {
			estimate, ok := o.Estimate(n)
			if !ok {
				row = append(row, "", "", "")
				continue
			}
			lo, hi := c.interval(n, estimate, confidence)
			row = append(row, number(&estimate.Mean), number(&lo), number(&hi))
		}
		var recorded *store.Trajectory
		if len(numbers) > 0 {
			recorded = evidence.means(o)
		}
		class := c.class(recorded)
		for _, n := range numbers {
			estimate := n.of(c, recorded, class)
			if row = append(row, number(&estimate.Mean)); n.form == &numberForms[0] {
				lo, hi := estimate.Interval(confidence)
				row = append(row, number(&lo), number(&hi))
			}
		}
		return row
	})
}

// tabledNumbers lists the recorded numbers of cells.csv: each quantity's end, with its interval,
// and mean over time, and the time of J to 95 %.
func (p *Plan) tabledNumbers() (numbers []recordedNumber) {
	quantities := p.recordedQuantities()
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
	return e.cellTable(w, names(predictionDocs()), e.evidence.part, func(evidence *evidence, c *Cell) []string {
		p := prediction{Prediction: evidence.cache.Predict(&c.Settings, rom.Unit), scope: evidence.cache.Stationary(&c.Settings).Scope()}
		p.full = &p.Exact
		if p.ForceKind == rom.Expansion {
			p.full = &p.LeadingOrder
		}
		var row []string
		for _, column := range predictionColumns {
			row = append(row, column.value(&p))
		}
		return row
	})
}

// rowsTogether is the number of rows of a table that are computed, in parallel, before they
// are written.
const rowsTogether = 4096

// tableKeys returns the keys that tables of the cells have columns for: all but sparse ones
// of which every cell holds the default.
func (p *Plan) tableKeys() (keys []config.Key) {
	for _, k := range config.Keys {
		used := !k.Sparse()
		for i := 0; i < len(p.Cells) && !used; i++ {
			used = !k.AtDefault(&p.Cells[i].Settings)
		}
		if used {
			keys = append(keys, k)
		}
	}
	return keys
}

// cellTable writes a CSV table of one row per cell: its identity, its parameters, and the values of
// the given columns. It calls part before each row.
func (e *Experiment) cellTable(w io.Writer, columns []string, part func() (more bool), values func(e *evidence, c *Cell) []string) error {
	header, keys := []string{"cell", "label", "variant"}, e.Plan.tableKeys()
	for _, k := range keys {
		header = append(header, k.Path)
	}
	table := csv.NewWriter(w)
	if err := table.Write(append(header, columns...)); err != nil {
		return err
	}
	for cells := range slices.Chunk(e.Plan.Cells, rowsTogether) {
		rows := make([][]string, len(cells))
		e.evidence.inParallel(len(cells), part, func(evidence *evidence, i int) {
			c := &cells[i]
			row := []string{c.ID, c.Label(), c.Variant}
			for _, k := range keys {
				row = append(row, config.Format(k.Get(&c.Settings)))
			}
			rows[i] = append(row, values(evidence, c)...)
		})
		if e.evidence.failure != nil {
			return e.evidence.failure
		}
		if err := table.WriteAll(rows); err != nil {
			return err
		}
	}
	table.Flush()
	return table.Error()
}

// writeCSV returns a CSV table of a header and rows row(0), …, row(rows − 1).
func writeCSV(header []string, rows int, row func(i int) []string) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(header); err != nil {
		return nil, err
	}
	for i := range rows {
		if err := w.Write(row(i)); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// Predictions yields each cell of a plan with its prediction, in the order of the plan.
func Predictions(plan *Plan) iter.Seq2[*Cell, *theory.Prediction] {
	return func(yield func(*Cell, *theory.Prediction) bool) {
		cache := theory.NewCache()
		for i := range plan.Cells {
			if c := &plan.Cells[i]; !yield(c, cache.Line(c.ID, &c.Settings, plan.VarianceMargin(c))) {
				return
			}
		}
	}
}

// VarianceMargin returns the margin within which Var J of a cell is judged: that of the file's
// first check of the theory's own prediction, else all of it.
func (p *Plan) VarianceMargin(c *Cell) theory.Margin {
	for _, planned := range p.Checks {
		check := planned.Check
		if check.Claim == config.StationaryFluctuation && check.Prediction == "" && check.Hypothesis == nil &&
			slices.ContainsFunc(planned.Sets, func(set CellSet) bool { return slices.Contains(set.Cells, c) }) {
			return theory.Margin{Share: check.Margin, Absolute: check.AbsoluteMargin, Called: "the margin of the file's check,"}
		}
	}
	return theory.OwnSize
}
