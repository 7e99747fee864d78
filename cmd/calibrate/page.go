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

// writePage writes docs/calibration.md.
func writePage(w io.Writer, seeds int, unmet []string, rows []*row, hard []*hardRow, t *table) {
	fmt.Fprintf(w, introduction, seeds, seeds)
	writeRows(w, rows)
	if len(unmet) > 0 {
		fmt.Fprint(w, "\nRequirements of this page that this run does not meet:\n\n")
	}
	for _, requirement := range unmet {
		fmt.Fprintf(w, "* %s\n", requirement)
	}
	fmt.Fprint(w, exemptions)
	for _, claim := range config.Claims {
		if why := exempt[claim.Name]; why != "" {
			fmt.Fprintf(w, "| %s | %s |\n", claim.Name, why)
		}
	}
	fmt.Fprintf(w, hardIntroduction, 100*usedConfidence, 100*usedConfidence)
	writeHardRows(w, hard)
	fmt.Fprintf(w, faultsIntroduction, caughtAt, leastCaught)
	t.write(w)
}

const introduction = `# Calibration of the verdicts

This page measures how often the verdicts of a sweep are wrong, and which mistakes in the theory
they notice. It is written by

` + "```sh\nmake calibrate\n```" + `

which simulates and judges one small cell (` + "`cmd/calibrate/configs`" + `) of every claim whose verdicts
depend on chance, under the seeds 1 to %d, as any sweep does. It exits with code 1 if a requirement
below is not met.

## How often verdicts are wrong by chance

Every interval here has a confidence of 95 %%. Columns:

* **margin**: the margin of the check.
* **half-width**: the median half-width of the intervals, in margins. The cells are sized for 0.3 to 0.5.
* **bias**: the long-run value minus the prediction, in margins. The long-run value is the mean over
  all %d seeds; it does not depend on the theory. A located value is predicted at the stiffness that
  each seed measures; there the long-run value is that of located/predicted. A band has no single
  bias, because it has an interval for each recorded step.
* **coverage**: the share of seeds whose interval holds the long-run value. *Required: 90 to 98.5 %%, and
  at least 90 %% for a simultaneous band, the interval of a share, the bracket of a located value and an
  interval widened by a bound of the systematic error, which are wider by construction (each end of a
  bracket is more than three standard errors away).*
* **right theory**: number of verdicts *agree / inconclusive / disagree*. *Required: at most one disagrees.*
* **wrong theory**: the fault of the check's control, by how much it changes the prediction, and the
  number of verdicts *agree / inconclusive / disagree* with this fault in the theory. *Required: a
  change of at least 10 %%, and none agrees.*
* **with few**: number of verdicts *agree / inconclusive / disagree* with a hundredth of the replicas (at
  least eight, or four in a search) or, for the stiffness, a thousandth of the draws (at least eight
  batches), then the median half-width in margins (∞: nothing can be measured). *Required: a half-width
  above one margin, at least 95 %% inconclusive, and none agrees.*

`

const exemptions = `
The bias of relaxation-scaling comes from Adam's relaxation rate, which the theory gives to leading
order only: it neglects the signal's contribution to Adam's second moment, which grows with G and slows
the relaxation. The bias of stability-threshold comes from the noise, which raises the located threshold
by a fraction of about 4/G: the theory gives the threshold without noise.

Claims whose verdicts do not depend on chance need no calibration:

| claim | why |
|---|---|
`

const hardIntroduction = `
## Where intervals are least reliable

The cells of ` + "`cmd/calibrate/hard`" + ` have what makes an interval unreliable: groups of two, rare
successes, few replicas, a threshold nearby, noise of higher order, or a failure mode nearby. The same
seeds are judged at 95 %% and at %g %%, the confidence of a single verdict in a file of a hundred at
the default of 99 %%. Columns:

* **half-width**: the median half-width at the confidence really used, in per cent of the long-run value.
* **long run**: the mean over all seeds. For a failure mode, the share of replicas that get the expected
  name: one minus the rate of false alarms.
* **95 %%**: the share of 95 %% intervals that hold it, then how many lie wholly below and above. It is not
  required to be 95 %%: the table shows how far it is from that.
* **missed**: the number of %g %% intervals that do not hold it. *Required: at most one.*
* **right theory**: number of verdicts *agree / inconclusive / disagree* at the confidence really used.
  *Required: none disagrees.*

`

// writeHardRows writes the table of the hard cells.
func writeHardRows(w io.Writer, rows []*hardRow) {
	fmt.Fprintln(w, "| cell | quantity | half-width | long run | 95 % | below / above | missed | right theory |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
	for _, r := range rows {
		half, value, sides := "–", "–", "–"
		if !math.IsNaN(r.value) {
			half, value, sides = width(100*r.half)+" %", strconv.FormatFloat(r.value, 'g', 4, 64), fmt.Sprintf("%d / %d", r.below, r.above)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %.1f %% | %s | %d of %d | %s |\n", strings.TrimSpace(r.file+" "+r.label), r.quantity,
			half, value, 100*float64(r.covered)/float64(r.seeds), sides, r.missed, r.seeds, r.right)
	}
}

const faultsIntroduction = `
## Which mistakes in the theory each claim notices

The table gives the number of margins by which a mistake in the theory moves the compared number: the
prediction or, for trajectories, recurrences and failure modes, the distance between the prediction and
a noiseless run of the right theory. The theory alone computes these numbers, without simulation, for
the checks of ` + "`configs/paper`" + ` and the checks above. Of each check it takes the first and the last set
of cells; it leaves out refutations and one-sided comparisons. An entry is the largest over all checks
of a claim. From 3 margins on the whole interval lies outside the prediction ± margin, so the verdict is
*disagree* in nearly every run. *Required: every claim is moved by %g margins or more (bold) by at least
%d mistakes, and every mistake moves some claim that far.* A dash means less than a tenth of a margin; ∞
means that a threshold appears or vanishes, or that a whole number changes.

"A instead of B" means that the theory uses A where the run uses B. Only two mistakes move failure-mode,
because a mistake in the dynamics does not change the mode that a check expects. No mistake moves a claim
all of whose comparisons are one-sided, whose prediction is 0 whatever the theory (frontier-constant),
or which only experiments on trainers make (cycle-width).

A penalty with the wrong sign is not in the table: it repels the policy from the reference, so no
fixed point is reached from there, and every claim about the fixed point becomes *out-of-scope*.

`

// writeRows writes the table of the calibrated quantities.
func writeRows(w io.Writer, rows []*row) {
	fmt.Fprintln(w, "| claim | quantity | margin | half-width | bias | coverage | right theory | wrong theory | | with few |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|")
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
		wrong := r.fault
		if x := r.shift.Relative; !math.IsNaN(x) {
			wrong += fmt.Sprintf(": %+.0f %%", 100*x)
		} else {
			wrong += fmt.Sprintf(": %.1f margins", math.Abs(r.shift.Margins))
		}
		fmt.Fprintf(w, "| %s | %s | %s | %.2f | %s | %s | %s | %s | %s | %s: %s at %s |\n",
			r.claim, r.quantity, margin, r.half, bias, coverage, r.right, wrong, r.wrong, r.reduced.budget, r.reduced.rulings, width(r.reduced.half))
	}
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
	text := fmt.Sprintf("%d / %d / %d", n[sweeps.Agree], n[sweeps.Inconclusive], n[sweeps.Disagree])
	if out := n[sweeps.OutOfScope]; out > 0 {
		text += fmt.Sprintf(" / %d out of scope", out)
	}
	return text
}

// write writes the table of mistakes.
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
