package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// TestMain makes grposim a command of the scripts, run in a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"grposim": main})
}

// The scripts in testdata/script specify the command line: what is printed on stdout and
// stderr, which files are written, and the exit codes.
func TestScripts(t *testing.T) { runScripts(t, filepath.Join("testdata", "script")) }

func runScripts(t *testing.T, dir string) {
	root := moduleRoot(t)
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, "ROOT="+root, "NODE_PATH="+os.Getenv("NODE_PATH"), "READERS="+os.Getenv("READERS"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits is a command of the scripts: exits CODE ARG… runs grposim with the arguments and
// fails if its exit code is not CODE.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec("grposim", args[1:]...)
	got := 0
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("grposim %v: exit code %d, want %d", args[1:], got, want)
	}
}

// grposim runs a command line in this process, fails unless it exits with code, and returns what it
// prints on stdout and stderr.
func grposim(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(t.Context(), args, &out, &errs); got != code {
		t.Errorf("%q: exit code %d, want %d\n%s%s", args, got, code, &out, &errs)
	}
	return out.String(), errs.String()
}

// says runs a command line as grposim does, and fails unless it prints a text, in whatever lines.
func says(t *testing.T, code int, want string, args ...string) {
	t.Helper()
	flat := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	if stdout, stderr := grposim(t, code, args...); !strings.Contains(flat(stdout+stderr), flat(want)) {
		t.Errorf("%q: want %q in\n%s%s", args, want, stdout, stderr)
	}
}

// program returns the path of grposim as a program: a copy of the binary of these tests, which
// TestMain lets be both.
func program(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("grposim")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// moduleRoot returns the root of this module.
func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// panickingWriter panics on every write.
type panickingWriter struct{}

func (panickingWriter) Write([]byte) (int, error) { panic("no such\nwriter") }

// A panic, of a command or of a worker of the simulation, is reported in one line with
// exit code 4, and with its stack if GRPOSIM_TRACE=1.
func TestInternalErrors(t *testing.T) {
	for _, row := range []struct {
		name    string
		execute func(stderr io.Writer) int
		message string
		frame   string // of the stack
	}{
		{"command", func(stderr io.Writer) int {
			return run(t.Context(), []string{"--help"}, panickingWriter{}, stderr)
		}, "no such writer", "panickingWriter.Write"},
		{"worker", func(stderr io.Writer) int {
			// The error of a worker counts even if its value is an error of another kind.
			panicked := &sim.Panic{Cell: "c0ffee", Value: usageError{errors.New("index out of range")},
				Stack: []byte("goroutine 7 [running]:\nworker\n")}
			return exitCode(stderr, errors.Join(fmt.Errorf("sweep: %w", panicked), context.Canceled))
		}, "cell c0ffee failed: index out of range", "worker"},
	} {
		for _, trace := range []string{"", "0", "1"} {
			t.Run(row.name+trace, func(t *testing.T) {
				t.Setenv(traceVariable, trace)
				var stderr bytes.Buffer
				if code := row.execute(&stderr); code != exitDamaged {
					t.Errorf("exit code %d, want %d", code, exitDamaged)
				}
				want := "grposim: internal error: " + row.message +
					": please report it with the command and the configuration (GRPOSIM_TRACE=1 prints the stack)\n"
				stack, found := strings.CutPrefix(stderr.String(), want)
				if !found {
					t.Errorf("got %q, want the line %q", &stderr, want)
				}
				if trace == "1" != strings.Contains(stack, row.frame) || trace != "1" && stack != "" {
					t.Errorf("%s=%s: the line is followed by %q", traceVariable, trace, stack)
				}
				for line := range strings.Lines(stack) {
					if !strings.HasPrefix(line, "grposim: ") {
						t.Errorf("line %q has no prefix", line)
					}
				}
			})
		}
	}
}

// A report names the command that made it.
func TestCommandFor(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  []string
		want string
	}{
		{"smoke", nil, "grposim sweep smoke"},
		{"smoke", []string{"seed=3"}, "grposim sweep smoke.json"},
		{"stiffness", nil, "grposim reproduce stiffness"},
	} {
		spec, err := embeddedSpec(config.ToJudge, tt.name, tt.set...)
		if err != nil {
			t.Fatal(err)
		}
		if got := commandFor(spec); got != tt.want {
			t.Errorf("%s %v: %s, want %s", tt.name, tt.set, got, tt.want)
		}
	}
}

// The configuration that a report offers is the one that ran, overrides included: the
// command in the report, with that file, continues the same sweep.
func TestReportHoldsConfiguration(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"sweep", "smoke", "--out", "a", "--set", "seed=3", "--set", "run.replicas=32"}
	run(t.Context(), append(args, "--set", "grpo.group_size=[8,32]"), io.Discard, io.Discard)
	page := readDocument(t, "a", "report.html")
	const offer = `href="data:application/json;base64,([^"]+)" download="smoke.json"`
	link := regexp.MustCompile(offer).FindSubmatch(page)
	if link == nil || !bytes.Contains(page, []byte("<code>grposim sweep smoke.json</code>")) {
		t.Fatal("no command with a configuration")
	}
	config, err := base64.StdEncoding.DecodeString(html.UnescapeString(string(link[1])))
	if err != nil {
		t.Fatal(err)
	}
	write(t, "smoke.json", string(config))
	run(t.Context(), []string{"sweep", "smoke.json", "--out", "b"}, io.Discard, io.Discard)
	a, errA := store.ReadManifest("a")
	b, errB := store.ReadManifest("b")
	if err := errors.Join(errA, errB); err != nil || a.Hash != b.Hash {
		t.Errorf("%v: the configurations are %v and %v", err, a, b)
	}
}
