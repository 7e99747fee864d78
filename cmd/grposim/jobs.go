package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"text/template"
	"time"

	"github.com/spf13/cobra"

	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// The limits that jobs ask for, as multiples of the forecast on this machine: other machines
// are slower, or busy.
const (
	timeFactor    = 3
	memoryFactor  = 2
	storageFactor = 4 // the shards and their merge, twice
	shortestTime  = 10 * time.Minute
)

// jobs are a task for each shard of a sweep, and a merge: the flags of the commands that write
// them, and the input of Slurm's template.
type jobs struct {
	Sweep          string // its name
	Tasks, Workers int
	Cache          string        // folder of finished cells that the tasks share; "": none
	Results        string        // folder of results
	Config         []string      // arguments of grposim that name the configuration
	Time           time.Duration // limit of a task
	Memory         int           // of a task and of the merge, MB

	Program, Folder string // of Slurm: the path of this program, the folder in which the jobs run

	// Of Kubernetes.
	image    string
	document string // the configuration, JSON
	storage  int    // of the shared volume, GiB

	out string // file; "": stdout
	set []string
}

// newJobs returns a command that writes jobs, which finish completes and checks; submit is the
// command that submits them.
func newJobs(name, submit string, stdout, stderr io.Writer, finish func(j *jobs) error, write func(j *jobs, w io.Writer) error) (*cobra.Command, *jobs) {
	j := new(jobs)
	c := newCommand(name, cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		spec, err := readSpec(stderr, config.ToJudge, args[0], j.set)
		if err != nil {
			return err
		}
		j.Sweep, j.Results, j.document, j.Config = spec.Name, resultsFolder(spec.Name), string(spec.Document()), []string{pathWord(args[0])}
		for _, set := range j.set {
			j.Config = append(j.Config, "--set", set)
		}
		if err := errors.Join(j.forecast(c.Context(), spec), finish(j)); err != nil {
			return err
		}
		if j.out == "" {
			return write(j, stdout)
		}
		if err := store.ReplaceFile(j.out, func(w io.Writer) error { return write(j, w) }); err != nil {
			return err
		}
		printLines(stderr, fmt.Sprintf("wrote %s: submit it with `%s %s`", j.out, submit, shellQuote(pathWord(j.out))))
		return nil
	})
	c.ValidArgsFunction = completeConfiguration
	c.Flags().IntVar(&j.Tasks, "tasks", 0, "number of tasks, each of which simulates a part of the cells; required")
	c.Flags().IntVar(&j.Workers, "workers", 1, "processors of a task, 1 to 4096")
	c.Flags().StringVar(&j.out, "out", "", "write into this `file`, not to stdout")
	c.Flags().StringVar(&j.Cache, "cache", "", "`folder` of finished cells that the tasks share, as in sweep --cache")
	addSet(c, &j.set)
	return c, j
}

// forecast checks the numbers of tasks and workers, and finds the limits of the jobs.
func (j *jobs) forecast(ctx context.Context, spec *config.Spec) error {
	var problems []error
	if most := min(spec.Size(), maxShards); j.Tasks < 1 || j.Tasks > most {
		problems = append(problems, usageError{fmt.Errorf("--tasks: got %d, want 1 to %d", j.Tasks, most)})
	}
	if err := errors.Join(append(problems, checkWorkers(j.Workers))...); err != nil {
		return err
	}
	f, err := plan.NewForecast(ctx, spec, j.Workers)
	if err != nil {
		return err
	}
	minutes := math.Ceil(timeFactor * f.LongestShard(spec, j.Tasks) / 60)
	j.Time = max(shortestTime, time.Duration(minutes)*time.Minute)
	j.Memory = int(math.Ceil(memoryFactor * f.Memory / 1e6))
	j.storage = int(math.Ceil(storageFactor * f.Bytes / (1 << 30)))
	return nil
}

//go:embed slurm.sh.tmpl
var slurmText string

var slurmTemplate = template.Must(template.New("slurm").Funcs(template.FuncMap{"hours": hours, "quote": shellQuote}).Parse(slurmText))

func newSlurm(stdout, stderr io.Writer) *cobra.Command {
	c, _ := newJobs("slurm", "sh", stdout, stderr, func(j *jobs) (err error) {
		if j.Program, err = os.Executable(); err == nil {
			j.Folder, err = os.Getwd()
		}
		problems := []error{err, checkWord("the path of grposim", j.Program), checkWord("the folder", j.Folder), checkWord("--cache", j.Cache)}
		for _, word := range j.Config {
			problems = append(problems, checkWord("the command line", word))
		}
		return errors.Join(problems...)
	}, func(j *jobs, w io.Writer) error { return slurmTemplate.Execute(w, j) })
	return c
}

func hours(d time.Duration) string {
	return fmt.Sprintf("%d:%02d:00", int(d.Hours()), int(d.Minutes())%60)
}
