package equivalence

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Score is a benchmark's score of two models, or of one model after two trainings.
// Scores and errors are shares, in [0, 1].
type Score struct {
	Benchmark, Model, Metric string // the last two may be ""
	A, B                     float64
	NA, NB                   int     // numbers of questions, ≥ 1
	SEA, SEB                 float64 // standard errors, > 0; NaN: by the numbers of questions
	SDA, SDB                 float64 // deviations over the training runs whose mean the score is, ≥ 0
	RunsA, RunsB             int     // numbers of these runs, ≥ 2; 0: their scatter is not known
}

// interval is that of B − A: by the standard errors where they are known, with the quantile of the
// normal law, else by Shares. Student's interval for the scatter of runs is added by the squares of
// the distances of its ends, as in subtract.
func (s Score) interval() Interval {
	d := s.B - s.A
	if !math.IsNaN(s.SEA) {
		return Student(d, math.Hypot(s.SEA, s.SEB), math.Inf(1))
	}
	questions := Shares(s.A, float64(s.NA), s.B, float64(s.NB))
	if s.RunsA == 0 {
		return questions
	}
	a, b := float64(s.RunsA), float64(s.RunsB)
	variance := ((a-1)*s.SDA*s.SDA + (b-1)*s.SDB*s.SDB) / (a + b - 2)
	return subtract(0, d, Student(0, math.Sqrt(variance*(1/a+1/b)), a+b-2), questions)
}

// MaxMargin is the largest margin of scores, as a share: with larger ones the errors of
// Shares are not those declared.
const MaxMargin = 0.2

// Scores decides every score of a table together (Judge): whether A and B are the same
// within the margin, a share in (0, MaxMargin].
func Scores(scores []Score, margin, confidence float64) []Judgement {
	var rows []Row
	for _, s := range scores {
		rows = append(rows, Row{Interval: s.interval(), Margin: margin})
	}
	return Judge(rows, EachRow, confidence)
}

// Table is a file of scores.
type Table struct {
	Scores []Score
	Unit   Unit
	Notes  []string // what a user should know of how the file was read
}

// Unit is the unit of the scores in a file.
type Unit string

const (
	Percent Unit = "percent"
	Share   Unit = "share"
)

// columns of a table of scores. A and B may stand for score_a and score_b in a declared
// unit: percent_a and percent_b, or share_a and share_b.
var (
	required = []string{"benchmark", "n_a", "n_b"}
	ofErrors = []string{"se_a", "se_b"}                     // all of them or none
	ofRuns   = []string{"sd_a", "sd_b", "runs_a", "runs_b"} // likewise
	optional = slices.Concat([]string{"model", "metric"}, ofErrors, ofRuns)
)

// ReadScores reads a CSV file of scores; see grposim help compare. Lines that begin with # are
// comments. The name stands for the file in errors, which list every problem.
func ReadScores(r io.Reader, name string) (*Table, error) {
	p := scoreReader{name: name, seen: make(map[[3]string]int)}
	rest := &io.LimitedReader{R: r, N: maxScoresBytes + 1}
	input := csv.NewReader(rest)
	input.Comment, input.FieldsPerRecord, input.TrimLeadingSpace = '#', -1, true
	for {
		cells, err := input.Read()
		var wrong *csv.ParseError
		switch {
		case rest.N == 0:
			p.add(1, "got more than %d bytes, want at most %d", maxScoresBytes, maxScoresBytes)
			return p.end()
		case errors.Is(err, io.EOF):
			return p.end()
		case errors.As(err, &wrong):
			p.add(wrong.Line, "%v", wrong.Err)
			return p.end()
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := input.FieldPos(0)
		if p.at != nil {
			p.row(line, cells)
		} else if p.header(line, cells); len(p.problems) > 0 {
			return p.end()
		}
	}
}

// maxScoresBytes is the size of the largest file of scores: a device has no end.
const maxScoresBytes = 1 << 24

// BadScores is everything wrong with a file of scores, one problem a line.
type BadScores struct{ problems []string }

func (e *BadScores) Error() string {
	const shown = 10
	if more := len(e.problems) - shown; more > 0 {
		return fmt.Sprintf("%s\nand %d more problems", strings.Join(e.problems[:shown], "\n"), more)
	}
	return strings.Join(e.problems, "\n")
}

// scoreReader reads a file of scores, in the unit of the file.
type scoreReader struct {
	name     string
	problems []string
	prefix   string         // of the columns of scores: score, percent or share
	at       map[string]int // by column; nil before the header
	scores   []Score
	lines    []int             // of scores
	seen     map[[3]string]int // line by benchmark, model and metric
}

// add adds a problem on a line, 0 for the file as a whole.
func (p *scoreReader) add(line int, format string, args ...any) {
	place := p.name
	if line > 0 {
		place = fmt.Sprintf("%s:%d", p.name, line)
	}
	const most = 300 // of a message: a cell can hold the whole file
	text := []rune(fmt.Sprintf(format, args...))
	if len(text) > most {
		text = append(text[:most], '…')
	}
	p.problems = append(p.problems, place+": "+string(text))
}

func (p *scoreReader) header(line int, names []string) {
	p.at = make(map[string]int)
	names[0] = strings.TrimPrefix(names[0], "\ufeff") // of spreadsheets
	for i, name := range names {
		name = strings.ToLower(strings.TrimSpace(name))
		prefix, isA := strings.CutSuffix(name, "_a")
		prefix, isB := strings.CutSuffix(prefix, "_b")
		if (isA || isB) && slices.Contains([]string{"score", string(Percent), string(Share)}, prefix) {
			if p.prefix != "" && prefix != p.prefix {
				p.add(line, "got columns %s_… and %s_…, want one unit", p.prefix, prefix)
			}
			p.prefix = prefix
		} else if !slices.Contains(required, name) && !slices.Contains(optional, name) {
			p.add(line, "column %q is not known, want benchmark, score_a, n_a, score_b, n_b and perhaps %s",
				name, strings.Join(optional, ", "))
		}
		if _, twice := p.at[name]; twice {
			p.add(line, "got two columns %s, want one", name)
		}
		p.at[name] = i
	}
	if p.prefix == "" {
		p.prefix = "score"
	}
	for _, name := range append([]string{p.prefix + "_a", p.prefix + "_b"}, required...) {
		if _, has := p.at[name]; !has {
			p.add(line, "column %s is missing", name)
		}
	}
	for _, group := range [][]string{ofErrors, ofRuns} {
		of := 0
		for _, name := range group {
			if _, has := p.at[name]; has {
				of++
			}
		}
		if of != 0 && of != len(group) {
			p.add(line, "got %d of the columns %s, want all or none", of, strings.Join(group, ", "))
		}
	}
}

func (p *scoreReader) row(line int, cells []string) {
	if len(cells) != len(p.at) {
		p.add(line, "got %d cells, want %d", len(cells), len(p.at))
		return
	}
	cell := func(name string) string {
		if i, has := p.at[name]; has {
			return strings.TrimSpace(cells[i])
		}
		return ""
	}
	number := func(name string) float64 {
		x, err := strconv.ParseFloat(cell(name), 64)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			p.add(line, "%s: got %q, want a number", name, cell(name))
			return math.NaN()
		}
		return x
	}
	count := func(name, noun string, least int) int {
		n, err := strconv.Atoi(cell(name))
		if err != nil || n < least || n > 1e9 {
			p.add(line, "%s: got %q, want a number of %s, %d or more", name, cell(name), noun, least)
		}
		return n
	}
	s := Score{Benchmark: cell("benchmark"), Model: cell("model"), Metric: cell("metric"),
		A: number(p.prefix + "_a"), NA: count("n_a", "questions", 1), B: number(p.prefix + "_b"),
		NB: count("n_b", "questions", 1), SEA: math.NaN(), SEB: math.NaN()}
	if cell("se_a") != "" || cell("se_b") != "" {
		s.SEA, s.SEB = number("se_a"), number("se_b")
		if s.SEA <= 0 || s.SEB <= 0 {
			p.add(line, "se_a, se_b: got %q and %q, want standard errors > 0, or two empty cells",
				cell("se_a"), cell("se_b"))
		}
	}
	if slices.ContainsFunc(ofRuns, func(name string) bool { return cell(name) != "" }) {
		s.SDA, s.SDB = number("sd_a"), number("sd_b")
		s.RunsA, s.RunsB = count("runs_a", "runs", 2), count("runs_b", "runs", 2)
		if s.SDA < 0 || s.SDB < 0 {
			p.add(line, "sd_a, sd_b: got %q and %q, want deviations ≥ 0", cell("sd_a"), cell("sd_b"))
		}
		if !math.IsNaN(s.SEA) {
			p.add(line, "got standard errors and the scatter between runs, want one of them")
		}
	}
	if s.Benchmark == "" {
		p.add(line, "benchmark: got an empty cell, want a name")
	}
	key := [3]string{s.Benchmark, s.Model, s.Metric}
	if first, twice := p.seen[key]; twice {
		p.add(line, "got the benchmark, model and metric of line %d again", first)
	}
	p.seen[key] = line
	p.scores, p.lines = append(p.scores, s), append(p.lines, line)
}

// end returns the table, or what is wrong with it.
func (p *scoreReader) end() (*Table, error) {
	switch {
	case len(p.problems) > 0:
	case p.at == nil:
		p.add(0, "got no line, want a header with the columns benchmark, score_a, n_a, score_b and n_b")
	case len(p.scores) == 0:
		p.add(0, "got a header without rows")
	}
	if t := p.table(); len(p.problems) == 0 {
		return t, nil
	}
	return nil, &BadScores{p.problems}
}

// table returns the scores as shares, and adds a problem for each that is none.
func (p *scoreReader) table() *Table {
	t := &Table{Scores: p.scores, Unit: Unit(p.prefix)}
	if p.prefix == "score" {
		t.Unit = Share
		for _, s := range p.scores {
			if s.A > 1 || s.B > 1 {
				t.Unit = Percent
			}
		}
		read := "no score is above 1: all are read as shares (columns percent_a and percent_b declare percent)"
		if t.Unit == Percent {
			read = "a score is above 1: all are read as percent (columns percent_a and percent_b declare it)"
		}
		t.Notes = append(t.Notes, read)
	}
	whole := map[Unit]float64{Percent: 100, Share: 1}[t.Unit]
	for i := range t.Scores {
		s := &t.Scores[i]
		for k, x := range []float64{s.A, s.B} {
			if x < 0 || x > whole {
				p.add(p.lines[i], "%s_%c: got %g, want a %s from 0 to %g", p.prefix, 'a'+k, x, t.Unit, whole)
			}
		}
		for _, x := range []*float64{&s.A, &s.B, &s.SEA, &s.SEB, &s.SDA, &s.SDB} {
			*x /= whole
		}
	}
	return t
}
