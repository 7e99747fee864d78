package sweeps

import (
	"cmp"
	"math"
	"strconv"

	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sweeps/store"
)

// The data dictionary: every column of the tables in a results folder. docs/results.md is
// written from it.

// Units of columns. Optimizer steps are the unit of time.
const (
	ofReward  = "reward"
	reward2   = "reward²"
	ofLogit   = "logit"
	logit2    = "logit²"
	inSteps   = "optimizer step"
	perStep   = "1/optimizer step"
	inSamples = "sample"
	inNats    = "nat"
	ofForce   = "force" // of reward without an advantage scale, without unit with one
	force2    = "force²"
	perLogit  = "force/logit"
	perForce  = "logit/force"
	pureRatio = "1" // no unit
)

// Ranges of columns.
const (
	anyReal   = "any number"
	atLeast0  = "≥ 0"
	zeroToOne = "0 to 1"
	atMost1   = "≤ 1"
)

// identityColumns are the first columns of a table of one row per cell. The
// parameters follow, in the order of config.Keys.
var identityColumns = []store.Column{
	{Name: "cell", Doc: "Id of the cell: the sha256, in hexadecimal digits, of everything that decides its measurement. Rows of two variants can share it."},
	{Name: "label", Doc: "Name of the cell for people: its variant and its values of the swept keys. Empty for the only cell of a file."},
	{Name: "variant", Doc: "Name of the variant; empty in a file without variants."},
}

// statusColumns follow the parameters in cells.csv.
var statusColumns = []store.Column{
	{Name: "status", Doc: "Whether the cell could be measured: `ok`; `diverged`, at least one replica left the range of floating point; `overflow`, no replica did, but an estimate, which is missing; `no-fixed-point`, it starts at a fixed point and the theory finds none, so it was not simulated."},
	{Name: "interval_confidence", Doc: "Confidence of every interval of the row: 1 − (1 − c)/n, c the `confidence` of the configuration and n the number of its verdicts, at least 1.", Unit: pureRatio, Range: "0 to 1, exclusive"},
}

// QuantityColumns describes the recorded quantities, the values of the column `quantity`
// in trajectories.parquet.
var QuantityColumns = []store.Column{
	{Name: string(sim.ExpectedReward), Doc: "J = Σ π_a m_a.", Unit: ofReward, Range: anyReal},
	{Name: string(sim.TrueReward), Doc: "Σ π_a · intended mean of arm a.", Unit: ofReward, Range: anyReal},
	{Name: string(sim.Entropy), Doc: "Entropy of the policy, −Σ π log π.", Unit: inNats, Range: atLeast0},
	{Name: string(sim.Collision), Doc: "Σ π².", Unit: pureRatio, Range: "1/arms to 1"},
	{Name: string(sim.ZeroVarianceFraction), Doc: "Share of the step's groups with equal rewards; 0 at G = ∞.", Unit: pureRatio, Range: zeroToOne},
	{Name: string(sim.KLReference), Doc: "KL(π‖π_ref).", Unit: inNats, Range: atLeast0},
	{Name: string(sim.ClipFraction), Doc: "Share of samples of nonzero advantage whose weight the importance mode sets to 0; 0 at G = ∞.", Unit: pureRatio, Range: zeroToOne},
	{Name: string(sim.ImportanceRatioMax), Doc: "Largest ratio π_a/π_old,a.", Unit: pureRatio, Range: "≥ 1"},
	{Name: string(sim.GradientNorm), Doc: "Norm ‖g‖₂ of the step's gradient.", Unit: ofForce, Range: atLeast0},
	{Name: string(sim.LogitGap), Doc: "z = θ_1 − θ_0; two arms.", Unit: ofLogit, Range: anyReal},
}

// Names of the descriptions of quantities that have a number K.
const (
	passColumn    = "pass_at_K"
	stratumColumn = "reward_of_stratum_K"
)

// ownColumns describes the quantities that only cells record whose run.record names them.
var ownColumns = []store.Column{
	{Name: passColumn, Doc: "1 − (1−J)^K, the probability that one of K samples of the policy has reward 1; of many prompts the mean. K is the number in `run.record`.", Unit: pureRatio, Range: zeroToOne},
	{Name: string(sim.EffectiveSampleSize), Doc: "1/Σ π²/π_old, the effective sample size of the weights π/π_old as a share of the samples; of many prompts, or snapshots of a step, the mean.", Unit: pureRatio, Range: zeroToOne},
	{Name: string(sim.SamplesDrawn), Doc: "Number of samples drawn for the steps before this one: group_size × groups_per_step in each step that draws. With `grpo.filter` redraw the expected number with those that are thrown away: a kept group takes 1/P groups, P the probability, under the policy that draws, that the rewards of a group differ.", Unit: inSamples, Range: atLeast0},
	{Name: string(sim.Stiffest), Doc: "Stiffness λ of the stiffest mode of a network at the weights of the step: the largest eigenvalue of −∂g/∂w, by power iteration.", Unit: perLogit, Range: anyReal},
	{Name: stratumColumn, Doc: "Mean of J over the prompts of stratum K of those with a policy each, K = 1 the hardest, where `run.record` has strata. With F the share of the prompts that start at a lower J and half the share of those that start at the same, a prompt is in the stratum of number ⌊4F⌋; strata without prompts are left out before K is counted, and a cell whose prompts all start alike has none.", Unit: ofReward, Range: zeroToOne},
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
	value func(p *prediction) string
}

// numeric is a predictionColumn of a number; nil and NaN are written as an empty field.
func numeric(name, doc, unit, within string, value func(p *prediction) *float64) predictionColumn {
	return predictionColumn{store.Column{Name: name, Doc: doc, Unit: unit, Range: within},
		func(p *prediction) string { return number(value(p)) }}
}

// predictionColumns are the columns of predictions.csv after the parameters.
var predictionColumns = []predictionColumn{
	numeric("fixed_point_expected_reward", "J at the fixed point.", ofReward, anyReal, func(p *prediction) *float64 {
		if p.FixedPoint == nil {
			return nil
		}
		return &p.FixedPoint.Reward
	}),
	numeric("expected_reward_shift", "Shift of the mean of J from the fixed point by the noise, to second order.", ofReward, anyReal, func(p *prediction) *float64 { return p.Moments.RewardShift }),
	numeric("stiffness_total", "Stiffness λ of the stiffest mode.", perLogit, anyReal, func(p *prediction) *float64 { return &p.Stiffness.Total }),
	numeric("stiffness_fresh", "Its part λ_f from the current policy; of a network the largest eigenvalue of Λ_f.", perLogit, anyReal, func(p *prediction) *float64 { return &p.Stiffness.Fresh }),
	numeric("stiffness_stale", "Its part λ_s from the snapshot; of a network λ − λ_f.", perLogit, anyReal, func(p *prediction) *float64 { return &p.Stiffness.Stale }),
	numeric("stiffness_slowest", "Stiffness of the slowest mode.", perLogit, anyReal, func(p *prediction) *float64 { return &p.Stiffness.Slowest }),
	numeric("gradient_variance", "Variance of one step's gradient along the stiffest mode.", force2, atLeast0, func(p *prediction) *float64 { return &p.GradientVariance }),
	numeric("damping_ratio", "ζ of the reduced-order model.", pureRatio, anyReal, func(p *prediction) *float64 { return &p.Oscillator.DampingRatio }),
	{store.Column{Name: "regime", Doc: "Regime of the reduced-order model: `overdamped`, `oscillatory` or `unstable`."}, func(p *prediction) string { return p.Oscillator.Regime }},
	numeric("spectral_radius", "Largest modulus of a multiplier of the linear dynamics; below 1 is stable.", pureRatio, atLeast0, func(p *prediction) *float64 { return p.full.SpectralRadius }),
	numeric("critical_learning_rate", "Smallest learning rate at which the fixed point is not stable; empty: none was found.", perForce, atLeast0, func(p *prediction) *float64 { return p.full.CriticalLearningRate }),
	numeric("critical_refresh_interval", "Smallest refresh interval, or delay, at which it is not stable; empty: none was found.", inSteps, atLeast0, func(p *prediction) *float64 { return p.full.CriticalRefreshInterval }),
	numeric("oscillation_learning_rate", "Smallest learning rate at which a mode oscillates; empty: none was found.", perForce, atLeast0, func(p *prediction) *float64 { return p.full.OscillationLearningRate }),
	numeric("logit_gap_variance", "Stationary variance of z by the linear dynamics; two arms.", logit2, atLeast0, func(p *prediction) *float64 { return p.full.StationaryVariance.LogitGap }),
	numeric("expected_reward_variance", "Stationary variance of J by the linear dynamics, to first order in the noise; of a network that of a run along its slide; `grposim predict`, advice and verdicts have it to second order.", reward2, atLeast0, func(p *prediction) *float64 { return p.full.StationaryVariance.ExpectedReward }),
	numeric("expected_reward_variance_leading_order", "The same by the reduced-order model; of a network the law of the fixed point where the run starts.", reward2, atLeast0, func(p *prediction) *float64 { return p.LeadingOrder.StationaryVariance.ExpectedReward }),
	numeric("expected_reward_variance_paper_rule", "The same by the paper's D/(GCK) at paper_stiffness.", reward2, atLeast0, func(p *prediction) *float64 { return p.PaperRule.RewardVariance }),
	numeric("zero_variance_fraction", "Share of groups whose rewards are all equal.", pureRatio, zeroToOne, func(p *prediction) *float64 { return p.Moments.ZeroVariance }),
	{store.Column{Name: "scope", Doc: "`in`, or why the theory predicts no stationary state here."}, func(p *prediction) string {
		return cmp.Or(p.scope.String(), "in")
	}},
	numeric("neglected_expected_reward", "Predicted size of what the theory of the mean of J neglects.", ofReward, atLeast0, func(p *prediction) *float64 { return &p.Neglected.RewardMean }),
	numeric("neglected_expected_reward_variance", "The same of the variance of J.", reward2, atLeast0, func(p *prediction) *float64 { return &p.Neglected.RewardVariance }),
	numeric("neglected_zero_variance_fraction", "The same of the share of groups with equal rewards.", pureRatio, atLeast0, func(p *prediction) *float64 { return &p.Neglected.ZeroVariance }),
	numeric("paper_stiffness", "The stiffness K as the paper measures it, which its formulas use.", perLogit, anyReal, func(p *prediction) *float64 { return p.PaperRule.Stiffness }),
	numeric("expected_reward_variance_rule_at_stiffness", "The paper's D/(GCK) at λ of the stiffest mode.", reward2, atLeast0, func(p *prediction) *float64 { return p.RuleAtStiffness.RewardVariance }),
}

// The columns of map-X-Y.csv that hold the two parameters of the map have their paths
// as names, instead of these.
const (
	mapX = "X"
	mapY = "Y"
)

// mapColumns are the columns of map-X-Y.csv.
var mapColumns = []store.Column{
	{Name: "kind", Doc: "`cell`: the row is a simulated cell; `boundary`: a point of a predicted boundary."},
	{Name: "variant", Doc: "Name of the variant; empty in a file without variants."},
	{Name: mapX, Doc: "Value of the parameter on the horizontal axis; the column has its name.", Unit: "of the parameter", Range: "of the parameter"},
	{Name: mapY, Doc: "Value of the parameter on the vertical axis; the column has its name.", Unit: "of the parameter", Range: "of the parameter"},
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

// keyMapColumns are the first columns of map-X.csv.
var keyMapColumns = []store.Column{
	{Name: "variant", Doc: "Name of the variant; empty in a file without variants."},
	{Name: "label", Doc: "Label of the cell, as in cells.csv."},
	{Name: "cell", Doc: "Id of the cell."},
	{Name: "class", Doc: "Shape of the cell's mean reward over steps, as in map-X-Y.csv."},
}

// names returns the names of columns.
func names(columns []store.Column) []string {
	var all []string
	for _, c := range columns {
		all = append(all, c.Name)
	}
	return all
}

// number returns the shortest decimal that reads back as x; "" for nil and where x is
// not finite.
func number(x *float64) string {
	if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}
