package main

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"

	papers "grposim/configs"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/tools/internal/tool"
)

// Requirements of the table fault × claim.
const (
	caughtAt    = 3.0 // margins by which a fault moves a claim that catches it
	leastCaught = 2   // faults that each claim catches
)

// table gives the largest number of margins by which each fault moves each claim.
type table struct {
	claims []string
	faults []string
	moved  [][]float64 // [fault][claim]; +Inf where a threshold comes or goes

	compared []bool // [claim]: some check compares two-sided, which faults can move
}

// tabulate computes by how much each fault moves the checks of the paper's experiments
// and of the cells.
func tabulate(ctx context.Context, cells []*cell, faults []fault, workers int) (*table, error) {
	t := &table{}
	for _, row := range config.Claims {
		t.claims, t.compared = append(t.claims, row.Name), append(t.compared, false)
	}
	mistakes := make([]mistake, len(faults))
	for i, f := range faults {
		t.faults = append(t.faults, f.name)
		t.moved = append(t.moved, make([]float64, len(t.claims)))
		mistakes[i] = f.mistake
	}
	paper, err := loadFiles(papers.Files, "configs", "paper/*.yaml")
	if err != nil {
		return nil, err
	}
	cells = slices.Concat(cells, paper)
	ofCell := func(_ context.Context, i int) ([][]shift, error) { // [fault]
		return shiftsOf(plan.New(cells[i].spec), mistakes), nil
	}
	shifts, err := tool.Each(ctx, len(cells), workers, ofCell)
	for _, file := range shifts {
		t.add(file)
	}
	return t, err
}

// add enters the shifts of one file's checks by each fault.
func (t *table) add(file [][]shift) {
	for fault, shifts := range file {
		for _, s := range shifts {
			claim := slices.Index(t.claims, s.check.Claim.Name)
			// 0 is predicted whatever the theory
			t.compared[claim] = t.compared[claim] || s.check.Claim.Name != "frontier-constant"
			// false for NaN: no prediction
			if moved := math.Abs(s.margins); moved > t.moved[fault][claim] {
				t.moved[fault][claim] = moved
			}
		}
	}
}

// unmet returns a message for each fault that no claim catches, and for each claim that
// catches too few faults although it compares two-sided.
func (t *table) unmet() (messages tool.Unmet) {
	require := requirements(&messages, "")
	caught := make([]int, len(t.claims))
	for f, name := range t.faults {
		for c := range t.claims {
			if t.moved[f][c] >= caughtAt {
				caught[c]++
			}
		}
		require(slices.Max(t.moved[f]) >= caughtAt,
			"no claim is moved by %g margins or more by the fault: %s", caughtAt, name)
	}
	for c, name := range t.claims {
		require(!t.compared[c] || caught[c] >= leastCaught,
			"%s is moved by %g margins or more by %d faults, want at least %d",
			name, caughtAt, caught[c], leastCaught)
	}
	return messages
}

//go:embed page.md.tmpl
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// String gives the table of the hard cells.
func (rows hardRows) String() string {
	w := &strings.Builder{}
	w.WriteString("| cell | quantity | half-width | long run | 95 % | below / above | missed | " +
		"right theory |\n|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		half, value, sides := "–", "–", "–"
		if !math.IsNaN(r.value) {
			half, value = width(100*r.half)+" %", strconv.FormatFloat(r.value, 'g', 4, 64)
			sides = fmt.Sprintf("%d / %d", r.below, r.above)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %.1f %% | %s | %d of %d | %s |\n",
			strings.TrimSpace(r.file+" "+r.label), r.quantity, half, value,
			100*float64(r.covered)/float64(r.seeds), sides, r.missed, r.seeds, r.right)
	}
	return w.String()
}

// String gives the table of the calibrated quantities.
func (rows rows) String() string {
	w := &strings.Builder{}
	w.WriteString("| claim | quantity | margin | half-width | bias | coverage | right theory | " +
		"wrong theory | | with few |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		margin := short(r.margin)
		if r.relative {
			margin = short(100*r.margin) + " %"
		}
		coverage := fmt.Sprintf("%.1f %%", 100*float64(r.covered)/float64(r.seeds))
		if r.kind != pointwise {
			coverage += " (" + string(r.kind) + ")"
		}
		bias := "–"
		if !math.IsNaN(r.bias) {
			bias = fmt.Sprintf("%+.2f", r.bias)
		}
		moved := fmt.Sprintf("%+.0f %%", 100*r.shift.relative)
		if math.IsNaN(r.shift.relative) {
			moved = fmt.Sprintf("%.1f margins", math.Abs(r.shift.margins))
		}
		fmt.Fprintf(w, "| %s | %s | %s | %.2f | %s | %s | %s | %s: %s | %s | %s: %s at %s |\n",
			r.claim, r.quantity, margin, r.half, bias, coverage, r.right, r.fault, moved,
			r.wrong, r.reduced.budget, r.reduced.rulings, width(r.reduced.half))
	}
	return w.String()
}

// width formats a half-width in margins, which may be infinite.
func width(half float64) string {
	if math.IsInf(half, 1) {
		return "∞"
	}
	return fmt.Sprintf("%.1f", half)
}

// String gives the numbers of trials that agree, are inconclusive and disagree, then
// those out of scope if there are any.
func (n rulings) String() string {
	text := fmt.Sprintf("%d / %d / %d", n[judge.Agree], n[judge.Inconclusive], n[judge.Disagree])
	if out := n[judge.OutOfScope]; out > 0 {
		text += fmt.Sprintf(" / %d out of scope", out)
	}
	return text
}

// String gives the table of mistakes.
func (t *table) String() string {
	w := &strings.Builder{}
	fmt.Fprintf(w, "| mistake | %s |\n", strings.Join(t.claims, " | "))
	fmt.Fprintf(w, "|---|%s\n", strings.Repeat("---|", len(t.claims)))
	for f, name := range t.faults {
		fmt.Fprintf(w, "| %s | %s |\n", name, strings.Join(config.Each(t.moved[f], entry), " | "))
	}
	return w.String()
}

// entry formats a number of margins, in bold if the fault is caught.
func entry(margins float64) string {
	switch {
	case math.IsInf(margins, 1):
		return "**∞**"
	case margins < 0.1:
		return "–"
	case margins < caughtAt:
		return short(margins)
	case margins > 999:
		return "**>999**"
	}
	return "**" + short(margins) + "**"
}

// short formats x with two significant digits, and without decimals from 10 on.
func short(x float64) string {
	if x >= 10 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}
