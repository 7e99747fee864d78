package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"grposim/sweeps/claim"
	"grposim/sweeps/config"
)

// Predicate returns the predicate of one statement as that of n, such as "fail" of two.
func Predicate(words string, n int) string {
	if n == 1 {
		return words
	}
	return strings.NewReplacer("holds", "hold", "depends", "depend", "fails", "fail").Replace(words)
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
// of statements on other data from these, in the order of config.Paper.
func Statements(verdicts []Verdict) []JudgedStatement {
	var statements []JudgedStatement
	for _, s := range config.Paper().Statements {
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

// StatementColumns are the columns of JudgedStatement.Cells.
var StatementColumns = []string{"statement", "where in the paper", "outcome", "facts by reading"}

// Cells returns a statement as the cells of a table for people. The outcome names its data, such as
// "fails, on other runs".
func (t *JudgedStatement) Cells() []string {
	outcome := strings.TrimSuffix(string(t.Outcome)+", "+t.On.String(), ", ")
	return []string{t.ID, t.Where, outcome, cmp.Or(strings.Join(t.Facts(), " · "), "–")}
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
		name, outcome := strings.Trim(r.Reading+", "+r.Choice, ", "), string(r.Outcome)
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
			names = config.AddNew(names, e.Experiment)
		}
	}
	return names
}

// VerdictCounts counts the verdicts about a statement.
type VerdictCounts struct {
	Support      int `json:"support"`      // the prediction held
	Contradict   int `json:"contradict"`   // the prediction failed
	Inconclusive int `json:"inconclusive"` // the verdict decides nothing
	OutOfScope   int `json:"out_of_scope"` // the prediction does not apply to the cells
	NoEvidence   int `json:"no_evidence"`  // the prediction held, and one wrong by half would have
}

func (t *VerdictCounts) add(v *Verdict) {
	switch v.Verdict {
	case Inconclusive:
		t.Inconclusive++
	case OutOfScope:
		t.OutOfScope++
	default:
		held := (v.Verdict == Agree) == (v.Expect == config.Holds)
		if held && !v.SmallestFault.isEvidence() {
			t.NoEvidence++
			return
		}
		t.count(held, !held)
	}
}

// count counts a fact that is for the statement, against it, or undecided.
func (t *VerdictCounts) count(support, contradict bool) {
	switch {
	case support:
		t.Support++
	case contradict:
		t.Contradict++
	default:
		t.Inconclusive++
	}
}

// String returns the counts that are not 0, such as "6 for, 2 against".
func (t VerdictCounts) String() string {
	return joinCounts([]counted{{t.Support, "for"}, {t.Contradict, "against"},
		{t.Inconclusive, "inconclusive"}, {t.OutOfScope, "out of scope"}, {t.NoEvidence, "no evidence"}})
}

// Fact returns the one fact that verdicts of one claim in one variant are: against if one of them
// is, else for if one is.
func (t VerdictCounts) Fact() VerdictCounts {
	switch {
	case t.Contradict > 0:
		return VerdictCounts{Contradict: 1}
	case t.Support > 0:
		return VerdictCounts{Support: 1}
	case t.NoEvidence > 0:
		return VerdictCounts{NoEvidence: 1}
	case t.Inconclusive > 0:
		return VerdictCounts{Inconclusive: 1}
	}
	return VerdictCounts{OutOfScope: 1}
}

// Plus returns the sum of two counts.
func (t VerdictCounts) Plus(u VerdictCounts) VerdictCounts {
	return VerdictCounts{t.Support + u.Support, t.Contradict + u.Contradict,
		t.Inconclusive + u.Inconclusive, t.OutOfScope + u.OutOfScope, t.NoEvidence + u.NoEvidence}
}

// Fact is a fact about a reading: what one claim says in one variant, in verdicts that
// differ by their cells and quantities only.
type Fact struct {
	Experiment string        `json:"experiment"` // name of the configuration
	Claim      string        `json:"claim"`      // name of the claim
	Variant    string        `json:"variant"`    // variant of the cells; ""
	Regime     config.Regime `json:"regime"`     // in the statement's limit, or beyond
	Counts     VerdictCounts `json:"verdicts"`   // their counts
	// in how many bandits the statement holds, where verdicts count them
	Bandits claim.Tally `json:"bandits,omitzero"`

	Measurements int `json:"measurements"` // independent ones behind them: see Summary

	measured map[measurement]bool
}

// JudgedReading is the outcome of one reading of a statement, at one of its choices.
type JudgedReading struct {
	Reading string `json:"reading"` // its name in the table; "" if the statement has one reading only
	// its name in the table; "" if the statement has none
	Choice string `json:"choice,omitempty"`
	// whether it is not the paper's, and does not enter the outcome
	Beside bool `json:"beside,omitempty"`
	// StatementUndecided where no verdict is about it
	Outcome StatementOutcome `json:"outcome"`
	Limit   VerdictCounts    `json:"limit"`  // verdicts where the statement claims to hold
	Beyond  VerdictCounts    `json:"beyond"` // verdicts elsewhere
	// bandits with rewards of ours in which the statement holds, in the limit; their verdicts are not
	// in Limit
	Bandits  claim.Tally `json:"bandits,omitzero"`
	Evidence []Fact      `json:"evidence"` // the facts, in the order of their verdicts

	LimitFacts  VerdictCounts `json:"limit_facts"`     // facts where the statement claims to hold
	BeyondFacts VerdictCounts `json:"beyond_facts"`    // facts elsewhere
	Found       string        `json:"found,omitempty"` // what data that are not ours say, in words; ""
}

// outcome returns the outcome of a reading. The paper does not state its rewards: single bandits do
// not decide what holds in some of several.
func (r *JudgedReading) outcome() StatementOutcome {
	bandits := r.Bandits
	switch {
	case bandits.Holds > 0 && bandits.Holds < bandits.Of:
		return StatementDepends
	case r.Limit.Contradict > 0 || bandits.Of > 0 && bandits.Holds == 0:
		return StatementFails
	case r.Limit.Support+bandits.Of == 0 &&
		(r.Limit.Inconclusive+r.Limit.NoEvidence > 0 || r.Beyond.Support == 0 || r.Beyond.Contradict > 0):
		return StatementUndecided
	case r.Beyond.Contradict > 0:
		return StatementLeadingOrder
	}
	return StatementHolds
}

// StatementOutcome is the outcome of a statement of the paper, or of one of its readings.
type StatementOutcome string

// The outcomes. A verdict supports a statement if the prediction held, and contradicts
// it if the prediction failed, whichever the check expected. Verdicts that are
// inconclusive, out of scope or no evidence do not count: those that agree, but would have
// agreed with a prediction that is wrong by half as well (SmallestFault).
const (
	// every decided verdict supports it
	StatementHolds StatementOutcome = "holds"
	// in its limit every decided verdict supports it; one beyond contradicts it
	StatementLeadingOrder StatementOutcome = "holds to leading order"
	// holds, fully or to leading order, in one reading and not in another
	StatementInAReading StatementOutcome = "holds in a reading"
	// holds for some of the rewards, or choices, that the paper leaves open, and fails for others
	StatementDepends StatementOutcome = "depends on what the paper does not state"
	// in every reading a verdict in its limit contradicts it, or it holds in no tried bandit
	StatementFails StatementOutcome = "fails"
	// no check can test it, for the reason in the table
	StatementNotTestable StatementOutcome = "not testable here"
	// a verdict that the outcome needs is missing
	StatementUndecided StatementOutcome = "undecided"
)
