package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"grposim/sweeps"
	"grposim/sweeps/store"
)

func parseShard(text string) (*store.Shard, error) {
	first, last, _ := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(first)
	of, err2 := strconv.Atoi(last)
	if err1 != nil || err2 != nil || index < 1 || index > of || of > maxShards {
		return nil, usageError{fmt.Errorf("--shard: got %q, want I/N with 1 ≤ I ≤ N ≤ %d", text, maxShards)}
	}
	return &store.Shard{Index: index, Of: of}, nil
}

// maxShards bounds the number of shards, by which the time to divide a sweep grows.
const maxShards = 10_000

// resultsFolder returns the name of the folder of a sweep.
func resultsFolder(name string) string { return filepath.Join("results", "local", name) }

func newMerge(stdout, stderr io.Writer) *cobra.Command {
	var (
		verdicts *output
		runner   runnerFlags
	)
	c := newCommand("merge", cobra.MinimumNArgs(2), func(c *cobra.Command, args []string) error {
		display := newProgress(stderr)
		run, err := runner.runner(runtime.GOMAXPROCS(0), display)
		if err != nil {
			return err
		}
		run.Draw = drawIn(c.Context(), args[0], display)
		var others []error
		for _, dir := range args[1:] {
			others = append(others, badFolder(dir, nil))
		}
		if err := errors.Join(others...); err != nil {
			return err
		}
		experiment, err := run.Merge(c.Context(), args[0], args[1:])
		if err != nil {
			return err
		}
		return finishSweep(stdout, stderr, args[0], experiment, display, verdicts)
	})
	verdicts = addOutput(c)
	runner.addWait(c)
	return c
}

type runnerFlags struct {
	cache string
	wait  bool
}

func (f *runnerFlags) addCache(c *cobra.Command) {
	c.Flags().StringVar(&f.cache, "cache", "", "")
}

func (f *runnerFlags) addWait(c *cobra.Command) {
	c.Flags().BoolVar(&f.wait, "wait", false, "")
}

// runner returns what the flags say. The error is that of a folder that cannot be a cache.
func (f *runnerFlags) runner(workers int, display *progress) (r sweeps.Runner, err error) {
	r = sweeps.Runner{Workers: workers, Progress: display, Wait: f.wait}
	if f.cache != "" {
		r.Cache, err = store.OpenCache(f.cache)
	}
	return r, err
}
