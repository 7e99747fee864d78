// Command calibrate measures how far verdicts can be trusted. It judges a small cell
// of every claim under 200 seeds and counts how often intervals cover the long-run
// value, how often a right theory is refuted, how often a wrong theory passes, and how
// often too little data decides. It judges cells in which intervals are least reliable at
// the confidence that verdicts really have. It also computes by how many margins each mistake in
// the theory would move each claim. It prints every requirement that is not met and
// then exits with code 1.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
)

// seeds is the number of seeds under which every cell runs: 1, 2, …, seeds.
const seeds = 200

// Exit codes.
const (
	exitUnmet = 1 // a requirement is not met
	exitUsage = 2
	exitError = 4 // a cell failed, or the page cannot be written
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run calibrates every claim and returns the exit code. It writes the page to the file
// given by -o, or to stdout, and progress and unmet requirements to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("calibrate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("o", "", "write the page to `FILE`")
	workers := flags.Int("workers", runtime.GOMAXPROCS(0), "number of seeds that run at the same time; results do not depend on it")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 || *workers < 1 {
		return exitUsage
	}
	say := func(format string, args ...any) { fmt.Fprintf(stderr, "calibrate: "+format+"\n", args...) }
	page, unmet, err := calibrate(ctx, seeds, *workers, say)
	if err == nil {
		err = writeOut(page, *out, stdout)
	}
	if err != nil {
		say("%v", err)
		return exitError
	}
	for _, requirement := range unmet {
		say("%s", requirement)
	}
	if len(unmet) > 0 {
		return exitUnmet
	}
	return 0
}

// calibrate calibrates every claim and returns the page and a message for each
// requirement that is not met.
func calibrate(ctx context.Context, seeds, workers int, say func(format string, args ...any)) (page []byte, unmet []string, err error) {
	cells, err := loadCells()
	if err != nil {
		return nil, nil, err
	}
	rows, unmet, err := calibrateCells(ctx, cells, seeds, workers, say)
	if err != nil {
		return nil, nil, err
	}
	hard, unmetHard, err := calibrateHard(ctx, seeds, workers, say)
	if err != nil {
		return nil, nil, err
	}
	table, err := tabulate(cells, faults)
	if err != nil {
		return nil, nil, err
	}
	unmet = slices.Concat(unmet, unmetHard, table.unmet())
	var b bytes.Buffer
	writePage(&b, seeds, unmet, rows, hard, table)
	return b.Bytes(), unmet, nil
}

// calibrateCells returns the rows of the given cells and a message for each requirement
// that they do not meet.
func calibrateCells(ctx context.Context, cells []*cell, seeds, workers int, say func(format string, args ...any)) (rows []*row, unmet []string, err error) {
	for _, c := range cells {
		made, err := c.calibrate(ctx, seeds, workers, say)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", c.claim, err)
		}
		for _, r := range made {
			unmet = append(unmet, r.unmet()...)
		}
		rows = append(rows, made...)
	}
	return rows, unmet, nil
}

// writeOut writes the page to the file at path, or to stdout if path is empty.
func writeOut(page []byte, path string, stdout io.Writer) error {
	if path == "" {
		_, err := stdout.Write(page)
		return err
	}
	return os.WriteFile(path, page, 0o644)
}
