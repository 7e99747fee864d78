package judge

import (
	"strings"

	"grposim/sweeps/claim"
	"grposim/sweeps/config"
)

// VerdictCounts counts the verdicts about a statement.
type VerdictCounts struct {
	Support      int `json:"support"`      // the prediction held
	Contradict   int `json:"contradict"`   // the prediction failed
	Inconclusive int `json:"inconclusive"` // the verdict decides nothing
	OutOfScope   int `json:"out_of_scope"` // the prediction does not apply to the cells
	NoEvidence   int `json:"no_evidence"`  // the prediction held, and one wrong by half would have
}

// add counts a verdict.
func (t *VerdictCounts) add(v *Verdict) {
	switch v.Verdict {
	case Inconclusive:
		t.Inconclusive++
	case OutOfScope:
		t.OutOfScope++
	default:
		switch held := (v.Verdict == Agree) == (v.Expect == config.Holds); {
		case held && !v.SmallestFault.isEvidence():
			t.NoEvidence++
		case held:
			t.Support++
		default:
			t.Contradict++
		}
	}
}

// String returns the counts that are not 0, such as "6 for, 2 against".
func (t VerdictCounts) String() string {
	return joinCounts([]counted{
		{t.Support, "for"}, {t.Contradict, "against"}, {t.Inconclusive, "inconclusive"},
		{t.OutOfScope, "out of scope"}, {t.NoEvidence, "no evidence"},
	})
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
	// its name in the table; "" if the statement has one reading only
	Reading string `json:"reading"`
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

// name returns the reading and the choice in words, "" where there is neither.
func (r *JudgedReading) name() string {
	return strings.Trim(r.Reading+", "+r.Choice, ", ")
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
