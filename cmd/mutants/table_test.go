package main

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The table cannot rot: every mutant's text is still there, once, and the file
// with the fault in it compiles.
func TestTable(t *testing.T) {
	all := mutants()
	root := moduleRoot(t)
	check := newChecker(t, root, all)
	ids := make(map[string]bool)
	for _, m := range all {
		if ids[m.id] {
			t.Errorf("two mutants are called %s", m.id)
		}
		ids[m.id] = true
		if !strings.HasPrefix(m.id, m.pkg()+"/") || strings.Contains(m.id[len(m.pkg())+1:], "/") {
			t.Errorf("%s: a mutant of %s is called %s/…", m.id, m.pkg(), m.pkg())
		}
		if m.fault == "" || strings.Contains(m.fault, "\n") {
			t.Errorf("%s: %q does not say in one line what the fault is", m.id, m.fault)
		}
		if m.before == m.after {
			t.Errorf("%s changes nothing", m.id)
		}
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.file)))
		if err != nil {
			t.Errorf("%s: %v", m.id, err)
			continue
		}
		mutated, err := m.apply(string(source))
		if err != nil {
			t.Error(err)
			continue
		}
		if err := check.compile(m.file, mutated); err != nil {
			t.Errorf("%s: %v", m.id, err)
		}
	}
}

// The tests that kill no mutant are there.
func TestClocked(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(moduleRoot(t), "*", "*_test.go"))
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

// A text that is no more, or stands twice, is an error.
func TestApply(t *testing.T) {
	for _, row := range []struct{ source, want string }{
		{"a := b", "a := c"},
		{"a := d", ""},
		{"a := b + b", ""},
	} {
		m := mutant{before: "b", after: "c"}
		if got, err := m.apply(row.source); got != row.want || (err == nil) != (row.want != "") {
			t.Errorf("apply to %q gives %q, %v", row.source, got, err)
		}
	}
}

// checker type-checks packages with one file replaced.
type checker struct {
	root  string
	files *token.FileSet
	parse map[string][]*ast.File // of a package's folder, its files as they are
	names map[string][]string
	from  types.Importer
}

// newChecker prepares to check the packages of mutants. What they import is
// read as the compiler left it.
func newChecker(t *testing.T, root string, all []mutant) *checker {
	t.Helper()
	c := &checker{
		root:  root,
		files: token.NewFileSet(),
		parse: make(map[string][]*ast.File),
		names: make(map[string][]string),
	}
	var folders []string
	for _, m := range all {
		folders = append(folders, "./"+m.pkg())
	}
	slices.Sort(folders)
	command := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles"}, slices.Compact(folders)...)...)
	command.Dir = root
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	exports := make(map[string]string)
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var p struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
		}
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		dir, err := filepath.Rel(root, p.Dir)
		if dir = filepath.ToSlash(dir); err != nil || !slices.Contains(folders, "./"+dir) {
			continue
		}
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(c.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			c.parse[dir] = append(c.parse[dir], file)
			c.names[dir] = append(c.names[dir], name)
		}
	}
	c.from = importer.ForCompiler(c.files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return c
}

// compile reports the first error of the package of a file with another text.
func (c *checker) compile(file, source string) error {
	m := mutant{file: file}
	parsed, err := parser.ParseFile(c.files, file, source, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	package_ := slices.Clone(c.parse[m.pkg()])
	package_[slices.Index(c.names[m.pkg()], filepath.Base(file))] = parsed
	config := types.Config{Importer: c.from}
	_, err = config.Check(m.pkg(), c.files, package_, nil)
	return err
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
