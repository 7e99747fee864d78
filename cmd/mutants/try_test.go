package mutants

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// In a module of two packages, of which b imports a, a mutant of a is killed by the
// first failing test of a, or else of b.
func TestTry(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"go.mod":      "module grposim\n\ngo 1.26\n",
		"a/a.go":      "package a\n\nfunc Double(x int) int { return 2 * x }\n\nfunc Half(x int) int { return x / 2 }\n\nfunc Unused(x int) int { return x }\n",
		"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n\tif Double(3) != 6 {\n\t\tt.Fail()\n\t}\n}\n",
		"b/b.go":      "package b\n\nimport \"grposim/a\"\n\nfunc Quarter(x int) int { return a.Half(a.Half(x)) }\n",
		"b/b_test.go": "package b\n\nimport \"testing\"\n\nfunc TestQuarter(t *testing.T) {\n\tt.Run(\"of eight\", func(t *testing.T) {\n\t\tif Quarter(8) != 2 {\n\t\t\tt.Fail()\n\t\t}\n\t})\n}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	packages, err := testers()
	if err != nil {
		t.Fatal(err)
	}
	defer func(before time.Duration) { timeout = before }(timeout)
	timeout = time.Second
	for _, row := range []struct{ name, before, after, killer, err string }{
		{"double", "2 * x", "3 * x", "a TestDouble", ""},
		{"half", "x / 2", "x", "b TestQuarter", ""},
		{"panic", "return x / 2", `panic("")`, "b TestQuarter", ""},
		{"hang", "return x / 2", "for {}", "b TestQuarter (hangs)", ""},
		{"crash", "return x / 2", `go panic(""); select {}`, "b crashes outside of its tests", ""},
		{"unused", "return x }", "return -x }", "", ""},
		{"does not compile", "2 * x", "2 * y", "", "undefined: y"},
		{"text is missing", "4 * x", "2 * x", "", "occurs 0 times in a/a.go"},
		{"text occurs often", "int {", "int{", "", "occurs 3 times in a/a.go"},
	} {
		m := mutant{file: "a/a.go", before: row.before, after: row.after}
		killer, err := m.try(t.TempDir(), packages["grposim/a"])
		if killer != row.killer || (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%s: killed by %q, error %v; want %q, %q", row.name, killer, err, row.killer, row.err)
		}
	}
}
