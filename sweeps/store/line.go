package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"grposim/sim"
)

// A journal line is one JSON object, with its line feed,
//
//	{"sha256":"…","cell":{…,"trajectory":{…}}}
//
// whose checksum is that of the text of the cell. The trajectory is the last of the
// cell's fields, and is missing where nothing was recorded.
const (
	beforeChecksum   = `{"sha256":"`
	beforeCell       = `","cell":`
	beforeTrajectory = `,"trajectory":`
	afterCell        = "}\n"
)

// appendLine appends a journal line. cell is a JSON object with at least one field
// and without the trajectory; t is nil where nothing was recorded.
func appendLine(text, cell []byte, t *Trajectory) []byte {
	text = append(text, beforeChecksum...)
	sum := len(text)
	text = append(text, make([]byte, hex.EncodedLen(sha256.Size))...)
	text = append(text, beforeCell...)
	start := len(text)
	text = append(text, cell...)
	if t != nil {
		text = append(text[:len(text)-1], beforeTrajectory...)
		text = append(t.appendJSON(text), '}')
	}
	digest := sha256.Sum256(text[start:])
	hex.Encode(text[sum:], digest[:])
	return append(text, afterCell...)
}

// cutLine returns the two arguments of appendLine as JSON, trajectory nil where nothing was
// recorded. ok is false if the line is torn, or does not match its checksum.
func cutLine(line []byte) (cell, trajectory []byte, ok bool) {
	rest, framed := bytes.CutPrefix(line, []byte(beforeChecksum))
	sum, rest, found := bytes.Cut(rest, []byte(beforeCell))
	cell, whole := bytes.CutSuffix(rest, []byte(afterCell))
	if !framed || !found || !whole || string(sum) != checksum(cell) {
		return nil, nil, false
	}
	head, trajectory, recorded := bytes.Cut(cell, []byte(beforeTrajectory))
	if !recorded {
		return cell, nil, true
	}
	trajectory, ok = bytes.CutSuffix(trajectory, []byte("}"))
	return append(bytes.Clone(head), '}'), trajectory, ok
}

// lineSource is the text that stored lines are read from.
type lineSource struct {
	io.ReaderAt
	path string // for messages
}

// storedLine is the place of a line in a journal.
type storedLine struct {
	source *lineSource
	at     int64 // offset of its first byte
	length int   // bytes, with the line feed
}

// read returns the text of the line, in buffer if its capacity suffices.
func (l *storedLine) read(buffer []byte) ([]byte, error) {
	line := slices.Grow(buffer[:0], l.length)[:l.length]
	_, err := l.source.ReadAt(line, l.at)
	if errors.Is(err, io.EOF) {
		err = l.changed()
	}
	return line, err
}

// changed is the error of a line that is not where it was.
func (l *storedLine) changed() error {
	return fmt.Errorf("%s was changed by another program while it was in use", l.source.path)
}

// lines has buffers for the text of a line: a trajectory keeps none of it.
var lines = sync.Pool{New: func() any { return new([]byte) }}

// trajectory reads the recorded series of the wanted quantities, or of all if none
// is named, with or without quantiles. It is nil where nothing was recorded.
func (l *storedLine) trajectory(wanted []sim.Quantity, of extent) (*Trajectory, error) {
	buffer := lines.Get().(*[]byte)
	defer lines.Put(buffer)
	line, err := l.read(*buffer)
	if *buffer = line; err != nil {
		return nil, err
	}
	_, text, recorded := bytes.Cut(line, []byte(beforeTrajectory))
	if !recorded {
		return nil, nil
	}
	t, ok := parseTrajectory(bytes.TrimSuffix(text, []byte("}"+afterCell)), wanted, of)
	if !ok {
		return nil, l.changed()
	}
	return t, nil
}

// fileText reads from the file at a path, opening it for each read: the file can be
// replaced between two of them.
type fileText string

// ReadAt implements io.ReaderAt.
func (path fileText) ReadAt(text []byte, at int64) (int, error) {
	file, err := os.Open(string(path))
	if err != nil {
		return 0, err
	}
	n, err := file.ReadAt(text, at)
	return n, errors.Join(err, file.Close())
}

// wholeLines splits a text into lines that keep their line feeds; it is a bufio.SplitFunc.
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
