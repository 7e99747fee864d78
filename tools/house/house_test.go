// Package house tests what holds for the repository as a whole: sizes, imports and licences.
package house

import (
	"flag"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the files that tests write")

// root is the folder of the product's module.
var root = filepath.Join("..", "..")

// read returns the text of a file below root.
func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// golden compares a text with a file below root, or writes it there.
func golden(t *testing.T, name, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(read(t, name), text); diff != "" {
		t.Errorf("%s is not what the test makes (-update rewrites it):\n%s", name, diff)
	}
}

// goList returns a list of each package of both modules.
func goList(t *testing.T, field string) map[string][]string {
	t.Helper()
	lists := make(map[string][]string)
	for _, folder := range []string{root, filepath.Join(root, "tools")} {
		command := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .`+field+` " "}}`, "./...")
		command.Dir = folder
		out, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			words := strings.Fields(line)
			lists[words[0]] = words[1:]
		}
	}
	return lists
}

// receiver returns the name of the type of a method's receiver.
func receiver(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	}
	return expression.(*ast.Ident).Name
}
