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
	name  string
	value func(p *prediction) string
}

// numeric is the value of a column of numbers; nil and NaN are written as an empty field.
func numeric(of func(p *prediction) *float64) func(p *prediction) string {
	return func(p *prediction) string { return number(of(p)) }
}

// predictionColumns are the columns of predictions.csv after the parameters.
var predictionColumns = []predictionColumn{
	{"fixed_point_expected_reward", numeric(func(p *prediction) *float64 {
		if p.FixedPoint == nil {
			return nil
		}
		return &p.FixedPoint.Reward
	})},
	{"expected_reward_shift", numeric(func(p *prediction) *float64 { return p.Moments.RewardShift })},
	{"stiffness_total", numeric(func(p *prediction) *float64 { return &p.Stiffness.Total })},
	{"stiffness_fresh", numeric(func(p *prediction) *float64 { return &p.Stiffness.Fresh })},
	{"stiffness_stale", numeric(func(p *prediction) *float64 { return &p.Stiffness.Stale })},
	{"stiffness_slowest", numeric(func(p *prediction) *float64 { return &p.Stiffness.Slowest })},
	{"gradient_variance", numeric(func(p *prediction) *float64 { return &p.GradientVariance })},
	{"damping_ratio", numeric(func(p *prediction) *float64 { return &p.Oscillator.DampingRatio })},
	{"regime", func(p *prediction) string { return p.Oscillator.Regime }},
	{"spectral_radius", numeric(func(p *prediction) *float64 { return p.full.SpectralRadius })},
	{"critical_learning_rate", numeric(func(p *prediction) *float64 { return p.full.CriticalLearningRate })},
	{"critical_refresh_interval", numeric(func(p *prediction) *float64 { return p.full.CriticalRefreshInterval })},
	{"oscillation_learning_rate", numeric(func(p *prediction) *float64 { return p.full.OscillationLearningRate })},
	{"logit_gap_variance", numeric(func(p *prediction) *float64 { return p.full.StationaryVariance.LogitGap })},
	{"expected_reward_variance", numeric(func(p *prediction) *float64 { return p.full.StationaryVariance.ExpectedReward })},
	{"expected_reward_variance_leading_order", numeric(func(p *prediction) *float64 { return p.LeadingOrder.StationaryVariance.ExpectedReward })},
	{"expected_reward_variance_paper_rule", numeric(func(p *prediction) *float64 { return p.PaperRule.RewardVariance })},
	{"zero_variance_fraction", numeric(func(p *prediction) *float64 { return p.Moments.ZeroVariance })},
	{"scope", func(p *prediction) string {
		return cmp.Or(p.scope.String(), "in")
	}},
	{"neglected_expected_reward", numeric(func(p *prediction) *float64 { return &p.Neglected.RewardMean })},
	{"neglected_expected_reward_variance", numeric(func(p *prediction) *float64 { return &p.Neglected.RewardVariance })},
	{"neglected_zero_variance_fraction", numeric(func(p *prediction) *float64 { return &p.Neglected.ZeroVariance })},
	{"paper_stiffness", numeric(func(p *prediction) *float64 { return p.PaperRule.Stiffness })},
	{"expected_reward_variance_rule_at_stiffness", numeric(func(p *prediction) *float64 { return p.RuleAtStiffness.RewardVariance })},
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
