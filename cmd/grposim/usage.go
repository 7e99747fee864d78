package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"grposim/sweeps/config"
)

// refuseUnknownTopics makes help of a command or topic that does not exist a usage error.
func refuseUnknownTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil {
		panic(err) // it is there by the line above
	}
	show := help.Run
	help.Run = nil
	help.RunE = func(c *cobra.Command, args []string) error {
		_, rest, err := root.Find(args)
		if err == nil && len(rest) > 0 {
			err = unknownCommand(root, "command or help topic", rest[0])
		}
		if err == nil {
			show(c, args)
		}
		return err
	}
}

// unknownCommand returns the error of a word that is no command: with the one that is near, or
// the command that reads what the word names.
func unknownCommand(root *cobra.Command, what, word string) error {
	known := []string{"--version"}
	for _, c := range root.Commands() {
		known = append(known, c.Name())
	}
	text := fmt.Sprintf("unknown %s %q", what, word)
	if near := config.Meant(strings.ToLower(word), known); near != "" {
		text += fmt.Sprintf(": did you mean %q?", near)
	} else if other := (&input{name: "a " + what}).instead(word); other != "" {
		text += ": " + other
	}
	return usageError{errors.New(text)}
}

// arguments turns the error of a check of positional arguments into a usage error with an
// example.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if check(c, args) == nil {
			return nil
		}
		got := "no argument"
		if len(args) > 0 {
			got = strings.Join(args, " ")
		}
		_, example, _ := strings.Cut(c.Example, c.CommandPath()+" ")
		example, _, _ = strings.Cut(example, "\n")
		example, _, _ = strings.Cut(example, "   #")
		text := fmt.Sprintf("got %s: usage: %s: for example `%s %s`", got, c.UseLine(), c.CommandPath(), example)
		if strings.ContainsAny(got, "]}") {
			text += ": a value with spaces needs quotes"
		}
		return usageError{errors.New(text)}
	}
}

// flagError makes an error of the flags a usage error that says what is meant: a flag that is
// near, or the key of the configuration that the flag names, which --set takes.
func flagError(c *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		invalid *pflag.InvalidValueError
		text    = err.Error()
	)
	switch {
	case errors.As(err, &invalid):
		wants := map[string]string{"int": "an integer", "float64": "a number", "bool": "true or false", "duration": "a time such as 10s", "float64Slice": "numbers separated by commas"}
		text = fmt.Sprintf("--%s: got %q, want %s", invalid.GetFlag().Name, invalid.GetValue(), wants[invalid.GetFlag().Value.Type()])
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if near := flagNear(c, name); near != "" {
			text += fmt.Sprintf(": did you mean --%s?", near)
		} else if key := config.NamedKey(name); key != "" && (c.Flags().Lookup("set") != nil || c.HasSubCommands()) {
			text += fmt.Sprintf(": did you mean --set %s=VALUE?", key)
		}
	}
	return usageError{fmt.Errorf("%s (see `%s --help`)", text, c.CommandPath())}
}

// flagNear returns the flag of a command that is meant by an unknown one: the only one that
// begins it or that it begins, or one that is near; "" if there is none.
func flagNear(c *cobra.Command, name string) string {
	var known, begun []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		known = append(known, f.Name)
		if strings.HasPrefix(name, f.Name) || strings.HasPrefix(f.Name, name) {
			begun = append(begun, f.Name)
		}
	})
	if len(begun) == 1 {
		return begun[0]
	}
	return config.Meant(name, known)
}
