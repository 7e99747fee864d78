package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/tools/internal/tool"
)

// summary holds the results of all configurations.
type summary []result

// found returns the error that there is a confirmed disagree or a failure, nil if there is none.
func (s summary) found() error {
	for _, r := range s {
		for _, x := range r.findings {
			if x.kind != unconfirmed {
				return tool.Unmet{} // said already
			}
		}
	}
	return nil
}

// String names the finding in a line.
func (x finding) String() string { return x.kind + ": " + x.says }

// say says a line for each finding.
func (r *result) say(say func(format string, args ...any)) {
	for _, x := range r.findings {
		say("%d/%d: %s", r.seed, r.index, x)
	}
}

// String gives the counts: verdicts by claim and ruling, and configurations by finding.
func (s summary) String() string {
	columns := []string{"agree", "disagree", "inconclusive", "out-of-scope", "slow"}
	counts := map[[2]string]int{} // by claim and column
	kinds := map[string]int{}     // of findings: configurations
	seconds := map[class]float64{}
	for _, r := range s {
		name, _ := r.answer.File["name"].(string)
		seconds[class(name)] += r.seconds
		for _, v := range r.answer.Verdicts {
			column := string(v.Verdict)
			if r.answer.Slow && v.Verdict != judge.OutOfScope {
				column = "slow"
			}
			counts[[2]string{v.Claim, column}]++
			counts[[2]string{v.Claim}]++
		}
		of := map[string]bool{}
		for _, x := range r.findings {
			of[x.kind] = true
		}
		for kind := range of {
			kinds[kind]++
		}
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "claim\t%s\n", strings.Join(columns, "\t"))
	for _, c := range config.Claims {
		if counts[[2]string{c.Name}] == 0 {
			continue
		}
		fmt.Fprint(w, c.Name)
		for _, column := range columns {
			fmt.Fprintf(w, "\t%d", counts[[2]string{c.Name, column}])
		}
		fmt.Fprintln(w)
	}
	w.Flush() // into memory
	fmt.Fprintf(&b, "\n%d configurations in", len(s))
	for _, c := range slices.Compact(slices.Clone(classes)) {
		fmt.Fprintf(&b, " %.0f s %s", seconds[c], c)
	}
	fmt.Fprintln(&b)
	if len(kinds) == 0 {
		fmt.Fprintln(&b, "nothing found")
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Fprintf(&b, "%d with %s\n", kinds[kind], kind)
	}
	return b.String()
}

// write writes a table of the findings of a seed, and their files, into an existing folder.
func (s summary) write(dir string, seed uint64) error {
	var table strings.Builder
	table.WriteString("| file | found |\n|---|---|\n")
	for _, r := range s {
		for i, x := range r.findings {
			name := fmt.Sprintf("%d-%d-%d.yaml", r.seed, r.index, i)
			fmt.Fprintf(&table, "| %s | %s |\n", name, strings.ReplaceAll(x.String(), "|", "\\|"))
			comment := strings.TrimRight(x.String()+"\n"+x.detail, "\n")
			comment = "# " + strings.ReplaceAll(comment, "\n", "\n# ") + "\n"
			text := append([]byte(comment), x.file.text()...)
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
				return err
			}
		}
	}
	table.WriteString("\n```text\n" + s.String() + "```\n")
	name := filepath.Join(dir, fmt.Sprintf("found-%d.md", seed))
	return os.WriteFile(name, []byte(table.String()), 0o644)
}
