package main

import (
	"context"
	"fmt"
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

// The snippets of docs/python.md run, each with what it needs: Debian's python3-pandas,
// pyarrow, polars, or the npm package @duckdb/node-api in NODE_PATH. What is missing is
// skipped.
func TestPythonDocument(t *testing.T) {
	root := moduleRoot(t)
	text := string(readDocument(t, root, "docs", "python.md"))
	t.Chdir(t.TempDir())
	args := []string{"sweep", filepath.Join(root, "configs", "smoke.yaml"), "--set", "run.replicas=32"}
	if code := run(context.Background(), args, io.Discard, io.Discard); code == exitUsage || code == exitDamaged {
		t.Fatalf("%v: exit code %d", args, code)
	}
	blocks := submatches(pythonBlock, text)
	if len(blocks) != 3 {
		t.Fatalf("%d Python blocks", len(blocks))
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

// pythonWith returns a Python interpreter that has the modules, "" if there is none.
func pythonWith(modules []string) string {
	for _, interpreter := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(interpreter, "-c", "import "+strings.Join(modules, ", ")).Run() == nil {
			return interpreter
		}
	}
	return ""
}

// runSnippet runs a snippet, which must print want.
func runSnippet(t *testing.T, command *exec.Cmd, want string) {
	t.Helper()
	command.Env = append(os.Environ(), "PYTHONWARNINGS=ignore")
	out, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(out), want) {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
