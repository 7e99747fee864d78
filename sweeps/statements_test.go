package sweeps

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"grposim/sweeps/config"
)

// about returns a verdict about a statement: for it, against it, inconclusive or out of
// scope, each once by a check that expects the prediction to hold and once by one that
// expects it to fail.
func about(statement, reading string, regime config.Regime, word string) Verdict {
	v := Verdict{
		Expect: config.Holds, Experiment: "x", Claim: "relaxation", Cell: statement + reading + word, Estimate: "rate",
		About: &config.About{Kind: config.AboutStatement, Statement: statement, Reading: reading, Regime: regime},
	}
	switch word {
	case "for":
		v.Verdict = Agree
	case "against":
		v.Verdict = Disagree
	case "refuted":
		v.Expect, v.Verdict = config.Fails, Agree
	case "not refuted":
		v.Expect, v.Verdict = config.Fails, Disagree
	case "inconclusive":
		v.Verdict = Inconclusive
	case "out of scope":
		v.Verdict = OutOfScope
	}
	return v
}

// Each rule of outcomes, on a statement with readings (damping-ratio) and on one that no
// check can test. A verdict is written "reading regime: word".
func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		verdicts string
		want     StatementOutcome
	}{
		{"", StatementUndecided},
		{"block limit: for", StatementHolds},
		{"block limit: not refuted", StatementHolds},
		{"block limit: for, whole-gradient limit: for", StatementHolds},
		{"block limit: for, block beyond: for", StatementHolds},
		{"block limit: for, block limit: inconclusive, block limit: out of scope", StatementHolds},
		{"block limit: for, block beyond: refuted", StatementLeadingOrder},
		{"block limit: for, block beyond: for, block beyond: against", StatementLeadingOrder},
		{"block limit: for, block beyond: refuted, whole-gradient limit: for", StatementLeadingOrder},
		{"block limit: refuted, whole-gradient limit: for", StatementInAReading},
		{"block limit: refuted, whole-gradient limit: for, whole-gradient beyond: refuted", StatementInAReading},
		{"block limit: refuted", StatementFails},
		{"block limit: for, block limit: against", StatementFails}, // one counterexample in the limit
		{"block limit: refuted, whole-gradient limit: against", StatementFails},
		{"block limit: inconclusive", StatementUndecided},
		{"block limit: out of scope", StatementUndecided},
		{"block beyond: refuted", StatementUndecided}, // nothing is known of the limit
		{"block beyond: for", StatementHolds},
		{"block limit: inconclusive, block beyond: for", StatementUndecided},
		{"block limit: refuted, whole-gradient limit: inconclusive", StatementUndecided},
		{"block limit: for, whole-gradient limit: inconclusive", StatementUndecided},
		{"block limit: refuted, whole-gradient limit: for", StatementInAReading},
	} {
		var verdicts []Verdict
		if c.verdicts != "" {
			for _, text := range strings.Split(c.verdicts, ", ") {
				place, word, _ := strings.Cut(text, ": ")
				reading, regime, _ := strings.Cut(place, " ")
				verdicts = append(verdicts, about("damping-ratio", reading, config.Regime(regime), word))
			}
		}
		for _, statement := range JudgeStatements(verdicts) {
			want := StatementUndecided
			switch {
			case statement.ID == "damping-ratio":
				want = c.want
			case statement.Statement.NotTestable != "":
				want = StatementNotTestable
			}
			if statement.Outcome != want {
				t.Errorf("%q: %s %s, want %s", c.verdicts, statement.ID, statement.Outcome, want)
			}
		}
	}
}

// A statement about a bandit whose rewards are not known depends on them if it holds in some
// bandits and fails in others, whatever single bandits say; one with choices depends on them
// if its outcomes at several differ. What stands beside a statement decides nothing.
func TestOutcomesOfWhatIsOpen(t *testing.T) {
	verdict := func(statement, reading, choice, word string, bandits *Tally) Verdict {
		v := about(statement, reading, config.Limit, word)
		v.About.Choice, v.Bandits = choice, bandits
		return v
	}
	const linear, log = "linear-axis", "log-axis"
	for _, c := range []struct {
		name     string
		verdicts []Verdict
		want     StatementOutcome
	}{
		{"no bandit", []Verdict{verdict("persistent-ringing", "as-written", "", "refuted", &Tally{0, 9})}, StatementFails},
		{"some", []Verdict{verdict("persistent-ringing", "as-written", "", "refuted", &Tally{0, 9}), verdict("persistent-ringing", "as-written", "", "refuted", &Tally{2, 9})}, StatementDepends},
		{"some, a single one against", []Verdict{verdict("persistent-ringing", "as-written", "", "refuted", &Tally{2, 9}), verdict("persistent-ringing", "as-written", "", "against", nil)}, StatementDepends},
		{"all", []Verdict{verdict("persistent-ringing", "as-written", "", "for", &Tally{9, 9})}, StatementHolds},
		{"all, a single one against", []Verdict{verdict("persistent-ringing", "as-written", "", "for", &Tally{9, 9}), verdict("persistent-ringing", "as-written", "", "against", nil)}, StatementFails},
		{"not decided", []Verdict{verdict("persistent-ringing", "as-written", "", "inconclusive", &Tally{2, 9})}, StatementUndecided},
		{"all in one reading, some in another", []Verdict{verdict("persistent-ringing", "as-written", "", "for", &Tally{9, 9}), verdict("persistent-ringing", "reward-stale", "", "refuted", &Tally{2, 9})}, StatementInAReading},
		{"none in one reading, some in another", []Verdict{verdict("persistent-ringing", "as-written", "", "refuted", &Tally{0, 9}), verdict("persistent-ringing", "reward-stale", "", "refuted", &Tally{2, 9})}, StatementDepends},
		{"both choices", []Verdict{verdict("gap-narrows", "as-written", linear, "for", nil), verdict("gap-narrows", "as-written", log, "for", nil)}, StatementHolds},
		{"one choice", []Verdict{verdict("gap-narrows", "as-written", linear, "for", nil), verdict("gap-narrows", "as-written", log, "refuted", nil)}, StatementDepends},
		{"one choice, another reading", []Verdict{verdict("gap-narrows", "as-written", linear, "for", nil), verdict("gap-narrows", "as-written", log, "refuted", nil), verdict("gap-narrows", "reward-stale", log, "for", nil)}, StatementInAReading},
		{"beside alone", []Verdict{verdict("one-dimension", "two-arms", "", "for", nil)}, StatementUndecided},
		{"beside", []Verdict{verdict("one-dimension", "two-arms", "", "for", nil), verdict("one-dimension", "", "", "refuted", nil)}, StatementFails},
	} {
		statements := JudgeStatements(c.verdicts)
		id := c.verdicts[0].About.Statement
		if got := statements[slices.IndexFunc(statements, func(s JudgedStatement) bool { return s.ID == id })].Outcome; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	statements := JudgeStatements([]Verdict{verdict("persistent-ringing", "reward-stale", "", "refuted", &Tally{2, 9}), verdict("persistent-ringing", "as-written", "", "refuted", &Tally{0, 9})})
	statement := statements[slices.IndexFunc(statements, func(s JudgedStatement) bool { return s.ID == "persistent-ringing" })]
	if got, want := statement.Cells()[3], "as-written fails: holds in 0 of 9 bandits · reward-stale depends on the rewards: holds in 2 of 9 bandits"; got != want {
		t.Errorf("verdicts %q, want %q", got, want)
	}
}

// A statement names its verdicts by claim and variant, in the order of the table's readings,
// and the largest of their smallest faults.
func TestStatementEvidence(t *testing.T) {
	block, whole := about("damping-ratio", "block", config.Limit, "refuted"), about("damping-ratio", "whole-gradient", config.Limit, "for")
	whole.Variant, whole.SmallestFault = "v", &SmallestFault{"stiffness", 2}
	again := whole
	again.SmallestFault = &SmallestFault{"noise", 3}
	ours := Verdict{Verdict: Disagree, About: &config.About{Kind: config.AboutTheory}}
	statements := JudgeStatements([]Verdict{block, whole, again, ours})
	statement := statements[slices.IndexFunc(statements, func(t JudgedStatement) bool { return t.ID == "damping-ratio" })]
	want := []JudgedReading{
		{Reading: "whole-gradient", Outcome: StatementHolds, Limit: VerdictCounts{Support: 2}, Evidence: []Evidence{{"x", "relaxation", "v", config.Limit, VerdictCounts{Support: 2}, Tally{}}}},
		{Reading: "block", Outcome: StatementFails, Limit: VerdictCounts{Contradict: 1}, Evidence: []Evidence{{"x", "relaxation", "", config.Limit, VerdictCounts{Contradict: 1}, Tally{}}}},
	}
	if diff := cmp.Diff(want, statement.Readings); diff != "" {
		t.Error(diff)
	}
	if statement.SmallestFault == nil || *statement.SmallestFault != (SmallestFault{"noise", 3}) {
		t.Errorf("smallest fault %v, want 3 %% of noise", statement.SmallestFault)
	}
	if got, want := statement.Cells()[3], "whole-gradient holds: 2 for · block fails: 1 against"; got != want {
		t.Errorf("verdicts %q, want %q", got, want)
	}
	if got, want := Headline([]JudgedStatement{statement, {Outcome: StatementHolds}, {Outcome: StatementFails}, {Outcome: StatementFails}}),
		"4 statements of the paper: 1 hold, 1 hold in a reading, 2 fail"; got != want {
		t.Errorf("headline %q, want %q", got, want)
	}
}

// Verdicts that share a measurement count it once; a set of cells shares the estimates of
// its cells; out-of-scope verdicts count none.
func TestSummarizeMeasurements(t *testing.T) {
	code, theory := &config.About{Kind: config.AboutCode}, &config.About{Kind: config.AboutTheory}
	s := Summarize([]Verdict{
		{Cell: "a", Estimate: "variance", Sampled: true, Verdict: Agree},
		{Cell: "a", Estimate: "variance", Sampled: true, Verdict: Disagree},
		{Cell: "a", Estimate: "mean", Sampled: true, Verdict: Inconclusive},
		{Cell: "over", Members: []string{"a", "b"}, Estimate: "variance", Sampled: true, Verdict: Agree},
		{Cell: "c", Estimate: "trajectory", About: code, Verdict: Agree},
		{Cell: "d", Estimate: "trajectory", About: code, Verdict: Agree},
		{Cell: "d", Estimate: "trajectory", About: theory, Verdict: Agree},
		{Cell: "e", Estimate: "threshold", Verdict: Agree},
		{Cell: "f", Estimate: "threshold", Verdict: OutOfScope},
	})
	if s.SampledMeasurements != 3 || s.DeterministicMeasurements != 2 || s.CrossChecks != 1 {
		t.Errorf("%s, want 3 sampled, 2 deterministic, 1 cross-check", s.Measurements())
	}
}

// The exact prediction beside a refutation is no planted fault; both are uncaught unless
// their control disagrees, and verdicts out of scope have no control to catch.
func TestSummarizeControls(t *testing.T) {
	control := func(kind ControlKind, ruling Ruling) *ControlVerdict {
		return &ControlVerdict{Kind: kind, Verdict: ruling}
	}
	s := Summarize([]Verdict{
		{Verdict: Agree, Control: control(PlantedFault, Disagree)},
		{Verdict: Disagree, Control: control(PlantedFault, Disagree)},
		{Verdict: Agree, Control: control(PlantedFault, Inconclusive)},
		{Verdict: Agree, Control: control(PlantedFault, OutOfScope)},
		{Verdict: OutOfScope, Control: control(PlantedFault, OutOfScope)},
		{Verdict: Agree, Control: control(ExactPrediction, Disagree)},
		{Verdict: Agree, Control: control(ExactPrediction, Agree)},
		{Verdict: Agree, Control: control(ExactPrediction, OutOfScope)},
		{Verdict: Agree},
	})
	if s.Planted != 4 || s.Caught != 2 || s.Exact != 2 || s.ExactHeld != 1 || s.Uncaught() != 3 {
		t.Errorf("%+v, %d uncaught; want 2 of 4 caught, 1 of 2 held, 3 uncaught", s, s.Uncaught())
	}
	data, err := json.Marshal(s)
	if want := `"controls":4,"controls_caught":2,"exact_predictions":2,"exact_predictions_held":1`; err != nil || !strings.Contains(string(data), want) {
		t.Errorf("%s, want %s", data, want)
	}
}
