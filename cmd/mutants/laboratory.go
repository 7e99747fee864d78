package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// laboratory is where mutants are tried: the module's source, which stays as it
// is, and a temporary folder for everything else.
type laboratory struct {
	root     string // the module's folder
	temp     string
	packages []listed
	workers  int // mutants tried at a time
	patience time.Duration
	progress io.Writer
	judge    judge
}

// judge says which verdicts a mutant turns that all tests let pass; empty:
// none. The environment compiles the mutant.
type judge func(ctx context.Context, m *mutant, environment []string) (string, error)

// patience is how long one package's tests may take; the slowest take a tenth
// of it.
const patience = 3 * time.Minute

// listed is what `go list` says of a package.
type listed struct {
	ImportPath   string
	Dir          string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Deps         []string
}

func newLaboratory(ctx context.Context, workers int, progress io.Writer) (*laboratory, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m: %w", err)
	}
	lab := &laboratory{
		root:     strings.TrimSpace(string(out)),
		workers:  workers,
		patience: patience,
		progress: progress,
	}
	if lab.packages, err = listPackages(ctx, lab.root); err != nil {
		return nil, err
	}
	if lab.temp, err = os.MkdirTemp("", "mutants"); err != nil {
		return nil, err
	}
	return lab, nil
}

func (lab *laboratory) close() {
	if err := os.RemoveAll(lab.temp); err != nil {
		fmt.Fprintf(lab.progress, "mutants: %v\n", err)
	}
}

func listPackages(ctx context.Context, root string) ([]listed, error) {
	command := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,Imports,TestImports,XTestImports,Deps", "./...")
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("go list: %s", bytes.TrimSpace(exit.Stderr))
		}
		return nil, err
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var p listed
		if err := decoder.Decode(&p); err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, p)
	}
	return packages, nil
}

// route returns the packages whose tests may notice a fault in the package of a
// folder: itself, then those that import it, by themselves or in their tests,
// fewest steps first; of equally near ones the one with fewer dependencies.
func route(packages []listed, dir string) []string {
	byPath := make(map[string]*listed)
	distance := make(map[string]int) // from the package, in imports
	for i := range packages {
		p := &packages[i]
		byPath[p.ImportPath] = p
		if p.Dir == dir {
			distance[p.ImportPath] = 0
		}
	}
	for steps, grown := 0, true; grown; steps++ {
		grown = false
		for _, p := range packages {
			if _, known := distance[p.ImportPath]; known {
				continue
			}
			if slices.ContainsFunc(slices.Concat(p.Imports, p.TestImports, p.XTestImports), func(path string) bool {
				d, known := distance[path]
				return known && d == steps
			}) {
				distance[p.ImportPath] = steps + 1
				grown = true
			}
		}
	}
	var reached []string
	for _, p := range packages {
		if _, known := distance[p.ImportPath]; known {
			reached = append(reached, p.ImportPath)
		}
	}
	slices.SortStableFunc(reached, func(a, b string) int {
		return cmp.Or(cmp.Compare(distance[a], distance[b]), cmp.Compare(len(byPath[a].Deps), len(byPath[b].Deps)))
	})
	return reached
}

// routeOf returns the route of a mutant.
func (lab *laboratory) routeOf(m *mutant) ([]string, error) {
	r := route(lab.packages, filepath.Join(lab.root, filepath.FromSlash(m.pkg())))
	if len(r) == 0 {
		return nil, fmt.Errorf("%s: %s holds no package", m.id, m.pkg())
	}
	return r, nil
}

// plant writes the mutated file and its overlay, and returns the environment
// that compiles it. GOFLAGS says it rather than a flag of `go test`, so that a
// test that builds the program itself builds the mutant too.
func (lab *laboratory) plant(m *mutant) (environment []string, err error) {
	original := filepath.Join(lab.root, filepath.FromSlash(m.file))
	source, err := os.ReadFile(original)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.id, err)
	}
	mutated, err := m.apply(string(source))
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(lab.temp, filepath.FromSlash(m.id))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	replacement := filepath.Join(dir, filepath.Base(original))
	if err := os.WriteFile(replacement, []byte(mutated), 0o644); err != nil {
		return nil, err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: replacement}})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o644); err != nil {
		return nil, err
	}
	return append(lab.environment(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+file)), nil
}

// share is the number of processors for one mutant.
func (lab *laboratory) share() int { return max(1, runtime.NumCPU()/lab.workers) }

// environment keeps what is run within one mutant's share of the processors.
func (lab *laboratory) environment() []string {
	return append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(lab.share()))
}

// clocked are the tests with a limit on time. They may fail without a mutant, on
// a busy machine, so they kill none.
var clocked = []string{
	"TestExtremesPredictNumbers", "TestHeapsOfExtremesPredictNumbers", "TestPredictIsQuick",
	"TestMeasuredThresholdsOfEightArms", "TestInterruptionOfProbes",
}

// test runs the fast tests of a package up to the first failure.
func (lab *laboratory) test(ctx context.Context, environment []string, pkg string) (testResult, error) {
	command := lab.command(ctx, environment, "go", "test", "-json", "-vet=off", "-failfast", "-p", "1", "-timeout", lab.patience.String(),
		"-skip", "^("+strings.Join(clocked, "|")+")$", pkg)
	out, err := command.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		return testResult{}, errors.Join(ctx.Err(), err)
	}
	result, problem := readEvents(bytes.NewReader(out))
	switch {
	case problem != nil:
		return testResult{}, fmt.Errorf("go test %s: %w", pkg, problem)
	case err != nil && result.outcome == passed:
		return testResult{}, fmt.Errorf("go test %s: %s", pkg, bytes.TrimSpace(exit.Stderr))
	}
	return result, nil
}

// command is exec.CommandContext in the module's folder, of a command that is
// interrupted, and so ends what it has started, rather than killed.
func (lab *laboratory) command(ctx context.Context, environment []string, name string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, name, args...)
	command.Dir, command.Env = lab.root, environment
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second
	return command
}

// baseline runs, without a mutant, the tests that the mutants will be held
// against: they must pass.
func (lab *laboratory) baseline(ctx context.Context, chosen []mutant) error {
	var all []string
	for i := range chosen {
		r, err := lab.routeOf(&chosen[i])
		if err != nil {
			return err
		}
		all = append(all, r...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	fmt.Fprintf(lab.progress, "mutants: %d to try; first without one\n", len(chosen))
	for _, pkg := range all {
		result, err := lab.test(ctx, os.Environ(), pkg)
		if err != nil {
			return err
		}
		if result.outcome != passed {
			return fmt.Errorf("without a mutant: %s fails (%s)", pkg, result.test)
		}
	}
	return nil
}

// tryAll tries mutants, after the tests without any, and returns the reports in
// the order of the mutants.
func (lab *laboratory) tryAll(ctx context.Context, chosen []mutant) ([]report, error) {
	if err := lab.baseline(ctx, chosen); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	reports := make([]report, len(chosen))
	var (
		next = make(chan int)
		tell sync.Mutex
		done int
		team sync.WaitGroup
	)
	for range lab.workers {
		team.Go(func() {
			for i := range next {
				r, err := lab.try(ctx, &chosen[i])
				if err != nil {
					cancel(err)
					continue
				}
				reports[i] = r
				tell.Lock()
				done++
				fmt.Fprintf(lab.progress, "mutants: %d of %d: %s: %s (%.1f s)\n", done, len(chosen), r.id, r.verdict(), r.elapsed.Seconds())
				tell.Unlock()
			}
		})
	}
	for i := range chosen {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	team.Wait()
	return reports, context.Cause(ctx)
}

// try plants a mutant and looks who notices.
func (lab *laboratory) try(ctx context.Context, m *mutant) (report, error) {
	start := time.Now()
	r := report{mutant: *m, fate: survived}
	environment, err := lab.plant(m)
	if err != nil {
		return r, err
	}
	packages, err := lab.routeOf(m)
	if err != nil {
		return r, err
	}
	for _, pkg := range packages {
		result, err := lab.test(ctx, environment, pkg)
		if err != nil {
			return r, fmt.Errorf("%s: %w", m.id, err)
		}
		r.killer = lab.short(pkg) + " " + result.test
		switch result.outcome {
		case unbuilt:
			return r, fmt.Errorf("%s does not compile:\n%s", m.id, result.output)
		case failed:
			r.fate = byTest
		case timedOut:
			r.fate = byHang
		}
		if r.fate != survived {
			r.elapsed = time.Since(start)
			return r, nil
		}
	}
	turned, err := lab.judge(ctx, m, environment)
	if err != nil {
		return r, fmt.Errorf("%s: %w", m.id, err)
	}
	r.killer = ""
	if turned != "" {
		r.fate, r.killer = byRuling, turned
	}
	r.elapsed = time.Since(start)
	return r, nil
}

// short returns a package's folder from the module's root.
func (lab *laboratory) short(pkg string) string {
	for _, p := range lab.packages {
		if p.ImportPath == pkg {
			if dir, err := filepath.Rel(lab.root, p.Dir); err == nil {
				return filepath.ToSlash(dir)
			}
		}
	}
	return pkg
}
