package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"grposim/training/diagnose"
)

func newWatch(stdout, stderr io.Writer) *cobra.Command {
	var (
		how          reading
		modes        []string
		every, until time.Duration
		goOn         bool
	)
	c := &cobra.Command{
		Use:   "watch LOG",
		Short: "Follow the log of a training run and say when a failure mode appears",
		Long: `Follows a log that grows, diagnoses it as the command diagnose does, and prints a line
when the verdict on a failure mode changes: the step, the verdict, its numbers. It ends
with exit code 1 as soon as a mode is present, so that the run can be stopped:

  grposim watch LOG || kill PID

The log is diagnosed at 16 rows and then whenever it has grown by a twentieth. A mode is
present only if two diagnoses in a row find it. The lines depend on the log alone, not
on when it is read.

A LOG that does not exist yet is waited for. One that has become shorter, or whose
rows have changed, is read anew. With --keep-going the command goes on when a mode is present;
with --until-idle it ends when the log has not grown for that time, with a diagnosis of all of it
and the exit code of diagnose.

Exit codes, the first that applies: 2 the command line is wrong; 130 interrupted; 75
terminated; 1 a mode is present; then those of diagnose, when the log stands still.`,
		Example: `  grposim watch log.jsonl --every 100ms --until-idle 1s   # ends: the log does not grow
  grposim watch log.jsonl --mode policy-concentration --until-idle 1s --every 100ms`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			asked, err := how.check(modes)
			if err != nil {
				return err
			}
			if every <= 0 || until < 0 {
				return usageError{fmt.Errorf("--every: got %v, want more than 0; --until-idle: got %v, want 0 or more", every, until)}
			}
			if args[0] == stdin {
				return usageError{errors.New("got standard input, which cannot be read again from its start as watch does, want a file: write it with tee FILE and watch that")}
			}
			w := watcher{path: args[0], how: how, asked: asked, goOn: goOn, stdout: stdout, stderr: stderr}
			return w.follow(c.Context(), every, until)
		},
	}
	c.Flags().DurationVar(&every, "every", 10*time.Second, "`time` between two looks at the file")
	c.Flags().DurationVar(&until, "until-idle", 0, "end when the file has not grown for this `time`; 0: never")
	c.Flags().BoolVar(&goOn, "keep-going", false, "do not end when a mode is present")
	addReading(c, &how, &modes)
	return c
}

// firstLook is the number of rows of the first diagnosis: fewer have no verdict.
const firstLook = 16

// nextLook returns the number of rows of the diagnosis after that of n rows.
func nextLook(n int) int { return max(n+1, int(math.Ceil(1.05*float64(n)))) }

// watcher follows one log.
type watcher struct {
	path           string
	how            reading
	asked          []diagnose.Mode
	goOn           bool
	stdout, stderr io.Writer

	rows      int // rows read last
	last      row // the last of them
	look      int // rows of the next diagnosis
	told      map[diagnose.Mode]diagnose.Finding
	suspected map[diagnose.Mode]bool // present in the last diagnosis
	said      string                 // last message about the file
}

// row is a row of a log with a reward: a row that is written in parts may lack it at first.
type row struct {
	index, step int
	reward      float64
}

// lastRow returns the last row with a reward; its index is -1 if there is none.
func lastRow(t *diagnose.Trace) row {
	for i := len(t.Steps) - 1; i >= 0; i-- {
		if reward := rewardAt(t, i); !math.IsNaN(reward) {
			return row{i, t.Steps[i], reward}
		}
	}
	return row{index: -1}
}

// rewardAt returns the reward of a row, 0 of a log that does not record it.
func rewardAt(t *diagnose.Trace, i int) float64 {
	if t.Reward == nil {
		return 0
	}
	return t.Reward[i]
}

// in reports whether a log still has the row.
func (r row) in(t *diagnose.Trace) bool {
	return r.index < 0 || r.index < len(t.Steps) && r == row{r.index, t.Steps[r.index], rewardAt(t, r.index)}
}

// follow reads the log at intervals until a mode is present, the log stands still for a
// time, or ctx is done.
func (w *watcher) follow(ctx context.Context, every, until time.Duration) error {
	w.restart()
	grown := time.Now()
	for {
		before := w.rows
		found, err := w.read()
		if err != nil {
			return err
		}
		if found && !w.goOn {
			return exitError(exitDisagree)
		}
		if w.rows != before {
			grown = time.Now()
		}
		if until > 0 && time.Since(grown) >= until {
			return w.end()
		}
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errTerminated) {
				return exitError(exitTryAgain)
			}
			return exitError(exitInterrupted)
		case <-time.After(every):
		}
	}
}

// restart forgets what was read.
func (w *watcher) restart() {
	w.rows, w.last, w.look = 0, row{index: -1}, firstLook
	w.told, w.suspected = make(map[diagnose.Mode]diagnose.Finding), make(map[diagnose.Mode]bool)
	for _, m := range diagnose.Failures {
		w.told[m] = diagnose.NotObservable
	}
}

// say prints a message about the file, once.
func (w *watcher) say(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); text != w.said {
		w.said = text
		printLines(w.stderr, text)
	}
}

// read reads the log and diagnoses every number of rows that is due. found says that a
// mode asked about is present.
func (w *watcher) read() (found bool, err error) {
	sources, err := w.how.sources(w.path)
	var usage usageError
	switch {
	case errors.As(err, &usage):
		return false, err
	case errors.Is(err, os.ErrNotExist):
		w.say("%s: waiting for the file", w.path)
		return false, nil
	case err != nil: // half written, perhaps
		w.say("%v: waiting for more", err)
		return false, nil
	case len(sources) > 1 && sources[0].run != "":
		var names []string
		for i := range sources {
			names = append(names, sources[i].run)
		}
		return false, usageError{fmt.Errorf("%s: got %d runs, want one; name it by --run: %q", w.path, len(sources), names)}
	case len(sources) > 1:
		return false, usageError{fmt.Errorf("%s: got %d cells, want the log of one run", w.path, len(sources))}
	}
	t := sources[0].trace
	if len(t.Steps) < w.rows || !w.last.in(&t) {
		w.say("%s: the %d rows read before are no longer in it: read anew", w.path, w.rows)
		w.restart()
	}
	w.rows, w.last = len(t.Steps), lastRow(&t)
	for ; w.look <= w.rows; w.look = nextLook(w.look) {
		if w.tell(diagnose.Name(t.Prefix(w.look)), t.Steps[w.look-1]) && !w.goOn {
			return true, nil
		}
	}
	return false, nil
}

// tell prints a line for every verdict that has changed, and returns whether one of the
// modes asked about has become present.
func (w *watcher) tell(d diagnose.Diagnosis, step int) (found bool) {
	for _, v := range d.Verdicts {
		now := v.Finding
		if now == diagnose.Present && !w.suspected[v.Mode] {
			now = w.told[v.Mode] // until the next diagnosis confirms it
		}
		w.suspected[v.Mode] = v.Finding == diagnose.Present
		if now == w.told[v.Mode] {
			continue
		}
		w.told[v.Mode] = now
		m := newModeReport(v, d.Evidence)
		since := ""
		if m.Since != nil {
			since = fmt.Sprintf(" since step %d", *m.Since)
		}
		fmt.Fprintf(w.stdout, "step %d: %s: %s%s: %s\n", step, v.Mode, now, since, m.text())
		for _, asked := range w.asked {
			found = found || asked == v.Mode && now == diagnose.Present
		}
	}
	return found
}

// end diagnoses the whole log, prints the result in a line, and returns its exit code.
func (w *watcher) end() error {
	sources, err := w.how.sources(w.path)
	if err != nil {
		return badInput(err)
	}
	r := sources[0].report()
	var verdicts []string
	for _, m := range r.Modes {
		verdicts = append(verdicts, fmt.Sprintf("%s %s", m.Mode, m.Verdict))
	}
	fmt.Fprintf(w.stdout, "%s stands still at step %d: leading %s (%s)\n", w.path, r.last, r.Leading, strings.Join(verdicts, ", "))
	return diagnosisExit([]*runReport{r}, w.asked)
}
