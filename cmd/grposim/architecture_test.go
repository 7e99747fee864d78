package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The picture of docs/architecture.md: who must not import whom, directly or
// through others, and why.
func TestArchitecture(t *testing.T) {
	const module = "grposim/"
	for _, row := range []struct {
		pkg     string
		only    []string // of this module, all it may depend on
		never   []string // of others, what it must not depend on
		because string
	}{
		{"grpo/fp", nil, nil, "a leaf: exp and log"},
		{"grpo", []string{"grpo/fp"}, []string{"gopkg.in/yaml.v3", "os"}, "the algorithm is pure: no I/O, no configuration"},
		{"rom", nil, []string{"gopkg.in/yaml.v3", "golang.org/x/exp/rand"}, "the theory must not see the code it predicts, nor chance"},
		{"rom/diagnose", nil, []string{"gopkg.in/yaml.v3", "golang.org/x/exp/rand"}, "a run is diagnosed from what it recorded, whoever recorded it"},
		{"sim/draw", []string{"grpo/fp"}, []string{"golang.org/x/exp/rand"}, "samplers take words, whatever makes them"},
		{"sim/measure", []string{"grpo/fp"}, nil, "estimators know numbers only"},
		{"sim", []string{"grpo", "grpo/fp", "sim/draw", "sim/measure"}, []string{"gopkg.in/yaml.v3"}, "the simulator must not see the theory it tests"},
		{"sweeps/config", []string{"grpo", "grpo/fp", "sim", "sim/draw", "sim/measure", "rom", "rom/diagnose"}, []string{"gonum.org/v1/plot", "github.com/parquet-go/parquet-go"}, "a configuration is checked before anything is planned or stored"},
		{"sweeps/store", []string{"grpo", "grpo/fp", "sim", "sim/draw", "sim/measure"}, []string{"gopkg.in/yaml.v3", "gonum.org/v1/plot"}, "a results folder holds what was measured, whatever is predicted or planned"},
		{"sweeps", []string{"grpo", "grpo/fp", "sim", "sim/draw", "sim/measure", "rom", "rom/diagnose", "sweeps/config", "sweeps/store"}, []string{"gonum.org/v1/plot", "github.com/spf13/cobra"}, "the one place where the two witnesses meet; it draws nothing"},
		{"sweeps/report", []string{"grpo", "grpo/fp", "sim", "sim/draw", "sim/measure", "rom", "rom/diagnose", "sweeps", "sweeps/config", "sweeps/store"}, []string{"github.com/spf13/cobra"}, "pages are made from what sweeps has judged"},
		{"configs", nil, nil, "files, no logic"},
		{"cmd/calibrate", []string{"configs", "grpo", "grpo/fp", "rom", "rom/diagnose", "sim", "sim/draw", "sim/measure", "sweeps", "sweeps/config", "sweeps/store"}, []string{"gonum.org/v1/plot", "github.com/spf13/cobra"}, "it judges through the flow of sweeps, and plants its mistakes there"},
		{"cmd/bench", []string{"grpo", "grpo/fp", "rom", "rom/diagnose", "sim", "sim/draw", "sim/measure", "sweeps", "sweeps/config", "sweeps/store"}, []string{"gonum.org/v1/plot", "github.com/spf13/cobra"}, "it times the simulator, and a whole sweep; nothing of a page or a command"},
		{"cmd/mutants", nil, []string{"gopkg.in/yaml.v3"}, "it plants faults in texts and runs commands: nothing of what it doubts is compiled into it"},
	} {
		deps := packageList(t, "-deps", module+row.pkg)
		for _, dep := range deps {
			own, isOwn := strings.CutPrefix(dep, module)
			if isOwn && own != row.pkg && !slices.Contains(row.only, own) {
				t.Errorf("%s depends on %s: %s", row.pkg, own, row.because)
			}
			if slices.Contains(row.never, dep) {
				t.Errorf("%s depends on %s: %s", row.pkg, dep, row.because)
			}
		}
	}
}

// Libraries that one place confines, so that replacing one is one change.
func TestConfinedLibraries(t *testing.T) {
	for _, row := range []struct{ library, only string }{
		{"golang.org/x/exp/rand", "grposim/sim"},
		{"gopkg.in/yaml.v3", "grposim/sweeps/config"},
		{"github.com/parquet-go/parquet-go", "grposim/sweeps/store"},
		{"gonum.org/v1/plot", "grposim/sweeps/report"},
		{"github.com/spf13/cobra", "grposim/cmd/grposim"},
		{"github.com/schollz/progressbar/v3", "grposim/cmd/grposim"},
		{"github.com/google/pprof/profile", "grposim/cmd/bench"},
	} {
		found := false
		for _, pkg := range packageList(t, "grposim/...") {
			if slices.Contains(imports(t, pkg), row.library) {
				found = true
				if pkg != row.only {
					t.Errorf("%s imports %s, which belongs to %s", pkg, row.library, row.only)
				}
			}
		}
		if !found {
			t.Errorf("nothing imports %s", row.library)
		}
	}
}

func packageList(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

func imports(t *testing.T, pkg string) []string {
	t.Helper()
	return packageList(t, "-f", `{{join .Imports "\n"}}`, pkg)
}
