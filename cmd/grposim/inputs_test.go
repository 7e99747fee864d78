package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"grposim/sweeps/store"
)

// A configuration with mistakes keeps its own messages: none is taken for something that another
// command reads.
func TestBadConfigurationsAreNothingElse(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(moduleRoot(t), "sweeps", "config", "testdata", "bad", "*.yaml"))
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		if other := aConfiguration.instead(file); other != "" {
			t.Errorf("%s: %s", file, other)
		}
	}
}

// A file of a megabyte of mistakes is refused in seconds: 90,000 unknown keys and 160,000 of which half are inherited
// took 9 and 56 s of processor time, now 0.7 s each.
func TestManyMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	keys := func(letter string, count int) string {
		var text strings.Builder
		for i := range count {
			fmt.Fprintf(&text, "%s%06d: 1\n", letter, i)
		}
		return text.String()
	}
	for file, text := range map[string]string{
		"unknown.yaml": "name: x\n" + keys("k", 90_000), "heir.yaml": "name: x\nextends: other.yaml\n" + keys("k", 80_000), "other.yaml": "name: x\n" + keys("m", 80_000),
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"unknown.yaml", "heir.yaml"} {
		before := store.CPUSeconds()
		_, errs := grposim(t, exitUsage, "predict", file)
		if took := store.CPUSeconds() - before; took > 6 || !strings.Contains(errs, "more") {
			t.Errorf("%s: %.1f s of processor time: %.200s", file, took, errs)
		}
	}
}

// A pipe that is no log is not read again as something else, for which nobody writes.
func TestPipeIsReadOnce(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.csv")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	go func() { _ = os.WriteFile(pipe, []byte("a,b\n"), 0) }()
	done := make(chan bool)
	go func() { defer close(done); grposim(t, exitUsage, "fit", pipe) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("fit waits for a second writer of a pipe")
	}
}
