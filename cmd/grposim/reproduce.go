package main

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grposim/configs"
	"grposim/sweeps"
	"grposim/sweeps/config"
)

// suite names the embedded experiments as a whole: their folder, and the summary of
// their verdicts.
const suite = "paper"

func newReproduce(stdout, stderr io.Writer) *cobra.Command {
	var (
		out     string
		workers int

		verdicts *output
	)
	c := &cobra.Command{
		Use:   "reproduce [NAME…]",
		Short: "Run the built-in experiments on the paper's claims, all or those named",
		Long: `Runs the experiments that are built into grposim, each in a results folder of its
own, prints the verdicts, and writes verdicts.json, verdicts.md and report.html over
all of them.

Experiments: ` + strings.Join(experimentNames(), ", "),
		Example: `  grposim reproduce
  grposim reproduce saturation-law`,
		ValidArgs: experimentNames(),
		RunE: func(c *cobra.Command, names []string) error {
			if err := checkWorkers(workers); err != nil {
				return err
			}
			if len(names) == 0 {
				names = experimentNames()
			}
			var plans []*sweeps.Plan
			slices.Sort(names)
			for _, name := range slices.Compact(names) {
				plan, err := embeddedPlan(name)
				if err != nil {
					return err
				}
				plans = append(plans, plan)
			}
			display := newProgress(stderr)
			var folders []string
			var experiments []*sweeps.Experiment
			for _, plan := range plans {
				dir := filepath.Join(out, plan.Spec.Name)
				e, err := sweeps.Run(c.Context(), plan, dir, workers, display)
				if err != nil {
					return err
				}
				if err := writeReport(dir, e); err != nil {
					return err
				}
				folders, experiments = append(folders, dir), append(experiments, e)
			}
			if err := writeSummary(out, folders, experiments); err != nil {
				return err
			}
			display.Note("report: " + filepath.Join(out, "report.html"))
			return verdicts.print(stdout, stderr, out, experiments)
		},
	}
	addWorkers(c, &workers)
	verdicts = addOutput(c)
	c.Flags().StringVar(&out, "out", filepath.Join("results", "local", suite), "folder of the results folders")
	return c
}

// experimentNames returns the names of the embedded experiments, sorted.
func experimentNames() []string {
	files, err := fs.Glob(configs.Files, path.Join(suite, "*.yaml"))
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(f), ".yaml")
	}
	return files
}

// embeddedPlan returns the plan of an embedded experiment.
func embeddedPlan(name string) (*sweeps.Plan, error) {
	spec, err := embeddedSpec(name)
	if err != nil {
		return nil, err
	}
	return sweeps.NewPlan(spec), nil
}

// embeddedSpec returns the configuration of an embedded experiment.
func embeddedSpec(name string) (*config.Spec, error) {
	if !slices.Contains(experimentNames(), name) {
		return nil, usageError{fmt.Errorf("no experiment %q: want one of %s", name, strings.Join(experimentNames(), ", "))}
	}
	file := path.Join(suite, name+".yaml")
	data, err := configs.Files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return config.Load("configs/"+file, data)
}
