package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"grposim/training/diagnose"
	"grposim/training/findings"
	"grposim/training/logs"
)

func newWatch(stdout, stderr io.Writer) *cobra.Command {
	w := watcher{stdout: stdout, stderr: stderr}
	var modes []string
	var every, until, heartbeat time.Duration
	c := newCommand("watch", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		var err error
		if w.asked, err = asked(modes); err != nil {
			return err
		}
		if every <= 0 || until < 0 || heartbeat < 0 {
			return misuse("--every: got %v, want more than 0; "+
				"--until-idle: got %v, --heartbeat: got %v, want 0 or more", every, until, heartbeat)
		}
		if info, err := os.Stat(args[0]); args[0] == stdin || err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return misuse("%s: got a stream, which watch cannot read again from its start, "+
				"want a file: write it with tee FILE and watch that", args[0])
		}
		if other := aLog.instead(args[0]); other != "" {
			return misuse("%s: %s", args[0], other)
		}
		w.path, w.log = args[0], logs.Follow(args[0], w.how)
		return w.follow(c.Context(), every, until, heartbeat)
	})
	c.Flags().DurationVar(&every, "every", 10*time.Second, "")
	c.Flags().DurationVar(&until, "until-idle", 0, "")
	c.Flags().DurationVar(&heartbeat, "heartbeat", 10*time.Minute, "")
	c.Flags().BoolVar(&w.goOn, "keep-going", false, "")
	addReading(c, &w.how, &modes)
	return c
}

// confirmation is the number of rows since the one since which a failure is there, before it is
// said: a single NaN, of a step that was skipped, is none.
const confirmation = 5

// patience is the number of such rows of what destroys nothing, as it may end by itself.
var patience = map[string]int{string(findings.NoSignal): findings.Patience,
	string(findings.ConstantReward): findings.Patience, string(diagnose.AdvantageDegeneracy): findings.Patience}

// watcher follows one log.
type watcher struct {
	path           string
	how            logs.Options
	asked          question
	goOn           bool
	stdout, stderr io.Writer
	log            *logs.Follower

	rows      int             // rows read last
	last      row             // the last of them
	look      int             // rows of the next look
	confirms  int             // rows that confirm what a failure waits for; none: MaxInt
	told      map[string]bool // failures, remarks and modes that have been told and are there
	suspected map[string]int  // rows of the first of the last looks in a row that found a mode
	said      string          // last message about the file
}

// row is a row of a log with a reward, or with the log's first quantity if it has none: a row that
// is written in parts may lack it at first.
type row struct {
	index, step int
	quantity    logs.Quantity
	value       float64
}

// lastRow returns the last of the first rows of a log that has that value; its index is -1 if there
// is none.
func lastRow(l *logs.Log, rows int) row {
	c, has := l.Column(logs.Reward)
	if !has && len(l.Columns) > 0 {
		c = l.Columns[0]
	}
	for i := min(rows, len(c.Values)) - 1; i >= 0; i-- {
		if !math.IsNaN(c.Values[i]) {
			return row{i, l.Steps[i], c.Quantity, c.Values[i]}
		}
	}
	return row{index: -1}
}

// follow reads the log at intervals until a failure is found, the log stands still for a time, or
// ctx is done.
func (w *watcher) follow(ctx context.Context, every, until, heartbeat time.Duration) error {
	w.restart()
	grown, beat := time.Now(), time.Now()
	for {
		before := w.rows
		found, err := w.read()
		if err != nil {
			return err
		}
		if found && !w.goOn {
			return exitError(exitDisagree)
		}
		if w.rows != before || w.log.Pending {
			grown = time.Now()
		}
		if heartbeat > 0 && time.Since(beat) >= heartbeat {
			beat = time.Now()
			printLines(w.stderr, w.state())
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

// state says where the run is and what has been found.
func (w *watcher) state() string {
	var found []string
	for _, name := range questions() {
		if w.told[name] {
			found = append(found, name)
		}
	}
	text := fmt.Sprintf("%s: %s", w.path, logs.CountWords(w.rows, "row"))
	if w.last.index >= 0 {
		text += fmt.Sprintf(", step %d, %s %.3g", w.last.step, w.last.quantity, w.last.value)
	}
	if len(found) == 0 {
		found = []string{"nothing"}
	}
	return text + ": found " + strings.Join(found, ", ")
}

// restart forgets what was read.
func (w *watcher) restart() {
	w.rows, w.last, w.look, w.confirms = 0, row{index: -1}, 1, math.MaxInt
	w.told, w.suspected = make(map[string]bool), make(map[string]int)
}

// say prints a message about the file, once.
func (w *watcher) say(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); text != w.said {
		w.said = text
		printLines(w.stderr, text)
	}
}

// read reads the log and judges what is new. found says that a failure that was asked about is
// there.
func (w *watcher) read() (found bool, err error) {
	l, err := w.log.Read()
	switch {
	case errors.Is(err, os.ErrNotExist):
		w.say("%s: waiting for the file", w.path)
		return false, nil
	case err != nil: // half written, perhaps
		if all, _ := logs.OpenAll(w.path, w.how); len(all) > 1 {
			return false, usageError{err}
		}
		w.say("%v: waiting for more", err)
		return false, nil
	case len(l.Steps) == 0:
		w.say("%s: no row of training yet: waiting for more", w.path)
		return false, nil
	}
	if len(l.Steps) < w.rows || w.last.index >= 0 && lastRow(l, w.last.index+1) != w.last {
		w.said = ""
		w.say("%s: the %d rows read before are no longer in it: read anew", w.path, w.rows)
		w.restart()
	}
	return w.judge(l)
}

// judge judges the rows of a log that are new: what it states at every look, at the row that
// confirms it, and at the last row; modes at looks alone.
func (w *watcher) judge(l *logs.Log) (found bool, err error) {
	if l.Other != "" && !w.told[l.Other] {
		w.told[l.Other] = true
		printLines(w.stderr, notJudged(w.path, l))
	}
	for w.rows < len(l.Steps) && (w.goOn || !found) {
		w.rows = min(w.look, w.confirms, len(l.Steps))
		now := l.Prefix(w.rows)
		all := findings.Of(now)
		if w.rows == w.look {
			// a twentieth more: all looks at a long log take as long as some twenty at the whole
			w.look += max(1, (w.look+19)/20)
			if w.rows >= findings.LeastRows {
				s, err := sourceOf(w.path, now, w.how.TrueReward)
				if err != nil {
					return false, err
				}
				r := s.report(all)
				w.suspect(r.modes, now.Steps[w.rows-1])
				all = r.findings
			}
		}
		found = w.tell(now, all) || found
	}
	w.last = lastRow(l, w.rows)
	return found, nil
}

// suspect notes at which look a mode was found first. It prints a line for a mode that was present
// and is absent now. One that is not observable any more has not ended.
func (w *watcher) suspect(modes []findings.Verdict, step int) {
	for _, v := range modes {
		name := string(v.Mode)
		if v.Finding != diagnose.Present {
			w.suspected[name] = 0
		} else {
			w.suspected[name] = cmp.Or(w.suspected[name], w.rows)
		}
		if v.Finding == diagnose.Absent && w.told[name] {
			w.told[name] = false
			fmt.Fprintf(w.stdout, "step %d: %s: no longer present: %s\n", step, v.Mode, v.Text)
		}
	}
}

// tell prints what is found and has not been told: a failure when it has stood for some rows, a mode
// when two looks in a row have found it. Remarks go to stderr, but for a mode that is asked about.
// It returns whether something asked about is among what is printed.
func (w *watcher) tell(l *logs.Log, all []findings.Finding) (found bool) {
	w.confirms = math.MaxInt
	for _, f := range all {
		name, mode := string(f.Kind), f.Kind.IsMode()
		since, _ := slices.BinarySearch(l.Steps, f.Since)
		wait := cmp.Or(patience[name], confirmation)
		remark := f.Level == findings.Remark && !(mode && w.asked != nil)
		switch {
		case mode:
			since = w.suspected[name]
		case remark:
			wait = 0
		}
		key := name
		if remark {
			key += " remark"
		}
		switch told := w.told[name] || w.told[key]; {
		case !told && !mode && w.rows < since+wait:
			w.confirms = min(w.confirms, since+wait)
			continue
		case told || w.rows < since+wait:
			continue
		}
		w.told[key] = true
		text := fmt.Sprintf("step %d: %s: %s since step %d: %s", l.Steps[w.rows-1], f.Kind, f.Level,
			f.Since, f.Text)
		if remark {
			printLines(w.stderr, text)
		} else {
			fmt.Fprintln(w.stdout, text)
			found = found || w.asked.asks(name)
		}
	}
	return found
}

// end diagnoses the whole log, prints the result in a line, and returns its exit code.
func (w *watcher) end() error {
	l, err := logs.Open(w.path, w.how)
	if err != nil {
		return badInput(w.path, err)
	}
	if len(l.Steps) == 0 {
		return misuse("%s: got no row of training", w.path)
	}
	s, err := sourceOf(w.path, l, w.how.TrueReward)
	if err != nil {
		return err
	}
	r := s.report(findings.Of(l))
	p, says := &page{w: w.stdout}, r.answer()
	if l.Other != "" && r.leading == string(diagnose.None) {
		says = "not judged"
	}
	p.paragraph("  ", fmt.Sprintf("%s stands still at step %d: %s", w.path, l.Steps[len(l.Steps)-1], says))
	return cmp.Or(p.err, exit(diagnosisCode([]*runReport{r}, w.asked)))
}
