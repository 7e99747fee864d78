package logs

import (
	"cmp"
	"math"
	"slices"
)

// timeline makes rows of values that were recorded one by one, each with its step, in the order of
// writing. They are TensorBoard events or MLflow metrics.
type timeline struct {
	*collector
	parts []timelinePart
	rows  []timelineRow
	seen  map[*series]int // the row of each that was the last
	backs int             // how often a series goes back within a file

	began, ended     float64 // first and last time of the clock, in seconds
	first, last, gap int64   // of measure
}

// timelinePart is what one process wrote. A resumed run has several.
type timelinePart struct {
	name string
	row  int // the first
	// from is the first step of a series of training that an earlier part has too. The part replaces
	// earlier rows from there on. Without one it is noStep.
	from int64
}

const noStep = math.MaxInt64

// runTime ends the key, one of endNames, with which the closing row of transformers begins.
const runTime = "train_runtime"

// timelineRow holds values that were written together.
type timelineRow struct {
	step    int64
	cells   []cell
	ofEval  bool // has a key of evaluation
	closing bool // is about the run as a whole
}

func newTimeline(c *collector) *timeline {
	return &timeline{collector: c, seen: make(map[*series]int)}
}

// begin says that another process wrote what follows.
func (t *timeline) begin(name string) {
	t.parts = append(t.parts, timelinePart{name, len(t.rows), noStep})
}

// clock says when what follows was written, in seconds.
func (t *timeline) clock(now float64) {
	if t.began == 0 {
		t.began = now
	}
	t.ended = now
}

// add adds the value of a key at a step, which begin has been called before.
//
// A row ends where the step changes or a series repeats. It ends before the first key of evaluation
// too, since some trainers write keys of training in rows of evaluation. It also ends before the
// run time, which begins the closing row of transformers.
func (t *timeline) add(step int64, key []byte, x float64) {
	s := t.seriesOf(0, key)
	closing := s != nil && s.ends
	if !closing && (s == nil || s.isStep) {
		return
	}
	own := &t.parts[len(t.parts)-1]
	row := len(t.rows) - 1
	before, repeats := t.seen[s]
	if row < own.row || t.rows[row].step != step || closing || repeats && before == row || s.ofEval && !t.rows[row].ofEval {
		t.rows = append(t.rows, timelineRow{step, nil, !closing && s.ofEval, closing})
		row++
	}
	if closing {
		return
	}
	if now := t.rows[row]; repeats && s.trains && !now.ofEval && !now.closing {
		if before < own.row {
			own.from = min(own.from, step)
		} else if t.rows[before].step > step {
			t.backs++
			t.parts = append(t.parts, timelinePart{own.name, row, step})
		}
	}
	if !t.holds(0, 2) { // a cell has two words
		return
	}
	t.rows[row].cells = append(t.rows[row].cells, cell{s, x})
	t.seen[s] = row
}

// finish hands the rows to the collector in the order of their steps, one of training and
// one of evaluation for each. Of several values of a step the last counts.
func (t *timeline) finish() {
	t.wantValues()
	kept := t.kept()
	slices.SortStableFunc(kept,
		func(x, y int) int { return cmp.Compare(t.rows[x].step, t.rows[y].step) })
	if len(kept) == 0 {
		return
	}
	steps := t.seriesOf(0, []byte("step"))
	for len(kept) > 0 {
		n := 1
		for n < len(kept) && t.rows[kept[n]].step == t.rows[kept[0]].step {
			n++
		}
		for _, ofEval := range []bool{false, true} {
			for _, i := range kept[:n] {
				if row := t.rows[i]; row.ofEval == ofEval {
					t.cells = append(t.cells, row.cells...)
				}
			}
			if len(t.cells) > 0 {
				t.cells = append(t.cells, cell{steps, float64(t.rows[kept[0]].step)})
				t.endRow(0)
			}
		}
		kept = kept[n:]
	}
}

// kept returns the rows that no later part has replaced, in the order of the files, and notes where
// the run was resumed. If steps go back in more than half of the rows, nothing was resumed, and all
// are kept.
func (t *timeline) kept() []int {
	var kept []int // from the last
	var took []timelinePart
	from, dropped := int64(noStep), 0
	shuffled := 2*t.backs > len(t.rows)
	if shuffled {
		t.note("Steps go back %d times in %d rows, which were put in order.", t.backs, len(t.rows))
	}
	part := len(t.parts) - 1
	for i := len(t.rows) - 1; i >= 0; i-- {
		for ; i < t.parts[part].row; part-- {
			if p := t.parts[part]; p.from < from && !shuffled {
				from, took = p.from, append(took, p)
			}
		}
		switch row := t.rows[i]; {
		case row.closing:
		case row.step < from:
			kept = append(kept, i)
		default:
			dropped++
		}
	}
	slices.Reverse(kept)
	first := int64(noStep)
	for _, i := range kept {
		first = min(first, t.rows[i].step)
	}
	for _, p := range slices.Backward(took) {
		if p.from > first {
			t.resumed(int(p.from))
			t.note("The run was resumed from step %d (%s).", p.from, p.name)
		} else {
			t.note("The run was started anew at step %d (%s).", p.from, p.name)
		}
	}
	t.noteCount(dropped, "row", "dropped: a later start of the run wrote the steps again.")
	return kept
}
