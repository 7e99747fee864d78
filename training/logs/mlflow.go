package logs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

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

// metric is a value of a metric.
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
		if path.Base(keys[i]) != runTime && t.addKey(0, keys[i]) == nil {
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
