package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"grposim/rom"
	"grposim/sweeps/config"
)

// Answer says in at most three sentences what verdicts decide. Where they are of several
// experiments, it counts the statements of the paper, if any, and names experiments, not claims.
func Answer(verdicts []Verdict) (says []string) {
	if len(verdicts) == 0 {
		return []string{"There is nothing to judge: no check has a verdict."}
	}
	if statements := DecidedStatements(verdicts); statements != nil {
		says = []string{Split(statements)}
	}
	one := !slices.ContainsFunc(verdicts,
		func(v Verdict) bool { return v.Experiment != verdicts[0].Experiment })
	of := make(map[string]*naming)
	for i := range verdicts {
		v := &verdicts[i]
		word := v.Says()
		if v.Verdict == Disagree && v.Hypothesis != nil {
			word = claimed
		}
		if of[word] == nil {
			of[word] = new(naming)
		}
		of[word].add(v, one)
	}
	var clauses []string
	for _, part := range []struct{ word, says string }{
		{Disagree.String(), "disagree with the theory"}, {claimed, "refute what the file claims"},
		{Refuted, "refute a formula, as expected"}, {Agree.String(), "agree"},
		{Inconclusive.String(), "are inconclusive"}, {OutOfScope.String(), "are out of scope"},
	} {
		n, all := of[part.word], len(verdicts)
		if n == nil {
			continue
		}
		count := strconv.Itoa(n.count)
		switch {
		case all == 1:
			count = "the one verdict"
		case n.count == all:
			count = fmt.Sprintf("all %d verdicts", all)
		case clauses == nil:
			count += fmt.Sprintf(" of %d verdicts", all)
		}
		if n.count == 1 {
			part.says = singular.Replace(part.says)
		}
		clauses = append(clauses, fmt.Sprintf("%s %s: %s", count, part.says, n))
	}
	if first := min(len(clauses)-1, 2-len(says)); first > 0 { // the others are one sentence
		clauses = append(clauses[:first:first], strings.Join(clauses[first:], "; "))
	} else {
		clauses = []string{strings.Join(clauses, "; ")}
	}
	for _, clause := range clauses {
		says = append(says, strings.ToUpper(clause[:1])+clause[1:]+".")
	}
	return says
}

// singular changes what several verdicts do to what one does.
var singular = strings.NewReplacer("agree", "agrees", "refute", "refutes", "are", "is")

// claimed is the kind of disagreement with a hypothesis.
const claimed = "claimed"

// naming counts verdicts of a kind, and names what they are about.
type naming struct {
	count int
	names []string
}

// add counts a verdict, and names its claim, or its experiment.
func (n *naming) add(v *Verdict, byClaim bool) {
	name := v.Experiment
	if byClaim {
		name = v.Claim
		switch h := v.Hypothesis; {
		case h != nil && h.Relation == config.Equals:
			name += " = " + h.String()
		case h != nil:
			name += " " + h.String()
		case v.PredictionKind != rom.Exact && v.PredictionKind != "":
			name += " (" + string(v.PredictionKind) + ")"
		}
	}
	if n.count++; !slices.Contains(n.names, name) {
		n.names = append(n.names, name)
	}
}

// String returns the names, of many the first ones.
func (n *naming) String() string {
	const most = 3
	if more := len(n.names) - most; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(n.names[:most], ", "), more)
	}
	return config.JoinWords(n.names, "and")
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
	return v.Verdict.String()
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
		n := 0
		for _, t := range statements {
			if slices.Contains(s.Outcomes, t.Outcome) {
				n++
			}
		}
		parts = append(parts, counted{n, Predicate(s.Words, n)})
	}
	return fmt.Sprintf("Of %d statements of the paper %s.", len(statements), joinCounts(parts))
}
