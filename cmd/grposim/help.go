package main

import (
	"cmp"
	"embed"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"grposim/rom/scope"
	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/training/findings"
	"grposim/training/logs"
)

// helpFiles holds a file for every command: the line of its use, a sentence, the text, and
// examples.
//
//go:embed help/*.md
var helpFiles embed.FS

// helpTexts are the files with what the program knows in its places.
var helpTexts = template.Must(template.Must(template.New("help").Funcs(template.FuncMap{
	"builtIn":       func() string { return strings.Join(builtInNames(), ", ") },
	"cell":          func(text string) string { return strings.ReplaceAll(text, "|", `\|`) },
	"confirmation":  func() string { return logs.CountWords(confirmation, "row") },
	"defaultPoints": func() int { return defaultPoints },
	"experiments":   func(suite string) string { return strings.Join(experimentNames(suite), ", ") },
	"findings":      findings.Table,
	"fold": func(indent int, text string) string {
		lines := fill(strings.SplitAfter(text, " "), readable-indent)
		return strings.Join(lines, "\n"+strings.Repeat(" ", indent))
	},
	"memoryFactor": func() int { return memoryFactor },
	"mostRows":     func() int { return mostRows },
	"patience":     func() string { return logs.CountWords(findings.Patience, "row") },
	"presets":      func() string { return config.JoinWords(config.Presets(), "or") },
	"shortestTime": shortestTime.String,
	"suiteNames":   func() string { return strings.Join(suiteNames(), " or ") },
	"suites":       func() any { return suites },
	"timeFactor":   func() int { return timeFactor },
}).ParseFS(helpFiles, "help/*.md")).Parse(config.ReferenceText))

// newCommand returns the command with the help of help/NAME.md that does what run does. args nil
// takes any arguments; run nil is a help topic, which does nothing.
func newCommand(name string, args cobra.PositionalArgs, run func(*cobra.Command, []string) error) *cobra.Command {
	body, examples, _ := strings.Cut(helpText(name), "\n\n## Examples\n\n")
	parts := strings.SplitN(body, "\n\n", 3)
	use := strings.TrimPrefix(strings.TrimPrefix(parts[0], "# "), "grposim ")
	c := &cobra.Command{Use: use, Short: parts[1], Long: parts[2], Example: examples, RunE: run}
	if args != nil {
		c.Args = arguments(args)
	}
	return c
}

func helpText(name string) string {
	var text strings.Builder
	if err := helpTexts.ExecuteTemplate(&text, name+".md", nil); err != nil {
		panic(err) // the texts are part of the program
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// describeFlags gives the flags of commands their texts, which help/flags.md has.
func describeFlags(commands []*cobra.Command) {
	texts := make(map[string]string)
	for line := range strings.Lines(helpText("flags")) {
		flag, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		texts[flag] = text
	}
	for _, c := range commands {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			f.Usage = cmp.Or(texts[c.Name()+" --"+f.Name], f.Usage, texts["--"+f.Name])
		})
	}
}

// references are help topics that the program writes from its tables.
var references = []struct {
	name, short string
	write       func(w io.Writer) error
}{
	{"keys", "Every key of a configuration", reference("keys")},
	{"claims", "Every claim that a check can make", reference("claims")},
	{"columns", "Every column of the tables in a results folder", sweeps.WriteColumns},
	{"reasons", "Why the theory has no answer, and what to do", writeReasons},
	{"log-keys", "Every file and key of training logs that is read", logs.WriteKeys},
}

// reference returns what writes a template of the reference of configurations.
func reference(part string) func(io.Writer) error {
	return func(w io.Writer) error { return helpTexts.ExecuteTemplate(w, part, config.Reference()) }
}

func newReferences() (topics []*cobra.Command) {
	for _, r := range references {
		topic := &cobra.Command{Use: r.name, Short: r.short}
		topic.SetHelpFunc(func(c *cobra.Command, _ []string) {
			if err := r.write(c.OutOrStdout()); err != nil {
				c.PrintErrln(err)
			}
		})
		topics = append(topics, topic)
	}
	return topics
}

// explains lets the help command take a name behind a topic, as in `help claims fixed-point`.
func explains(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	whole := help.Run
	help.Run, help.RunE = nil, func(c *cobra.Command, args []string) error {
		found, rest, err := root.Find(args)
		for _, r := range references {
			if err == nil && len(rest) == 1 && found.Name() == r.name {
				return explain(c.OutOrStdout(), r.name, rest[0], r.write)
			}
		}
		if found == root && len(rest) > 0 {
			return knownCommand(root, rest)
		}
		whole(c, args)
		return err
	}
}

// explain prints the rows of a topic's tables that begin with a name, a line for each column.
func explain(w io.Writer, topic, name string, write func(io.Writer) error) error {
	var text strings.Builder
	err := write(&text)
	p, columns, before, known := &page{w: w, err: err}, []string(nil), []string(nil), []string(nil)
	for line := range strings.Lines(text.String()) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		first := strings.Trim(cells[0], "`")
		if how, is := strings.CutPrefix(line, "- **`"+name+"`**: "); is {
			p.paragraph("    ", "  how: "+strings.TrimSpace(how))
		}
		switch {
		case strings.HasPrefix(line, "|---"):
			columns = before
		case strings.HasPrefix(line, "| `") && len(cells) == len(columns):
			known = append(known, first)
			for i := 0; first == name && i < len(cells); i++ {
				says := strings.TrimPrefix("  "+columns[i]+": "+cells[i], "  "+columns[0]+": ")
				p.paragraph("    ", strings.NewReplacer("`", "", `\|`, "|").Replace(says))
			}
		}
		before = cells
	}
	if slices.Contains(known, name) {
		return p.err
	}
	hint := cmp.Or(config.DidYouMean(name, known), fmt.Sprintf(": `grposim help %s` lists all", topic))
	return cmp.Or(err, misuse("help %s: got %q%s", topic, name, hint))
}

func writeReasons(w io.Writer) error {
	fmt.Fprint(w, "# Reasons\n\nWhere the theory has no answer it gives one of these reasons.\n")
	for row := range scope.Rows {
		words := verbs.ReplaceAllString(row.Words(), "…")
		fmt.Fprintf(w, "\n## %s\n\n> %s\n\nWhat to do: %s.\n", row.Name(), words, row.Try())
	}
	return nil
}

// verbs are the places in the words of a reason that a cell fills in.
var verbs = regexp.MustCompile(`%[0-9.]*[a-z]`)
