package sweeps

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sim/probe"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/training/diagnose"
)

// WriteColumns describes the columns of the tables in a results folder, in Markdown.
func WriteColumns(w io.Writer) error {
	table := func(heading string, parts ...[]store.Column) {
		fmt.Fprintf(w, "\n## %s\n\n| column | meaning | unit | range |\n|---|---|---|---|\n", heading)
		for _, c := range slices.Concat(parts...) {
			doc := strings.ReplaceAll(c.Doc, "|", `\|`)
			fmt.Fprintf(w, "| `%s` | %s | %s | %s |\n", c.Name, doc, c.Unit, c.Range)
		}
	}
	fmt.Fprint(w, "# Columns of a results folder\n\n")
	fmt.Fprintln(w, "cells.csv and predictions.csv have a row per cell, in the order of the sweep.")
	fmt.Fprintln(w, "Both begin with its identity and its parameters: `grposim help keys` describes these.")
	fmt.Fprintln(w, "A parameter that trainers add is there if a cell does not hold its default.")
	table("cells.csv and predictions.csv: identity", identityDocs)
	table("cells.csv: status", statusDocs)
	table("cells.csv: estimates, each with NAME_lo and NAME_hi", estimateColumns())
	table("cells.csv: numbers of each recorded quantity Q", formColumns())
	table("predictions.csv", predictionDocs())
	table("trajectories.parquet", store.TrajectoryColumns)
	table("Quantities that are recorded", QuantityColumns)
	table("Quantities that run.record may name", ownColumns)
	table("map-X-Y.csv", mapDocs)
	table("map-X.csv, before the parameter and the quantities", keyMapDocs)
	return nil
}

// formColumns describes the numbers of a recorded quantity Q.
func formColumns() (columns []store.Column) {
	for _, form := range numberForms {
		c := store.Column{Name: "Q" + form.suffix, Doc: fmt.Sprintf(form.doc, "Q"), Range: atLeast0}
		switch c.Unit = form.unit; form.unit {
		case "":
			c.Unit, c.Range = "of the quantity", "of the quantity"
		case squared:
			c.Unit = "of the quantity, squared"
		}
		columns = append(columns, c)
	}
	return columns
}

// Units and ranges of columns that only the dictionary has.
const (
	reward2  = "reward²"
	logit2   = "logit²"
	perStep  = "1/optimizer step"
	force2   = "force²"
	perForce = "logit/force"
	atMost1  = "≤ 1"
)

// identityDocs describe the first columns of a table of one row per cell. The
// parameters follow, in the order of config.Keys.
var identityDocs = []store.Column{
	{Name: "cell", Doc: "Id of the cell: the sha256, in hexadecimal digits, of everything that decides its measurement. Rows of two variants can share it."},
	{Name: "label", Doc: "Name of the cell for people: its variant and its values of the swept keys. Empty for the only cell of a file."},
	{Name: "variant", Doc: "Name of the variant; empty in a file without variants."},
}

// statusDocs describe what follows the parameters in cells.csv.
var statusDocs = []store.Column{
	{Name: "status", Doc: "Whether the cell could be measured: `ok`; `diverged`, at least one replica left the range of floating point; `overflow`, no replica did, but an estimate, which is missing; `no-fixed-point`, it starts at a fixed point and the theory finds none, so it was not simulated."},
	{Name: "interval_confidence", Doc: "Confidence of every interval of the row: 1 − (1 − c)/n, c the `confidence` of the configuration and n the number of its verdicts, at least 1.", Unit: pureRatio, Range: "0 to 1, exclusive"},
}

// mapDocs describe the columns of map-X-Y.csv.
var mapDocs = []store.Column{
	{Name: "kind", Doc: "`cell`: the row is a simulated cell; `boundary`: a point of a predicted boundary."},
	{Name: "variant", Doc: "Name of the variant; empty in a file without variants."},
	{Name: "X", Doc: "Value of the parameter on the horizontal axis; the column has its name.", Unit: "of the parameter", Range: "of the parameter"},
	{Name: "Y", Doc: "Value of the parameter on the vertical axis; the column has its name.", Unit: "of the parameter", Range: "of the parameter"},
	{Name: "cell", Doc: "Id of the cell."},
	{Name: "class", Doc: "Shape of the cell's mean reward over steps: `monotone`, `overshooting`, `oscillatory`, `sustained`, `locked`, `diverged`, `at rest` or `unresolved` (its error is unknown or too large to tell); empty where nothing was recorded."},
	{Name: "regime", Doc: "Regime of the linear dynamics: `overdamped`, `oscillatory` or `unstable`."},
	{Name: "spectral_radius", Doc: "Largest modulus of a multiplier of the linear dynamics; from 1 on unstable.", Unit: pureRatio, Range: atLeast0},
	{Name: "rule", Doc: "Learning rate over the one at which ηλK = 1 − μ; from 1 on unstable by the paper's rule.", Unit: pureRatio, Range: atLeast0},
	{Name: "damping_ratio", Doc: "ζ of the reduced-order model.", Unit: pureRatio, Range: anyReal},
	{Name: "onset_learning_rate", Doc: "Smallest learning rate at which a mode oscillates.", Unit: perForce, Range: atLeast0},
	{Name: "value", Doc: "Value of the quantity that `--quantity` names; empty without it, and where the cell has none.", Unit: "of the quantity", Range: "of the quantity"},
	{Name: "curve", Doc: "Name of the boundary that the point lies on."},
	{Name: "line", Doc: "Number of the line of that boundary, from 1; points of a line are in order.", Range: "integer ≥ 1"},
}

// keyMapDocs describe the first columns of map-X.csv.
var keyMapDocs = []store.Column{
	{Name: "variant", Doc: "Name of the variant; empty in a file without variants."},
	{Name: "label", Doc: "Label of the cell, as in cells.csv."},
	{Name: "cell", Doc: "Id of the cell."},
	{Name: "class", Doc: "Shape of the cell's mean reward over steps, as in map-X-Y.csv."},
}

// estimateColumns returns the estimates of cells.csv. Each NAME is followed by NAME_lo and
// NAME_hi, the ends of its interval.
func estimateColumns() []store.Column {
	columns := []store.Column{
		{Name: sim.ExpectedRewardMean, Doc: "Mean of the expected reward J = Σ π_a m_a over replicas and the steps after the burn-in.", Unit: ofReward, Range: anyReal},
		{Name: sim.ExpectedRewardVariance, Doc: "Variance of J over replicas and the steps after the burn-in.", Unit: reward2, Range: atLeast0},
		{Name: sim.ZeroVarianceShare, Doc: "Share of groups whose rewards are all equal, after the burn-in; 0 at G = ∞.", Unit: pureRatio, Range: zeroToOne},
		{Name: sim.LogitGapMean, Doc: "Mean of the logit gap z = θ_1 − θ_0 over replicas and the steps after the burn-in; two arms.", Unit: ofLogit, Range: anyReal},
		{Name: sim.LogitGapVariance, Doc: "Variance of z over replicas and the steps after the burn-in; two arms.", Unit: logit2, Range: atLeast0},
		{Name: plan.StiffnessTotal, Doc: "Stiffness λ of the stiffest mode at the fixed point: the restoring force per displacement of current policy and snapshot.", Unit: perLogit, Range: anyReal},
		{Name: plan.StiffnessFresh, Doc: "Its part λ_f from the current policy.", Unit: perLogit, Range: anyReal},
		{Name: plan.StiffnessStale, Doc: "Its part λ_s from the snapshot.", Unit: perLogit, Range: anyReal},
		{Name: plan.StiffnessSlowest, Doc: "Stiffness of the slowest mode; more than two arms.", Unit: perLogit, Range: anyReal},
		{Name: probe.RelaxationRate, Doc: "Rate at which a small displacement from the fixed point decays; negative: growth.", Unit: perStep, Range: anyReal},
		{Name: probe.DampingRatio, Doc: "Damping ratio ζ of the two dominant multipliers.", Unit: pureRatio, Range: anyReal},
		{Name: probe.LocatedLow, Doc: "Search for an event in η or K: the last value certainly without it.", Unit: "of the parameter", Range: atLeast0},
		{Name: probe.LocatedHigh, Doc: "The first value certainly with the event; empty if there is none up to located_to.", Unit: "of the parameter", Range: atLeast0},
		{Name: probe.LocatedEnd, Doc: "The last value to be tried.", Unit: "of the parameter", Range: atLeast0},
		{Name: sim.SaturationRate, Doc: "Rate of the exponential a − b e^{−rate·t} fitted to the mean of J.", Unit: perStep, Range: "> 0"},
		{Name: sim.SaturationR2, Doc: "R² of that fit.", Unit: pureRatio, Range: zeroToOne},
		{Name: sim.EarlySlope, Doc: "The paper's stiffness K, from the slope of −log(J_end − J) over the first 100 steps.", Unit: perLogit, Range: anyReal},
	}
	for _, l := range measure.Laws {
		law := string(l)
		columns = append(columns,
			store.Column{Name: sim.LoggedR2(l), Doc: "R² of the " + law + " law fitted to the logged reward, mean over pairs of replicas.", Unit: pureRatio, Range: atMost1},
			store.Column{Name: sim.LoggedLead(l), Doc: "By how much the R² of the critically damped law exceeds that of the " + law + " law.", Unit: pureRatio, Range: anyReal},
			store.Column{Name: sim.LoggedGain(l), Doc: "Error of persistence over that of the forecast by the " + law + " law from the first 30 % of the log; above 1 the law is better.", Unit: pureRatio, Range: atLeast0},
			store.Column{Name: sim.LoggedPlateau(l), Doc: "Share of pairs of replicas in which that forecast finds the plateau within a fifth of the rise.", Unit: pureRatio, Range: zeroToOne})
	}
	for _, m := range diagnose.Modes {
		columns = append(columns,
			store.Column{Name: plan.NamedShare(m), Doc: "Share of replicas whose failure mode is diagnosed as " + string(m) + ".", Unit: pureRatio, Range: zeroToOne},
			store.Column{Name: plan.PaperNamedShare(m), Doc: "The same by the paper's diagnostics.", Unit: pureRatio, Range: zeroToOne})
	}
	return columns
}
