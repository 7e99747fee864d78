package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"grposim/sim"
)

// JournalName is the file name of a results folder's journal.
const JournalName = "cells.jsonl"

// The file names of the lines removed from the journal.
const (
	DamagedName = "cells.damaged" // damaged ones
	ForeignName = "cells.foreign" // those of another version of the program
)

// Journal is the journal of a results folder, cells.jsonl: one checksummed line per
// finished cell, appended while the sweep runs and sorted into cell order at its end.
//
// After a method has returned an error, only Close may be called.
type Journal struct {
	// Outcomes are the outcomes of the intact lines, by cell id. Their trajectories stay in the file,
	// which must exist as long as they are read; the journal may be closed.
	Outcomes map[string]*Outcome
	Damaged  [][]byte // lines that were torn, did not match their checksum, or held no outcome
	Foreign  [][]byte // lines of another version than sim.Version, of OpenJournal; not in Outcomes

	source *lineSource // of all lines
	end    int64       // size of the file, bytes
	file   *os.File    // to append to; nil if the journal was opened by ReadJournal
	buffer []byte      // the last line appended or moved
	synced time.Time   // when file was last synced
}

// OpenJournal opens the journal of a locked folder to append to it, and reads it. A
// missing one is created, and locked. The caller closes it. Damaged and foreign lines must
// be removed with SetAside before the first Append.
func OpenJournal(dir string) (*Journal, error) {
	path := filepath.Join(dir, JournalName)
	if err := checkRegular(path, os.Lstat); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	if err := lock(dir, file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	j, err := readJournal(path, file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	j.source.ReaderAt, j.file = fileText(path), file
	for _, id := range slices.Sorted(maps.Keys(j.Outcomes)) {
		o := j.Outcomes[id]
		if o.Version == sim.Version {
			continue
		}
		line, err := o.line.read(nil)
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		j.Foreign = append(j.Foreign, line)
		delete(j.Outcomes, id)
	}
	return j, nil
}

// ReadJournal reads the journal of a folder, which stays closed; a missing one is empty.
func ReadJournal(dir string) (*Journal, error) {
	path := filepath.Join(dir, JournalName)
	if err := checkRegular(path, os.Stat); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return readJournal(path, strings.NewReader(""))
	}
	if err != nil {
		return nil, err
	}
	j, err := readJournal(path, file)
	j.source.ReaderAt = fileText(path)
	return j, errors.Join(err, file.Close())
}

func readJournal(path string, text io.ReaderAt) (*Journal, error) {
	j := &Journal{source: &lineSource{text, path}, Outcomes: make(map[string]*Outcome),
		synced: time.Now()}
	lines := bufio.NewScanner(io.NewSectionReader(text, 0, math.MaxInt64))
	lines.Buffer(make([]byte, 1<<16), math.MaxInt)
	lines.Split(wholeLines)
	for lines.Scan() {
		line := lines.Bytes()
		if o, ok := parseLine(line); ok {
			j.keep(o, len(line))
		} else {
			j.Damaged = append(j.Damaged, bytes.Clone(line))
			j.end += int64(len(line))
		}
	}
	return j, lines.Err()
}

// keep adds an outcome whose line begins at the end, and drops its trajectory from memory.
func (j *Journal) keep(o *Outcome, length int) {
	o.recorded, o.line = nil, &storedLine{source: j.source, at: j.end, length: length}
	j.Outcomes[o.ID] = o
	j.end += int64(length)
}

// Close writes what the operating system still holds to disk and closes the file.
// Trajectories can be read afterwards.
func (j *Journal) Close() error { return errors.Join(j.file.Sync(), j.file.Close()) }

// Append writes the line of an outcome of this version and adds it to Outcomes; the outcome
// keeps no trajectory in memory. The file is synced at most once a second: a crash of the
// program loses no line, a crash of the machine those written since.
func (j *Journal) Append(o *Outcome) error {
	o.Version = sim.Version
	line, err := o.appendLine(j.buffer[:0])
	if err != nil {
		return err
	}
	if err := j.write(o, line); err != nil {
		return err
	}
	if time.Since(j.synced) < time.Second {
		return nil
	}
	j.synced = time.Now()
	return j.file.Sync()
}

// Copy appends the line of an outcome that is in another journal.
func (j *Journal) Copy(o *Outcome) error {
	line, err := o.line.read(j.buffer)
	if err != nil {
		return err
	}
	return j.write(new(*o), line)
}

// write appends the line of an outcome and adds it to Outcomes.
func (j *Journal) write(o *Outcome, line []byte) error {
	j.buffer = line
	if _, err := j.file.Write(line); err != nil {
		return err
	}
	j.keep(o, len(line))
	return nil
}

// foreignLines names lines of another version, in notes.
var foreignLines = "lines of another version of grposim than " + strconv.Quote(sim.Version)

// ForeignNote says in one line how many of these cells have another version, and what a sweep would
// do; "" if none has. The journal was opened by ReadJournal.
func (j *Journal) ForeignNote(ids []string) string {
	foreign := 0
	for _, id := range ids {
		if o := j.Outcomes[id]; o != nil && o.Version != sim.Version {
			foreign++
		}
	}
	if foreign == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %s are used: %d; `grposim sweep` computes anew what they hold",
		j.source.path, foreignLines, foreign)
}

// SetAside appends the damaged lines to cells.damaged and the foreign ones to cells.foreign,
// and rewrites the journal without them, sorted like Sort. Their cells are then missing from
// it, and a run of the sweep simulates them again. It says in one line for each of the two
// how many there were.
func (j *Journal) SetAside(order []string) (notes []string, err error) {
	for _, removed := range []struct {
		name, kind string
		lines      [][]byte
	}{
		{DamagedName, "damaged lines", j.Damaged},
		{ForeignName, foreignLines, j.Foreign},
	} {
		if len(removed.lines) == 0 {
			continue
		}
		path := filepath.Join(filepath.Dir(j.source.path), removed.name)
		text, err := ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, line := range removed.lines {
			text = append(append(text, bytes.TrimRight(line, "\n")...), '\n')
		}
		if err := WriteFile(path, text); err != nil {
			return nil, err
		}
		notes = append(notes, fmt.Sprintf("%s: %s set aside in %s: %d; what they held is computed again",
			j.source.path, removed.kind, removed.name, len(removed.lines)))
	}
	if notes == nil {
		return nil, nil
	}
	return notes, j.Sort(order)
}

// Sort sorts the lines of the journal, atomically: the cells of the sweep in the order of their ids
// in order, then others by id. Of several lines of a cell it keeps the last.
func (j *Journal) Sort(order []string) error {
	if err := j.file.Sync(); err != nil {
		return err
	}
	lines := j.sorted(order)
	end := int64(0)
	inPlace := true
	for _, l := range lines {
		inPlace = inPlace && l.at == end
		end += int64(l.length)
	}
	if inPlace && end == j.end {
		return nil
	}
	replaced := j.file
	err := ReplaceFile(j.source.path, func(w io.Writer) error {
		for _, l := range lines {
			line, err := l.read(j.buffer)
			if err != nil {
				return err
			}
			j.buffer = line
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		return beforeReplaced(replaced)
	})
	if err != nil {
		return err
	}
	j.end = 0
	for _, l := range lines {
		l.at = j.end
		j.end += int64(l.length)
	}
	file, err := os.OpenFile(j.source.path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	j.file = file
	return errors.Join(lock(filepath.Dir(j.source.path), file), afterReplaced(replaced))
}

// sorted lists the lines of the outcomes in the order of Sort.
func (j *Journal) sorted(order []string) (lines []*storedLine) {
	seen := make(map[string]bool)
	for _, id := range slices.Concat(order, slices.Sorted(maps.Keys(j.Outcomes))) {
		if o := j.Outcomes[id]; o != nil && !seen[id] {
			seen[id], lines = true, append(lines, o.line)
		}
	}
	return lines
}
