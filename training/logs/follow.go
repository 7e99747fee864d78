package logs

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Follower reads a log that grows. Of a file of JSON lines it reads what is new. Other
// files, and folders, are read anew when they have changed, but in at most one of
// restShares parts of the time.
type Follower struct {
	path string
	how  Options

	seen string    // size and time of what was read last
	log  *Log      // what was read last
	err  error     // why it is none
	rest time.Time // not to be read anew before

	lines  *collector  // of complete lines, nil if the file is read anew
	file   os.FileInfo // whose lines these are
	offset int64       // of the first byte after them
	number int         // of lines before the offset
	before []byte      // the last bytes before the offset, at most remembered
}

const (
	// restShares: a log that is read anew takes at most one of so many parts of the time.
	restShares = 20
	// remembered is the number of bytes before the offset by which a file is recognised.
	// Another file has other numbers there.
	remembered = 1 << 10
)

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
	now := signature(f.path, info)
	if now == f.seen {
		return f.log, f.err
	}
	if f.lines != nil && os.SameFile(f.file, info) && f.more(info.Size()) {
		f.seen = now
		return f.log, f.err
	}
	began := time.Now()
	if f.lines == nil && began.Before(f.rest) {
		return f.log, f.err
	}
	f.lines, f.seen = nil, now
	if !f.begin(info) {
		f.log, f.err = Open(f.path, f.how)
	}
	f.rest = time.Now().Add(restShares * time.Since(began))
	return f.log, f.err
}

// signature returns the size and time of a file, or of all files in a folder.
func signature(path string, info os.FileInfo) string {
	var b bytes.Buffer
	add := func(name string, info os.FileInfo) {
		fmt.Fprintln(&b, name, info.Size(), info.ModTime().UnixNano())
	}
	if !info.IsDir() {
		add("", info)
		return b.String()
	}
	fmt.Fprintln(&b, "folder")                                                     // an empty one has been seen too
	_ = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error { // what is removed meanwhile is not listed
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				add(name, info)
			}
		}
		return nil
	})
	return b.String()
}

// begin reads a file from its start; it returns false if that is no file of JSON lines
// that can be read on.
func (f *Follower) begin(info os.FileInfo) bool {
	if !info.Mode().IsRegular() || filepath.Base(f.path) == string(TrainerState) {
		return false
	}
	file, err := os.Open(f.path)
	if err != nil {
		return false
	}
	defer file.Close()
	first := make([]byte, 1)
	if _, err := file.ReadAt(first, 0); err != nil || first[0] != '{' {
		return false
	}
	f.file, f.offset, f.number, f.before = info, 0, 0, nil
	f.lines = newCollector(f.path, f.how)
	return f.read(file, info.Size(), f.lines.read)
}

// more reads on where the file still has the bytes that were read; it returns false if the
// file must be read anew.
func (f *Follower) more(size int64) bool {
	file, err := os.Open(f.path)
	if err != nil {
		return false
	}
	defer file.Close()
	before := make([]byte, len(f.before))
	if _, err := file.ReadAt(before, f.offset-int64(len(before))); err != nil || !bytes.Equal(before, f.before) {
		return false
	}
	return f.read(file, size, func(r io.Reader) error { return f.lines.objects(r, f.number) })
}

// read reads the lines from the offset to size, the complete ones for good. It returns
// false if there is anything to be said of them: then all lines are read together.
func (f *Follower) read(file *os.File, size int64, parse func(io.Reader) error) bool {
	text := make([]byte, size-f.offset)
	if n, err := file.ReadAt(text, f.offset); err != nil && err != io.EOF {
		return false
	} else {
		text = text[:n]
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	if len(whole) > 0 {
		if err := parse(bytes.NewReader(whole)); err != nil || f.lines.container != JSONLines || len(f.lines.err.Problems)+len(f.lines.notes) > 0 {
			return false
		}
	} else if f.number == 0 {
		return false
	}
	f.offset += int64(len(whole))
	f.number += bytes.Count(whole, []byte("\n"))
	f.before = slices.Clone(append(f.before, whole...))
	f.before = f.before[max(0, len(f.before)-remembered):]
	c := f.lines.clone()
	if err := c.objects(bytes.NewReader(text[len(whole):]), f.number); err != nil {
		return false
	}
	f.log, f.err = c.log()
	return true
}

// objects reads further JSON lines after a number of others.
func (c *collector) objects(from io.Reader, after int) error {
	p := &parser{collector: c, r: bufio.NewReader(from), line: after + 1}
	return p.json()
}

// clone returns a copy to read on or to make a log of, which merges rows.
func (c *collector) clone() *collector {
	other := *c
	other.byKey, other.byName, other.series = make(map[string]*series, len(c.byKey)), make(map[string]*series, len(c.byName)), nil
	copies := make(map[*series]*series, len(c.series))
	for _, s := range c.series {
		t := *s
		t.values, t.notFinite = slices.Clone(s.values), slices.Clone(s.notFinite)
		copies[s] = &t
		other.series = append(other.series, &t)
	}
	for key, s := range c.byKey {
		other.byKey[key] = copies[s]
	}
	for name, s := range c.byName {
		other.byName[name] = copies[s]
	}
	other.tidy, other.folded = nil, nil
	other.resumes, other.unread.first = slices.Clone(c.resumes), slices.Clone(c.unread.first)
	other.rows, other.unknown, other.notes = slices.Clone(c.rows), slices.Clone(c.unknown), slices.Clone(c.notes)
	other.broken = slices.Clone(c.broken)
	other.err.Problems, other.cells = slices.Clone(c.err.Problems), nil
	return &other
}

// Prefix returns the first rows of training, at least one, with the evaluations up to the
// last of them. The columns stay, and share their values with the log.
func (l *Log) Prefix(rows int) *Log {
	p := *l
	p.Table = l.Table.prefix(rows)
	last := p.Steps[rows-1]
	if l.Evaluation != nil {
		until, found := slices.BinarySearch(l.Evaluation.Steps, last)
		if found {
			until++
		}
		e := l.Evaluation.prefix(until)
		if p.Evaluation = &e; until == 0 {
			p.Evaluation = nil
		}
	}
	resumes, _ := slices.BinarySearch(l.Resumes, last+1)
	p.Resumes = l.Resumes[:resumes]
	return &p
}

// prefix returns the first rows of a table.
func (t *Table) prefix(rows int) Table {
	p := Table{Steps: t.Steps[:rows], Columns: slices.Clone(t.Columns)}
	for i := range p.Columns {
		c := &p.Columns[i]
		c.Values = c.Values[:rows]
		broken, _ := slices.BinarySearch(c.NotFinite, rows)
		c.NotFinite = c.NotFinite[:broken]
	}
	return p
}
