package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets scripts call the command as grposim, in a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"grposim": main})
}

// The scripts in testdata/script are the manual of the command line: what is
// printed where, which files are written, which code is returned.
func TestScripts(t *testing.T) {
	root := moduleRoot(t)
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			env.Setenv("ROOT", root)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits runs grposim and compares its exit code: exits CODE ARG…
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE ARG…")
	}
	want := map[string]int{"0": 0, "1": 1, "2": 2, "3": 3, "4": 4, "130": 130}[args[0]]
	err := ts.Exec("grposim", args[1:]...)
	got := 0
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("grposim %v: exit code %d, want %d", args[1:], got, want)
	}
}

// moduleRoot returns the root of this module.
func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// An interrupt ends a sweep with code 130; the same command goes on.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(moduleRoot(t), "configs", "smoke.yaml")
	args := []string{"sweep", config, "--out", filepath.Join(dir, "out")}
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt)
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	if code := run(ctx, args, io.Discard, io.Discard); code != exitInterrupted {
		t.Errorf("interrupted: exit code %d, want %d", code, exitInterrupted)
	}
	if code := run(context.WithoutCancel(ctx), args, io.Discard, io.Discard); code != 0 {
		t.Errorf("again: exit code %d", code)
	}
}
