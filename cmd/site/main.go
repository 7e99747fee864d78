// Command site writes the documents of this repository as static pages, which need no
// server and no network. It begins at README.md and docs/README.md and follows every
// link. If a link leads nowhere it writes nothing, reports all such links, and exits with
// code 1.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Exit codes.
const (
	exitDead  = 1 // a link leads nowhere, or docs/README.md lacks a document
	exitUsage = 2
	exitError = 4 // a file cannot be read or written
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

// run writes the site and returns the exit code.
func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("site", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("o", "results/local/site", "write the pages to `FOLDER`")
	explorer := flags.String("explorer", "results/local/explorer.html", "`FILE` of the explorer, which make explorer writes")
	report := flags.String("report", "results/local/paper/report.html", "`FILE` of the example report, which make reproduce writes")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		return exitUsage
	}
	say := func(format string, args ...any) { fmt.Fprintf(stderr, "site: "+format+"\n", args...) }
	s, err := build(*explorer, *report)
	if err != nil {
		say("%v", err)
		return exitError
	}
	for _, problem := range s.problems {
		say("%s", problem)
	}
	if len(s.problems) > 0 {
		return exitDead
	}
	for name, data := range s.files {
		file := filepath.Join(*out, name)
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err == nil {
			err = os.WriteFile(file, data, 0o644)
		}
		if err != nil {
			say("%v", err)
			return exitError
		}
	}
	say("%d files; begin at %s", len(s.files), filepath.Join(*out, "index.html"))
	return 0
}
