//go:build long

package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// The program of docs/architecture.md runs as it stands in a module of its own, made by the commands that it names.
func TestLongAnotherModule(t *testing.T) {
	root, dir := moduleRoot(t), t.TempDir()
	programs := submatches(regexp.MustCompile("(?s)```go\n(package main.*?)```"), string(readDocument(t, root, "docs", "architecture.md")))
	if len(programs) != 1 {
		t.Fatalf("%d programs", len(programs))
	}
	write(t, filepath.Join(dir, "main.go"), programs[0])
	for _, args := range [][]string{
		{"mod", "init", "mine"}, {"mod", "edit", "-require", "grposim@v0.0.0", "-replace", "grposim=" + root}, {"mod", "tidy"}, {"run", "."},
	} {
		command := exec.Command("go", args...)
		command.Dir = dir
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
		want := regexp.MustCompile(`(?m)^E J = 0\.\d+ ± 0\.\d+, predicted 0\.\d+\nVar J = 0\.\d+ ± 0\.\d+, predicted 0\.\d+$`)
		if args[0] == "run" && !want.Match(out) {
			t.Errorf("it printed %s", out)
		}
	}
}
