package config

import (
	"slices"

	"gopkg.in/yaml.v3"

	"grposim/configs"
)

// Statement is a statement of the paper arXiv:2606.30789, an entry of
// configs/statements.yaml.
type Statement struct {
	ID       string   // 1 to 64 characters of a-z, 0-9 and -
	Where    string   // its place in the paper
	Says     string   // what it says, in our words
	Symbols  string   // its formula and definitions in the paper's letters; ""
	On       Ground   // the data on which it is judged
	Tested   string   // what is tested and how; "": nothing
	Instead  string   // what was found where it fails, one sentence; ""
	Readings Readings // how it can be read; empty: in one way
	// what is judged beside it and is not the paper's; it does not enter the outcome
	Beside Readings
	// values of a choice that the paper leaves open, each judged; empty: there is none
	Choices     Readings
	NotTestable string `yaml:"not_testable"` // why no check can test it; "" where one can
	Remark      string // what else a reader should know; ""
}

// Ground is the data on which a statement is judged. Its zero value is our experiments:
// checks of configurations, which name the statement.
type Ground string

// Data that are not ours. What they say of a statement is computed by package sweeps.
const (
	// Table 1 of the paper: configs/benchmarks.csv and configs/improvement.csv
	OnPaperTable Ground = "paper-table"
	// public logs of GRPO runs of other language models: configs/fits.csv
	OnOtherRuns Ground = "other-runs"
)

// String returns the ground in words, such as "on other runs"; "" for our experiments.
func (g Ground) String() string {
	return map[Ground]string{OnPaperTable: "on the paper's own table", OnOtherRuns: "on other runs"}[g]
}

// Reading is a way to read a statement.
type Reading struct {
	Name  string // 1 to 64 characters of a-z, 0-9 and -
	Words string // what it means
}

// Readings are readings in the order of the table.
type Readings []Reading

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
	return each(readings, func(r Reading) string { return r.Name })
}

// UnmarshalYAML reads a mapping of names to words, in its order.
func (r *Readings) UnmarshalYAML(n *yaml.Node) error {
	for i := 0; i < len(n.Content); i += 2 {
		*r = append(*r, Reading{n.Content[i].Value, n.Content[i+1].Value})
	}
	return nil
}

// Statements lists the statements of the paper in the order of the embedded table.
var Statements = decodeTable[[]Statement]("configs/statements.yaml", configs.Statements)

// LookupStatement returns the statement with an id; known is false where there is none.
func LookupStatement(id string) (s Statement, known bool) {
	i := slices.IndexFunc(Statements, func(s Statement) bool { return s.ID == id })
	if i < 0 {
		return Statement{}, false
	}
	return Statements[i], true
}

// checkable lists the statements that a check can be about: those not on other data.
func checkable() []Statement {
	return slices.DeleteFunc(slices.Clone(Statements), func(s Statement) bool { return s.On != "" })
}

// statementIDs lists the ids of the statements that a check can be about.
func statementIDs() []string { return each(checkable(), func(s Statement) string { return s.ID }) }
