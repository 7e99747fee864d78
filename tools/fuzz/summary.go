package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
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

// String gives the counts: verdicts by claim and ruling, findings, and the share of rest
// draws in scope.
func (s summary) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "claim\tagree\tdisagree\tinconclusive\tout of scope\tslow\n")
	columns := []judge.Ruling{judge.Agree, judge.Disagree, judge.Inconclusive, judge.OutOfScope}
	counts := map[string][5]int{} // by claim: as columns, then slow
	kinds := map[string]int{}     // of findings: configurations
	seconds := map[class]float64{}
	for _, r := range s {
		name, _ := r.answer.File["name"].(string)
		seconds[class(name)] += r.seconds
		for _, v := range r.answer.Verdicts {
			n, column := counts[v.Claim], slices.Index(columns, v.Verdict)
			if r.answer.Slow && v.Verdict != judge.OutOfScope {
				column = len(columns)
			}
			n[column]++
			counts[v.Claim] = n
		}
		of := map[string]bool{}
		for _, x := range r.findings {
			of[x.kind] = true
		}
		for kind := range of {
			kinds[kind]++
		}
	}
	for _, c := range config.Claims {
		if n, judged := counts[c.Name]; judged {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\n", c.Name, n[0], n[1], n[2], n[3], n[4])
		}
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
	s.writeScope(&b)
	return b.String()
}

// writeScope writes the share of the rest draws that are in scope, and why the others are out. A
// draw is in scope if the mean and the variance of its reward are.
func (s summary) writeScope(b *strings.Builder) {
	reasons, all := map[string]int{}, 0
	for _, r := range s {
		if r.answer.File["name"] == string(rest) && len(r.answer.Verdicts) > 0 {
			all++
			reasons[r.answer.scope()]++
		}
	}
	if all == 0 {
		return
	}
	share := func(n int) float64 { return 100 * float64(n) / float64(all) }
	fmt.Fprintf(b, "\n%d rest draws: %.0f %% in scope\n", all, share(reasons[""]))
	delete(reasons, "")
	byCount := slices.SortedFunc(maps.Keys(reasons), func(a, b string) int {
		return cmp.Or(cmp.Compare(reasons[b], reasons[a]), cmp.Compare(a, b))
	})
	for _, because := range byCount {
		fmt.Fprintf(b, "  %4.1f %%  %s\n", share(reasons[because]), because)
	}
}

// numbers are left out of reasons, which stand for all of their name.
var numbers = regexp.MustCompile(`[-+]?[0-9]+([.][0-9]+)?(e[-+]?[0-9]+)?`)

// scope returns why a rest draw is out of scope, with numbers left out; "" if it is in.
func (a *answer) scope() string {
	for _, v := range a.Verdicts {
		if v.Verdict == judge.OutOfScope && v.Claim != config.DegenerateGroups.Name {
			return numbers.ReplaceAllString(v.Because, "#")
		}
	}
	if a.Slow {
		return "too slow for the budget of the fuzzer"
	}
	return ""
}

// write writes a table of the findings of a seed, and their files, into an existing
// folder.
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
