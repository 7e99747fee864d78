//go:build long

package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	pythonBlock  = regexp.MustCompile("(?ms)^```python\n(.*?)^```$")
	pythonImport = regexp.MustCompile(`(?m)^import (\S+)`)
)

// docs/python.md runs: its first section is one script, from a configuration to a figure, with
// Debian's python3-pandas and python3-matplotlib; each snippet of the others with
// pyarrow or polars. What is missing is skipped.
func TestLongPythonDocument(t *testing.T) {
	root := moduleRoot(t)
	text := string(readDocument(t, root, "docs", "python.md"))
	t.Chdir(t.TempDir())
	_, text, _ = strings.Cut(text, "\n## From YAML to plot\n")
	script, text, found := strings.Cut(text, "\n## ")
	blocks := submatches(pythonBlock, script)
	if !found || len(blocks) < 5 {
		t.Fatalf("the script has %d blocks", len(blocks))
	}
	t.Run("script", func(t *testing.T) {
		interpreter := pythonWith([]string{"pandas", "matplotlib"})
		if interpreter == "" {
			t.Skip("no python3 has pandas and matplotlib (Debian: python3-pandas, python3-matplotlib)")
		}
		write(t, "script.py", strings.Join(blocks, "\n"))
		out := runSnippet(t, exec.Command(interpreter, "script.py"), "G=64 K=16")
		if agree := strings.Count(out, " agree\n"); agree != 6 {
			t.Errorf("%d verdicts agree, want 6", agree)
		}
	})

	// whatever its verdicts
	args := []string{"sweep", filepath.Join(root, "configs", "smoke.yaml"), "--set", "run.replicas=32"}
	run(t.Context(), args, io.Discard, io.Discard)
	if blocks = submatches(pythonBlock, text); len(blocks) != 2 {
		t.Fatalf("%d other Python blocks", len(blocks))
	}
	for _, block := range blocks {
		modules := submatches(pythonImport, block)
		t.Run(strings.Join(modules, ","), func(t *testing.T) {
			interpreter := pythonWith(modules)
			if interpreter == "" {
				t.Skipf("no python3 has %s", strings.Join(modules, ", "))
			}
			runSnippet(t, exec.Command(interpreter, "-c", block), "64")
		})
	}
}

// runSnippet runs a snippet, which must print want, and returns what it prints.
func runSnippet(t *testing.T, command *exec.Cmd, want string) string {
	t.Helper()
	command.Env = append(os.Environ(), "PYTHONWARNINGS=ignore")
	out, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(out), want) {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	return string(out)
}
