// Package mutants checks that the tests notice faults. TestMutants, behind the build
// tag mutants, plants the small faults of the tables in the module's source, one per
// subtest, and finds the first test that fails.
//
// A fault is planted with the -overlay flag of the go command, so no source file
// changes and mutants can be tried in parallel.
package mutants

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// mutant is the source with one small fault, as a careless programmer would make it.
type mutant struct {
	id         string // folder of the package, slash, name of the fault; unique
	fault      string // description of the fault, in one line
	file       string // path from the module's folder, with slashes
	before     string // text that occurs exactly once in the file
	after      string // text that replaces it
	equivalent string // why no test can tell the mutant from the original; empty if one must
}

// table holds every mutant, in the order of docs/mutants.md.
var table = slices.Concat(grpoMutants, simMutants, pairMutants, drawMutants, measureMutants, romMutants, penaltyMutants, diagnoseMutants, logsMutants, equivalenceMutants, promptMutants,
	configMutants, storeMutants, judgeMutants, reportMutants, commandMutants)

// apply returns the source with the fault in it.
func (m *mutant) apply(source string) (string, error) {
	if n := strings.Count(source, m.before); n != 1 {
		return "", fmt.Errorf("the text before occurs %d times in %s, want once:\n%s", n, m.file, m.before)
	}
	return strings.Replace(source, m.before, m.after, 1), nil
}

// rowStart returns the beginning of the mutant's row in docs/mutants.md.
func (m *mutant) rowStart() string { return "| " + cell(m.fault) + " | " + m.file + " |" }

// cell escapes the character that would end a cell of a Markdown table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// module begins the import path of every package of the module.
const module = "grposim/"

// timeout limits the tests of one package. The slowest take a tenth of it.
var timeout = 10 * time.Minute

// clocked lists the tests with a limit on time. On a busy machine they may fail
// without a fault, so they are left out.
var clocked = []string{
	"TestExtremesPredictNumbers", "TestHeapsOfExtremesPredictNumbers", "TestPredictIsQuick",
	"TestMeasuredThresholdsOfEightArms", "TestInterruptionOfProbes",
}

// hangs marks the killer of a mutant whose test did not end within the timeout.
const hangs = " (hangs)"

// What `go test` prints of a package whose tests were built, ran and failed; and of its
// first failing test, or the first test that is running at the timeout.
var (
	packageFails = regexp.MustCompile(`(?m)^FAIL\t\S+\t`)
	testFails    = regexp.MustCompile(`--- FAIL: (\w+)|panic: test timed out.*\n\trunning tests:\n\t\t(\w+)`)
)

// try plants the fault, with an overlay in dir, and runs the tests of one package after
// another until one fails. It returns the package's folder and the test, or "" if all pass.
func (m *mutant) try(dir string, packages []string) (killer string, err error) {
	source, readErr := os.ReadFile(m.file)
	mutated, applyErr := m.apply(string(source))
	original, pathErr := filepath.Abs(m.file)
	overlay, replacement := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "mutant.go")
	if err := errors.Join(readErr, applyErr, pathErr,
		os.WriteFile(replacement, []byte(mutated), 0o644),
		os.WriteFile(overlay, fmt.Appendf(nil, `{"Replace": {%q: %q}}`, original, replacement), 0o644)); err != nil {
		return "", err
	}
	// Set in the environment, the overlay also reaches tests that build a program.
	// `make mutants` tries two mutants at a time, which share the processors.
	environment := []string{
		"GOFLAGS=" + os.Getenv("GOFLAGS") + " -overlay=" + overlay,
		fmt.Sprintf("GOMAXPROCS=%d", max(1, runtime.NumCPU()/2)),
	}
	for _, pkg := range packages {
		out, err := goTest(environment, pkg)
		if err == nil {
			continue
		}
		if !packageFails.MatchString(out) {
			return "", fmt.Errorf("go test %s: %w\n%s", pkg, err, out)
		}
		test := "crashes outside of its tests"
		if match := testFails.FindStringSubmatch(out); match != nil && match[1] != "" {
			test = match[1]
		} else if match != nil {
			test = match[2] + hangs
		}
		return strings.TrimPrefix(pkg, module) + " " + test, nil
	}
	return "", nil
}

// goTest runs the fast tests of packages, each up to its first failure, and returns
// what `go test` prints.
func goTest(environment []string, packages ...string) (string, error) {
	skip := "^(" + strings.Join(clocked, "|") + ")$"
	args := []string{"test", "-vet=off", "-failfast", "-timeout", timeout.String(), "-skip", skip}
	command := exec.Command("go", append(args, packages...)...)
	command.Env = append(os.Environ(), environment...)
	out, err := command.CombinedOutput()
	return string(out), err
}

// testers returns, by package, the packages whose test binaries contain it: the package
// itself, then those with the fewest dependencies first.
func testers() (map[string][]string, error) {
	out, err := exec.Command("go", "list", "-test", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./...").Output()
	var binaries [][]string // package.test, dependencies
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); strings.HasSuffix(words[0], ".test") {
			binaries = append(binaries, words)
		}
	}
	slices.SortStableFunc(binaries, func(a, b []string) int { return cmp.Compare(len(a), len(b)) })
	packages := make(map[string][]string)
	for _, b := range binaries {
		for _, dep := range b[1:] {
			tester := strings.TrimSuffix(b[0], ".test")
			if tester == dep {
				packages[dep] = append([]string{tester}, packages[dep]...)
			} else {
				packages[dep] = append(packages[dep], tester)
			}
		}
	}
	return packages, err
}
