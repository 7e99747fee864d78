package main

import (
	"bytes"
	"fmt"
	"grposim/cmd/internal/tool"
	"slices"
	"strconv"
	"strings"
)

// The command replaces the text between the two markers of a page.
const (
	beginMarker = "<!-- bench -->\n"
	endMarker   = "<!-- /bench -->"
)

// results holds everything that the command measured.
type results struct {
	machine     string   // description of the machine
	missing     []string // why peers were skipped
	comparisons []comparison
	matrix      []matrixRow
}

// String gives the tables.
func (r *results) String() string {
	w := &strings.Builder{}
	fmt.Fprintf(w, "Measured on %s.\n", r.machine)
	for _, m := range r.missing {
		fmt.Fprintf(w, "\n**%s.**\n", m)
	}
	fmt.Fprint(w, "\n| time of grposim for | divided by that of | ratio | target | met | prototype | ns | ns of the other | all rounds |\n|---|---|---:|---|---|---:|---:|---:|---|\n")
	for i := range r.comparisons {
		c := &r.comparisons[i]
		fmt.Fprintf(w, "| %s | %s | **%.2f** | %s | %s | %s | %s | %s | %.2f to %.2f |\n",
			c.what, c.over, c.ratio(), c.target, c.target.met(c.ratio()), c.target.reached(),
			nanoseconds(tool.Median(c.times)), nanoseconds(tool.Median(c.others)), slices.Min(c.ratios), slices.Max(c.ratios))
	}
	fmt.Fprint(w, "\nTime of grposim on one worker by G / K, in nanoseconds per replica-step, from one short run each:\n\n")
	writeMatrix(w, r.matrix)
	return w.String()
}

// nanoseconds formats x with one decimal below 100 and none from there on.
func nanoseconds(x float64) string {
	if x >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}

// replaceSection returns the page with section between its markers.
func replaceSection(page []byte, section string) ([]byte, error) {
	begin := bytes.Index(page, []byte(beginMarker))
	end := bytes.Index(page, []byte(endMarker))
	if begin < 0 || end < begin {
		return nil, fmt.Errorf("the page has no %q before %q", beginMarker, endMarker)
	}
	return slices.Concat(page[:begin+len(beginMarker)], []byte(section), page[end:]), nil
}
