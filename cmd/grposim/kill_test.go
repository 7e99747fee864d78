package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A sweep that is killed and run again by the same command gives the results of an
// uninterrupted sweep.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	sweep := func(out string) *exec.Cmd {
		return exec.Command(program(t), "sweep", "smoke", "--out", filepath.Join(dir, out),
			"--set", "run.replicas=1000", "--set", "run.steps=3000", "--workers", "1", "--json")
	}
	want, err := sweep("whole").Output()
	if len(want) == 0 {
		t.Fatal(err)
	}
	broken := sweep("broken")
	if err := broken.Start(); err != nil {
		t.Fatal(err)
	}
	// Kill it as soon as the journal holds the first cell, in the middle of the sweep.
	journal := filepath.Join(dir, "broken", "cells.jsonl")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if data, err := os.ReadFile(journal); err == nil && bytes.IndexByte(data, '\n') >= 0 {
			break // a line that is torn would be set aside in a file of its own
		}
		if time.Now().After(deadline) {
			t.Fatal("no cell within a minute")
		}
	}
	if err := broken.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = broken.Wait() // returns an error because the process was killed
	got, _ := sweep("broken").Output()
	if !bytes.Equal(got, want) {
		t.Errorf("verdicts after a kill:\n%s\nwant:\n%s", got, want)
	}
	sameFiles(t, filepath.Join(dir, "broken"), filepath.Join(dir, "whole"))
	leftovers, err := filepath.Glob(filepath.Join(dir, "broken", ".*"))
	if err != nil || len(leftovers) > 0 {
		t.Errorf("temporary files are left: %s, %v", strings.Join(leftovers, " "), err)
	}
}

// A signal ends a command within a second or so, even in the middle of a step: here a step
// takes minutes. Another command that needs the folder meanwhile is told to try again.
func TestSignalEndsALongStep(t *testing.T) {
	t.Run("interrupt", func(t *testing.T) { endLongStep(t, os.Interrupt, exitInterrupted, "interrupted") })
	t.Run("terminate", func(t *testing.T) { endLongStep(t, syscall.SIGTERM, exitTryAgain, "terminated") })
}

func endLongStep(t *testing.T, signal os.Signal, code int, word string) {
	dir := t.TempDir()
	var stderr bytes.Buffer
	sweep := exec.Command(program(t), "sweep", "smoke", "--workers", "1",
		"--out", filepath.Join(dir, "out"), "--set", "grpo.groups_per_step=1000000", "--set", "grpo.group_size=2147483648",
		"--set", "bandit.arms=[{mean: 0.9, reward: bernoulli}, {mean: 0.2, reward: bernoulli, count: 999}]")
	sweep.Stderr = &stderr
	if err := sweep.Start(); err != nil {
		t.Fatal(err)
	}
	// The journal is opened just before the first step.
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "out", "cells.jsonl")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the sweep has not begun within a minute")
		}
	}
	second := exec.Command(sweep.Args[0], sweep.Args[1:]...)
	if out, _ := second.CombinedOutput(); second.ProcessState.ExitCode() != exitTryAgain || !strings.Contains(string(out), "is in use by another grposim") {
		t.Errorf("a second sweep into the folder: exit code %d\n%s", second.ProcessState.ExitCode(), out)
	}
	if err := sweep.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- sweep.Wait() }()
	select {
	case <-done:
	case <-time.After(30 * time.Second): // generous, because the machine may be busy
		_ = sweep.Process.Kill()
		t.Fatal("still running 30 s after the signal")
	}
	if got := sweep.ProcessState.ExitCode(); got != code || strings.Count(stderr.String(), "grposim: "+word+": ") != 1 {
		t.Errorf("exit code %d, want %d and one line on the interruption\n%s", got, code, stderr.String())
	}
}

// sameFiles checks that two folders have the same files with the same bytes, except for the
// manifest's account of the run.
func sameFiles(t *testing.T, got, want string) {
	t.Helper()
	count := func(dir string) (n int) {
		_ = filepath.WalkDir(dir, func(string, fs.DirEntry, error) error { n++; return nil })
		return n
	}
	if g, w := count(got), count(want); g != w || w < 10 {
		t.Errorf("%s has %d files and folders, %s has %d", got, g, want, w)
	}
	err := filepath.WalkDir(want, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, _ := filepath.Rel(want, path)
		w, errW := os.ReadFile(path)
		g, errG := os.ReadFile(filepath.Join(got, name))
		if name == "manifest.json" {
			w, _, _ = bytes.Cut(w, []byte(`"run":`))
			g, _, _ = bytes.Cut(g, []byte(`"run":`))
		}
		if errW != nil || errG != nil || !bytes.Equal(g, w) {
			t.Errorf("%s differs: %v %v", name, errW, errG)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Results that may not be written are checked all the same, and a page of them is written
// elsewhere: here they belong to root, and another user judges them.
func TestReadOnlyResults(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run a command as another user")
	}
	dir, err := os.MkdirTemp("", "read-only") // the parents of t.TempDir may be closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	binary, results, page := filepath.Join(dir, "grposim"), filepath.Join(dir, "results"), filepath.Join(dir, "open", "page.html")
	if err := errors.Join(os.Link(program(t), binary), os.Chmod(dir, 0o755), os.Mkdir(filepath.Dir(page), 0o777), os.Chmod(filepath.Dir(page), 0o777)); err != nil {
		t.Fatal(err)
	}
	command(t, binary, "sweep", "smoke", "--set", "run.replicas=2000", "--out", results)
	for _, row := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"check", results}, 0, "note: " + results + " is read-only: it is judged, and nothing is written"},
		{[]string{"check", results}, 0, "4 agree"},
		{[]string{"report", results, "--out", page}, 0, page},
		{[]string{"report", results}, exitDamaged, "permission denied"},
		{[]string{"sweep", "smoke", "--set", "run.replicas=2000", "--set", "confidence=0.9", "--out", results}, exitDamaged, "permission denied"},
	} {
		c := exec.Command(binary, row.args...)
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, _ := c.CombinedOutput(); c.ProcessState.ExitCode() != row.code || !strings.Contains(string(out), row.want) {
			t.Errorf("%v: exit code %d, want %d and %q\n%s", row.args, c.ProcessState.ExitCode(), row.code, row.want, out)
		}
	}
}

// command runs a command and returns its output.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
