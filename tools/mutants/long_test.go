//go:build long

package mutants

import (
	"errors"
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
// equivalent to the code. A single mutant of a package without a floor decides nothing
// and is not tried.
func TestLongMutants(t *testing.T) {
	t.Chdir("../..")
	g := must(newGenerator())
	g.packages = slices.DeleteFunc(g.packages, func(p goPackage) bool {
		return *size == 1 && measured[strings.TrimPrefix(p.ImportPath, module)].tried == 0
	})
	var mu sync.Mutex
	found := make(map[string]share) // by package
	t.Run("of", func(t *testing.T) {
		for _, p := range g.packages {
			name := strings.TrimPrefix(p.ImportPath, module)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				mutants, all, err := g.sample(p, *size)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%d mutants, of which %d are tried", all, len(mutants))
				for _, m := range mutants {
					t.Run(fmt.Sprintf("%s:%d", filepath.Base(m.file), m.line), func(t *testing.T) {
						t.Parallel()
						source := must(os.ReadFile(m.file))
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
	if floor := before.floor(); all.below(floor) {
		t.Errorf("%d of %d mutants are killed, the floor is %.0f %%", all.killed, all.tried, 100*floor)
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
			killer, err := try(t.TempDir(), file, mutated, 5*timeout, "./"+filepath.Dir(file),
				"./"+f.tree+"/...")
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

// In a small module the tests of a folder, and of those below it, find a fault of it.
func TestLongTry(t *testing.T) {
	t.Chdir(t.TempDir())
	const failing = "package %s\n\nimport \"testing\"\n\nfunc %s(t *testing.T) {\n\tif %s " +
		"{\n\t\tt.Fail()\n\t}\n}\n"
	for name, text := range map[string]string{
		"go.mod": "module grposim\n\ngo 1.26\n",
		"a/a.go": "package a\n\nfunc Double(x int) int { return 2 * x }\n\nfunc Half(x int) " +
			"int { return x / 2 }\n\nfunc Unused(x int) int { return x }\n",
		"a/a_test.go": fmt.Sprintf(failing, "a", "TestDouble", "Double(3) != 6"),
		"a/b/b.go": "package b\n\nimport \"grposim/a\"\n\nfunc Quarter(x int) int { return " +
			"a.Half(a.Half(x)) }\n",
		"a/b/b_test.go": fmt.Sprintf(failing, "b", "TestQuarter", "Quarter(8) != 2"),
		"c/c.go":        "package c\n\nconst One = 1\n",
		"c/c_test.go":   fmt.Sprintf(failing, "c", "TestOne", "One != 0"),
	} {
		err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755),
			os.WriteFile(name, []byte(text), 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct{ tree, before, after, killer, err string }{
		{"a", "2 * x", "3 * x", "a TestDouble", ""},
		{"a", "x / 2", "x", "a/b TestQuarter", ""},
		{"a", "return x / 2", `panic("")`, "a/b TestQuarter", ""},
		{"a", "return x / 2", "for {}", "a/b TestQuarter (hangs)", ""},
		{"a", "return x / 2", `go panic(""); select {}`, "a/b crashes outside of its tests", ""},
		{"a", "return x }", "return -x }", "", ""}, // nobody notices
		{"a", "2 * x", "2 * y", "", "undefined: y"},
		{"a", "4 * x", "2 * x", "", "occurs 0 times"},
		{"a", "int {", "int{", "", "occurs 4 times"},
		{"c", "One = 1", "One = 2", "", "TestOne fails without a fault"},
	} {
		file, mutated, err := fault{row.tree, "", row.before, row.after}.mutate()
		killer := ""
		if err == nil {
			killer, err = try(t.TempDir(), file, mutated, time.Second, "./"+row.tree+"/...")
		}
		if killer != row.killer || (err == nil) != (row.err == "") || err != nil &&
			!strings.Contains(err.Error(), row.err) {
			t.Errorf("%s for %s: killed by %q, error %v; want %q, %q", row.after, row.before, killer, err,
				row.killer, row.err)
		}
	}
}
