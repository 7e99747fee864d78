// Package mutants checks that the tests notice faults, which it plants one by one. A fault
// is drawn from the syntax of a package (generate_test.go), where it is an operator, a
// bound, a condition, a term, a constant or a statement, or it is a row of a table
// (table_test.go), where it is wrong in what the code means.
//
// The -overlay flag of the go command plants it, so that no source file changes.
package mutants

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// fault is a row of the table: a mistake of a careless programmer.
type fault struct {
	// folder that holds the code; the tests of it and of the folders below must find the fault
	tree   string
	what   string // the fault, in one line
	before string // text that occurs exactly once in the code of the tree
	after  string // text that replaces it
}

// mutate returns the one file that holds the text before, and its source with the fault.
func (f fault) mutate() (file, mutated string, err error) {
	found := 0
	err = filepath.WalkDir(f.tree, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if n := strings.Count(string(source), f.before); n > 0 {
			found += n
			file, mutated = path, strings.Replace(string(source), f.before, f.after, 1)
		}
		return err
	})
	if err == nil && found != 1 {
		err = fmt.Errorf("the text before occurs %d times in the code of %s, want once: %q", found,
			f.tree, f.before)
	}
	return file, mutated, err
}

// clocked lists tests with a limit on time. On a busy machine they may fail without a
// fault, so they are left out.
var clocked = []string{"TestInterruptionOfProbes"}

// hangs marks the killer of a mutant whose tests did not end.
const hangs = " (hangs)"

// What `go test` prints of a package whose tests were built, ran and failed; and of its
// first failing test, or the first test that is running at the timeout.
var (
	packageFails = regexp.MustCompile(`(?m)^FAIL\t(\S+)\t`)
	testFails    = regexp.MustCompile(`--- FAIL: (\w+)|panic: test timed out.*\n\trunning tests:\n\t\t(\w+)`)
)

// try runs the fast tests with the mutated source in the place of a file's: those of one
// pattern of packages after the other, until one fails. Each package stops at its first
// failure or at the timeout. It returns the first test that fails, or "" if all pass; and
// an error if the mutant does not compile or that test fails without it.
func try(dir, file, mutated string, timeout time.Duration, patterns ...string) (killer string,
	err error) {
	original, pathErr := filepath.Abs(file)
	overlay, replacement := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "mutant.go")
	if err := errors.Join(pathErr, os.WriteFile(replacement, []byte(mutated), 0o644),
		os.WriteFile(overlay, fmt.Appendf(nil, `{"Replace": {%q: %q}}`, original, replacement),
			0o644)); err != nil {
		return "", err
	}
	// Set in the environment, the overlay also reaches tests that build a program.
	flags := os.Getenv("GOFLAGS")
	planted := flags + " -overlay=" + overlay
	for _, pattern := range patterns {
		out, err := goTest(planted, pattern, timeout, "-skip", "^("+strings.Join(clocked, "|")+")$")
		if err == nil {
			continue
		}
		failed := packageFails.FindStringSubmatch(out)
		if failed == nil {
			return "", fmt.Errorf("go test %s: %w\n%s", pattern, err, out)
		}
		killer := strings.TrimPrefix(failed[1], module)
		match := testFails.FindStringSubmatch(out)
		if match == nil {
			return killer + " crashes outside of its tests", nil
		}
		test := match[1] + match[2]
		if out, err := goTest(flags, failed[1], timeout, "-run", "^"+test+"$"); err != nil {
			return "", fmt.Errorf("%s fails without a fault: %w\n%s", test, err, out)
		}
		if match[2] != "" {
			test += hangs
		}
		return killer + " " + test, nil
	}
	return "", nil
}

// goTest runs tests with a value of GOFLAGS, and returns what the go command prints. Two
// mutants at a time share the processors.
func goTest(goflags, pattern string, timeout time.Duration, arguments ...string) (string, error) {
	args := append([]string{"test", "-vet=off", "-failfast", "-timeout", timeout.String()}, arguments...)
	command := exec.Command("go", append(args, pattern)...)
	command.Env = append(os.Environ(), "GOFLAGS="+goflags,
		fmt.Sprintf("GOMAXPROCS=%d", max(1, runtime.NumCPU()/2)))
	out, err := command.CombinedOutput()
	return string(out), err
}
