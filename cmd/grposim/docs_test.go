package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// shellBlock and yamlBlock find fenced blocks, indented or not.
var (
	shellBlock = regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```$")
	yamlBlock  = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")
	makeTarget = regexp.MustCompile(`(?m)^([a-z-]+):`)
)

// Every command that a document shows works: those of grposim are run here, in
// a folder with the repository's configs and the file the README has one save;
// make's have a target, and are run by continuous integration (`test`) and the
// long tests (`reproduce`).
func TestCommandsInDocuments(t *testing.T) {
	root := moduleRoot(t)
	makefile := string(readDocument(t, root, "Makefile"))
	targets := make(map[string]bool)
	for _, match := range makeTarget.FindAllStringSubmatch(makefile, -1) {
		targets[match[1]] = true
	}
	documents, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	documents = append(documents, filepath.Join(root, "README.md"))

	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(root, "configs"), filepath.Join(dir, "configs")); err != nil {
		t.Fatal(err)
	}
	sweep := yamlBlock.FindSubmatch(readDocument(t, root, "README.md"))
	if err := os.WriteFile(filepath.Join(dir, "mine.yaml"), sweep[1], 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	ran := 0
	for _, document := range documents {
		for _, block := range shellBlock.FindAllSubmatch(readDocument(t, document), -1) {
			for line := range strings.Lines(string(block[1])) {
				command, _, _ := strings.Cut(strings.TrimSpace(line), " #")
				words := strings.Fields(command)
				switch {
				case len(words) == 0:
				case words[0] == "make":
					if len(words) != 2 || !targets[words[1]] {
						t.Errorf("%s: %s: no such target", document, command)
					}
				case words[0] == "bin/grposim" || strings.HasPrefix(command, "go run ./cmd/grposim "):
					args := words[1:]
					if words[0] == "go" {
						args = words[3:]
					}
					var stdout, stderr bytes.Buffer
					if code := run(context.Background(), args, &stdout, &stderr); code != 0 {
						t.Errorf("%s: %s: exit code %d\n%s%s", document, command, code, &stdout, &stderr)
					}
					ran++
				case strings.HasPrefix(command, "go test ./"): // would run the tests inside the tests
				default:
					t.Errorf("%s: %q is run by no test", document, command)
				}
			}
		}
	}
	if ran < 5 {
		t.Errorf("only %d commands were found", ran)
	}
}

// The README's verdicts and figures are those of the committed run.
func TestReadmeShowsTheCommittedRun(t *testing.T) {
	root := moduleRoot(t)
	readme := string(readDocument(t, root, "README.md"))
	verdicts := string(readDocument(t, root, "results", "paper", "verdicts.md"))
	table := readme[strings.Index(readme, "<!-- verdicts -->"):strings.Index(readme, "<!-- /verdicts -->")]
	rows := 0
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		rows++
		if !strings.Contains(verdicts, line) {
			t.Errorf("results/paper/verdicts.md has no row %s", line)
		}
	}
	if rows < 5 {
		t.Errorf("%d rows of verdicts", rows)
	}
	count := strings.Count(verdicts, "\n| ") - 1 // less the header
	if claimed := regexp.MustCompile(`A few of the (\d+) verdicts`).FindStringSubmatch(readme); claimed == nil || claimed[1] != strconv.Itoa(count) {
		t.Errorf("the README counts %v verdicts, the run has %d", claimed, count)
	}
	for _, link := range regexp.MustCompile(`\]\(([a-z][^):]*)\)`).FindAllStringSubmatch(readme, -1) {
		if _, err := os.Stat(filepath.Join(root, link[1])); err != nil {
			t.Errorf("the README links to %s: %v", link[1], err)
		}
	}
}

func readDocument(t *testing.T, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
