//go:build kills

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// twoHundred is a sweep of 200 cells, in about a second.
const twoHundred = `name: many
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: 16, advantage: {scale: none}, kl: {coefficient: 0.4, at: snapshot}}
optimizer: {learning_rate: 0.1}
run: {steps: 300, burn_in: 50, replicas: 64}
sweep:
  - {param: optimizer.learning_rate, range: {from: 0.01, to: 0.2, step: 0.01}}
  - {param: optimizer.momentum, range: {from: 0, to: 0.9, step: 0.1}}
checks:
  - {claim: fixed-point, absolute_margin: 0.5}
`

// A sweep that is killed 200 times, while it simulates, judges and draws, gives the bytes of an
// undisturbed one, and leaves no file behind; so do shards and their merge.
func TestKills(t *testing.T) {
	dir, temporary := t.TempDir(), t.TempDir()
	binary, file := program(t), filepath.Join(dir, "many.yaml")
	write(t, file, twoHundred)
	in := func(name string) string { return filepath.Join(dir, name) }
	start := func(args []string) *exec.Cmd {
		c := exec.Command(binary, args...)
		c.Env = append(os.Environ(), "TMPDIR="+temporary)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	began := time.Now()
	if err := start([]string{"sweep", file, "--out", in("whole")}).Wait(); err != nil {
		t.Fatal(err)
	}
	whole := time.Since(began)
	random := rand.New(rand.NewPCG(1, 2))
	disturb := func(kills int, args ...string) {
		t.Helper()
		for range kills {
			c := start(args)
			time.Sleep(time.Duration(random.Float64() * float64(whole)))
			_ = c.Process.Kill()
			_ = c.Wait() // the error is that of a killed process, or none
		}
		if err := start(args).Wait(); err != nil {
			t.Fatalf("%v, after %d kills: %v", args, kills, err)
		}
	}
	disturb(120, "sweep", file, "--out", in("killed"))
	sameFiles(t, in("killed"), in("whole"))
	for i := 1; i <= 2; i++ {
		shard, out := fmt.Sprintf("%d/2", i), in(fmt.Sprint("shard", i))
		disturb(20, "sweep", file, "--shard", shard, "--out", out, "--cache", in("cache"))
	}
	disturb(40, "merge", in("merged"), in("shard1"), in("shard2"))
	sameFiles(t, in("merged"), in("whole"))
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("TMPDIR has %v, %v", left, err)
	}
}

var injected = regexp.MustCompile(`(?m)^.*\(INJECTED\)$`)

// Where opening, writing, syncing, renaming, making or removing a file fails, one after the
// other, a sweep says so in one line with exit code 4, keeps what it has stored, and the next
// run gives the bytes of an undisturbed one.
func TestErrors(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("needs strace (Debian: strace)")
	}
	dir, binary := t.TempDir(), program(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	whole, out, log := in("whole"), in("out"), in("log")
	args := []string{"sweep", "smoke", "--set", "run.replicas=2000", "--out"}
	command(t, binary, append(args, whole)...)
	journal := readDocument(t, whole, "cells.jsonl")
	for _, fault := range []string{"openat:error=EIO", "write:error=ENOSPC", "fsync:error=EIO",
		"renameat:error=EIO", "mkdirat:error=EROFS", "unlinkat:error=EIO"} {
		hit := 0
		for when := 1; ; when++ {
			if err := os.RemoveAll(out); err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			call, name := fault[:strings.Index(fault, ":")], fmt.Sprintf("%s:when=%d", fault, when)
			c := exec.Command("strace", slices.Concat([]string{"-f", "-qq", "-y", "-o", log,
				"-e", "trace=" + call, "-e", "inject=" + name, binary}, args, []string{out})...)
			c.Stderr, c.Env = &stderr, append(os.Environ(), "GOMAXPROCS=1") // when is counted by thread
			_ = c.Run()
			code := c.ProcessState.ExitCode()
			faults := injected.FindAllString(string(readDocument(t, log)), -1)
			if faults == nil {
				break
			}
			inside := func(fault string) bool { return strings.Contains(fault, out) }
			others := slices.DeleteFunc(slices.Clone(faults), inside)
			// else the terminal may be at fault
			ours := len(others) < len(faults) && !(len(others) > 0 && strings.HasPrefix(fault, "write"))
			if ours {
				hit++
			}
			said := strings.Count(stderr.String(), "\n")
			if ours && code != 0 && !(said == 1 && code == exitDamaged) {
				t.Errorf("%s: exit code %d and %d lines\n%s\n%s", name, code, said, stderr.String(), faults[0])
			}
			stored, err := os.ReadFile(filepath.Join(out, "cells.jsonl"))
			if err == nil && !sameLines(stored, journal) {
				t.Errorf("%s: the journal has other lines than those of an undisturbed run", name)
			}
			command(t, binary, append(args, out)...)
			sameFiles(t, out, whole)
			if t.Failed() {
				t.Fatalf("%s: %q", name, faults)
			}
		}
		t.Logf("%s: %d faults in the results folder", fault, hit)
		if hit == 0 && !strings.HasPrefix(fault, "unlinkat") {
			t.Errorf("%s: no fault in the results folder", fault)
		}
	}
}

// sameLines reports whether every line of a journal is one of another.
func sameLines(lines, of []byte) bool {
	for line := range bytes.Lines(lines) {
		if !bytes.Contains(of, line) {
			return false
		}
	}
	return true
}
