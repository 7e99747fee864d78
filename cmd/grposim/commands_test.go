package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// docs/commands.md lists the commands, whose help is narrow, and holds the text on exit codes.
// To rewrite both: go test ./cmd/grposim -run TestCommandsDocument -update
func TestCommandsDocument(t *testing.T) {
	commands := "| command | what it does |\n|---|---|\n"
	for _, c := range newRoot(nil, nil).Commands() {
		if c.Runnable() && c.Name() != "help" {
			commands += fmt.Sprintf("| `grposim %s` | %s |\n", strings.ReplaceAll(c.Use, "|", `\|`), c.Short)
			help, _ := grposim(t, 0, c.Name(), "--help")
			narrow(t, c.Name()+" --help", help)
		}
	}
	_, codes, _ := strings.Cut(newCommand("exit-codes", nil, nil).Long, "\n\n")
	file := filepath.Join(moduleRoot(t), "docs", "commands.md")
	want := replaceBlock(t, string(readDocument(t, file)), "commands", commands)
	golden(t, file, replaceBlock(t, want, "exit-codes", "```text\n"+codes+"\n```\n"))
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
