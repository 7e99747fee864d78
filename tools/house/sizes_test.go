package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// The largest function, in lines, and the largest type, in methods and in fields, that a
// reader takes in at once.
const mostLines, mostMethods, mostFields = 100, 30, 25

// large are the types that are larger, and why.
var large = map[string]string{
	"rom/rest.linearization": "what is left out at a fixed point is a sum of terms, each a method of what all of them are computed from",
	"sim/lanes.runner":       "the compiler makes a copy of all that has vectors for each length, and finds them best in one place",
	"sweeps/claim.Model":     "a method for each number that theory predicts of a cell",
}

// Functions and types are small, or large says why not.
func TestSizes(t *testing.T) {
	methods, fields := make(map[string]int), make(map[string]int)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		folder := filepath.ToSlash(filepath.Dir(name))
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if n := set.Position(decl.End()).Line - set.Position(decl.Pos()).Line + 1; n > mostLines {
					t.Errorf("%s: %s has %d lines, want at most %d", name, decl.Name.Name, n, mostLines)
				}
				if decl.Recv != nil {
					methods[folder+"."+receiver(decl.Recv.List[0].Type)]++
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						if s, ok := spec.Type.(*ast.StructType); ok {
							fields[folder+"."+spec.Name.Name] = s.Fields.NumFields()
						}
					}
				}
			}
		}
		return nil
	})
	if err != nil || len(methods) < 100 {
		t.Fatalf("%d types with methods, error %v", len(methods), err)
	}
	for name := range methods {
		fields[name] += 0 // types of other kinds than structs have methods alone
	}
	for name := range fields {
		if m, f := methods[name], fields[name]; (m > mostMethods || f > mostFields) != (large[name] != "") {
			t.Errorf("%s has %d methods and %d fields, want at most %d and %d, or a reason in large for more", name, m, f, mostMethods, mostFields)
		}
	}
}
