package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// `make race` names every package whose code starts goroutines, and tests that are there.
func TestRacedPackages(t *testing.T) {
	makefile := strings.ReplaceAll(read(t, "Makefile"), "\\\n", " ")
	listed := func(variable string) []string {
		match := regexp.MustCompile(`(?m)^` + variable + ` := (.*)$`).FindStringSubmatch(makefile)
		if match == nil {
			t.Fatalf("the Makefile has no %s", variable)
		}
		return strings.Fields(match[1])
	}
	packages := listed("CONCURRENT")
	declared := make(map[string]bool)
	for pkg := range goList(t, "GoFiles") {
		if strings.HasPrefix(pkg, "grposim/tools/") {
			continue
		}
		pkg = strings.TrimPrefix(pkg, "grposim/")
		files, err := filepath.Glob(filepath.Join(root, pkg, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		starts := ""
		for _, path := range files {
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(path, "_test.go") {
				for _, d := range file.Decls {
					if f, ok := d.(*ast.FuncDecl); ok && slices.Contains(packages, pkg) {
						declared[f.Name.Name] = true
					}
				}
			} else if startsGoroutines(file) {
				starts = filepath.Base(path)
			}
		}
		if starts != "" && !slices.Contains(packages, pkg) {
			t.Errorf("%s/%s starts goroutines, but CONCURRENT in the Makefile does not name the package", pkg, starts)
		}
	}
	for _, name := range listed("RACED") {
		if !declared[name] {
			t.Errorf("RACED in the Makefile names %s, which no package of CONCURRENT has", name)
		}
	}
}

// startsGoroutines reports whether a file has a go statement, or calls a Go method.
func startsGoroutines(file *ast.File) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			s, ok := n.Fun.(*ast.SelectorExpr)
			found = found || ok && s.Sel.Name == "Go"
		}
		return true
	})
	return found
}
