package logs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
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

// only returns the log of the only run.
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
		wrong.add(0, "got %d runs, want one; name it by --run: %s", len(all), quoteAll(names))
		return nil, wrong
	}
	return all[0], nil
}

// logs makes a Log of each run.
func (c *collector) logs() ([]*Log, error) {
	runs := c.runs
	switch {
	case len(runs) == 0:
		runs = []*collector{c}
	case len(c.err.Problems) > 0:
		return nil, &c.err
	}
	if c.how.Run != "" {
		i, err := c.chosen(runs)
		if err != nil {
			return nil, err
		}
		runs = runs[i : i+1]
	}
	var all []*Log
	failed := Error{File: c.err.File}
	for _, run := range runs {
		l, err := run.log()
		var wrong *Error
		switch {
		case err == nil:
			all = append(all, l)
		case len(runs) == 1:
			return nil, err
		case errors.As(err, &wrong):
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

// chosen returns the index of the run that the options name, by its name. What follows a slash is
// enough if a single one has it.
func (c *collector) chosen(runs []*collector) (int, error) {
	var names []string
	exact, end, ends := -1, -1, 0
	for i, run := range runs {
		names = append(names, run.run)
		if run.run == c.how.Run {
			exact = i
		}
		if strings.HasSuffix(run.run, "/"+c.how.Run) {
			end, ends = i, ends+1
		}
	}
	switch {
	case exact >= 0:
		return exact, nil
	case ends == 1:
		return end, nil
	case len(names) == 1 && names[0] == "":
		c.err.add(0, "got --run %s, want none: the log names no runs", quote(c.how.Run))
	default:
		c.err.add(0, "got --run %s, want one of %s", quote(c.how.Run), quoteAll(names))
	}
	return 0, &c.err
}
