//go:build long

package main

import (
	"fmt"
	"image/color"
	"image/png"
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
	sqlBlock     = regexp.MustCompile("(?ms)^```sql\n(.*?)^```$")
	pythonImport = regexp.MustCompile(`(?m)^import (\S+)`)
)

// docs/python.md runs: its first section is one script, from a configuration to a figure, with
// Debian's python3-pandas and python3-matplotlib; each snippet of the others with
// pyarrow, polars, or the npm package @duckdb/node-api in NODE_PATH. What is missing is skipped.
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
		checkDrawn(t, "from-python.png", 1500, 600)
	})

	run(t.Context(), []string{"sweep", filepath.Join(root, "configs", "smoke.yaml"), "--set", "run.replicas=32"}, io.Discard, io.Discard) // whatever its verdicts
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
	for i, query := range submatches(sqlBlock, text) {
		t.Run(fmt.Sprintf("sql-%d", i+1), func(t *testing.T) {
			if exec.Command("node", "-e", `require("@duckdb/node-api")`).Run() != nil {
				t.Skip("node has no @duckdb/node-api (npm; its folder in NODE_PATH)")
			}
			script := `require("@duckdb/node-api").DuckDBInstance.create().then(d => d.connect()).then(c => c.runAndReadAll(process.argv[1])).then(r => console.log(r.columnNames(), r.getRowsJson().slice(-3)))`
			runSnippet(t, exec.Command("node", "-e", script, query), "64")
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

// checkDrawn fails unless a PNG file has this size and a few colours beside its background.
func checkDrawn(t *testing.T, path string, width, height int) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	picture, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	if size := picture.Bounds().Size(); size.X != width || size.Y != height {
		t.Errorf("%s has the size %v, want %d × %d", path, size, width, height)
	}
	colours := make(map[color.Color]bool)
	for x := range width {
		colours[picture.At(x, height/2)] = true
	}
	if len(colours) < 5 {
		t.Errorf("%s has %d colours along its middle", path, len(colours))
	}
}
