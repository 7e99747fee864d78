// Command site writes the documents of this repository as static pages, which need no server and no
// network. It begins at README.md and docs/README.md and follows every link. If a link leads
// nowhere it writes nothing, reports all such links, and exits with code 1.
package main

import (
	"context"
	"os"
	"path/filepath"

	"grposim/tools/internal/tool"
)

func main() { tool.Main("site", run) }

// run writes the site.
func run(_ context.Context, c *tool.Command) error {
	out := c.String("o", "results/local/site", "write the pages to `FOLDER`")
	const local = "results/local/"
	explorer := c.String("explorer", local+"explorer.html", "`FILE` that make explorer writes")
	report := c.String("report", local+"paper/report.html", "`FILE` that make reproduce writes")
	help := c.String("help-pages", local+"help", "`FOLDER` with what grposim help prints, in Markdown")
	if err := c.Parse(0); err != nil {
		return err
	}
	printed, _ := filepath.Glob(filepath.Join(*help, "*.md")) // the pattern is a good one
	s, err := build(*explorer, *report, printed)
	if err != nil {
		return err
	}
	if len(s.problems) > 0 { // a link leads nowhere, or docs/README.md lacks a document
		return tool.Unmet(s.problems)
	}
	for name, data := range s.files {
		file := filepath.Join(*out, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	c.Say("%d files; begin at %s", len(s.files), filepath.Join(*out, "index.html"))
	return nil
}
