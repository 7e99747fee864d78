package main

import (
	"encoding/json"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"grposim/sweeps"
	"grposim/sweeps/config"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite what the tests compare with what the program makes")

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
func committedVerdicts(t *testing.T, root string) []sweeps.Verdict {
	t.Helper()
	var all []sweeps.Verdict
	files, err := filepath.Glob(filepath.Join(root, "results", suites[0].name, "*", "verdicts.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		var content struct{ Verdicts []sweeps.Verdict }
		if err := json.Unmarshal(readDocument(t, file), &content); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, content.Verdicts...)
	}
	return all
}

// inertiaHeading begins the section of docs/paper.md whose fits take 3 s: TestLongPaperOnInertia
// makes it.
const inertiaHeading = "### R² without inertia\n"

// paperSections returns docs/paper.md up to that section, and the rest.
func paperSections(t *testing.T) (path, head, inertia string) {
	t.Helper()
	path = filepath.Join(moduleRoot(t), "docs", "paper.md")
	head, rest, found := strings.Cut(string(readDocument(t, path)), inertiaHeading)
	if !found {
		t.Fatalf("%s has no section %s", path, inertiaHeading)
	}
	return path, head, inertiaHeading + rest
}

// docs/paper.md is computed from the committed verdicts, the paper's table, public logs and
// simulated curves.
func TestPaperDocument(t *testing.T) {
	root := moduleRoot(t)
	verdicts := committedVerdicts(t, root)
	statements, summary := sweeps.JudgeStatements(verdicts), sweeps.Summarize(verdicts)
	for _, s := range statements {
		if fails := s.Outcome == sweeps.StatementFails; fails != (s.Statement.Instead != "") {
			t.Errorf("%s %s: configs/statements.yaml says what was found instead: %q", s.ID, s.Outcome, s.Statement.Instead)
		}
	}

	want := strings.Join([]string{
		paperStatements(statements, summary), experimentSection(t, root, statements), frontierSection(verdicts),
		"## What the paper's numbers about language models show\n", benchmarkSection(t), paperText(t, "fits", sweeps.PublicFits()), "",
	}, "\n")
	path, _, inertia := paperSections(t)
	golden(t, path, want+inertia)
}

// Every check of the built-in experiments says what it is about.
func TestPaperChecksSayWhatTheyAreAbout(t *testing.T) {
	for _, name := range builtInNames() {
		spec, err := embeddedSpec(config.ToJudge, name)
		if err != nil {
			t.Fatal(err)
		}
		if suiteOf(name) == "" {
			continue
		}
		for i, check := range spec.Checks {
			if check.About == nil && check.Hypothesis == nil { // which is its own statement
				t.Errorf("%s: checks[%d] (%s) has no about", name, i, check.Claim.Name)
			}
		}
	}
}

// A statement is the subject of a check, or is judged on other data, or the table says why
// it cannot be.
func TestEveryStatementIsChecked(t *testing.T) {
	checked := make(map[string]bool)
	for _, name := range experimentNames(suites[0].name) {
		spec, err := embeddedSpec(config.ToJudge, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, check := range spec.Checks {
			if check.About != nil {
				checked[check.About.Statement] = true
			}
		}
	}
	for _, s := range config.Statements {
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
