// Command guard tells whether a change of the inside changes results or takes longer. It builds
// two checkouts, and runs every experiment and prediction with both in turns. It compares the
// bytes that come out, tables cell by cell, and the processor time. It exits with code 1 if a byte
// differs, or if the second checkout takes more than mostSlower times as long as the first.
package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"grposim/tools/internal/tool"
)

// mostSlower is the largest ratio of processor times that passes. Medians of five rounds
// scatter by about two percent on a machine with other work.
const mostSlower = 1.05

// task is a group of command lines whose time is taken together. FOLDER in an argument is
// replaced by an empty folder.
type task struct {
	name     string
	commands [][]string
}

// suites are the folders of configs with the experiments that are committed.
var suites = []string{"paper", "trainers", "way", "deep"}

// patterns name the configurations that are predicted, in the first checkout. Presets are not
// whole configurations: what is said of them is compared.
var patterns = []string{"configs/*.yaml", "configs/*/*.yaml", "tools/calibrate/*/*.yaml"}

func main() { tool.Main("guard", run) }

// run compares the checkouts in the two folders that the command line names.
func run(ctx context.Context, c *tool.Command) error {
	rounds := c.Int("rounds", 5, "how often each task runs with each checkout")
	only := c.String("only", "", "tasks whose name this `REGEXP` matches, such as paper/stiffness")
	c.Usage = func() { c.Say("usage: guard [-rounds N] [-only REGEXP] BASE CHANGED (two checkouts)") }
	if err := c.Parse(2); err != nil {
		return err
	}
	pattern, err := regexp.Compile(*only)
	if *rounds < 1 || err != nil {
		return tool.ErrUsage
	}
	wrong, err := guard(ctx, [2]string(c.Args()), *rounds, pattern, c.Stdout)
	if err != nil {
		return err
	}
	return wrong.OrNil()
}

// guard builds both checkouts and compares them by the tasks whose name matches the pattern.
func guard(
	ctx context.Context, checkouts [2]string, rounds int, only *regexp.Regexp, w io.Writer,
) (wrong tool.Unmet, err error) {
	work, err := os.MkdirTemp("", "guard")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	var programs [2]string
	for i, checkout := range checkouts {
		programs[i] = filepath.Join(work, fmt.Sprint("grposim-", i))
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", programs[i], "./cmd/grposim")
		build.Dir = checkout
		if text, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", checkout, err, text)
		}
	}
	other := func(t task) bool { return !only.MatchString(t.name) }
	tasks := slices.DeleteFunc(allTasks(os.DirFS(checkouts[0]), checkouts[0]), other)
	return compare(ctx, programs, tasks, rounds, work, w)
}

// allTasks returns the prediction of each configuration of a checkout in a folder, and its
// experiments.
func allTasks(checkout fs.FS, folder string) []task {
	predict := task{name: "predict"}
	for _, pattern := range patterns {
		files, _ := fs.Glob(checkout, pattern) // patterns are valid
		for _, file := range files {
			command := []string{"predict", "--json", filepath.Join(folder, file)}
			predict.commands = append(predict.commands, command)
		}
	}
	tasks := []task{predict}
	for _, suite := range suites {
		files, _ := fs.Glob(checkout, "configs/"+suite+"/*.yaml")
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".yaml")
			command := []string{"reproduce", name, "--suite", suite, "--out", "FOLDER"}
			tasks = append(tasks, task{suite + "/" + name, [][]string{command}})
		}
	}
	return tasks
}

// compare runs every task with both programs in turns (A B, B A, A B, …), prints a row for each
// task, and returns what is wrong: outputs that differ, and tasks that became slower.
func compare(
	ctx context.Context, programs [2]string, tasks []task, rounds int, work string, w io.Writer,
) (wrong tool.Unmet, err error) {
	fmt.Fprintf(w, "%-32s %7s %9s %6s %-15s %7s %6s\n",
		"TASK", "BASE s", "CHANGED s", "RATIO", "ROUNDS", "OUTPUTS", "DIFFER")
	for _, t := range tasks {
		var outputs [2]map[string]string
		c, err := tool.Compare(rounds, func(i, _ int) (seconds float64, err error) {
			seconds, outputs[i], err = t.run(ctx, programs[i], work)
			return seconds, err
		})
		if err != nil {
			return nil, err
		}
		differ := different(outputs)
		fmt.Fprintf(w, "%-32s %7.2f %9.2f %6.3f %.3f to %.3f  %7d %6d\n", t.name, c.Times[0],
			c.Times[1], c.Ratio, c.Least, c.Most, len(outputs[0]), len(differ))
		for _, name := range differ {
			of := difference(outputs[0][name], outputs[1][name])
			wrong = append(wrong, fmt.Sprintf("%s: the bytes differ: %s%s", t.name, name, of))
		}
		if c.Ratio > mostSlower {
			wrong = append(wrong, fmt.Sprintf("%s: slower by the factor %.3f, at most %g",
				t.name, c.Ratio, mostSlower))
		}
	}
	return wrong, nil
}

// run runs the task's commands. It returns the user processor time, and everything that came out,
// by name: exit code, standard output and files of every command. A results folder's manifest has
// times, and standard error of a command that succeeds its progress: both are left out.
func (t task) run(ctx context.Context, program, work string) (
	seconds float64, outputs map[string]string, err error,
) {
	outputs = make(map[string]string)
	for _, command := range t.commands {
		folder := filepath.Join(work, "out")
		args := slices.Clone(command)
		for i, arg := range args {
			args[i] = strings.ReplaceAll(arg, "FOLDER", folder)
		}
		c := exec.CommandContext(ctx, program, args...)
		var stdout, stderr bytes.Buffer
		c.Stdout, c.Stderr = &stdout, &stderr
		if err := c.Run(); c.ProcessState == nil || ctx.Err() != nil {
			return 0, nil, errors.Join(err, ctx.Err())
		}
		seconds += c.ProcessState.UserTime().Seconds()
		if !c.ProcessState.Success() {
			stdout.Write(stderr.Bytes())
		}
		name := strings.Join(command, " ")
		outputs[name] = fmt.Sprintf("exit code %d\n%s", c.ProcessState.ExitCode(), &stdout)
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || entry.Name() == "manifest.json" {
				return err
			}
			data, err := os.ReadFile(path)
			outputs[strings.TrimPrefix(path, folder)] = string(data)
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, nil, err
		}
		if err := os.RemoveAll(folder); err != nil {
			return 0, nil, err
		}
	}
	return seconds, outputs, nil
}

// different returns the names of the outputs that differ or that one program alone gave.
func different(outputs [2]map[string]string) []string {
	all := maps.Clone(outputs[0])
	maps.Copy(all, outputs[1])
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool {
		a, inBase := outputs[0][name]
		b, inChanged := outputs[1][name]
		return a == b && inBase == inChanged
	})
}

// difference says how two tables or lists of verdicts differ: words and numbers by column or key,
// with the largest relative difference of numbers. It is empty for other texts.
func difference(a, b string) string {
	counts, largest := make(map[string]int), make(map[string]float64)
	walk("", tree(a), tree(b), func(column, x, y string) {
		counts[column]++
		u, errU := strconv.ParseFloat(x, 64)
		v, errV := strconv.ParseFloat(y, 64)
		if errU != nil || errV != nil {
			largest[column] = math.Inf(1)
			return
		}
		relative := math.Abs(v-u) / max(math.Abs(u), math.Abs(v))
		largest[column] = max(largest[column], relative)
	})
	var text strings.Builder
	for _, column := range slices.Sorted(maps.Keys(counts)) {
		if math.IsInf(largest[column], 1) {
			fmt.Fprintf(&text, "\n  %s: %d differ in words", column, counts[column])
		} else {
			fmt.Fprintf(&text, "\n  %s: %d differ by at most %.2g", column, counts[column], largest[column])
		}
	}
	return text.String()
}

// tree returns JSON, or a table as a list of its rows by column; nil for other texts.
func tree(text string) (value any) {
	if strings.HasPrefix(text, "exit code") {
		_, text, _ = strings.Cut(text, "\n")
	}
	if json.Unmarshal([]byte(text), &value) == nil {
		return value
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) < 2 {
		return nil
	}
	var list []any
	for _, row := range rows[1:] {
		cells := make(map[string]any)
		for c, column := range rows[0] {
			cells[column] = row[c]
		}
		list = append(list, cells)
	}
	return list
}

// walk compares two JSON values, and tells each leaf that differs, under the last key.
func walk(key string, a, b any, tell func(key, a, b string)) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			keys := maps.Clone(x)
			maps.Copy(keys, y)
			for _, k := range slices.Sorted(maps.Keys(keys)) {
				walk(k, x[k], y[k], tell)
			}
			return
		}
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			for i := range x {
				walk(key, x[i], y[i], tell)
			}
			return
		}
	}
	if x, y := fmt.Sprint(a), fmt.Sprint(b); x != y {
		tell(key, x, y)
	}
}
