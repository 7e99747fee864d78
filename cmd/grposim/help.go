package main

import (
	"embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"grposim/training/findings"
	"grposim/training/logs"
)

// helpFiles holds a file for every command: the line of its use, a sentence, the text, and
// examples.
//
//go:embed help/*.md
var helpFiles embed.FS

// helpTexts are the files with what the program knows in its places.
var helpTexts = template.Must(template.New("help").Funcs(template.FuncMap{
	"builtIn":      func() string { return strings.Join(builtInNames(), ", ") },
	"confirmation": func() string { return logs.CountWords(confirmation, "row") },
	"findings":     findingsHelp,
	"memoryFactor": func() int { return memoryFactor },
	"patience":     func() string { return logs.CountWords(patience, "row") },
	"shortestTime": shortestTime.String,
	"suites":       describeSuites,
	"timeFactor":   func() int { return timeFactor },
}).ParseFS(helpFiles, "help/*.md"))

// newCommand returns the command with the help of help/NAME.md that does what run does. args nil
// takes any arguments; run nil is a help topic, which does nothing.
func newCommand(name string, args cobra.PositionalArgs, run func(c *cobra.Command, args []string) error) *cobra.Command {
	var text strings.Builder
	if err := helpTexts.ExecuteTemplate(&text, name+".md", nil); err != nil {
		panic(err) // the texts are part of the program
	}
	body, examples, _ := strings.Cut(strings.TrimSuffix(text.String(), "\n"), "\n\n## Examples\n\n")
	parts := strings.SplitN(body, "\n\n", 3)
	use := strings.TrimPrefix(strings.TrimPrefix(parts[0], "# "), "grposim ")
	c := &cobra.Command{Use: use, Short: parts[1], Long: parts[2], Example: examples, RunE: run}
	if args != nil {
		c.Args = arguments(args)
	}
	return c
}

// findingsHelp lists the kinds of findings.
func findingsHelp() string {
	var lines []string
	for _, row := range findings.Table() {
		lines = append(lines, fmt.Sprintf("  %-22s %s", row.Kind, row.Is))
	}
	return strings.Join(lines, "\n")
}

// describeSuites lists the experiments of each suite.
func describeSuites() string {
	var lines []string
	for _, s := range suites {
		lines = append(lines, fmt.Sprintf("Suite %s, %s: %s", s.name, s.about, strings.Join(experimentNames(s.name), ", ")))
	}
	return strings.Join(lines, "\n")
}
