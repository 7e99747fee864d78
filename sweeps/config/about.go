package config

import (
	"encoding/json"
	"slices"
)

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
			rd.want(n, path, "exact-theory, code or {statement: ID}"+didYouMean(n.text, aboutKinds))
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
		p := part{Key: Key{Path: key, Kind: WordValue, Words: words}, optional: required == nil, to: to}
		switch {
		case s.ID == "": // no other problem follows from it
			p.optional, p.to = true, nil
		case words == nil:
			p.refused = "no " + key + ", because " + s.ID + " has none"
		}
		return p
	}
	return []part{
		{Key: Key{Path: "statement", Kind: WordValue, Words: statementIDs()}, to: &a.Statement},
		name("reading", append(namesOf(s.Readings), namesOf(s.Beside)...), namesOf(s.Readings), &a.Reading),
		name("choice", namesOf(s.Choices), namesOf(s.Choices), &a.Choice),
		{Key: Key{Path: "regime", Kind: WordValue, Words: regimes}, optional: true, to: &a.Regime},
	}
}
