//go:build long

package main

import (
	"path/filepath"
	"regexp"
	"testing"
)

// The program of docs/architecture.md runs in a module of its own, made by the commands it names.
func TestLongAnotherModule(t *testing.T) {
	root, dir := moduleRoot(t), t.TempDir()
	page := string(readDocument(t, root, "docs", "architecture.md"))
	programs := submatches(regexp.MustCompile("(?s)```go\n(package main.*?)```"), page)
	if len(programs) != 1 {
		t.Fatalf("%d programs", len(programs))
	}
	write(t, filepath.Join(dir, "main.go"), programs[0])
	t.Chdir(dir)
	command(t, "go", "mod", "init", "mine")
	command(t, "go", "mod", "edit", "-require", "grposim@v0.0.0", "-replace", "grposim="+root)
	command(t, "go", "mod", "tidy")
	out := command(t, "go", "run", ".")
	const line = ` J = 0\.\d+ ± 0\.\d+, predicted 0\.\d+`
	if !regexp.MustCompile(`(?m)^E` + line + `\nVar` + line + `$`).MatchString(out) {
		t.Errorf("it printed %s", out)
	}
}
