package config

import (
	"encoding/json"
	"slices"

	"gopkg.in/yaml.v3"

	"grposim/configs"
)

// Statement is a statement of the paper arXiv:2606.30789, an entry of configs/statements.yaml.
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
	// public logs of GRPO runs of other language models: configs/statements-fits.yaml
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
	return Each(readings, func(r Reading) string { return r.Name })
}

// UnmarshalYAML reads a mapping of names to words, in its order.
func (r *Readings) UnmarshalYAML(n *yaml.Node) error {
	for i := 0; i < len(n.Content); i += 2 {
		*r = append(*r, Reading{n.Content[i].Value, n.Content[i+1].Value})
	}
	return nil
}

// Paper returns what the paper says and shows, in the order of its table.
var Paper = LazyTable[struct {
	Statements []Statement
	Figures    []PaperFigure
}]("configs/statements.yaml", configs.Statements)

// PaperFigure is a figure of the paper and what is laid beside it, an entry of the same file.
type PaperFigure struct {
	Figure, Claims       string   // its number in the paper, and what its caption claims, in our words
	Statements, Pictures []string // ids of what it illustrates, and names of figures of Experiment
	Experiment, Found    string   // Found says in one sentence what agrees and what does not
}

// LookupStatement returns the statement with an id; known is false where there is none.
func LookupStatement(id string) (s Statement, known bool) {
	statements := Paper().Statements
	i := slices.IndexFunc(statements, func(s Statement) bool { return s.ID == id })
	if i < 0 {
		return Statement{}, false
	}
	return statements[i], true
}

// checkable lists the statements that a check can be about: those not on other data.
func checkable() []Statement {
	return slices.DeleteFunc(slices.Clone(Paper().Statements), func(s Statement) bool { return s.On != "" })
}

// statementIDs lists the ids of the statements that a check can be about.
func statementIDs() []string { return Each(checkable(), func(s Statement) string { return s.ID }) }

// About says what a check is about. It changes neither cells nor verdicts; outcomes of
// statements are counted by it.
type About struct {
	Kind AboutKind `json:"-"` // what is tested
	// one of the statement's choices; "" where it has none
	Choice string `json:"choice,omitempty"`
	// one of the statement's readings, or of those beside it; "" where it has none
	Reading string `json:"reading,omitempty"`
	// where in the statement's range the judged cells lie; "" unless Kind is AboutStatement
	Regime    Regime `json:"regime"`
	Statement string `json:"statement"` // id of an entry of Statements; "" unless AboutStatement
}

// AboutKind names the subject of a check.
type AboutKind string

const (
	// a prediction of the theory against a simulation with sampling or a search
	AboutTheory AboutKind = "exact-theory"
	// two codes, written independently, that compute the same deterministic number
	AboutCode      AboutKind = "code"
	AboutStatement AboutKind = "statement" // a statement of the paper
)

// Regime is a part of the range of a statement.
type Regime string

const (
	// where the statement claims to hold: asymptotically, or in the place that the paper names
	Limit  Regime = "limit"
	Beyond Regime = "beyond" // outside of it, where a statement to leading order may fail
)

// aboutKinds and regimes are the words of a check's `about`.
var (
	aboutKinds = []string{string(AboutTheory), string(AboutCode)}
	regimes    = []string{string(Limit), string(Beyond)}
)

type aboutStatement About

// MarshalJSON writes what the check is about as in a configuration.
func (a *About) MarshalJSON() ([]byte, error) {
	if a.Kind != AboutStatement {
		return json.Marshal(a.Kind)
	}
	return json.Marshal((*aboutStatement)(a))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (a *About) UnmarshalJSON(data []byte) error {
	*a = About{}
	if data[0] == '"' {
		return json.Unmarshal(data, &a.Kind)
	}
	a.Kind = AboutStatement
	return json.Unmarshal(data, (*aboutStatement)(a))
}

// about decodes a check's `about`; nil where it has a problem.
func (rd *reader) about(n *node, path string) *About {
	if n.kind != mapping {
		if !n.isScalar() || !slices.Contains(aboutKinds, n.text) {
			rd.want(n, path, "exact-theory, code or {statement: ID}"+DidYouMean(n.text, aboutKinds))
			return nil
		}
		return &About{Kind: AboutKind(n.text)}
	}
	a := &About{Kind: AboutStatement, Regime: Limit}
	for _, f := range n.fields {
		if f.name == "statement" && slices.Contains(statementIDs(), f.value.text) {
			a.Statement = f.value.text
		}
	}
	if fields, _ := rd.record(n, path, a.parts()...); fields["statement"] == nil || a.Statement == "" {
		return nil
	}
	return a
}

// parts are the keys of `about` for checks about the statement.
func (a *About) parts() []part {
	s, _ := LookupStatement(a.Statement)
	name := func(key string, words, required []string, to *string) part {
		p := wordPart(key, words, to)
		p.optional = required == nil
		switch {
		case s.ID == "": // no other problem follows from it
			p.optional, p.to = true, nil
		case words == nil:
			p.refused = "no " + key + ", because " + s.ID + " has none"
		}
		return p
	}
	readings, choices := namesOf(s.Readings), namesOf(s.Choices)
	return []part{
		wordPart("statement", statementIDs(), &a.Statement),
		name("reading", slices.Concat(readings, namesOf(s.Beside)), readings, &a.Reading),
		name("choice", choices, choices, &a.Choice),
		wordPart("regime", regimes, &a.Regime).orNot(),
	}
}
