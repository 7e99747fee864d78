// Command fuzz judges random configurations: theory against simulation over the whole key
// table of package config. It repeats every verdict that disagrees with another seed and
// four times the data, shrinks the configurations that disagree again, and writes them to
// a folder with a table of what it found. It also reports panics, computations that do
// not end, verdicts that change when they are repeated, and numbers in files that are not
// finite. It exits with code 1 if it found any of these.
//
// Configurations are drawn from config.Keys and config.Claims, so that a new key or claim
// is drawn by being there. They are judged at confidence 0.999 each, by margins that are
// modest and fixed (margins). A theory that is right within its margin is refuted with
// probability at most 0.001, and again with another seed with probability at most 1e-6:
// of 1000 configurations 0.001 are confirmed by chance, and 0.003 of three times as many.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"grposim/sweeps/config"
)

// confidence is the confidence of all verdicts of a configuration together.
const confidence = 0.999

// scrutinized is the number of configurations of which one is judged twice.
const scrutinized = 16

// Exit codes.
const (
	exitFound = 1 // a confirmed disagree, or a failure
	exitUsage = 2
	exitError = 4 // a file cannot be written, or a process not started
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes a command line and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	say := func(err error) { fmt.Fprintf(stderr, "fuzz: %v\n", err) }
	if len(args) == 1 && args[0] == judgeFlag {
		if err := serve(ctx, os.Stdin, stdout); err != nil {
			say(err)
			return exitError
		}
		return 0
	}
	flags := flag.NewFlagSet("fuzz", flag.ContinueOnError)
	flags.SetOutput(stderr)
	n := flags.Int("n", 1000, "number of configurations")
	seed := flags.Uint64("seed", 1, "seed of the draws")
	first := flags.Uint64("first", 0, "index of the first configuration under the seed")
	out := flags.String("out", "fuzz-found", "`FOLDER` for the table and the files of what is found")
	workers := flags.Int("workers", 1, "number of processes that judge; results do not depend on it")
	limit := flags.Duration("time", time.Minute, "CPU time after which a configuration counts as hung")
	replay := flags.String("file", "", "judge one `FILE` instead, with the length of run that it gives")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 || *workers < 1 || *n < 1 {
		return exitUsage
	}
	var s *summary
	var err error
	if *replay != "" {
		s, err = fuzzFile(ctx, *replay, *limit, stderr)
	} else {
		if err = os.MkdirAll(*out, 0o755); err == nil {
			s, err = fuzz(ctx, *seed, *first, *n, *workers, *limit, stderr)
		}
		if s != nil {
			err = errors.Join(err, s.write(*out, *seed))
		}
	}
	var problems config.Problems
	if errors.As(err, &problems) {
		say(err)
		return exitUsage
	} else if err != nil {
		say(err)
		return exitError
	}
	if _, err := io.WriteString(stdout, s.String()); err != nil {
		return exitError
	}
	if s.found() {
		return exitFound
	}
	return 0
}

// fuzz examines n configurations of a seed and says on progress what it finds. If ctx is
// done it returns what is finished, and an error.
func fuzz(ctx context.Context, seed, first uint64, n, workers int, limit time.Duration, progress io.Writer) (*summary, error) {
	results := make([]result, n)
	failures := make([]error, workers)
	indices := make(chan int)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	var printing sync.Mutex
	for w := range workers {
		group.Go(func() {
			j := &judging{limit: limit, budget: usualBudget}
			defer j.stop()
			for i := range indices {
				r, how := &results[i], once
				r.seed, r.index = seed, first+uint64(i)
				if r.index%scrutinized == 0 {
					how = twice
				}
				began := time.Now()
				if r.answer, r.findings, failures[w] = j.examine(ctx, draw(seed, r.index), predicted, how); failures[w] != nil {
					cancel()
					return
				}
				r.seconds, r.done = time.Since(began).Seconds(), true
				printing.Lock()
				r.print(progress)
				printing.Unlock()
			}
		})
	}
	for i := range n {
		select {
		case indices <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(indices)
	group.Wait()
	s := &summary{slices.DeleteFunc(results, func(r result) bool { return !r.done })}
	return s, errors.Join(failures...)
}

// fuzzFile examines one file and says on progress what it finds.
func fuzzFile(ctx context.Context, path string, limit time.Duration, progress io.Writer) (*summary, error) {
	spec, err := config.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := parseFile(spec.Document())
	if err != nil {
		return nil, err
	}
	j := &judging{limit: limit, budget: usualBudget}
	defer j.stop()
	var r result
	r.answer, r.findings, err = j.examine(ctx, f, asGiven, twice)
	r.print(progress)
	return &summary{[]result{r}}, err
}
