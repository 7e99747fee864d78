package report

import (
	"slices"

	"grposim/sweeps"
)

// outcome is a group of statements of the paper with the same outcome.
type outcome struct {
	sweeps.StatementOutcome
	mark
	Statements []statement // at least one
}

// mark is how the page shows an outcome: by the name of a style, with a colour, and by a symbol.
type mark struct{ Class, Symbol string }

// marks of the outcomes.
var marks = map[sweeps.StatementOutcome]mark{
	sweeps.StatementHolds:        {"holds", "✓"},
	sweeps.StatementLeadingOrder: {"leading-order", "≈"},
	sweeps.StatementInAReading:   {"in-a-reading", "◐"},
	sweeps.StatementDepends:      {"depends", "◇"},
	sweeps.StatementFails:        {"fails", "✗"},
	sweeps.StatementNotTestable:  {"not-testable", "–"},
	sweeps.StatementUndecided:    {"undecided", "?"},
}

// Words returns the outcome as the predicate of the statements.
func (o outcome) Words() string { return o.StatementOutcome.Words(len(o.Statements)) }

// statement is a statement of the paper on the page.
type statement struct {
	sweeps.JudgedStatement
	Deciding []link // the sections of the experiments whose verdicts are about it
}

// outcomesOf groups statements by their outcome, with links to the sections that decide them.
func outcomesOf(statements []sweeps.JudgedStatement, sections []section) []outcome {
	var outcomes []outcome
	for _, o := range sweeps.StatementOutcomes {
		group := outcome{StatementOutcome: o, mark: marks[o]}
		for _, t := range statements {
			if t.Outcome != o {
				continue
			}
			s := statement{JudgedStatement: t}
			for _, name := range t.Experiments() {
				if i := slices.IndexFunc(sections, func(s section) bool { return s.experiment == name }); i >= 0 {
					s.Deciding = append(s.Deciding, link{name, "#" + sections[i].ID})
				}
			}
			group.Statements = append(group.Statements, s)
		}
		if group.Statements != nil {
			outcomes = append(outcomes, group)
		}
	}
	return outcomes
}
