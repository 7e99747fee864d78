package main

import (
	"fmt"
	"slices"
	"strings"

	"grposim/sweeps"
)

// paperStatements returns docs/paper.md: the outcome of every statement of the paper, with the
// verdicts from which it is computed.
func paperStatements(statements []sweeps.JudgedStatement, s sweeps.Summary) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# The statements of the paper")
	line("")
	line("Generated from configs/statements.yaml and the committed verdicts in results/paper (`go test ./cmd/grposim -run TestPaperDocument -update`). The paper is \"Predictable GRPO\", [arXiv:2606.30789](https://arxiv.org/abs/2606.30789), version 1 unless another is named; K is its stiffness, K_ref its refresh interval.")
	line("")
	line("%s.", sweeps.Headline(statements))
	line("")
	line("They rest on %s. The confidence of a file holds for its own verdicts together, not for those of several files.", s.Measurements())
	line("")
	line("%d verdicts: %s.", s.Agree+s.Disagree+s.Inconclusive+s.OutOfScope, s)
	line("")
	line("No outcome is typed: checks in configs/paper name the statement, the reading and the regime that they are about, and outcomes follow from their verdicts. A verdict is *for* a statement if the prediction held and *against* it if the prediction failed, whichever the check expected. The *limit* is where the statement claims to hold, asymptotically or in the place that the paper names; *beyond* is elsewhere. Verdicts that are inconclusive or out of scope do not count, and neither do those that are *no evidence*: they agree with a prediction, but would have agreed with one that is wrong by %d %%. A verdict about a bound has no such limit: how far a bound is from being crossed is no lack of power. The rewards of the softmax experiment are not in the paper: where a statement about it holds in some bandits with the paper's K and fails in others, the outcome is the number of them. *Beside* a statement stands what is judged with it and is not the paper's; it does not enter the outcome.", sweeps.NoEvidence)
	line("")
	line("Facts are counted, not cells: a *fact* is what one claim says of one variant of an experiment, however many cells and verdicts it has; it is against a statement if one of its verdicts is. Measurements are independent: one that several verdicts share counts once.")
	line("")
	line("Statements about language models that a bandit cannot test are judged where other data decide something: *on the paper's own table* of benchmarks, or *on other runs*, public logs of other language models, which say nothing about the paper's own runs.")
	line("")
	line("| outcome | of a statement |")
	line("|---|---|")
	line("| %s | every decided verdict is for it, in every reading |", sweeps.StatementHolds)
	line("| %s | in the limit every decided verdict is for it; beyond, one is against it |", sweeps.StatementLeadingOrder)
	line("| %s | it holds, fully or to leading order, in one reading and not in another |", sweeps.StatementInAReading)
	line("| %s | in a reading it holds for some of the rewards, or choices, that the paper leaves open and fails for others |", sweeps.StatementDepends)
	line("| %s | in every reading a verdict in the limit is against it, or it holds in none of the bandits tried |", sweeps.StatementFails)
	line("| %s | no check can test it, for the reason given |", sweeps.StatementNotTestable)
	line("| %s | a verdict that the outcome needs is missing |", sweeps.StatementUndecided)
	line("")
	var rows [][]string
	for i := range statements {
		row := statements[i].Cells()
		row[0] = fmt.Sprintf("[%s](#%s)", row[0], row[0])
		rows = append(rows, row)
	}
	markdownTable(&b, sweeps.StatementColumns, rows)
	for i := range statements {
		line("")
		writeStatement(&b, &statements[i])
	}
	return b.String()
}

// writeStatement writes the section about one statement.
func writeStatement(b *strings.Builder, t *sweeps.JudgedStatement) {
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	verdict := t.Cells()[2]
	line("### %s", t.ID)
	line("")
	line("**%s.** %s (%s)", strings.ToUpper(verdict[:1])+verdict[1:], t.Says, t.Where)
	instead := t.Statement.Instead
	if t.Outcome != sweeps.StatementFails {
		instead = ""
	}
	for _, part := range []struct{ name, text string }{
		{"Found instead", instead}, {"In the paper's letters", t.Statement.Symbols}, {"Tested", t.Statement.Tested},
		{"Not testable here", t.NotTestable}, {"Remark", t.Statement.Remark},
	} {
		if part.text != "" {
			line("\n*%s*: %s", part.name, strings.ReplaceAll(part.text, "](", `]\(`)) // E[R](t) is no link
		}
	}
	if f := t.SmallestFault; f != nil {
		percent, constant, _ := strings.Cut(f.String(), " of ")
		line("\n*Smallest fault*: every supporting verdict, except those about bounds, would have disagreed if the %s were wrong by %s.", constant, percent)
	}
	if f := t.TightestBound; f != nil {
		percent, constant, _ := strings.Cut(f.String(), " of ")
		line("\n*Tightest bound*: the closest bound would have been crossed if the %s were wrong by %s.", constant, percent)
	}
	if len(t.Readings) == 0 && len(t.Statement.Readings) == 0 {
		return
	}
	words := make(map[string]string)
	judged := make(map[string]bool)
	for _, r := range slices.Concat(t.Statement.Readings, t.Statement.Beside, t.Statement.Choices) {
		words[r.Name] = ": " + r.Words
	}
	var rows [][]string
	for _, r := range t.Readings {
		judged[r.Reading] = true
		var evidence []string
		for _, e := range r.Evidence {
			source := strings.TrimSpace(e.Experiment+" "+e.Variant) + ", " + e.Claim
			evidence = append(evidence, fmt.Sprintf("%s (%s): %s", source, e.Regime, factWords(&e)))
		}
		if r.Found != "" {
			evidence = []string{r.Found}
		}
		name := r.Reading + words[r.Reading]
		switch {
		case r.Beside:
			name = "beside: " + name
		case r.Reading == "":
			name = "as stated"
		}
		if r.Choice != "" {
			name += "; " + r.Choice + words[r.Choice]
		}
		rows = append(rows, []string{name, outcomeWords(&r), strings.Join(evidence, "<br>")})
	}
	for _, r := range t.Statement.Readings {
		if !judged[r.Name] {
			rows = append(rows, []string{r.Name + ": " + r.Words, "not tested", "–"})
		}
	}
	line("")
	markdownTable(b, []string{"reading", "outcome", "facts"}, rows)
}

// factWords returns a fact with its measurements, such as "for (4 measurements)", and with its
// verdicts where they are not all of one kind.
func factWords(e *sweeps.Evidence) string {
	word := strings.TrimPrefix(e.Counts.Fact().String(), "1 ")
	if e.Bandits.Of > 0 {
		word = fmt.Sprintf("holds in %d of %d bandits", e.Bandits.Holds, e.Bandits.Of)
	} else if counts := e.Counts.String(); strings.Contains(counts, ",") {
		word += ", verdicts " + counts
	}
	noun := "measurements"
	if e.Measurements == 1 {
		noun = "measurement"
	}
	return fmt.Sprintf("%s (%d %s)", word, e.Measurements, noun)
}

// outcomeWords returns the outcome of a reading, where it depends on the rewards with the number of
// bandits.
func outcomeWords(r *sweeps.JudgedReading) string {
	if r.Outcome == sweeps.StatementDepends {
		return fmt.Sprintf("depends on the rewards (holds in %d of %d bandits)", r.Bandits.Holds, r.Bandits.Of)
	}
	return string(r.Outcome)
}

// experimentFacts counts the facts of an experiment by the statement of the paper that they
// are about, with links within docs/paper.md. "–": there are none.
func experimentFacts(statements []sweeps.JudgedStatement, experiment string) string {
	var parts []string
	for _, t := range statements {
		var facts sweeps.VerdictCounts
		var overBandits string
		for _, r := range t.Readings {
			for _, e := range r.Evidence {
				switch {
				case e.Experiment != experiment:
				case e.Bandits.Of > 0:
					overBandits = ", over bandits"
				default:
					facts = facts.Plus(e.Counts.Fact())
				}
			}
		}
		if counts := strings.TrimPrefix(facts.String()+overBandits, ", "); counts != "" {
			parts = append(parts, fmt.Sprintf("[%s](#%s) %s", t.ID, t.ID, counts))
		}
	}
	if parts == nil {
		return "–"
	}
	return strings.Join(parts, "; ")
}

// markdownTable writes a table.
func markdownTable(b *strings.Builder, columns []string, rows [][]string) {
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, row := range rows {
		for i := range row {
			row[i] = strings.ReplaceAll(row[i], "|", `\|`)
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
	}
}
