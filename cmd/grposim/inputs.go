package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"grposim/sweeps/config"
	"grposim/sweeps/store"
	"grposim/training/equivalence"
	"grposim/training/logs"
)

// input is a kind of thing that commands read.
type input struct {
	name string                    // in words
	try  string                    // which command reads it; %[1]s stands for its path
	is   func(path string) bool    // whether the path holds this kind
	near func(dir string) []string // names of the kind: paths in the folder, or built-in names
}

// The kinds of input.
var (
	aFolder = &input{"a results folder", "`grposim check %[1]s` judges it again, `grposim diagnose %[1]s` diagnoses its cells", store.HoldsResults, func(dir string) []string {
		return slices.Concat(store.FoldersIn(dir), store.FoldersIn(resultsFolder("")))
	}}
	aConfiguration = &input{"a configuration", "`grposim sweep %[1]s` simulates it", isConfiguration, func(dir string) []string {
		return append(filesIn(dir, ".yaml", ".yml", ".json"), builtInNames()...)
	}}
	someScores = &input{"a table of evaluation scores", "`grposim compare %[1]s` compares its columns", isScores, func(dir string) []string { return filesIn(dir, ".csv") }}
	aLog       = &input{"the log of a training run", "`grposim diagnose %[1]s` says what went wrong, `grposim fit %[1]s` fits its reward, `grposim advise --fit %[1]s` says what follows", hasRows, func(dir string) []string {
		return filesIn(dir, ".jsonl", ".json", ".csv", ".log", ".txt", ".out", ".parquet", ".gz", ".wandb")
	}}
	inputs = []*input{aFolder, aConfiguration, someScores, aLog}

	// toCompare is what compare reads.
	toCompare = &input{name: "a results folder, " + aLog.name + " or " + someScores.name, near: func(dir string) []string {
		return append(aLog.near(dir), aFolder.near(dir)...)
	}}
)

// isConfiguration reports whether a path is that of a configuration without mistakes, or a
// built-in name.
func isConfiguration(path string) bool {
	_, err := config.ToPredict.ReadFile(path)
	return err == nil || slices.Contains(builtInNames(), path)
}

// isScores reports whether a path is that of a table of scores.
func isScores(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	_, err = equivalence.ReadScores(file, path)
	return err == nil
}

// hasRows reports whether a path is that of a log with at least two rows of training: the weights
// in a faulty configuration can look like the one row of a console.
func hasRows(path string) bool {
	all, err := logs.OpenAll(path, logs.Options{})
	return err == nil && slices.ContainsFunc(all, func(l *logs.Log) bool { return len(l.Steps) > 1 })
}

// filesIn returns the paths of the files in a folder that have one of the extensions.
func filesIn(dir string, extensions ...string) []string {
	var found []string
	entries, _ := os.ReadDir(dir) // one that cannot be read has none
	for _, e := range entries {
		if !e.IsDir() && slices.Contains(extensions, filepath.Ext(e.Name())) {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	return found
}

// nearest returns the path or name of a kind that a reader means by a path where there is
// nothing: the last part of the path is compared, without its extension. "": none is near.
func (in *input) nearest(path string) string {
	stem := func(path string) string { return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) }
	candidates := in.near(filepath.Dir(path))
	var stems []string
	for _, candidate := range candidates {
		stems = append(stems, stem(candidate))
	}
	if i := slices.Index(stems, config.Meant(stem(path), stems)); i >= 0 {
		return candidates[i]
	}
	return ""
}

// instead says what is at a path where this kind of input was wanted, and which command reads it;
// "" where none does.
func (want *input) instead(path string) string {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return "" // a pipe that has been read would be waited for
	}
	for _, in := range inputs {
		if in != want && in.is(path) {
			return fmt.Sprintf("got %s, want %s: ", in.name, want.name) + fmt.Sprintf(in.try, shellQuote(pathWord(path)))
		}
	}
	return ""
}

// refuse returns the error of a path at which a command did not find the wanted kind of input but
// met err. It says that there is nothing, with a name that is near, or which other command
// reads what is there; else it is err.
func (want *input) refuse(path string, err error) error {
	text := ""
	_, missing := os.Stat(path)
	if errors.Is(missing, fs.ErrNotExist) {
		text = "got no such file or folder, want " + want.name
		bare := want == aConfiguration && !strings.ContainsAny(path, "./"+string(filepath.Separator))
		if bare {
			text += ", or the name of a built-in one"
		}
		if preset := strings.ToLower(path); want == aConfiguration && slices.Contains(config.Presets(), preset) {
			return usageError{fmt.Errorf("%s: %s is a preset of a trainer: a file takes it over with `extends: %s`", path, preset, preset)}
		}
		if near := want.nearest(path); near != "" {
			return usageError{fmt.Errorf("%s: %s, did you mean %q?", path, text, near)}
		}
		if bare {
			text += ": " + strings.Join(builtInNames(), ", ")
		}
	}
	if other := want.instead(path); other != "" {
		text = other
	}
	if text == "" {
		return err
	}
	return usageError{fmt.Errorf("%s: %s", path, text)}
}
