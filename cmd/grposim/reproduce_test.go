//go:build long

package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"grposim/sweeps"
)

// refuting is the suite whose hypotheses are public claims, some of which are refuted.
const refuting = "way"

// grposim reproduce exits 0, so that no verdict disagrees and every planted fault is
// caught where its check is in scope, decides every verdict, and writes the tables,
// verdicts and figures of the committed results to the byte. Of the suite refuting it
// exits 1, and disagrees with hypotheses alone.
func TestLongReproduce(t *testing.T) {
	for _, suite := range suiteNames() {
		t.Run(suite, func(t *testing.T) { reproduces(t, suite) })
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
	var written struct{ Verdicts []sweeps.Verdict }
	if err := json.Unmarshal(readDocument(t, out, "verdicts.json"), &written); err != nil || len(written.Verdicts) < 40 {
		t.Fatalf("%d verdicts, %v", len(written.Verdicts), err)
	}
	for _, v := range written.Verdicts {
		controlled := v.Control != nil || v.Hypothesis != nil // a hypothesis has no control
		refuted := suite == refuting && v.Hypothesis != nil && v.Verdict == sweeps.Disagree
		if v.Verdict != sweeps.Agree && v.Verdict != sweeps.OutOfScope && !refuted || !controlled {
			t.Errorf("%s %s %s: %s, control %+v", v.Experiment, v.Claim, v.Cell, v.Verdict, v.Control)
		}
	}
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
