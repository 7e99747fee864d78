package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Of several lines of a cell the last counts, and sorting keeps only that.
func TestLastLineOfACellCounts(t *testing.T) {
	dir := t.TempDir()
	j, err := OpenJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	earlier, later := sampleOutcome("a"), sampleOutcome("a")
	later.Estimates[0].Mean = 0.2
	if err := errors.Join(j.Append(earlier), j.Append(later), j.Sort(nil), j.Close()); err != nil {
		t.Fatal(err)
	}
	again, err := ReadJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	if e := again.Outcomes["a"].Estimates[0]; e.Mean != 0.2 {
		t.Errorf("the estimate is %g, want that of the last line, 0.2", e.Mean)
	}
}

// Lines that are all of the plan but in another order are sorted.
func TestSortWithoutRemoval(t *testing.T) {
	dir := t.TempDir()
	j, err := OpenJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Append(sampleOutcome("b")), j.Append(sampleOutcome("a")), j.Sort([]string{"a", "b"}), j.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, JournalName))
	if err != nil || string(text) != string(journalOf(t, "a", "b")) {
		t.Errorf("sorted: %s, %v", text, err)
	}
}

// Damaged lines of one run are added to those of the runs before it.
func TestDamagedLinesAreKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, JournalName)
	for _, line := range []string{"first\n", "second"} {
		text := append(journalOf(t, "a"), line...)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		j, err := OpenJournal(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := j.SetAside([]string{"a"}); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	damaged, err := os.ReadFile(filepath.Join(dir, DamagedName))
	if err != nil || string(damaged) != "first\nsecond\n" {
		t.Errorf("%s holds %q, %v", DamagedName, damaged, err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != string(journalOf(t, "a")) {
		t.Errorf("the journal holds %q, %v", text, err)
	}
}

// A manifest whose configuration was changed does not match its checksum.
func TestChangedManifest(t *testing.T) {
	dir := t.TempDir()
	if err := NewManifest("a", []byte(`{"seed":1}`)).Write(dir); err != nil {
		t.Fatal(err)
	}
	if m, err := ReadManifest(dir); err != nil || m.Name != "a" || string(m.Hash) != checksum([]byte(`{"seed":1}`)) {
		t.Fatalf("%+v, %v", m, err)
	}
	path := filepath.Join(dir, ManifestName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), `"seed": 1`, `"seed": 2`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	var damaged *DamagedError
	if _, err := ReadManifest(dir); !errors.As(err, &damaged) || !strings.Contains(err.Error(), "does not match its checksum") {
		t.Errorf("a changed manifest gives %v", err)
	}
}

// A folder belongs to one name and to one program at a time, and never holds files of
// others.
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
	if err != nil {
		t.Fatal(err)
	}
	refused(dir, "a", "is in use by another grposim")
	if err := errors.Join(NewManifest("a", []byte("{}")).Write(dir), release()); err != nil {
		t.Fatal(err)
	}
	refused(dir, "b", `holds the results of "a", not of "b"`)
	if release, err = Lock(dir, "a"); err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "thesis.tex"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	refused(foreign, "a", "is not empty and holds no results of grposim")
	refused(filepath.Join(foreign, "thesis.tex"), "a", "is not a folder")
}

// Lines of another version, and those written before lines had a version, are set aside; a
// journal that is only read keeps them.
func TestForeignLinesAreSetAside(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, JournalName)
	text := journalOf(t, "b")
	var foreign []byte
	for _, version := range []string{"", "stream 2, measuring 1"} {
		o := sampleOutcome("of " + version)
		o.Version = version
		line, err := o.appendLine(nil)
		if err != nil {
			t.Fatal(err)
		}
		foreign = append(foreign, line...)
	}
	if err := os.WriteFile(path, append(slices.Clone(foreign), text...), 0o644); err != nil {
		t.Fatal(err)
	}
	if j, err := ReadJournal(dir); err != nil || len(j.Outcomes) != 3 || len(j.Foreign) > 0 {
		t.Errorf("read: %v", err)
	}
	j, err := OpenJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(j.Outcomes) != 1 || j.Outcomes["b"] == nil || len(j.Foreign) != 2 {
		t.Errorf("%d outcomes and %d foreign lines", len(j.Outcomes), len(j.Foreign))
	}
	notes, err := j.SetAside([]string{"b"})
	if err := errors.Join(err, j.Close()); err != nil {
		t.Fatal(err)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], `lines of another version of grposim than "stream 4`) || !strings.Contains(notes[0], "set aside in cells.foreign: 2") {
		t.Errorf("notes %q", notes)
	}
	if kept, err := os.ReadFile(path); err != nil || string(kept) != string(text) {
		t.Errorf("the journal holds %q, %v", kept, err)
	}
	if aside, err := os.ReadFile(filepath.Join(dir, ForeignName)); err != nil || string(aside) != string(foreign) {
		t.Errorf("%s holds %q, %v", ForeignName, aside, err)
	}
}

// A file is replaced through a temporary one beside it, wherever TMPDIR points: a rename does
// not cross file systems, and what a killed program leaves is found.
func TestTemporaryFilesLieBeside(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", elsewhere)
	names := func(dir string) (names []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	path := filepath.Join(dir, "verdicts.json")
	err := ReplaceFile(path, func(w io.Writer) error {
		if beside := names(dir); len(beside) != 1 || !pending.MatchString(beside[0]) || len(names(elsewhere)) > 0 {
			t.Errorf("beside: %q, in TMPDIR: %q", beside, names(elsewhere))
		}
		_, err := io.WriteString(w, "{}")
		return err
	})
	if err := errors.Join(err, WriteFile(path, []byte("[]"))); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "[]" || len(names(dir)) != 1 {
		t.Errorf("%q, %v, %q", data, err, names(dir))
	}
}

// The next run removes what a killed one left, and nothing else.
func TestLockRemovesTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	if err := NewManifest("a", []byte("{}")).Write(dir); err != nil {
		t.Fatal(err)
	}
	var kept []string
	for name, stays := range map[string]bool{
		".report.html123456789": false, ".cells.jsonl7": false, ".trajectories.parquet42": false, ".cells.foreign1": false,
		".notes.md": true, "report.html1": true, ".hidden1": true, "notes.txt": true,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if stays {
			kept = append(kept, name)
		}
	}
	release, err := Lock(dir, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	refused := func() {
		t.Helper()
		var inUse *InUseError
		if _, err := OpenJournal(dir); !errors.As(err, &inUse) || inUse.Dir != dir {
			t.Errorf("a journal in use is opened again: %v", err)
		}
	}
	refused()
	if err := errors.Join(j.Append(sampleOutcome("b")), j.Append(sampleOutcome("a")), j.Sort([]string{"a", "b"})); err != nil {
		t.Fatal(err)
	}
	refused()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if j, err = OpenJournal(dir); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}
