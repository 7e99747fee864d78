package store

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"grposim/sim"
)

// Trajectory is what was recorded along the run.
type Trajectory struct {
	Steps      []int
	Quantities []RecordedSeries
}

// RecordedSeries is one recorded quantity; index i belongs to Steps[i].
type RecordedSeries struct {
	Quantity  sim.Quantity
	Mean      []Number
	StdErr    []Number
	Quantiles [][5]Number // at sim.QuantileLevels
}

// newTrajectory turns what a cell's simulation recorded into series.
func NewTrajectory(r *sim.Result) *Trajectory {
	t := &Trajectory{Steps: r.Steps, Quantities: make([]RecordedSeries, len(r.Quantities))}
	n := len(r.Steps)
	for q, quantity := range r.Quantities {
		s := RecordedSeries{Quantity: quantity, Mean: make([]Number, n), StdErr: make([]Number, n), Quantiles: make([][5]Number, n)}
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

// Series returns what was recorded of a quantity, or nil.
func (t *Trajectory) Series(quantity sim.Quantity) *RecordedSeries {
	for i := range t.Quantities {
		if t.Quantities[i].Quantity == quantity {
			return &t.Quantities[i]
		}
	}
	return nil
}

// appendJSON appends the trajectory as it stands in a journal:
//
//	{"steps":[…],"quantities":[{"quantity":"…","mean":[…],"stderr":[…],"quantiles":[[…],…]},…]}
//
// It is nearly all of a journal, so it is written and read here, not by
// reflection.
func (t *Trajectory) appendJSON(text []byte) []byte {
	text = append(text, `{"steps":[`...)
	for i, step := range t.Steps {
		text = strconv.AppendInt(comma(text, i), int64(step), 10)
	}
	text = append(text, `],"quantities":[`...)
	for i := range t.Quantities {
		s := &t.Quantities[i]
		text = append(comma(text, i), `{"quantity":"`...)
		text = append(text, s.Quantity...) // a plain word
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

// comma appends what stands before the i-th item of a list.
func comma(text []byte, i int) []byte {
	if i == 0 {
		return text
	}
	return append(text, ',')
}

func appendNumbers(text []byte, numbers []Number) []byte {
	for i, x := range numbers {
		text = x.appendJSON(comma(text, i))
	}
	return text
}

// parseTrajectory reads of what appendJSON wrote the quantities that are wanted,
// or all where none is named; ok says whether it is that.
func parseTrajectory(text []byte, wanted []sim.Quantity) (t *Trajectory, ok bool) {
	r := reader{text: text}
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

// reader takes a text apart from the front. Once it has failed, what it gives
// means nothing.
type reader struct {
	text   []byte
	failed bool
}

// endOfSeries is the end of the last quantiles, and of what holds them.
const endOfSeries = "]]}"

// series reads what was recorded of a quantity at about n steps.
func (r *reader) series(n int) RecordedSeries {
	s := RecordedSeries{Quantiles: make([][5]Number, 0, n)}
	r.skip(`","mean":`)
	s.Mean = r.numbers(make([]Number, 0, n))
	r.skip(`,"stderr":`)
	s.StdErr = r.numbers(make([]Number, 0, n))
	r.skip(`,"quantiles":`)
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

// numbers reads a list of numbers and appends them.
func (r *reader) numbers(to []Number) []Number {
	r.list(func() { to = append(to, Number(r.number())) })
	return to
}

// list reads a list, each of its items by item.
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

// number reads a number that a comma or a bracket follows; null is NaN.
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

// until reads up to an end, which is left.
func (r *reader) until(end string) []byte {
	n := max(bytes.Index(r.text, []byte(end)), 0)
	read := r.text[:n]
	r.text = r.text[n:]
	return read
}

// skip reads exactly this.
func (r *reader) skip(want string) {
	if len(r.text) < len(want) || string(r.text[:len(want)]) != want {
		r.failed = true
		return
	}
	r.text = r.text[len(want):]
}

// next reads a byte, if it is that.
func (r *reader) next(b byte) bool {
	found := len(r.text) > 0 && r.text[0] == b
	if found {
		r.text = r.text[1:]
	}
	return found
}
