package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"grposim/sweeps"
)

// mostWords is the number of words that README may have.
const mostWords = 1500

// README is short.
func TestReadmeIsShort(t *testing.T) {
	if n := len(strings.Fields(string(readDocument(t, moduleRoot(t), "README.md")))); n > mostWords {
		t.Errorf("README.md has %d words, want at most %d", n, mostWords)
	}
}

// The output that README shows is that of the first test, on a terminal of 110 characters. The
// forecast of its time is below the two seconds that README promises.
func TestReadmeOutput(t *testing.T) {
	root := moduleRoot(t)
	sweep := func(args ...string) string {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), append([]string{"sweep", "smoke"}, args...), &stdout, &stderr); code != 0 {
			t.Fatalf("%v: exit code %d\n%s", args, code, &stderr)
		}
		return stdout.String()
	}
	printed := screen{width: 110}
	table, counts, _ := strings.Cut(sweep("--out", t.TempDir()), "\n\n")
	var rows [][]string
	for line := range strings.Lines(table) {
		rows = append(rows, regexp.MustCompile(` {2,}`).Split(strings.TrimSpace(line), -1))
	}
	output := "```text\n" + printed.table(rows) + "\n"
	for line := range strings.Lines(counts) {
		output += printed.table([][]string{{strings.TrimSpace(line)}})
	}
	output += "```\n"

	path := filepath.Join(root, "README.md")
	readme := string(readDocument(t, path))
	before, rest, opened := strings.Cut(readme, "<!-- output -->\n")
	_, after, closed := strings.Cut(rest, "<!-- /output -->")
	if !opened || !closed {
		t.Fatal("README.md has no block <!-- output -->… <!-- /output -->")
	}
	want := before + "<!-- output -->\n" + output + "<!-- /output -->" + after
	if *update {
		write(t, path, want)
	} else if readme != want {
		t.Errorf("README.md does not show the output of the first test (-update rewrites it), which is\n%s", output)
	}

	var forecast struct{ Seconds, Judging float64 }
	if err := json.Unmarshal([]byte(sweep("--dry-run", "--json")), &forecast); err != nil {
		t.Fatal(err)
	}
	if seconds := forecast.Seconds + forecast.Judging; seconds <= 0 || seconds > 2 {
		t.Errorf("the first test is forecast to take %g s, and README says two seconds", seconds)
	}
}

// The command above README's picture draws it.
func TestReadmePicture(t *testing.T) {
	root := moduleRoot(t)
	dir := t.TempDir()
	args := []string{"map", "map", "--x", "optimizer.learning_rate", "--y", "lag.interval"}
	readme := string(readDocument(t, root, "README.md"))
	if command := "bin/grposim " + strings.Join(args, " "); !strings.Contains(readme, command) {
		t.Errorf("README.md does not show %s", command)
	}
	if code := run(t.Context(), append(args, "--out", dir), io.Discard, io.Discard); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	drawn, err := filepath.Glob(filepath.Join(dir, "figures", "map-*.svg"))
	if err != nil || len(drawn) != 1 {
		t.Fatalf("%d maps: %v", len(drawn), err)
	}
	picture := regexp.MustCompile(`!\[.*\]\((.*\.svg)\)`).FindStringSubmatch(readme)
	if picture == nil {
		t.Fatal("README.md has no picture")
	}
	// Elsewhere the last digits of derived numbers may differ.
	if runtime.GOARCH == "amd64" && !bytes.Equal(readDocument(t, drawn[0]), readDocument(t, root, picture[1])) {
		t.Errorf("%s is not what the command draws", picture[1])
	}
}

// readmeOutcomes are the outcomes of statements that README's sentences about the paper count
// together, by the words with which a sentence begins.
var readmeOutcomes = []struct {
	words    string
	outcomes []sweeps.StatementOutcome
}{
	{"Holds", []sweeps.StatementOutcome{sweeps.StatementHolds}},
	{"Holds in part", []sweeps.StatementOutcome{sweeps.StatementLeadingOrder, sweeps.StatementInAReading}},
	{"Fails", []sweeps.StatementOutcome{sweeps.StatementFails}},
	{"Depends on what the paper does not state", []sweeps.StatementOutcome{sweeps.StatementDepends}},
	{"Cannot be tested here", []sweeps.StatementOutcome{sweeps.StatementNotTestable}},
}

// What README says of the paper follows from the committed verdicts: each sentence counts the
// statements of its outcome, and the statements that it links to have that outcome. README has
// no number in its text beside these counts, the version of Go and the number of the paper.
func TestReadmeAnswer(t *testing.T) {
	root := moduleRoot(t)
	readme := string(readDocument(t, root, "README.md"))
	verdicts := committedVerdicts(t, root)
	statements, summary := sweeps.JudgeStatements(verdicts), sweeps.Summarize(verdicts)
	outcome := make(map[string]sweeps.StatementOutcome)
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
	goVersion := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(readDocument(t, root, "go.mod"))
	for _, said := range []string{
		fmt.Sprintf("judges %d statements", len(statements)), fmt.Sprintf("%d verdicts", len(verdicts)), "Go " + string(goVersion[1]),
		"arXiv:2606.30789",
	} {
		if !strings.Contains(readme, said) {
			t.Errorf("README.md does not say %q", said)
		}
		readme = strings.ReplaceAll(readme, said, "")
	}
	prose := regexp.MustCompile("(?s)```.*?```|`[^`]*`|\\]\\([^)]*\\)|<!--.*?-->|Figure \\d|\\*\\* \\(\\d+\\): ").ReplaceAllString(readme, "")
	if numbers := regexp.MustCompile(`.{0,30}\d.{0,30}`).FindAllString(prose, -1); numbers != nil {
		t.Errorf("no test knows these numbers of README.md: %q", numbers)
	}
}
