package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"grposim/training/equivalence"
)

// defaultPoints is the margin of scores where none is declared, in points of percent.
// Gains of a training that papers report begin at about this size, so that scores which
// differ by less rank two trainings alike. It is ours.
const defaultPoints = 2

func compareScores(stderr io.Writer, file string, o *equivalenceOptions) error {
	table, err := readScores(file)
	if bad, is := err.(*equivalence.BadScores); is {
		return someScores.refuse(file, usageError{bad})
	} else if err != nil {
		return err
	}
	for _, note := range table.Notes {
		printLines(stderr, file+": "+note)
	}
	points := cmp.Or(o.margin, defaultPoints)
	judged := equivalence.Scores(table.Scores, points/100, o.confidence)
	whole, count := equivalence.Together(judged)
	var rows []object
	shown := [][]string{{"BENCHMARK", "A", "B", "B − A", "VERDICT"}}
	for i, j := range judged {
		s := table.Scores[i]
		if o.all || len(judged) <= mostRows || j.Verdict != equivalence.Undecided {
			shown = append(shown, []string{
				strings.Join(strings.Fields(s.Benchmark+" "+s.Model+" "+s.Metric), " "),
				fmt.Sprintf("%.2f", 100*s.A), fmt.Sprintf("%.2f", 100*s.B),
				fmt.Sprintf("%+.2f [%+.2f, %+.2f]", 100*(s.B-s.A), 100*j.Lo, 100*j.Hi), string(j.Verdict),
			})
		}
		rows = append(rows, object{"benchmark", s.Benchmark, "model", s.Model, "metric", s.Metric, "a",
			100 * s.A, "b", 100 * s.B, "difference", 100 * (s.B - s.A),
			"lo", 100 * j.Lo, "hi", 100 * j.Hi, "interval_confidence", j.Confidence, "verdict", j.Verdict})
	}
	err = o.out.print(object{"file", file, "unit", table.Unit, "margin", points, "confidence",
		o.confidence, "counts", count, "rows", rows}, func(p *page) {
		p.paragraph("  ", headline(whole, fmt.Sprintf("%g points", points), count))
		p.printf("\n")
		if p.table(shown); len(shown) > 1 {
			p.printf("\n")
		}
		if hidden := len(judged) - len(shown) + 1; hidden > 0 {
			p.printf("%d rows that are undecided are not shown: see --all\n", hidden)
		}
		source := "declared"
		if o.margin == 0 {
			source = "the default: gains that are reported begin at about this size"
		}
		p.printf("scores in percent, margin %g points (%s)\n", points, source)
		p.paragraph("  ", errorsOf(o.confidence, "any row"))
	})
	return cmp.Or(err, exit(ofVerdict[whole].code))
}

// errorsOf returns a sentence with the largest probabilities of wrong verdicts at a
// confidence; claim names the rows that may wrongly be called the same.
func errorsOf(confidence float64, claim string) string {
	return fmt.Sprintf("chance that any row whose difference is within the margin is called "+
		"different: at most %.3g; that %s is wrongly called the same: at most %.3g", 1-confidence, claim,
		(1-confidence)/2)
}
