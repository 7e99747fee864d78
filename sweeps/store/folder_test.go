package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Of several lines of a cell the last counts, and sorting keeps only that.
func TestLastLineOfACellCounts(t *testing.T) {
	dir := t.TempDir()
	j := must(OpenJournal(dir))
	earlier, later := sampleOutcome("a"), sampleOutcome("a")
	later.Estimates[0].Mean = 0.2
	noError(t, errors.Join(j.Append(earlier), j.Append(later), j.Sort(nil), j.Close()))
	again := must(ReadJournal(dir))
	equal(t, "the estimate", again.Outcomes["a"].Estimates[0].Mean, 0.2)
}

// Lines that are all of the plan but in another order are sorted.
func TestSortWithoutRemoval(t *testing.T) {
	dir := t.TempDir()
	j := must(OpenJournal(dir))
	noError(t, errors.Join(j.Append(sampleOutcome("b")), j.Append(sampleOutcome("a")),
		j.Sort([]string{"a", "b"}), j.Close()))
	text, err := os.ReadFile(filepath.Join(dir, JournalName))
	if err != nil || string(text) != string(journalOf(t, "a", "b")) {
		t.Errorf("sorted: %s, %v", text, err)
	}
}

// A folder belongs to one name and to one program at a time, and never holds files of others.
func TestLock(t *testing.T) {
	refused := func(dir, name, why string) {
		t.Helper()
		release, err := Lock(dir, name)
		var folder *FolderError
		var inUse *InUseError
		if !errors.As(err, &folder) && !errors.As(err, &inUse) || !strings.Contains(err.Error(), why) {
			t.Errorf("got %v, want a refusal that says %q", err, why)
		}
		if err == nil {
			t.Error(release())
		}
	}
	dir := filepath.Join(t.TempDir(), "new")
	release, err := Lock(dir, "a")
	noError(t, err)
	refused(dir, "a", "is in use by another grposim")
	noError(t, errors.Join(NewManifest("a", []byte("{}")).Write(dir), release()))
	refused(dir, "b", `holds the results of "a", not of "b"`)
	if release, err = Lock(dir, "a"); err != nil {
		t.Fatal(err)
	}
	noError(t, release())
	foreign := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(foreign, "thesis.tex"), nil, 0o644))
	refused(foreign, "a", "is not empty and holds no results of grposim")
	refused(filepath.Join(foreign, "thesis.tex"), "a", "is not a folder")
}

// The next run removes what a killed one left, and nothing else.
func TestLockRemovesTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	noError(t, NewManifest("a", []byte("{}")).Write(dir))
	var kept []string
	for name, stays := range map[string]bool{
		".report.html123456789": false, ".cells.jsonl7": false, ".trajectories.parquet42": false,
		".cells.foreign1": false,
		".notes.md":       true, "report.html1": true, ".hidden1": true, "notes.txt": true,
	} {
		noError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
		if stays {
			kept = append(kept, name)
		}
	}
	release := must(Lock(dir, "a"))
	noError(t, release())
	entries, err := os.ReadDir(dir)
	if err != nil || len(slices.DeleteFunc(entries, isLock)) != len(kept)+1 {
		t.Errorf("%v, %v: want %q and the manifest", entries, err, kept)
	}
	for _, name := range kept {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// The journal is locked as well as its folder, also after it has been sorted: some file systems
// lock folders for each machine alone.
func TestJournalIsLocked(t *testing.T) {
	dir := t.TempDir()
	j, err := OpenJournal(dir)
	noError(t, err)
	refused := func() {
		t.Helper()
		var inUse *InUseError
		if _, err := OpenJournal(dir); !errors.As(err, &inUse) || inUse.Dir != dir {
			t.Errorf("a journal in use is opened again: %v", err)
		}
	}
	refused()
	noError(t, errors.Join(j.Append(sampleOutcome("b")), j.Append(sampleOutcome("a")),
		j.Sort([]string{"a", "b"})))
	refused()
	noError(t, j.Close())
	if j, err = OpenJournal(dir); err != nil {
		t.Fatal(err)
	}
	noError(t, j.Close())
}
