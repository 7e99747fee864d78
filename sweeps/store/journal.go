package store

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"grposim/sim"
)

// The journal is cells.jsonl: one line a finished cell, with a checksum,
//
//	{"sha256":"…","cell":{…}}
//
// appended while the sweep runs, nearly in cell order, and put in that order when
// it is complete. Everything else in a results folder is derived from it.
const JournalName = "cells.jsonl"

// damagedName collects lines whose checksum does not hold.
const DamagedName = "cells.damaged"

const (
	beforeChecksum = `{"sha256":"`
	beforeCell     = `","cell":`
	afterCell      = "}\n"

	beforeTrajectory = `,"trajectory":` // the last of a cell's fields
)

func checksum(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}

// appendLine appends the journal line of an outcome, with its line feed.
func AppendLine(text []byte, o *Outcome) ([]byte, error) {
	cell, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	text = append(text, beforeChecksum...)
	sum := len(text)
	text = append(text, make([]byte, hex.EncodedLen(sha256.Size))...)
	text = append(text, beforeCell...)
	start := len(text)
	text = append(text, cell...)
	t, err := o.Trajectory()
	if err != nil {
		return nil, err
	}
	if t != nil {
		text = append(text[:len(text)-1], beforeTrajectory...)
		text = append(t.appendJSON(text), '}')
	}
	digest := sha256.Sum256(text[start:])
	hex.Encode(text[sum:], digest[:])
	return append(text, afterCell...), nil
}

// parseLine reads a line that appendLine wrote; ok is false where it is torn or
// changed since.
func parseLine(line []byte) (o *Outcome, ok bool) {
	rest, framed := bytes.CutPrefix(line, []byte(beforeChecksum))
	sum, rest, found := bytes.Cut(rest, []byte(beforeCell))
	cell, whole := bytes.CutSuffix(rest, []byte(afterCell))
	if !framed || !found || !whole || string(sum) != checksum(cell) {
		return nil, false
	}
	head, trajectory, recorded := bytes.Cut(cell, []byte(beforeTrajectory))
	o = new(Outcome)
	if recorded {
		trajectory, whole = bytes.CutSuffix(trajectory, []byte("}"))
		o.recorded, ok = parseTrajectory(trajectory, nil)
		if !whole || !ok {
			return nil, false
		}
		head = append(bytes.Clone(head), '}')
	}
	return o, json.Unmarshal(head, o) == nil && o.intact()
}

// journal is a results folder's cells.jsonl. The outcomes it gives leave their
// trajectories in it, so it stays open as long as they are in use.
type Journal struct {
	path     string
	text     io.ReaderAt         // all lines
	file     *os.File            // the same, to append to; nil where the journal is only read
	end      int64               // of the last line
	Outcomes map[string]*Outcome // of the intact lines, by cell id
	Damaged  [][]byte            // lines that are torn, or changed since they were written

	memory []byte // of the last line appended, or moved
	synced time.Time
}

// storedLine is where a journal holds an outcome.
type storedLine struct {
	journal *Journal
	at      int64
	length  int
}

// openJournal opens the journal of a folder to append to it, and reads it. A
// missing one is created. The caller closes it.
func OpenJournal(dir string) (*Journal, error) {
	path := filepath.Join(dir, JournalName)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	j, err := readJournal(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	j.path, j.text, j.file = path, fileText(path), file
	return j, nil
}

// loadJournal reads the journal of a folder; a missing one is empty.
func ReadJournal(dir string) (*Journal, error) {
	path := filepath.Join(dir, JournalName)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return readJournal(strings.NewReader(""))
	}
	if err != nil {
		return nil, err
	}
	j, err := readJournal(file)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	j.path, j.text = path, fileText(path)
	return j, nil
}

// close writes what the operating system still holds to disk and closes the file.
// Trajectories can be read on.
func (j *Journal) Close() error { return errors.Join(j.file.Sync(), j.file.Close()) }

// fileText is the text of the file at a path, which is open only while it is read.
type fileText string

// ReadAt is that of io.ReaderAt.
func (path fileText) ReadAt(text []byte, at int64) (int, error) {
	file, err := os.Open(string(path))
	if err != nil {
		return 0, err
	}
	n, err := file.ReadAt(text, at)
	return n, errors.Join(err, file.Close())
}

func readJournal(text io.ReaderAt) (*Journal, error) {
	j := &Journal{text: text, Outcomes: make(map[string]*Outcome), synced: time.Now()}
	lines := bufio.NewScanner(io.NewSectionReader(text, 0, math.MaxInt64))
	lines.Buffer(make([]byte, 1<<16), math.MaxInt)
	lines.Split(wholeLines)
	for lines.Scan() {
		line := lines.Bytes()
		if o, ok := parseLine(line); ok {
			j.keep(o, len(line))
		} else {
			j.Damaged = append(j.Damaged, bytes.Clone(line))
		}
		j.end += int64(len(line))
	}
	return j, lines.Err()
}

// wholeLines splits a text into lines with their line feeds.
func wholeLines(data []byte, atEnd bool) (advance int, line []byte, err error) {
	n := bytes.IndexByte(data, '\n') + 1
	if n == 0 && atEnd {
		n = len(data)
	}
	if n == 0 {
		return 0, nil, nil
	}
	return n, data[:n], nil
}

// keep takes over an outcome whose line is at the end, but for its trajectory.
func (j *Journal) keep(o *Outcome, length int) {
	o.recorded, o.line = nil, &storedLine{journal: j, at: j.end, length: length}
	j.Outcomes[o.ID] = o
}

// append writes an outcome and keeps it. It syncs at most once a second: a crash
// of the machine can lose the cells since, a crash of the program none.
func (j *Journal) Append(o *Outcome) error {
	line, err := AppendLine(j.memory[:0], o)
	if err != nil {
		return err
	}
	j.memory = line
	if _, err := j.file.Write(line); err != nil {
		return err
	}
	j.keep(o, len(line))
	j.end += int64(len(line))
	if time.Since(j.synced) < time.Second {
		return nil
	}
	j.synced = time.Now()
	return j.file.Sync()
}

// read returns the stored line, in memory if it has room.
func (l *storedLine) read(memory []byte) ([]byte, error) {
	line := slices.Grow(memory[:0], l.length)[:l.length]
	_, err := l.journal.text.ReadAt(line, l.at)
	return line, err
}

// trajectory reads what was recorded of some quantities, or of all where none is
// named; nil where nothing was recorded.
func (l *storedLine) trajectory(wanted []sim.Quantity) (*Trajectory, error) {
	line, err := l.read(nil)
	if err != nil {
		return nil, err
	}
	_, text, recorded := bytes.Cut(line, []byte(beforeTrajectory))
	if !recorded {
		return nil, nil
	}
	t, ok := parseTrajectory(bytes.TrimSuffix(text, []byte("}"+afterCell)), wanted)
	if !ok {
		return nil, fmt.Errorf("%s changed while it was read", l.journal.path)
	}
	return t, nil
}

// setAside moves damaged lines out of the journal: they are appended to
// cells.damaged, and the journal is put in order without them.
func (j *Journal) SetAside(order []string) error {
	path := filepath.Join(filepath.Dir(j.path), DamagedName)
	kept, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, line := range j.Damaged {
		kept = append(kept, bytes.TrimRight(line, "\n")...)
		kept = append(kept, '\n')
	}
	if err := WriteFile(path, kept); err != nil {
		return err
	}
	return j.Settle(order)
}

// sort puts the journal in order, atomically: the cells of a sweep as order has
// their ids, then the outcomes of cells that the sweep no longer has, by id.
func (j *Journal) Settle(order []string) error {
	if err := j.file.Sync(); err != nil {
		return err
	}
	lines := j.ordered(order)
	end := int64(0)
	settled := true
	for _, l := range lines {
		settled = settled && l.at == end
		end += int64(l.length)
	}
	if settled && end == j.end {
		return nil
	}
	err := replaceFile(j.path, func(w io.Writer) error {
		for _, l := range lines {
			line, err := l.read(j.memory)
			if err != nil {
				return err
			}
			j.memory = line
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	file, err := os.OpenFile(j.path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	err = j.file.Close()
	j.file, j.end = file, 0
	for _, l := range lines {
		l.at = j.end
		j.end += int64(l.length)
	}
	return err
}

// ordered lists the stored lines as settle orders them.
func (j *Journal) ordered(order []string) []*storedLine {
	var lines []*storedLine
	planned := make(map[string]bool)
	for _, id := range order {
		if j.Outcomes[id] != nil && !planned[id] {
			planned[id] = true
			lines = append(lines, j.Outcomes[id].line)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(j.Outcomes)) {
		if !planned[id] {
			lines = append(lines, j.Outcomes[id].line)
		}
	}
	return lines
}

// damageReport says in one line what was set aside.
func (j *Journal) DamageReport() string {
	return fmt.Sprintf("%s: damaged lines set aside in %s: %d; what they held is computed again",
		j.path, DamagedName, len(j.Damaged))
}
