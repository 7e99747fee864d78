//go:build long

package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"grposim/sweeps/judge"
)

// refuting is the suite whose hypotheses are public claims, some of which are refuted.
const refuting = "way"

// grposim reproduce exits 0, so that no verdict disagrees and every planted fault is
// caught where its check is in scope, decides every verdict, and writes the tables,
// verdicts and figures of the committed results to the byte. Of the suite refuting it
// exits 1, and disagrees with hypotheses alone.
func TestLongReproduce(t *testing.T) {
	for _, suite := range suiteNames() {
		if suite != longest {
			t.Run(suite, func(t *testing.T) { reproduces(t, suite) })
		}
	}
}

// longest is the suite that takes five minutes of processor time, of which thirds are tried.
const longest = "deep"

// onlyTried sets one value of an axis of its own of the experiments that take longest.
var onlyTried = map[string]string{
	"onset": second, "sampled": second, "threshold": second, "transformer": second,
	"two-matrices": second, "variance": "grpo.groups_per_step=4",
}

const second = "policy.network.seed=2"

// The experiments of the suite longest give the committed rows of cells.csv and predictions.csv to
// the byte, but for the bounds of intervals, which depend on the number of verdicts: all of them,
// and of those of onlyTried at least a third.
func TestLongReproducePart(t *testing.T) {
	root := moduleRoot(t)
	decided(t, filepath.Join(root, "results", longest), longest)
	files, err := filepath.Glob(filepath.Join(root, "configs", longest, "*.yaml"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		name, out := strings.TrimSuffix(filepath.Base(file), ".yaml"), t.TempDir()
		args, part := []string{"sweep", file, "--out", out}, onlyTried[name]
		if part != "" {
			args = append(args, "--set", part)
		}
		grposim(t, 0, args...)
		committed := filepath.Join(root, "results", longest, name)
		for _, table := range []string{"cells.csv", "predictions.csv"} {
			got, want := rowsByCell(t, out, table), rowsByCell(t, committed, table)
			if part == "" && len(got) != len(want) || 3*len(got) < len(want) {
				t.Errorf("%s: %d of %d rows of %s", name, len(got), len(want), table)
			}
			for cell, row := range got {
				if runtime.GOARCH == "amd64" && !maps.Equal(row, want[cell]) {
					t.Errorf("%s, %s: got %v, want %v", name, table, row, want[cell])
				}
			}
		}
	}
}

// rowsByCell returns the rows of a table by the id of their cell, without what depends on other
// cells: the label, and the bounds of intervals.
func rowsByCell(t *testing.T, dir, table string) map[string]map[string]string {
	t.Helper()
	rows := byCell(t, filepath.Join(dir, table))
	for _, row := range rows {
		maps.DeleteFunc(row, func(column, _ string) bool {
			return column == "label" || column == "interval_confidence" ||
				strings.HasSuffix(column, "_lo") || strings.HasSuffix(column, "_hi")
		})
	}
	return rows
}

// decided fails where a verdict of a suite in a folder disagrees, is undecided or does not catch
// its planted fault.
func decided(t *testing.T, out, suite string) {
	t.Helper()
	var written struct{ Verdicts []judge.Verdict }
	err := json.Unmarshal(readDocument(t, out, "verdicts.json"), &written)
	if err != nil || len(written.Verdicts) < 40 {
		t.Fatalf("%d verdicts, %v", len(written.Verdicts), err)
	}
	for _, v := range written.Verdicts {
		controlled := v.Control != nil || v.Hypothesis != nil // a hypothesis has no control
		refuted := suite == refuting && v.Hypothesis != nil && v.Verdict == judge.Disagree
		if v.Verdict != judge.Agree && v.Verdict != judge.OutOfScope && !refuted || !controlled {
			t.Errorf("%s %s %s: %s, control %+v", v.Experiment, v.Claim, v.Cell, v.Verdict, v.Control)
		}
	}
}

func reproduces(t *testing.T, suite string) {
	dir := t.TempDir()
	out := filepath.Join(dir, suite)
	code := 0
	if suite == refuting {
		code = exitDisagree
	}
	grposim(t, code, "reproduce", "--suite", suite, "--out", out)
	decided(t, out, suite)
	if runtime.GOARCH != "amd64" {
		return // the last digits of derived numbers may differ from the committed ones
	}
	committed := os.DirFS(filepath.Join(moduleRoot(t), "results", suite))
	files := 0
	err := fs.WalkDir(committed, ".", func(path string, entry fs.DirEntry, err error) error {
		switch filepath.Ext(path) {
		case ".csv", ".md", ".svg":
		case ".json":
			if entry.Name() == "manifest.json" {
				return err
			}
		default:
			return err
		}
		want, errWant := fs.ReadFile(committed, path)
		got, errGot := os.ReadFile(filepath.Join(out, path))
		if errWant != nil || errGot != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from the committed file: %v %v", path, errWant, errGot)
		}
		files++
		return err
	})
	if err != nil || files < 20 {
		t.Errorf("%d files compared, %v", files, err)
	}
}
