package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"grposim/sweeps/judge"
)

// README is short.
func TestReadmeIsShort(t *testing.T) {
	const most = 700
	if n := len(strings.Fields(string(readDocument(t, moduleRoot(t), "README.md")))); n > most {
		t.Errorf("README.md has %d words, want at most %d", n, most)
	}
}

// README shows a part of the file of the first test, and what it prints.
func TestReadmeOutput(t *testing.T) {
	root := moduleRoot(t)
	stdout, _ := grposim(t, 0, "sweep", "smoke", "--out", t.TempDir())
	path := filepath.Join(root, "README.md")
	readme := string(readDocument(t, path))
	golden(t, path, replaceBlock(t, readme, "output", "```text\n"+stdout+"```\n"))
	smoke := string(readDocument(t, root, "configs", "smoke.yaml"))
	part := submatches(regexp.MustCompile("(?s)```yml\n(sweep:.*?)```"), readme)
	if len(part) != 1 || !strings.Contains(smoke, part[0]) {
		t.Errorf("README.md does not show configs/smoke.yaml from sweep on: %q", part)
	}
}

// What README says of the paper follows from the committed verdicts: each sentence counts the
// statements of its outcome, and the statements that it links to have that outcome.
func TestReadmeAnswer(t *testing.T) {
	root := moduleRoot(t)
	readme := string(readDocument(t, root, "README.md"))
	verdicts := committedVerdicts(t, root)
	statements, summary := judge.Statements(verdicts), judge.Summarize(verdicts)
	outcome := make(map[string]judge.StatementOutcome)
	for _, s := range statements {
		outcome[s.ID] = s.Outcome
	}
	readmeOutcomes := make(map[string][]judge.StatementOutcome)
	for _, s := range judge.Splits {
		readmeOutcomes[strings.ToUpper(s.Words[:1])+s.Words[1:]] = s.Outcomes
	}

	sentence := regexp.MustCompile(`(?m)^- \*\*(.+?)\*\* \((\d+)\): (.*)$`)
	link := regexp.MustCompile(`\(docs/paper\.md#(.+?)\)`)
	counted := 0
	sentences := sentence.FindAllStringSubmatch(readme, -1)
	if len(sentences) != len(readmeOutcomes) {
		t.Errorf("%d sentences about the paper, want %d", len(sentences), len(readmeOutcomes))
	}
	for _, found := range sentences {
		words, count, text := found[1], found[2], found[3]
		n := 0
		for _, o := range outcome {
			if slices.Contains(readmeOutcomes[words], o) {
				n++
			}
		}
		counted += n
		if readmeOutcomes[words] == nil || count != strconv.Itoa(n) {
			t.Errorf("%s (%s): want one of %v and %d", words, count, readmeOutcomes, n)
		}
		linked := submatches(link, text)
		if len(linked) == 0 {
			t.Errorf("%s: no statement is linked", words)
		}
		for _, id := range linked {
			if o, known := outcome[id]; !known || !slices.Contains(readmeOutcomes[words], o) {
				t.Errorf("%s: the outcome of %s is %q", words, id, o)
			}
		}
	}
	if counted != len(statements) {
		t.Errorf("the sentences count %d statements of %d", counted, len(statements))
	}

	if summary.Disagree > 0 {
		t.Errorf("README.md says that no verdict disagrees, and %d do", summary.Disagree)
	}
	says := fmt.Sprintf("judges %d statements", len(statements))
	if rests := fmt.Sprintf("%d verdicts", len(verdicts)); !strings.Contains(readme, says) ||
		!strings.Contains(readme, rests) {
		t.Errorf("README.md does not say %q and %q", says, rests)
	}
}
