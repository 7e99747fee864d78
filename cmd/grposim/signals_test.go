package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// Where a signal ends a command, only one that keeps cells speaks of them, and SIGTERM is not an
// interrupt.
func TestSignals(t *testing.T) {
	const kept = ": finished cells are kept; run the same command again to continue"
	t.Chdir(t.TempDir())
	grposim(t, 0, "init", "c.yaml")
	for _, row := range []struct {
		cause error
		code  int
		want  string
		args  []string
	}{
		{context.Canceled, exitInterrupted, "interrupted" + kept, []string{"sweep", "c.yaml"}},
		{errTerminated, exitTryAgain, "terminated" + kept, []string{"sweep", "c.yaml"}},
		{context.Canceled, exitInterrupted, "interrupted", []string{"sweep", "c.yaml", "--dry-run"}},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(row.cause)
		var stderr bytes.Buffer
		code := run(ctx, row.args, io.Discard, &stderr)
		if code != row.code || !strings.HasSuffix(stderr.String(), "grposim: "+row.want+"\n") {
			t.Errorf("%q: exit code %d, %q, want %d, %q", row.args, code, &stderr, row.code, row.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout bytes.Buffer // what takes no trial comes before the interruption
	if code := run(ctx, []string{"advise", "c.yaml"}, &stdout, io.Discard); code != exitInterrupted ||
		!strings.Contains(stdout.String(), "\nDo: ") || strings.Contains(stdout.String(), "suggestion") {
		t.Errorf("advise: exit code %d, %s", code, &stdout)
	}
	if err := syscall.Mkfifo("pipe", 0o600); err != nil {
		t.Skip(err)
	}
	for _, row := range []struct {
		signal  syscall.Signal
		command string
		code    int
		want    string
	}{
		{syscall.SIGTERM, "fit", exitTryAgain, "grposim: terminated\n"},
		{syscall.SIGINT, "diagnose", exitInterrupted, "grposim: interrupted\n"},
	} {
		var stderr bytes.Buffer
		c := exec.Command(program(t), row.command, "pipe") // which nobody writes
		c.Stderr = &stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		// returns when the command has opened it, to wait for what is written
		writer, err := os.OpenFile("pipe", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Process.Signal(row.signal)
		_ = c.Wait()
		_ = writer.Close()
		if code := c.ProcessState.ExitCode(); code != row.code || stderr.String() != row.want {
			t.Errorf("%s: exit code %d, %q, want %d, %q", row.command, code, &stderr, row.code, row.want)
		}
	}
}

// A path that cannot be what it is wanted for is a mistake of the command line, also where a system
// call says so.
func TestPathsThatCannotBe(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "file", "")
	if err := os.Symlink("nowhere", "dangling"); err != nil {
		t.Fatal(err)
	}
	grposim(t, 0, "init", "c.yaml")
	write(t, "short.yaml", "name: short\nseed: 1\nbandit: {arms: [{reward: bernoulli, mean: 0.9}, "+
		"{reward: bernoulli, mean: 0.2}]}\ngrpo: {group_size: inf, kl: {coefficient: 0.5}}\n"+
		"optimizer: {learning_rate: 0.1}\nrun: {steps: 10}\n")
	long := strings.Repeat("a", 300)
	for _, args := range [][]string{
		{"predict", "short.yaml", "--path", "--figures", "file"},
		{"predict", "short.yaml", "--path", "--figures", "dangling"},
		{"sweep", "c.yaml", "--out", long}, {"sweep", "c.yaml", "--cache", long},
		{"init", ""}, {"init", "none/c.yaml"}, {"init", "file/c.yaml"}, {"compare", "/dev/zero"},
	} {
		if _, errs := grposim(t, exitUsage, args...); strings.Count(errs, "\n") != 1 {
			t.Errorf("%.40q: %s", args, errs)
		}
	}
}
