package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"grposim/rom/equivalence"
	"grposim/rom/fit"
	"grposim/rom/logs"
	"grposim/sweeps/store"
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
	Law        fit.Name            `json:"law"`
	Parameters []comparedOutput    `json:"parameters"`
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
			curve, err := readCurve(stderr, file, schedules[i])
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
	if o.json {
		number := func(x float64) store.Number { return store.Number(x) }
		rows := func(all []equivalence.Compared) []comparedOutput {
			out := []comparedOutput{}
			for _, q := range all {
				out = append(out, comparedOutput{q.Name, number(q.From), number(q.To), number(q.A), number(q.B), q.By, number(q.Change), number(q.Lo), number(q.Hi), number(q.Margin), q.Confidence, q.Verdict})
			}
			return out
		}
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(runsOutput{files[0], files[1], c.Verdict, c.Noise, c.Confidence, o.schedule, number(c.From), number(c.To), number(c.Range), number(c.Margin), number(c.SameFrom), rows(c.Curve), c.Law, rows(c.Parameters)})
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

// logsOf returns the logs that an argument names: a file or folder, or several separated
// by commas. It returns nil if the argument names something else.
func logsOf(arg string) []string {
	if isLog(arg) {
		return []string{arg}
	}
	if _, err := os.Stat(arg); err != nil && strings.Contains(arg, ",") {
		return strings.Split(arg, ",")
	}
	return nil
}

// isLog reports whether a path is a file, or the output folder of a trainer.
func isLog(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	const state = "trainer_state.json"
	_, err = os.Stat(filepath.Join(path, state))
	inside, _ := filepath.Glob(filepath.Join(path, "checkpoint-*", state)) // the pattern is valid
	return !info.IsDir() || err == nil || len(inside) > 0
}

// readCurve reads the reward of a log over optimizer steps, or over the intrinsic time of
// a schedule.
func readCurve(stderr io.Writer, file, schedule string) (fit.Curve, error) {
	var none fit.Curve
	l, err := logs.Open(file)
	var path *fs.PathError
	switch {
	case errors.As(err, &path) && !errors.Is(err, fs.ErrNotExist):
		return none, err
	case err != nil:
		return none, usageError{err}
	}
	for _, note := range l.Notes {
		printLines(stderr, file+": "+note)
	}
	reward, has := l.Column(logs.Reward)
	if !has {
		return none, usageError{fmt.Errorf("%s: got no reward of training, want the log of a run", file)}
	}
	times := make([]float64, len(l.Steps))
	for i, step := range l.Steps {
		times[i] = float64(step)
	}
	if schedule != "" {
		if times, err = intrinsicTime(l, times, schedule); err != nil {
			return none, usageError{fmt.Errorf("%s: --schedule %s: %w", file, schedule, err)}
		}
	}
	var c fit.Curve
	for i, y := range reward.Values {
		if !math.IsNaN(y) {
			c.Time, c.Reward = append(c.Time, times[i]), append(c.Reward, y)
		}
	}
	if len(c.Time) < fit.MinRows {
		return none, usageError{fmt.Errorf("%s: got %d rows with a reward, want at least %d", file, len(c.Time), fit.MinRows)}
	}
	return c, nil
}

// loggedRate is the schedule whose learning rates are those of the log.
const loggedRate = "logged"

// intrinsicTime returns the intrinsic times of the steps of a log under a schedule,
// KIND[:WARMUP[:TOTAL]] or loggedRate.
func intrinsicTime(l *logs.Log, steps []float64, schedule string) ([]float64, error) {
	if schedule == loggedRate {
		rate, has := l.Column(logs.LR)
		if !has {
			return nil, fmt.Errorf("the log has no learning rate")
		}
		times, ok := fit.LoggedTime(steps, rate.Values)
		if !ok {
			return nil, fmt.Errorf("the log lacks a learning rate in some row, or all are 0")
		}
		return times, nil
	}
	words := strings.Split(schedule, ":")
	s := fit.Schedule{Kind: fit.Decay(words[0])}
	if !slices.Contains(fit.Decays, s.Kind) {
		return nil, fmt.Errorf("got %s, want %s or one of %v with :WARMUP:TOTAL", words[0], loggedRate, fit.Decays)
	}
	for i, word := range words[1:] {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil || i > 1 {
			return nil, fmt.Errorf("got :%s, want KIND:WARMUP:TOTAL in steps", word)
		}
		*[]*float64{&s.Warmup, &s.Total}[i] = x
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	return s.Time(steps), nil
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
	rows := [][]string{{"QUANTITY", "TIMES", "A", "B", "B − A", "MARGIN", "VERDICT"}}
	for _, q := range slices.Concat(c.Curve, c.Parameters) {
		change, margin := fmt.Sprintf("%+.3g [%+.3g, %+.3g]", q.Change, q.Lo, q.Hi), fmt.Sprintf("±%.3g", q.Margin)
		if q.By == equivalence.Ratio {
			change, margin = fmt.Sprintf("B/A %.3g [%.3g, %.3g]", q.Change, q.Lo, q.Hi), fmt.Sprintf("×÷%.3g", q.Margin)
		}
		rows = append(rows, []string{q.Name, fmt.Sprintf("%.4g to %.4g", q.From, q.To), fmt.Sprintf("%.3g", q.A), fmt.Sprintf("%.3g", q.B), change, margin, string(q.Verdict)})
	}
	if err := printTable(w, rows); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nparameters are those of the %s law and of the common times; the verdict rests on the mean and the segments\n", c.Law)
	about := "the mean curves of the two recipes: the noise is the scatter between repeated runs, taken to be the same in A and B"
	if c.Noise == equivalence.WithinRuns {
		about = "these two runs, not their recipes: with one run on each side the scatter between seeds is not observable, and runs of one recipe can differ by more. Give repeated runs, separated by commas, to compare recipes"
	}
	fmt.Fprintf(w, "this is about %s\n", about)
	fmt.Fprintln(w, errorsOf(c.Confidence, "the whole curve"))
	_, err := fmt.Fprintf(w, "mean curves: %s; they would be the same with a margin above %.3g\n", c.Verdict, c.SameFrom)
	return err
}
