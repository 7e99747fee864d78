package config

import (
	"fmt"
	"slices"

	"grposim/configs"
)

// Statement is a statement of the paper arXiv:2606.30789, an entry of
// configs/statements.yaml.
type Statement struct {
	ID          string    // 1 to 64 characters of a-z, 0-9 and -
	Where       string    // its place in the paper
	Says        string    // what it says, in our words
	Symbols     string    // its formula and definitions in the paper's letters; ""
	On          Ground    // the data on which it is judged
	Tested      string    // what is tested and how; "": nothing
	Instead     string    // what was found where it fails, one sentence; ""
	Readings    []Reading // how it can be read; empty: in one way
	Beside      []Reading // what is judged beside it and is not the paper's; it does not enter the outcome
	Choices     []Reading // values of a choice that the paper leaves open, each judged; empty: there is none
	NotTestable string    // why no check can test it; "" where one can
	Remark      string    // what else a reader should know; ""
}

// Ground is the data on which a statement is judged. Its zero value is our experiments:
// checks of configurations, which name the statement.
type Ground string

// Data that are not ours. What they say of a statement is computed by package sweeps.
const (
	OnPaperTable Ground = "paper-table" // Table 1 of the paper: configs/benchmarks.csv and configs/improvement.csv
	OnOtherRuns  Ground = "other-runs"  // public logs of GRPO runs of other language models: configs/fits.csv
)

// String returns the ground in words, such as "on other runs"; "" for our experiments.
func (g Ground) String() string {
	return map[Ground]string{OnPaperTable: "on the paper's own table", OnOtherRuns: "on other runs"}[g]
}

// grounds are the words of `on`.
var grounds = []string{string(OnPaperTable), string(OnOtherRuns)}

// Reading is a way to read a statement.
type Reading struct {
	Name  string // 1 to 64 characters of a-z, 0-9 and -
	Words string // what it means
}

// ReadingIndex returns the position of a reading in the table, those beside the statement last,
// −1 for "" and unknown ones.
func (s *Statement) ReadingIndex(name string) int {
	return slices.Index(append(namesOf(s.Readings), namesOf(s.Beside)...), name)
}

// ChoiceIndex returns the position of a choice in the table, −1 for "" and unknown ones.
func (s *Statement) ChoiceIndex(name string) int { return slices.Index(namesOf(s.Choices), name) }

// IsBeside reports whether a reading is not the paper's.
func (s *Statement) IsBeside(reading string) bool {
	return slices.Contains(namesOf(s.Beside), reading)
}

// namesOf lists the names of readings; nil where there are none.
func namesOf(readings []Reading) []string {
	var names []string
	for _, r := range readings {
		names = append(names, r.Name)
	}
	return names
}

// statementsFile is the path of the table of statements, for messages.
const statementsFile = "configs/statements.yaml"

// Statements lists the statements of the paper in the order of the table.
var Statements = func() []Statement {
	statements, problems := readStatements(configs.Statements)
	if len(problems) > 0 {
		panic("config: " + problems.Error()) // the table is embedded, and a test reads it
	}
	return statements
}()

// LookupStatement returns the statement with an id; known is false where there is none.
func LookupStatement(id string) (s Statement, known bool) {
	for _, s := range Statements {
		if s.ID == id {
			return s, true
		}
	}
	return Statement{}, false
}

// checkable lists the statements that a check can be about: those not on other data.
func checkable() []Statement {
	return slices.DeleteFunc(slices.Clone(Statements), func(s Statement) bool { return s.On != "" })
}

// statementIDs lists the ids of the statements that a check can be about.
func statementIDs() []string {
	var ids []string
	for _, s := range checkable() {
		ids = append(ids, s.ID)
	}
	return ids
}

// statementFields are the names in an entry of the table.
var statementFields = []string{"id", "where", "says", "symbols", "on", "tested", "instead", "readings", "beside", "choices", "not_testable", "remark"}

// readStatements reads a table of statements. Each has an id of its own, where, says and
// one of tested and not_testable.
func readStatements(data []byte) ([]Statement, Problems) {
	root, problems := parseYAML(statementsFile, "", data)
	l := newLoader(problems)
	if root == nil || root.kind != list {
		l.problem(place{source: statementsFile}, "", "got no list, want a list of statements")
		return nil, l.problems
	}
	var statements []Statement
	seen := map[string]bool{}
	for i, n := range root.items {
		path := fmt.Sprintf("[%d]", i)
		fields := l.fields(n, path, statementFields)
		text := func(name string) string {
			if f := fields[name]; f != nil {
				words, _ := l.prose(f, path+"."+name)
				return words
			}
			return ""
		}
		s := Statement{
			Where: text("where"), Says: text("says"), Symbols: text("symbols"), Tested: text("tested"),
			Instead: text("instead"), NotTestable: text("not_testable"), Remark: text("remark"),
		}
		if f := fields["id"]; f != nil {
			s.ID, _ = l.name(f, path+".id")
		}
		if f := fields["on"]; f != nil {
			ground, _ := l.word(f, path+".on", grounds)
			s.On = Ground(ground)
		}
		s.Readings = l.readings(fields["readings"], path+".readings")
		s.Beside = l.readings(fields["beside"], path+".beside")
		s.Choices = l.readings(fields["choices"], path+".choices")
		switch {
		case s.ID == "" || s.Where == "" || s.Says == "":
			l.problem(n.at, path, "got an incomplete statement, want id, where and says")
		case seen[s.ID]:
			l.problem(n.at, path+".id", "got %s again, want each id once", s.ID)
		case (s.Tested == "") == (s.NotTestable == ""):
			l.problem(n.at, path, "got %s, want one of tested and not_testable", s.ID)
		case s.On != "" && s.Tested == "":
			l.problem(n.at, path, "got %s with on, want tested", s.ID)
		}
		seen[s.ID] = true
		statements = append(statements, s)
	}
	return statements, l.problems
}

// readings decodes a mapping of names to words; nil where there is none.
func (l *loader) readings(n *node, path string) []Reading {
	if n == nil {
		return nil
	}
	if n.kind != mapping {
		l.want(n, path, "a mapping of names to words")
		return nil
	}
	var readings []Reading
	for _, r := range n.fields {
		words, _ := l.prose(r.value, path+"."+r.name)
		readings = append(readings, Reading{r.name, words})
	}
	return readings
}
