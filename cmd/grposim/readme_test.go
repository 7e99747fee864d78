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

// mostWords is the number of words that README may have.
const mostWords = 700

// README is short.
func TestReadmeIsShort(t *testing.T) {
	if n := len(strings.Fields(string(readDocument(t, moduleRoot(t), "README.md")))); n > mostWords {
		t.Errorf("README.md has %d words, want at most %d", n, mostWords)
	}
}

// README shows a part of the file of the first test, and the table that it prints on a terminal of
// 110 characters.
func TestReadmeOutput(t *testing.T) {
	root := moduleRoot(t)
	stdout, _ := grposim(t, 0, "sweep", "smoke", "--out", t.TempDir())
	table, _, _ := strings.Cut(stdout, "\n\n")
	var rows [][]string
	for line := range strings.Lines(table) {
		rows = append(rows, regexp.MustCompile(` {2,}`).Split(strings.TrimSpace(line), -1))
	}
	printed := screen{width: 110}
	output := "```text\n" + printed.table(rows) + "```\n"

	path := filepath.Join(root, "README.md")
	readme := string(readDocument(t, path))
	golden(t, path, replaceBlock(t, readme, "output", output))
	smoke := string(readDocument(t, root, "configs", "smoke.yaml"))
	part := submatches(regexp.MustCompile("(?s)```yml\n(sweep:.*?)```"), readme)
	if len(part) != 1 || !strings.Contains(smoke, part[0]) {
		t.Errorf("README.md does not show configs/smoke.yaml from sweep on: %q", part)
	}
}

// readmeOutcomes are the outcomes of statements that README's sentences about the paper count
// together, by the words with which a sentence begins.
var readmeOutcomes = []struct {
	words    string
	outcomes []judge.StatementOutcome
}{
	{"Holds", []judge.StatementOutcome{judge.StatementHolds}},
	{"Holds in part", []judge.StatementOutcome{judge.StatementLeadingOrder, judge.StatementInAReading}},
	{"Fails", []judge.StatementOutcome{judge.StatementFails}},
	{"Depends on what the paper does not state", []judge.StatementOutcome{judge.StatementDepends}},
	{"Cannot be decided here", []judge.StatementOutcome{judge.StatementNotTestable, judge.StatementUndecided}},
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

	sentences := regexp.MustCompile(`(?m)^- \*\*(.+?)\*\* \((\d+)\): (.*)$`).FindAllStringSubmatch(readme, -1)
	if len(sentences) != len(readmeOutcomes) {
		t.Fatalf("README.md has %d sentences about the paper, want %d", len(sentences), len(readmeOutcomes))
	}
	link := regexp.MustCompile(`\(docs/paper\.md#(.+?)\)`)
	counted := 0
	for i, want := range readmeOutcomes {
		words, count, text := sentences[i][1], sentences[i][2], sentences[i][3]
		n := 0
		for _, o := range outcome {
			if slices.Contains(want.outcomes, o) {
				n++
			}
		}
		counted += n
		if words != want.words || count != strconv.Itoa(n) {
			t.Errorf("got %s (%s), want %s (%d)", words, count, want.words, n)
		}
		linked := submatches(link, text)
		if len(linked) == 0 {
			t.Errorf("%s: no statement is linked", words)
		}
		for _, id := range linked {
			if o, known := outcome[id]; !known || !slices.Contains(want.outcomes, o) {
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
	for _, said := range []string{fmt.Sprintf("judges %d statements", len(statements)), fmt.Sprintf("%d verdicts", len(verdicts))} {
		if !strings.Contains(readme, said) {
			t.Errorf("README.md does not say %q", said)
		}
	}
}
