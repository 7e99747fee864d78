package logs

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// collector takes the rows of a file and keeps the values of those keys that any trainer
// writes. Which trainer it is, log decides at the end.
type collector struct {
	how       Options
	container Container
	err       Error
	notes     []string
	unread    int          // number of lines that were not understood
	resumes   []int        // steps from which a resumed run goes on, where the reader knows them
	runs      []*collector // of a file with several runs; each is named
	run       string       // name of the run

	byKey   map[string]*series // by key as in the file; nil for a key that nobody knows
	byName  map[string]*series // by key as it is compared
	looked  map[string]*series // of look, by key as in the file
	series  []*series          // in the order of the file
	unknown []string           // keys that nobody knows, at most mostKeys
	texts   []string           // those of texts, likewise
	rows    []rowInfo
	values  int    // kept of all series, missing ones too
	cells   []cell // of the row being read
	bad     bool   // that row has a text where a number belongs; for console output only
	ofEval  bool   // that row says that it is of evaluation
}

type series struct {
	key      string
	name     string    // the key as it is compared
	decimals int       // of every number as it is written; 0: none yet, unrounded: they differ
	values   []float64 // by row, to the last that has the key: NaN where missing, ∞ not finite
	isStep   bool
	ends     bool // only the line that a trainer writes after the last step has it
	updates  bool // only rows of training have it
	trains   bool // a trainer writes it in training
	tells    bool // and it is more than a learning rate
	ofEval   bool // its name begins with eval
	matches  map[rulesPlace]match
	general  *rule // without what stands before its first slash, among the keys of any file
}

type rowInfo struct {
	line     int
	training bool // has a key of training, perhaps with a value that is not finite
	tells    bool // has one that is more than a learning rate
	ofEval   bool // has a key of evaluation
	updates  bool // has a key that only rows of training have
}

// evaluates reports whether a row is one of evaluation alone, where such rows have some
// keys of training too.
func (r *rowInfo) evaluates() bool { return r.ofEval && !r.updates }

// cell is a value of the row being read.
type cell struct {
	of    *series
	value float64
}

// tells reports whether a cell is one of training, and more than a learning rate.
func (c cell) tells() bool { return c.of.tells && !c.of.ofEval }

func newCollector(name string, how Options) *collector {
	return &collector{how: how, err: Error{File: name}, byKey: make(map[string]*series),
		byName: make(map[string]*series), looked: make(map[string]*series)}
}

// addRun adds a run of the file, which it names.
func (c *collector) addRun(name string) *collector {
	run := newCollector(c.err.File, c.how)
	run.run, run.container = name, c.container
	c.runs = append(c.runs, run)
	return run
}

// set adds a value to the row that is being read: a number, or the text of one. Empty
// text, null and None are no value.
func (c *collector) set(line int, key, text []byte) {
	c.ofEval = c.ofEval || slices.Contains(splitKeys, string(key)) && evalWords.Match(text)
	if _, seen := c.byKey[string(key)]; !seen && len(c.texts) < mostKeys {
		if _, _, ok := number(text); !ok && c.look(string(key)) == nil {
			c.texts, c.byKey[string(key)] = append(c.texts, string(key)), nil
		}
	}
	if s := c.seriesOf(line, key); s != nil {
		c.setSeries(line, s, text)
	}
}

// setSeries is set for a key that has been looked up.
func (c *collector) setSeries(line int, s *series, text []byte) {
	if s.isStep {
		text, _, _ = bytes.Cut(text, []byte("/")) // 5/100 of ms-swift
	}
	x, has, ok := number(text)
	switch {
	case !ok && !s.isStep && s.ofEval && len(s.values) == 0: // a setting such as eval_strategy
	case !ok && c.container == Console:
		c.bad = true
	case !ok && c.container == Pasted:
		c.cannotRead(line, s.key+": "+string(text), "want a number")
	case !ok:
		c.err.add(line, "%s: got %s, want a number", s.key, quote(string(text)))
	case has:
		s.wrote(text)
		c.cells = append(c.cells, cell{s, x})
	}
}

// unrounded are the decimals of numbers that are written with as many as they need.
const unrounded = -1

// wrote takes note of the decimals of a number. One is what Python writes of an integer.
func (s *series) wrote(text []byte) {
	if s.decimals == unrounded {
		return
	}
	_, after, _ := bytes.Cut(text, []byte("."))
	n := len(after) - len(bytes.TrimLeft(after, "0123456789"))
	if n < 2 || bytes.ContainsAny(text, "eE") || s.decimals > 0 && n != s.decimals {
		n = unrounded
	}
	s.decimals = n
}

// number reads a number as JSON, Python or a spreadsheet writes it, or as a person does:
// 1,568,987.96 and 12.5%.
func number(text []byte) (x float64, has, ok bool) {
	word := strings.TrimSpace(string(text))
	switch strings.ToLower(word) {
	case "", "-", "–", "—", "null", "none", "n/a", "na", "<na>", "no log": // R: NA, pandas: <NA>
		return 0, false, true
	case "true":
		return 1, true, true
	case "false":
		return 0, true, true
	}
	if x, err := strconv.ParseFloat(word, 64); err == nil || math.IsInf(x, 0) {
		return x, true, true
	}
	return spelled(strings.Clone(word)) // a copy, so that most texts of numbers stay on the stack
}

// spelled reads a number in a form that is none of Go's.
func spelled(word string) (x float64, has, ok bool) {
	if name, inner, call := strings.Cut(word, "("); call && (name == "" || isLetter(rune(name[0]))) {
		word = inner // of tensor(0.5, device='cuda:0')
		if end := strings.IndexAny(word, ",)"); end >= 0 {
			word = word[:end]
		}
	} else if scatter := strings.IndexAny(word, "(±"); scatter > 0 { // 0.72 (0.05)
		word = word[:scatter]
	}
	if part, whole, ratio := strings.Cut(word, "/"); ratio { // 3/8 were right
		x, isPart, _ := number([]byte(part))
		n, isWhole, _ := number([]byte(whole))
		return x / n, true, isPart && isWhole && n > 0
	}
	word, percent := strings.CutSuffix(strings.TrimSpace(word), "%")
	word = strings.TrimSpace(word)
	if thousands.MatchString(word) {
		word = strings.ReplaceAll(word, ",", "")
	}
	x, err := strconv.ParseFloat(word, 64)
	if err != nil && !math.IsInf(x, 0) {
		return 0, false, false
	}
	if percent {
		x /= 100
	}
	return x, true, true
}

// thousands is a number with commas between groups of three digits. 0,125 is an eighth where decimals
// follow a comma.
var thousands = regexp.MustCompile(`^[-+]?[1-9]\d{0,2}(?:,\d{3})+(?:\.|$)`)

// seriesOf returns the series of a key, nil if nobody knows it. It looks a new key up in the table.
func (c *collector) seriesOf(line int, of []byte) *series {
	if s, seen := c.byKey[string(of)]; seen {
		return s
	}
	key := string(of)
	s := c.look(key)
	switch {
	case s == nil && len(c.unknown) == mostKeys:
		return nil // not kept: a file can have any number of keys
	case s == nil:
		c.unknown = append(c.unknown, key)
	case c.byName[s.name] != nil:
		s = c.byName[s.name]
	case len(c.series) == mostKeys:
		c.err.add(line, "got more than %d keys that trainers write, want one run a file", mostKeys)
		s = nil
	default:
		c.series = append(c.series, s)
		c.byName[s.name] = s
	}
	c.byKey[key] = s
	return s
}

// look returns the series of a key, empty until seriesOf has added it. It is nil if the table does
// not have it. Those of the first keys are kept: a console has the same words in every line.
func (c *collector) look(key string) *series {
	if s := c.looked[key]; s != nil {
		return s
	}
	key = strings.Clone(strings.TrimSpace(key)) // it may be part of a long line
	tidied := tidy(key)
	name := strings.ToLower(tidied)
	isStep, ends := name == evalStepKey || slices.Contains(stepKeys, name), slices.Contains(endNames, name)
	found, general := rulesOf().find(tidied, name)
	named := key != "" && (strings.EqualFold(key, c.how.Reward) || strings.EqualFold(key, c.how.TrueReward))
	switch {
	case isStep || ends:
		found, general, named = nil, nil, false
	case len(found) == 0 && general == nil && !named:
		return nil
	}
	s := &series{
		key: strings.ReplaceAll(key, " / ", "/"), name: name, isStep: isStep, ends: ends,
		updates: slices.Contains(updateNames, name), trains: named, tells: named,
		ofEval: strings.HasPrefix(name, "eval/") ||
			strings.HasPrefix(name, "eval_") && name != string(EvalScore),
		matches: make(map[rulesPlace]match), general: general,
	}
	for _, m := range found {
		if first, has := s.matches[m.rulesPlace]; !has || m.order < first.order {
			s.matches[m.rulesPlace] = m
		}
		s.trains = s.trains || m.of == training
		s.tells = s.tells || m.of == training && m.rule.Quantity != LR && m.rule.Quantity != ""
	}
	if len(c.looked) < mostKeys {
		c.looked[key] = s
	}
	return s
}

// rule returns the rule of a trainer that knows the key, nil if there is none.
func (s *series) rule(trainer int, of part) *rule { return s.matches[rulesPlace{trainer, of}].rule }

// stepsAndKeys counts the names of columns that are steps, and keys of training.
func stepsAndKeys(c *collector, names []string) (steps, keys int) {
	for _, name := range names {
		switch s := c.look(name); {
		case s == nil:
		case s.isStep:
			steps++
		case s.trains:
			keys++
		}
	}
	return steps, keys
}

// endRow keeps the row that has been read, if it has a known key. After the last step a trainer
// repeats means over the run. That line is no row; a table can have it in the row of the last step.
// Keys of training in a row that says that it is of evaluation are read as those of evaluation.
func (c *collector) endRow(line int) {
	defer c.dropRow()
	if c.ofEval {
		for i, cell := range c.cells {
			if s := cell.of; s.trains && !s.ofEval {
				c.cells[i].of = c.seriesOf(line, []byte("eval/"+s.key))
			}
		}
		c.cells = slices.DeleteFunc(c.cells, func(c cell) bool { return c.of == nil })
	}
	info, ends := rowInfo{line: line}, false
	for _, cell := range c.cells {
		s := cell.of
		ends = ends || s.ends
		info.ofEval = info.ofEval || s.ofEval
		info.training = info.training || s.trains && !s.ofEval
		info.tells = info.tells || cell.tells()
		info.updates = info.updates || s.updates
	}
	if len(c.cells) == 0 || ends && !info.updates {
		return
	}
	row := len(c.rows)
	c.rows = append(c.rows, info)
	for _, cell := range c.cells {
		if !c.holds(line, row+1-len(cell.of.values)) {
			return
		}
		cell.of.put(row, cell.value)
	}
}

// holds counts values that are kept, and reports whether they are not too many.
func (c *collector) holds(line, values int) bool {
	if c.values > mostValues {
		return false
	}
	if c.values += max(0, values); c.values > mostValues {
		c.err.add(line, "got more than %d values, want a log of fewer rows or columns", mostValues)
	}
	return c.values <= mostValues
}

func (s *series) put(row int, x float64) {
	for len(s.values) <= row {
		s.values = append(s.values, math.NaN())
	}
	if math.IsNaN(x) {
		x = math.Inf(1)
	}
	s.values[row] = x
}

// dropRow forgets the row that has been read.
func (c *collector) dropRow() { c.cells, c.bad, c.ofEval = c.cells[:0], false, false }

// broken reports whether the file has NaN or an infinite number in a row.
func (s *series) broken(row int) bool { return row < len(s.values) && math.IsInf(s.values[row], 0) }

// at returns the value of a row, NaN if it has none that is finite.
func (s *series) at(row int) float64 {
	if s == nil || row >= len(s.values) || s.broken(row) {
		return math.NaN()
	}
	return s.values[row]
}

func (s *series) has(row int) bool { return !math.IsNaN(s.at(row)) }

// resumed says that a resumed run goes on from a step.
func (c *collector) resumed(step int) {
	before, _ := slices.BinarySearch(c.resumes, step)
	c.resumes = append(c.resumes[:before], step)
}

// wantValues reports a file in which nobody has written a value yet.
func (c *collector) wantValues() {
	if len(c.series)+len(c.unknown)+len(c.err.Problems) == 0 {
		c.err.add(0, "got no values, want those of a run")
		c.tellNotes()
	}
}

// tellNotes adds the notes to the problems: they may say why there are no rows.
func (c *collector) tellNotes() {
	for _, note := range c.notes {
		c.err.add(0, "%s", note)
	}
}

func (c *collector) note(format string, args ...any) {
	c.notes = append(c.notes, oneLine(format, args...))
}

// noteCount notes what is said of a count of a noun, if there are any.
func (c *collector) noteCount(n int, noun, says string, args ...any) {
	if n > 0 {
		c.note("%s %s", CountWords(n, noun), fmt.Sprintf(says, args...))
	}
}
