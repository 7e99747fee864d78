package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/tools/internal/tool"
)

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

type result struct {
	seed     uint64 // of the draw
	index    int
	answer   answer
	findings []finding
	seconds  float64 // wall time
	done     bool    // examined
}

// finding is a fault: a verdict that disagrees, or a failure of the program.
type finding struct {
	kind   string // unconfirmed, a disagree that was repeated, or the failure
	says   string // in a line
	detail string
	file   file
}

// kinds of findings that are no failures
const (
	confirmed   = "confirmed disagree"
	unconfirmed = "unconfirmed disagree" // it was repeated, and did not disagree
)

// moreTimes is the factor of data in the repetition of a disagree.
const moreTimes = 4

// examine judges a file, and repeats what disagrees.
func (j judging) examine(ctx context.Context, f file) (r result, err error) {
	if r.answer, err = j.ask(ctx, f, 1); err != nil {
		return r, err
	}
	a := &r.answer
	r.findings = a.failed()
	if !slices.ContainsFunc(a.Verdicts, a.refutes) {
		return r, nil
	}
	again, err := j.ask(ctx, reseeded(f), moreTimes)
	if err != nil {
		return r, err
	}
	r.findings = append(r.findings, again.failed()...)
	for i, v := range a.Verdicts {
		if !a.refutes(v) {
			continue
		}
		kind := unconfirmed
		// the same checks in the same order
		if i < len(again.Verdicts) && again.refutes(again.Verdicts[i]) {
			kind = confirmed
		}
		says := fmt.Sprintf("%s, %s: measured %.6g [%.6g, %.6g], predicted %.6g ± %.2g: %s",
			v.Claim, v.Quantity, v.Measured, v.Lo, v.Hi, v.Predicted, v.Margin, v.Because)
		r.findings = append(r.findings, finding{kind: kind, says: says, file: a.File})
	}
	return r, nil
}

// failed returns the failure of the answer as a finding, none if it has none.
func (a *answer) failed() []finding {
	if a.Failure == "" {
		return nil
	}
	first, _, _ := strings.Cut(a.Detail, "\n")
	return []finding{{string(a.Failure), first, a.Detail, a.File}}
}

// refutes reports whether a verdict of the answer disagrees and counts: not that of a
// cell that was too slow for its budget.
func (a *answer) refutes(v judge.Verdict) bool { return v.Verdict == judge.Disagree && !a.Slow }

// reseeded returns the file with another seed, a function of its own.
func reseeded(f file) file {
	f = f.clone()
	hash := fnv.New64a()
	fmt.Fprint(hash, f["seed"])
	f["seed"] = json.Number(strconv.FormatUint(hash.Sum64()>>1, 10))
	return f
}
