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
	var (
		how                     reading
		modes                   []string
		every, until, heartbeat time.Duration
		goOn                    bool
	)
	c := newCommand("watch", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		asked, err := how.check(modes)
		if err != nil {
			return err
		}
		if every <= 0 || until < 0 || heartbeat < 0 {
			return usageError{fmt.Errorf("--every: got %v, want more than 0; --until-idle: got %v, --heartbeat: got %v, want 0 or more", every, until, heartbeat)}
		}
		if info, err := os.Stat(args[0]); args[0] == stdin || err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			what := "standard input"
			if args[0] != stdin {
				what = args[0] + ", a pipe or a device"
			}
			return usageError{fmt.Errorf("got %s, which cannot be read again from its start as watch does, want a file: write it with tee FILE and watch that", what)}
		}
		if other := aLog.instead(args[0]); other != "" {
			return usageError{fmt.Errorf("%s: %s", args[0], other)}
		}
		w := watcher{path: args[0], how: how, asked: asked, goOn: goOn, stdout: stdout, stderr: stderr}
		w.log = logs.Follow(args[0], how.how)
		return w.follow(c.Context(), every, until, heartbeat)
	})
	c.Flags().DurationVar(&every, "every", 10*time.Second, "`time` between two looks at the file")
	c.Flags().DurationVar(&until, "until-idle", 0, "end when the file has not grown for this `time`; 0: never")
	c.Flags().DurationVar(&heartbeat, "heartbeat", 10*time.Minute, "`time` between two lines on stderr that say where the run is; 0: none")
	c.Flags().BoolVar(&goOn, "keep-going", false, "do not end when a failure is found")
	addReading(c, &how, &modes)
	return c
}

// confirmation is the number of rows since the one since which a failure is there, before
// it is said: a single NaN, of a step that was skipped, is none.
const confirmation = 5

// patience is that number for groups without signal and a constant reward, which destroy
// nothing and may end by themselves: a run that starts at reward 0 may find its first
// success, and noise hides a slow rise at first. Where none of 100 rows has a signal, at
// most 3 % of rows have one, with 95 % confidence.
const patience = 100

// confirm returns the number of rows that a failure or a mode stands before it is said:
// patience for those above, usual for others.
func confirm(name string, usual int) int {
	switch name {
	case string(findings.NoSignal), string(findings.ConstantReward), string(diagnose.AdvantageDegeneracy):
		return patience
	}
	return usual
}

// firstLook is the number of rows of the first diagnosis: fewer have no verdict.
const firstLook = 16

// nextLook returns the number of rows of the diagnosis after that of n rows: a twentieth
// more, of 1000 rows on a tenth, so that all diagnoses of a long log take as long as eleven
// of the whole.
func nextLook(n int) int {
	if n < 1000 {
		return n + max(1, (n+19)/20)
	}
	return n + (n+9)/10
}

// watcher follows one log.
type watcher struct {
	path           string
	how            reading
	asked          question
	goOn           bool
	stdout, stderr io.Writer
	log            *logs.Follower

	seen      *logs.Log              // what was read last; nil: nothing
	rows      int                    // rows read last
	last      row                    // the last of them
	look      int                    // rows of the next diagnosis
	present   map[diagnose.Mode]bool // as it has been told
	suspected map[diagnose.Mode]int  // rows of the first of the last diagnoses in a row that found it; 0: the last did not
	stands    map[statement]int      // number of rows since which each statement stands
	stating   []statement            // those that have been told, in that order
	said      string                 // last message about the file
}

// statement is a finding without its numbers.
type statement struct {
	kind  findings.Kind
	level findings.Level
}

// row is a row of a log with a reward, or with the log's first quantity if it has none: a
// row that is written in parts may lack it at first.
type row struct {
	index, step int
	quantity    logs.Quantity
	value       float64
}

// lastRow returns the last row with that value; its index is -1 if there is none.
func lastRow(l *logs.Log) row {
	c, has := l.Column(logs.Reward)
	if !has && len(l.Columns) > 0 {
		c = l.Columns[0]
	}
	for i := len(c.Values) - 1; i >= 0; i-- {
		if !math.IsNaN(c.Values[i]) {
			return row{i, l.Steps[i], c.Quantity, c.Values[i]}
		}
	}
	return row{index: -1}
}

// in reports whether a log still has the row.
func (r row) in(l *logs.Log) bool {
	return r.index < 0 || r.index < len(l.Steps) && r == lastRow(l.Prefix(r.index+1))
}

// follow reads the log at intervals until a failure is found, the log stands still for a
// time, or ctx is done.
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
		if w.rows != before || w.log.Pending() {
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
	for _, s := range w.stating {
		if s.level == findings.Failure {
			found = append(found, string(s.kind))
		}
	}
	for _, m := range diagnose.Failures {
		if w.present[m] {
			found = append(found, string(m))
		}
	}
	text := fmt.Sprintf("%s: %s", w.path, logs.CountWords(w.rows, "row"))
	if w.last.index >= 0 {
		text += fmt.Sprintf(", step %d, %s %.3g", w.last.step, w.last.quantity, w.last.value)
	}
	if len(found) == 0 {
		return text + ": nothing found"
	}
	return text + ": found " + strings.Join(found, ", ")
}

// restart forgets what was read.
func (w *watcher) restart() {
	w.seen, w.rows, w.last, w.look = nil, 0, row{index: -1}, firstLook
	w.present, w.suspected = make(map[diagnose.Mode]bool), make(map[diagnose.Mode]int)
	w.stands, w.stating = make(map[statement]int), nil
}

// say prints a message about the file, once.
func (w *watcher) say(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); text != w.said {
		w.said = text
		printLines(w.stderr, text)
	}
}

// read reads the log and judges what is new. found says that a failure that was asked
// about is there.
func (w *watcher) read() (found bool, err error) {
	l, err := w.log.Read()
	switch {
	case errors.Is(err, os.ErrNotExist):
		w.say("%s: waiting for the file", w.path)
		return false, nil
	case err != nil: // half written, perhaps
		if all, _ := logs.OpenAll(w.path, w.how.how); len(all) > 1 {
			return false, usageError{err}
		}
		w.say("%v: waiting for more", err)
		return false, nil
	}
	if len(l.Steps) == 0 {
		w.say("%s: no row of training yet: waiting for more", w.path)
		return false, nil
	}
	if len(l.Steps) < w.rows || !w.last.in(l) {
		w.said = ""
		w.say("%s: %s: read anew", w.path, w.parted(l))
		w.restart()
	}
	return w.judge(l)
}

// judge judges the rows of a log that are new.
func (w *watcher) judge(l *logs.Log) (found bool, err error) {
	for w.rows < len(l.Steps) && (w.goOn || !found) {
		from := w.rows
		w.rows = min(w.look, len(l.Steps))
		found = w.check(l, from) || found
		if w.rows == w.look && (w.goOn || !found) {
			s, err := w.how.log(w.path, l.Prefix(w.rows))
			if err != nil {
				return false, err
			}
			found = w.tell(diagnose.Name(s.trace), l.Steps[w.rows-1]) || found
			w.look = nextLook(w.look)
		}
	}
	w.seen = l.Prefix(w.rows)
	w.last = lastRow(w.seen)
	return found, nil
}

// parted says why rows that were read are not those of a log: the run was resumed from a step
// before which they are, or they are others.
func (w *watcher) parted(l *logs.Log) string {
	for _, step := range l.Resumes {
		n, _ := slices.BinarySearch(w.seen.Steps, step)
		if n > 0 && n < w.rows && !slices.Contains(w.seen.Resumes, step) && lastRow(w.seen.Prefix(n)).in(l) {
			return fmt.Sprintf("the run was resumed from step %d", step)
		}
	}
	return fmt.Sprintf("the %s read before are no longer in it", logs.CountWords(w.rows, "row"))
}

// check prints what the log states that has not been told, of the rows after from, in the
// order of the rows that confirm it, and returns whether a failure is among it. Rows that
// were read at once are searched by halving for the first that states it, and where a
// failure ends the watch, nothing later is told.
func (w *watcher) check(l *logs.Log, from int) (found bool) {
	now := statements(l.Prefix(w.rows))
	for s := range w.stands {
		if !now.has(s) && !slices.Contains(w.stating, s) {
			delete(w.stands, s)
		}
	}
	type news struct {
		statement
		findings.Finding
		at int
	}
	var all []news
	for _, s := range now.order {
		if slices.Contains(w.stating, s) {
			continue
		}
		first, known := w.stands[s]
		if !known {
			first = firstStated(l, s, from, w.rows)
		}
		for {
			at := first
			if s.level == findings.Failure {
				since, _ := slices.BinarySearch(l.Steps, statements(l.Prefix(first)).of[s].Since)
				at = max(at, since+confirm(string(s.kind), confirmation))
			}
			if w.stands[s] = first; at > w.rows {
				break
			}
			if confirmed := statements(l.Prefix(at)); confirmed.has(s) {
				all = append(all, news{s, confirmed.of[s], at})
				break
			}
			first = firstStated(l, s, at, w.rows)
		}
	}
	slices.SortStableFunc(all, func(a, b news) int { return cmp.Compare(a.at, b.at) })
	ends := w.rows
	for _, n := range all {
		if n.at > ends {
			break
		}
		w.stating = append(w.stating, n.statement)
		text := fmt.Sprintf("step %d: %s: %s since step %d: %s", l.Steps[n.at-1], n.Kind, n.Level, n.Since, n.Text)
		if n.Level != findings.Failure {
			printLines(w.stderr, text)
			continue
		}
		fmt.Fprintln(w.stdout, text)
		if w.asked.asks(string(n.Kind)) {
			found = true
			if !w.goOn {
				ends = n.at
			}
		}
	}
	return found
}

// firstStated returns the first number of rows, above one that does not state something and
// up to one that does, that states it; by halving.
func firstStated(l *logs.Log, s statement, silent, stating int) int {
	for stating-silent > 1 {
		if middle := (silent + stating) / 2; statements(l.Prefix(middle)).has(s) {
			stating = middle
		} else {
			silent = middle
		}
	}
	return stating
}

// stated holds the first finding of every kind and level, in the order of the table.
type stated struct {
	of    map[statement]findings.Finding
	order []statement
}

func (s stated) has(one statement) bool { _, has := s.of[one]; return has }

func statements(l *logs.Log) stated {
	s := stated{of: make(map[statement]findings.Finding)}
	for _, f := range findings.Of(l) {
		one := statement{f.Kind, f.Level}
		if !s.has(one) {
			s.of[one], s.order = f, append(s.order, one)
		}
	}
	return s
}

// tell prints a line for every mode that has become present, and for one that was and is absent
// now; absent, of one that was not, is no news, and not observable is no end. It returns
// whether one of the modes asked about has become present.
func (w *watcher) tell(d diagnose.Diagnosis, step int) (found bool) {
	for _, v := range d.Verdicts {
		if v.Finding != diagnose.Present {
			w.suspected[v.Mode] = 0
		} else {
			w.suspected[v.Mode] = cmp.Or(w.suspected[v.Mode], w.rows)
		}
		m := newModeVerdict(v, d.Evidence)
		switch {
		case v.Finding == diagnose.Absent && w.present[v.Mode]:
			w.present[v.Mode] = false
			fmt.Fprintf(w.stdout, "step %d: %s: no longer present: %s\n", step, v.Mode, m.text())
		case v.Finding == diagnose.Present && !w.present[v.Mode] && w.rows >= w.suspected[v.Mode]+confirm(string(v.Mode), 1):
			w.present[v.Mode] = true
			fmt.Fprintf(w.stdout, "step %d: %s: present since step %d: %s\n", step, v.Mode, v.Since, m.text())
			found = found || w.asked.asks(string(v.Mode))
		}
	}
	return found
}

// end diagnoses the whole log, prints the result in a line, and returns its exit code.
func (w *watcher) end() error {
	l, err := logs.Open(w.path, w.how.how)
	if err != nil {
		return badInput(w.path, err)
	}
	if len(l.Steps) == 0 {
		return usageError{fmt.Errorf("%s: got no row of training", w.path)}
	}
	s, err := w.how.log(w.path, l)
	if err != nil {
		return err
	}
	r := s.report()
	var verdicts []string
	for _, f := range r.findings {
		if f.Level == findings.Failure {
			verdicts = append(verdicts, string(f.Kind))
		}
	}
	for _, m := range r.modes {
		verdicts = append(verdicts, fmt.Sprintf("%s %s", m.Mode, m.Finding))
	}
	fmt.Fprintf(w.stdout, "%s stands still at step %d: leading %s (%s)\n", w.path, l.Steps[len(l.Steps)-1], r.leading, strings.Join(verdicts, ", "))
	return exit(diagnosisCode([]*runReport{r}, w.asked))
}
