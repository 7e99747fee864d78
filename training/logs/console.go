package logs

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"math"
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
	{"`Step N | KEY: NUMBER | KEY NUMBER | …` of prime-rl", "Step ", (*console).pipes},
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
	named  map[float64]int // row of each step that a line names: such lines of a step are one row
	labels []labelled      // rows that labels name the step of

	heading float64 // step of the heading read last; NaN: none
	headed  int     // line of that heading
	eval    bool    // a heading says that values of evaluation follow
	block   []cell  // values printed one a line, of a row that is not complete
	begins  int     // line of the first of them
	later   []weak  // rows of the last forms, which count only without rows of a more certain one
}

// weak is a row of one of the last forms.
type weak struct {
	form  int // 0: of one line; 1: of several
	line  int
	step  float64
	cells []cell
	bars  map[float64]float64
}

// readConsole reads the text of a console.
func readConsole(c *collector, l *lines) error {
	k := &console{collector: c, lines: l, heading: math.NaN(), named: make(map[float64]int)}
	for {
		next, ok := k.next()
		if !ok {
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

// endLater keeps the row that has been read for later. A progress bar that is drawn again
// shows the same row, unless a heading has named another step since.
func (k *console) endLater(w weak) {
	w.bars = maps.Clone(k.bars.now)
	if n := len(k.later); n > 0 && len(w.bars) > 0 && k.later[n-1].form == w.form && sameStep(k.later[n-1].step, w.step) && maps.Equal(k.later[n-1].bars, w.bars) {
		k.later = k.later[:n-1]
	}
	k.later = append(k.later, w)
}

// sameStep reports whether two steps are equal or both missing.
func sameStep(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }

// readLater reads the rows kept for later, those of the most certain form, if there are no
// others.
func (k *console) readLater() {
	if len(k.later) == 0 || slices.ContainsFunc(k.rows, func(r rowInfo) bool { return r.tells }) {
		return
	}
	first := slices.MinFunc(k.later, func(x, y weak) int { return cmp.Compare(x.form, y.form) }).form
	for _, w := range k.later {
		if w.form == first {
			k.cells, k.bars.now = w.cells, w.bars
			k.endStep(w.line, w.step)
		}
	}
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
