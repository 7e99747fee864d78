package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"grposim/sweeps"
	"grposim/sweeps/config"
)

func writePage(w io.Writer, seeds int, rows []*row, t *table) {
	fmt.Fprintf(w, introduction, seeds, seeds)
	writeRows(w, rows)
	fmt.Fprint(w, exemptions)
	for _, claim := range config.Claims {
		if why := exempt[claim.Name]; why != "" {
			fmt.Fprintf(w, "| %s | %s |\n", claim.Name, why)
		}
	}
	fmt.Fprintf(w, faultsIntroduction, caughtAt, leastCaught)
	t.write(w)
}

const introduction = `# Calibration of the verdicts

A verdict is worth something if it can be wrong in known ways only. This page is made by

` + "```sh\nmake calibrate\n```" + `

which runs one small cell of every claim that chance enters (` + "`cmd/calibrate/configs`" + `) under the
seeds 1 to %d, through the same flow as any sweep, and exits 1 when a requirement below is not met.

## What chance does to verdicts

Each verdict here has a 95 %% interval of its own. Columns:

* **margin**: of the check; **half-width**: the median one, in margins. Cells are sized for 0.3 to 0.5.
* **off**: the long-run value minus the prediction, in margins. The long-run value is the mean over
  all %d seeds, whatever the theory says; of a located value, predicted at the stiffness that each
  seed measures, that of located/predicted. (A band has many: one a recorded step.)
* **covers**: the share of seeds whose interval holds the long-run value. *Required: 90 to 98.5 %%; at
  least 90 %% of a simultaneous band, of a share's interval and of a bracket around a located value,
  which are wider by construction. (An end of a bracket is beyond three standard errors.)*
* **right theory**: verdicts *agree / inconclusive / disagree*. *Required: at most one disagrees.*
* **wrong theory**: the same for the check's control, with by how much it changes what is predicted.
  *Required: at least 10 %%, and none agrees.*
* **starved**: *agree / inconclusive / disagree* with a hundredth of the replicas (at least eight, four
  of a search) or, for the stiffness, a thousandth of the draws (at least eight batches), and the median
  half-width then, in margins (∞: nothing can be measured). *Required: wider than the margin, at least 95 %%
  inconclusive, none agrees.*

`

const exemptions = `
Adam's rate is known to leading order only, without the signal's share of its second moment. That share
grows with G and slows the motion, which is why relaxation-scaling is off. Of stability-threshold it is
the noise itself that moves what is located, up by some 4/G: the theory gives the threshold without noise.

Claims without chance need no calibration:

| claim | why |
|---|---|
`

const faultsIntroduction = `
## What mistakes in the theory do to claims

By how many margins a mistake moves what a claim compares: the prediction, or for trajectories,
recurrence and failure modes its distance from what a noiseless run of a right theory would give. The
theory computes it, without simulation, for the checks of ` + "`configs/paper`" + ` and those above (of each
check the first and the last of its cells; refutations and one-sided comparisons left out), and the
largest stands here. From 3 margins on the whole interval lies outside, whatever chance does. *Required,
in bold: every claim is moved by %g margins or more by at least %d mistakes, and every mistake moves some claim
that far.* A dash is less than a tenth of a margin, ∞ a threshold that comes or goes, or a whole number
that changes.

failure-mode has its two mistakes only by expecting other modes: a mistake in the dynamics does not
change what a run is expected to be named.

A penalty with the wrong sign is not in the table: it repels, no fixed point is reached from the
reference, and every claim at rest turns *out-of-scope*.

`

func writeRows(w io.Writer, rows []*row) {
	fmt.Fprintln(w, "| claim | quantity | margin | half-width | off | covers | right theory | wrong theory | | starved of |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|")
	for _, r := range rows {
		margin := short(r.margin)
		if r.relative {
			margin = short(100*r.margin) + " %"
		}
		covers := fmt.Sprintf("%.1f %%", 100*float64(r.covered)/float64(r.seeds))
		if r.cover != pointwise {
			covers += " (" + string(r.cover) + ")"
		}
		off := "–"
		if !math.IsNaN(r.offset) {
			off = fmt.Sprintf("%+.2f", r.offset)
		}
		wrong := r.fault
		if x := r.shift.Relative; !math.IsNaN(x) {
			wrong += fmt.Sprintf(": %+.0f %%", 100*x)
		} else {
			wrong += fmt.Sprintf(": %.1f margins", math.Abs(r.shift.Margins))
		}
		var starved []string
		for _, s := range r.starved {
			starved = append(starved, fmt.Sprintf("%s: %s at %s", s.of, s.said, width(s.half)))
		}
		fmt.Fprintf(w, "| %s | %s | %s | %.2f | %s | %s | %s | %s | %s | %s |\n",
			r.claim, r.quantity, margin, r.half, off, covers, r.right, wrong, r.wrong, strings.Join(starved, "; "))
	}
}

// width is a half-width in margins.
func width(half float64) string {
	if math.IsInf(half, 1) {
		return "∞"
	}
	return fmt.Sprintf("%.1f", half)
}

// String gives the verdicts that decide something and those that do not.
func (n rulings) String() string {
	text := fmt.Sprintf("%d / %d / %d", n[sweeps.Agree], n[sweeps.Inconclusive], n[sweeps.Disagree])
	if out := n[sweeps.OutOfScope]; out > 0 {
		text += fmt.Sprintf(" / %d out of scope", out)
	}
	return text
}

func (t *table) write(w io.Writer) {
	fmt.Fprintf(w, "| mistake | %s |\n", strings.Join(t.claims, " | "))
	fmt.Fprintf(w, "|---|%s\n", strings.Repeat("---|", len(t.claims)))
	for f, name := range t.faults {
		var entries []string
		for c := range t.claims {
			entries = append(entries, entry(t.moved[f][c]))
		}
		fmt.Fprintf(w, "| %s | %s |\n", name, strings.Join(entries, " | "))
	}
}

// entry is a number of margins, in bold where the fault is caught.
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

// short gives two significant digits, whole numbers whole.
func short(x float64) string {
	if x >= 10 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}
