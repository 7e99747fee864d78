package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"time"
)

// Exit codes.
const (
	exitKilled      = 0   // enough are killed and every survivor is argued
	exitSurvived    = 1   // too few are, or a survivor is not
	exitBroken      = 2   // usage, a mutant that does not compile, tests that fail without one
	exitInterrupted = 130 // by a signal
)

// wantedShare is the share of mutants that must be killed.
const wantedShare = 0.95

// errUsage is a mistake in the command line that flag has already told.
var errUsage = errors.New("usage")

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	reports, err := try(ctx, args, stdout, stderr)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "mutants: interrupted")
		return exitInterrupted
	case errors.Is(err, flag.ErrHelp):
		return exitKilled
	case errors.Is(err, errUsage):
		return exitBroken
	case err != nil:
		fmt.Fprintf(stderr, "mutants: %v\n", err)
		return exitBroken
	}
	return conclude(stdout, reports)
}

// try runs the mutants that the command line names.
func try(ctx context.Context, args []string, stdout, stderr io.Writer) ([]report, error) {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var (
		pattern = flags.String("run", "", "try only the mutants whose id matches this `regexp`")
		list    = flags.Bool("list", false, "say what the mutants are, and try none")
		page    = flags.String("o", "", "write the table of what killed them to this `file`; all of them must be tried")
		workers = flags.Int("workers", min(2, runtime.NumCPU()), "mutants tried at a time; they share the processors")
	)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, errUsage
	}
	wanted, err := regexp.Compile(*pattern)
	switch {
	case err != nil:
		return nil, fmt.Errorf("-run: %w", err)
	case flags.NArg() > 0:
		return nil, fmt.Errorf("got the argument %q, want flags only", flags.Arg(0))
	case *page != "" && *pattern != "":
		return nil, errors.New("-o describes all mutants and does not go with -run")
	case *workers < 1:
		return nil, fmt.Errorf("-workers: got %d, want 1 or more", *workers)
	}
	var chosen []mutant
	for _, m := range mutants() {
		if wanted.MatchString(m.id) {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no mutant matches %q", *pattern)
	}
	if *list {
		for _, m := range chosen {
			if _, err := fmt.Fprintf(stdout, "%-32s %-24s %s\n", m.id, m.file, m.fault); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	start := time.Now()
	lab, err := newLaboratory(ctx, *workers, stderr)
	if err != nil {
		return nil, err
	}
	defer lab.close()
	lab.judge = (&court{lab: lab}).try
	reports, err := lab.tryAll(ctx, chosen)
	if err != nil {
		return nil, err
	}
	if *page != "" {
		if err := os.WriteFile(*page, describe(reports, time.Since(start)), 0o644); err != nil {
			return nil, err
		}
	}
	return reports, nil
}

// conclude prints what is wrong, and the sum, and returns the exit code.
func conclude(stdout io.Writer, reports []report) int {
	if reports == nil {
		return exitKilled // nothing was tried
	}
	killed, code := 0, exitKilled
	for _, r := range reports {
		switch {
		case r.fate != survived && r.equivalent == "":
			killed++
		case r.fate != survived:
			killed++
			code = exitSurvived
			fmt.Fprintf(stdout, "%s is argued to be equivalent, but %s\n", r.id, r.verdict())
		case r.equivalent == "":
			code = exitSurvived
			fmt.Fprintf(stdout, "%s survived: %s: %s\n", r.id, r.file, r.fault)
		}
	}
	if float64(killed) < wantedShare*float64(len(reports)) {
		code = exitSurvived
	}
	fmt.Fprintf(stdout, "%d of %d mutants killed; %d argued to be equivalent\n", killed, len(reports), argued(reports))
	return code
}

// argued counts the survivors that the table gives a reason for.
func argued(reports []report) int {
	n := 0
	for _, r := range reports {
		if r.fate == survived && r.equivalent != "" {
			n++
		}
	}
	return n
}

// mutants returns the whole table, in the order of the packages.
func mutants() []mutant {
	return slices.Concat(grpoMutants, simMutants, pairMutants, drawMutants, measureMutants, romMutants, diagnoseMutants)
}
