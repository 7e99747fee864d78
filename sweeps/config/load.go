package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
)

// loader decodes the tree of a file into a Spec, and checks it.
type loader struct {
	reader
	aim     Aim
	files   []string // in the order in which each extends the next
	extends Place    // where the first file says which it extends
	spec    *Spec
	given   draft // the base
	// of all sections and values of the file by path, entries of lists of scalars aside
	at    map[string]Place
	lists map[string]*node // overrides with the values of an axis, by key
	notes Problems         // on overrides that the file agrees with in part
	cells int              // number of cells in the grids decoded so far, at most maxCells+1
	// of Spec.Checks: whether its cells are not checked: it has been reported, or the aim is not
	// ToJudge
	broken []bool
}

// remember records the places of a node and of those below it.
func (l *loader) remember(n *node, path string) {
	l.at[path] = n.at
	for _, f := range n.fields {
		l.remember(f.value, strings.TrimPrefix(path+"."+f.name, "."))
	}
	for i, item := range n.items {
		if item.kind == list || item.kind == mapping {
			l.remember(item, fmt.Sprintf("%s[%d]", path, i))
		}
	}
}

// near returns the place of a path, or of the nearest section that the file has.
func (l *loader) near(path string) Place {
	for path != "" {
		if at, given := l.at[path]; given {
			return at
		}
		path = path[:max(strings.LastIndexByte(path, '.'), 0)]
	}
	return l.at[""]
}

// reject records a problem at a path, at its place or the nearest section.
func (l *loader) reject(path, format string, args ...any) {
	l.problem(l.near(path), path, format, args...)
}

// rejectCell records a problem of a cell with a key of a check.
func (l *loader) rejectCell(path, got, want string) {
	l.reject(path, "got %s, want %s", got, want)
}

// maxFileBytes is the size of the largest file that Load accepts.
const maxFileBytes = 1 << 20

// Aim says whether the cells of a configuration are compared with the requirements of its checks.
type Aim int

const (
	ToJudge   Aim = iota // cells must meet the requirements of the checks that select them
	ToPredict            // they need not: no check is judged
)

// ReadFile reads and checks a configuration file and those that it extends; see Load.
func (a Aim) ReadFile(path string, set ...string) (*Spec, error) {
	read := readRegular
	// A file that is open already, such as a pipe of the shell (`<(command)`): only the reader's own
	// command line can mean one.
	for _, opened := range []string{"/dev/stdin", "/dev/fd/", "/proc/self/fd/"} {
		if strings.HasPrefix(path, opened) {
			read = readAny
		}
	}
	data, problem := read(path)
	if problem != "" {
		return nil, Wrong(path, "%s", problem)
	}
	return a.restore(path, data, set, readRegular)
}

// readRegular returns the content of a configuration file, or a problem in words: a pipe or a
// terminal would be waited for.
func readRegular(path string) (data []byte, problem string) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, "got a pipe or another special file, want a regular file"
	}
	return readAny(path)
}

// readAny is readRegular of any file.
func readAny(path string) (data []byte, problem string) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, "got no such file, want a configuration"
	} else if err != nil {
		return nil, "cannot read: " + reason(err)
	}
	defer file.Close() // the file was only read
	data, err = io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if errors.Is(err, syscall.EISDIR) {
		return nil, "got a directory, want a configuration file"
	} else if err != nil {
		return nil, "cannot read: " + reason(err)
	}
	return data, unreadable(data)
}

// unreadable returns the problem of a file that is too large or no text, or "".
func unreadable(data []byte) string {
	if len(data) > maxFileBytes {
		return fmt.Sprintf("got more than %d bytes, want at most %d", maxFileBytes, maxFileBytes)
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return fmt.Sprintf("got a binary file (byte %d is 0), want a configuration", i)
	}
	return ""
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
// Load reads no file, so the configuration can extend none.
func Load(file string, data []byte, set ...string) (*Spec, error) {
	return ToJudge.Load(file, data, set...)
}

// Load is the function Load for an aim.
func (a Aim) Load(file string, data []byte, set ...string) (*Spec, error) {
	if problem := unreadable(data); problem != "" {
		return nil, Wrong(file, "%s", problem)
	}
	return a.restore(file, data, set, readNone)
}

// Restore is Load without the limit on size: the document in a results folder writes
// out what a file may abbreviate.
func Restore(file string, data []byte) (*Spec, error) {
	return ToJudge.restore(file, data, nil, readNone)
}

// readNone refuses to read a file.
func readNone(string) (data []byte, problem string) {
	return nil, "got a file to extend, want a configuration that needs no other"
}

// reading returns the content of a file, or a problem in words.
type reading func(path string) (data []byte, problem string)

// restore is Restore for an aim, with a function that reads the files that the
// configuration extends.
func (a Aim) restore(file string, data []byte, set []string, read reading) (*Spec, error) {
	l := &loader{reader: newReader(nil), spec: &Spec{Confidence: 0.99}, given: make(draft, len(Keys)),
		at: map[string]Place{}, lists: map[string]*node{}, aim: a}
	l.load(l.tree([]string{file}, data, read), set)
	if len(l.problems) > 0 {
		return nil, l.problems.sorted(l.files)
	}
	return l.spec, nil
}

// fileNames returns the keys of a file.
func fileNames() []string {
	own := []string{"sweep", "variants", "checks", extendsKey}
	return slices.Concat(topNames, sectionNames(""), own)
}

// load decodes the tree of a file, applies the overrides and checks the result.
func (l *loader) load(root *node, set []string) {
	var fields map[string]*node
	if root != nil && root.kind == nothing {
		l.want(root, "", "a configuration")
	} else if root != nil {
		l.remember(root, "")
		sections := sectionNames("")
		fields = l.fields(root, "", fileNames())
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
		l.spec.Sweep = l.grid(n, "sweep")
	}
	if n := fields["variants"]; n != nil {
		l.decodeVariants(n)
	}
	if len(l.spec.Variants) == 0 {
		l.count(l.spec.Sweep, l.at[""])
	}
	l.overrideGrids()
	before := len(l.problems)
	l.require()
	l.atExtends(before)
	if n := fields["checks"]; n != nil {
		l.decodeChecks(n)
	}
	before = len(l.problems)
	l.validate()
	l.atExtends(before)
	if len(l.problems) == 0 {
		l.spec.Base = l.given.settings()
	}
}
