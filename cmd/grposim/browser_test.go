//go:build long

package main

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"testing"

	"grposim/sweeps"
)

// browser returns the path of Chromium, and skips a test where it, or what drives it, is missing.
func browser(t *testing.T) string {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs chromium (Debian: chromium)")
	}
	if exec.Command("node", "-e", `require("playwright-core"), require("axe-core")`).Run() != nil {
		t.Skip("node has no playwright-core and axe-core (npm; their folder in NODE_PATH)")
	}
	return chromium
}

// The page of 2000 cells has less than 5 MB and a sample of them. From a file, as a browser opens
// it, it shows all of cells.csv, once it is given that, and finds cells in it. With --all it has a
// row for each cell.
func TestLongWholeTableInBrowser(t *testing.T) {
	chromium := browser(t)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	config, out, all := in("many.yaml"), in("out"), in("all.html")
	write(t, config, `name: many
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: 8}
optimizer: {learning_rate: 0.1}
run: {steps: 2, replicas: 4}
sweep: [{param: seed, range: {from: 1001, to: 3000, step: 1}}]
`)
	grposim(t, 0, "sweep", config, "--out", out)
	grposim(t, 0, "report", out, "--all", "--out", all)
	rows := func(file string) (rows, size int) {
		page := readDocument(t, file)
		return bytes.Count(page, []byte("<tr><td>seed=")), len(page)
	}
	if n, size := rows(filepath.Join(out, "report.html")); n > 1500 || n < 500 || size > 5_000_000 {
		t.Errorf("a page of %d bytes with %d rows", size, n)
	}
	if n, _ := rows(all); n != 2000 {
		t.Errorf("%d rows with --all", n)
	}
	const want = "1 to 100 of 2000 rows 100\n101 to 200 of 2000 rows 100\n1 to 1 of 1 rows 1\n"
	report, cells := in("out/report.html"), in("out/cells.csv")
	drives(t, want, "testdata/whole.js", chromium, report, cells, "SEED=2345")
}

// drives checks what a script of node prints.
func drives(t *testing.T, want string, script ...string) {
	t.Helper()
	said, err := exec.CommandContext(t.Context(), "node", script...).CombinedOutput()
	if err != nil || string(said) != want {
		t.Errorf("%v\n%swant %s", err, said, want)
	}
}

// In Chromium a page of several experiments, a page of one and a page of a map have no
// console messages, no serious finding of axe-core and no sideways scrolling, in light and
// dark, on a desktop and a phone; on the phone tables and figures fit, and no word is broken
// in the middle. Their print has every row of every table, whatever is folded or
// filtered, and whole figures. Every file that they link to is there.
func TestLongReportInBrowser(t *testing.T) {
	chromium := browser(t)
	dir := t.TempDir()
	grposim(t, 0, "reproduce", "one-dimension", "saturation-law", "--out", dir)
	out := filepath.Join(t.TempDir(), "map")
	grposim(t, 0, "map", "map", "--x", "optimizer.learning_rate", "--y", "lag.interval", "--out", out)
	_, experiments, err := checkFolder(t.Context(), dir, newProgress(io.Discard), sweeps.JudgeFolder)
	if err != nil {
		t.Fatal(err)
	}
	rows := len(allVerdicts(experiments)) + len(experiments[1].Verdicts)
	drives(t, fmt.Sprintf("%d rows\n", rows), "testdata/browser.js", chromium,
		filepath.Join(dir, "report.html"), filepath.Join(dir, "saturation-law", "report.html"),
		filepath.Join(out, "report.html"))
}
