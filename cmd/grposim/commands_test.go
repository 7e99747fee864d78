package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// docs/commands.md lists the commands as the program does, and holds the text on exit codes.
// To rewrite both: go test ./cmd/grposim -run TestCommandsDocument -update
func TestCommandsDocument(t *testing.T) {
	var commands strings.Builder
	commands.WriteString("| command | what it does |\n|---|---|\n")
	for _, c := range newRoot(nil, nil).Commands() {
		if c.Runnable() && c.Name() != "help" {
			fmt.Fprintf(&commands, "| `grposim %s` | %s |\n", strings.ReplaceAll(c.Use, "|", `\|`), c.Short)
		}
	}
	_, codes, _ := strings.Cut(newCommand("exit-codes", nil, nil).Long, "\n\n")
	file := filepath.Join(moduleRoot(t), "docs", "commands.md")
	want := replaceBlock(t, string(readDocument(t, file)), "commands", commands.String())
	want = replaceBlock(t, want, "exit-codes", "```text\n"+codes+"\n```\n")
	golden(t, file, want)
}

// replaceBlock replaces what a document has between its marks of a name.
func replaceBlock(t *testing.T, document, name, content string) string {
	t.Helper()
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	before, rest, found := strings.Cut(document, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("no block %s… %s", begin, end)
	}
	return before + begin + content + end + after
}
