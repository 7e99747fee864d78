package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/spf13/cobra"

	"grposim/sweeps/store"
)

//go:embed slurm.sh.tmpl
var slurmText string

var slurmTemplate = template.Must(template.New("slurm").Funcs(template.FuncMap{"hours": hours, "quote": shellQuote}).Parse(slurmText))

// slurmJobs is the input of the template.
type slurmJobs struct {
	*jobs
	Program string   // path of this program
	Folder  string   // in which the jobs run
	Config  []string // arguments of grposim that name the configuration
	Results string   // folder of results
}

func newSlurm(stdout, stderr io.Writer) *cobra.Command {
	var flags jobFlags
	c := newCommand("slurm", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		spec, err := flags.readSpec(c, args[0])
		if err != nil {
			return err
		}
		j, err := flags.newJobs(c.Context(), spec)
		if err != nil {
			return err
		}
		if err := checkArraySize(c.Context(), flags.tasks); err != nil {
			return err
		}
		s := slurmJobs{jobs: j, Results: resultsFolder(spec.Name), Config: args}
		for _, set := range flags.set {
			s.Config = append(s.Config, "--set", set)
		}
		if s.Program, err = os.Executable(); err != nil {
			return err
		}
		if s.Folder, err = os.Getwd(); err != nil {
			return err
		}
		return flags.write(stdout, stderr, slurmTemplate, s, "sh")
	})
	c.ValidArgsFunction = completeConfiguration
	flags.add(c)
	return c
}

// write writes what a template makes of jobs, and says with which command it is submitted.
func (f *jobFlags) write(stdout, stderr io.Writer, t *template.Template, jobs any, submit string) error {
	var text bytes.Buffer
	if err := t.Execute(&text, jobs); err != nil {
		return err
	}
	if f.out == "" {
		_, err := stdout.Write(text.Bytes())
		return err
	}
	if err := store.WriteFile(f.out, text.Bytes()); err != nil {
		return err
	}
	printLines(stderr, fmt.Sprintf("wrote %s: submit it with `%s %s`", f.out, submit, f.out))
	return nil
}

var maxArraySize = regexp.MustCompile(`(?m)^MaxArraySize\s*=\s*(\d+)`)

// checkArraySize returns a usage error if Slurm says that it does not take an array with the
// indices 1 to n. Where there is no Slurm it returns nil.
func checkArraySize(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	configuration, err := exec.CommandContext(ctx, "scontrol", "show", "config").Output()
	match := maxArraySize.FindSubmatch(configuration)
	if err != nil || match == nil {
		return nil
	}
	if size, err := strconv.Atoi(string(match[1])); err == nil && n >= size {
		return usageError{fmt.Errorf("--tasks: got %d, want at most %d: the largest index of an array on this cluster (MaxArraySize in `scontrol show config`)", n, size-1)}
	}
	return nil
}

// hours formats a time limit as Slurm reads it, H:MM:SS.
func hours(d time.Duration) string {
	return fmt.Sprintf("%d:%02d:00", int(d.Hours()), int(d.Minutes())%60)
}

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
