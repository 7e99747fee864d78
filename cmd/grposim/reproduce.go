package main

import (
	_ "embed"
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
	"grposim/sweeps/plan"
	"grposim/sweeps/report"
)

//go:embed suites.yaml
var suitesText []byte

// suites names the embedded experiments as wholes, each with what it is about: their folder, and
// the summary of their verdicts, with the heading of its page. The first is the default.
var suites = config.DecodeTable[[]struct {
	Name, About string // which help has too
	Heading     report.Heading
}]("suites.yaml", suitesText)

// headingOf returns the heading of a page over parts: that of the suite if this is its name
// and all of them are of it, else the name.
func headingOf(name string, parts []report.Part) report.Heading {
	for _, s := range suites {
		other := func(part report.Part) bool { return suiteOf(part.Experiment.Plan.Spec.Name) != s.Name }
		if s.Name == name && !slices.ContainsFunc(parts, other) {
			return s.Heading
		}
	}
	return report.Heading{Title: name}
}

func newReproduce(stdout, stderr io.Writer) *cobra.Command {
	var (
		suite   string
		out     string
		workers int

		verdicts *output
	)
	c := newCommand("reproduce", nil, func(c *cobra.Command, names []string) error {
		known := experimentNames(suite)
		if len(known) == 0 {
			return misuse("--suite: got %q, want %s", suite, strings.Join(suiteNames(), " or "))
		}
		if len(names) == 0 {
			names = known
		}
		if out == "" {
			out = resultsFolder(suite)
		}
		var plans []*plan.Plan
		names = slices.Compact(slices.Sorted(slices.Values(names)))
		for _, name := range names {
			if !slices.Contains(known, name) {
				return unknownExperiment(name, suite)
			}
			spec, err := embeddedSpec(config.ToJudge, name)
			if err != nil {
				return err
			}
			plans = append(plans, plan.New(spec))
		}
		display := newProgress(stderr)
		var parts []report.Part
		var experiments []*sweeps.Experiment
		for _, plan := range plans {
			dir := filepath.Join(out, plan.Spec.Name)
			e, err := sweeps.Runner{Workers: workers, Progress: display}.Run(c.Context(), plan, dir)
			if err != nil {
				return err
			}
			part, err := reporter{report.Sample, false, display}.part(c.Context(), dir, e)
			if err != nil {
				return err
			}
			parts, experiments = append(parts, part), append(experiments, e)
		}
		if err := writeSummary(out, parts); err != nil {
			return err
		}
		note := "report: " + filepath.Join(out, "report.html")
		if len(names) < len(known) {
			note += ", of " + strings.Join(names, ", ") + " alone"
		}
		display.Note(note)
		return verdicts.print(stdout, stderr, out, experiments)
	})
	c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return experimentNames(suite), cobra.ShellCompDirectiveNoFileComp
	}
	addWorkers(c, &workers)
	verdicts = addOutput(c)
	c.Flags().StringVar(&suite, "suite", suites[0].Name, "")
	c.Flags().StringVar(&out, "out", "", "")
	complete(c, "suite", suiteNames(), cobra.ShellCompDirectiveDefault)
	return c
}

// unknownExperiment returns the error of a name that is no experiment of a suite.
func unknownExperiment(name, suite string) error {
	known := experimentNames(suite)
	hint := "want one of " + strings.Join(known, ", ")
	if other := suiteOf(name); other != "" {
		hint = "it is in the suite " + other + ": --suite " + other
	} else if near := config.Meant(name, known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	} else if instead := (&input{name: "an experiment"}).instead(name); instead != "" {
		hint = instead
	}
	return misuse("no experiment %q in the suite %s: %s", name, suite, hint)
}

func suiteNames() []string {
	var names []string
	for _, s := range suites {
		names = append(names, s.Name)
	}
	return names
}

// experimentNames returns the names of the embedded experiments of a suite, sorted; nil
// if there is no such suite.
func experimentNames(suite string) []string {
	if !slices.Contains(suiteNames(), suite) {
		return nil
	}
	return embeddedNames(suite)
}

// suiteOf returns the suite that an embedded experiment belongs to, "" if there is none.
func suiteOf(name string) string {
	for _, suite := range suiteNames() {
		if slices.Contains(experimentNames(suite), name) {
			return suite
		}
	}
	return ""
}

// explorerFolder holds the configurations with which the interactive page begins.
const explorerFolder = "explorer"

// builtInNames returns the names of all embedded configurations, those of the experiments last.
func builtInNames() []string {
	folders := append([]string{".", explorerFolder}, suiteNames()...)
	return slices.Concat(config.Each(folders, embeddedNames)...)
}

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
	folder := suiteOf(name)
	if slices.Contains(embeddedNames(explorerFolder), name) {
		folder = explorerFolder
	}
	file := path.Join(folder, name+".yaml")
	data, err := configs.Files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return aim.Load("configs/"+file, data, set...)
}

// readPlan plans the sweep of a configuration file or, where there is no such file, of the
// embedded configuration with that name, with the overrides of --set. It prints the notes
// of the configuration.
func readPlan(stderr io.Writer, aim config.Aim, file string, set []string) (*plan.Plan, error) {
	spec, err := readSpec(stderr, aim, file, set)
	if err != nil {
		return nil, err
	}
	return plan.New(spec), nil
}

// readSpec reads a configuration file, or a built-in configuration, and prints its notes.
func readSpec(stderr io.Writer, aim config.Aim, file string, set []string) (*config.Spec, error) {
	read, refuse := aim.ReadFile, aConfiguration.refuse
	info, err := os.Stat(file)
	if none := errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir(); none && slices.Contains(builtInNames(), file) {
		read = func(name string, set ...string) (*config.Spec, error) {
			return embeddedSpec(aim, name, set...)
		}
		refuse = func(_ string, err error) error { return err } // what --set says is wrong
	}
	spec, err := read(file, set...)
	if err != nil {
		return nil, refuse(file, err)
	}
	for _, note := range spec.Notes {
		printLines(stderr, "note: "+note)
	}
	return spec, nil
}

// withoutNetworks returns the error of a plan some cell of which has a network, which a command
// cannot answer for.
func withoutNetworks(plan *plan.Plan, command string) error {
	for i := range plan.Cells {
		if s := &plan.Cells[i].Settings; s.Deep() {
			return misuse("policy.network.kind: got %s, want none: %s is about a bandit; "+
				"sweep simulates a network", s.Network.Kind, command)
		}
	}
	return nil
}
