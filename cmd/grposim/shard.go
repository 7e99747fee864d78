package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/sweeps/report"
	"grposim/sweeps/store"
)

func parseShard(text string) (*store.Shard, error) {
	first, last, _ := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(first)
	of, err2 := strconv.Atoi(last)
	if err1 != nil || err2 != nil || index < 1 || index > of || of > maxShards {
		return nil, misuse("--shard: got %q, want I/N with 1 ≤ I ≤ N ≤ %d", text, maxShards)
	}
	return &store.Shard{Index: index, Of: of}, nil
}

// maxShards bounds the number of shards, by which the time to divide a sweep grows.
const maxShards = 10_000

func resultsFolder(name string) string { return filepath.Join("results", "local", name) }

func newMerge(stdout, stderr io.Writer) *cobra.Command {
	var (
		verdicts *output
		flags    runnerFlags
	)
	c := newCommand("merge", cobra.MinimumNArgs(2), func(c *cobra.Command, args []string) error {
		run, err := flags.runner(c.Context(), runtime.GOMAXPROCS(0), args[0], stderr)
		if err != nil {
			return err
		}
		others := config.Each(args[1:], func(dir string) error { return badFolder(dir, nil) })
		if err := errors.Join(others...); err != nil {
			return err
		}
		experiment, err := run.Merge(c.Context(), args[0], args[1:])
		if err != nil {
			return err
		}
		return verdicts.ofSweep(stdout, stderr, args[0], experiment)
	})
	verdicts = addOutput(c)
	flags.addWait(c)
	return c
}

type runnerFlags struct {
	cache string
	wait  bool
}

func (f *runnerFlags) addWait(c *cobra.Command) { c.Flags().BoolVar(&f.wait, "wait", false, "") }

// runner returns the runner of a sweep in the results folder dir, which draws its figures and
// pages. The error is that of a folder that cannot be a cache.
func (f *runnerFlags) runner(ctx context.Context, workers int, dir string, stderr io.Writer) (r sweeps.Runner, err error) {
	display := newProgress(stderr)
	r = sweeps.Runner{Workers: workers, Progress: display, Wait: f.wait}
	r.Draw = func(e *sweeps.Experiment) error {
		_, err := reporter{report.Sample, false, display}.part(ctx, dir, e)
		return err
	}
	if f.cache != "" {
		r.Cache, err = store.OpenCache(f.cache)
	}
	return r, err
}
