//go:build long

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goListed is a package as go list describes it.
type goListed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
}

// platform checks the types of packages for an operating system and an architecture. It reads all code from its
// source, and of other modules what they declare alone, which takes a tenth of the time of building it.
type platform struct {
	packages map[string]goListed
	checked  map[string]*types.Package
	sizes    types.Sizes
	problems []error
}

// listPackages lists the packages on which those of the pattern depend, with what go list is told.
func (p *platform) listPackages(system, architecture string, arguments ...string) error {
	list := exec.Command("go", append([]string{"list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap"}, arguments...)...)
	list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, "GOEXPERIMENT=", "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.Output()
	for decoder := json.NewDecoder(strings.NewReader(string(out))); err == nil; {
		var l goListed
		if err = decoder.Decode(&l); err == nil {
			p.packages[l.ImportPath] = l
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// check returns the package of this path, which all others that import it share.
func (p *platform) check(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if done := p.checked[path]; done != nil {
		return done, nil
	}
	of, found := p.packages[path]
	if !found {
		return nil, fmt.Errorf("no package %s", path)
	}
	files, own := token.NewFileSet(), strings.HasPrefix(path, "grposim/")
	var syntax []*ast.File
	for _, name := range of.GoFiles {
		file, err := parser.ParseFile(files, filepath.Join(of.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		syntax = append(syntax, file)
	}
	config := types.Config{
		Importer: importer(func(path string) (*types.Package, error) {
			if mapped := of.ImportMap[path]; mapped != "" {
				path = mapped
			}
			return p.check(path)
		}),
		Sizes: p.sizes, IgnoreFuncBodies: !own,
		Error: func(err error) {
			if own {
				p.problems = append(p.problems, err)
			}
		},
	}
	p.checked[path], _ = config.Check(path, files, syntax, nil)
	return p.checked[path], nil
}

// importer is the function of a types.Importer.
type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }

// The program has no error of types on any system that docs/platforms.md names, nor the explorer as WebAssembly; the store has none
// with its tests. TestLongArchitectures builds it for linux/arm64, TestLongWine for Windows, tools/explorer the page.
func TestLongPlatforms(t *testing.T) {
	program, store := []string{"grposim/..."}, []string{"-test", "grposim/sweeps/store"}
	for _, row := range []struct {
		system, architecture string
		lists                [][]string
	}{
		{"linux", "arm64", [][]string{program, store}},
		{"darwin", "arm64", [][]string{program, store}},
		{"darwin", "amd64", [][]string{program, store}},
		{"windows", "arm64", [][]string{program, store}},
		{"windows", "amd64", [][]string{program, store}},
		{"js", "wasm", [][]string{{"grposim/tools/explorer/wasm"}}},
	} {
		t.Run(row.system+"-"+row.architecture, func(t *testing.T) {
			t.Parallel()
			p := &platform{packages: make(map[string]goListed), checked: make(map[string]*types.Package), sizes: types.SizesFor("gc", row.architecture)}
			for _, arguments := range row.lists {
				if err := p.listPackages(row.system, row.architecture, arguments...); err != nil {
					t.Fatal(err)
				}
			}
			own := 0
			for _, path := range slices.Sorted(maps.Keys(p.packages)) {
				if !strings.HasPrefix(path, "grposim/") || strings.HasSuffix(path, ".test") {
					continue
				}
				own++
				if _, err := p.check(path); err != nil {
					t.Error(err)
				}
			}
			for _, err := range p.problems {
				t.Error(err)
			}
			t.Logf("%d packages of ours, %d in all", own, len(p.checked))
		})
	}
}
