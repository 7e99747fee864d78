package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"grposim/sweeps"
	"grposim/sweeps/config"
)

func newSweep(stdout, stderr io.Writer) *cobra.Command {
	var (
		out     string
		workers int
		dryRun  bool
		asJSON  bool
		set     []string
	)
	c := &cobra.Command{
		Use:   "sweep FILE",
		Short: "Simulate one configuration file, judge its checks, write its report",
		Long: `Simulates every cell of FILE that the results folder does not hold yet, judges
the checks, prints the verdicts, and writes cells.csv, predictions.csv,
trajectories.parquet, verdicts.json, verdicts.md, manifest.json, figures and
report.html. Interrupted at any time, the same command goes on where it stopped.`,
		Example: `  grposim sweep configs/smoke.yaml
  grposim sweep configs/smoke.yaml --set run.replicas=64 --out /tmp/smoke
  grposim sweep configs/smoke.yaml --dry-run`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkWorkers(workers); err != nil {
				return err
			}
			plan, err := readPlan(args[0], set)
			if err != nil {
				return err
			}
			name := plan.Spec.Name
			if dryRun {
				return printForecast(c.Context(), stdout, plan, workers, asJSON)
			}
			if !c.Flags().Changed("out") {
				out = filepath.Join("results", "local", name)
			}
			display := newProgress(stderr)
			experiment, err := sweeps.Run(c.Context(), plan, out, workers, display)
			if err != nil {
				return err
			}
			if err := writeReport(out, experiment); err != nil {
				return err
			}
			if err := printVerdicts(stdout, name, experiment.Verdicts, asJSON); err != nil {
				return err
			}
			display.Note("report: " + filepath.Join(out, "report.html"))
			return verdictExit(stderr, experiment.Verdicts)
		},
	}
	addWorkers(c, &workers)
	c.Flags().StringVar(&out, "out", "", "results folder (default results/local/NAME)")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only say how many cells, how much work, how long, how large")
	c.Flags().BoolVar(&asJSON, "json", false, "print verdicts.json instead of the table")
	c.Flags().StringArrayVar(&set, "set", nil, "override a key of the file, `key=value`; repeatable")
	return c
}

// readPlan reads and plans a configuration file with overrides.
func readPlan(file string, set []string) (*sweeps.Plan, error) {
	spec, err := config.ReadFile(file, set...)
	if err != nil {
		return nil, err
	}
	return sweeps.NewPlan(spec), nil
}

func newCheck(stdout, stderr io.Writer) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check DIR",
		Short: "Judge stored results again; no simulation",
		Args:  arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			_, experiments, err := checkFolder(args[0])
			if err != nil {
				return err
			}
			verdicts := allVerdicts(experiments)
			if err := printVerdicts(stdout, experimentName(experiments), verdicts, asJSON); err != nil {
				return err
			}
			return verdictExit(stderr, verdicts)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print verdicts.json instead of the table")
	return c
}

func newReport(stdout, _ io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "report DIR",
		Short: "Make figures and pages again; no simulation",
		Args:  arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			folders, experiments, err := checkFolder(args[0])
			if err != nil {
				return err
			}
			for i, e := range experiments {
				if err := writeReport(folders[i], e); err != nil {
					return err
				}
			}
			if !holdsManifest(args[0]) {
				if err := writeSummary(args[0], folders, experiments); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintln(stdout, filepath.Join(args[0], "report.html"))
			return err
		},
	}
}
