// Package tool has a command line with exit codes, tasks on several workers and the median of
// their results. The programs for developers, those of cmd other than grposim, share them.
package tool

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// Exit codes.
const (
	ExitUnmet = 1 // something measured is not as required: the error is Unmet
	ExitUsage = 2
	ExitError = 4 // something could not be measured or written
)

// Unmet is the error of a program that measured everything: it lists what is not as required.
type Unmet []string

func (u Unmet) Error() string { return strings.Join(u, "\n") }

// OrNil returns nil if the list is empty.
func (u Unmet) OrNil() error {
	if len(u) == 0 {
		return nil
	}
	return u
}

// ErrUsage is the error of a command line that cannot be run.
var ErrUsage = errors.New("usage")

// Command is a command line: flags, to be defined and then parsed, and where output goes.
type Command struct {
	*flag.FlagSet
	Stdout, Stderr io.Writer
	arguments      []string
}

// Main runs a program on the process's command line and ends the process with its exit code.
// The context ends at an interrupt.
func Main(name string, program func(context.Context, *Command) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(Run(ctx, name, program, os.Args[1:], os.Stdout, os.Stderr))
}

// Run runs a program and returns its exit code. It says on stderr what is wrong, each line after
// the program's name.
func Run(ctx context.Context, name string, program func(context.Context, *Command) error, args []string, stdout, stderr io.Writer) int {
	c := &Command{flag.NewFlagSet(name, flag.ContinueOnError), stdout, stderr, args}
	c.SetOutput(stderr)
	err := program(ctx, c)
	var unmet Unmet
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrUsage):
		return ExitUsage
	case errors.As(err, &unmet):
		for _, requirement := range unmet {
			c.Say("%s", requirement)
		}
		return ExitUnmet
	}
	c.Say("%v", err)
	return ExitError
}

// Parse parses the command line, which must have as many arguments beside flags.
func (c *Command) Parse(arguments int) error {
	if err := c.FlagSet.Parse(c.arguments); err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if c.NArg() != arguments {
		c.Usage()
		return ErrUsage
	}
	return nil
}

// Say writes a line to stderr, after the program's name.
func (c *Command) Say(format string, args ...any) {
	fmt.Fprintf(c.Stderr, c.Name()+": "+format+"\n", args...)
}

// Each returns the results of a task for 0, 1, …, n − 1, in this order. As many run at the same
// time as there are workers, at least one. The first error ends the others; results that are
// finished are returned beside it.
func Each[Result any](ctx context.Context, n, workers int, task func(ctx context.Context, i int) (Result, error)) ([]Result, error) {
	results := make([]Result, n)
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for i := range n {
		group.Go(func() (err error) {
			if within.Err() != nil {
				return context.Cause(within)
			}
			results[i], err = task(within, i)
			return err
		})
	}
	return results, group.Wait()
}

// Comparison is how long two things take that run in turns.
type Comparison struct {
	Times              [2]float64 // medians over the rounds
	Ratio, Least, Most float64    // of the second time over the first: its median and range
}

// Compare times two things, 0 and 1, in as many rounds, the first of which is number 0. They
// alternate: 0 1, 1 0, 0 1, …
func Compare(rounds int, time func(i, round int) (float64, error)) (c Comparison, err error) {
	var times [2][]float64
	var ratios []float64
	for round := range rounds {
		for turn := range 2 {
			i := (turn + round) % 2
			took, err := time(i, round)
			if err != nil {
				return c, err
			}
			times[i] = append(times[i], took)
		}
		ratios = append(ratios, times[1][round]/times[0][round])
	}
	c.Times = [2]float64{median(times[0]), median(times[1])}
	c.Ratio, c.Least, c.Most = median(ratios), slices.Min(ratios), slices.Max(ratios)
	return c, nil
}

// median returns the middle value, the mean of the middle two if their number is even.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
