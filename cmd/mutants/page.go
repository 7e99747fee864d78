package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// describe returns docs/mutants.md.
func describe(reports []report, elapsed time.Duration) []byte {
	var b bytes.Buffer
	killed, hanging, rulings := 0, 0, 0
	for _, r := range reports {
		switch r.fate {
		case survived:
			continue
		case byHang:
			hanging++
		case byRuling:
			rulings++
		}
		killed++
	}
	fmt.Fprintf(&b, `# Mutants: would the tests notice?

A test that has never failed has shown nothing. So small faults, such as a
careless programmer makes, are planted in the algorithm, the simulator and the
theory, one at a time, and each must turn something red: a fast test of its own
package or of one that imports it, or, where all of these pass, a verdict of the
paper's experiments. This page is written by

`+"```sh\nmake mutants\n```"+`

and the faults are listed, with the text before and after, in cmd/mutants.

**%d of %d are killed**, %d by a test, %d of them only because it hangs, %d by a
verdict; %d more are argued below to be no faults. The whole took %.0f minutes.

| fault | file | killed by | seconds |
|---|---|---|---:|
`, killed, len(reports), killed-rulings, hanging, rulings, argued(reports), max(1, elapsed.Minutes()))
	for _, r := range reports {
		killer := r.killer
		switch r.fate {
		case survived:
			killer = "**survived**"
		case byHang:
			killer += " (hangs)"
		case byRuling:
			killer = "verdict: " + killer
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %.1f |\n", cell(r.fault), r.file, cell(killer), r.elapsed.Seconds())
	}
	heading := "\n## Survivors\n\n"
	for _, r := range reports {
		if r.fate != survived {
			continue
		}
		argument := r.equivalent
		if argument == "" {
			argument = "not argued."
		}
		fmt.Fprintf(&b, "%s* %s (%s): %s\n", heading, r.fault, r.file, argument)
		heading = ""
	}
	return b.Bytes()
}

// cell escapes what would end a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
