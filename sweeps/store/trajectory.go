package store

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"grposim/sim"
)

// Trajectory holds the series that a cell recorded along its run.
type Trajectory struct {
	Steps      []int            // recorded optimizer steps, ≥ 0 and increasing
	Quantities []RecordedSeries // their series, each quantity once
}

// RecordedSeries is the series of one quantity over the replicas of a cell. Index i is
// Trajectory.Steps[i]; values are in the unit of the quantity, NaN if not finite.
type RecordedSeries struct {
	Quantity  sim.Quantity // the recorded quantity
	Mean      []Number     // over the replicas
	StdErr    []Number     // standard error of Mean, ≥ 0
	Quantiles [][5]Number  // over the replicas at sim.QuantileLevels, increasing
}

// Means returns Mean as plain numbers, a new list.
func (s *RecordedSeries) Means() []float64 {
	means := make([]float64, len(s.Mean))
	for i, x := range s.Mean {
		means[i] = float64(x)
	}
	return means
}

// NewTrajectory returns the trajectory that a cell's simulation recorded.
func NewTrajectory(r *sim.Result) *Trajectory {
	t := &Trajectory{Steps: r.Steps, Quantities: make([]RecordedSeries, len(r.Quantities))}
	n := len(r.Steps)
	for q, quantity := range r.Quantities {
		s := RecordedSeries{Quantity: quantity, Mean: make([]Number, n), StdErr: make([]Number, n),
			Quantiles: make([][5]Number, n)}
		for i := range r.Steps {
			recorded := &r.Trajectory[i][q]
			s.Mean[i], s.StdErr[i] = Number(recorded.Mean), Number(recorded.StdErr)
			for level, x := range recorded.Quantiles {
				s.Quantiles[i][level] = Number(x)
			}
		}
		t.Quantities[q] = s
	}
	return t
}

// Series returns the series of a quantity, nil if it was not recorded.
func (t *Trajectory) Series(quantity sim.Quantity) *RecordedSeries {
	for i := range t.Quantities {
		if t.Quantities[i].Quantity == quantity {
			return &t.Quantities[i]
		}
	}
	return nil
}

// appendJSON appends the JSON of the trajectory in a journal line:
//
//	{"steps":[…],"quantities":[{"quantity":"…","mean":[…],"stderr":[…],"quantiles":[[…],…]},…]}
//
// Trajectories are nearly all of a journal, so this file writes and reads them itself,
// which is faster than the reflection of encoding/json.
func (t *Trajectory) appendJSON(text []byte) []byte {
	text = append(text, `{"steps":[`...)
	for i, step := range t.Steps {
		text = strconv.AppendInt(comma(text, i), int64(step), 10)
	}
	text = append(text, `],"quantities":[`...)
	for i := range t.Quantities {
		s := &t.Quantities[i]
		text = append(comma(text, i), `{"quantity":"`...)
		text = append(text, s.Quantity...) // needs no escaping
		text = appendNumbers(append(text, `","mean":[`...), s.Mean)
		text = appendNumbers(append(text, `],"stderr":[`...), s.StdErr)
		text = append(text, `],"quantiles":[`...)
		for n := range s.Quantiles {
			text = append(comma(text, n), '[')
			text = append(appendNumbers(text, s.Quantiles[n][:]), ']')
		}
		text = append(text, "]}"...)
	}
	return append(text, "]}"...)
}

// comma appends the separator before the i-th item of a list: none before the first.
func comma(text []byte, i int) []byte {
	if i == 0 {
		return text
	}
	return append(text, ',')
}

// appendNumbers appends numbers, separated by commas.
func appendNumbers(text []byte, numbers []Number) []byte {
	for i, x := range numbers {
		text = x.appendJSON(comma(text, i))
	}
	return text
}

// extent says which numbers of each recorded step are read.
type extent int

const (
	complete  extent = iota
	meansOnly        // without the quantiles, which are five of the seven numbers of a record
)

// parseTrajectory reads the output of appendJSON: all steps, and the series of the wanted
// quantities, or of all if none is named. ok is false if the text has another form.
func parseTrajectory(text []byte, wanted []sim.Quantity, of extent) (t *Trajectory, ok bool) {
	r := &reader{text: text, extent: of}
	t = new(Trajectory)
	r.skip(`{"steps":`)
	r.list(func() { t.Steps = append(t.Steps, int(r.number())) })
	r.skip(`,"quantities":`)
	r.list(func() {
		r.skip(`{"quantity":"`)
		quantity := sim.Quantity(r.until(`"`))
		if len(wanted) > 0 && !slices.Contains(wanted, quantity) {
			r.until(endOfSeries)
			r.skip(endOfSeries)
			return
		}
		s := r.series(len(t.Steps))
		s.Quantity = quantity
		t.Quantities = append(t.Quantities, s)
	})
	r.skip("}")
	return t, !r.failed && len(r.text) == 0
}

// reader parses a text from front to back. Once it has failed, its results mean nothing.
type reader struct {
	text   []byte // the rest, not yet read
	extent extent
	failed bool
}

// endOfSeries closes the last quantiles of a series, their list and the series.
const endOfSeries = "]]}"

// series reads a series after its quantity; it allocates for n steps.
func (r *reader) series(n int) RecordedSeries {
	var s RecordedSeries
	r.skip(`","mean":`)
	s.Mean = r.numbers(make([]Number, 0, n))
	r.skip(`,"stderr":`)
	s.StdErr = r.numbers(make([]Number, 0, n))
	r.skip(`,"quantiles":`)
	if r.extent == meansOnly {
		r.until(endOfSeries)
		r.skip(endOfSeries)
		return s
	}
	s.Quantiles = make([][5]Number, 0, n)
	r.list(func() {
		var row [5]Number
		if len(r.numbers(row[:0])) != len(row) {
			r.failed = true
		}
		s.Quantiles = append(s.Quantiles, row)
	})
	r.skip("}")
	return s
}

// numbers reads a list of numbers and appends them to the given ones.
func (r *reader) numbers(to []Number) []Number {
	r.list(func() { to = append(to, Number(r.number())) })
	return to
}

// list reads a list, calling item to read each of its items.
func (r *reader) list(item func()) {
	r.skip("[")
	if r.next(']') {
		return
	}
	for !r.failed {
		item()
		if r.next(']') {
			return
		}
		r.skip(",")
	}
}

// number reads a number up to the next comma or bracket; null is NaN.
func (r *reader) number() float64 {
	end := 0
	for end < len(r.text) && r.text[end] != ',' && r.text[end] != ']' {
		end++
	}
	token := r.text[:end]
	r.text = r.text[end:]
	switch string(token) {
	case "0":
		return 0
	case "1":
		return 1
	case "null":
		return math.NaN()
	}
	x, err := strconv.ParseFloat(string(token), 64)
	if err != nil {
		r.failed = true
	}
	return x
}

// until reads up to the first occurrence of end, excluding it; nothing if there is none.
func (r *reader) until(end string) []byte {
	n := max(bytes.Index(r.text, []byte(end)), 0)
	read := r.text[:n]
	r.text = r.text[n:]
	return read
}

// skip reads the text want, and fails on any other.
func (r *reader) skip(want string) {
	rest, found := bytes.CutPrefix(r.text, []byte(want))
	r.text, r.failed = rest, r.failed || !found
}

// next reads the byte b if it comes next, and reports whether it did.
func (r *reader) next(b byte) bool {
	found := len(r.text) > 0 && r.text[0] == b
	if found {
		r.text = r.text[1:]
	}
	return found
}

// WriteTrajectoriesCSV writes the rows of trajectories.parquet as CSV, in its order: cell by cell,
// so that it holds one cell in memory. A number that is not finite is an empty field.
func WriteTrajectoriesCSV(w io.Writer, cells iter.Seq2[LabelledCell, *Outcome]) error {
	table := csv.NewWriter(w)
	var fields []string
	for _, path := range parquet.SchemaOf(new(trajectoryRow)).Columns() {
		fields = append(fields, path[0])
	}
	err := table.Write(fields)
	var rows []trajectoryRow
	for cell, o := range cells {
		recorded, reading := o.Trajectory()
		if err = errors.Join(err, reading); err != nil {
			break
		}
		if recorded == nil {
			continue
		}
		rows = appendRows(rows[:0], cell, recorded)
		for i := range rows {
			r := &rows[i]
			fields = append(fields[:0], r.Cell, r.Label, strconv.FormatInt(r.Step, 10), r.Quantity)
			for _, x := range []*float64{r.Mean, r.StandardError, r.Q05, r.Q25, r.Q50, r.Q75, r.Q95} {
				text := ""
				if x != nil {
					text = strconv.FormatFloat(*x, 'g', -1, 64)
				}
				fields = append(fields, text)
			}
			err = errors.Join(err, table.Write(fields))
		}
	}
	table.Flush()
	return errors.Join(err, table.Error())
}
