package mutants

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// Every mutant's text occurs once in its file, and the package compiles with the
// fault in it.
func TestTable(t *testing.T) {
	t.Chdir("../..")
	files := token.NewFileSet()
	config := types.Config{Importer: &remembering{importer.ForCompiler(files, "source", nil), make(map[string]*types.Package)}}
	sound := make(map[string]map[string]*ast.File) // of a folder, its files without a fault
	ids := make(map[string]bool)
	for _, m := range table {
		dir := path.Dir(m.file)
		if ids[m.id] {
			t.Errorf("two mutants are called %s", m.id)
		}
		ids[m.id] = true
		if path.Dir(m.id) != dir {
			t.Errorf("%s: a mutant of %s is called %s/…", m.id, dir, dir)
		}
		if m.fault == "" || strings.Contains(m.fault, "\n") {
			t.Errorf("%s: %q does not describe the fault in one line", m.id, m.fault)
		}
		if m.before == m.after {
			t.Errorf("%s changes nothing", m.id)
		}
		if sound[dir] == nil {
			sound[dir] = parsePackage(t, files, dir)
		}
		source, err := os.ReadFile(m.file)
		if err != nil {
			t.Errorf("%s: %v", m.id, err)
			continue
		}
		mutated, err := m.apply(string(source))
		if err != nil {
			t.Errorf("%s: %v", m.id, err)
			continue
		}
		if built, err := build.Default.MatchFile(dir, path.Base(m.file)); err != nil || !built {
			continue // vectors, in a build without them
		}
		faulty, err := parser.ParseFile(files, m.file, mutated, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%s: %v", m.id, err)
			continue
		}
		compiled := []*ast.File{faulty}
		for name, file := range sound[dir] {
			if name != m.file {
				compiled = append(compiled, file)
			}
		}
		if _, err := config.Check(dir, files, compiled, nil); err != nil {
			t.Errorf("%s: %v", m.id, err)
		}
	}
}

// remembering is an importer that looks for every package once.
type remembering struct {
	types.Importer
	packages map[string]*types.Package
}

func (r *remembering) Import(path string) (pkg *types.Package, err error) {
	if r.packages[path] == nil {
		r.packages[path], err = r.Importer.Import(path)
	}
	return r.packages[path], err
}

// parsePackage returns the syntax of the files that a folder's package is built
// from, by path.
func parsePackage(t *testing.T, files *token.FileSet, dir string) map[string]*ast.File {
	t.Helper()
	pkg, err := build.ImportDir(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	parsed := make(map[string]*ast.File)
	for _, name := range pkg.GoFiles {
		file := path.Join(dir, name)
		if parsed[file], err = parser.ParseFile(files, file, nil, parser.SkipObjectResolution); err != nil {
			t.Fatal(err)
		}
	}
	return parsed
}

// Every test that is left out exists.
func TestClocked(t *testing.T) {
	files, err := filepath.Glob("../../*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(data)
	}
	for _, name := range clocked {
		if n := strings.Count(text.String(), "\nfunc "+name+"(t *testing.T) {"); n != 1 {
			t.Errorf("%d tests are called %s", n, name)
		}
	}
}

// docs/mutants.md has a row for every mutant, in the order of the table.
func TestPageIsOfThisTable(t *testing.T) {
	page, err := os.ReadFile("../../docs/mutants.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(page), "\n|---|---|---|---:|\n")
	lines := strings.Split(strings.TrimSpace(rows), "\n")
	if len(lines) != len(table) {
		t.Fatalf("docs/mutants.md has %d mutants, the table %d: run `make mutants`", len(lines), len(table))
	}
	for i, m := range table {
		if !strings.HasPrefix(lines[i], m.rowStart()+" ") {
			t.Errorf("docs/mutants.md lacks %s in row %d: run `make mutants`", m.id, i+1)
		}
	}
}
