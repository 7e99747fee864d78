package logs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// OpenAll reads a file or a folder, and returns a Log for each run in it, or the one that
// the options name. A run in which nothing can be read is left out with a note, unless it
// is the only one.
func OpenAll(path string, how Options) ([]*Log, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return openFolder(path, how)
	}
	return openFile(path, how)
}

// Open reads a file or folder that holds a single run, or the run that the options name.
func Open(path string, how Options) (*Log, error) {
	all, err := OpenAll(path, how)
	return only(path, all, err)
}

func openFile(path string, how Options) ([]*Log, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, path, how)
}

// ReadAll reads the runs of a log. The name stands for the file in errors. An error about
// the content is an *Error.
func ReadAll(r io.Reader, name string, how Options) ([]*Log, error) {
	c := newCollector(name, how)
	if err := c.read(r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c.logs()
}

func only(path string, all []*Log, err error) (*Log, error) {
	if err != nil {
		return nil, err
	}
	if len(all) > 1 {
		var names []string
		for _, l := range all {
			names = append(names, l.Run)
		}
		wrong := &Error{File: path}
		wrong.add(0, "got %d runs, want one; name it by --run: %s", len(all), quoteAll(names, mostNames))
		return nil, wrong
	}
	return all[0], nil
}

func (c *collector) logs() ([]*Log, error) {
	runs := c.runs
	switch {
	case len(runs) == 0:
		runs = []*collector{c}
	case len(c.err.Problems) > 0:
		return nil, &c.err
	}
	if c.how.Run != "" {
		if runs = c.chosen(runs); runs == nil {
			return nil, &c.err
		}
	}
	var all []*Log
	failed := Error{File: c.err.File}
	for _, run := range runs {
		l, err := run.log()
		wrong, inContent := errors.AsType[*Error](err)
		switch {
		case err == nil:
			all = append(all, l)
		case len(runs) == 1:
			return nil, err
		case inContent:
			failed.add(0, "run %s left out: %s", quote(run.run), wrong.Problems[0].Text)
		}
	}
	if len(all) == 0 {
		return nil, &failed
	}
	for _, p := range failed.Problems {
		all[0].Notes = append(all[0].Notes, p.Text)
	}
	if len(c.runs) > 0 {
		for _, l := range all {
			l.Notes = append(l.Notes, c.notes...)
		}
	}
	return all, nil
}

// chosen returns the run that the options name, by its name. What follows a slash is enough if a
// single one has it.
func (c *collector) chosen(runs []*collector) []*collector {
	var names []string
	var ends []*collector
	for i, run := range runs {
		if names = append(names, run.run); run.run == c.how.Run {
			return runs[i : i+1]
		}
		if strings.HasSuffix(run.run, "/"+c.how.Run) {
			ends = append(ends, run)
		}
	}
	switch {
	case len(ends) == 1:
		return ends
	case len(names) == 1 && names[0] == "":
		c.err.add(0, "got --run %s, want none: the log names no runs", quote(c.how.Run))
	default:
		c.err.add(0, "got --run %s, want one of %s", quote(c.how.Run), quoteAll(names, mostNames))
	}
	return nil
}

// Follower reads a log that grows: anew when it has changed, but in at most one of
// restShares parts of the time.
type Follower struct {
	path string
	how  Options

	seen string    // size and time of what was read last
	log  *Log      // what was read last
	err  error     // why it is none
	rest time.Time // not to be read anew before

	Pending bool // the log had changed when Read last returned what it had read before
}

// restShares: reading takes at most one of so many parts of the time.
const restShares = 20

// Follow returns a follower of a file or folder, which need not exist yet.
func Follow(path string, how Options) *Follower { return &Follower{path: path, how: how} }

// Read returns what Open would, or what it returned last where the log has not changed or
// is not to be read anew yet. It does not say whether rows read before are still in the log.
func (f *Follower) Read() (*Log, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		f.seen = ""
		return nil, err
	}
	began := time.Now()
	now := signature(f.path, info)
	if f.Pending = now != f.seen && began.Before(f.rest); now != f.seen && !f.Pending {
		f.log, f.err = Open(f.path, f.how)
		f.seen, f.rest = now, time.Now().Add(restShares*time.Since(began))
	}
	return f.log, f.err
}

// signature returns the size and time of a file, or of a folder and all in it.
func signature(path string, info os.FileInfo) string {
	b := fmt.Appendln(nil, info.Size(), info.ModTime().UnixNano())
	// What is removed meanwhile is not listed.
	_ = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			if info, err := d.Info(); err == nil {
				b = fmt.Appendln(b, name, info.Size(), info.ModTime().UnixNano())
			}
		}
		return nil
	})
	return string(b)
}
