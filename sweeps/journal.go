package sweeps

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The journal is cells.jsonl: one line a finished cell, with a checksum,
//
//	{"sha256":"…","cell":{…}}
//
// appended while the sweep runs and rewritten in cell order when it is
// complete. Everything else in a results folder is derived from it.
const journalName = "cells.jsonl"

// damagedName collects lines whose checksum does not hold.
const damagedName = "cells.damaged"

type journalLine struct {
	Checksum string          `json:"sha256"`
	Cell     json.RawMessage `json:"cell"`
}

func checksum(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}

// encodeLine returns the journal line of an outcome, with its line feed.
func encodeLine(o *Outcome) ([]byte, error) {
	cell, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(journalLine{Checksum: checksum(cell), Cell: cell})
	return append(line, '\n'), err
}

// readJournal returns the intact outcomes of a journal by id, and the lines
// that are damaged: torn, or changed since they were written.
func readJournal(data []byte) (outcomes map[string]*Outcome, damaged [][]byte) {
	outcomes = make(map[string]*Outcome)
	for line := range bytes.Lines(data) {
		var entry journalLine
		var o Outcome
		torn := !bytes.HasSuffix(line, []byte("\n"))
		if torn || json.Unmarshal(line, &entry) != nil || entry.Checksum != checksum(entry.Cell) ||
			json.Unmarshal(entry.Cell, &o) != nil || !o.intact() {
			damaged = append(damaged, line)
			continue
		}
		outcomes[o.ID] = &o
	}
	return outcomes, damaged
}

// loadJournal reads the journal of a folder; a missing one is empty.
func loadJournal(dir string) (map[string]*Outcome, [][]byte, error) {
	data, err := os.ReadFile(filepath.Join(dir, journalName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	outcomes, damaged := readJournal(data)
	return outcomes, damaged, nil
}

// setAside moves damaged lines out of the journal: they are appended to
// cells.damaged, and the journal is rewritten without them.
func setAside(dir string, plan *Plan, outcomes map[string]*Outcome, damaged [][]byte) error {
	kept, err := os.ReadFile(filepath.Join(dir, damagedName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, line := range damaged {
		kept = append(kept, bytes.TrimRight(line, "\n")...)
		kept = append(kept, '\n')
	}
	if err := writeFile(filepath.Join(dir, damagedName), kept); err != nil {
		return err
	}
	return writeJournal(dir, plan, outcomes)
}

// writeJournal rewrites the journal atomically: the plan's cells in order,
// then the outcomes of cells the plan no longer has, by id.
func writeJournal(dir string, plan *Plan, outcomes map[string]*Outcome) error {
	var ids []string
	planned := make(map[string]bool)
	for i := range plan.Cells {
		if id := plan.Cells[i].ID; outcomes[id] != nil && !planned[id] {
			planned[id] = true
			ids = append(ids, id)
		}
	}
	var orphans []string
	for id := range outcomes {
		if !planned[id] {
			orphans = append(orphans, id)
		}
	}
	slices.Sort(orphans)
	var journal []byte
	for _, id := range append(ids, orphans...) {
		line, err := encodeLine(outcomes[id])
		if err != nil {
			return err
		}
		journal = append(journal, line...)
	}
	return writeFile(filepath.Join(dir, journalName), journal)
}

// appender appends outcomes to a journal while a sweep runs. It syncs at most
// once a second, when a cell is finished: a crash of the machine can lose the
// cells since, a crash of the program none.
type appender struct {
	file   *os.File
	synced time.Time
}

func newAppender(dir string) (*appender, error) {
	file, err := os.OpenFile(filepath.Join(dir, journalName), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	return &appender{file: file, synced: time.Now()}, nil
}

func (a *appender) append(o *Outcome) error {
	line, err := encodeLine(o)
	if err != nil {
		return err
	}
	if _, err := a.file.Write(line); err != nil {
		return err
	}
	if time.Since(a.synced) < time.Second {
		return nil
	}
	a.synced = time.Now()
	return a.file.Sync()
}

func (a *appender) close() error {
	return errors.Join(a.file.Sync(), a.file.Close())
}

// damageReport says in one line what was set aside.
func damageReport(dir string, damaged [][]byte) string {
	return fmt.Sprintf("%s: damaged lines set aside in %s: %d; what they held is computed again",
		filepath.Join(dir, journalName), damagedName, len(damaged))
}
