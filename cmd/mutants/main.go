// Command mutants checks that the tests notice faults. It plants the small faults
// of its tables in the module's source, one at a time, and reports which test
// fails first.
//
// A fault is planted with the -overlay flag of the go command, so no source file
// changes and two faults can be tried at a time. The tests of the faulty package
// run first, then those of the packages that import it, until one fails.
//
// Run it in the module's folder. Without -run it tries every fault and writes
// docs/mutants.md. It exits with 0 if a test fails for every fault, except for
// those that the table argues to be equivalent; 1 if not; 2 if the command line is
// wrong, a fault does not compile, or tests fail without a fault; 130 if it is
// interrupted.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
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
var table = slices.Concat(grpoMutants, simMutants, pairMutants, drawMutants, measureMutants, romMutants, diagnoseMutants)

// report is the outcome of one mutant.
type report struct {
	mutant
	killer  string // package and name of the first failing test; empty if all pass
	elapsed time.Duration
}

// hangs marks the killer of a mutant whose test did not end within the timeout.
const hangs = " (hangs)"

// outcome returns the killer, or how the mutant survived.
func (r *report) outcome() string {
	switch {
	case r.killer != "" && r.equivalent != "":
		return r.killer + ", although argued to be equivalent"
	case r.killer != "":
		return r.killer
	case r.equivalent != "":
		return "equivalent: " + r.equivalent
	}
	return "**survived**"
}

// workers is the number of mutants tried at a time. They share the processors.
const workers = 2

// timeout limits the tests of one package. The slowest take a tenth of it.
var timeout = 3 * time.Minute

// clocked lists the tests with a limit on time. On a busy machine they may fail
// without a fault, so they are left out.
var clocked = []string{
	"TestExtremesPredictNumbers", "TestHeapsOfExtremesPredictNumbers", "TestPredictIsQuick",
	"TestMeasuredThresholdsOfEightArms", "TestInterruptionOfProbes",
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("mutants: ")
	pattern := flag.String("run", "", "try only the mutants whose id matches this `regexp`, and write no page")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Printf("got the argument %q, want flags only", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, table, *pattern)
	stop()
	os.Exit(code)
}

// run tries the mutants whose ids match a pattern, writes docs/mutants.md if the
// pattern is empty, and returns the exit code.
func run(ctx context.Context, table []mutant, pattern string) int {
	start := time.Now()
	reports, err := tryAll(ctx, table, pattern)
	if err == nil && pattern == "" {
		err = os.WriteFile("docs/mutants.md", page(reports, time.Since(start)), 0o644)
	}
	switch {
	case ctx.Err() != nil:
		log.Print("interrupted")
		return 130
	case err != nil:
		log.Print(err)
		return 2
	}
	killed, code := 0, 0
	for _, r := range reports {
		if r.killer != "" {
			killed++
		}
		if (r.killer != "") == (r.equivalent != "") {
			code = 1
			log.Printf("%s: %s: %s: %s", r.id, r.outcome(), r.file, r.fault)
		}
	}
	log.Printf("%d of %d killed", killed, len(reports))
	return code
}

// tryAll tries the mutants whose ids match a pattern, after their tests without
// a fault, and returns a report for each, in the order of the table.
func tryAll(ctx context.Context, table []mutant, pattern string) ([]report, error) {
	wanted, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("-run: %w", err)
	}
	chosen := slices.DeleteFunc(slices.Clone(table), func(m mutant) bool { return !wanted.MatchString(m.id) })
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no mutant matches %q", pattern)
	}
	packages, err := testers(ctx, chosen)
	if err != nil {
		return nil, err
	}
	log.Printf("%d to try; first the tests without a fault", len(chosen))
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(packages...))))
	if out, err := goTest(ctx, nil, all...); err != nil {
		return nil, fmt.Errorf("without a fault: %w\n%s", err, out)
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan int, len(chosen))
	for i := range chosen {
		queue <- i
	}
	close(queue)
	reports := make([]report, len(chosen))
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range queue {
				r, err := try(ctx, chosen[i], packages[i])
				if err != nil {
					cancel(fmt.Errorf("%s: %w", chosen[i].id, err))
					return
				}
				reports[i] = r
				log.Printf("%s: %s (%.1f s; %d in the queue)", r.id, r.outcome(), r.elapsed.Seconds(), len(queue))
			}
		})
	}
	group.Wait()
	return reports, context.Cause(ctx)
}

// testers returns, for each mutant, the packages whose test binaries contain the
// mutant's package, those with the fewest dependencies first. The mutant's own
// package comes before its importers, which depend on all that it depends on.
func testers(ctx context.Context, chosen []mutant) ([][]string, error) {
	out, err := goCommand(ctx, nil, "list", "-test", "-f", `{{with .Module}}{{.Path}}{{end}} {{.ImportPath}} {{join .Deps " "}}`, "./...")
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, out)
	}
	var binaries [][]string // module, package.test, dependencies
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); strings.HasSuffix(fields[1], ".test") {
			binaries = append(binaries, fields)
		}
	}
	slices.SortStableFunc(binaries, func(a, b []string) int { return cmp.Compare(len(a), len(b)) })
	packages := make([][]string, len(chosen))
	for i, m := range chosen {
		for _, b := range binaries {
			module := b[0]
			if slices.Contains(b[2:], module+"/"+path.Dir(m.file)) {
				packages[i] = append(packages[i], "."+strings.TrimSuffix(strings.TrimPrefix(b[1], module), ".test"))
			}
		}
	}
	return packages, nil
}

// What `go test` prints of a package whose tests were built, ran and failed; of a
// failing test; and of the first test that is running at the timeout.
var (
	packageFails = regexp.MustCompile(`(?m)^FAIL\t\S+\t`)
	testFails    = regexp.MustCompile(`--- FAIL: (\w+)`)
	testHangs    = regexp.MustCompile(`panic: test timed out.*\n\trunning tests:\n\t\t(\w+)`)
)

// firstFailure returns the name of the first failing test in what `go test` prints.
func firstFailure(out string) string {
	if match := testFails.FindStringSubmatch(out); match != nil {
		return match[1]
	}
	if match := testHangs.FindStringSubmatch(out); match != nil {
		return match[1] + hangs
	}
	return "crashes outside of its tests"
}

// try plants a mutant and runs the tests of packages, one package after another,
// until a test fails.
func try(ctx context.Context, m mutant, packages []string) (report, error) {
	start := time.Now()
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return report{}, err
	}
	defer os.RemoveAll(dir)
	overlay, err := m.plant(dir)
	if err != nil {
		return report{}, err
	}
	// Set in the environment, the overlay also reaches tests that build a program.
	environment := []string{
		"GOFLAGS=" + os.Getenv("GOFLAGS") + " -overlay=" + overlay,
		fmt.Sprintf("GOMAXPROCS=%d", max(1, runtime.NumCPU()/workers)),
	}
	r := report{mutant: m}
	for _, pkg := range packages {
		out, err := goTest(ctx, environment, pkg)
		if err == nil {
			continue
		}
		if ctx.Err() != nil || !packageFails.MatchString(out) {
			return r, fmt.Errorf("go test %s: %w\n%s", pkg, err, out)
		}
		r.killer = strings.TrimPrefix(pkg, "./") + " " + firstFailure(out)
		break
	}
	r.elapsed = time.Since(start)
	return r, nil
}

// plant writes the mutated file and an overlay that puts it in the place of the
// original into a folder, and returns the overlay's path.
func (m *mutant) plant(dir string) (string, error) {
	original, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	mutated, err := m.apply(string(source))
	if err != nil {
		return "", err
	}
	overlay, replacement := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "mutant.go")
	return overlay, errors.Join(
		os.WriteFile(replacement, []byte(mutated), 0o644),
		os.WriteFile(overlay, fmt.Appendf(nil, `{"Replace": {%q: %q}}`, original, replacement), 0o644))
}

// apply returns the source with the fault in it.
func (m *mutant) apply(source string) (string, error) {
	if n := strings.Count(source, m.before); n != 1 {
		return "", fmt.Errorf("the text before occurs %d times in %s, want once:\n%s", n, m.file, m.before)
	}
	return strings.Replace(source, m.before, m.after, 1), nil
}

// goTest runs the fast tests of packages, each up to its first failure, and
// returns what `go test` prints.
func goTest(ctx context.Context, environment []string, packages ...string) (string, error) {
	skip := "^(" + strings.Join(clocked, "|") + ")$"
	args := []string{"test", "-vet=off", "-failfast", "-timeout", timeout.String(), "-skip", skip}
	return goCommand(ctx, environment, append(args, packages...)...)
}

// goCommand runs the go command and returns what it prints. On cancellation the
// command is interrupted rather than killed, so it removes its temporary files.
func goCommand(ctx context.Context, environment []string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Env = append(os.Environ(), environment...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second
	out, err := command.CombinedOutput()
	return string(out), err
}

// page returns docs/mutants.md.
func page(reports []report, elapsed time.Duration) []byte {
	killed, hanging, argued := 0, 0, 0
	var rows bytes.Buffer
	for _, r := range reports {
		if r.killer != "" {
			killed++
		} else if r.equivalent != "" {
			argued++
		}
		if strings.HasSuffix(r.killer, hangs) {
			hanging++
		}
		fmt.Fprintf(&rows, "%s %s | %.1f |\n", r.rowStart(), cell(r.outcome()), r.elapsed.Seconds())
	}
	return fmt.Appendf(nil, `# Mutants: would the tests notice a fault?

A test that has never failed has shown nothing. So small faults, such as a
careless programmer makes, are planted in the algorithm, the simulator and the
theory, one at a time, and a fast test of the faulty package or of one that
imports it must fail. The first to fail is listed below.
`+"`make mutants`"+` writes this page; cmd/mutants/table_*.go holds the text of every
fault, before and after.

**%d of %d faults are killed** by a failing test, %d of them because a test hangs;
%d are argued to be equivalent to the original. The run took %.0f minutes.

| fault | file | killed by | seconds |
|---|---|---|---:|
%s`, killed, len(reports), hanging, argued, max(1, elapsed.Minutes()), &rows)
}

// rowStart returns the beginning of the mutant's row in the page.
func (m *mutant) rowStart() string { return "| " + cell(m.fault) + " | " + m.file + " |" }

// cell escapes the character that would end a cell of a Markdown table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
