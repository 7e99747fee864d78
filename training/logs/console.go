package logs

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var consoleFormat = format{
	container: Console,
	docs:      [][2]string{{"console output", "lines of the forms below among any other text"}},
	begins:    func(*collector, *input) bool { return true },
	read: func(c *collector, in *input) error {
		err := readConsole(c, &lines{r: in.Reader})
		if err == nil && len(c.rows) == 0 {
			c.err.add(1, "got %s, want a known key, as step and reward (grposim help log-keys), in %s", quote(firstLine(in.begin)), knownFormats)
		}
		return err
	},
}

// lineForm is a form of lines that trainers print: what such a line looks like, for the table of
// forms. Every such line has the text. The reader says whether a line has the form.
type lineForm struct {
	is   string
	has  string
	read func(*console, line) bool
}

// lineForms is the table of the forms, the most certain first.
var lineForms = []lineForm{
	{"Python dicts `{'KEY': NUMBER, …}`, over several lines too; after `rollout N:`, `step N:` or `perf N:` of step N", "{", (*console).dicts},
	{"a dict without its braces: `'KEY': NUMBER, …`", "':", (*console).bare},
	{"`step:N - KEY:NUMBER - …` of verl, cut by a terminal too", "step:", (*console).dashes},
	{"`Step N | KEY: NUMBER | KEY=NUMBER | KEY NUMBER | …` of prime-rl", "Step ", (*console).pipes},
	{"`step N/M  KEY NUMBER  KEY NUMBER`, with two spaces between", "step ", (*console).gaps},
	{"`Iter N: KEY NUMBER, KEY NUMBER, …` of mlx-lm", "Iter ", (*console).commas},
	{"several of `KEY: NUMBER` or `KEY=NUMBER` in a line, with a step or two known keys", "", (*console).several},
	{"tables `│ KEY │ NUMBER │ …` of tinker and AReaL", "", (*console).grid},
	{"`• KEY: NUMBER`, one a line, after a heading such as `Step N/M`, of NeMo-RL, torchforge and mlx-lm", "", (*console).single},
}

// console reads what trainers print, from among any other text.
type console struct {
	*collector
	*lines
	bars   bars
	ranks  map[int]string  // what processes set before the dicts of rows
	named  map[float64]int // row of each step that a line names: such lines of a step are one row
	labels []labelled      // rows that labels name the step of

	heading float64 // step of the heading read last; NaN: none
	headed  int     // line of that heading
	eval    bool    // a heading says that values of evaluation follow
	block   []cell  // values printed one a line, of a row that is not complete
	begins  int     // line of the first of them
	later   []weak  // rows of the last forms, which count only without rows of a more certain one
}

// weakSize is the number of values that take as much memory as a weak row without cells.
const weakSize = 8

// weak is a row of one of the last forms.
type weak struct {
	form  int // 0: of one line; 1: of several
	line  int
	end   int // the last line
	step  float64
	cells []cell
	bars  map[float64]float64
}

// readConsole reads the text of a console.
func readConsole(c *collector, l *lines) error {
	k := &console{collector: c, lines: l, heading: math.NaN(), named: make(map[float64]int), ranks: make(map[int]string)}
	for {
		next, ok := k.next()
		if !ok || k.values > mostValues {
			break
		}
		k.bars.see(next.text)
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
	k.readLabelled()
	k.readLater()
	k.firstRank()
	k.stepsOfBars()
	return unlessEnd(l.err)
}

// endStep keeps the row that has been read, of a step if one is given. A row of that step
// that has none of its keys takes its values.
func (k *console) endStep(line int, step float64) {
	row := len(k.rows)
	if !math.IsNaN(step) && len(k.cells) > 0 {
		if !slices.ContainsFunc(k.cells, func(c cell) bool { return c.of.isStep }) {
			k.set(line, []byte("step"), []byte(strconv.FormatFloat(step, 'f', -1, 64)))
		}
		if before, has := k.named[step]; has && !slices.ContainsFunc(k.cells, func(c cell) bool { return !c.of.isStep && (c.of.has(before) || c.of.broken(before)) }) {
			row = before
		}
		k.named[step] = row
	}
	rows := len(k.rows)
	if k.keep(line, row); len(k.rows) > rows {
		k.bars.row(row)
	}
}

// endLater keeps the row that has been read for later. A progress bar in its line that is drawn
// again shows the same row, unless a heading has named another step since. A line of other keys
// that follows one without a step goes on with its row.
func (k *console) endLater(w weak, text string) {
	if w.bars = maps.Clone(k.bars.now); len(k.later) > 0 {
		last := &k.later[len(k.later)-1]
		own := w.form == last.form && sameStep(w.step, last.step)
		of := func(c cell) bool {
			return slices.ContainsFunc(last.cells, func(old cell) bool { return old.of == c.of })
		}
		switch {
		case own && bar.MatchString(text) && maps.Equal(last.bars, w.bars):
			last.cells = w.cells
			return
		case own && w.form == 0 && math.IsNaN(w.step) && w.line == last.end+1 && !slices.ContainsFunc(w.cells, of):
			last.cells, last.end = append(last.cells, w.cells...), w.line
			return
		}
	}
	if w.end = w.line; k.holds(w.line, weakSize+len(w.cells)) {
		k.later = append(k.later, w)
	}
}

// sameStep reports whether two steps are equal or both missing.
func sameStep(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }

// stray is the share of rows below which those of a more certain form are no table: one over it.
const stray = 5

// readLater reads the rows of the most certain form. Rows of another are taken instead if there are
// more than five times as many, as where a sample is printed as a dict. What is left out is said.
func (k *console) readLater() {
	counts, lines := [3]int{}, [3]int{}
	count := func(form, line int) {
		if counts[form]++; counts[form] == 1 {
			lines[form] = line
		}
	}
	for _, r := range k.rows {
		if r.tells {
			count(0, r.line)
		}
	}
	for _, w := range k.later {
		count(1+w.form, w.line)
	}
	best := 0
	for form, n := range counts {
		if n > stray*counts[best] {
			best = form
		}
	}
	for form, n := range counts {
		if form != best && n > 0 {
			k.note("%s of another form left out, the first in line %d.", CountWords(n, "row"), lines[form])
		}
	}
	if best == 0 {
		return
	}
	for _, s := range k.series {
		s.values, s.notFinite = nil, nil
	}
	k.rows, k.resumes, k.bars.rows = nil, nil, make(map[float64]*series)
	clear(k.named)
	for _, w := range k.later {
		if 1+w.form == best {
			k.cells, k.bars.now = w.cells, w.bars
			k.endStep(w.line, w.step)
		}
	}
}

// rank is what srun and torchrun set before the lines of each process.
var rank = regexp.MustCompile(`^\s*(?:\[(?i:rank) ?\d+\]:?|\d+:) *$`)

// firstRank leaves out rows of other processes than the first, where one prints several.
func (k *console) firstRank() {
	var first string
	times := make(map[string]int)
	for row := range k.rows {
		if label := k.ranks[row]; label != "" {
			first = cmp.Or(first, label)
			times[label]++
		}
	}
	if times[first] < 2 || len(times) < 2 {
		return
	}
	left := 0
	for row, label := range k.ranks {
		if label != first {
			k.rows[row] = rowInfo{line: k.rows[row].line, dropped: true}
			left++
		}
	}
	k.note("%s of other processes than %s left out: they train together.", CountWords(left, "row"), quote(first))
}

// put sets the value of a key; one that is not understood is noted.
func (k *console) put(l line, key, value string) {
	if _, _, ok := number([]byte(value)); !ok {
		if s := k.newSeries([]byte(key)); s != nil {
			k.unread.add(l.number, key+": "+value, "want a number")
		}
		return
	}
	k.set(l.number, []byte(key), []byte(value))
}

// stepsOfBars gives rows without steps those of progress bars.
func (k *console) stepsOfBars() {
	if k.stepSeries() != nil {
		return
	}
	var counts []int
	for row, info := range k.rows {
		if info.tells && !info.evaluates() {
			counts = append(counts, row)
		}
	}
	if steps := k.bars.steps(counts); steps != nil {
		k.series = append(k.series, steps)
		k.notes = append(k.notes, "Steps are those of the progress bars.")
	}
}

// unlessEnd returns an error other than the end of the file.
func unlessEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
