package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"grposim/sweeps/config"
)

// knownCommand refuses an argument of the root, which is no command: with the one that is near, or
// the command that reads what the word names.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := config.Each(root.Commands(), (*cobra.Command).Name)
	word, known := args[0], append([]string{"--version"}, names...)
	text := config.DidYouMean(strings.ToLower(word), known)
	if other := (&input{name: "a command"}).instead(word); text == "" && other != "" {
		text = ": " + other
	}
	return misuse("unknown command %q%s", word, text)
}

// arguments turns the error of a check of positional arguments into a usage error with an example.
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
		quotes := ""
		if strings.ContainsAny(got, "]}") {
			quotes = ": a value with spaces needs quotes"
		}
		return misuse("got %s: usage: %s: for example `%s %s`%s", got, c.UseLine(), c.CommandPath(), example, quotes)
	}
}

// flagError makes an error of the flags a usage error.
func flagError(c *cobra.Command, err error) error {
	if invalid, is := errors.AsType[*pflag.InvalidValueError](err); is {
		flag := invalid.GetFlag()
		err = fmt.Errorf("--%s: got %q, want a value of the kind %s",
			flag.Name, invalid.GetValue(), flag.Value.Type())
	}
	return misuse("%w (see `%s --help`)", err, c.CommandPath())
}
