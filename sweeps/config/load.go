package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// maxFileBytes is the size of the largest file that Load accepts.
const maxFileBytes = 1 << 20

// ReadFile reads and checks a configuration file; see Load.
func ReadFile(path string, set ...string) (*Spec, error) {
	problem := func(text string) (*Spec, error) { return nil, Problems{{Source: path, Text: text}} }
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return problem("got no such file, want a configuration")
	case err != nil:
		return problem("cannot read: " + reason(err))
	case info.IsDir():
		return problem("got a directory, want a configuration file")
	}
	file, err := os.Open(path)
	if err != nil {
		return problem("cannot read: " + reason(err))
	}
	defer file.Close()                                            // the file was only read
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1)) // Load refuses the excess byte
	if err != nil {
		return problem("cannot read: " + reason(err))
	}
	return Load(path, data, set...)
}

// reason returns the text of an error of the file system without the path, which the
// message already has.
func reason(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	return err.Error()
}

// Load checks the configuration in data, with overrides `key=value` applied to its
// base; messages name it by file. The error is Problems and lists all errors at once.
func Load(file string, data []byte, set ...string) (*Spec, error) {
	if len(data) > maxFileBytes {
		return nil, Problems{{Source: file, Text: fmt.Sprintf("got more than %d bytes, want at most %d", maxFileBytes, maxFileBytes)}}
	}
	return Restore(file, data, set)
}

// Restore is Load without the limit on size: the document in a results folder writes
// out what a file may abbreviate.
func Restore(file string, data []byte, set []string) (*Spec, error) {
	root, problems := parseYAML(file, "", data)
	l := newLoader(problems)
	l.load(root, set)
	if len(l.problems) > 0 {
		return nil, l.problems.sorted()
	}
	return l.spec, nil
}

// load decodes the tree of a file, applies the overrides and checks the result.
func (l *loader) load(root *node, set []string) {
	var fields map[string]*node
	if root != nil && root.kind == nothing {
		l.want(root, "", "a configuration")
	} else if root != nil {
		l.at[""] = root.at
		sections := sectionNames("")
		fields = l.fields(root, "", slices.Concat(topNames, sections, []string{"sweep", "variants", "checks"}))
		for _, name := range topNames {
			if n := fields[name]; n != nil {
				l.top(name, n)
			}
		}
		for _, name := range sections {
			if n := fields[name]; n != nil {
				l.section(name, n)
			}
		}
	}
	l.overrides(set)
	if fields == nil {
		return
	}
	l.spec.given = l.given
	if n := fields["sweep"]; n != nil {
		l.spec.Sweep, l.sweepAt = l.grid(n, "sweep")
	}
	if n := fields["variants"]; n != nil {
		l.decodeVariants(n)
	}
	if len(l.spec.Variants) == 0 {
		l.count(l.spec.Sweep, l.at[""])
	}
	l.unusedLists()
	l.require()
	if n := fields["checks"]; n != nil {
		l.decodeChecks(n)
	}
	l.validate()
	if len(l.problems) == 0 {
		l.spec.Base = l.given.settings()
	}
}
