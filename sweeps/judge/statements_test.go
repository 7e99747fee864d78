package judge

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"grposim/sweeps/claim"
	"grposim/sweeps/config"
)

// about returns a verdict about a statement: for it, against it, inconclusive or out of scope, each
// once by a check that expects the prediction to hold and once by one that expects it to fail.
func about(statement, reading string, regime config.Regime, word string) Verdict {
	v := Verdict{
		Expect: config.Holds, Experiment: "x", Claim: "relaxation", Cell: statement + reading + word,
		Estimate: "rate",
		About: &config.About{Kind: config.AboutStatement, Statement: statement, Reading: reading,
			Regime: regime},
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
	case "weak":
		v.Verdict, v.SmallestFault = Agree, &SmallestFault{"noise", 51, false}
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
		{"block limit: refuted, whole-gradient limit: for, whole-gradient beyond: refuted",
			StatementInAReading},
		{"block limit: refuted", StatementFails},
		{"block limit: for, block limit: against", StatementFails}, // one counterexample in the limit
		{"block limit: refuted, whole-gradient limit: against", StatementFails},
		{"block limit: inconclusive", StatementUndecided},
		{"block limit: out of scope", StatementUndecided},
		{"block beyond: refuted", StatementUndecided}, // nothing is known of the limit
		{"block beyond: for", StatementHolds},
		{"block limit: inconclusive, block beyond: for", StatementUndecided},
		{"block limit: weak", StatementUndecided}, // no evidence
		{"block limit: weak, block beyond: for", StatementUndecided},
		{"block limit: weak, block limit: for", StatementHolds},
		{"block limit: refuted, whole-gradient limit: inconclusive", StatementUndecided},
		{"block limit: for, whole-gradient limit: inconclusive", StatementUndecided},
	} {
		var verdicts []Verdict
		if c.verdicts != "" {
			for _, text := range strings.Split(c.verdicts, ", ") {
				place, word, _ := strings.Cut(text, ": ")
				reading, regime, _ := strings.Cut(place, " ")
				verdicts = append(verdicts, about("damping-ratio", reading, config.Regime(regime), word))
			}
		}
		for _, statement := range Statements(verdicts) {
			want := StatementUndecided
			switch {
			case statement.ID == "damping-ratio":
				want = c.want
			case statement.On != "":
				continue // whatever our experiments say
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
	verdict := func(statement, reading, choice, word string, bandits *claim.Tally) Verdict {
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
		{"no bandit", []Verdict{verdict("persistent-ringing", "as-written", "", "refuted",
			&claim.Tally{Holds: 0, Of: 9})}, StatementFails},
		{"some", []Verdict{verdict("persistent-ringing", "as-written", "", "refuted",
			&claim.Tally{Holds: 0, Of: 9}),
			verdict("persistent-ringing", "as-written", "", "refuted", &claim.Tally{Holds: 2, Of: 9})},
			StatementDepends},
		{"some, a single one against",
			[]Verdict{verdict("persistent-ringing", "as-written", "", "refuted",
				&claim.Tally{Holds: 2, Of: 9}), verdict("persistent-ringing", "as-written", "", "against", nil)},
			StatementDepends},
		{"all", []Verdict{verdict("persistent-ringing", "as-written", "", "for",
			&claim.Tally{Holds: 9, Of: 9})}, StatementHolds},
		{"all, a single one against", []Verdict{verdict("persistent-ringing", "as-written", "", "for",
			&claim.Tally{Holds: 9, Of: 9}), verdict("persistent-ringing", "as-written", "", "against", nil)},
			StatementFails},
		{"not decided", []Verdict{verdict("persistent-ringing", "as-written", "", "inconclusive",
			&claim.Tally{Holds: 2, Of: 9})}, StatementUndecided},
		{"all in one reading, some in another",
			[]Verdict{verdict("persistent-ringing", "as-written", "", "for", &claim.Tally{Holds: 9, Of: 9}),
				verdict("persistent-ringing", "reward-stale", "", "refuted", &claim.Tally{Holds: 2, Of: 9})},
			StatementInAReading},
		{"none in one reading, some in another",
			[]Verdict{verdict("persistent-ringing", "as-written", "", "refuted",
				&claim.Tally{Holds: 0, Of: 9}),
				verdict("persistent-ringing", "reward-stale", "", "refuted", &claim.Tally{Holds: 2, Of: 9})},
			StatementDepends},
		{"both choices", []Verdict{verdict("gap-narrows", "as-written", linear, "for", nil),
			verdict("gap-narrows", "as-written", log, "for", nil)}, StatementHolds},
		{"one choice", []Verdict{verdict("gap-narrows", "as-written", linear, "for", nil),
			verdict("gap-narrows", "as-written", log, "refuted", nil)}, StatementDepends},
		{"one choice, another reading",
			[]Verdict{verdict("gap-narrows", "as-written", linear, "for", nil),
				verdict("gap-narrows", "as-written", log, "refuted", nil),
				verdict("gap-narrows", "reward-stale", log, "for", nil)}, StatementInAReading},
		{"beside alone", []Verdict{verdict("one-dimension", "two-arms", "", "for", nil)},
			StatementUndecided},
		{"beside", []Verdict{verdict("one-dimension", "two-arms", "", "for", nil),
			verdict("one-dimension", "", "", "refuted", nil)}, StatementFails},
	} {
		statements := Statements(c.verdicts)
		id := c.verdicts[0].About.Statement
		if got := statements[slices.IndexFunc(statements,
			func(s JudgedStatement) bool { return s.ID == id })].Outcome; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	statements := Statements([]Verdict{verdict("persistent-ringing", "reward-stale", "", "refuted",
		&claim.Tally{Holds: 2, Of: 9}),
		verdict("persistent-ringing", "as-written", "", "refuted", &claim.Tally{Holds: 0, Of: 9})})
	statement := statements[slices.IndexFunc(statements,
		func(s JudgedStatement) bool { return s.ID == "persistent-ringing" })]
	if got, want := statement.Cells()[3],
		"as-written fails: holds in 0 of 9 bandits · reward-stale depends on the rewards: holds in 2 of 9 bandits"; got != want {
		t.Errorf("verdicts %q, want %q", got, want)
	}
}

// A statement names its verdicts by claim and variant, in the order of the table's readings,
// and the largest of their smallest faults.
func TestStatementEvidence(t *testing.T) {
	block, whole := about("damping-ratio", "block", config.Limit, "refuted"),
		about("damping-ratio", "whole-gradient", config.Limit, "for")
	whole.Variant, whole.SmallestFault = "v", &SmallestFault{"stiffness", 2, false}
	again := whole
	again.SmallestFault = &SmallestFault{"noise", 3, false}
	ours := Verdict{Verdict: Disagree, About: &config.About{Kind: config.AboutTheory}}
	weak := whole // it would have agreed with a prediction that is wrong by 60 % as well
	weak.Variant, weak.SmallestFault = "weak", &SmallestFault{"noise", 60, false}
	bound, far := whole, whole // a bound that is far away is none the weaker
	bound.Variant, bound.Cell, bound.SmallestFault = "bound", "c",
		&SmallestFault{"stiffness", 70, true}
	far.Variant, far.SmallestFault = "bound", &SmallestFault{"stiffness", 900, true}
	statements := Statements([]Verdict{block, whole, again, ours, weak, bound, far})
	statement := statements[slices.IndexFunc(statements,
		func(t JudgedStatement) bool { return t.ID == "damping-ratio" })]
	fact := func(variant string, counts VerdictCounts, measurements int) Fact {
		return Fact{Experiment: "x", Claim: "relaxation", Variant: variant, Regime: config.Limit,
			Counts: counts, Measurements: measurements}
	}
	want := []JudgedReading{
		{Reading: "whole-gradient", Outcome: StatementHolds,
			Limit:      VerdictCounts{Support: 4, NoEvidence: 1},
			LimitFacts: VerdictCounts{Support: 2, NoEvidence: 1}, Evidence: []Fact{
				fact("v", VerdictCounts{Support: 2}, 1), fact("weak", VerdictCounts{NoEvidence: 1}, 1),
				fact("bound", VerdictCounts{Support: 2}, 2),
			}},
		{Reading: "block", Outcome: StatementFails, Limit: VerdictCounts{Contradict: 1},
			LimitFacts: VerdictCounts{Contradict: 1},
			Evidence:   []Fact{fact("", VerdictCounts{Contradict: 1}, 1)}},
	}
	if diff := cmp.Diff(want, statement.Readings, cmpopts.IgnoreUnexported(Fact{})); diff != "" {
		t.Error(diff)
	}
	if statement.SmallestFault == nil ||
		*statement.SmallestFault != (SmallestFault{"noise", 3, false}) {
		t.Errorf("smallest fault %v, want 3 %% of noise", statement.SmallestFault)
	}
	if f := statement.TightestBound; f == nil || f.Percent != 70 {
		t.Errorf("tightest bound %v, want 70 %%", f)
	}
	if got, want := statement.Cells()[3],
		"whole-gradient holds: 2 for, 1 no evidence · block fails: 1 against"; got != want {
		t.Errorf("verdicts %q, want %q", got, want)
	}
	if got, want := Split([]JudgedStatement{statement, {Outcome: StatementHolds},
		{Outcome: StatementFails}, {Outcome: StatementFails, On: config.OnOtherRuns}}),
		"Of 4 statements of the paper 1 holds, 1 holds in part, 2 fail."; got != want {
		t.Errorf("split %q, want %q", got, want)
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
	if s.Planted != 4 || s.Caught != 2 || s.Exact != 2 || s.ExactHeld != 1 || s.ExactOutOfScope != 1 ||
		s.Uncaught() != 3 {
		t.Errorf("%+v, %d uncaught; want 2 of 4 caught, 1 of 2 held, 1 out of scope, 3 uncaught", s,
			s.Uncaught())
	}
	if got, want := s.String(), "7 agree, 1 disagree, 0 inconclusive, 1 out of scope; 2 of 4 planted faults caught; the exact prediction holds beside 1 of 3 refutations, and predicts nothing beside 1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Planted faults are counted by how far they change the theory: by the factor or its
// inverse, or another setting.
func TestFaultSizes(t *testing.T) {
	scaled := func(factor float64) *config.Control {
		return &config.Control{Scale: config.Scaled("stiffness", factor)}
	}
	both := config.Control{Scale: config.Scaled("noise", 1.1)}
	both.Scale.Mass = 0.5
	for _, c := range []struct {
		control *config.Control
		want    FaultSize
	}{
		{scaled(1.1), SmallFault}, {scaled(1 / 1.1), SmallFault}, {scaled(1.2), ModerateFault},
		{scaled(0.85), ModerateFault},
		{scaled(1.5), ModerateFault}, {scaled(1.6), LargeFault}, {scaled(0.1), LargeFault},
		{&both, LargeFault},
		{&config.Control{Scale: config.Scaled("noise", 1), Names: config.Names{Mode: "none"}},
			OtherSetting},
		{&config.Control{Scale: config.Scaled("noise", 1), Names: config.Names{Law: "logistic"}},
			OtherSetting},
		{&config.Control{Scale: config.Scaled("noise", 1.1), Set: []config.Assignment{{}}}, OtherSetting},
	} {
		if got := sizeOf(c.control); got != c.want {
			t.Errorf("%+v: %s, want %s", c.control, got, c.want)
		}
	}
}
