package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes, by the first of exitCodes that applies.
const (
	exitUsage        = 2
	exitInterrupted  = 130
	exitTryAgain     = 75 // EX_TEMPFAIL of sysexits.h
	exitDamaged      = 4
	exitDisagree     = 1
	exitInconclusive = 3
)

// exitCodes says what each exit code means: the first that applies is returned.
var exitCodes = []struct {
	code  int
	means []string // sentences
}{
	{exitUsage, []string{"The command line, a configuration or a log is wrong, or a file or folder that it names does not exist."}},
	{exitInterrupted, []string{"Interrupted (Ctrl-C). The same command continues: finished cells are kept."}},
	{exitTryAgain, []string{"Try again: terminated (SIGTERM), or another grposim uses the results folder."}},
	{exitDamaged, []string{"Results are damaged or incomplete, a file cannot be read or written, or an internal error."}},
	{exitDisagree, []string{
		"sweep, check, merge, map, reproduce: a verdict is disagree.",
		"compare: runs or scores are different; of results folders the code is 0 whatever differs.",
		"diagnose, watch: a failure is found, or a failure mode is present.",
	}},
	{exitInconclusive, []string{
		"sweep, check, merge, map, reproduce: a verdict is inconclusive, a control does not disagree, or there are verdicts and none is agree.",
		"compare: runs or scores are undecided.",
		"diagnose, watch: neither a failure nor a mode, and some mode is not observable, the usual answer to a stock log; --mode asks about some alone, and then 3 includes findings that no column could show.",
		"fit: the reward is flat or its regime not identified, in one of the logs at least.",
	}},
	{0, []string{"Otherwise."}},
}

// exitCodesTopic returns the help topic on exit codes: a command that does nothing.
func exitCodesTopic() *cobra.Command {
	var text strings.Builder
	text.WriteString("The exit code is the first of these that applies.\n")
	for _, e := range exitCodes {
		text.WriteString("\n")
		label := fmt.Sprint(e.code)
		for _, sentence := range e.means {
			for _, line := range wrap(sentence, 80) {
				fmt.Fprintf(&text, "%5s  %s\n", label, line)
				label = ""
			}
		}
	}
	text.WriteString("\nAn internal error is reported in one line; with " + traceVariable + "=1 in the environment its stack\nfollows.\n")
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: strings.TrimSuffix(text.String(), "\n")}
}

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
		if err != nil {
			return err
		}
		show(c, args)
		return nil
	}
}
