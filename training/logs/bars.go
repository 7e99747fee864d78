package logs

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Trainers print rows without their step between progress bars: " 3%|▎ | 10/405 [01:10<…".
// Programs show other bars too, of data sets and of generation. The bar of training is the
// one, told by its total, that goes on from every row to the next.

// bars holds, by the total of a bar, where it was when each row was read.
type bars struct {
	now, first map[float64]float64 // by total
	rows       map[float64]*series
}

// mostBars is the largest number of totals.
const mostBars = 16

var bar = regexp.MustCompile(`%\|[^|]*\| *(\d+)/(\d+)\b|(?:^|\s)(\d+)/(\d+) \[[\d:]+<`)

// see takes note of the bars of a line.
func (b *bars) see(text string) {
	if !strings.Contains(text, "%|") && !strings.Contains(text, " [") {
		return
	}
	for _, m := range bar.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.ParseFloat(m[1]+m[3], 64) // digits, of which at most one is not empty
		total, _ := strconv.ParseFloat(m[2]+m[4], 64)
		if _, seen := b.now[total]; seen || len(b.now) < mostBars {
			if b.now == nil {
				b.now, b.first, b.rows = make(map[float64]float64), make(map[float64]float64),
					make(map[float64]*series)
			}
			if !seen {
				b.first[total] = n
			}
			b.now[total] = n
		}
	}
}

// row takes note of where the bars are at a row.
func (b *bars) row(row int) {
	for total, n := range b.now {
		if b.rows[total] == nil {
			b.rows[total] = emptySeries(barKey, barKey)
		}
		b.rows[total].put(row, n)
	}
}

// barKey stands for the key of steps that progress bars give.
const barKey = "progress bar"

// steps returns the steps of rows that count, nil if no bar gives them.
func (b *bars) steps(counts []int) (steps *series) {
	for _, total := range slices.Sorted(maps.Keys(b.rows)) { // the last of equals is the longest
		if s := b.rows[total]; len(counts) > 1 && !s.has(counts[0]) && b.first[total] < s.at(counts[1]) {
			s.put(counts[0], b.first[total]) // the bar is drawn again after the first row
		}
		// A bar that begins at its total is of something that was done before.
		if s := b.rows[total]; len(counts) > 0 && s.at(counts[0]) < total && increases(s, counts) {
			steps = s
		}
	}
	return steps
}

// increases reports whether a bar goes on between rows; a resumed run may go back, in at
// most a tenth of them.
func increases(s *series, rows []int) bool {
	back := 0
	for i, row := range rows {
		switch {
		case !s.has(row), i > 0 && s.at(row) == s.at(rows[i-1]):
			return false
		case i > 0 && s.at(row) < s.at(rows[i-1]):
			back++
		}
	}
	return 10*back <= len(rows)
}
