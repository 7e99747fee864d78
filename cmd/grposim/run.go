package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// The exit codes, which help/exit-codes.md explains.
const (
	exitUsage        = 2
	exitInterrupted  = 130
	exitTryAgain     = 75 // EX_TEMPFAIL of sysexits.h
	exitDamaged      = 4
	exitDisagree     = 1
	exitInconclusive = 3
)

// exitError is the exit code, other than 0, of a command that has printed everything it
// has to print.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// exit returns the error of an exit code, nil of 0.
func exit(code int) error {
	if code == 0 {
		return nil
	}
	return exitError(code)
}

type usageError struct{ error }

func misuse(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// traceVariable is the environment variable which, set to 1, makes grposim print the
// stack of an internal error.
const traceVariable = "GRPOSIM_TRACE"

// run executes one command line and returns its exit code. Results go to stdout.
// Everything else goes to stderr, in lines that begin with "grposim: ".
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	out, errs := &printable{bare: stdout}, &printable{bare: stderr}
	defer func() {
		if value := recover(); value != nil {
			printInternalError(errs, value, debug.Stack())
			code = exitDamaged
		}
		// a stream that ends in the middle of a character has failed before
		_ = errors.Join(out.Close(), errs.Close())
	}()
	root := newRoot(out, errs)
	root.SetArgs(args)
	root.SetFlagErrorFunc(flagError)
	err := root.ExecuteContext(ctx)
	if errors.Is(err, context.Canceled) {
		err = errors.Join(err, context.Cause(ctx))
	}
	return exitCode(errs, err, args...)
}

// keepsCells reports whether a command line that a signal ends keeps the cells that are finished.
func keepsCells(args []string) bool {
	c, _, err := newRoot(nil, nil).Find(args)
	return err == nil && !slices.Contains(args, "--dry-run") &&
		slices.Contains([]string{"sweep", "merge", "reproduce", "map"}, c.Name())
}

// exitCode prints the error of a command line, nil if there is none, and returns the exit code.
func exitCode(stderr io.Writer, err error, args ...string) int {
	var (
		exit     exitError
		panicked *sim.Panic
	)
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return int(exit)
	case errors.As(err, &panicked):
		printInternalError(stderr, panicked, panicked.Stack)
		return exitDamaged
	case errors.Is(err, context.Canceled):
		text, code := "interrupted", exitInterrupted
		if errors.Is(err, errTerminated) {
			text, code = "terminated", exitTryAgain
		}
		if keepsCells(args) {
			text += ": finished cells are kept; run the same command again to continue"
		}
		printLines(stderr, text)
		return code
	}
	printLines(stderr, err.Error())
	switch {
	case errors.As(err, new(*store.InUseError)):
		return exitTryAgain
	case errors.As(err, new(config.Problems)), errors.As(err, new(*store.FolderError)),
		errors.As(err, new(usageError)):
		return exitUsage
	}
	return exitDamaged
}

// say prints a message.
func say(stderr io.Writer, format string, args ...any) {
	printLines(stderr, fmt.Sprintf(format, args...))
}

// printLines prints each line of text with the prefix of messages.
func printLines(stderr io.Writer, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(stderr, "grposim: %s\n", strings.TrimSuffix(line, "\n"))
	}
}

// printInternalError prints a bug of this program in one line, followed by its stack if
// the user asks for it.
func printInternalError(stderr io.Writer, value any, stack []byte) {
	message := strings.ReplaceAll(fmt.Sprint(value), "\n", " ")
	say(stderr, "internal error: %s: please report it with the command and the configuration "+
		"(%s=1 prints the stack)", message, traceVariable)
	if os.Getenv(traceVariable) == "1" {
		printLines(stderr, string(stack))
	}
}

func newRoot(stdout, stderr io.Writer) *cobra.Command {
	root := newCommand("grposim", nil, func(c *cobra.Command, _ []string) error {
		if err := c.Help(); err != nil {
			return err
		}
		return exitError(exitUsage)
	})
	root.Version, root.Args = version(), knownCommand
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "Usages", "UsagesWrapped 100"))
	root.SetOut(stdout)
	root.SetErr(stderr)
	for _, command := range []func(stdout, stderr io.Writer) *cobra.Command{
		newInit, newReproduce, newSweep, newCheck, newReport, newMerge, newSlurm, newKubernetes,
		newPredict, newAdvise, newMap, newFit, newDiagnose, newWatch, newCompare,
	} {
		root.AddCommand(command(stdout, stderr))
	}
	root.AddCommand(newCommand("exit-codes", nil, nil))
	describeFlags(root.Commands())
	root.AddCommand(newReferences()...)
	explains(root)
	return root
}

// release is the newest version in CHANGELOG.md.
const release = "v0.1.0"

// version returns the release, the commit that the program was built from where Go knows it, and
// the compiler.
func version() string {
	run, commit := store.NewRunInfo(0, 0, 0, 0), ""
	if build, ok := debug.ReadBuildInfo(); ok && build.Main.Version != run.Version {
		commit = " commit " + run.Version
	}
	return fmt.Sprintf("%s%s (%s %s/%s)", release, commit, run.GoVersion, run.OS, run.Arch)
}

// addWorkers adds the flag --workers of the commands that simulate, and its check.
func addWorkers(c *cobra.Command, workers *int) {
	c.Flags().IntVar(workers, "workers", runtime.GOMAXPROCS(0), "")
	c.PreRunE = func(*cobra.Command, []string) error { return checkWorkers(*workers) }
}

// addConfiguration adds what the commands have that read a configuration: the flag --set, and
// completion of their argument by the name of a built-in one, or a file.
func addConfiguration(c *cobra.Command, set *[]string) {
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) (
		[]string, cobra.ShellCompDirective,
	) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return builtInNames(), cobra.ShellCompDirectiveDefault
	}
	c.Flags().StringArrayVar(set, "set", nil, "")
	keys := config.SetKeys()
	for i := range keys {
		keys[i] += "="
	}
	complete(c, "set", keys, cobra.ShellCompDirectiveNoSpace)
}

// complete completes the values of a flag that the command has.
func complete(c *cobra.Command, flag string, values []string, how cobra.ShellCompDirective) {
	complete := cobra.FixedCompletions(values, how|cobra.ShellCompDirectiveNoFileComp)
	if err := c.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // there is no such flag
	}
}

func checkWorkers(workers int) error {
	if workers < 1 || workers > 4096 {
		return misuse("--workers: got %d, want 1 to 4096", workers)
	}
	return nil
}

// knownCommand refuses an argument of the root, which is no command: with the one that is near, or
// the command that reads what the word names.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := config.Each(root.Commands(), (*cobra.Command).Name)
	word, known := args[0], append([]string{"--version"}, names...)
	text := config.DidYouMean(strings.ToLower(word), known)
	if other := (&input{name: "a command"}).instead(word); text == "" && other != "" {
		text = ": " + other
	}
	return misuse("unknown command %q%s", word, text)
}

// arguments turns the error of a check of positional arguments into a usage error with an example.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if check(c, args) == nil {
			return nil
		}
		got := "no argument"
		if len(args) > 0 {
			got = strings.Join(args, " ")
		}
		_, example, _ := strings.Cut(c.Example, c.CommandPath()+" ")
		example, _, _ = strings.Cut(example, "\n")
		example, _, _ = strings.Cut(example, "   #")
		quotes := ""
		if strings.ContainsAny(got, "]}") {
			quotes = ": a value with spaces needs quotes"
		}
		return misuse("got %s: usage: %s: for example `%s %s`%s",
			got, c.UseLine(), c.CommandPath(), example, quotes)
	}
}

// flagError makes an error of the flags a usage error.
func flagError(c *cobra.Command, err error) error {
	if invalid, is := errors.AsType[*pflag.InvalidValueError](err); is {
		flag := invalid.GetFlag()
		err = fmt.Errorf("--%s: got %q, want a value of the kind %s",
			flag.Name, invalid.GetValue(), flag.Value.Type())
	}
	return misuse("%w (see `%s --help`)", err, c.CommandPath())
}
