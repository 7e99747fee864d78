//go:build mutants

package mutants

import (
	"flag"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the counts and the table of docs/mutants.md")

// For every mutant, a fast test of its package or of one that imports it fails, except
// for those that the table argues to be equivalent.
func TestMutants(t *testing.T) {
	t.Chdir("../..")
	start := time.Now()
	packages, err := testers()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range table {
		all = append(all, packages[module+path.Dir(m.file)]...)
	}
	slices.Sort(all)
	if out, err := goTest(nil, slices.Compact(all)...); err != nil {
		t.Fatalf("without a fault: %v\n%s", err, out)
	}
	rows := make([]string, len(table)) // of docs/mutants.md; empty until the mutant is tried
	if *update {
		t.Cleanup(func() { writePage(t, rows, time.Since(start)) })
	}
	for i, m := range table {
		t.Run(m.id, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			outcome, err := m.try(t.TempDir(), packages[module+path.Dir(m.file)])
			switch {
			case err != nil:
				t.Fatal(err)
			case outcome != "" && m.equivalent != "":
				t.Errorf("argued to be equivalent: %s", m.equivalent)
			case m.equivalent != "":
				outcome = "equivalent: " + m.equivalent
			case outcome == "":
				outcome = "**survived**"
				t.Errorf("no test fails: %s: %s", m.file, m.fault)
			}
			t.Log(outcome)
			rows[i] = fmt.Sprintf("%s %s | %.1f |\n", m.rowStart(), cell(outcome), time.Since(start).Seconds())
		})
	}
}

// untried ends the row of a mutant that has not been tried.
const untried = "**not tried** | |"

// writePage rewrites docs/mutants.md from its counts on. The row of a mutant that this
// run did not try, because -run selects others, is the page's, if it has one.
func writePage(t *testing.T, rows []string, elapsed time.Duration) {
	page, err := os.ReadFile("docs/mutants.md")
	if err != nil {
		t.Fatal(err)
	}
	head, old, _ := strings.Cut(string(page), "\n**")
	tried := 0
	for i, m := range table {
		if rows[i] != "" {
			tried++
			continue
		}
		_, rest, found := strings.Cut(old, "\n"+m.rowStart()+" ")
		line, _, _ := strings.Cut(rest, "\n")
		if !found {
			line = untried
		}
		rows[i] = m.rowStart() + " " + line + "\n"
	}
	text := strings.Join(rows, "")
	argued, survived, left := strings.Count(text, "| equivalent: "), strings.Count(text, "| **survived** |"), strings.Count(text, untried)
	page = fmt.Appendf(nil, `%s
**%d of %d faults are killed** by a failing test, %d of them because a test hangs;
%d are argued to be equivalent to the original, and %d are new and not tried. The last run tried %d of them in %.0f minutes.

| fault | file | killed by | seconds |
|---|---|---|---:|
%s`, head, len(rows)-argued-survived-left, len(rows), strings.Count(text, hangs+" |"), argued, left, tried, max(1, elapsed.Minutes()), text)
	if err := os.WriteFile("docs/mutants.md", page, 0o644); err != nil {
		t.Fatal(err)
	}
}
