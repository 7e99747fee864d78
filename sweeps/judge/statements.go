package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"grposim/sweeps/config"
)

// StatementOutcomes lists the outcomes in the order of reports.
var StatementOutcomes = []StatementOutcome{StatementHolds, StatementLeadingOrder,
	StatementInAReading, StatementDepends, StatementFails, StatementNotTestable, StatementUndecided}

// Words returns the outcome as the predicate of n statements, such as "fail" of two.
func (o StatementOutcome) Words(n int) string {
	if n == 1 {
		return string(o)
	}
	plural := strings.NewReplacer("holds", "hold", "depends", "depend", "fails", "fail")
	return plural.Replace(string(o))
}

// JudgedStatement is a statement of the paper with its outcome.
type JudgedStatement struct {
	Statement config.Statement `json:"-"`
	ID        string           `json:"id"`      // of the statement
	Where     string           `json:"where"`   // its place in the paper
	Says      string           `json:"says"`    // what it says, in our words
	Outcome   StatementOutcome `json:"outcome"` // computed from the readings
	// those that verdicts are about, in the order of the table
	Readings    []JudgedReading `json:"readings"`
	NotTestable string          `json:"not_testable"` // why no check can test it; ""
	// the data on which it is judged, if not our experiments
	On config.Ground `json:"on,omitempty"`
	// the largest of its verdicts from both sides that are evidence; nil: none has one
	SmallestFault *SmallestFault `json:"smallest_fault"`
	// the smallest of its verdicts about bounds; nil: none is
	TightestBound *SmallestFault `json:"tightest_bound"`
}

// Statements computes the outcomes of the paper's statements from verdicts, and those
// of statements on other data from these, in the order of config.Statements.
func Statements(verdicts []Verdict) []JudgedStatement {
	var statements []JudgedStatement
	for _, s := range config.Statements {
		t := JudgedStatement{Statement: s, ID: s.ID, Where: s.Where, Says: s.Says,
			NotTestable: s.NotTestable, On: s.On, Readings: []JudgedReading{}}
		for i := range verdicts {
			if v := &verdicts[i]; v.About != nil && v.About.Statement == s.ID {
				t.add(v)
			}
		}
		t.Readings = append(t.Readings, onData()[s.ID]...)
		slices.SortStableFunc(t.Readings, func(a, b JudgedReading) int {
			return cmp.Or(s.ReadingIndex(a.Reading)-s.ReadingIndex(b.Reading),
				s.ChoiceIndex(a.Choice)-s.ChoiceIndex(b.Choice))
		})
		for i := range t.Readings {
			r := &t.Readings[i]
			for n := range r.Evidence {
				e := &r.Evidence[n]
				e.Measurements = len(e.measured)
				switch {
				case e.Regime == config.Beyond:
					r.BeyondFacts = r.BeyondFacts.Plus(e.Counts.Fact())
				case e.Bandits.Of == 0: // else the bandits are counted
					r.LimitFacts = r.LimitFacts.Plus(e.Counts.Fact())
				}
			}
			r.Outcome = r.outcome()
		}
		t.Outcome = t.outcome()
		statements = append(statements, t)
	}
	return statements
}

// add counts a verdict about the statement.
func (t *JudgedStatement) add(v *Verdict) {
	i := slices.IndexFunc(t.Readings,
		func(r JudgedReading) bool { return r.Reading == v.About.Reading && r.Choice == v.About.Choice })
	if i < 0 {
		i = len(t.Readings)
		t.Readings = append(t.Readings, JudgedReading{Reading: v.About.Reading, Choice: v.About.Choice,
			Beside: t.Statement.IsBeside(v.About.Reading)})
	}
	r := &t.Readings[i]
	counted := v.Bandits != nil && (v.Verdict == Agree || v.Verdict == Disagree)
	switch {
	case v.About.Regime == config.Beyond:
		r.Beyond.add(v)
	case counted:
		r.Bandits.Add(v.Bandits)
	default:
		r.Limit.add(v)
	}
	source := Fact{Experiment: v.Experiment, Claim: v.Claim, Variant: v.Variant,
		Regime: v.About.Regime}
	n := slices.IndexFunc(r.Evidence, func(e Fact) bool {
		return e.Experiment == source.Experiment && e.Claim == source.Claim &&
			e.Variant == source.Variant && e.Regime == source.Regime
	})
	if n < 0 {
		n = len(r.Evidence)
		source.measured = make(map[measurement]bool)
		r.Evidence = append(r.Evidence, source)
	}
	r.Evidence[n].Counts.add(v)
	if counted {
		r.Evidence[n].Bandits.Add(v.Bandits)
	}
	if v.Verdict != OutOfScope {
		for _, m := range v.measurements() {
			r.Evidence[n].measured[m] = true
		}
	}
	switch f := v.SmallestFault; {
	case f == nil || !f.isEvidence():
	case f.Bound && (t.TightestBound == nil || f.Percent < t.TightestBound.Percent):
		t.TightestBound = f
	case !f.Bound && (t.SmallestFault == nil || f.Percent > t.SmallestFault.Percent):
		t.SmallestFault = f
	}
}

// readings returns the outcome of every reading of the paper's, which depends on a choice
// where its outcomes at several differ.
func (t *JudgedStatement) readings() map[string]StatementOutcome {
	outcomes := make(map[string]StatementOutcome)
	for _, r := range t.Readings {
		switch other, known := outcomes[r.Reading]; {
		case r.Beside:
		case known && other != r.Outcome:
			outcomes[r.Reading] = StatementDepends
		default:
			outcomes[r.Reading] = r.Outcome
		}
	}
	return outcomes
}

// outcome returns the outcome of a statement from those of its readings.
func (t *JudgedStatement) outcome() StatementOutcome {
	count := make(map[StatementOutcome]int)
	readings := t.readings()
	for _, outcome := range readings {
		count[outcome]++
	}
	switch all := len(readings); {
	case all == 0 && t.NotTestable != "":
		return StatementNotTestable
	case count[StatementFails]+count[StatementDepends] > 0 &&
		count[StatementHolds]+count[StatementLeadingOrder] > 0:
		return StatementInAReading
	case all == 0 || count[StatementUndecided] > 0:
		return StatementUndecided
	case count[StatementDepends] > 0:
		return StatementDepends
	case count[StatementFails] == all:
		return StatementFails
	case count[StatementHolds] == all:
		return StatementHolds
	}
	return StatementLeadingOrder
}

// DecidedStatements returns the outcomes of the statements that verdicts are about, of those on
// other data, and of those that cannot be tested. It is nil for verdicts of a single experiment,
// which alone decides no statement, and where none is about one.
func DecidedStatements(verdicts []Verdict) []JudgedStatement {
	judged := func(t JudgedStatement) bool { return len(t.Readings) > 0 && t.On == "" }
	statements := Statements(verdicts)
	several := slices.ContainsFunc(verdicts,
		func(v Verdict) bool { return v.Experiment != verdicts[0].Experiment })
	if !several || !slices.ContainsFunc(statements, judged) {
		return nil
	}
	return slices.DeleteFunc(statements,
		func(t JudgedStatement) bool { return !judged(t) && t.NotTestable == "" && t.On == "" })
}

// Headline counts statements by their outcomes in one line, those on data that are not ours apart.
func Headline(statements []JudgedStatement) string {
	var parts []string
	for _, ground := range []config.Ground{"", config.OnPaperTable, config.OnOtherRuns} {
		var counts []counted
		for _, s := range StatementOutcomes {
			n := 0
			for _, t := range statements {
				if t.Outcome == s && t.On == ground {
					n++
				}
			}
			counts = append(counts, counted{n, s.Words(n)})
		}
		if line := joinCounts(counts); line != "" {
			parts = append(parts, strings.TrimPrefix(ground.String()+" ", " ")+line)
		}
	}
	return fmt.Sprintf("%d statements of the paper: %s", len(statements), strings.Join(parts, "; "))
}

// verdict returns the outcome with the data that it is on, such as "fails, on other runs".
func (t *JudgedStatement) verdict() string {
	return strings.TrimSuffix(string(t.Outcome)+", "+t.On.String(), ", ")
}

// StatementColumns are the columns of JudgedStatement.Cells.
var StatementColumns = []string{"statement", "where in the paper", "outcome", "facts by reading"}

// Cells returns a statement as the columns of a table for people.
func (t *JudgedStatement) Cells() []string {
	return []string{t.ID, t.Where, t.verdict(), cmp.Or(strings.Join(t.Facts(), " · "), "–")}
}

// Facts returns the facts about each reading in words. Of a statement without verdicts it says why
// it cannot be tested; nil if that is not known.
func (t *JudgedStatement) Facts() []string {
	if len(t.Readings) == 0 && t.NotTestable != "" {
		return []string{t.NotTestable}
	}
	var facts []string
	for _, r := range t.Readings {
		part := r.LimitFacts.String()
		if r.Bandits.Of > 0 {
			part = strings.TrimPrefix(fmt.Sprintf("%s, holds in %d of %d bandits", part, r.Bandits.Holds,
				r.Bandits.Of), ", ")
		}
		if beyond := r.BeyondFacts.String(); beyond != "" {
			part = strings.TrimPrefix(part+"; beyond: "+beyond, "; ")
		}
		if r.Found != "" {
			part = r.Found
		}
		name, outcome := r.name(), string(r.Outcome)
		if r.Outcome == StatementDepends {
			outcome = "depends on the rewards"
		}
		if r.Beside {
			name += " (beside)"
		}
		switch {
		case name == "":
		case len(t.Readings) == 1:
			part = name + ": " + part
		default:
			part = fmt.Sprintf("%s %s: %s", name, outcome, part)
		}
		facts = append(facts, part)
	}
	return facts
}

// Experiments returns the names of the experiments whose verdicts are about the statement,
// each once, in the order of its readings.
func (t *JudgedStatement) Experiments() []string {
	var names []string
	for _, r := range t.Readings {
		for _, e := range r.Evidence {
			if !slices.Contains(names, e.Experiment) {
				names = append(names, e.Experiment)
			}
		}
	}
	return names
}
