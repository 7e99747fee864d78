package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every file, package and identifier that these documents name in code is in the repository, and an
// identifier that they place in a file is declared there.
func TestNamesInDocuments(t *testing.T) {
	r := newRepository(t, moduleRoot(t))
	for name, least := range map[string]int{"architecture.md": 120, "glossary.md": 25, "theory-neglected.md": 15} {
		checked := 0
		text := fencedCode.ReplaceAllString(string(readDocument(t, r.root, "docs", name)), "")
		for _, span := range submatches(codeSpan, text) {
			known, isName := r.knows(span)
			if isName {
				checked++
			}
			if isName && !known {
				t.Errorf("docs/%s names %s, which is not in the repository", name, span)
			}
		}
		for _, match := range placedName.FindAllStringSubmatch(text, -1) {
			if file := match[2]; !slices.Contains(r.declared[match[1]], file) {
				t.Errorf("docs/%s has %s in %s, want one of %v", name, match[1], file, r.declared[match[1]])
			}
		}
		if checked < least {
			t.Errorf("docs/%s: %d names were found, want at least %d", name, checked, least)
		}
	}
	for span, want := range map[string]bool{
		"sim/replica.go": true, "sim/replica2.go": false, "rom/known_*_test.go": true, "sim/unknown_*.go": false,
		"sweeps/theory": true, "sweeps/practice": false, "gopkg.in/yaml.v3": true, "gopkg.in/yaml.v9": false,
		"rom.Predict": true, "rom.Compare": false, "replica.step": true, "replica.march": false,
		"Estimator.GroupSize": true, "Estimator.Size": false, "TestNamesInDocuments": true, "NoSuchName": false, "at_most": true,
	} {
		if known, isName := r.knows(span); !isName || known != want {
			t.Errorf("%s: known %v, a name %v; want %v", span, known, isName, want)
		}
	}
}

var (
	fencedCode  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	codeSpan    = regexp.MustCompile("`([^`]+)`")
	placedName  = regexp.MustCompile("`([A-Za-z][\\w.]*)` in `([\\w./-]+\\.go)`")
	filePath    = regexp.MustCompile(`^[\w.*/-]+$`)
	identifier  = regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$`)
	placeholder = regexp.MustCompile(`\b[A-Z]{3,}\b`)
	extension   = regexp.MustCompile(`\.(go|md|yaml|json|jsonl|csv|txt|css|tmpl)$`)
)

// repository is what documents may name.
type repository struct {
	root     string
	files    []string            // with slashes, relative to root
	declared map[string][]string // files by identifier: Name, Type.Member, package.Name
	imported map[string]bool     // packages of other modules, by path
	written  string              // the references of keys, of files of results and of logs
}

func newRepository(t *testing.T, root string) *repository {
	t.Helper()
	r := &repository{root: root, declared: make(map[string][]string), imported: make(map[string]bool)}
	err := filepath.WalkDir(root, func(full string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && full != root && (strings.HasPrefix(name, ".") || name == "bin" || name == "results") {
			return filepath.SkipDir
		}
		name, err := filepath.Rel(root, full)
		if err != nil {
			return err
		}
		r.files = append(r.files, filepath.ToSlash(name))
		if entry.IsDir() || filepath.Ext(full) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), full, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		r.declare(file, filepath.ToSlash(name))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"config.md", "results.md", "logs.md"} {
		r.written += string(readDocument(t, root, "docs", name))
	}
	return r
}

// declare adds what a file imports, and what it declares outside functions.
func (r *repository) declare(file *ast.File, name string) {
	add := func(identifier string) { r.declared[identifier] = append(r.declared[identifier], name) }
	global := func(identifier string) {
		add(identifier)
		add(file.Name.Name + "." + identifier)
	}
	add(file.Name.Name)
	for _, imported := range file.Imports {
		r.imported[strings.Trim(imported.Path.Value, `"`)] = true
	}
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				global(d.Name.Name)
			} else {
				add(d.Name.Name)
				add(receiver(d.Recv.List[0].Type) + "." + d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					for _, v := range s.Names {
						global(v.Name)
					}
				case *ast.TypeSpec:
					global(s.Name.Name)
					for _, member := range members(s.Type) {
						add(s.Name.Name + "." + member)
					}
				}
			}
		}
	}
}

// receiver returns the name of the type of a method's receiver.
func receiver(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// members returns the names of the fields of a struct, or of the methods of an interface.
func members(expression ast.Expr) (names []string) {
	var fields *ast.FieldList
	switch e := expression.(type) {
	case *ast.StructType:
		fields = e.Fields
	case *ast.InterfaceType:
		fields = e.Methods
	default:
		return nil
	}
	for _, field := range fields.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	return names
}

// knows reports whether a code span is a name, of a file or of something declared, and whether the repository
// has it. Files of a results folder and keys of a configuration are known by their reference.
func (r *repository) knows(span string) (known, isName bool) {
	if r.imported[span] || strings.Contains(r.written, "`"+span+"`") {
		return true, true
	}
	switch {
	case identifier.MatchString(span) && !extension.MatchString(span):
		return len(r.declared[span]) > 0, true
	case filePath.MatchString(span) && (strings.Contains(span, "/") || extension.MatchString(span)):
		span = placeholder.ReplaceAllString(span, "*")
		for _, file := range r.files {
			for _, name := range []string{file, path.Base(file)} {
				if found, err := path.Match(span, name); err == nil && found {
					return true, true
				}
			}
		}
		return false, true
	}
	return false, false
}
