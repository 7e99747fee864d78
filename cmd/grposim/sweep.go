package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/sweeps/report"
	"grposim/sweeps/store"
)

type sweepFlags struct {
	verdicts *output
	out      string
	workers  int
	runner   runnerFlags
}

func newSweep(stdout, stderr io.Writer) *cobra.Command {
	var (
		f      sweepFlags
		shard  string
		dryRun bool
		set    []string
	)
	c := newCommand("sweep", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		spec, err := readSpec(stderr, config.ToJudge, args[0], set)
		if err != nil {
			return err
		}
		var part *store.Shard
		if shard != "" {
			if part, err = parseShard(shard); err != nil {
				return err
			}
		}
		if dryRun {
			return f.forecast(c.Context(), stdout, spec, part)
		}
		if !c.Flags().Changed("out") {
			f.out = resultsFolder(spec.Name)
			if part != nil {
				f.out += fmt.Sprintf("-%d-of-%d", part.Index, part.Of)
			}
		}
		return f.sweep(c.Context(), stdout, stderr, spec, part)
	})
	addWorkers(c, &f.workers)
	c.Flags().StringVar(&f.out, "out", "", "")
	c.Flags().StringVar(&shard, "shard", "", "")
	c.Flags().StringVar(&f.runner.cache, "cache", "", "")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "")
	f.runner.addWait(c)
	f.verdicts = addOutput(c)
	addConfiguration(c, &set)
	return c
}

// forecast prints the estimated work of a sweep, or of a part of it.
func (f *sweepFlags) forecast(ctx context.Context, stdout io.Writer, spec *config.Spec, part *store.Shard) error {
	work, err := plan.NewForecast(ctx, spec, f.workers)
	if err != nil {
		return err
	}
	if part != nil {
		work = work.Part(plan.NewPart(spec, *part))
	}
	return (&printer{stdout: stdout, json: f.verdicts.json}).print(work, func(p *page) {
		p.printf("%s, %.3g replica-steps, about %.2g s of simulation on %d workers\n",
			config.CountWords(work.Cells, "cell"), work.ReplicaSteps, work.Seconds, f.workers)
	})
}

// sweep simulates the cells of a configuration and prints the verdicts, or those of a part.
func (f *sweepFlags) sweep(ctx context.Context, stdout, stderr io.Writer, spec *config.Spec, part *store.Shard) error {
	run, err := f.runner.runner(ctx, f.workers, f.out, stderr)
	if err != nil {
		return err
	}
	if part != nil {
		plan := plan.NewPart(spec, *part)
		if err := run.RunPart(ctx, plan, f.out); err != nil {
			return err
		}
		_, err := fmt.Fprintf(stdout, "shard %d of %d: %d of %d cells; "+
			"`grposim merge OUT DIR…` judges all shards together\n",
			part.Index, part.Of, len(plan.Cells), spec.Size())
		return err
	}
	experiment, err := run.Run(ctx, plan.New(spec), f.out)
	if err != nil {
		return err
	}
	return f.verdicts.ofSweep(stdout, stderr, f.out, experiment)
}

func newCheck(stdout, stderr io.Writer) *cobra.Command {
	var verdicts *output
	c := newCommand("check", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		_, experiments, err := checkFolder(c.Context(), args[0], newProgress(stderr), sweeps.JudgeFolder)
		if err != nil {
			return err
		}
		return verdicts.print(stdout, stderr, args[0], experiments)
	})
	verdicts = addOutput(c)
	return c
}

func newReport(stdout, stderr io.Writer) *cobra.Command {
	var (
		out, trajectories string
		all               bool
	)
	c := newCommand("report", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		ctx, dir, display := c.Context(), args[0], newProgress(stderr)
		drawn := reporter{report.Sample, out != "", display}
		if all {
			drawn.extent = report.Everything
		}
		switch {
		case out != "" && trajectories != "":
			return misuse("--out and --trajectories: got both, want one: each writes one file alone")
		case trajectories != "":
			return writeTrajectories(ctx, stdout, dir, trajectories, display)
		}
		read := sweeps.JudgeFolder
		if drawn.alone {
			read = sweeps.JudgeStored
		}
		folders, experiments, err := checkFolder(ctx, dir, display, read)
		if err != nil {
			return err
		}
		parts := make([]report.Part, len(experiments))
		for i, e := range experiments {
			if parts[i], err = drawn.part(ctx, folders[i], e); err != nil {
				return err
			}
			if folders[i] != dir {
				parts[i].Folder = filepath.Base(folders[i])
			}
		}
		file := filepath.Join(dir, "report.html")
		switch {
		case out != "":
			file, err = out, writePage(out, nameOf(dir, experiments), parts)
		case !store.HoldsResults(dir):
			err = writeSummary(dir, parts)
		}
		if err == nil {
			say(stderr, "%s", strings.Join(judge.Answer(allVerdicts(experiments)), " "))
			_, err = fmt.Fprintln(stdout, file)
		}
		return err
	})
	c.Flags().BoolVar(&all, "all", false, "")
	c.Flags().StringVar(&out, "out", "", "")
	c.Flags().StringVar(&trajectories, "trajectories", "", "")
	return c
}

// writeTrajectories writes the trajectories of the results folder dir as CSV into a file, and
// prints its path; the file "-" is stdout. It writes nothing into dir.
func writeTrajectories(ctx context.Context, stdout io.Writer, dir, file string, display *progress) error {
	if several := store.FoldersIn(dir); len(several) > 0 && !store.HoldsResults(dir) {
		return misuse("%s: got a folder of results folders, want one of them: %s",
			dir, strings.Join(several, ", "))
	}
	write := func(w io.Writer) error { return sweeps.TrajectoriesCSV(ctx, w, dir, display) }
	if file == "-" {
		return badFolder(dir, write(stdout))
	}
	if err := store.ReplaceFile(file, write); err != nil {
		return badFolder(dir, err)
	}
	_, err := fmt.Fprintln(stdout, file)
	return err
}

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
func (f *runnerFlags) runner(ctx context.Context, workers int, dir string, stderr io.Writer) (
	r sweeps.Runner, err error) {
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
