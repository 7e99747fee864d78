//go:build long

package main

import (
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"testing"

	"grposim/sweeps"
)

// In Chromium a page of several experiments, a page of one and a page of a map have no
// console messages, no serious finding of axe-core and no sideways scrolling, in light and
// dark, on a desktop and a phone; on the phone tables and figures fit, and no word is broken
// in the middle. Their print has every row of every table, whatever is folded or
// filtered, and whole figures. Every file that they link to is there.
func TestLongReportInBrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs chromium (Debian: chromium)")
	}
	if exec.Command("node", "-e", `require("playwright-core"), require("axe-core")`).Run() != nil {
		t.Skip("node has no playwright-core and axe-core (npm; their folder in NODE_PATH)")
	}
	dir := t.TempDir()
	grposim(t, 0, "reproduce", "one-dimension", "saturation-law", "--out", dir)
	drawn := filepath.Join(t.TempDir(), "map")
	grposim(t, 0, "map", "map", "--x", "optimizer.learning_rate", "--y", "lag.interval", "--out", drawn)
	_, experiments, err := checkFolder(t.Context(), dir, newProgress(io.Discard), sweeps.JudgeFolder)
	if err != nil {
		t.Fatal(err)
	}
	rows := len(allVerdicts(experiments)) + len(experiments[1].Verdicts)
	script := exec.CommandContext(t.Context(), "node", filepath.Join("testdata", "browser.js"), chromium,
		filepath.Join(dir, "report.html"), filepath.Join(dir, "saturation-law", "report.html"), filepath.Join(drawn, "report.html"))
	out, err := script.CombinedOutput()
	if want := fmt.Sprintf("%d rows\n", rows); err != nil || string(out) != want {
		t.Errorf("%v\n%swant %s", err, out, want)
	}
}
