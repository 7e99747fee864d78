package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A configuration with mistakes keeps its own messages: none is taken for something that another
// command reads.
func TestBadConfigurationsAreNothingElse(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(moduleRoot(t), "sweeps/config/testdata/bad/*.yaml"))
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		if other := aConfiguration.instead(file); other != "" {
			t.Errorf("%s: %s", file, other)
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
