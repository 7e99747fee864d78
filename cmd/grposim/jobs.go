package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strings"
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
// them, and the input of their templates.
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
	Image    string
	Document string // the configuration, JSON
	Storage  int    // of the shared volume, GiB

	out string // file; "": stdout
	set []string
}

// newJobs returns a command that writes jobs by a template, after finish has completed and checked
// them; submit is the command that submits them.
func newJobs(name, submit, text string, stdout, stderr io.Writer, finish func(*jobs) error) (*cobra.Command, *jobs) {
	j := new(jobs)
	hours := func(d time.Duration) string {
		return fmt.Sprintf("%d:%02d:00", int(d.Hours()), int(d.Minutes())%60)
	}
	words := template.FuncMap{"hours": hours, "noVariables": noVariables, "quote": shellQuote}
	layout := template.Must(template.New(name).Funcs(words).Parse(text))
	c := newCommand(name, cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		spec, err := readSpec(stderr, config.ToJudge, args[0], j.set)
		if err != nil {
			return err
		}
		j.Sweep, j.Results = spec.Name, resultsFolder(spec.Name)
		j.Document, j.Config = escape(string(spec.Document()), ""), []string{pathWord(args[0])}
		for _, set := range j.set {
			j.Config = append(j.Config, "--set", set)
		}
		if err := errors.Join(j.forecast(c.Context(), spec), finish(j)); err != nil {
			return err
		}
		if j.out == "" {
			return layout.Execute(stdout, j)
		}
		err = store.ReplaceFile(j.out, func(w io.Writer) error { return layout.Execute(w, j) })
		if err == nil {
			file := shellQuote(pathWord(j.out))
			say(stderr, "wrote %s: submit it with `%s %s`", j.out, submit, file)
		}
		return err
	})
	c.Flags().IntVar(&j.Tasks, "tasks", 0, "")
	c.Flags().IntVar(&j.Workers, "workers", 1, "")
	c.Flags().StringVar(&j.out, "out", "", "")
	c.Flags().StringVar(&j.Cache, "cache", "", "")
	addConfiguration(c, &j.set)
	return c, j
}

// forecast checks the numbers of tasks and workers, and finds the limits of the jobs.
func (j *jobs) forecast(ctx context.Context, spec *config.Spec) error {
	problem := checkWorkers(j.Workers)
	if most := min(spec.Size(), maxShards); j.Tasks < 1 || j.Tasks > most {
		tasks := misuse("--tasks: got %d, want 1 to %d", j.Tasks, most)
		problem = errors.Join(tasks, problem)
	}
	if problem != nil {
		return problem
	}
	f, err := plan.NewForecast(ctx, spec, j.Workers)
	if err != nil {
		return err
	}
	minutes := math.Ceil(timeFactor * f.LongestShard(spec, j.Tasks) / 60)
	j.Time = max(shortestTime, time.Duration(minutes)*time.Minute)
	j.Memory = int(math.Ceil(memoryFactor * f.Memory / 1e6))
	j.Storage = int(math.Ceil(storageFactor * f.Bytes / (1 << 30)))
	return nil
}

//go:embed slurm.sh.tmpl
var slurmText string

func newSlurm(stdout, stderr io.Writer) *cobra.Command {
	c, _ := newJobs("slurm", "sh", slurmText, stdout, stderr, func(j *jobs) (err error) {
		if j.Program, err = os.Executable(); err == nil {
			j.Folder, err = os.Getwd()
		}
		err = errors.Join(err, checkWord("the path of grposim", j.Program),
			checkWord("the folder", j.Folder), checkWord("--cache", j.Cache))
		for _, word := range j.Config {
			err = errors.Join(err, checkWord("the command line", word))
		}
		return err
	})
	return c
}

// maxConfigMap is the size of the largest configuration that a ConfigMap takes, in bytes.
const maxConfigMap = 1_000_000

//go:embed kubernetes.yaml.tmpl
var kubernetesText string

func newKubernetes(stdout, stderr io.Writer) *cobra.Command {
	c, j := newJobs("kubernetes", "kubectl apply -f", kubernetesText, stdout, stderr, func(j *jobs) error {
		problems := []error{checkWord("--cache", j.Cache), checkWord("--image", j.Image)}
		if j.Image == "" {
			problems = append(problems, misuse("--image: got nothing, want an image that holds grposim"))
		}
		if n := len(j.Document); n > maxConfigMap {
			problems = append(problems, misuse("%s: got %d bytes, want at most %d: the size of a ConfigMap",
				j.Config[0], n, maxConfigMap))
		}
		return errors.Join(problems...)
	})
	c.Flags().StringVar(&j.Image, "image", "", "")
	return c
}

// Object returns a name of Kubernetes objects, which is shorter than that of a sweep can
// be, and neither begins nor ends with a hyphen.
func (j *jobs) Object() string {
	return strings.TrimRight("grposim-"+strings.Trim(j.Sweep[:min(len(j.Sweep), 40)], "-"), "-")
}

// noVariables keeps Kubernetes from replacing $(NAME) in an argument.
func noVariables(word string) string { return strings.ReplaceAll(word, "$", "$$") }

var plainWord = regexp.MustCompile(`^[\w./:=,+@%-]+$`)

// shellQuote quotes words for a POSIX shell.
func shellQuote(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if quoted[i] = word; !plainWord.MatchString(word) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// pathWord returns a path that a command does not read as a flag.
func pathWord(path string) string {
	if strings.HasPrefix(path, "-") {
		return "./" + path
	}
	return path
}

// checkWord returns a usage error if a word of a script that is written has a character that is
// not seen. Quotes would keep its meaning, but not every place: a line feed can end a
// here-document, and with it the words around it, and stdout escapes the others (printable).
func checkWord(what, word string) error {
	if escape(word, "") != word {
		return misuse("%s: got %q, want no line break and no other character that is not seen",
			what, word)
	}
	return nil
}
