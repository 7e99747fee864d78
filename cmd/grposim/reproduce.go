package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grposim/configs"
	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/sweeps/report"
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
				if !slices.Contains(experimentNames(), name) {
					return usageError{fmt.Errorf("no experiment %q: want one of %s", name, strings.Join(experimentNames(), ", "))}
				}
				spec, err := embeddedSpec(config.ToJudge, name)
				if err != nil {
					return err
				}
				plans = append(plans, sweeps.NewPlan(spec))
			}
			display := newProgress(stderr)
			var parts []report.Part
			var experiments []*sweeps.Experiment
			for _, plan := range plans {
				dir := filepath.Join(out, plan.Spec.Name)
				e, err := sweeps.Run(c.Context(), plan, dir, workers, display)
				if err != nil {
					return err
				}
				part, err := writeReport(c.Context(), dir, e, display)
				if err != nil {
					return err
				}
				parts, experiments = append(parts, part), append(experiments, e)
			}
			if err := writeSummary(out, parts); err != nil {
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
func experimentNames() []string { return embeddedNames(suite) }

// builtInNames returns the names of all embedded configurations, those of the
// experiments last.
func builtInNames() []string { return append(embeddedNames("."), experimentNames()...) }

// embeddedNames returns the names of the configurations in an embedded folder, sorted.
func embeddedNames(folder string) []string {
	files, err := fs.Glob(configs.Files, path.Join(folder, "*.yaml"))
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(f), ".yaml")
	}
	return files
}

// embeddedSpec returns an embedded configuration with the overrides of --set.
func embeddedSpec(aim config.Aim, name string, set ...string) (*config.Spec, error) {
	file := name + ".yaml"
	if slices.Contains(experimentNames(), name) {
		file = path.Join(suite, file)
	}
	data, err := configs.Files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return aim.Load("configs/"+file, data, set...)
}

// readPlan plans the sweep of a configuration file or, where there is no such file, of the
// embedded configuration with that name, with the overrides of --set. It prints the notes
// of the configuration.
func readPlan(stderr io.Writer, aim config.Aim, file string, set []string) (*sweeps.Plan, error) {
	spec, err := readSpec(stderr, aim, file, set)
	if err != nil {
		return nil, err
	}
	return sweeps.NewPlan(spec), nil
}

// readSpec reads a configuration file, or a built-in configuration, and prints its notes.
func readSpec(stderr io.Writer, aim config.Aim, file string, set []string) (*config.Spec, error) {
	info, err := os.Stat(file)
	missing := errors.Is(err, fs.ErrNotExist)
	var spec *config.Spec
	switch {
	case (missing || err == nil && info.IsDir()) && slices.Contains(builtInNames(), file):
		spec, err = embeddedSpec(aim, file, set...)
	case missing && !strings.ContainsAny(file, "./"+string(filepath.Separator)):
		return nil, usageError{fmt.Errorf("%s: got no such file, want a configuration, or the name of one that is built in: %s", file, strings.Join(builtInNames(), ", "))}
	default:
		spec, err = aim.ReadFile(file, set...)
	}
	if err != nil {
		return nil, err
	}
	for _, note := range spec.Notes {
		printLines(stderr, "note: "+note)
	}
	return spec, nil
}
