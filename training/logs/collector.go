package logs

import (
	"math"
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
	resumes   []int        // steps from which a resumed run goes on, where the reader knows them
	runs      []*collector // of a file with several runs; each is named
	run       string       // name of the run

	byKey   map[string]*series // by key as in the file; nil for a key that nobody knows
	series  []*series          // in the order of the file
	unknown []string           // keys that nobody knows, at most mostKeys
	rows    []rowInfo
	cells   []cell // of the row being read
	bad     bool   // that row has a text where a number belongs; for console output only
}

// series holds the values of one key.
type series struct {
	key       string
	values    []float64 // by row, as far as the last row with the key; NaN where missing
	notFinite []int     // rows whose value is NaN or infinite, increasing
	isStep    bool
	trains    bool       // a trainer writes it in training
	ofEval    bool       // its name begins with eval
	training  []keyMatch // by trainer
	evaluated []keyMatch // by trainer
}

// keyMatch is the rule for a key, nil if there is none, with the name for its *.
type keyMatch struct {
	rule *rule
	name string
}

type rowInfo struct {
	line     int
	training bool // has a key of training, perhaps with a value that is not finite
	ofEval   bool // has a key of evaluation
}

// cell is a value of the row being read.
type cell struct {
	of    *series
	value float64
}

// mostKeys limits what is kept of a strange file: known keys, and names of unknown ones.
const mostKeys = 1000

func newCollector(name string, how Options) *collector {
	return &collector{how: how, err: Error{File: name}, byKey: make(map[string]*series)}
}

// set adds a value to the row that is being read: a number, or the text of one. Empty
// text, null and None are no value.
func (c *collector) set(line int, key, text []byte) {
	s, seen := c.byKey[string(key)]
	if !seen {
		s = c.addKey(line, string(key))
	}
	if s != nil {
		c.setSeries(line, s, text)
	}
}

// setSeries is set for a key that has been looked up.
func (c *collector) setSeries(line int, s *series, text []byte) {
	x, has, ok := number(text)
	switch {
	case !ok && !s.isStep && s.ofEval && len(s.values) == 0: // a setting such as eval_strategy
	case !ok && c.container == Console:
		c.bad = true
	case !ok:
		c.err.add(line, "%s: got %s, want a number", s.key, quote(string(text)))
	case has:
		c.cells = append(c.cells, cell{s, x})
	}
}

// number reads a number as JSON, Python or a spreadsheet writes it.
func number(text []byte) (x float64, has, ok bool) {
	word := strings.TrimSpace(string(text))
	switch word {
	case "", "null", "None", "N/A":
		return 0, false, true
	case "true", "True":
		return 1, true, true
	case "false", "False":
		return 0, true, true
	}
	if _, inner, call := strings.Cut(word, "("); call { // tensor(0.5, device='cuda:0'), np.float64(0.5)
		word = inner
		if end := strings.IndexAny(word, ",)"); end >= 0 {
			word = word[:end]
		}
	}
	word, _, _ = strings.Cut(word, "/") // 5/100 of ms-swift
	x, err := strconv.ParseFloat(word, 64)
	if err != nil && !math.IsInf(x, 0) {
		return 0, false, false
	}
	return x, true, true
}

// addKey looks a new key up in the table.
func (c *collector) addKey(line int, key string) *series {
	s := newSeries(key)
	switch {
	case s == nil && len(c.unknown) < mostKeys:
		c.unknown = append(c.unknown, key)
	case s == nil:
		return nil // not kept: a file can have any number of keys
	case len(c.series) == mostKeys:
		c.err.add(line, "got more than %d keys that trainers write, want one run a file", mostKeys)
		s = nil
	default:
		c.series = append(c.series, s)
	}
	c.byKey[key] = s
	return s
}

// newSeries returns the empty series of a key; nil if the table does not have it.
func newSeries(key string) *series {
	name := strings.ReplaceAll(strings.TrimSpace(key), " / ", "/") // notebooks set spaces
	s := &series{
		key: name, ofEval: strings.HasPrefix(name, "eval_") && name != string(EvalScore) || strings.HasPrefix(name, "eval/"),
		training: make([]keyMatch, len(trainers)), evaluated: make([]keyMatch, len(trainers)),
	}
	evaluates := s.ofEval
	for _, k := range append(stepKeys, evalStepKey) {
		if name == k {
			s.isStep = true
			return s
		}
	}
	for i, t := range trainers {
		for _, prefix := range t.prefixes {
			if s.training[i].rule == nil {
				s.training[i] = find(t.rules, prefix, name)
			}
		}
		s.evaluated[i] = find(t.evalRules, "", name)
		s.trains = s.trains || s.training[i].rule != nil
		evaluates = evaluates || s.evaluated[i].rule != nil
	}
	if !s.trains && !evaluates {
		return nil
	}
	return s
}

// trained reports whether the series is that of a step or of training.
func (s *series) trained() bool { return s != nil && (s.isStep || s.trains) }

// find returns the first rule whose key, after the prefix, matches the name.
func find(rules []rule, prefix, name string) keyMatch {
	for i := range rules {
		if star, ok := match(prefix+rules[i].key, name); ok {
			return keyMatch{&rules[i], star}
		}
	}
	return keyMatch{}
}

// match reports whether a name has the form of a pattern, in which one * stands for any
// text but the empty one, which it returns.
func match(pattern, name string) (star string, ok bool) {
	before, after, has := strings.Cut(pattern, "*")
	if !has {
		return "", pattern == name
	}
	rest, ok := strings.CutPrefix(name, before)
	if !ok {
		return "", false
	}
	star, ok = strings.CutSuffix(rest, after)
	return star, ok && star != ""
}

// endRow keeps the row that has been read, if it has a known key.
func (c *collector) endRow(line int) {
	if len(c.cells) == 0 {
		return
	}
	row, info := len(c.rows), rowInfo{line: line}
	for _, cell := range c.cells {
		s, x := cell.of, cell.value
		switch {
		case s.ofEval:
			info.ofEval = true
		case s.trains:
			info.training = true
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			s.notFinite = append(s.notFinite, row)
			x = math.NaN()
		}
		for len(s.values) < row {
			s.values = append(s.values, math.NaN())
		}
		s.values = append(s.values[:row], x)
	}
	c.rows = append(c.rows, info)
	c.dropRow()
}

// dropRow forgets the row that has been read.
func (c *collector) dropRow() { c.cells, c.bad = c.cells[:0], false }

// at returns the value of a row, NaN if it has none.
func (s *series) at(row int) float64 {
	if s == nil || row >= len(s.values) {
		return math.NaN()
	}
	return s.values[row]
}

// has reports whether a row has a value.
func (s *series) has(row int) bool { return !math.IsNaN(s.at(row)) }

// resumed says that a resumed run goes on from a step.
func (c *collector) resumed(step int) {
	for n := len(c.resumes); n > 0 && c.resumes[n-1] >= step; n-- {
		c.resumes = c.resumes[:n-1]
	}
	c.resumes = append(c.resumes, step)
}

// wantValues reports a file in which nobody has written a value yet.
func (c *collector) wantValues() {
	if len(c.series)+len(c.unknown) > 0 || len(c.err.Problems) > 0 {
		return
	}
	c.err.add(0, "got no values, want those of a run")
	c.tellNotes()
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
