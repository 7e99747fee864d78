package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grposim/sweeps"
	"grposim/sweeps/config"
)

var update = flag.Bool("update", false, "rewrite docs/paper.md, the README's statements and docs/third-party.txt")

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

// docs/paper.md and what the README says of the paper are computed from the committed
// verdicts; the last sections of the former from the paper's table, from public logs and from
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

	readme := string(readDocument(t, root, "README.md"))
	for name, content := range map[string]func(old string) string{
		"statements":  func(string) string { return string(sweeps.StatementSummary(statements, summary)) },
		"experiments": func(old string) string { return experimentRows(t, statements, old) },
		"frontier":    func(string) string { return frontierSentence(verdicts) },
	} {
		begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
		before, rest, found := strings.Cut(readme, begin)
		old, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Fatalf("the README has no block %s… %s", begin, end)
		}
		readme = before + begin + content(old) + end + after
	}
	for name, want := range map[string]string{
		"docs/paper.md": string(sweeps.PaperDoc(statements, summary)) + "\n## What the paper's numbers about language models show\n\n" +
			benchmarkSection() + "\n" + fitsSection() + "\n" + inertiaSection(t),
		"README.md": readme,
	} {
		path := filepath.Join(root, name)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if string(readDocument(t, path)) != want {
			t.Errorf("%s is not that of the committed verdicts (-update rewrites it)", name)
		}
	}
}

// experimentRows returns the rows of the README's table of experiments with what each says
// of the paper's statements in the last column. Every experiment has a row.
func experimentRows(t *testing.T, statements []sweeps.JudgedStatement, old string) string {
	t.Helper()
	left := experimentNames(suites[0].name)
	var rows strings.Builder
	for line := range strings.Lines(old) {
		cells := strings.SplitN(line, " | ", 3)
		name, _, is := strings.Cut(strings.TrimPrefix(cells[0], "| ["), "]")
		if i := slices.Index(left, name); is && i >= 0 && len(cells) == 3 {
			left = slices.Delete(left, i, i+1)
			line = strings.Join([]string{cells[0], cells[1], sweeps.ExperimentFacts(statements, name)}, " | ") + " |\n"
		}
		rows.WriteString(line)
	}
	if len(left) > 0 {
		t.Errorf("the README's table of experiments has no row of %s", strings.Join(left, ", "))
	}
	return rows.String()
}

// undecidedFrontier is the multiple of the line, as written at η = 0.02 and a visibility of 1 %:
// K_ref = 104 for the line's 83.16. It is on the edge of its margin, as a comment in
// paper-figure-7.yaml says, so that no verdict has it.
const undecidedFrontier = 104 / 83.16

// frontierSentence says where Figure 7's frontier lies in the corner that the paper names, as
// a multiple of its line, in each reading and by each threshold of visibility, and in how many
// of all bandits it lies on the line.
func frontierSentence(verdicts []sweeps.Verdict) string {
	statement, _ := config.LookupStatement("figure-7-frontier")
	visibility := map[string]string{"visible-1-permille": "0.1 %", "visible-3-permille": "0.3 %", "visible-10-permille": "1 %"}
	var parts, counts []string
	bandits := 0
	for _, r := range statement.Readings {
		var ranges []string
		for i, c := range statement.Choices {
			var ratios []float64
			var on sweeps.Tally
			for _, v := range verdicts {
				want := config.About{Kind: config.AboutStatement, Statement: statement.ID, Reading: r.Name, Choice: c.Name, Regime: config.Limit}
				switch {
				case v.About == nil || *v.About != want:
				case v.Bandits != nil:
					on.Holds, on.Of = on.Holds+v.Bandits.Holds, on.Of+v.Bandits.Of
				case v.Claim == "visible-frontier" && v.Experiment == "paper-figure-7":
					ratios = append(ratios, float64(v.Measured/v.Predicted))
				}
			}
			if r.Name == "as-written" && c.Name == "visible-10-permille" {
				ratios = append(ratios, undecidedFrontier)
			}
			if ratios != nil {
				ranges = append(ranges, fmt.Sprintf("%.2f to %.2f (%s)", slices.Min(ratios), slices.Max(ratios), visibility[c.Name]))
			}
			if i == 0 {
				counts, bandits = append(counts, fmt.Sprintf("%d %s", on.Holds, r.Name)), on.Of
			}
		}
		parts = append(parts, r.Name+" "+strings.Join(ranges, ", "))
	}
	return "In the corner that the paper names, small η and large K_ref, visible oscillation begins at these multiples of the line, by the threshold of visibility: " + strings.Join(parts, "; ") +
		fmt.Sprintf(" (the %.2f, at η = 0.02, is on the edge of the margin and decides nothing). This is one bandit with rewards of ours. ", undecidedFrontier) +
		fmt.Sprintf("Of %d with the paper's K, at η = 0.04 and a visibility of 0.1 %%, these are within a quarter of the line: %s.\n", bandits, strings.Join(counts, ", "))
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
