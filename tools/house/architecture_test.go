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
	deps, ofSweeps := goList(t, "Deps"), []string{"sweeps/plan", "sweeps/claim", "sweeps/judge"}
	const ( // packages that others see together
		laws    = "option fp rom/group rom/linear rom/scope rom/weight"
		force   = laws + " rom/cell"
		paths   = force + " rom/force"
		rests   = paths + " rom/path rom/paper rom/fixed"
		runs    = "grpo fp network sim/draw sim/measure"
		planned = runs + " configs sim sim/probe rom rom/linear rom/scope training/change training/diagnose"
		stored  = planned + " sweeps/config sweeps/store sweeps/theory"
		judged  = stored + " training/equivalence training/fit"
		whole   = judged + " sweeps"

		yaml, random, matrices = "gopkg.in/yaml.v3", "golang.org/x/exp/rand", "gonum.org/v1/gonum/mat"
		plot, cobra            = "gonum.org/v1/plot", "github.com/spf13/cobra"
		inputs, outputs        = yaml + " " + random, plot + " " + cobra
	)
	for _, row := range []struct {
		pkg     string
		sees    string // packages of this module on which it may depend, with spaces between
		never   string // other packages on which it must not depend
		because string
	}{
		{"fp", "", "", "a leaf: exp, log, pow and erfc"},
		{"option", "", matrices + " math/rand", "a leaf: words and structures, which compute nothing"},
		{"grpo", "option fp", inputs + " bufio", "the algorithm is pure: no I/O, no configuration"},
		{"network", "fp", inputs + " bufio", "logits from weights: no learning, no theory"},
		{"rom/weight", "option fp", matrices, "a table of functions of a ratio"},
		{"rom/group", "option fp rom/weight", matrices, "a group: no logits, no penalty"},
		{"rom/scope", "", matrices + " " + yaml, "trust in a number: none of what computes it"},
		{"rom/linear", "option fp rom/scope", inputs, "dynamics of matrices, whatever has them"},
		{"rom/cell", laws, inputs, "a cell is described and checked before anything is computed of it"},
		{"rom/force", force, inputs, "the force at two policies knows no path and no fixed point"},
		{"rom/path", paths, inputs, "what runs do from their start needs no fixed point"},
		{"rom/paper", paths + " rom/path", inputs, "formulas under test: no prediction"},
		{"rom/fixed", paths, inputs, "fixed points are zeros of the force, whatever the optimizer"},
		{"rom/rest", rests, inputs, "asked by those who ask whether runs come there"},
		{"rom/arrive", rests + " rom/rest", inputs, "whether runs arrive is asked last"},
		{"rom", rests + " rom/rest rom/arrive", inputs, "the theory: no code that it predicts"},
		{"rom/deep", rests + " rom/rest", inputs, "of a network: products with its Jacobian"},
		{"training/diagnose", "fp training/change", inputs, "recorded series alone"},
		{"training/fit", "fp sim/measure training/change", inputs, "numbers, of any file"},
		{"training/change", "fp", inputs, "a change is found in numbers, whatever they mean"},
		{"training/logs", "", inputs, "logs are read here, and judged elsewhere"},
		{"training/findings", "training/logs training/change training/diagnose fp", inputs, "no model"},
		{"training/equivalence", "fp sim/measure training/fit training/change", inputs,
			"runs and scores are compared by their numbers alone, whoever recorded them"},
		{"sim/draw", "fp", random, "samplers take random words from any generator"},
		{"sim/measure", "fp", "", "estimators take numbers only"},
		{"sim/lanes/wide", "", "simd strings", "initialized before package simd: imports no more"},
		{"sim/lanes", "grpo fp sim/draw sim/lanes/wide", random, "steps: no runs, no records"},
		{"sim", runs, yaml, "the simulator must not use the theory that it tests"},
		{"sim/probe", runs + " sim", yaml, "measured without its theory"},
		{"sweeps/config", planned, plot + " github.com/parquet-go/parquet-go", "checked before planned"},
		{"sweeps/theory", planned + " sweeps/config", "github.com/google/renameio/v2 golang.org/x/sys/unix " + plot,
			"what the theory says of a cell needs no files, and runs in a browser"},
		{"sweeps/store", runs + " sim", yaml + " " + plot, "measurements: no plans, no predictions"},
		{"sweeps/plan", stored, outputs, "cells are planned and simulated whatever is claimed of them"},
		{"sweeps/claim", stored + " sweeps/plan", outputs, "where simulator and theory meet: no margin"},
		{"sweeps/judge", judged + " sweeps/claim sweeps/plan", outputs, "findings, whatever shows them"},
		{"sweeps", whole, outputs, "sweeps are carried out and shown; it draws nothing"},
		{"sweeps/report", whole, cobra, "pages are made from the verdicts and figures of sweeps"},
		{"sweeps/advice", stored + " sweeps/plan", outputs, "draws and judges nothing"},
		{"configs", "", "", "files, no logic"},
		{"tools/calibrate", whole + " tools/internal/tool", outputs, "judges with the code of sweeps"},
		{"tools/fuzz", whole + " tools/internal/tool", outputs, "judges with the code of sweeps"},
		{"tools/explorer/explore", planned + " sweeps/config sweeps/theory", outputs + " os/exec net/http",
			"it runs in a browser: no stores, no figures, no commands"},
		{"tools/bench", whole + " tools/internal/tool", outputs, "times the simulator, no pages"},
		{"tools/internal/tool", "", cobra, "a leaf: what programs beside grposim share"},
		{"tools/guard", "tools/internal/tool", "", "sees what programs print and write"},
		{"tools/site", "tools/internal/tool", cobra + " " + yaml, "shows documents, whatever they say"},
	} {
		if deps[module+row.pkg] == nil {
			t.Errorf("there is no package %s", row.pkg)
		}
		only, never := strings.Fields(row.sees), strings.Fields(row.never)
		for _, dep := range deps[module+row.pkg] {
			own, isOwn := strings.CutPrefix(dep, module)
			// whoever sees the algorithm sees its options
			described := own == "option" && slices.Contains(only, "grpo")
			// and whoever sees the theory, or sweeps, their rooms
			room := strings.HasPrefix(own, "rom/") && slices.Contains(only, "rom") ||
				slices.Contains(only, "sweeps") && slices.Contains(ofSweeps, own)
			// and whoever sees the simulator its lanes
			simulates := row.pkg == "sim" || slices.Contains(only, "sim")
			room = room || strings.HasPrefix(own, "sim/lanes") && simulates
			if isOwn && own != row.pkg && !described && !room && !slices.Contains(only, own) {
				t.Errorf("%s depends on %s: %s", row.pkg, own, row.because)
			}
			if slices.Contains(never, dep) {
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
		{"google.golang.org/protobuf/proto", "grposim/training/logs"},
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
	banned := regexp.MustCompile(`\b(math\.(Exp|Exp2|Pow|Sinh|Cosh|Tanh|Erf|Erfc|Gamma)|` +
		`cmplx\.(Exp|Pow|Sinh|Cosh|Tanh|Sin|Cos|Tan|Cot))\b`)
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
