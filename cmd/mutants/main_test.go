package main

import (
	"bytes"
	"context"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// inSmallModule changes into the folder of a module of two packages, of which b
// imports a, and returns what is logged from then on.
func inSmallModule(t *testing.T) *bytes.Buffer {
	t.Helper()
	t.Chdir(t.TempDir())
	write(t, "go.mod", "module small\n\ngo 1.26\n")
	write(t, "a/a.go", "package a\n\nfunc Double(x int) int { return 2 * x }\n\nfunc Half(x int) int { return x / 2 }\n\nfunc Unused(x int) int { return x }\n")
	write(t, "a/a_test.go", "package a\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n\tif Double(3) != 6 {\n\t\tt.Fail()\n\t}\n}\n")
	write(t, "b/b.go", "package b\n\nimport \"small/a\"\n\nfunc Quarter(x int) int { return a.Half(a.Half(x)) }\n")
	write(t, "b/b_test.go", "package b\n\nimport \"testing\"\n\nfunc TestQuarter(t *testing.T) {\n\tt.Run(\"of eight\", func(t *testing.T) {\n\t\tif Quarter(8) != 2 {\n\t\t\tt.Fail()\n\t\t}\n\t})\n}\n")
	write(t, "docs/mutants.md", "")
	var logged bytes.Buffer
	log.SetOutput(&logged)
	log.SetFlags(0)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	return &logged
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func fault(id, before, after string) mutant {
	return mutant{id: id, fault: id + " | pipe", file: "a/a.go", before: before, after: after}
}

var double = fault("a/double", "2 * x", "3 * x")

// The page names, for each fault, the first failing test of the package and its
// importers, in the order of the table.
func TestPage(t *testing.T) {
	logged := inSmallModule(t)
	defer func(before time.Duration) { timeout = before }(timeout)
	timeout = time.Second
	equivalent := fault("a/equivalent", "return x }", "return +x }")
	equivalent.equivalent = "+x is x"
	code := run(t.Context(), []mutant{
		double,
		fault("a/half", "x / 2", "x"),
		fault("a/panic", "return x / 2", `panic("")`),
		fault("a/hang", "return x / 2", "for {}"),
		fault("a/crash", "return x / 2", `go panic(""); select {}`),
		equivalent,
		fault("a/unused", "return x }", "return -x }"),
	}, "")
	if code != 1 || !strings.Contains(logged.String(), "a/unused: **survived**: a/a.go: a/unused | pipe\n5 of 7 killed\n") {
		t.Errorf("exit code %d: %s", code, logged)
	}
	page, err := os.ReadFile("docs/mutants.md")
	if err != nil {
		t.Fatal(err)
	}
	from := 0
	for _, want := range []string{
		"**5 of 7 faults are killed** by a failing test, 1 of them because a test hangs;\n1 are argued",
		`| a/double \| pipe | a/a.go | a TestDouble | `,
		`| a/half \| pipe | a/a.go | b TestQuarter | `,
		`| a/panic \| pipe | a/a.go | b TestQuarter | `,
		`| a/hang \| pipe | a/a.go | b TestQuarter (hangs) | `,
		`| a/crash \| pipe | a/a.go | b crashes outside of its tests | `,
		`| a/equivalent \| pipe | a/a.go | equivalent: +x is x | `,
		`| a/unused \| pipe | a/a.go | **survived** | `,
	} {
		at := strings.Index(string(page)[from:], want)
		if at < 0 {
			t.Fatalf("%q is missing or out of order:\n%s", want, page)
		}
		from += at
	}
}

func TestExitCodes(t *testing.T) {
	logged := inSmallModule(t)
	argued := double
	argued.equivalent = "wrongly"
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, row := range []struct {
		name    string
		ctx     context.Context
		mutant  mutant
		pattern string
		want    int
		says    string
	}{
		{"killed", t.Context(), double, "^a/d", 0, "1 of 1 killed"},
		{"killed despite an argument", t.Context(), argued, ".", 1, "although argued to be equivalent"},
		{"does not compile", t.Context(), fault("a/typo", "2 * x", "2 * y"), ".", 2, "a/typo: go test ./a: exit status 1\n# small/a"},
		{"text is missing", t.Context(), fault("a/stale", "4 * x", "2 * x"), ".", 2, "occurs 0 times in a/a.go"},
		{"text occurs twice", t.Context(), fault("a/twice", "int {", "int{"), ".", 2, "occurs 3 times in a/a.go"},
		{"no such mutant", t.Context(), double, "nothing", 2, "no mutant matches"},
		{"no such pattern", t.Context(), double, "(", 2, "-run: "},
		{"interrupted", cancelled, double, ".", 130, "interrupted"},
	} {
		logged.Reset()
		if got := run(row.ctx, []mutant{row.mutant}, row.pattern); got != row.want || !strings.Contains(logged.String(), row.says) {
			t.Errorf("%s: exit code %d, want %d: %s", row.name, got, row.want, logged)
		}
	}
	write(t, "a/red_test.go", "package a\n\nimport \"testing\"\n\nfunc TestRed(t *testing.T) { t.Fail() }\n")
	logged.Reset()
	if got := run(t.Context(), []mutant{double}, "."); got != 2 || !strings.Contains(logged.String(), "without a fault: exit status 1\n--- FAIL: TestRed") {
		t.Errorf("tests that fail without a fault: exit code %d: %s", got, logged)
	}
	if page, err := os.ReadFile("docs/mutants.md"); err != nil || len(page) > 0 {
		t.Errorf("a run with a pattern wrote a page: %v\n%s", err, page)
	}
}
