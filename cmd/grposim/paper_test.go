package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"grposim/sweeps/config"
	"grposim/sweeps/judge"
)

var update = flag.Bool("update", false, "rewrite what tests compare with what the program makes")

// golden fails unless a file holds the text that the program makes; -update writes it.
func golden(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		write(t, path, text)
	}
	if diff := cmp.Diff(string(readDocument(t, path)), text); diff != "" {
		t.Errorf("%s is not what the program makes (-update rewrites it):\n%s", path, diff)
	}
}

// committedVerdicts reads the verdicts of every experiment in results/paper.
func committedVerdicts(t *testing.T, root string) []judge.Verdict {
	t.Helper()
	var all []judge.Verdict
	files, err := filepath.Glob(filepath.Join(root, "results", suites[0].Name, "*", "verdicts.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		var content struct{ Verdicts []judge.Verdict }
		if err := json.Unmarshal(readDocument(t, file), &content); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, content.Verdicts...)
	}
	return all
}

// docs/paper.md follows from the table of statements and the committed verdicts.
func TestPaperDocument(t *testing.T) {
	root := moduleRoot(t)
	verdicts := committedVerdicts(t, root)
	statements := judge.Statements(verdicts)
	path := filepath.Join(root, "docs", "paper.md")
	var b strings.Builder
	measured := judge.Summarize(verdicts).Measurements()
	fmt.Fprintf(&b, "\n%s They rest on %s.\n", judge.Split(statements), measured)
	for i := range statements {
		writeStatement(&b, &statements[i])
	}
	golden(t, path, replaceBlock(t, string(readDocument(t, path)), "statements", b.String()))
}

// writeStatement writes the paragraph about a statement, with links to the verdicts on it.
func writeStatement(b *strings.Builder, t *judge.JudgedStatement) {
	outcome := t.Cells()[2]
	fmt.Fprintf(b, "\n### %s\n\n**%s%s.** %s (%s)", t.ID, strings.ToUpper(outcome[:1]), outcome[1:], t.Says, t.Where)
	instead := t.Statement.Instead
	if t.Outcome != judge.StatementFails {
		instead = ""
	}
	for _, part := range []struct{ name, text string }{
		{"Found instead", instead}, {"Tested", t.Statement.Tested},
		{"Not testable here", t.NotTestable}, {"Remark", t.Statement.Remark},
	} {
		if part.text != "" {
			// E[R](t) is no link
			fmt.Fprintf(b, " *%s*: %s", part.name, strings.ReplaceAll(part.text, "](", `]\(`))
		}
	}
	var links []string
	for _, r := range t.Readings {
		for _, e := range r.Evidence {
			link := fmt.Sprintf("[%s](../results/paper/%s/verdicts.md)", e.Experiment, e.Experiment)
			if e.Experiment != "" && !slices.Contains(links, link) {
				links = append(links, link)
			}
		}
	}
	if links != nil {
		fmt.Fprintf(b, " *Verdicts*: %s.", strings.Join(links, ", "))
	}
	b.WriteString("\n")
}

// Every check of the built-in experiments says what it is about. A statement is the subject of a
// check, or is judged on other data, or the table says why it cannot be.
func TestEveryStatementIsChecked(t *testing.T) {
	checked := make(map[string]bool)
	for _, name := range builtInNames() {
		spec, err := embeddedSpec(config.ToJudge, name)
		if err != nil {
			t.Fatal(err)
		}
		for i, check := range spec.Checks {
			switch suite := suiteOf(name); {
			case suite != "" && check.About == nil && check.Hypothesis == nil: // its own statement
				t.Errorf("%s: checks[%d] (%s) has no about", name, i, check.Claim.Name)
			case suite == suites[0].Name && check.About != nil:
				checked[check.About.Statement] = true
			}
		}
	}
	for _, s := range config.Paper().Statements {
		switch {
		case checked[s.ID] == (s.NotTestable == "" && s.On == ""): // one of the two
		case s.On != "":
			t.Errorf("%s is judged %s, but a check is about it", s.ID, s.On)
		case s.NotTestable != "":
			t.Errorf("%s is not testable, but a check is about it", s.ID)
		default:
			t.Errorf("no check is about %s, and the table does not say why", s.ID)
		}
	}
}
