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

type input struct {
	name string                 // in words
	try  string                 // which command reads it; %[1]s stands for its path
	is   func(path string) bool // whether the path holds this kind
}

// The kinds of input.
var (
	aFolder        = &input{"a results folder", "`grposim check %[1]s` judges it again, `grposim diagnose %[1]s` diagnoses its cells", store.HoldsResults}
	aConfiguration = &input{"a configuration", "`grposim sweep %[1]s` simulates it", isConfiguration}
	someScores     = &input{"a table of evaluation scores", "`grposim compare %[1]s` compares its columns", isScores}
	aLog           = &input{"the log of a training run", "`grposim diagnose %[1]s` says what went wrong, `grposim fit %[1]s` fits its reward, `grposim advise --fit %[1]s` says what follows", hasRows}
	inputs         = []*input{aFolder, aConfiguration, someScores, aLog}

	// toCompare is what compare reads.
	toCompare = &input{name: "a results folder, " + aLog.name + " or " + someScores.name}
)

// isConfiguration reports whether a path is a configuration without mistakes or a built-in name.
func isConfiguration(path string) bool {
	_, err := config.ToPredict.ReadFile(path)
	return err == nil || slices.Contains(builtInNames(), path)
}

func readScores(path string) (*equivalence.Table, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return equivalence.ReadScores(file, path)
}

func isScores(path string) bool {
	_, err := readScores(path)
	return err == nil
}

// hasRows reports whether a path is that of a log with at least two rows of training: the weights
// in a faulty configuration can look like the one row of a console.
func hasRows(path string) bool {
	all, err := logs.OpenAll(path, logs.Options{})
	return err == nil && slices.ContainsFunc(all, func(l *logs.Log) bool { return len(l.Steps) > 1 })
}

// instead says what is at a path where this kind of input was wanted, and which command reads it;
// "" where none does.
func (want *input) instead(path string) string {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return "" // a pipe that has been read would be waited for
	}
	for _, in := range inputs {
		if in != want && in.is(path) {
			try := fmt.Sprintf(in.try, shellQuote(pathWord(path)))
			return fmt.Sprintf("got %s, want %s: %s", in.name, want.name, try)
		}
	}
	return ""
}

// refuse returns the error of a path at which a command did not find the wanted kind of input but
// met err. It says that there is nothing, or which other command reads what is there; else it is
// err.
func (want *input) refuse(path string, err error) error {
	text := want.instead(path)
	if _, missing := os.Stat(path); text == "" && errors.Is(missing, fs.ErrNotExist) {
		text = "got no such file or folder, want " + want.name
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		switch preset := strings.ToLower(path); {
		case want != aConfiguration:
		case slices.Contains(config.Presets(), preset):
			text = fmt.Sprintf("%s is a preset of a trainer: a file takes it by `extends: %[1]s`", preset)
		case config.Meant(name, builtInNames()) != "":
			text += fmt.Sprintf(", did you mean %q?", config.Meant(name, builtInNames()))
		case name == path:
			text += ", or the name of a built-in one: " + strings.Join(builtInNames(), ", ")
		}
	}
	if text == "" {
		return err
	}
	return misuse("%s: %s", path, text)
}
