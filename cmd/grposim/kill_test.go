package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A sweep that is killed in the middle gives the same results when the same
// command is run again.
func TestKill(t *testing.T) {
	root := moduleRoot(t)
	dir := t.TempDir()
	binary := filepath.Join(dir, "grposim")
	if out, err := exec.Command("go", "build", "-o", binary, root+"/cmd/grposim").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sweep := func(out string) *exec.Cmd {
		return exec.Command(binary, "sweep", filepath.Join(root, "configs", "smoke.yaml"), "--out", filepath.Join(dir, out),
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
	// Killed as soon as the first cell stands in the journal, so in mid-sweep.
	journal := filepath.Join(dir, "broken", "cells.jsonl")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if info, err := os.Stat(journal); err == nil && info.Size() > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no cell within a minute")
		}
	}
	if err := broken.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = broken.Wait() // it was killed
	got, _ := sweep("broken").Output()
	if !bytes.Equal(got, want) {
		t.Errorf("verdicts after a kill:\n%s\nwant:\n%s", got, want)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "whole"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.IsDir() || entry.Name() == "manifest.json" {
			continue
		}
		a, errA := os.ReadFile(filepath.Join(dir, "whole", entry.Name()))
		b, errB := os.ReadFile(filepath.Join(dir, "broken", entry.Name()))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs after a kill: %v %v", entry.Name(), errA, errB)
		}
	}
	leftovers, err := filepath.Glob(filepath.Join(dir, "broken", ".*"))
	if err != nil || len(leftovers) > 0 {
		t.Errorf("left behind: %s, %v", strings.Join(leftovers, " "), err)
	}
}
