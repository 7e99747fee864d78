package main

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/template"

	"grposim/sweeps/config"
	"grposim/sweeps/judge"
)

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
