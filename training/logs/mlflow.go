package logs

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// MLflow's file store has a file for each metric of a run, RUN/metrics/KEY, with a line
// "TIME VALUE STEP" for each value, the time in milliseconds since 1970. Slashes of a key
// are folders.

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
	f, err := root.Open(files[0])
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 128)
	n, _ := io.ReadFull(f, head) // fewer bytes are no metric, or a short one
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	if _, err := newMetric(line); err != nil {
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
	words := strings.Fields(line)
	if len(words) < 3 { // MLflow 3 adds a data set and a model
		return m, errors.New("got " + quote(line) + ", want a time, a value and a step")
	}
	var errs [3]error
	m.time, errs[0] = strconv.ParseInt(words[0], 10, 64)
	m.value, errs[1] = strconv.ParseFloat(words[1], 64)
	m.step, errs[2] = strconv.ParseInt(words[2], 10, 64)
	if errors.Join(errs[0], errs[2]) != nil || errs[1] != nil && !errors.Is(errs[1], strconv.ErrRange) {
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
		f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		lines := bufio.NewScanner(f)
		for n := 1; lines.Scan(); n++ {
			m, err := newMetric(lines.Text())
			if err != nil {
				t.err.add(0, "%s:%d: %s", keys[i], n, err)
				continue
			}
			m.key = i
			all = append(all, m)
		}
		err = lines.Err()
		f.Close()
		if errors.Is(err, bufio.ErrTooLong) {
			t.err.add(0, "%s: got a line of more than %d bytes, want a time, a value and a step", keys[i], bufio.MaxScanTokenSize)
		} else if err != nil {
			return err
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
