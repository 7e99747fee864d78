package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grposim/sweeps/config"
	"grposim/training/findings"
	"grposim/training/fit"
	"grposim/training/logs"
)

// logsOf returns the logs that an argument names: a file, the output folder of a trainer, or several
// separated by commas. It returns nil if the argument names something else.
func logsOf(arg string) []string {
	info, err := os.Stat(arg)
	if err == nil && (!info.IsDir() || logs.IsOutput(arg)) {
		return []string{arg}
	}
	if several := separated(arg); len(several) > 1 {
		return several
	}
	return nil
}

// separated returns the paths in an argument: several separated by commas, unless there is
// something of that very name.
func separated(arg string) []string {
	if _, err := os.Stat(arg); err == nil {
		return []string{arg}
	}
	return strings.Split(arg, ",")
}

func addLogOptions(c *cobra.Command, how *logs.Options) {
	c.Flags().StringVar(&how.Run, "run", "", "")
	c.Flags().StringVar(&how.Reward, "reward", "", "")
	c.Flags().StringSliceVar(&how.Percent, "percent", nil, "")
}

// stdin is the argument that stands for a log on standard input.
const stdin = "-"

func readLogs(file string, how logs.Options) ([]*logs.Log, error) {
	if file == stdin {
		return logs.ReadAll(os.Stdin, "standard input", how)
	}
	return logs.OpenAll(file, how)
}

// openLogs reads the runs of a log and prints their notes.
func openLogs(stderr io.Writer, file string, how logs.Options) ([]*logs.Log, error) {
	all, err := readLogs(file, how)
	if err != nil {
		return nil, badInput(file, err)
	}
	printNotes(stderr, all...)
	return all, nil
}

// openLog reads a log of a single run and prints its notes.
func openLog(stderr io.Writer, file string, how logs.Options) (*logs.Log, error) {
	l, err := logs.Open(file, how)
	if err != nil {
		return nil, badInput(file, err)
	}
	printNotes(stderr, l)
	return l, nil
}

func printNotes(stderr io.Writer, all ...*logs.Log) {
	for _, l := range all {
		for _, note := range l.Notes {
			printLines(stderr, l.Name()+": "+note)
		}
	}
}

// badInput makes the errors of a log's content, and of a path that is none, errors of
// the user's input.
func badInput(path string, err error) error {
	switch {
	case !errors.As(err, new(*logs.Error)) && !errors.Is(err, os.ErrNotExist):
		return err
	case path == stdin:
		return usageError{err}
	}
	return aLog.refuse(path, usageError{err})
}

// rewardCurve returns the reward of a log over the times of its rows.
func rewardCurve(l *logs.Log, times []float64) (c fit.Curve) {
	reward, _ := l.Column(logs.Reward)
	for i, y := range reward.Values {
		if !math.IsNaN(y) {
			c.Time, c.Reward = append(c.Time, times[i]), append(c.Reward, y)
		}
	}
	return c
}

// curveBeforeLoss returns the rows before the step since which the log states that the run is lost,
// and their reward over steps. lost says since when and why, and what is done with these rows. It
// is "" if the run is not lost.
func curveBeforeLoss(l *logs.Log, by func([]findings.Finding) (findings.Finding, bool),
	done string) (_ *logs.Log, c fit.Curve, lost string, err error) {
	stops, found := by(findings.Of(l))
	n, _ := slices.BinarySearch(l.Steps, stops.Since)
	since := fmt.Sprintf("lost since step %d (%s)", stops.Since, stops.Kind)
	switch {
	case found && n > 0 && (stops.Stops || n >= fit.MinRows):
		l = l.Prefix(n)
		lost = since + ", and " + done + " before it"
	case found: // a reward that falls from the start on has nothing before
		lost = since + ", too early to be " + done + " before it: all rows are"
	}
	c = rewardCurve(l, stepsOf(l))
	switch _, has := l.Column(logs.Reward); {
	case !has:
		err = misuse("%s: got no reward of training, want the log of a run", l.Name())
	case len(c.Time) < fit.MinRows:
		err = misuse("%s: got %s with a reward, want at least %d", l.Name(), logs.CountWords(len(c.Time), "row"), fit.MinRows)
		if found {
			err = misuse("%w: the run is %s", err, since)
		}
	}
	return l, c, lost, err
}

func stepsOf(l *logs.Log) []float64 {
	return config.Each(l.Steps, func(step int) float64 { return float64(step) })
}

// lawTime is the time over which laws of growth are fitted to a log.
type lawTime struct {
	name      string
	intrinsic bool
	// Optimizer steps at increasing times: at time 0 and at every row.
	times, steps []float64
}

// lawCurve returns the reward over the time of laws of growth, from that over steps: the
// intrinsic time of the logged learning rate, or steps where that is not in every row.
func lawCurve(l *logs.Log, c fit.Curve) (fit.Curve, lawTime) {
	t, steps := lawTime{name: "optimizer steps"}, c.Time
	rate, has := l.Column(logs.LR)
	if times, ok := fit.LoggedTime(stepsOf(l), rate.Values); ok {
		c = rewardCurve(l, times)
		t.name, t.intrinsic = "intrinsic, of the logged learning rate", true
	} else if has {
		t.name += ": the log lacks a learning rate in some row, one is negative, or all are 0"
	}
	if c.Time[0] > 0 {
		t.times, t.steps = []float64{0}, []float64{min(0, steps[0])}
	}
	t.times, t.steps = append(t.times, c.Time...), append(t.steps, steps...)
	return c, t
}

// step returns the optimizer step at a time, NaN before the first known one and after the last row.
func (t lawTime) step(time float64) float64 {
	n := len(t.times)
	i, _ := slices.BinarySearch(t.times, time)
	switch {
	case i == n || !(time >= t.times[0]):
		return math.NaN()
	case i == 0:
		return t.steps[0]
	}
	x := (time - t.times[i-1]) / (t.times[i] - t.times[i-1])
	return t.steps[i-1] + x*(t.steps[i]-t.steps[i-1])
}
