//go:build long

package mutants

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var size = flag.Int("sample", 1, "number of mutants to try of each package")

// timeout limits the tests of a mutant. Those of a package take a tenth of it.
var timeout = 2 * time.Minute

// Of a sample of the mutants that the syntax gives, the tests of their package kill as
// many as they did before. Survivors are listed: a test is missing, or the mutant is
// equivalent to the code.
func TestLongMutants(t *testing.T) {
	t.Chdir("../..")
	g, err := newGenerator()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	found := make(map[string]share) // by package
	t.Run("of", func(t *testing.T) {
		for _, p := range g.packages {
			name := strings.TrimPrefix(p.ImportPath, module)
			t.Run(name, func(t *testing.T) {
				mutants, all, err := g.sample(p, *size)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%d mutants", all)
				for _, m := range mutants {
					t.Run(fmt.Sprintf("%s:%d", filepath.Base(m.file), m.line), func(t *testing.T) {
						t.Parallel()
						source, err := os.ReadFile(m.file)
						if err != nil {
							t.Fatal(err)
						}
						killer, err := try(t.TempDir(), m.file, m.apply(source), timeout, p.ImportPath)
						if err != nil {
							t.Fatalf("%s: %v", m.change, err)
						}
						one := share{tried: 1, killed: 1}
						if killer == "" {
							one.killed, killer = 0, "SURVIVES"
						}
						t.Logf("%s: %s: %s", killer, m.function, m.change)
						mu.Lock()
						defer mu.Unlock()
						s := found[name]
						s.add(one)
						found[name] = s
					})
				}
			})
		}
	})
	var all, before share
	for _, p := range g.packages {
		name := strings.TrimPrefix(p.ImportPath, module)
		s := found[name]
		t.Logf("%q: {%d, %d},", name, s.tried, s.killed)
		if floor := measured[name].floor(); s.below(floor) {
			t.Errorf("%s: %d of %d mutants are killed, the floor is %.0f %%", name, s.killed, s.tried, 100*floor)
		}
		if m := measured[name]; m.tried > 0 && s.tried > 0 {
			all.add(s)
			before.add(m)
		}
	}
	if s := all; s.below(before.floor()) {
		t.Errorf("%d of %d mutants are killed, the floor is %.0f %%", s.killed, s.tried, 100*before.floor())
	}
}

// The tests of its tree find every fault of the table. `make mutants` runs it.
func TestMutants(t *testing.T) {
	t.Chdir("../..")
	for _, f := range table {
		t.Run(f.what, func(t *testing.T) {
			t.Parallel()
			file, mutated, err := f.mutate()
			if err != nil {
				t.Fatal(err)
			}
			killer, err := try(t.TempDir(), file, mutated, 5*timeout, "./"+filepath.Dir(file), "./"+f.tree+"/...")
			if err != nil {
				t.Fatal(err)
			}
			if killer == "" {
				t.Fatal("no test fails")
			}
			t.Log(killer)
		})
	}
}

// In a module of two packages, the tests of a and of those below it find a fault of a.
func TestLongTry(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"go.mod":        "module grposim\n\ngo 1.26\n",
		"a/a.go":        "package a\n\nfunc Double(x int) int { return 2 * x }\n\nfunc Half(x int) int { return x / 2 }\n\nfunc Unused(x int) int { return x }\n",
		"a/a_test.go":   "package a\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n\tif Double(3) != 6 {\n\t\tt.Fail()\n\t}\n}\n",
		"a/b/b.go":      "package b\n\nimport \"grposim/a\"\n\nfunc Quarter(x int) int { return a.Half(a.Half(x)) }\n",
		"a/b/b_test.go": "package b\n\nimport \"testing\"\n\nfunc TestQuarter(t *testing.T) {\n\tt.Run(\"of eight\", func(t *testing.T) {\n\t\tif Quarter(8) != 2 {\n\t\t\tt.Fail()\n\t\t}\n\t})\n}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct{ name, before, after, killer, err string }{
		{"double", "2 * x", "3 * x", "a TestDouble", ""},
		{"half", "x / 2", "x", "a/b TestQuarter", ""},
		{"panic", "return x / 2", `panic("")`, "a/b TestQuarter", ""},
		{"hang", "return x / 2", "for {}", "a/b TestQuarter (hangs)", ""},
		{"crash", "return x / 2", `go panic(""); select {}`, "a/b crashes outside of its tests", ""},
		{"unused", "return x }", "return -x }", "", ""},
		{"does not compile", "2 * x", "2 * y", "", "undefined: y"},
		{"text is missing", "4 * x", "2 * x", "", "occurs 0 times"},
		{"text occurs often", "int {", "int{", "", "occurs 4 times"},
	} {
		file, mutated, err := fault{"a", row.name, row.before, row.after}.mutate()
		killer := ""
		if err == nil {
			killer, err = try(t.TempDir(), file, mutated, time.Second, "./a/...")
		}
		if killer != row.killer || (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%s: killed by %q, error %v; want %q, %q", row.name, killer, err, row.killer, row.err)
		}
	}
}

// A sample does not depend on what else is in the package, and only has mutants that
// compile.
func TestLongSample(t *testing.T) {
	t.Chdir("../..")
	g, err := newGenerator()
	if err != nil {
		t.Fatal(err)
	}
	p := g.packages[slices.IndexFunc(g.packages, func(p goPackage) bool { return p.ImportPath == module+"sim/measure" })]
	few, _, err := g.sample(p, 5)
	if err != nil {
		t.Fatal(err)
	}
	many, all, err := g.sample(p, 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(many) != 10 || !slices.Equal(few, many[:5]) {
		t.Errorf("the first 5 of 10 mutants are %v, want %v", many, few)
	}
	if all < 300 {
		t.Errorf("%d mutants of sim/measure, want hundreds", all)
	}
}
