package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"grposim/training/equivalence"
	"grposim/training/findings"
	"grposim/training/fit"
	"grposim/training/logs"
)

func compareRuns(stderr io.Writer, args [2]string, o *equivalenceOptions) error {
	var files [2][]string
	var curves [2][]fit.Curve
	var notes []string
	for i, arg := range args {
		files[i] = logsOf(arg)
		for _, file := range files[i] {
			log, err := openLog(stderr, file, logs.Options{Run: o.runs[min(i, len(o.runs)-1)]})
			if err != nil {
				return err
			}
			_, curve, lost, err := curveBeforeLoss(log, findings.Lost, "compared")
			if err != nil {
				return err
			}
			if lost != "" {
				notes = append(notes, fmt.Sprintf("%c: %s is %s", 'A'+i, log.Name(), lost))
			}
			curves[i] = append(curves[i], curve)
		}
	}
	c, err := equivalence.Runs(curves[0], curves[1], o.margin, o.confidence)
	if err != nil {
		return usageError{err}
	}
	c.Notes = append(notes, c.Notes...)
	var curve []object
	for _, q := range c.Curve {
		curve = append(curve, object{"name", q.Name, "from", q.From, "to", q.To, "a", q.A, "b", q.B,
			"change", q.Change, "lo", q.Lo, "hi", q.Hi,
			"interval_confidence", q.Confidence, "verdict", q.Verdict}.with("reason", q.Reason,
			q.Reason != ""))
	}
	err = o.out.print(object{"a", files[0], "b", files[1], "verdict", c.Verdict, "noise", c.Noise,
		"confidence", c.Confidence,
		"from", c.From, "to", c.To, "range", c.Range, "margin", c.Margin, "same_from", c.SameFrom,
		"curve", curve}.with("notes", c.Notes, len(c.Notes) > 0),
		func(p *page) { printRuns(p, files, c, o) })
	return cmp.Or(err, exit(ofVerdict[c.Verdict].code))
}

func printRuns(p *page, files [2][]string, c *equivalence.RunsComparison, o *equivalenceOptions) {
	same := fmt.Sprintf("they would be the same with a margin above %.3g", c.SameFrom)
	if math.IsInf(c.SameFrom, 1) {
		same = "no margin would make them the same: the errors of some segments are not known"
	}
	reason, rows := "", [][]string{{"QUANTITY", "TIMES", "A", "B", "B − A", "VERDICT"}}
	for _, q := range c.Curve {
		change := fmt.Sprintf("%+.3g [%+.3g, %+.3g]", q.Change, q.Lo, q.Hi)
		if q.Reason != "" {
			change = fmt.Sprintf("%+.3g, error not known", q.Change)
			reason = q.Reason
		}
		rows = append(rows, []string{q.Name, fmt.Sprintf("%.4g to %.4g", q.From, q.To),
			fmt.Sprintf("%.3g", q.A), fmt.Sprintf("%.3g", q.B), change, string(q.Verdict)})
	}
	says := headline(c.Verdict, fmt.Sprintf("%.3g of reward", c.Margin), c.Count)
	p.paragraph("  ", says+"; "+same+"; in the mean B − A is "+rows[1][4])
	for _, note := range c.Notes {
		p.paragraph("  ", note)
	}
	p.printf("\n")
	for i, side := range files {
		p.paragraph("   ", fmt.Sprintf("%c: %s", 'A'+i, strings.Join(side, ", ")))
	}
	source := "declared"
	if o.margin == 0 {
		source = fmt.Sprintf("the default, %g %% of the range of A's curve: "+
			"a smaller difference hardly changes the choice of a recipe", 100*equivalence.DefaultMargin)
	}
	p.printf("times: %.4g to %.4g, which all runs have (optimizer steps)\n", c.From, c.To)
	p.paragraph("  ", fmt.Sprintf("margin: %.3g of reward (%s); A's curve ranges over %.3g",
		c.Margin, source, c.Range))
	p.printf("\n")
	p.table(rows)
	p.printf("\n")
	if reason != "" {
		p.paragraph("  ", "not decided: "+reason)
	}
	about := "the mean curves of the two recipes: the noise is the scatter between repeated runs, " +
		"taken to be the same in A and B"
	if c.Noise == equivalence.WithinRuns {
		about = "these two runs, not their recipes: with one run on each side the scatter between " +
			"seeds is not observable, and runs of one recipe can differ by more. Give repeated runs, " +
			"separated by commas, to compare recipes"
	}
	p.paragraph("  ", "this is about "+about)
	p.paragraph("  ", errorsOf(c.Confidence, "the whole curve"))
}
