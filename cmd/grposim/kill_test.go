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
	eventually(t, "a cell is stored", func() bool {
		data, _ := os.ReadFile(journal)
		return bytes.IndexByte(data, '\n') >= 0 // a torn line would be set aside in its own file
	})
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
	endLongStep(t, os.Interrupt, exitInterrupted, "interrupted")
	endLongStep(t, syscall.SIGTERM, exitTryAgain, "terminated")
}

func endLongStep(t *testing.T, signal os.Signal, code int, word string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	var stderr bytes.Buffer
	sweep := exec.Command(program(t), "sweep", "smoke", "--workers", "1", "--out", out,
		"--set", "grpo.groups_per_step=1000000", "--set", "grpo.group_size=2147483648", "--set",
		"bandit.arms=[{mean: 0.9, reward: bernoulli}, {mean: 0.2, reward: bernoulli, count: 999}]")
	sweep.Stderr = &stderr
	if err := sweep.Start(); err != nil {
		t.Fatal(err)
	}
	// The journal is opened just before the first step.
	eventually(t, "the sweep has begun", func() bool {
		_, err := os.Stat(filepath.Join(out, "cells.jsonl"))
		return err == nil
	})
	second := exec.Command(sweep.Args[0], sweep.Args[1:]...)
	ends(t, second, exitTryAgain, "is in use by another grposim")
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
	said := strings.Count(stderr.String(), "grposim: "+word+": ")
	if got := sweep.ProcessState.ExitCode(); got != code || said != 1 {
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
	in := func(name string) string { return filepath.Join(dir, name) }
	binary, results, page := in("grposim"), in("results"), in("open/page.html")
	if err := errors.Join(os.Link(program(t), binary), os.Chmod(dir, 0o755),
		os.Mkdir(in("open"), 0o777), os.Chmod(in("open"), 0o777)); err != nil {
		t.Fatal(err)
	}
	sweep := []string{"sweep", "smoke", "--set", "run.replicas=2000", "--out", results}
	command(t, binary, sweep...)
	other := func(code int, want string, args ...string) {
		t.Helper()
		c := exec.Command(binary, args...)
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		ends(t, c, code, want)
	}
	other(0, "note: "+results+" is read-only: it is judged, and nothing is written", "check", results)
	other(0, "All 4 verdicts agree", "check", results)
	other(0, page, "report", results, "--out", page)
	other(exitDamaged, "permission denied", "report", results)
	other(exitDamaged, "permission denied", append(sweep, "--set", "confidence=0.9")...)
}

// ends fails unless a program exits with a code and prints a text.
func ends(t *testing.T, c *exec.Cmd, code int, want string) {
	t.Helper()
	out, _ := c.CombinedOutput()
	if got := c.ProcessState.ExitCode(); got != code || !strings.Contains(string(out), want) {
		t.Errorf("%v: exit code %d, want %d and %q\n%s", c.Args, got, code, want, out)
	}
}

// eventually waits for a condition, two minutes at most.
func eventually(t *testing.T, what string, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !reached(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within two minutes: %s", what)
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
