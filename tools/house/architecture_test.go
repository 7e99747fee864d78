package house

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Packages depend, directly or indirectly, only on those that docs/architecture.md
// allows them.
func TestArchitecture(t *testing.T) {
	const module = "grposim/"
	deps := goList(t, "Deps")
	for _, row := range []struct {
		pkg     string
		only    []string // packages of this module on which it may depend
		never   []string // other packages on which it must not depend
		because string
	}{
		{"fp", nil, nil, "a leaf: exp, log, pow and erfc"},
		{"option", nil, []string{"math/rand", "gonum.org/v1/gonum/mat"}, "a leaf: words and structures, which compute nothing"},
		{"grpo", []string{"option", "fp"}, []string{"gopkg.in/yaml.v3", "golang.org/x/exp/rand", "bufio"}, "the algorithm is pure: no I/O, no configuration"},
		{"network", []string{"fp"}, []string{"gopkg.in/yaml.v3", "golang.org/x/exp/rand", "bufio"}, "a parametrisation of logits knows no learning and no theory"},
		{"rom/weight", []string{"option", "fp"}, []string{"gonum.org/v1/gonum/mat"}, "a table of functions of a ratio"},
		{"rom/group", []string{"option", "fp", "rom/weight"}, []string{"gonum.org/v1/gonum/mat"}, "the law of a group knows no logits, no penalty and no dynamics"},
		{"rom/scope", nil, []string{"gonum.org/v1/gonum/mat", "gopkg.in/yaml.v3"}, "how far a number can be trusted needs none of what computes it"},
		{"rom/linear", []string{"option", "fp", "rom/scope"}, []string{"gopkg.in/yaml.v3", "golang.org/x/exp/rand"}, "the linear dynamics follows from matrices, whatever bandit has them"},
		{"rom/cell", []string{"option", "fp", "rom/group", "rom/linear", "rom/scope", "rom/weight"}, []string{"gopkg.in/yaml.v3", "golang.org/x/exp/rand"}, "a cell is described and checked before anything is computed of it"},
		{"rom/force", []string{"option", "fp", "rom/group", "rom/linear", "rom/scope", "rom/weight", "rom/cell"}, []string{"gopkg.in/yaml.v3", "golang.org/x/exp/rand"}, "the force at two policies knows no path and no fixed point"},
		{"rom/path", []string{"option", "fp", "rom/group", "rom/linear", "rom/scope", "rom/weight", "rom/cell", "rom/force"}, []string{"gopkg.in/yaml.v3", "golang.org/x/exp/rand"}, "what runs do from their start needs no fixed point"},
		{"rom/paper", []string{"option", "fp", "rom/group", "rom/linear", "rom/scope", "rom/weight", "rom/cell", "rom/force", "rom/path"}, []string{"gopkg.in/yaml.v3", "golang.org/x/exp/rand"}, "formulas under test see the mean path that their stiffness is measured on, and no prediction"},
		{"rom/fixed", []string{"option", "fp", "rom/group", "rom/linear", "rom/scope", "rom/weight", "rom/cell", "rom/force"}, []string{"gopkg.in/yaml.v3", "golang.org/x/exp/rand"}, "fixed points are zeros of the force, whatever the optimizer"},
		{"rom/rest", []string{"option", "fp", "rom/group", "rom/linear", "rom/scope", "rom/weight", "rom/cell", "rom/force", "rom/path", "rom/paper", "rom/fixed"}, []string{"gopkg.in/yaml.v3", "golang.org/x/exp/rand"}, "what holds at rest is asked by those who ask whether runs come there, not the other way"},
		{"rom/arrive", []string{"option", "fp", "rom/group", "rom/linear", "rom/scope", "rom/weight", "rom/cell", "rom/force", "rom/path", "rom/paper", "rom/fixed", "rom/rest"}, []string{"gopkg.in/yaml.v3", "golang.org/x/exp/rand"}, "whether runs arrive is asked last"},
		{"rom", []string{"option", "fp", "rom/group", "rom/linear", "rom/scope", "rom/weight", "rom/cell", "rom/force", "rom/path", "rom/paper", "rom/fixed", "rom/rest", "rom/arrive"}, []string{"gopkg.in/yaml.v3", "golang.org/x/exp/rand"}, "the theory must not use the code that it predicts, nor random numbers"},
		{"rom/deep", []string{"option", "fp", "rom/group", "rom/linear", "rom/scope", "rom/weight", "rom/cell", "rom/force", "rom/path", "rom/paper", "rom/fixed", "rom/rest"}, []string{"gopkg.in/yaml.v3", "golang.org/x/exp/rand"}, "the theory of a network sees products with its Jacobian alone"},
		{"training/diagnose", []string{"fp", "training/change"}, []string{"gopkg.in/yaml.v3", "golang.org/x/exp/rand"}, "a run is diagnosed from its recorded series alone"},
		{"training/fit", []string{"fp", "sim/measure", "training/change"}, []string{"gopkg.in/yaml.v3", "golang.org/x/exp/rand"}, "laws are fitted to numbers, whatever file they come from"},
		{"training/change", []string{"fp"}, []string{"gopkg.in/yaml.v3", "golang.org/x/exp/rand"}, "a change is found in numbers, whatever they mean"},
		{"training/logs", nil, []string{"gopkg.in/yaml.v3", "golang.org/x/exp/rand"}, "logs are read here, and judged elsewhere"},
		{"training/findings", []string{"training/logs", "training/change", "training/diagnose", "fp"}, []string{"gopkg.in/yaml.v3", "golang.org/x/exp/rand"}, "what a log states needs no model; modes are found in its series"},
		{"training/equivalence", []string{"fp", "sim/measure", "training/fit", "training/change"}, []string{"gopkg.in/yaml.v3", "golang.org/x/exp/rand"}, "runs and scores are compared by their numbers alone, whoever recorded them"},
		{"sim/draw", []string{"fp"}, []string{"golang.org/x/exp/rand"}, "samplers take random words from any generator"},
		{"sim/measure", []string{"fp"}, nil, "estimators take numbers only"},
		{"sim/lanes/wide", nil, []string{"simd", "strings"}, "it is initialized before package simd, so that it imports nothing that may not be"},
		{"sim/lanes", []string{"grpo", "fp", "sim/draw", "sim/lanes/wide"}, []string{"golang.org/x/exp/rand"}, "lanes do steps, and know no runs, records or probes"},
		{"sim", []string{"grpo", "fp", "network", "sim/draw", "sim/measure"}, []string{"gopkg.in/yaml.v3"}, "the simulator must not use the theory that it tests"},
		{"sim/probe", []string{"grpo", "fp", "network", "sim", "sim/draw", "sim/measure"}, []string{"gopkg.in/yaml.v3"}, "what is measured of a point must not use the theory that predicts it"},
		{"sweeps/config", []string{"configs", "grpo", "fp", "network", "sim", "sim/draw", "sim/measure", "sim/probe", "rom", "rom/linear", "rom/scope", "training/change", "training/diagnose"}, []string{"gonum.org/v1/plot", "github.com/parquet-go/parquet-go"}, "a configuration is checked before anything is planned or stored"},
		{"sweeps/theory", []string{"configs", "grpo", "fp", "network", "sim", "sim/draw", "sim/measure", "sim/probe", "rom", "rom/linear", "rom/scope", "training/change", "training/diagnose", "sweeps/config"}, []string{"github.com/google/renameio/v2", "golang.org/x/sys/unix", "gonum.org/v1/plot"}, "what the theory says of a cell needs no files, and runs in a browser"},
		{"sweeps/store", []string{"grpo", "fp", "network", "sim", "sim/draw", "sim/measure"}, []string{"gopkg.in/yaml.v3", "gonum.org/v1/plot"}, "a results folder holds measurements, independent of plans and predictions"},
		{"sweeps/plan", []string{"configs", "grpo", "fp", "network", "sim", "sim/draw", "sim/measure", "sim/probe", "rom", "rom/linear", "rom/scope", "training/change", "training/diagnose", "sweeps/config", "sweeps/store", "sweeps/theory"}, []string{"gonum.org/v1/plot", "github.com/spf13/cobra"}, "cells are planned and simulated whatever is claimed of them"},
		{"sweeps/claim", []string{"configs", "grpo", "fp", "network", "sim", "sim/draw", "sim/measure", "sim/probe", "rom", "rom/linear", "rom/scope", "training/change", "training/diagnose", "sweeps/config", "sweeps/plan", "sweeps/store", "sweeps/theory"}, []string{"gonum.org/v1/plot", "github.com/spf13/cobra"}, "the only package where simulator and theory meet; it applies no margin"},
		{"sweeps/judge", []string{"configs", "grpo", "fp", "network", "sim", "sim/draw", "sim/measure", "sim/probe", "rom", "rom/linear", "rom/scope", "training/change", "training/diagnose", "training/equivalence", "training/fit", "sweeps/claim", "sweeps/config", "sweeps/plan", "sweeps/store", "sweeps/theory"}, []string{"gonum.org/v1/plot", "github.com/spf13/cobra"}, "a verdict is about a finding, whatever shows it"},
		{"sweeps", []string{"configs", "grpo", "fp", "network", "sim", "sim/draw", "sim/measure", "sim/probe", "rom", "rom/linear", "rom/scope", "training/change", "training/diagnose", "training/equivalence", "training/fit", "sweeps", "sweeps/config", "sweeps/store", "sweeps/theory"}, []string{"gonum.org/v1/plot", "github.com/spf13/cobra"}, "sweeps are carried out and shown; it draws nothing"},
		{"sweeps/report", []string{"configs", "grpo", "fp", "network", "sim", "sim/draw", "sim/measure", "sim/probe", "rom", "rom/linear", "rom/scope", "training/change", "training/diagnose", "training/equivalence", "training/fit", "sweeps", "sweeps/config", "sweeps/store", "sweeps/theory"}, []string{"github.com/spf13/cobra"}, "pages are made from the verdicts and figures of sweeps"},
		{"sweeps/advice", []string{"configs", "grpo", "fp", "network", "sim", "sim/draw", "sim/measure", "sim/probe", "rom", "rom/linear", "rom/scope", "training/change", "training/diagnose", "sweeps/config", "sweeps/plan", "sweeps/store", "sweeps/theory"}, []string{"gonum.org/v1/plot", "github.com/spf13/cobra"}, "advice is what the theory and trials say; it draws and judges nothing"},
		{"configs", nil, nil, "files, no logic"},
		{"tools/calibrate", []string{"tools/internal/tool", "configs", "grpo", "fp", "rom", "rom/linear", "rom/scope", "training/change", "training/diagnose", "training/equivalence", "training/fit", "network", "sim", "sim/draw", "sim/measure", "sim/probe", "sweeps", "sweeps/config", "sweeps/store", "sweeps/theory"}, []string{"gonum.org/v1/plot", "github.com/spf13/cobra"}, "it judges with the code of sweeps, and plants its faults there"},
		{"tools/fuzz", []string{"tools/internal/tool", "configs", "grpo", "fp", "rom", "rom/linear", "rom/scope", "training/change", "training/diagnose", "training/equivalence", "training/fit", "network", "sim", "sim/draw", "sim/measure", "sim/probe", "sweeps", "sweeps/config", "sweeps/store", "sweeps/theory"}, []string{"gonum.org/v1/plot", "github.com/spf13/cobra"}, "it judges with the code of sweeps what it draws from the tables of sweeps/config"},
		{"tools/explorer/explore", []string{"configs", "grpo", "fp", "rom", "rom/linear", "rom/scope", "network", "sim", "sim/draw", "sim/measure", "sim/probe", "sweeps/config", "sweeps/theory", "training/change", "training/diagnose"}, []string{"gonum.org/v1/plot", "github.com/spf13/cobra", "os/exec", "net/http"}, "it runs in a browser: no stores, no figures, no commands"},
		{"tools/bench", []string{"tools/internal/tool", "configs", "grpo", "fp", "rom", "rom/linear", "rom/scope", "training/change", "training/diagnose", "training/equivalence", "training/fit", "network", "sim", "sim/draw", "sim/measure", "sim/probe", "sweeps", "sweeps/config", "sweeps/store", "sweeps/theory"}, []string{"gonum.org/v1/plot", "github.com/spf13/cobra"}, "it times the simulator and whole sweeps, not pages or commands"},
		{"tools/internal/tool", nil, []string{"github.com/spf13/cobra"}, "a leaf: what programs beside grposim share"},
		{"tools/guard", []string{"tools/internal/tool"}, nil, "it compares programs by what they print and write, whatever is inside"},
		{"tools/site", []string{"tools/internal/tool"}, []string{"github.com/spf13/cobra", "gopkg.in/yaml.v3"}, "it shows documents, and knows nothing of what they say"},
	} {
		if deps[module+row.pkg] == nil {
			t.Errorf("there is no package %s", row.pkg)
		}
		for _, dep := range deps[module+row.pkg] {
			own, isOwn := strings.CutPrefix(dep, module)
			// whoever sees the algorithm sees its options
			described := own == "option" && slices.Contains(row.only, "grpo")
			// and whoever sees the theory, or sweeps, their rooms
			room := strings.HasPrefix(own, "rom/") && slices.Contains(row.only, "rom") ||
				slices.Contains(row.only, "sweeps") && slices.Contains([]string{"sweeps/plan", "sweeps/claim", "sweeps/judge"}, own)
			// and whoever sees the simulator its lanes
			room = room || strings.HasPrefix(own, "sim/lanes") && (row.pkg == "sim" || slices.Contains(row.only, "sim"))
			if isOwn && own != row.pkg && !described && !room && !slices.Contains(row.only, own) {
				t.Errorf("%s depends on %s: %s", row.pkg, own, row.because)
			}
			if slices.Contains(row.never, dep) {
				t.Errorf("%s depends on %s: %s", row.pkg, dep, row.because)
			}
		}
	}
}

// Some libraries are imported by one package only, so that replacing one changes that
// package only. Parquet is written by one and read by another, which shares no code with it.
func TestConfinedLibraries(t *testing.T) {
	importers := make(map[string][]string) // by imported package
	for pkg, imports := range goList(t, "Imports") {
		for _, imported := range imports {
			importers[imported] = append(importers[imported], pkg)
		}
	}
	for _, row := range []struct{ library, only string }{ // only: packages, with spaces between
		{"golang.org/x/exp/rand", "grposim/sim"},
		{"gopkg.in/yaml.v3", "grposim/sweeps/config"},
		{"github.com/parquet-go/parquet-go", "grposim/sweeps/store grposim/training/logs"},
		{"google.golang.org/protobuf/encoding/protowire", "grposim/training/logs"},
		{"golang.org/x/text/encoding/unicode", "grposim/training/logs"},
		{"github.com/google/renameio/v2", "grposim/sweeps/store"},
		{"gonum.org/v1/plot", "grposim/sweeps/report"},
		{"github.com/spf13/cobra", "grposim/cmd/grposim"},
		{"github.com/schollz/progressbar/v3", "grposim/cmd/grposim"},
		{"golang.org/x/sync/errgroup", "grposim/tools/internal/tool"},
		{"github.com/yuin/goldmark", "grposim/tools/site"},
	} {
		got := importers[row.library]
		if slices.Sort(got); !slices.Equal(got, strings.Fields(row.only)) {
			t.Errorf("%s is imported by %v, want %s alone", row.library, got, row.only)
		}
	}
}

// No package takes from package math, or math/cmplx, a function with an exponential, the bits of
// which depend on the processor: both witnesses have those of fp.
func TestExponentials(t *testing.T) {
	banned := regexp.MustCompile(`\b(math\.(Exp|Exp2|Pow|Sinh|Cosh|Tanh|Erf|Erfc|Gamma)|cmplx\.(Exp|Pow|Sinh|Cosh|Tanh|Sin|Cos|Tan|Cot))\b`)
	for pkg, files := range goList(t, "GoFiles") {
		if strings.HasPrefix(pkg, "grposim/cmd/") || strings.HasPrefix(pkg, "grposim/tools/") || pkg == "grposim/fp" {
			continue
		}
		for _, file := range files {
			name := filepath.Join(strings.TrimPrefix(pkg, "grposim/"), file)
			for i, line := range strings.Split(read(t, name), "\n") {
				if code, _, _ := strings.Cut(line, "//"); banned.MatchString(code) {
					t.Errorf("%s:%d: %s: want that of fp", name, i+1, banned.FindString(code))
				}
			}
		}
	}
}
