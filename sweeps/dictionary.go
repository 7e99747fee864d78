package sweeps

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/training/diagnose"
)

// Units of columns. Optimizer steps are the unit of time.
const (
	ofReward  = "reward"
	inSteps   = "optimizer step"
	inSamples = "sample"
	perLogit  = "force/logit"
	pureRatio = "1" // no unit
)

// Ranges of columns.
const (
	anyReal   = "any number"
	atLeast0  = "≥ 0"
	zeroToOne = "0 to 1"
)

// column describes a column.
func column(name, unit, within, doc string) store.Column {
	return store.Column{Name: name, Doc: doc, Unit: unit, Range: within}
}

//go:embed columns.yaml
var columnsText []byte

// columnDocs are the columns that are a description and nothing else.
var columnDocs = config.DecodeTable[struct {
	Identity, Status     []store.Column // first of a table with a row per cell; after its parameters
	Estimates            []store.Column // of cells.csv, without those of named laws and failure modes
	Quantities, Recorded []store.Column // of every cell; of those alone whose run.record names them
	Map                  []store.Column // of map-X-Y.csv
	KeysMap              []store.Column `yaml:"keys_map"` // first of map-X.csv
	Trajectories         []store.Column // of trajectories.parquet, and of its rows as CSV
}]("columns.yaml", columnsText)

// QuantityColumns describes the recorded quantities, the values of the column `quantity`
// in trajectories.parquet.
var QuantityColumns = columnDocs.Quantities

// Names of the descriptions of quantities that have a number K.
const (
	passColumn    = "pass_at_K"
	armColumn     = "probability_of_arm_K"
	stratumColumn = "reward_of_stratum_K"
)

// prediction holds the prediction and the settings of a cell, for a row of predictions.csv.
type prediction struct {
	*rom.Prediction
	full  *rom.Dynamics // the linear dynamics: exact, or to leading order where the force is
	scope scope.Reason  // why there is no stationary state to be judged, as verdicts have it
}

// predictionColumn is a column of predictions.csv after the parameters.
type predictionColumn struct {
	store.Column
	value func(p *prediction) any // a string or a *float64
}

// predictionColumns are the columns of predictions.csv after the parameters.
var predictionColumns = []predictionColumn{
	{column("fixed_point_expected_reward", ofReward, anyReal, "J at the fixed point."), func(p *prediction) any {
		if p.FixedPoint == nil {
			return ""
		}
		return &p.FixedPoint.Reward
	}},
	{column("expected_reward_shift", ofReward, anyReal, "Shift of the mean of J from the fixed point by the noise, to second order."), func(p *prediction) any { return p.Moments.RewardShift }},
	{column("stiffness_total", perLogit, anyReal, "Stiffness λ of the stiffest mode."), func(p *prediction) any { return &p.Stiffness.Total }},
	{column("stiffness_fresh", perLogit, anyReal, "Its part λ_f from the current policy; of a network the largest eigenvalue of Λ_f."), func(p *prediction) any { return &p.Stiffness.Fresh }},
	{column("stiffness_stale", perLogit, anyReal, "Its part λ_s from the snapshot; of a network λ − λ_f."), func(p *prediction) any { return &p.Stiffness.Stale }},
	{column("stiffness_slowest", perLogit, anyReal, "Stiffness of the slowest mode."), func(p *prediction) any { return &p.Stiffness.Slowest }},
	{column("gradient_variance", force2, atLeast0, "Variance of one step's gradient along the stiffest mode."), func(p *prediction) any { return &p.GradientVariance }},
	{column("damping_ratio", pureRatio, anyReal, "ζ of the reduced-order model."), func(p *prediction) any { return &p.Oscillator.DampingRatio }},
	{column("regime", "", "", "Regime of the reduced-order model: `overdamped`, `oscillatory` or `unstable`."), func(p *prediction) any { return p.Oscillator.Regime }},
	{column("spectral_radius", pureRatio, atLeast0, "Largest modulus of a multiplier of the linear dynamics; below 1 is stable."), func(p *prediction) any { return p.full.SpectralRadius }},
	{column("critical_learning_rate", perForce, atLeast0, "Smallest learning rate at which the fixed point is not stable; empty: none was found."), func(p *prediction) any { return p.full.CriticalLearningRate }},
	{column("critical_refresh_interval", inSteps, atLeast0, "Smallest refresh interval, or delay, at which it is not stable; empty: none was found."), func(p *prediction) any { return p.full.CriticalRefreshInterval }},
	{column("oscillation_learning_rate", perForce, atLeast0, "Smallest learning rate at which a mode oscillates; empty: none was found."), func(p *prediction) any { return p.full.OscillationLearningRate }},
	{column("logit_gap_variance", logit2, atLeast0, "Stationary variance of z by the linear dynamics; two arms."), func(p *prediction) any { return p.full.StationaryVariance.LogitGap }},
	{column("expected_reward_variance", reward2, atLeast0, "Stationary variance of J by the linear dynamics, to first order in the noise; of a network that of a run along its slide; `grposim predict`, advice and verdicts have it to second order."), func(p *prediction) any { return p.full.StationaryVariance.ExpectedReward }},
	{column("expected_reward_variance_leading_order", reward2, atLeast0, "The same by the reduced-order model; of a network the law of the fixed point where the run starts."), func(p *prediction) any { return p.LeadingOrder.StationaryVariance.ExpectedReward }},
	{column("expected_reward_variance_paper_rule", reward2, atLeast0, "The same by the paper's D/(GCK) at paper_stiffness."), func(p *prediction) any { return p.PaperRule.RewardVariance }},
	{column("zero_variance_fraction", pureRatio, zeroToOne, "Share of groups whose rewards are all equal."), func(p *prediction) any { return p.Moments.ZeroVariance }},
	{column("scope", "", "", "`in`, or why the theory predicts no stationary state here."), func(p *prediction) any { return cmp.Or(p.scope.String(), "in") }},
	{column("neglected_expected_reward", ofReward, atLeast0, "Predicted size of what the theory of the mean of J neglects."), func(p *prediction) any { return &p.Neglected.RewardMean }},
	{column("neglected_expected_reward_variance", reward2, atLeast0, "The same of the variance of J."), func(p *prediction) any { return &p.Neglected.RewardVariance }},
	{column("neglected_zero_variance_fraction", pureRatio, atLeast0, "The same of the share of groups with equal rewards."), func(p *prediction) any { return &p.Neglected.ZeroVariance }},
	{column("paper_stiffness", perLogit, anyReal, "The stiffness K as the paper measures it, which its formulas use."), func(p *prediction) any { return p.PaperRule.Stiffness }},
	{column("expected_reward_variance_rule_at_stiffness", reward2, atLeast0, "The paper's D/(GCK) at λ of the stiffest mode."), func(p *prediction) any { return p.RuleAtStiffness.RewardVariance }},
}

// predictionDocs describes them.
func predictionDocs() (docs []store.Column) {
	for _, c := range predictionColumns {
		docs = append(docs, c.Column)
	}
	return docs
}

// names returns the names of columns.
func names(columns []store.Column) []string {
	var all []string
	for _, c := range columns {
		all = append(all, c.Name)
	}
	return all
}

// number returns the shortest decimal that reads back as x; "" for nil and where x is not finite.
func number(x *float64) string {
	if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}

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
	table("cells.csv and predictions.csv: identity", columnDocs.Identity)
	table("cells.csv: status", columnDocs.Status)
	table("cells.csv: estimates, each with NAME_lo and NAME_hi", estimateColumns())
	table("cells.csv: numbers of each recorded quantity Q", formColumns())
	table("predictions.csv", predictionDocs())
	table("trajectories.parquet", columnDocs.Trajectories)
	table("Quantities that are recorded", QuantityColumns)
	table("Quantities that run.record may name", columnDocs.Recorded)
	table("map-X-Y.csv", columnDocs.Map)
	table("map-X.csv, before the parameter and the quantities", columnDocs.KeysMap)
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
	force2   = "force²"
	perForce = "logit/force"
	atMost1  = "≤ 1"
)

// estimateColumns returns the estimates of cells.csv. Each NAME is followed by NAME_lo and
// NAME_hi, the ends of its interval.
func estimateColumns() []store.Column {
	all := slices.Clone(columnDocs.Estimates)
	for _, l := range measure.Laws {
		law := string(l)
		all = append(all,
			column(sim.LoggedR2(l), pureRatio, atMost1, "R² of the "+law+" law fitted to the logged reward, mean over pairs of replicas."),
			column(sim.LoggedLead(l), pureRatio, anyReal, "By how much the R² of the critically damped law exceeds that of the "+law+" law."),
			column(sim.LoggedGain(l), pureRatio, atLeast0, "Error of persistence over that of the forecast by the "+law+" law from the first 30 % of the log; above 1 the law is better."),
			column(sim.LoggedPlateau(l), pureRatio, zeroToOne, "Share of pairs of replicas in which that forecast finds the plateau within a fifth of the rise."))
	}
	for _, m := range diagnose.Modes {
		all = append(all,
			column(plan.NamedShare(m), pureRatio, zeroToOne, "Share of replicas whose failure mode is diagnosed as "+string(m)+"."),
			column(plan.PaperNamedShare(m), pureRatio, zeroToOne, "The same by the paper's diagnostics."))
	}
	return all
}
