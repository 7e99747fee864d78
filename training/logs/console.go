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

// lineForm is a form of lines that trainers print: what such a line looks like, for
// docs/logs.md, a text that every such line has, and its reader, which returns whether a
// line has the form.
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
	bars  bars
	named map[float64]int // row of each step that a line names: such lines of a step are one row

	heading float64 // step of the heading read last; NaN: none
	headed  int     // line of that heading
	eval    bool    // a heading says that values of evaluation follow
	block   []cell  // values printed one a line, of a row that is not complete
	begins  int     // line of the first of them
	later   []weak  // rows of the last forms, which count only if there is no row of a more certain one
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
func (c *collector) readConsole(l *lines) error {
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
	k.readLater()
	if err := unlessEnd(k.err()); err != nil {
		return err
	}
	k.stepsOfBars()
	return nil
}

func (k *console) err() error { return k.lines.err }

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
// shows the same row.
func (k *console) endLater(w weak) {
	w.bars = maps.Clone(k.bars.now)
	if n := len(k.later); n > 0 && len(w.bars) > 0 && k.later[n-1].form == w.form && maps.Equal(k.later[n-1].bars, w.bars) {
		k.later = k.later[:n-1]
	}
	k.later = append(k.later, w)
}

// readLater reads the rows kept for later, those of the most certain form, if there are no
// others.
func (k *console) readLater() {
	if len(k.rows) > 0 || len(k.later) == 0 {
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
		if info.training && !info.evaluates() {
			counts = append(counts, row)
		}
	}
	steps, spaced := k.bars.steps(counts)
	if steps == nil {
		return
	}
	k.series = append(k.series, steps)
	k.notes = append(k.notes, "Steps are those of the progress bars.")
	if spaced {
		k.notes = append(k.notes, "Progress bars do not go on between all rows: rows between two of them are taken to be evenly spaced.")
	}
}

// label names the step of the dict after it.
var label = regexp.MustCompile(`(?i)\b(?:rollout|step|perf|eval|iteration|iter) (\d+): *$`)

// dicts reads the dicts that begin in a line.
func (k *console) dicts(l line) (any bool) {
	text := l.text
	for {
		i := strings.Index(text, "{'")
		if j := strings.Index(text, `{"`); i < 0 || j >= 0 && j < i {
			i = j
		}
		if i < 0 {
			return any
		}
		any = true
		k.close()
		step := math.NaN()
		if m := label.FindStringSubmatch(text[:i]); m != nil {
			step, _ = strconv.ParseFloat(m[1], 64) // digits
		} else if k.headed == l.number-1 {
			step = k.heading
		}
		from := &joined{text: text[i+1:], from: k.lines}
		p := &parser{collector: k.collector, r: from, line: l.number, wrapped: true}
		err := p.object()
		switch {
		case err == nil && !k.bad:
			k.endStep(l.number, step)
		case len(k.cells) == 0 && !k.bad:
		case err == nil:
			k.unread.add(l.number, text[i:], "a text where a number belongs")
		case err == io.EOF && from.end:
			k.notes = append(k.notes, lastLine(l.number))
		default:
			k.unread.add(l.number, text[i:], "a dict that breaks off or is mixed with other text")
		}
		k.dropRow()
		if text = text[i+2:]; err == nil {
			k.skip(from.used)
			text = from.text[from.at:]
		}
	}
}

// bare reads a dict without its braces, in as many lines as it takes.
func (k *console) bare(l line) bool {
	text := unprefixed(l.text)
	if end := strings.Index(text, `':`); !strings.HasPrefix(text, "'") || end < 0 || strings.ContainsAny(text, "{}") {
		return false
	}
	k.close()
	const most = 50 // lines
	used, read := -1, []cell(nil)
	for n := 0; n < most; n++ {
		if n > 0 {
			next, ok := k.peek(n - 1)
			if !ok || strings.TrimSpace(next.text) == "" {
				break
			}
			text += "\n" + unprefixed(next.text)
		}
		p := &parser{collector: k.collector, r: strings.NewReader(text + "}"), line: l.number, wrapped: true}
		err := p.object()
		whole := err == nil && !k.bad && len(k.cells) > 0
		if whole {
			used, read = n, slices.Clone(k.cells)
		}
		k.dropRow()
		if goesOn := strings.HasSuffix(strings.TrimSpace(text), ","); whole && !goesOn || used >= 0 && !whole {
			break
		}
	}
	if used < 0 {
		k.unread.add(l.number, l.text, "a dict without braces that breaks off")
		return true
	}
	k.skip(used)
	k.cells = read
	k.endStep(l.number, math.NaN())
	return true
}

var (
	verlStart = regexp.MustCompile(`(?:^|[\s)])(step:\d)`)
	verlPair  = regexp.MustCompile(`^[^\s:]*:\s?\S+$`)
	digits    = regexp.MustCompile(`^[\d.eE+-]+$`)
)

// dashes reads a line "step:1 - KEY:NUMBER - KEY:NUMBER …" with the lines in which it goes
// on.
func (k *console) dashes(l line) bool {
	at := verlStart.FindStringSubmatchIndex(l.text)
	if at == nil {
		return false
	}
	k.close()
	text, whole := l.text[at[2]:], l.whole
	for {
		next, ok := k.peek(0)
		if trimmed := strings.TrimLeft(next.text, " \t"); !ok || unprefixed(trimmed) != trimmed || !goesOn(trimmed) {
			break
		}
		k.skip(1)
		if strings.HasSuffix(text, " -") || strings.HasPrefix(next.text, "- ") {
			text += " "
		}
		text, whole = text+next.text, next.whole
	}
	pairs := strings.Split(strings.TrimSuffix(strings.TrimSpace(text), " -"), " - ")
	if !whole {
		k.notes = append(k.notes, lastLine(k.number))
		return true
	}
	for _, pair := range pairs {
		if i := strings.LastIndexByte(pair, ':'); i > 0 {
			k.put(l, pair[:i], pair[i+1:])
		} else {
			k.unread.add(l.number, pair, "want KEY:NUMBER")
		}
	}
	k.endStep(l.number, math.NaN())
	return true
}

// goesOn reports whether a line goes on with pairs KEY:NUMBER that a terminal cut.
func goesOn(text string) bool {
	pieces := strings.Split(strings.TrimPrefix(strings.TrimSpace(text), "- "), " - ")
	if len(pieces) == 1 {
		return digits.MatchString(pieces[0]) || verlPair.MatchString(pieces[0]) && !strings.HasPrefix(pieces[0], "step:")
	}
	return verlPair.MatchString(pieces[1]) && !verlStart.MatchString(text)
}

var (
	pipeStart = regexp.MustCompile(`(?:^|\s)Step +(\d+) +\| `)
	iterStart = regexp.MustCompile(`(?:^|\s)Iter (\d+): `)
	// keyNumber is KEY NUMBER or KEY: NUMBER with a unit.
	keyNumber = regexp.MustCompile(`^(\S.*?)(?::\s*|\s+)([-+]?(?:[\d.,]+(?:[eE][-+]?\d+)?|nan|inf)%?)(?:\s*[a-zA-Z(/].*)?$`)
)

// pipes reads a line "Step 1 | Time: 2.5s | Reward: 0.5 | …".
func (k *console) pipes(l line) bool { return k.parts(l, pipeStart, "|") }

// commas reads a line "Iter 1: Train loss 0.1, Total rewards mean 0.5, …".
func (k *console) commas(l line) bool { return k.parts(l, iterStart, ", ") }

// parts reads a line of parts KEY NUMBER after its step.
func (k *console) parts(l line, start *regexp.Regexp, by string) bool {
	at := start.FindStringSubmatchIndex(l.text)
	if at == nil {
		return false
	}
	k.close()
	step, _ := strconv.ParseFloat(l.text[at[2]:at[3]], 64) // digits
	for _, part := range strings.Split(l.text[at[1]:], by) {
		if m := keyNumber.FindStringSubmatch(strings.TrimSpace(part)); m != nil {
			k.put(l, m[1], m[2])
		}
	}
	k.endStep(l.number, step)
	return true
}

var (
	equals    = regexp.MustCompile(`([A-Za-z_][\w./-]*)\s*[=:]\s*([-+]?(?:\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?|nan|inf)%?)(?:[\s,;|)\]]|$)`)
	stepWords = regexp.MustCompile(`(?i)\b(?:step|iter|iteration)[ :=#]+(\d+)\b`)
)

// several reads a line with several of KEY=NUMBER or KEY: NUMBER.
func (k *console) several(l line) bool {
	if strings.Count(l.text, "=")+strings.Count(l.text, ":") < 2 && !stepWords.MatchString(l.text) {
		return false
	}
	found := equals.FindAllStringSubmatch(l.text, -1)
	step := math.NaN()
	if m := stepWords.FindStringSubmatch(l.text); m != nil {
		step, _ = strconv.ParseFloat(m[1], 64) // digits
	}
	known := 0
	for _, m := range found {
		if s := k.newSeries([]byte(m[1])); s != nil && !s.isStep {
			known++
		}
	}
	if known == 0 || known == 1 && math.IsNaN(step) {
		return false
	}
	for _, m := range found {
		k.put(l, m[1], strings.TrimSuffix(m[2], ","))
	}
	k.endLater(weak{form: 0, line: l.number, step: step, cells: slices.Clone(k.cells)})
	return true
}

// grid reads a line of a table whose cells are keys and numbers in turn.
func (k *console) grid(l line) bool {
	text := strings.Map(func(r rune) rune {
		if r == '│' || r == '┃' {
			return '|'
		}
		return r
	}, unprefixed(l.text))
	if !strings.HasPrefix(text, "|") {
		return false
	}
	cells := strings.Split(strings.Trim(strings.TrimSpace(text), "|"), "|")
	for i := 0; i+1 < len(cells); i += 2 {
		key, value := strings.TrimSpace(cells[i]), strings.TrimSpace(cells[i+1])
		if _, has, ok := number([]byte(value)); has && ok && key != "" {
			k.add(l, key, value)
		}
	}
	return true
}

var (
	bullet = regexp.MustCompile(`^[\s•*·-]*([A-Za-z][\w ./@-]*?)\s*[:=]\s*(\S.*?)\s*$`)
	// named values of a line, as "Total Rewards:  μ=0.5, σ=0.1".
	inner = regexp.MustCompile(`(\pL+)=([-+]?[\d.]+(?:[eE][-+]?\d+)?)`)
)

// single reads a line of one value.
func (k *console) single(l line) bool {
	if !strings.ContainsAny(l.text, ":=") {
		return false
	}
	m := bullet.FindStringSubmatch(unprefixed(l.text))
	if m == nil {
		return false
	}
	key, value := m[1], m[2]
	if named := inner.FindAllStringSubmatch(value, -1); named != nil {
		for _, n := range named {
			k.add(l, key+" "+n[1], n[2])
		}
		return true
	}
	if m := keyNumber.FindStringSubmatch("x " + value); m != nil {
		k.add(l, key, m[2])
	}
	return true
}

// add adds a value to the row that is printed over several lines. A key that it has begins
// the next row.
func (k *console) add(l line, key, value string) {
	if k.eval {
		key = "validation/" + key
	}
	k.set(l.number, []byte(key), []byte(value))
	for _, c := range k.cells {
		if slices.ContainsFunc(k.block, func(b cell) bool { return b.of == c.of }) {
			k.close()
		}
		if len(k.block) == 0 {
			k.begins = l.number
		}
		k.block = append(k.block, c)
	}
	k.dropRow()
}

// close ends the row that is printed over several lines.
func (k *console) close() {
	if len(k.block) > 0 {
		k.endLater(weak{form: 1, line: k.begins, step: k.heading, cells: k.block})
		k.block = nil
	}
}

var headings = []*regexp.Regexp{
	regexp.MustCompile(`^[=#*\s─-]*Step (\d+)(?:/\d+)?[=#*\s─:-]*$`),
	regexp.MustCompile(`METRICS STEP (\d+)`),
	regexp.MustCompile(`Train step (\d+)/\d+ done`),
	regexp.MustCompile(`(?:^|\s)(?:Step|Iter) (\d+):\s*$`),
}

// isHeading reads a line that says which step the next ones are of, or that they are of
// evaluation.
func (k *console) isHeading(l line) bool {
	if strings.HasSuffix(strings.TrimSpace(l.text), "Results:") {
		k.close()
		k.eval = strings.Contains(l.text, "Validation")
		return true
	}
	if !strings.Contains(strings.ToLower(l.text), "step ") && !strings.Contains(l.text, "Iter ") {
		return false
	}
	for _, heading := range headings {
		if m := heading.FindStringSubmatch(l.text); m != nil {
			k.close()
			k.heading, _ = strconv.ParseFloat(m[1], 64) // digits
			k.headed, k.eval = l.number, false
			return true
		}
	}
	return false
}

// unlessEnd returns an error other than the end of the file.
func unlessEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
