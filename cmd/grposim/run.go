package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// Exit codes, in the order in which they apply.
const (
	exitUsage        = 2   // usage or configuration
	exitInterrupted  = 130 // by a signal; the same command goes on
	exitDamaged      = 4   // cells failed or results damaged
	exitDisagree     = 1   // a claim disagrees
	exitInconclusive = 3   // a verdict is inconclusive, or checks and none decided
)

// exitError is a finished command's exit code other than 0, with nothing left
// to say.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// usageError is a mistake in the command line.
type usageError struct{ error }

// run executes one command line and returns its exit code. Results go to
// stdout, everything else to stderr, each message one line.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil { // a bug: nobody reads a stack trace
			fmt.Fprintf(stderr, "grposim: internal error: %v: please report it with the command and the configuration\n", p)
			code = exitDamaged
		}
	}()
	root := newRoot(stdout, stderr)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	var (
		exit     exitError
		problems config.Problems
		folder   *store.FolderError
		damaged  *store.DamagedError
		usage    usageError
	)
	if errors.As(err, &exit) {
		return int(exit)
	}
	code = exitDamaged
	switch {
	case errors.Is(err, context.Canceled):
		tellInterrupted(stderr)
		return exitInterrupted
	case errors.As(err, &problems), errors.As(err, &folder), errors.As(err, &usage):
		code = exitUsage
	case errors.As(err, &damaged):
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "grposim: %s\n", strings.TrimSuffix(line, "\n"))
	}
	return code
}

func tellInterrupted(stderr io.Writer) {
	fmt.Fprintln(stderr, "grposim: interrupted: finished cells are kept, the same command goes on from here")
}

func newRoot(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "grposim",
		Short: "Simulate GRPO on softmax bandits and judge the theory of its dynamics",
		Long: `grposim simulates group relative policy optimization on softmax bandits, computes
what theory predicts for the same cells, and says for every claim whether
measurement and prediction agree within a margin fixed beforehand.

Exit codes: 0 every claim agrees (or is out of the theory's scope) · 1 a claim
disagrees · 2 usage or configuration · 3 a verdict is inconclusive, or none was
decided · 4 results damaged · 130 interrupted (the same command goes on).`,
		Example: `  grposim reproduce                     every experiment on the paper's claims
  grposim sweep configs/smoke.yaml      one sweep, its verdicts and its report
  grposim predict configs/smoke.yaml    the theory alone`,
		SuggestionsMinimumDistance: 2,
		SilenceUsage:               true,
		SilenceErrors:              true,
		Args:                       knownCommand,
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w (see `%s --help`)", err, c.CommandPath())}
	})
	root.RunE = func(c *cobra.Command, _ []string) error {
		if err := c.Help(); err != nil {
			return err
		}
		return exitError(exitUsage)
	}
	root.AddCommand(newReproduce(stdout, stderr), newSweep(stdout, stderr), newCheck(stdout, stderr),
		newReport(stdout, stderr), newPredict(stdout), newMap(stdout, stderr))
	return root
}

// knownCommand complains about a first argument that is no command.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	message := fmt.Sprintf("unknown command %q", args[0])
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		message += fmt.Sprintf(": did you mean %q?", near[0])
	}
	return usageError{errors.New(message)}
}

// arguments turns cobra's complaint about positional arguments into a usage
// error.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return usageError{fmt.Errorf("%w: usage: %s", err, c.UseLine())}
		}
		return nil
	}
}

// addWorkers adds the flag that both simulating commands share.
func addWorkers(c *cobra.Command, workers *int) {
	c.Flags().IntVar(workers, "workers", runtime.GOMAXPROCS(0), "goroutines that simulate; results do not depend on it")
}

func checkWorkers(workers int) error {
	if workers < 1 || workers > 4096 {
		return usageError{fmt.Errorf("--workers: got %d, want 1 to 4096", workers)}
	}
	return nil
}
