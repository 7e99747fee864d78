package sweeps

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"grposim/sweeps/store"
)

// runCached runs a plan with a cache, and checks that it gives the wanted files.
func runCached(t *testing.T, cache string, want map[string]string) *silent {
	t.Helper()
	c := must(store.OpenCache(cache))
	var quiet silent
	dir := t.TempDir()
	runner := Runner{Workers: 2, Progress: &quiet, Cache: c}
	if _, err := runner.Run(t.Context(), planText(t, small), dir); err != nil {
		t.Fatal(err)
	}
	sameContents(t, "with a cache", contents(t, dir), want)
	return &quiet
}

// Cells that a cache has are not simulated, and the files are those of a run without it. Entries
// that are damaged, or of another cell or version, are computed again and replaced.
func TestCache(t *testing.T) {
	plain, cache := t.TempDir(), filepath.Join(t.TempDir(), "shared", "cache")
	runSweep(t, small, plain, 2)
	want := contents(t, plain)
	if p := runCached(t, cache, want); p.cells != 12 || p.notes != nil {
		t.Errorf("with an empty cache: %d cells simulated, want 12; %q", p.cells, p.notes)
	}
	p := runCached(t, cache, want)
	if p.cells != 0 || len(p.notes) != 1 ||
		!strings.Contains(p.notes[0], "small: 12 cells come from the cache") {
		t.Errorf("with a full cache: %d cells simulated, want none; %q", p.cells, p.notes)
	}
	entries, err := filepath.Glob(filepath.Join(cache, "*", "*", "*"))
	if err != nil || len(entries) != 12 {
		t.Fatalf("%d entries, want 12: %v", len(entries), err)
	}
	for i, change := range []func(line []byte) []byte{
		func(line []byte) []byte { return nil },
		func(line []byte) []byte { return line[:len(line)/2] },
		func(line []byte) []byte { line[len(line)/2] ^= 1; return line },
		func(line []byte) []byte { return must(os.ReadFile(entries[11])) },
		func(line []byte) []byte { return aged(line) },
		func(line []byte) []byte { return append(line, line...) },
	} {
		noError(t, os.WriteFile(entries[i], change(must(os.ReadFile(entries[i]))), 0o644))
	}
	if p := runCached(t, cache, want); p.cells != 6 || len(p.notes) != 7 ||
		!strings.Contains(p.notes[0], "is damaged: its cell is computed again") {
		t.Errorf("with six bad entries: %d cells simulated; %q", p.cells, p.notes)
	}
	equal(t, "after six bad entries", runCached(t, cache, want).cells, 0)
	irregular := map[int]func(path string) error{
		0: func(path string) error { return syscall.Mkfifo(path, 0o600) },
		1: func(path string) error { return os.Symlink(entries[2], path) },
		3: func(path string) error { return os.Symlink("/dev/zero", path) },
	}
	for i, put := range irregular {
		noError(t, errors.Join(os.Remove(entries[i]), put(entries[i])))
	}
	if p := runCached(t, cache, want); p.cells != 3 || !strings.Contains(strings.Join(p.notes, "\n"),
		"is a named pipe, want a regular file: its cell is computed again") {
		t.Errorf("with a pipe and two links: %d cells simulated; %q", p.cells, p.notes)
	}
	if _, err := store.OpenCache(entries[0]); !errors.As(err, new(*store.FolderError)) {
		t.Errorf("a file as a cache: %v", err)
	}
}

// A run that is to wait for its folder goes on when the other has released it, and ends when it
// is interrupted.
func TestWaitForAFolder(t *testing.T) {
	dir := t.TempDir()
	release := must(store.Lock(dir, "minimal"))
	ctx, cancel := context.WithCancel(t.Context())
	noted := &silent{}
	waiting := make(chan error)
	runner := Runner{Workers: 1, Progress: notify{noted, cancel}, Wait: true}
	if _, err := runner.Run(ctx, planText(t, minimal), dir); !errors.Is(err, ctx.Err()) || err == nil {
		t.Errorf("interrupted while waiting: %v", err)
	}
	begun := make(chan struct{})
	runner.Progress = notify{noted, func() { close(begun) }}
	go func() {
		_, err := runner.Run(t.Context(), planText(t, minimal), dir)
		waiting <- err
	}()
	<-begun
	if err := errors.Join(release(), <-waiting); err != nil {
		t.Error(err)
	}
	if len(noted.notes) != 2 ||
		!strings.Contains(noted.notes[0], "in use by another grposim: waiting for it") {
		t.Errorf("notes: %q", noted.notes)
	}
}

// notify calls a function after each note.
type notify struct {
	*silent
	noted func()
}

func (n notify) Note(message string) {
	n.silent.Note(message)
	n.noted()
}
