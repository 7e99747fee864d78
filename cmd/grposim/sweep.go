package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/sweeps/report"
	"grposim/sweeps/store"
)

func newSweep(stdout, stderr io.Writer) *cobra.Command {
	var (
		out     string
		workers int
		dryRun  bool
		shard   string
		runner  runnerFlags
		set     []string

		verdicts *output
	)
	c := &cobra.Command{
		Use:   "sweep FILE|NAME",
		Short: "Simulate the cells of a configuration file and print the verdicts of its checks",
		Long: `Simulates every cell of FILE, or of the built-in configuration NAME, that the results
folder does not hold yet, evaluates the checks, prints the verdicts, and writes
cells.csv, predictions.csv, trajectories.parquet, verdicts.json, verdicts.md,
manifest.json, figures and report.html. After an interruption the same command
continues the sweep.

With --shard I/N it simulates one of N parts of the cells, of about equal work, into a
results folder of its own, and judges nothing; "merge" puts the parts together. So N
machines can share a sweep.

With --cache DIR it takes the finished cells that DIR holds of this version of grposim, and
adds those that it simulates. Sweeps, shards and users can share DIR, on a file system that
they trust; it may be read-only. Entries that are damaged are computed again.

Built-in configurations: ` + strings.Join(builtInNames(), ", "),
		Example: `  grposim sweep smoke
  grposim sweep configs/smoke.yaml --dry-run
  grposim sweep smoke --set seed=2 --out results/local/smoke-2
  grposim sweep smoke --set grpo.group_size=[8,32] --dry-run`,
		ValidArgsFunction: completeConfiguration,
		Args:              arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkWorkers(workers); err != nil {
				return err
			}
			spec, err := readSpec(stderr, config.ToJudge, args[0], set)
			if err != nil {
				return err
			}
			var s store.Shard
			if shard != "" {
				if s, err = parseShard(shard); err != nil {
					return err
				}
			}
			if dryRun {
				forecast, err := sweeps.NewForecast(c.Context(), spec, workers)
				if err != nil {
					return err
				}
				if shard != "" {
					forecast = forecast.Part(sweeps.NewPart(spec, s))
				}
				if verdicts.json {
					return json.NewEncoder(stdout).Encode(forecast)
				}
				return printForecast(stdout, forecast, workers)
			}
			if !c.Flags().Changed("out") {
				if out = resultsFolder(spec.Name); shard != "" {
					out = shardFolder(spec.Name, s)
				}
			}
			display := newProgress(stderr)
			run, err := runner.runner(workers, display)
			if err != nil {
				return err
			}
			if shard != "" {
				part := sweeps.NewPart(spec, s)
				if err := run.RunPart(c.Context(), part, out); err != nil {
					return err
				}
				return printShard(stdout, part)
			}
			experiment, err := run.Stored(c.Context(), spec, out, verdicts.cells(spec))
			if err == nil && experiment == nil {
				run.Draw = drawIn(c.Context(), out, display)
				experiment, err = run.Run(c.Context(), sweeps.NewPlan(spec), out)
			}
			if err != nil {
				return err
			}
			return finishSweep(stdout, stderr, out, experiment, display, verdicts)
		},
	}
	addWorkers(c, &workers)
	c.Flags().StringVar(&out, "out", "", "results folder (default results/local/NAME)")
	c.Flags().StringVar(&shard, "shard", "", "simulate only the cells of part `I/N`")
	runner.addCache(c)
	runner.addWait(c)
	c.Flags().BoolVar(&dryRun, "dry-run", false, "print the number of cells and replica-steps and estimates of time, storage and memory; simulate and write nothing")
	verdicts = addOutput(c)
	c.Flags().Lookup("json").Usage = "print JSON instead of text: verdicts.json, or the estimates of --dry-run"
	addSet(c, &set)
	return c
}

// drawIn returns the function that writes the figures and the page of a sweep into its results
// folder dir.
func drawIn(ctx context.Context, dir string, display *progress) func(e *sweeps.Experiment) error {
	return func(e *sweeps.Experiment) error {
		_, err := writeReport(ctx, dir, e, display)
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
	c := &cobra.Command{
		Use:   "check DIR",
		Short: "Evaluate the checks of stored results again, without simulating",
		Long: `Computes predictions and verdicts again from the measurements stored in DIR, a
results folder or a folder of them, prints the verdicts, and rewrites the tables unless
DIR is read-only.`,
		Example: `  grposim check results/local/smoke`,
		Args:    arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			_, experiments, err := checkFolder(c.Context(), args[0], newProgress(stderr), sweeps.JudgeFolder)
			if err != nil {
				return err
			}
			return verdicts.print(stdout, stderr, args[0], experiments)
		},
	}
	verdicts = addOutput(c)
	return c
}

func newReport(stdout, stderr io.Writer) *cobra.Command {
	var out, trajectories string
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Draw the figures and pages of stored results again, without simulating",
		Long: `Does what check does with DIR, a results folder or a folder of them, draws the
figures and writes report.html again, and prints the path of the page. With --out FILE it
writes the page alone, into FILE: DIR can be read-only.

With --trajectories FILE it writes only the rows of trajectories.parquet, as CSV, into FILE: for
programs that do not read Parquet. FILE - is stdout.`,
		Example: `  grposim report results/local/smoke
  grposim report results/local/smoke --out smoke.html
  grposim report results/local/smoke --trajectories smoke.csv`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			display := newProgress(stderr)
			switch {
			case out != "" && trajectories != "":
				return usageError{errors.New("--out and --trajectories: got both, want one: each writes one file alone")}
			case out != "":
				return writePageAlone(c.Context(), stdout, args[0], out, display)
			case trajectories != "":
				return writeTrajectories(c.Context(), stdout, args[0], trajectories)
			}
			folders, experiments, err := checkFolder(c.Context(), args[0], display, sweeps.JudgeFolder)
			if err != nil {
				return err
			}
			parts := make([]report.Part, len(experiments))
			for i, e := range experiments {
				if parts[i], err = writeReport(c.Context(), folders[i], e, display); err != nil {
					return err
				}
			}
			if !holdsManifest(args[0]) {
				if err := writeSummary(args[0], parts); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintln(stdout, filepath.Join(args[0], "report.html"))
			return err
		},
	}
	c.Flags().StringVar(&out, "out", "", "write only the page, into this `file`")
	c.Flags().StringVar(&trajectories, "trajectories", "", "write only the recorded trajectories, as CSV, into this `file`; - is stdout")
	return c
}

// writeTrajectories writes the trajectories of the results folder dir as CSV into a file, and prints
// its path; the file "-" is stdout. It writes nothing into dir.
func writeTrajectories(ctx context.Context, stdout io.Writer, dir, file string) error {
	if several := resultsIn(dir); len(several) > 0 && !holdsManifest(dir) {
		return usageError{fmt.Errorf("%s: got a folder of results folders, want one of them: %s", dir, strings.Join(several, ", "))}
	}
	write := func(w io.Writer) error { return sweeps.TrajectoriesCSV(ctx, w, dir) }
	if file == "-" {
		return badFolder(dir, write(stdout))
	}
	if err := store.ReplaceFile(file, write); err != nil {
		return badFolder(dir, err)
	}
	_, err := fmt.Fprintln(stdout, file)
	return err
}

// writePageAlone writes the page over the results in dir into a file, and prints its path. It
// writes nothing into dir.
func writePageAlone(ctx context.Context, stdout io.Writer, dir, file string, display *progress) error {
	folders, experiments, err := checkFolder(ctx, dir, display, sweeps.JudgeStored)
	if err != nil {
		return err
	}
	parts := make([]report.Part, len(experiments))
	for i, e := range experiments {
		if parts[i], err = drawPart(ctx, folders[i], e, display, func(string, []byte, []byte) error { return nil }); err != nil {
			return err
		}
		if folders[i] != dir {
			parts[i].Folder = filepath.Base(folders[i])
		}
	}
	if err := writePage(file, nameOf(dir, experiments), parts); err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, file)
	return err
}
