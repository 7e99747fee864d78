package sweeps

import (
	"cmp"
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
	"grposim/sim/probe"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/training/diagnose"
)

// Units of columns. Optimizer steps are the unit of time.
const (
	ofReward  = "reward"
	ofLogit   = "logit"
	inSteps   = "optimizer step"
	inSamples = "sample"
	inNats    = "nat"
	ofForce   = "force" // of reward without an advantage scale, without unit with one
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

// QuantityColumns describes the recorded quantities, the values of the column `quantity`
// in trajectories.parquet.
var QuantityColumns = []store.Column{
	column(string(sim.ExpectedReward), ofReward, anyReal, "J = Σ π_a m_a."),
	column(string(sim.TrueReward), ofReward, anyReal, "Σ π_a · intended mean of arm a."),
	column(string(sim.Entropy), inNats, atLeast0, "Entropy of the policy, −Σ π log π."),
	column(string(sim.Collision), pureRatio, "1/arms to 1", "Σ π²."),
	column(string(sim.ZeroVarianceFraction), pureRatio, zeroToOne,
		"Share of the step's groups with equal rewards; 0 at G = ∞."),
	column(string(sim.KLReference), inNats, atLeast0, "KL(π‖π_ref)."),
	column(string(sim.ClipFraction), pureRatio, zeroToOne,
		"Share of samples of nonzero advantage whose weight the importance mode sets to 0; 0 at G = ∞."),
	column(string(sim.ImportanceRatioMax), pureRatio, "≥ 1", "Largest ratio π_a/π_old,a."),
	column(string(sim.GradientNorm), ofForce, atLeast0, "Norm ‖g‖₂ of the step's gradient."),
	column(string(sim.LogitGap), ofLogit, anyReal, "z = θ_1 − θ_0; two arms."),
}

// Names of the descriptions of quantities that have a number K.
const (
	passColumn    = "pass_at_K"
	stratumColumn = "reward_of_stratum_K"
)

// ownColumns describes the quantities that only cells record whose run.record names them.
var ownColumns = []store.Column{
	column(passColumn, pureRatio, zeroToOne,
		"1 − (1−J)^K, the probability that one of K samples of the policy has reward 1; of many "+
			"prompts the mean. K is the number in `run.record`."),
	column(string(sim.EffectiveSampleSize), pureRatio, zeroToOne,
		"1/Σ π²/π_old, the effective sample size of the weights π/π_old as a share of the samples; of "+
			"many prompts, or snapshots of a step, the mean."),
	column(string(sim.SamplesDrawn), inSamples, atLeast0, "Number of samples drawn for the steps before this one: group_size × groups_per_step in each step that draws. With `grpo.filter` redraw the expected number with those that are thrown away: a kept group takes 1/P groups, P the probability, under the policy that draws, that the rewards of a group differ."),
	column(string(sim.Stiffest), perLogit, anyReal,
		"Stiffness λ of the stiffest mode of a network at the weights of the step: the largest "+
			"eigenvalue of −∂g/∂w, by power iteration."),
	column(stratumColumn, ofReward, zeroToOne, "Mean of J over the prompts of stratum K of those with a policy each, K = 1 the hardest, where `run.record` has strata. With F the share of the prompts that start at a lower J and half the share of those that start at the same, a prompt is in the stratum of number ⌊4F⌋; strata without prompts are left out before K is counted, and a cell whose prompts all start alike has none."),
}

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
	column("cell", "", "",
		"Id of the cell: the sha256, in hexadecimal digits, of everything that decides its "+
			"measurement. Rows of two variants can share it."),
	column("label", "", "",
		"Name of the cell for people: its variant and its values of the swept keys. Empty for the only "+
			"cell of a file."),
	column("variant", "", "", "Name of the variant; empty in a file without variants."),
}

// statusDocs describe what follows the parameters in cells.csv.
var statusDocs = []store.Column{
	column("status", "", "", "Whether the cell could be measured: `ok`; `diverged`, at least one replica left the range of floating point; `overflow`, no replica did, but an estimate, which is missing; `no-fixed-point`, it starts at a fixed point and the theory finds none, so it was not simulated."),
	column("interval_confidence", pureRatio, "0 to 1, exclusive", "Confidence of every interval of the row: 1 − (1 − c)/n, c the `confidence` of the configuration and n the number of its verdicts, at least 1."),
}

// mapDocs describe the columns of map-X-Y.csv.
var mapDocs = []store.Column{
	column("kind", "", "",
		"`cell`: the row is a simulated cell; `boundary`: a point of a predicted boundary."),
	column("variant", "", "", "Name of the variant; empty in a file without variants."),
	column("X", "of the parameter", "of the parameter",
		"Value of the parameter on the horizontal axis; the column has its name."),
	column("Y", "of the parameter", "of the parameter",
		"Value of the parameter on the vertical axis; the column has its name."),
	column("cell", "", "", "Id of the cell."),
	column("class", "", "", "Shape of the cell's mean reward over steps: `monotone`, `overshooting`, `oscillatory`, `sustained`, `locked`, `diverged`, `at rest` or `unresolved` (its error is unknown or too large to tell); empty where nothing was recorded."),
	column("regime", "", "",
		"Regime of the linear dynamics: `overdamped`, `oscillatory` or `unstable`."),
	column("spectral_radius", pureRatio, atLeast0,
		"Largest modulus of a multiplier of the linear dynamics; from 1 on unstable."),
	column("rule", pureRatio, atLeast0,
		"ηK·K_ref/(1 − μ) at the paper's stiffness K; from 1 on unstable by the paper's rule."),
	column("damping_ratio", pureRatio, anyReal, "ζ of the paper's model at that K."),
	column("onset_learning_rate", perForce, atLeast0,
		"Smallest learning rate at which a mode oscillates."),
	column("value", "of the quantity", "of the quantity",
		"Value of the quantity that `--quantity` names; empty without it, and where the cell has none."),
	column("curve", "", "", "Name of the boundary that the point lies on."),
	column("line", "", "integer ≥ 1",
		"Number of the line of that boundary, from 1; points of a line are in order."),
}

// keyMapDocs describe the first columns of map-X.csv.
var keyMapDocs = []store.Column{
	column("variant", "", "", "Name of the variant; empty in a file without variants."),
	column("label", "", "", "Label of the cell, as in cells.csv."),
	column("cell", "", "", "Id of the cell."),
	column("class", "", "", "Shape of the cell's mean reward over steps, as in map-X-Y.csv."),
}

// estimateColumns returns the estimates of cells.csv. Each NAME is followed by NAME_lo and
// NAME_hi, the ends of its interval.
func estimateColumns() []store.Column {
	columns := []store.Column{
		column(sim.ExpectedRewardMean, ofReward, anyReal,
			"Mean of the expected reward J = Σ π_a m_a over replicas and the steps after the burn-in."),
		column(sim.ExpectedRewardVariance, reward2, atLeast0,
			"Variance of J over replicas and the steps after the burn-in."),
		column(sim.ZeroVarianceShare, pureRatio, zeroToOne,
			"Share of groups whose rewards are all equal, after the burn-in; 0 at G = ∞."),
		column(sim.LogitGapMean, ofLogit, anyReal,
			"Mean of the logit gap z = θ_1 − θ_0 over replicas and the steps after the burn-in; two arms."),
		column(sim.LogitGapVariance, logit2, atLeast0,
			"Variance of z over replicas and the steps after the burn-in; two arms."),
		column(plan.StiffnessTotal, perLogit, anyReal, "Stiffness λ of the stiffest mode at the fixed point: the restoring force per displacement of current policy and snapshot."),
		column(plan.StiffnessFresh, perLogit, anyReal, "Its part λ_f from the current policy."),
		column(plan.StiffnessStale, perLogit, anyReal, "Its part λ_s from the snapshot."),
		column(plan.StiffnessSlowest, perLogit, anyReal,
			"Stiffness of the slowest mode; more than two arms."),
		column(probe.RelaxationRate, perStep, anyReal,
			"Rate at which a small displacement from the fixed point decays; negative: growth."),
		column(probe.DampingRatio, pureRatio, anyReal,
			"Damping ratio ζ of the two dominant multipliers."),
		column(probe.LocatedLow, "of the parameter", atLeast0,
			"Search for an event in η or K: the last value certainly without it."),
		column(probe.LocatedHigh, "of the parameter", atLeast0,
			"The first value certainly with the event; empty if there is none up to located_to."),
		column(probe.LocatedEnd, "of the parameter", atLeast0, "The last value to be tried."),
		column(sim.SaturationRate, perStep, "> 0",
			"Rate of the exponential a − b e^{−rate·t} fitted to the mean of J."),
		column(sim.SaturationR2, pureRatio, zeroToOne, "R² of that fit."),
		column(sim.EarlySlope, perLogit, anyReal,
			"The paper's stiffness K, from the slope of −log(J_end − J) over the first 100 steps."),
	}
	for _, l := range measure.Laws {
		law := string(l)
		columns = append(columns,
			column(sim.LoggedR2(l), pureRatio, atMost1, "R² of the "+law+" law fitted to the logged reward, mean over pairs of replicas."),
			column(sim.LoggedLead(l), pureRatio, anyReal, "By how much the R² of the critically damped law exceeds that of the "+law+" law."),
			column(sim.LoggedGain(l), pureRatio, atLeast0, "Error of persistence over that of the forecast by the "+law+" law from the first 30 % of the log; above 1 the law is better."),
			column(sim.LoggedPlateau(l), pureRatio, zeroToOne, "Share of pairs of replicas in which that forecast finds the plateau within a fifth of the rise."))
	}
	for _, m := range diagnose.Modes {
		columns = append(columns,
			column(plan.NamedShare(m), pureRatio, zeroToOne, "Share of replicas whose failure mode is diagnosed as "+string(m)+"."),
			column(plan.PaperNamedShare(m), pureRatio, zeroToOne, "The same by the paper's diagnostics."))
	}
	return columns
}
