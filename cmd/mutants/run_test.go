package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A module of three packages, of which b imports a, in which one fault is seen
// by a, one by b, one by the judge, one by nobody, and one never ends.
func TestFates(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":         "module small\n\ngo 1.26\n",
		"a/a.go":         "package a\n\nfunc Double(x int) int { return 2 * x }\n\nfunc Half(x int) int { return x / 2 }\n\nfunc Unused(x int) int { return x }\n",
		"a/a_test.go":    "package a\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n\tif Double(3) != 6 {\n\t\tt.Fail()\n\t}\n}\n",
		"b/b.go":         "package b\n\nimport \"small/a\"\n\nfunc Quarter(x int) int { return a.Half(a.Half(x)) }\n",
		"b/b_test.go":    "package b\n\nimport \"testing\"\n\nfunc TestQuarter(t *testing.T) {\n\tt.Run(\"of eight\", func(t *testing.T) {\n\t\tif Quarter(8) != 2 {\n\t\t\tt.Fail()\n\t\t}\n\t})\n}\n",
		"apart/apart.go": "package apart\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var progress bytes.Buffer
	lab, err := newLaboratory(t.Context(), 2, &progress)
	if err != nil {
		t.Fatal(err)
	}
	defer lab.close()
	lab.patience = time.Second
	lab.judge = func(_ context.Context, m *mutant, _ []string) (string, error) {
		if m.id == "a/judged" {
			return "agree → disagree", nil
		}
		return "", nil
	}
	half, unused := "return x / 2", "return x }"
	reports, err := lab.tryAll(t.Context(), []mutant{
		{id: "a/own", file: "a/a.go", before: "2 * x", after: "3 * x"},
		{id: "a/importer", file: "a/a.go", before: half, after: "return x"},
		{id: "a/hangs", file: "a/a.go", before: half, after: "for {}"},
		{id: "a/judged", file: "a/a.go", before: unused, after: "return -x }"},
		{id: "a/survivor", file: "a/a.go", before: unused, after: "return x + 1 }"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		fate   fate
		killer string
	}{
		{byTest, "a TestDouble"}, {byTest, "b TestQuarter"}, {byHang, "b TestQuarter"}, {byRuling, "agree → disagree"}, {survived, ""},
	} {
		if r := reports[i]; r.fate != want.fate || r.killer != want.killer {
			t.Errorf("%s: %s by %q, want %s by %q", r.id, r.fate, r.killer, want.fate, want.killer)
		}
	}
	if got := strings.Count(progress.String(), "\n"); got != 1+5 {
		t.Errorf("%d lines of progress:\n%s", got, &progress)
	}
	_, err = lab.tryAll(t.Context(), []mutant{{id: "a/typo", file: "a/a.go", before: "2 * x", after: "2 * y"}})
	if err == nil || !strings.Contains(err.Error(), "a/typo does not compile") || !strings.Contains(err.Error(), "undefined: y") {
		t.Errorf("a mutant that does not compile: %v", err)
	}
	if err := os.WriteFile("a/b_test.go", []byte("package a\n\nimport \"testing\"\n\nfunc TestRed(t *testing.T) { t.Fail() }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = lab.tryAll(t.Context(), []mutant{{id: "a/own", file: "a/a.go", before: "2 * x", after: "3 * x"}})
	if err == nil || !strings.Contains(err.Error(), "without a mutant: small/a fails (TestRed)") {
		t.Errorf("tests that fail without a mutant: %v", err)
	}
}

// The packages to test are the mutant's own and its importers, nearest first.
func TestRoute(t *testing.T) {
	packages := []listed{
		{ImportPath: "m/leaf", Dir: "/m/leaf"},
		{ImportPath: "m/top", Dir: "/m/top", Imports: []string{"m/middle", "fmt"}, Deps: []string{"m/middle", "m/leaf", "fmt"}},
		{ImportPath: "m/middle", Dir: "/m/middle", Imports: []string{"m/leaf", "fmt"}, Deps: []string{"m/leaf", "fmt"}},
		{ImportPath: "m/tested", Dir: "/m/tested", XTestImports: []string{"m/leaf"}},
		{ImportPath: "m/other", Dir: "/m/other", Imports: []string{"fmt"}},
	}
	if got, want := strings.Join(route(packages, "/m/leaf"), " "), "m/leaf m/tested m/middle m/top"; got != want {
		t.Errorf("route %s, want %s", got, want)
	}
	if got := route(packages, "/m/nowhere"); len(got) != 0 {
		t.Errorf("the route of no package is %v", got)
	}
}

// A verdict turns by its ruling or by its control's.
func TestTurned(t *testing.T) {
	sound := func() []ruling {
		r := []ruling{{Experiment: "e", Variant: "v", Claim: "c", Verdict: "agree"}, {Experiment: "e", Claim: "d", Verdict: "agree"}}
		r[1].Control = &struct {
			Verdict string `json:"verdict"`
		}{"disagree"}
		return r
	}
	disagrees, blind, both := sound(), sound(), sound()
	disagrees[0].Verdict = "disagree"
	blind[1].Control.Verdict = "agree"
	both[0].Verdict, both[1].Verdict = "out-of-scope", "inconclusive"
	for _, row := range []struct {
		got  []ruling
		want string
	}{
		{sound(), ""},
		{disagrees, "e v c: agree → disagree"},
		{blind, "e d: control disagree → agree"},
		{both, "e v c: agree → out-of-scope, and 1 more"},
		{sound()[:1], "1 verdicts instead of 2"},
	} {
		if got := turned(sound(), row.got); got != row.want {
			t.Errorf("turned %q, want %q", got, row.want)
		}
	}
}

// The experiments that verdicts are taken from are the cheapest that together
// take two minutes; what was measured of them is copied, and nothing else.
func TestCheapExperiments(t *testing.T) {
	results := t.TempDir()
	for name, seconds := range map[string]string{"dear": "1e4", "cheap": "2.5", "fair": "100", "more": "101"} {
		dir := filepath.Join(results, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"manifest.json": `{"run": {"cpu_seconds": ` + seconds + `}}`, "cells.jsonl": name, "verdicts.md": ""} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if names, err := cheap(results); err != nil || strings.Join(names, " ") != "cheap fair" {
		t.Errorf("experiments %v, %v, want cheap and fair", names, err)
	}
	if _, err := cheap(t.TempDir()); err == nil {
		t.Error("no results, no error")
	}
	to := t.TempDir()
	if err := copyMeasured(to, results); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(to, "*", "*"))
	if err != nil || len(files) != 4*2 {
		t.Errorf("copied %v, %v", files, err)
	}
	if cells, err := os.ReadFile(filepath.Join(to, "dear", "cells.jsonl")); err != nil || string(cells) != "dear" {
		t.Errorf("the cells of dear are %q, %v", cells, err)
	}
	for pkg, want := range map[string]witness{"rom": theory, "rom/diagnose": theory, "grpo": simulator, "sim/draw": simulator} {
		if got := witnessOf(pkg); got != want {
			t.Errorf("%s is of the %s, want %s", pkg, got, want)
		}
	}
}

func reportsOf(fates ...fate) []report {
	var all []report
	for _, f := range fates {
		r := report{mutant: mutant{id: "a/" + string(f), fault: "a fault | a pipe", file: "a/a.go"}, fate: f}
		if f != survived {
			r.killer = "a TestIt"
		}
		all = append(all, r)
	}
	return all
}

// The exit code says whether enough are killed and the rest argued.
func TestConclude(t *testing.T) {
	killed := reportsOf(byTest, byHang, byRuling)
	many := killed
	for range 6 {
		many = append(many, killed...) // 21
	}
	survivor := reportsOf(survived)
	argued := reportsOf(survived)
	argued[0].equivalent = "nothing can see it"
	wrong := reportsOf(byTest)
	wrong[0].equivalent = "nothing can see it"
	for _, row := range []struct {
		name    string
		reports []report
		want    int
		says    string
	}{
		{"all killed", killed, exitKilled, "3 of 3 mutants killed"},
		{"a survivor", append(many[:21:21], survivor...), exitSurvived, "a/survived survived: a/a.go"},
		{"an argued survivor", append(many[:21:21], argued...), exitKilled, "1 argued"},
		{"too many argued", append(killed[:3:3], argued...), exitSurvived, "3 of 4"},
		{"a wrong argument", wrong, exitSurvived, "argued to be equivalent, but"},
	} {
		var out bytes.Buffer
		if got := conclude(&out, row.reports); got != row.want || !strings.Contains(out.String(), row.says) {
			t.Errorf("%s: exit code %d, want %d: %s", row.name, got, row.want, &out)
		}
	}
}

// The page has a row for each fault, its numbers add up, and survivors are
// argued.
func TestDescribe(t *testing.T) {
	reports := reportsOf(byTest, byTest, byHang, byRuling, survived)
	reports[4].equivalent = "nothing can see it"
	page := string(describe(reports, 90*time.Second))
	for _, want := range []string{
		"**4 of 5 are killed**, 3 by a test, 1 of them only because it hangs, 1 by a\nverdict; 1 more",
		"| a fault \\| a pipe | a/a.go | a TestIt | 0.0 |", "a TestIt (hangs)", "verdict: a TestIt", "**survived**",
		"## Survivors\n\n* a fault | a pipe (a/a.go): nothing can see it\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if rows := len(regexp.MustCompile(`(?m)^\| a fault`).FindAllString(page, -1)); rows != 5 {
		t.Errorf("%d rows, want 5", rows)
	}
}

// docs/mutants.md is of this table: `make mutants` writes it.
func TestPageIsOfThisTable(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(moduleRoot(t), "docs", "mutants.md"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("docs/mutants.md has not been written yet")
	} else if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "| ") {
			rows++
		}
	}
	all := mutants()
	if rows-1 != len(all) { // less the header
		t.Errorf("docs/mutants.md has %d mutants, the table %d: run `make mutants`", rows-1, len(all))
	}
	for _, m := range all {
		if row := "| " + cell(m.fault) + " | " + m.file + " | "; !strings.Contains(string(page), row) {
			t.Errorf("docs/mutants.md lacks %s: run `make mutants`", m.id)
		}
	}
}

func TestCommandLine(t *testing.T) {
	for _, row := range []struct {
		args string
		want int
		says string
	}{
		{"-list -run ^rom/half-step$", exitKilled, "the closed form lacks its half step"},
		{"-run ^nothing$", exitBroken, "no mutant matches"},
		{"-run (", exitBroken, "-run: "},
		{"-run rom -o page.md", exitBroken, "does not go with -run"},
		{"rom/half-step", exitBroken, `got the argument "rom/half-step"`},
		{"-workers 0", exitBroken, "want 1 or more"},
		{"-nonsense", exitBroken, "flag provided but not defined"},
	} {
		var out bytes.Buffer
		if got := run(t.Context(), strings.Fields(row.args), &out, &out); got != row.want || !strings.Contains(out.String(), row.says) {
			t.Errorf("%s: exit code %d, want %d: %s", row.args, got, row.want, &out)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	if got := run(ctx, []string{"-run", "^rom/half-step$"}, &out, &out); got != exitInterrupted {
		t.Errorf("exit code %d after an interrupt: %s", got, &out)
	}
}
