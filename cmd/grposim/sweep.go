package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/report"
	"grposim/sweeps/store"
)

type sweepFlags struct {
	verdicts   *output
	out, shard string
	workers    int
	dryRun     bool
	set        []string
	runner     runnerFlags
}

func newSweep(stdout, stderr io.Writer) *cobra.Command {
	var f sweepFlags
	c := newCommand("sweep", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		spec, err := readSpec(stderr, config.ToJudge, args[0], f.set)
		if err != nil {
			return err
		}
		var part *store.Shard
		if f.shard != "" {
			if part, err = parseShard(f.shard); err != nil {
				return err
			}
		}
		if f.dryRun {
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
	c.ValidArgsFunction = completeConfiguration
	addWorkers(c, &f.workers)
	c.Flags().StringVar(&f.out, "out", "", "")
	c.Flags().StringVar(&f.shard, "shard", "", "")
	f.runner.addCache(c)
	f.runner.addWait(c)
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "")
	f.verdicts = addOutput(c)
	addSet(c, &f.set)
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
	out := printer{stdout: stdout, json: f.verdicts.json}
	return out.print(work, func(p *page) {
		p.printf("%s, %.3g replica-steps, about %.2g s of simulation on %d workers\n",
			config.CountWords(work.Cells, "cell"), work.ReplicaSteps, work.Seconds, f.workers)
	})
}

// sweep simulates the cells of a configuration and prints the verdicts, or those of a part.
func (f *sweepFlags) sweep(ctx context.Context, stdout, stderr io.Writer, spec *config.Spec, part *store.Shard) error {
	display := newProgress(stderr)
	run, err := f.runner.runner(f.workers, display)
	if err != nil {
		return err
	}
	if part != nil {
		plan := plan.NewPart(spec, *part)
		if err := run.RunPart(ctx, plan, f.out); err != nil {
			return err
		}
		_, err := fmt.Fprintf(stdout, "shard %d of %d: %d of %d cells; `grposim merge OUT DIR…` judges all shards together\n",
			part.Index, part.Of, len(plan.Cells), spec.Size())
		return err
	}
	run.Draw = drawIn(ctx, f.out, display)
	experiment, err := run.Run(ctx, plan.New(spec), f.out)
	if err != nil {
		return err
	}
	return finishSweep(stdout, stderr, f.out, experiment, display, f.verdicts)
}

// drawIn returns what writes the figures and the page of a sweep into its results folder dir.
func drawIn(ctx context.Context, dir string, display *progress) func(e *sweeps.Experiment) error {
	return func(e *sweeps.Experiment) error {
		_, err := writeReport(ctx, dir, e, report.Sample, display)
		return err
	}
}

// finishSweep prints the verdicts of a sweep in its results folder dir.
func finishSweep(stdout, stderr io.Writer, dir string, e *sweeps.Experiment, display *progress, verdicts *output) error {
	display.Note("report: " + filepath.Join(dir, "report.html"))
	return verdicts.print(stdout, stderr, dir, []*sweeps.Experiment{e})
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
		display, extent := newProgress(stderr), report.Sample
		if all {
			extent = report.Everything
		}
		switch {
		case out != "" && trajectories != "":
			return usageError{errors.New("--out and --trajectories: got both, want one: each writes one file alone")}
		case trajectories != "":
			return writeTrajectories(c.Context(), stdout, args[0], trajectories, display)
		}
		judged := sweeps.JudgeFolder
		if out != "" { // of folders into which nothing is written
			judged = sweeps.JudgeStored
		}
		folders, experiments, err := checkFolder(c.Context(), args[0], display, judged)
		if err != nil {
			return err
		}
		parts := make([]report.Part, len(experiments))
		for i, e := range experiments {
			if out == "" {
				parts[i], err = writeReport(c.Context(), folders[i], e, extent, display)
			} else {
				parts[i], err = drawPart(c.Context(), folders[i], e, extent, display, "")
			}
			if err != nil {
				return err
			}
			if folders[i] != args[0] {
				parts[i].Folder = filepath.Base(folders[i])
			}
		}
		file := filepath.Join(args[0], "report.html")
		switch {
		case out != "":
			file, err = out, writePage(out, nameOf(args[0], experiments), parts)
		case !store.HoldsResults(args[0]):
			err = writeSummary(args[0], parts)
		}
		if err == nil {
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
		return usageError{fmt.Errorf("%s: got a folder of results folders, want one of them: %s", dir, strings.Join(several, ", "))}
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
