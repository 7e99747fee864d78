package logs

import (
	"cmp"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var consoleFormat = format{
	container: Console,
	begins:    func(*collector, *input) bool { return true },
	read: func(c *collector, in *input) error {
		err := readConsole(c, &lines{r: in.Reader})
		switch {
		case err != nil || len(c.rows) > 0:
		case strings.Contains(in.begin, "wandb: Run summary:"):
			c.err.add(0, "got the summary that W&B prints, the last values of a run, want its history")
		default:
			c.err.add(1, "got %s, want a known key, as step and reward (grposim help log-keys), in %s",
				quote(firstLine(in.begin)), knownFormats)
		}
		return err
	},
}

// lineForms is the table of the forms of lines that trainers print, the most certain first;
// keys.md.tmpl says what each looks like. Every such line has the text. The reader says whether a
// line has the form.
var lineForms = []struct {
	has  string
	read func(*console, line) bool
}{
	{"{", (*console).dicts},
	{"':", (*console).bare},
	{"step:", (*console).dashes},
	{"zero_advantage=", (*console).detected},
	{"Step ", parts(`Step +(\d+) +\| `, "|", certain)},
	{"step ", parts(`step (\d+)(?:/\d+)?  +`, "  ", certain)},
	{"Iter ", parts(`Iter (\d+): `, ", ", certain)},
	{"", (*console).several},
	{"step ", parts(`step +(\d+) +\| `, "|", ofOneLine)},
	{"Step ", parts(`Step (\d+)(?:/\d+)?: `, ", ", ofOneLine)},
	{"", (*console).grid},
	{"", (*console).single},
}

// console reads what trainers print, from among any other text.
type console struct {
	*collector
	*lines
	bars  []*bar
	found []printedRow
	ahead []cell // of the next row

	text    string  // of the line
	heading float64 // step of the heading read last; NaN: none
	headed  int     // line of that heading
	eval    bool    // a heading says that values of evaluation follow
	block   int     // the row that is printed over several lines, one past its place in found; 0: none
}

// printedRow is a row as it was printed. Those of the last forms count only without rows of a more
// certain one.
type printedRow struct {
	form   rowForm
	line   int
	end    int // the last line
	step   float64
	label  string // what the step counts, in small letters
	rank   string // what a process sets before it
	cells  []cell
	bars   []cell // where each bar is
	redraw bool   // a progress bar is in its line
	ofEval bool   // its line says so
}

// rowForm says how certain it is that a row is one of metrics.
type rowForm int

const (
	certain rowForm = iota
	ofOneLine
	ofLines // a value in each
	rowForms
)

func readConsole(c *collector, l *lines) error {
	k := &console{collector: c, lines: l, heading: math.NaN()}
	for {
		next, ok := k.next()
		if !ok || k.values > mostValues {
			break
		}
		k.seeBars(next.text)
		k.text = next.text
		if k.isHeading(next) {
			continue
		}
		for _, form := range lineForms {
			if strings.Contains(next.text, form.has) && form.read(k, next) {
				break
			}
		}
		k.dropRow()
	}
	k.close()
	if k.values <= mostValues {
		k.values = 0 // of the rows themselves
	}
	rows := k.firstRank(k.mostCertain())
	perRollout := k.stepsPerRollout(rows)
	trains := slices.ContainsFunc(rows, func(r printedRow) bool { return !r.ofEval })
	for _, r := range rows {
		if r.label != "step" && r.label != "" {
			r.step *= perRollout
		}
		k.ofEval = r.ofEval && trains
		k.endStep(r)
	}
	k.stepsOfBars()
	return unlessEnd(l.err)
}

// endStep keeps a row, of a step if one is given. Not every part of a step repeats it as a key.
func (k *console) endStep(r printedRow) {
	again := func(c cell) bool { return c.of.isStep && c.value == r.step }
	k.cells = slices.DeleteFunc(append(r.cells, r.bars...), again)
	if !math.IsNaN(r.step) && !slices.ContainsFunc(k.cells, func(c cell) bool { return c.of.isStep }) {
		k.set(r.line, []byte("step"), []byte(strconv.FormatFloat(r.step, 'f', -1, 64)))
	}
	k.endRow(r.line)
}

// add adds a row. A progress bar in its line that is drawn
// again shows the same row, unless a heading has named another step since. A line of other keys
// that follows one without a step goes on with its row.
func (k *console) add(r printedRow) {
	r.cells, r.end = slices.Concat(k.ahead, r.cells), r.line
	k.ahead = nil
	r.ofEval = strings.Contains(strings.ToLower(k.text), "val") && evalStep.MatchString(k.text)
	if m := rank.FindStringSubmatch(k.text); m != nil && r.form != ofLines {
		r.rank = m[1]
	}
	if r.form == ofLines && k.block > 0 {
		row := &k.found[k.block-1]
		if !slices.ContainsFunc(r.cells, row.has) {
			row.cells = append(row.cells, r.cells...)
			return
		}
		k.close()
	}
	r.bars = k.barCells()
	if n := len(k.found); n > 0 && r.form == ofOneLine {
		last := &k.found[n-1]
		own := last.form == ofOneLine && (r.step == last.step || math.IsNaN(r.step) && math.IsNaN(last.step))
		switch {
		case own && r.redraw && slices.Equal(last.bars, r.bars):
			last.cells = r.cells
			return
		case own && math.IsNaN(r.step) && r.line == last.end+1 && !slices.ContainsFunc(r.cells, last.has):
			last.cells, last.end = append(last.cells, r.cells...), r.line
			return
		}
	}
	if len(r.cells) > 0 && k.holds(r.line, rowSize+len(r.cells)) {
		if k.found = append(k.found, r); r.form == ofLines {
			k.block = len(k.found)
		}
	}
}

// has reports whether a row has a value of a cell's key.
func (r *printedRow) has(c cell) bool {
	return slices.ContainsFunc(r.cells, func(own cell) bool { return own.of == c.of })
}

// stray is the share of rows below which those of a more certain form are no table: one over it.
const stray = 5

// mostCertain returns the rows of the most certain form. Rows of another are taken instead if there
// are more than five times as many, as where a sample is printed as a dict. What is left out is
// said.
func (k *console) mostCertain() []printedRow {
	var rows [rowForms][]printedRow
	tell := 0 // certain rows of more than a learning rate
	for _, r := range k.found {
		rows[r.form] = append(rows[r.form], r)
		if r.form == certain && slices.ContainsFunc(r.cells, cell.tells) {
			tell++
		}
	}
	best, most := certain, tell
	for form := ofOneLine; form < rowForms; form++ {
		if n := len(rows[form]); n > stray*most {
			best, most = form, n
		}
	}
	for form, others := range rows {
		if n := len(others); rowForm(form) != best && n > 0 && (rowForm(form) != certain || tell > 0) {
			k.noteCount(n, "row", "of another form left out, from line %d on.", others[0].line)
		}
	}
	others := slices.DeleteFunc(slices.Clone(rows[best]), func(r printedRow) bool {
		return r.form == certain && len(r.cells) == 1 && math.IsNaN(r.step)
	})
	if n := len(rows[best]) - len(others); n > 0 && len(others) > stray*n {
		k.noteCount(n, "row", "of a value alone left out, as of samples.")
		return others
	}
	return rows[best]
}

// evalStep says that a line is of evaluation: "[eval] step 5", "Validation at step 5". It is slow.
var evalStep = regexp.MustCompile(`(?i)\b(eval(uation)?|val(idation)?)\b\W*(at )?(step|iter(ation)?)\b`)

// rank is what srun, torchrun, mpirun and Ray set before the lines of each process.
var rank = regexp.MustCompile(`^\s*(\[(?:(?i:rank ?)|default|\d+,)?\d+\](?:<\w+>)?:?|(?i:rank ?)\d+:|\d+:|` +
	`\(\w+ pid=\d+)(?:[^)]*\))?[ {']`)

// firstRank leaves out rows of other processes than the first of their kind, where they print in
// turn. Parts of a run that is resumed do not.
func (k *console) firstRank(rows []printedRow) []printedRow {
	kind := func(label string) string { return label[:strings.IndexAny(label, "0123456789")] }
	labels := make(map[string][]string) // of each kind, in the order of rows
	for _, r := range rows {
		if r.rank != "" {
			labels[kind(r.rank)] = append(labels[kind(r.rank)], r.rank)
		}
	}
	for of, all := range labels {
		processes := len(slices.Compact(slices.Sorted(slices.Values(all))))
		turns := len(slices.Compact(slices.Clone(all)))
		if len(all) < 2*processes || turns <= processes {
			delete(labels, of)
		}
	}
	own := slices.DeleteFunc(slices.Clone(rows), func(r printedRow) bool {
		return r.rank != "" && labels[kind(r.rank)] != nil && r.rank != labels[kind(r.rank)][0]
	})
	if n := len(rows) - len(own); n > 0 {
		first := slices.IndexFunc(own, func(r printedRow) bool { return r.rank != "" })
		k.noteCount(n, "row", "of other processes than %s left out: they train together.", quote(own[first].rank))
	}
	return own
}

// put sets the value of a key; one that is not understood is noted.
func (k *console) put(l line, key, value string) {
	value = strings.TrimSuffix(value, ",")
	if _, _, ok := number([]byte(value)); ok {
		k.set(l.number, []byte(key), []byte(value))
	} else if k.look(key) != nil {
		k.cannotRead(l.number, key+": "+value, "want a number")
	}
}

// unlessEnd returns an error other than the end of the file.
func unlessEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// A bar shows progress. Trainers print rows without their step between progress bars:
// " 3%|▎ | 10/405 [01:10<…". Programs show other bars too, of data sets and of generation. The bar
// of training is the one, told by its total, that goes on from every row to the next.
type bar struct {
	total, first, now float64
	rows              *series // where it is in each row
}

// barKey stands for the key of steps that progress bars give.
const barKey = "progress bar"

var barText = regexp.MustCompile(`%\|[^|]*\| *(\d+)/(\d+)\b|(?:^|\s)(\d+)/(\d+) \[[\d:]+<`)

// seeBars takes note of the bars of a line.
func (k *console) seeBars(text string) {
	if !strings.Contains(text, "%|") && !strings.Contains(text, " [") {
		return
	}
	for _, m := range barText.FindAllStringSubmatch(text, -1) {
		n, total := digits(m[1]+m[3]), digits(m[2]+m[4]) // of which at most one is not empty
		i := slices.IndexFunc(k.bars, func(b *bar) bool { return b.total == total })
		if i >= 0 {
			k.bars[i].now = n
		} else if len(k.bars) < mostBars {
			k.bars = append(k.bars, &bar{total, n, n, &series{key: barKey, name: barKey}})
		}
	}
}

// barCells returns where each bar is.
func (k *console) barCells() (cells []cell) {
	for _, b := range k.bars {
		cells = append(cells, cell{b.rows, b.now})
	}
	return cells
}

// digits returns the number that is written in digits alone, 0 of none.
func digits(text string) float64 {
	x, _ := strconv.ParseFloat(text, 64)
	return x
}

// stepsOfBars gives rows without steps those of a progress bar: of several the one with the largest
// total.
func (k *console) stepsOfBars() {
	if k.stepSeries() != nil {
		return
	}
	var counts []int // rows
	for row, info := range k.rows {
		if info.tells && !info.evaluates() {
			counts = append(counts, row)
		}
	}
	slices.SortFunc(k.bars, func(x, y *bar) int { return cmp.Compare(y.total, x.total) })
	for _, b := range k.bars {
		if b.goesOn(counts) {
			k.series, k.byName[barKey] = append(k.series, b.rows), b.rows
			k.notes = append(k.notes, "Steps are those of the progress bars.")
			return
		}
	}
}

// goesOn reports whether a bar goes on between rows that count; a resumed run may go back, in at
// most a tenth of them. The bar may be drawn again after the first row, and be there where it was
// first. A bar that begins at its total is of something that was done before.
func (b *bar) goesOn(counts []int) bool {
	s, back := b.rows, 0
	if len(counts) > 1 && !s.has(counts[0]) && b.first < s.at(counts[1]) {
		s.put(counts[0], b.first)
	}
	for i, row := range counts {
		switch {
		case !s.has(row), i == 0 && s.at(row) >= b.total, i > 0 && s.at(row) == s.at(counts[i-1]):
			return false
		case i > 0 && s.at(row) < s.at(counts[i-1]):
			back++
		}
	}
	return len(counts) > 0 && 10*back <= len(counts)
}
