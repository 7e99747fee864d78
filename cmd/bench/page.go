package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// What stands between the markers of a page belongs to this command.
const (
	beginMarker = "<!-- bench -->\n"
	endMarker   = "<!-- /bench -->"
)

// results is what the command has measured.
type results struct {
	machine     string
	missing     []string
	comparisons []comparison
	matrix      []matrixRow
}

func (r *results) write(w io.Writer) {
	fmt.Fprintf(w, "Measured on %s.\n", r.machine)
	for _, m := range r.missing {
		fmt.Fprintf(w, "\n**%s.**\n", m)
	}
	fmt.Fprint(w, "\n| grposim | over | ratio | target | met | ns | ns of the other | all rounds |\n|---|---|---:|---|---|---:|---:|---|\n")
	for i := range r.comparisons {
		c := &r.comparisons[i]
		fmt.Fprintf(w, "| %s | %s | **%.2f** | %s | %s | %s | %s | %.2f to %.2f |\n",
			c.what, c.over, c.ratio(), c.target(), c.target().met(c.ratio()),
			nanoseconds(median(c.times)), nanoseconds(median(c.others)), slices.Min(c.ratios), slices.Max(c.ratios))
	}
	fmt.Fprint(w, "\nNanoseconds a replica-step of grposim on one worker, by G / K, one short run each:\n\n")
	writeMatrix(w, r.matrix)
}

// nanoseconds gives three digits, whole numbers whole.
func nanoseconds(x float64) string {
	if x >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}

// replaceSection returns the page with another text between its markers.
func replaceSection(page, section []byte) ([]byte, error) {
	begin := bytes.Index(page, []byte(beginMarker))
	end := bytes.Index(page, []byte(endMarker))
	if begin < 0 || end < begin {
		return nil, fmt.Errorf("no %q before %q", beginMarker, endMarker)
	}
	return slices.Concat(page[:begin+len(beginMarker)], section, page[end:]), nil
}
