package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"grposim/rom"
	"grposim/sweeps/config"
)

// kinds are what Says, and subject behind it, tell apart, and what verdicts of each kind do.
var kinds = []struct{ says, do string }{
	{string(Disagree), "disagree with the theory"}, {claimed, "refute what the file claims"},
	{Refuted, "refute a formula, as expected"}, {string(Agree), "agree"},
	{string(Inconclusive), "are inconclusive"}, {string(OutOfScope), "are out of scope"},
}

// claimed is the kind of disagreement with a hypothesis.
const claimed = "claimed"

// singular changes what several verdicts do to what one does.
var singular = strings.NewReplacer("agree", "agrees", "refute", "refutes", "are", "is")

// Answer says in at most three sentences what verdicts decide. Where they are of several
// experiments, it counts the statements of the paper, if any, and names experiments, not claims.
func Answer(verdicts []Verdict) (says []string) {
	all := len(verdicts)
	if all == 0 {
		return []string{"There is nothing to judge: no check has a verdict."}
	}
	if statements := DecidedStatements(verdicts); statements != nil {
		says = []string{Split(statements)}
	}
	another := func(v Verdict) bool { return v.Experiment != verdicts[0].Experiment }
	several := slices.ContainsFunc(verdicts, another)
	var clauses []string
	for _, kind := range kinds {
		n, names := 0, []string(nil)
		for i := range verdicts {
			says, name := verdicts[i].subject()
			if several {
				name = verdicts[i].Experiment
			}
			if says != kind.says {
				continue
			}
			if n++; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		const most = 3
		if more := len(names) - most; more > 1 {
			names = append(names[:most], fmt.Sprintf("%d more", more))
		}
		count, do := strconv.Itoa(n), kind.do
		switch {
		case n == 0:
			continue
		case all == 1:
			count = "the one verdict"
		case n == all:
			count = fmt.Sprintf("all %d verdicts", all)
		case clauses == nil:
			count += fmt.Sprintf(" of %d verdicts", all)
		}
		if n == 1 {
			do = singular.Replace(do)
		}
		clauses = append(clauses, count+" "+do+": "+config.JoinWords(names, "and"))
	}
	if first := min(len(clauses)-1, 2-len(says)); first >= 0 { // the others are one sentence
		clauses = append(clauses[:first:first], strings.Join(clauses[first:], "; "))
	}
	for _, clause := range clauses {
		says = append(says, strings.ToUpper(clause[:1])+clause[1:]+".")
	}
	return says
}

// subject returns the kind of a verdict, and the claim with what predicts it, or with the name of
// the reason why nothing does.
func (v *Verdict) subject() (kind, name string) {
	kind, name = v.Says(), v.Claim
	switch h := v.Hypothesis; {
	case v.Verdict == OutOfScope && v.Reason != "":
		return kind, name + " (" + v.Reason + ")"
	case h == nil && v.PredictionKind != rom.Exact && v.PredictionKind != "":
		return kind, name + " (" + string(v.PredictionKind) + ")"
	case h == nil:
		return kind, name
	case v.Verdict == Disagree:
		kind = claimed
	}
	return kind, name + " " + v.Hypothesis.String()
}

// Refuted is said of a verdict that agrees that a prediction fails.
const Refuted = "refuted, as expected"

// IsRefuted reports whether a prediction fails, as expected.
func (v *Verdict) IsRefuted() bool { return v.Expect == config.Fails && v.Verdict == Agree }

// Says returns the ruling as texts say it.
func (v *Verdict) Says() string {
	if v.IsRefuted() {
		return Refuted
	}
	return string(v.Verdict)
}

// Splits are what one statement of the paper comes to in a short count, with its outcomes.
var Splits = []struct {
	Words    string
	Outcomes []StatementOutcome
}{
	{"holds", []StatementOutcome{StatementHolds}},
	{"holds in part", []StatementOutcome{StatementLeadingOrder, StatementInAReading}},
	{"fails", []StatementOutcome{StatementFails}},
	{"depends on what the paper does not state", []StatementOutcome{StatementDepends}},
	{"cannot be decided here", []StatementOutcome{StatementNotTestable, StatementUndecided}},
}

// Split counts statements in one sentence by what they come to.
func Split(statements []JudgedStatement) string {
	var parts []counted
	for _, s := range Splits {
		n := config.Count(statements,
			func(t JudgedStatement) bool { return slices.Contains(s.Outcomes, t.Outcome) })
		parts = append(parts, counted{n, Predicate(s.Words, n)})
	}
	return fmt.Sprintf("Of %d statements of the paper %s.", len(statements), joinCounts(parts))
}
