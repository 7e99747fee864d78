package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"grposim/sweeps/store"
	"grposim/training/equivalence"
	"grposim/training/fit"
)

// runsOutput is what compare prints of training logs as JSON.
type runsOutput struct {
	A          []string            `json:"a"` // files
	B          []string            `json:"b"`
	Verdict    equivalence.Verdict `json:"verdict"`
	Noise      equivalence.Noise   `json:"noise"` // within-runs: the verdict is about these two runs only
	Confidence float64             `json:"confidence"`
	Schedule   string              `json:"schedule"` // as given; "": times are optimizer steps, else intrinsic
	From       store.Number        `json:"from"`     // the common times
	To         store.Number        `json:"to"`
	Range      store.Number        `json:"range"`     // of A's curve
	Margin     store.Number        `json:"margin"`    // of the curve
	SameFrom   store.Number        `json:"same_from"` // smallest margin at which the verdict would be same
	Curve      []comparedOutput    `json:"curve"`
	Law        fit.Name            `json:"law"` // of most weight
	Parameters []comparedOutput    `json:"parameters"`
	Notes      []string            `json:"notes,omitempty"`
}

type comparedOutput struct {
	Name       string              `json:"name"`
	From       store.Number        `json:"from"`
	To         store.Number        `json:"to"`
	A          store.Number        `json:"a"`
	B          store.Number        `json:"b"`
	By         equivalence.By      `json:"by"` // what change, lo, hi and margin are
	Change     store.Number        `json:"change"`
	Lo         store.Number        `json:"lo"`
	Hi         store.Number        `json:"hi"`
	Margin     store.Number        `json:"margin"`
	Confidence float64             `json:"interval_confidence"`
	Verdict    equivalence.Verdict `json:"verdict"`
	Reason     string              `json:"reason,omitempty"` // why it is not decided, and what would decide it
}

// compareRuns compares the logs of two arguments and prints the comparison.
func compareRuns(stdout, stderr io.Writer, args [2]string, o equivalenceOptions) error {
	schedules := [2]string{o.schedule, o.schedule}
	if a, b, two := strings.Cut(o.schedule, ","); two {
		schedules = [2]string{a, b}
	}
	var files [2][]string
	var curves [2][]fit.Curve
	for i, arg := range args {
		files[i] = logsOf(arg)
		for _, file := range files[i] {
			log, err := openLog(stderr, file, o.log(i))
			if err != nil {
				return err
			}
			curve, err := rewardCurve(log, schedules[i])
			if err != nil {
				return err
			}
			for k, y := range curve.Reward {
				if y > o.largest {
					return usageError{fmt.Errorf("%s: got the reward %g at %g, want at most --%s %g", file, y, curve.Time[k], largestFlag, o.largest)}
				}
			}
			curves[i] = append(curves[i], curve)
		}
	}
	c, err := equivalence.Runs(curves[0], curves[1], o.margin, o.confidence, o.largest)
	if err != nil {
		return usageError{err}
	}
	if o.json {
		number := func(x float64) store.Number { return store.Number(x) }
		rows := func(all []equivalence.Compared) []comparedOutput {
			out := []comparedOutput{}
			for _, q := range all {
				out = append(out, comparedOutput{q.Name, number(q.From), number(q.To), number(q.A), number(q.B), q.By, number(q.Change), number(q.Lo), number(q.Hi), number(q.Margin), q.Confidence, q.Verdict, q.Reason})
			}
			return out
		}
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(runsOutput{files[0], files[1], c.Verdict, c.Noise, c.Confidence, o.schedule, number(c.From), number(c.To), number(c.Range), number(c.Margin), number(c.SameFrom), rows(c.Curve), c.Law, rows(c.Parameters), c.Notes})
	} else {
		err = printRuns(stdout, files, c, o)
	}
	if err != nil {
		return err
	}
	switch c.Verdict {
	case equivalence.Different:
		return exitError(exitDisagree)
	case equivalence.Undecided:
		return exitError(exitInconclusive)
	}
	return nil
}

// printRuns prints the files, the margin, the quantities, and what the verdict says.
func printRuns(w io.Writer, files [2][]string, c *equivalence.RunsComparison, o equivalenceOptions) error {
	for i, side := range files {
		fmt.Fprintf(w, "%c: %s\n", 'A'+i, strings.Join(side, ", "))
	}
	unit := "optimizer steps"
	if o.schedule != "" {
		unit = "intrinsic time, in steps at the peak learning rate"
	}
	fmt.Fprintf(w, "times: %.4g to %.4g, which all runs have (%s)\n", c.From, c.To, unit)
	fmt.Fprintf(w, "margin: %.3g of reward (%s); A's curve ranges over %.3g\n\n", c.Margin,
		o.marginSource(fmt.Sprintf("the default, %g %% of the range of A's curve: a smaller difference hardly changes the choice of a recipe", 100*equivalence.DefaultMargin)), c.Range)
	for _, note := range c.Notes {
		fmt.Fprintf(w, "%s\n", note)
	}
	if len(c.Notes) > 0 {
		fmt.Fprintln(w)
	}
	value := func(x float64) string {
		if math.IsNaN(x) {
			return "–"
		}
		return fmt.Sprintf("%.3g", x)
	}
	rows := [][]string{{"QUANTITY", "TIMES", "A", "B", "B − A", "MARGIN", "VERDICT"}}
	for _, q := range slices.Concat(c.Curve, c.Parameters) {
		change, margin := fmt.Sprintf("%+.3g [%+.3g, %+.3g]", q.Change, q.Lo, q.Hi), fmt.Sprintf("±%.3g", q.Margin)
		if q.By == equivalence.Ratio {
			change, margin = fmt.Sprintf("B/A %.3g [%.3g, %.3g]", q.Change, q.Lo, q.Hi), fmt.Sprintf("×÷%.3g", q.Margin)
		}
		if q.Reason != "" {
			change = "not identified"
		}
		rows = append(rows, []string{q.Name, fmt.Sprintf("%.4g to %.4g", q.From, q.To), value(q.A), value(q.B), change, margin, string(q.Verdict)})
	}
	if err := printTable(w, rows); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, q := range c.Parameters {
		if q.Reason != "" {
			fmt.Fprintf(w, "plateau and half-time are not decided: %s\n", q.Reason)
			break
		}
	}
	fmt.Fprintf(w, "start, plateau and half-time average four laws of growth and the constant, weighted for each run by how well they fit (most weight: %s), and their intervals hold what the laws disagree about; the verdict rests on the mean and the segments\n", c.Law)
	about := "the mean curves of the two recipes: the noise is the scatter between repeated runs, taken to be the same in A and B"
	if c.Noise == equivalence.WithinRuns {
		about = "these two runs, not their recipes: with one run on each side the scatter between seeds is not observable, and runs of one recipe can differ by more. Give repeated runs, separated by commas, to compare recipes"
	}
	fmt.Fprintf(w, "this is about %s\n", about)
	fmt.Fprintln(w, errorsOf(c.Confidence, "the whole curve, or any other row,"))
	_, err := fmt.Fprintf(w, "mean curves: %s; they would be the same with a margin above %.3g\n", c.Verdict, c.SameFrom)
	return err
}
