package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"grposim/tools/internal/tool"
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

// machine describes the processor, the compilers and the libraries, and gives the date.
func machine(ctx context.Context, t *tools) string {
	parts := []string{
		fmt.Sprintf("%s, %d cores", processor(), runtime.NumCPU()),
		fmt.Sprintf("%s (%s/%s)", runtime.Version(), runtime.GOOS, runtime.GOARCH),
	}
	if text, err := exec.CommandContext(ctx, t.compiler, "--version").Output(); err == nil {
		line, _, _ := strings.Cut(string(text), "\n")
		parts = append(parts, line)
	}
	for _, module := range []string{"numpy", "numba"} {
		if v := t.version(ctx, module); v != "" {
			parts = append(parts, module+" "+v)
		}
	}
	return strings.Join(append(parts, time.Now().Format(time.DateOnly)), "; ")
}

// processor returns the model name that Linux gives, or else the architecture.
func processor() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if name, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
