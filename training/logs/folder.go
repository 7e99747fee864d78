package logs

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A folder of logs holds a trainer_state.json, its own or those of checkpoints, event files of
// TensorBoard, metrics of MLflow, or files of W&B. It may hold several of these. As in TensorBoard,
// every folder with event files is a run.

type runFiles struct {
	folder    string // of the run in the one that was opened, with slashes; its name, as in TensorBoard
	form      Container
	files     []string
	*timeline // what they hold
}

// IsOutput reports whether Open reads a folder: the output of a trainer, or one with logs.
func IsOutput(dir string) bool {
	runs, err := runsIn(dir)
	return len(states(dir)) > 0 || tuned(dir) != "" || err == nil && len(runs) > 0
}

// tuned returns the rows of a trial of Ray Tune in its folder, "" if it is none.
func tuned(dir string) string {
	for _, name := range []string{"result.json", "progress.csv"} {
		if isFile(os.DirFS(dir), name) {
			return filepath.Join(dir, name)
		}
	}
	return ""
}

// openFolder reads the runs of a folder. Of a trainer_state.json and the run that began last it
// reads the one with the later end. Of equals it reads the run, which has the steps of a resume and
// stays the one that is read while a trainer writes. Other runs beside a trainer_state.json are
// read only by name.
func openFolder(dir string, how Options) ([]*Log, error) {
	found, err := runsIn(dir)
	if err != nil {
		return nil, err
	}
	c := newCollector(dir, how)
	state, err := longestState(dir, how)
	if err != nil && len(found) == 0 {
		return nil, err
	} else if err != nil { // half written, perhaps
		c.note("%s", err)
	}
	if state == nil && len(found) == 0 {
		if file := tuned(dir); file != "" {
			return openFile(file, how)
		}
		c.err.add(0, "got a folder without %s, checkpoint-*/%s, files *tfevents* of TensorBoard, "+
			"metrics of MLflow "+
			"or a file *.wandb, want a log or the output folder of a trainer", TrainerState, TrainerState)
		return nil, &c.err
	}
	newest, err := c.readRuns(dir, found)
	if err != nil {
		return nil, err
	}
	if state == nil || how.Run != "" {
		return c.logs()
	}
	if newest != nil {
		last, err := newest.log()
		if err == nil && last.last() >= state.last() {
			last.Notes = append(last.Notes,
				oneLine("The %s were read, and %s, which ends at step %d, was not.",
					newest.container, state.File, state.last()))
			return []*Log{last}, nil
		}
		state.Notes = append(state.Notes, oneLine("%s was read, and the %s of %s were not.",
			filepath.Base(state.File), newest.container, quote(newest.run)))
	}
	return []*Log{state}, nil
}

func (l *Log) last() int { return l.Steps[len(l.Steps)-1] }

// longestState reads the trainer_state.json of a folder or, if longer, of its newest checkpoint;
// nil if there is none.
func longestState(dir string, how Options) (longest *Log, err error) {
	how.Run = ""
	for _, file := range states(dir) {
		all, err := openFile(file, how)
		if err != nil {
			return nil, err
		}
		if l := all[0]; longest == nil || l.last() > longest.last() {
			longest = l
		}
	}
	return longest, nil
}

// states returns the trainer_state.json of a folder and that of its newest checkpoint, if they
// exist. The newest is the folder checkpoint-N with the largest N.
func states(dir string) (files []string) {
	root := os.DirFS(dir)
	newest, last := -1, ""
	found, _ := fs.Glob(root, "checkpoint-*/"+string(TrainerState)) // the pattern is a good one
	for _, name := range found {
		n, err := strconv.Atoi(strings.TrimPrefix(path.Dir(name), "checkpoint-"))
		if err == nil && n > newest && isFile(root, name) {
			newest, last = n, name
		}
	}
	for _, name := range []string{string(TrainerState), last} {
		if name != "" && isFile(root, name) {
			files = append(files, filepath.Join(dir, name))
		}
	}
	return files
}

// runsIn finds the runs with event files or MLflow metrics in a folder, in the order of
// their names.
func runsIn(dir string) ([]*runFiles, error) {
	root := os.DirFS(dir)
	byFolder := make(map[string]*runFiles)
	seen := 0
	err := fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		if seen++; seen > mostFiles {
			return fmt.Errorf("%s: got a folder of more than %d files, want that of a run", dir, mostFiles)
		}
		folder := path.Dir(name)
		switch {
		case err != nil && name == ".":
			return err
		case err != nil: // not readable
			return fs.SkipDir
		case e.IsDir() && (strings.Count(name, "/") >= deepestFolder || name != "." &&
			e.Name()[0] == '.'):
			return fs.SkipDir // hidden folders hold copies, or what MLflow has thrown away
		case e.IsDir() && e.Name() == "metrics", name == "." && filepath.Base(dir) == "metrics":
			if files := metricFiles(root, name); files != nil {
				byFolder[name] = &runFiles{folder: folder, form: MLflow, files: files}
				return fs.SkipDir
			}
		case e.IsDir() || !isFile(root, name):
		case path.Ext(name) == ".wandb":
			byFolder[name] = &runFiles{folder: folder, form: WandbRun, files: []string{name}}
		case strings.Contains(e.Name(), "tfevents"):
			if byFolder[folder] == nil {
				byFolder[folder] = &runFiles{folder: folder, form: TensorBoard}
			}
			byFolder[folder].files = append(byFolder[folder].files, name)
		}
		return nil
	})
	return slices.SortedFunc(maps.Values(byFolder), func(x, y *runFiles) int {
		return cmp.Or(cmp.Compare(x.folder, y.folder), cmp.Compare(x.files[0], y.files[0]))
	}), err
}

// readRuns reads runs into collectors of their own, and returns the one that began last. A run that
// continues an earlier one beside it is one with it: transformers gives a resumed run a new folder.
func (c *collector) readRuns(dir string, runs []*runFiles) (newest *collector, err error) {
	for _, run := range runs {
		if err := run.read(c, dir); err != nil {
			return nil, err
		}
		if run.folder == "." && len(runs) == 1 {
			run.run = "" // the folder is the run
		}
	}
	order := slices.SortedStableFunc(slices.Values(runs),
		func(x, y *runFiles) int { return cmp.Compare(x.began, y.began) })
	gone := make(map[*runFiles]bool) // into a later run
	for n, run := range order {
		for _, before := range slices.Backward(order[:n]) {
			if gone[before] || !run.continues(before) {
				continue
			}
			run.files = slices.Concat(before.files, run.files)
			if err := run.read(c, dir); err != nil {
				return nil, err
			}
			run.note("%s goes on from %s, and both are one run.", quote(run.folder), quote(before.folder))
			gone[before] = c.how.Run != before.folder
			break
		}
	}
	for _, run := range order {
		if !gone[run] {
			run.finish()
			newest = run.collector
		}
	}
	for _, run := range runs {
		if !gone[run] {
			c.runs = append(c.runs, run.collector)
		}
	}
	return newest, nil
}

func (r *runFiles) read(c *collector, dir string) error {
	r.timeline = newTimeline(newCollector(dir, c.how))
	r.run, r.container = r.folder, r.form
	if r.form == MLflow {
		return r.metrics(dir, path.Join(r.folder, "metrics"), r.files)
	}
	for _, name := range r.files {
		if err := r.file(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	r.measure()
	return nil
}

// file reads a file of a run: of events, or of W&B.
func (t *timeline) file(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, peeked)
	if t.container == WandbRun {
		err = readWandb(t.collector, r)
	} else {
		err = t.events(r, filepath.Base(name))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// continues reports whether a run continues, in a folder beside it, from the last steps of an
// earlier one. It begins later than after the usual distance of rows, and where the earlier one has
// rows.
func (r *runFiles) continues(before *runFiles) bool {
	return r.form == TensorBoard && before.form == TensorBoard &&
		path.Dir(r.folder) == path.Dir(before.folder) &&
		r.began >= before.ended && r.first > before.first &&
		r.first > max(before.gap, r.gap) && r.first <= before.last+before.gap
}

// measure finds the first and the last step of training, and the distance from the first to
// the second, 0 if there is none.
func (t *timeline) measure() {
	var steps []int64
	for _, row := range t.rows {
		if !row.ofEval && !row.closing {
			steps = append(steps, row.step)
		}
	}
	steps = slices.Compact(slices.Sorted(slices.Values(steps)))
	if len(steps) > 0 {
		t.first, t.last = steps[0], steps[len(steps)-1]
		t.gap = steps[min(1, len(steps)-1)] - t.first
	}
}

// MLflow's file store has a file for each metric of a run, RUN/metrics/KEY. It has a line "TIME
// VALUE STEP" for each value, the time in milliseconds since 1970. Slashes of a key are folders.

// metricFiles returns the files below a folder metrics; nil if they are not MLflow's.
func metricFiles(root fs.FS, folder string) (files []string) {
	err := fs.WalkDir(root, folder, func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && isFile(root, name) {
			files = append(files, name)
		}
		return err
	})
	if err != nil || len(files) == 0 || len(files) > mostFiles {
		return nil
	}
	text, _ := fs.ReadFile(root, files[0]) // one that cannot be read is none
	if _, err := newMetric(firstLine(string(text))); err != nil {
		return nil
	}
	return files
}

// isFile reports whether a name is that of a file, or of a link to one.
func isFile(root fs.FS, name string) bool {
	info, err := fs.Stat(root, name)
	return err == nil && info.Mode().IsRegular()
}

type metric struct {
	time, step int64
	value      float64
	key        int
}

func newMetric(line string) (m metric, err error) {
	// MLflow 3 adds a data set and a model.
	if _, err := fmt.Sscan(line, &m.time, &m.value, &m.step); err != nil {
		return m, errors.New("got " + quote(line) + ", want a time, a value and a step")
	}
	return m, nil
}

// metrics reads the metric files of a run in a folder. Values with the same time were
// logged together; the run time, which tells that a row is the closing one, is put first.
func (t *timeline) metrics(dir, folder string, files []string) error {
	if i := slices.IndexFunc(files, func(name string) bool { return path.Base(name) == runTime }); i > 0 {
		files[0], files[i] = files[i], files[0]
	}
	keys := make([]string, len(files))
	var all []metric
	for i, name := range files {
		keys[i] = strings.TrimPrefix(strings.TrimPrefix(name, folder), "/")
		if path.Base(keys[i]) != runTime && t.seriesOf(0, []byte(keys[i])) == nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			if n++; !strings.HasSuffix(line, "\n") { // its step may be cut
				t.note("%s: "+lastLine, keys[i], n)
				continue
			}
			m, err := newMetric(line)
			if err != nil {
				t.err.add(0, "%s:%d: %s", keys[i], n, err)
				continue
			}
			m.key = i
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(x, y metric) int { return cmp.Compare(x.time, y.time) })
	t.begin(folder)
	for _, m := range all {
		t.clock(float64(m.time) / 1000)
		t.add(m.step, []byte(keys[m.key]), m.value)
	}
	return nil
}
