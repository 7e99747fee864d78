package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"grposim/training/equivalence"
	"grposim/training/fit"
)

func compareRuns(stderr io.Writer, args [2]string, o *equivalenceOptions) error {
	var files [2][]string
	var curves [2][]fit.Curve
	for i, arg := range args {
		files[i] = logsOf(arg)
		for _, file := range files[i] {
			log, err := openLog(stderr, file, o.log(i))
			if err != nil {
				return err
			}
			curve, err := rewardCurve(log)
			if err != nil {
				return err
			}
			curves[i] = append(curves[i], curve)
		}
	}
	c, err := equivalence.Runs(curves[0], curves[1], o.margin, o.confidence)
	if err != nil {
		return usageError{err}
	}
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
	if err != nil {
		return err
	}
	return exit(equivalenceCodes[c.Verdict])
}

func printRuns(p *page, files [2][]string, c *equivalence.RunsComparison, o *equivalenceOptions) {
	for i, side := range files {
		p.printf("%c: %s\n", 'A'+i, strings.Join(side, ", "))
	}
	source := "declared"
	if o.margin == 0 {
		source = fmt.Sprintf("the default, %g %% of the range of A's curve: "+
			"a smaller difference hardly changes the choice of a recipe", 100*equivalence.DefaultMargin)
	}
	p.printf("times: %.4g to %.4g, which all runs have (optimizer steps)\n", c.From, c.To)
	p.printf("margin: %.3g of reward (%s); A's curve ranges over %.3g\n\n", c.Margin, source, c.Range)
	for _, note := range c.Notes {
		p.printf("%s\n\n", note)
	}
	reason := ""
	rows := [][]string{{"QUANTITY", "TIMES", "A", "B", "B − A", "VERDICT"}}
	for _, q := range c.Curve {
		change := fmt.Sprintf("%+.3g [%+.3g, %+.3g]", q.Change, q.Lo, q.Hi)
		if q.Reason != "" {
			change = fmt.Sprintf("%+.3g, error not known", q.Change)
			reason = q.Reason
		}
		rows = append(rows, []string{q.Name, fmt.Sprintf("%.4g to %.4g", q.From, q.To),
			fmt.Sprintf("%.3g", q.A), fmt.Sprintf("%.3g", q.B), change, string(q.Verdict)})
	}
	p.table(rows)
	p.printf("\n")
	if reason != "" {
		p.printf("not decided: %s\n", reason)
	}
	about := "the mean curves of the two recipes: the noise is the scatter between repeated runs, " +
		"taken to be the same in A and B"
	if c.Noise == equivalence.WithinRuns {
		about = "these two runs, not their recipes: with one run on each side the scatter between " +
			"seeds is not observable, and runs of one recipe can differ by more. Give repeated runs, " +
			"separated by commas, to compare recipes"
	}
	p.printf("this is about %s\n", about)
	p.printf("%s\n", errorsOf(c.Confidence, "the whole curve"))
	same := fmt.Sprintf("they would be the same with a margin above %.3g", c.SameFrom)
	if math.IsInf(c.SameFrom, 1) {
		same = "no margin would make them the same: the errors of some segments are not known"
	}
	p.printf("mean curves: %s%s; %s\n", c.Verdict, differing(c.Curve[1:]), same)
}

// differing lists the times of the segments that are different, one stretch for neighbours.
func differing(segments []equivalence.Compared) string {
	var stretches []string
	for i, first := 0, 0; i < len(segments); i++ {
		switch {
		case segments[i].Verdict != equivalence.Different:
			first = i + 1
		case i+1 == len(segments) || segments[i+1].Verdict != equivalence.Different:
			stretches = append(stretches, fmt.Sprintf("%.4g to %.4g", segments[first].From, segments[i].To))
		}
	}
	if stretches == nil {
		return ""
	}
	return " at " + strings.Join(stretches, ", ")
}
