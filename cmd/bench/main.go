// Command bench compares grposim's time per replica-step with that of other programs for
// the same process (bench/peers), and with its own time at other group sizes, numbers of
// arms and numbers of workers. Contenders run in turns; ratios are medians over rounds. A
// time counts only if the run reaches the same stationary mean and variance as grposim's;
// otherwise the command ends with exit code 1. A missed target is reported but is no
// error, because times vary with the load of the machine.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes.
const (
	exitDisagree = 1 // contenders do not simulate the same process
	exitUsage    = 2
	exitError    = 4 // a peer failed, or the page cannot be written
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run measures everything and returns the exit code. It writes the tables between the
// markers of the file given by -o, or to stdout, and progress to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("o", "", "write the tables between the markers of `FILE`")
	short := flags.Bool("short", false, "run one round of short runs, to check that everything works")
	t := tools{compiler: "gcc"}
	flags.StringVar(&t.peers, "peers", "bench/peers", "`FOLDER` with the sources of the peers")
	flags.StringVar(&t.python, "python", "/usr/bin/python3", "Python `INTERPRETER` with NumPy and Numba")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		return exitUsage
	}
	e := full
	if *short {
		e = brief
	}
	say := func(format string, args ...any) { fmt.Fprintf(stderr, "bench: "+format+"\n", args...) }
	err := bench(ctx, e, t, *out, stdout, say)
	var d *disagreement
	switch {
	case errors.As(err, &d):
		say("%v", err)
		return exitDisagree
	case err != nil:
		say("%v", err)
		return exitError
	}
	return 0
}

// bench measures everything and writes the tables.
func bench(ctx context.Context, e effort, t tools, out string, stdout io.Writer, say func(format string, args ...any)) (err error) {
	if t.work, err = os.MkdirTemp("", "bench"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(t.work)) }()
	peers, missing, err := t.find(ctx)
	if err != nil {
		return err
	}
	for _, m := range missing {
		say("%s", m)
	}
	r := results{machine: machine(ctx, &t), missing: missing}
	report := func(comparisons []comparison) {
		for i := range comparisons {
			say("%s", &comparisons[i])
		}
		r.comparisons = append(r.comparisons, comparisons...)
	}
	for _, p := range raced {
		comparisons, err := race(ctx, e, p, peers)
		if err != nil {
			return err
		}
		report(comparisons)
	}
	comparisons, err := scaling(ctx, e)
	if err != nil {
		return err
	}
	report(comparisons)
	if len(peers) > 0 {
		c, err := machineScaling(ctx, e, peers[0])
		if err != nil {
			return err
		}
		report([]comparison{c})
	}
	c, err := outside(ctx, e, t.work)
	if err != nil {
		return err
	}
	report([]comparison{c})
	if r.matrix, err = measureMatrix(ctx, e); err != nil {
		return err
	}
	var section bytes.Buffer
	r.write(&section)
	return writeOut(section.Bytes(), out, stdout)
}

// writeOut writes the section between the markers of the file at path, or to stdout if
// path is empty.
func writeOut(section []byte, path string, stdout io.Writer) error {
	if path == "" {
		_, err := stdout.Write(section)
		return err
	}
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if page, err = replaceSection(page, section); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, page, 0o644)
}
