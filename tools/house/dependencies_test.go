package house

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	required      = regexp.MustCompile(`(?m)^\t(\S+\.\S+) (v\S+)$`) // not // indirect
	dependencyRow = regexp.MustCompile(`(?m)^\| (\S+\.\S+/\S+) \| (\S+) \| \d{4}-\d\d-\d\d \| (.+?) \| .+ \|$`)
)

// The table of docs/dependencies.md has every direct dependency with the version of go.mod and the
// packages that import it; those of tests where there is no other.
func TestDependencies(t *testing.T) {
	versions := make(map[string]string)
	for _, m := range required.FindAllStringSubmatch(read(t, "go.mod")+read(t, "tools/go.mod"), -1) {
		versions[m[1]] = m[2]
	}
	code, tests := importers(t, "Imports"), importers(t, "TestImports", "XTestImports")
	for _, row := range dependencyRow.FindAllStringSubmatch(read(t, "docs/dependencies.md"), -1) {
		module, version, users := row[1], row[2], row[3]
		if versions[module] != version {
			t.Errorf("docs/dependencies.md: got %s %s, want version %q, that of go.mod", module, version, versions[module])
		}
		want := strings.Join(code(module), ", ")
		if want == "" {
			want = "tests of " + strings.Join(tests(module), ", ")
		}
		if users != want {
			t.Errorf("docs/dependencies.md, %s: got imported by %s, want %s", module, users, want)
		}
		delete(versions, module)
	}
	for module := range versions {
		t.Errorf("docs/dependencies.md has no row of %s", module)
	}
	version, err := exec.Command("go", "list", "-m", "-f", "{{.GoVersion}}", "grposim").Output()
	if err != nil {
		t.Fatal(err)
	}
	if asked := strings.TrimSuffix(strings.TrimSpace(string(version)), ".0"); !strings.Contains(read(t, "docs/dependencies.md"), "`go.mod` asks for "+asked+" |") {
		t.Errorf("docs/dependencies.md does not say that go.mod asks for Go %s", asked)
	}
}

// importers returns what lists the packages of this module that import a package of another module.
func importers(t *testing.T, fields ...string) func(module string) []string {
	t.Helper()
	of := make(map[string][]string) // importers by import path
	for _, field := range fields {
		for pkg, imports := range goList(t, field) {
			for _, path := range imports {
				of[path] = append(of[path], strings.TrimPrefix(pkg, "grposim/"))
			}
		}
	}
	return func(module string) (users []string) {
		for path, pkgs := range of {
			if path == module || strings.HasPrefix(path, module+"/") {
				users = append(users, pkgs...)
			}
		}
		slices.Sort(users)
		return slices.Compact(users)
	}
}
