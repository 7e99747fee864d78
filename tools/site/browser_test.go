//go:build long

package main

import (
	"grposim/tools/internal/tool"
	"os/exec"
	"path/filepath"
	"testing"
)

// In Chromium pages of the site have no console messages, no serious finding of axe-core
// and no sideways scrolling, in light and dark, on a desktop and a phone, and their print
// has every row of every table. The script is that of reports, whose rows of verdicts it
// counts.
func TestLongSiteInBrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs chromium (Debian: chromium)")
	}
	if exec.Command("node", "-e", `require("playwright-core"), require("axe-core")`).Run() != nil {
		t.Skip("node has no playwright-core and axe-core (npm; their folder in NODE_PATH)")
	}
	dir, pages := t.TempDir(), tree(t, copied)
	t.Chdir(filepath.Join("..", ".."))
	args := []string{"-o", dir, "-explorer", filepath.Join(pages, "explorer.html"), "-report", filepath.Join(pages, "report.html")}
	if code := tool.Run(t.Context(), "site", run, args, t.Output(), t.Output()); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	args = []string{"cmd/grposim/testdata/browser.js", chromium}
	for _, page := range []string{"index.html", "docs/trainers.html", "docs/third-party.txt.html"} {
		args = append(args, filepath.Join(dir, page))
	}
	if out, err := exec.CommandContext(t.Context(), "node", args...).CombinedOutput(); err != nil || string(out) != "0 rows\n" {
		t.Errorf("%v\n%s", err, out)
	}
}
