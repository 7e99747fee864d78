package sweeps

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// endless is a sweep whose verdicts have infinite numbers: at the first group size the search
// finds no onset.
const endless = `
name: endless
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: inf, advantage: {scale: none}, kl: {coefficient: 1, at: current}}
optimizer: {learning_rate: 0.1}
run: {steps: 20}
sweep: [{param: optimizer.momentum, values: [0, 0.5]}]
checks:
  - {claim: stability-threshold, displacement: 0.01, draws: 100, locate: {param: optimizer.learning_rate, from: 0.1, to: 0.2, tolerance: 0.5}, margin: 0.5}
`

// storedRunner is a runner of a program, given by its sum, that draws one file.
func storedRunner(dir, program string) (m Runner, drawn *int) {
	drawn = new(int)
	return Runner{Workers: 2, Progress: &silent{}, Program: program, Draw: func(*Experiment) error {
		*drawn++
		return store.WriteFile(filepath.Join(dir, "one.svg"), []byte("<svg/>"))
	}}, drawn
}

// What the same program has judged of the same folder is read back: verdicts as judged, with
// their labels and infinite numbers, and the cells asked for.
func TestStored(t *testing.T) {
	for _, text := range []string{small, endless, minimal} {
		dir, plan := t.TempDir(), planText(t, text)
		m, _ := storedRunner(dir, "a program")
		judged, err := m.Run(t.Context(), plan, dir)
		if err != nil {
			t.Fatal(err)
		}
		before := contents(t, dir)
		e, err := m.Stored(t.Context(), plan.Spec, dir, 1)
		if err != nil || e == nil {
			t.Fatalf("%s: got %v, %v", plan.Spec.Name, e, err)
		}
		sameContents(t, "stored", contents(t, dir), before)
		if len(e.Verdicts) != len(judged.Verdicts) || len(e.Plan.Cells) != 1 {
			t.Fatalf("%d verdicts and %d cells, want %d and 1", len(e.Verdicts), len(e.Plan.Cells), len(judged.Verdicts))
		}
		for i := range e.Verdicts {
			got, want := e.Verdicts[i], judged.Verdicts[i]
			for n, x := range got.numbers() {
				y := want.numbers()[n]
				if math.IsNaN(float64(*x)) && math.IsNaN(float64(*y)) {
					*x, *y = 0, 0
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, verdict %d: got %+v, want %+v", plan.Spec.Name, i, got, want)
			}
		}
		rows, failure := e.CellRows([]int{0})
		wantRows, _ := judged.CellRows([]int{0})
		got, want := slices.Collect(rows), slices.Collect(wantRows)
		if err := failure(); err != nil || len(got) != 1 || !slices.Equal(got[0], want[0]) {
			t.Errorf("%s: cells %q (%v), want %q", plan.Spec.Name, got, err, want[0])
		}
	}
	at := infinities([]Verdict{{Lo: store.Number(math.Inf(-1))}, {Hi: store.Number(math.Inf(1)), Predicted: store.Number(math.NaN())}})
	if want := map[string][]int{"-lo": {0}, "+hi": {1}}; !maps.EqualFunc(at, want, slices.Equal) {
		t.Errorf("infinities: got %v, want %v", at, want)
	}
}

// Nothing but the same program on the same configuration, journal and files counts as done; and
// judging again then gives the same bytes.
func TestStoredIsNotTrusted(t *testing.T) {
	dir, plan := t.TempDir(), planText(t, small)
	m, drawn := storedRunner(dir, "a program")
	run := func() {
		t.Helper()
		if _, err := m.Run(t.Context(), plan, dir); err != nil {
			t.Fatal(err)
		}
	}
	run()
	want := contents(t, dir)
	trusted := func(what string, m Runner, spec *config.Spec) bool {
		t.Helper()
		e, err := m.Stored(t.Context(), spec, dir, 0)
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		return e != nil
	}
	if !trusted("unchanged", m, plan.Spec) || *drawn != 1 {
		t.Fatalf("an unchanged folder is judged again; %d times drawn", *drawn)
	}
	for _, program := range []string{"another program", ""} {
		other := m
		other.Program = program
		if trusted("another program", other, plan.Spec) {
			t.Errorf("program %q: the verdicts of another are trusted", program)
		}
	}
	for what, changed := range map[string]string{
		"a margin": strings.Replace(small, "margin: 0.05", "margin: 0.06", 1),
		"a cell":   strings.Replace(small, "values: [1, 4, 7]", "values: [1, 4, 8]", 1),
	} {
		if trusted(what, m, planText(t, changed).Spec) {
			t.Errorf("%s has changed: the verdicts are trusted", what)
		}
	}
	for _, name := range []string{store.JournalName, "cells.csv", "predictions.csv", "trajectories.parquet", "verdicts.json", "verdicts.md", "one.svg"} {
		path := filepath.Join(dir, name)
		data := readFile(t, path)
		changed := bytes.Clone(data)
		changed[len(changed)/2] ^= 1
		if err := os.WriteFile(path, changed, 0o644); err != nil {
			t.Fatal(err)
		}
		if trusted(name, m, plan.Spec) {
			t.Errorf("%s has changed: the verdicts are trusted", name)
		}
		run()
		if err := os.RemoveAll(filepath.Join(dir, store.DamagedName)); err != nil {
			t.Fatal(err)
		}
		run()
		sameContents(t, name, contents(t, dir), want)
		if !trusted(name, m, plan.Spec) {
			t.Errorf("%s: judged again, the folder is not trusted", name)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "figures"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "figures", "two.svg"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if trusted("a new file", m, plan.Spec) {
		t.Error("a new file: the verdicts are trusted")
	}
	if shard := NewPart(plan.Spec, store.Shard{Index: 1, Of: 1}); m.RunPart(t.Context(), shard, dir) != nil || trusted("a shard", m, plan.Spec) {
		t.Error("a shard counts as judged")
	}
}

// heapOf returns the bytes of heap memory that what make returns holds.
func heapOf[T any](make func() T) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	held := make()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(held)
	return float64(after.HeapAlloc) - float64(before.HeapAlloc)
}

// To find that nothing is left to do, a cell costs the three allocations of a point that is listed: nothing is planned, judged or read for
// it.
func TestStoredAllocatesLittle(t *testing.T) {
	allocations := func(cells int) float64 {
		dir := t.TempDir()
		plan := planText(t, fmt.Sprintf("%ssweep: [{param: seed, range: {from: 1, to: %d, step: 1}}]\n", minimal, cells))
		m, _ := storedRunner(dir, "a program")
		if _, err := m.Run(t.Context(), plan, dir); err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(1, func() {
			if e, err := m.Stored(t.Context(), plan.Spec, dir, 1); err != nil || e == nil {
				t.Fatalf("got %v, %v", e, err)
			}
		})
	}
	if each := (allocations(600) - allocations(200)) / 400; each > 3 {
		t.Errorf("%.1f allocations a cell", each)
	}
}

// A named pipe in the place of the verdicts is not waited for.
func TestStoredIrregularFile(t *testing.T) {
	dir, plan := t.TempDir(), planText(t, small)
	m, _ := storedRunner(dir, "a program")
	if _, err := m.Run(t.Context(), plan, dir); err != nil {
		t.Fatal(err)
	}
	verdicts := filepath.Join(dir, "verdicts.json")
	if err := errors.Join(os.Remove(verdicts), syscall.Mkfifo(verdicts, 0o600)); err != nil {
		t.Fatal(err)
	}
	trusted := make(chan bool, 1)
	go func() { e, _ := m.Stored(t.Context(), plan.Spec, dir, 0); trusted <- e != nil }()
	select {
	case is := <-trusted:
		if is {
			t.Error("the verdicts are trusted")
		}
	case <-time.After(time.Minute):
		t.Error("waits for a writer of the pipe")
	}
}
