package mutants

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// module begins the import path of every package of the module.
const module = "grposim/"

// seed chooses the sample of every package.
const seed = "1"

// mutant is a file's source with one small change.
type mutant struct {
	file       string // path from the module's folder
	line       int
	function   string // that holds the change, "" outside of functions
	start, end int    // of the changed text in the source
	text       string // in its place
	change     string // of an expression or statement into another, in one line
}

// apply returns the source with the change in it.
func (m mutant) apply(source []byte) string {
	return string(source[:m.start]) + m.text + string(source[m.end:])
}

// swapped gives for an operator the one that takes its place.
var swapped = map[token.Token]token.Token{
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
	token.REM: token.MUL,
	token.AND: token.OR, token.OR: token.AND, token.XOR: token.AND, token.AND_NOT: token.AND,
	token.SHL: token.SHR, token.SHR: token.SHL,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
	token.MUL_ASSIGN: token.QUO_ASSIGN, token.QUO_ASSIGN: token.MUL_ASSIGN,
	token.INC: token.DEC, token.DEC: token.INC,
}

// mutantsOf returns every mutant of a file, whether it compiles or not: operators and
// bounds swapped, conditions turned, terms and signs dropped, numbers one larger,
// statements deleted.
func mutantsOf(files *token.FileSet, name string, source []byte) ([]mutant, error) {
	syntax, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []mutant
	function := ""
	at := func(p token.Pos) int { return files.Position(p).Offset }
	// change replaces the text from one position to another within a node.
	change := func(in ast.Node, from, to token.Pos, text string) {
		m := mutant{file: name, line: files.Position(from).Line, function: function, start: at(from),
			end: at(to), text: text}
		left, right := []rune(oneLine(source[at(in.Pos()):m.start])),
			[]rune(oneLine(source[m.end:at(in.End())]))
		before, after := string(left[max(0, len(left)-context):]), string(right[:min(len(right), context)])
		m.change = before + oneLine(source[m.start:m.end]) + after + " → " + before + oneLine([]byte(text)) + after
		all = append(all, m)
	}
	swap := func(in ast.Node, at token.Pos, operator token.Token) {
		if other, ok := swapped[operator]; ok {
			change(in, at, at+token.Pos(len(operator.String())), other.String())
		}
	}
	statements := func(list []ast.Stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *ast.ExprStmt, *ast.IncDecStmt:
				change(s, s.Pos(), s.End(), "")
			case *ast.AssignStmt:
				if s.Tok != token.DEFINE {
					change(s, s.Pos(), s.End(), "")
				}
			}
		}
	}
	visit := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BinaryExpr:
			swap(n, n.OpPos, n.Op)
			switch n.Op {
			case token.ADD, token.SUB, token.MUL, token.QUO, token.LAND, token.LOR:
				change(n, n.X.End(), n.End(), "")
			}
		case *ast.UnaryExpr:
			if n.Op == token.SUB || n.Op == token.NOT {
				change(n, n.Pos(), n.X.Pos(), "")
			}
		case *ast.IfStmt:
			if b, ok := n.Cond.(*ast.BinaryExpr); !ok || b.Op != token.EQL && b.Op != token.NEQ {
				change(n.Cond, n.Cond.Pos(), n.Cond.End(),
					"!("+string(source[at(n.Cond.Pos()):at(n.Cond.End())])+")")
			}
		case *ast.BasicLit:
			if n.Kind == token.INT || n.Kind == token.FLOAT {
				change(n, n.Pos(), n.End(), "("+n.Value+" + 1)")
			}
		case *ast.AssignStmt:
			swap(n, n.TokPos, n.Tok)
		case *ast.IncDecStmt:
			swap(n, n.TokPos, n.Tok)
		case *ast.BlockStmt:
			statements(n.List)
		case *ast.CaseClause:
			statements(n.Body)
		}
		return true
	}
	for _, declaration := range syntax.Decls {
		function = ""
		if f, ok := declaration.(*ast.FuncDecl); ok {
			function = f.Name.Name
		}
		ast.Inspect(declaration, visit)
	}
	return all, nil
}

// context is the number of characters that are shown on each side of a change.
const context = 30

var spaces = regexp.MustCompile(`\s+`)

// oneLine returns source text in one line.
func oneLine(text []byte) string { return spaces.ReplaceAllString(string(text), " ") }

// goPackage is what `go list` says of a package.
type goPackage struct {
	ImportPath, Dir, Export            string
	GoFiles, TestGoFiles, XTestGoFiles []string
}

// generator knows the packages of the module, and what they import.
type generator struct {
	packages []goPackage // those whose tests are to find mutants
	exports  map[string]string
	files    *token.FileSet

	mu       sync.Mutex // one user of the importer at a time
	importer types.Importer
}

// newGenerator lists the packages of the module in the working folder.
func newGenerator() (*generator, error) {
	g := &generator{exports: make(map[string]string), files: token.NewFileSet()}
	command := exec.Command("go", "list", "-export", "-deps",
		"-json=ImportPath,Dir,Export,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, err
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		g.exports[p.ImportPath] = p.Export
		name, ours := strings.CutPrefix(p.ImportPath, module)
		if ours && name != "" && len(p.GoFiles) > 0 && len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
			g.packages = append(g.packages, p)
		}
	}
	slices.SortFunc(g.packages,
		func(a, b goPackage) int { return cmp.Compare(a.ImportPath, b.ImportPath) })
	g.importer = importer.ForCompiler(g.files, "gc",
		func(path string) (io.ReadCloser, error) { return os.Open(g.exports[path]) })
	return g, nil
}

// sample returns n of the mutants of a package that compile, and the number of all
// mutants. Which they are depends on the seed, the package and the changes themselves,
// not on their place: an edit elsewhere leaves the sample as it is.
func (g *generator) sample(p goPackage, n int) (chosen []mutant, all int, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	folder, err := os.Getwd()
	if err != nil {
		return nil, 0, err
	}
	sources := make(map[string][]byte)
	type ranked struct {
		mutant
		rank [sha256.Size]byte
	}
	var population []ranked
	seen := make(map[string]int)
	for _, base := range p.GoFiles {
		name, err := filepath.Rel(folder, filepath.Join(p.Dir, base))
		if err != nil {
			return nil, 0, err
		}
		if sources[name], err = os.ReadFile(name); err != nil {
			return nil, 0, err
		}
		mutants, err := mutantsOf(g.files, name, sources[name])
		if err != nil {
			return nil, 0, err
		}
		for _, m := range mutants {
			key := seed + p.ImportPath + " " + m.function + ": " + m.change
			seen[key]++
			population = append(population, ranked{m, sha256.Sum256(fmt.Append(nil, key, seen[key]))})
		}
	}
	slices.SortFunc(population, func(a, b ranked) int { return bytes.Compare(a.rank[:], b.rank[:]) })
	for _, m := range population {
		if len(chosen) == n {
			break
		}
		if g.compiles(sources, m.file, m.apply(sources[m.file])) {
			chosen = append(chosen, m.mutant)
		}
	}
	return chosen, len(population), nil
}

// compiles says whether a package compiles with the mutated text in the place of a file.
func (g *generator) compiles(sources map[string][]byte, file, mutated string) bool {
	var syntax []*ast.File
	for name, source := range sources {
		if name == file {
			source = []byte(mutated)
		}
		parsed, err := parser.ParseFile(g.files, name, source, parser.SkipObjectResolution)
		if err != nil {
			return false
		}
		syntax = append(syntax, parsed)
	}
	config := types.Config{Importer: g.importer, Sizes: types.SizesFor("gc", runtime.GOARCH)}
	_, err := config.Check(path.Dir(file), g.files, syntax, nil)
	return err == nil
}
