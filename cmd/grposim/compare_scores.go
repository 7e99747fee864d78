package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"grposim/sweeps/store"
	"grposim/training/equivalence"
)

// defaultPoints is the margin of scores where none is declared, in points of percent.
// Gains of a training that papers report begin at about this size, so that scores which
// differ by less rank two trainings alike. It is ours.
const defaultPoints = 2

// scoresOutput is what compare prints of a table of scores as JSON, in points of percent.
type scoresOutput struct {
	File       string                      `json:"file"`
	Unit       equivalence.Unit            `json:"unit"`
	Margin     float64                     `json:"margin"`
	Confidence float64                     `json:"confidence"`
	Counts     map[equivalence.Verdict]int `json:"counts"`
	Rows       []scoreOutput               `json:"rows"`
}

type scoreOutput struct {
	Benchmark  string              `json:"benchmark"`
	Model      string              `json:"model"`
	Metric     string              `json:"metric"`
	A          store.Number        `json:"a"`
	B          store.Number        `json:"b"`
	Difference store.Number        `json:"difference"` // B − A
	Lo         store.Number        `json:"lo"`
	Hi         store.Number        `json:"hi"`
	Confidence float64             `json:"interval_confidence"`
	Verdict    equivalence.Verdict `json:"verdict"`
}

// compareScores compares the scores of a file and prints them.
func compareScores(stdout, stderr io.Writer, file string, o equivalenceOptions) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	table, err := equivalence.ReadScores(f, file)
	if bad, is := err.(*equivalence.BadScores); is {
		return someScores.refuse(file, usageError{bad})
	} else if err != nil {
		return err
	}
	for _, note := range table.Notes {
		printLines(stderr, file+": "+note)
	}
	points := o.margin
	if points == 0 {
		points = defaultPoints
	}
	out := scoresOutput{File: file, Unit: table.Unit, Margin: points, Confidence: o.confidence, Counts: make(map[equivalence.Verdict]int)}
	for i, j := range equivalence.Scores(table.Scores, points/100, o.confidence) {
		s := table.Scores[i]
		percent := func(share float64) store.Number { return store.Number(100 * share) }
		out.Counts[j.Verdict]++
		out.Rows = append(out.Rows, scoreOutput{s.Benchmark, s.Model, s.Metric, percent(s.A), percent(s.B), percent(s.B - s.A), percent(j.Lo), percent(j.Hi), j.Confidence, j.Verdict})
	}
	if o.json {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(out)
	} else {
		err = out.print(stdout, o)
	}
	if err != nil {
		return err
	}
	switch {
	case out.Counts[equivalence.Different] > 0:
		return exitError(exitDisagree)
	case out.Counts[equivalence.Undecided] > 0:
		return exitError(exitInconclusive)
	}
	return nil
}

// print prints the rows, of many those that are decided, and the counts.
func (out *scoresOutput) print(w io.Writer, o equivalenceOptions) error {
	rows := [][]string{{"BENCHMARK", "A", "B", "B − A", "VERDICT"}}
	hidden := 0
	for _, r := range out.Rows {
		if !o.all && len(out.Rows) > mostRows && r.Verdict == equivalence.Undecided {
			hidden++
			continue
		}
		rows = append(rows, []string{
			strings.Join(strings.Fields(r.Benchmark+" "+r.Model+" "+r.Metric), " "), fmt.Sprintf("%.2f", r.A), fmt.Sprintf("%.2f", r.B),
			fmt.Sprintf("%+.2f [%+.2f, %+.2f]", r.Difference, r.Lo, r.Hi), string(r.Verdict),
		})
	}
	if err := printTable(w, rows); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if hidden > 0 {
		fmt.Fprintf(w, "%d rows that are undecided are not shown: see --all\n", hidden)
	}
	_, err := fmt.Fprintf(w, "%d rows: %d same, %d different, %d undecided; scores in percent, margin %g points (%s)\n%s\n",
		len(out.Rows), out.Counts[equivalence.Same], out.Counts[equivalence.Different], out.Counts[equivalence.Undecided], out.Margin, o.marginSource("the default: gains that are reported begin at about this size"),
		errorsOf(out.Confidence, "any row"))
	return err
}

// errorsOf returns a sentence with the largest probabilities of wrong verdicts at a
// confidence; claim names the rows that may wrongly be called the same.
func errorsOf(confidence float64, claim string) string {
	return fmt.Sprintf("chance that any row without a difference is called different: at most %.3g; that %s is wrongly called the same: at most %.3g", 1-confidence, claim, (1-confidence)/2)
}
