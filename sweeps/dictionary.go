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
	store.Column
	value func(p *prediction) string
}

// numeric is the value of a column of numbers; nil and NaN are written as an empty field.
func numeric(of func(p *prediction) *float64) func(p *prediction) string {
	return func(p *prediction) string { return number(of(p)) }
}

// predictionColumns are the columns of predictions.csv after the parameters.
var predictionColumns = []predictionColumn{
	{store.Column{Name: "fixed_point_expected_reward", Doc: "J at the fixed point.", Unit: ofReward, Range: anyReal}, numeric(func(p *prediction) *float64 {
		if p.FixedPoint == nil {
			return nil
		}
		return &p.FixedPoint.Reward
	})},
	{store.Column{Name: "expected_reward_shift", Doc: "Shift of the mean of J from the fixed point by the noise, to second order.", Unit: ofReward, Range: anyReal}, numeric(func(p *prediction) *float64 { return p.Moments.RewardShift })},
	{store.Column{Name: "stiffness_total", Doc: "Stiffness λ of the stiffest mode.", Unit: perLogit, Range: anyReal}, numeric(func(p *prediction) *float64 { return &p.Stiffness.Total })},
	{store.Column{Name: "stiffness_fresh", Doc: "Its part λ_f from the current policy; of a network the largest eigenvalue of Λ_f.", Unit: perLogit, Range: anyReal}, numeric(func(p *prediction) *float64 { return &p.Stiffness.Fresh })},
	{store.Column{Name: "stiffness_stale", Doc: "Its part λ_s from the snapshot; of a network λ − λ_f.", Unit: perLogit, Range: anyReal}, numeric(func(p *prediction) *float64 { return &p.Stiffness.Stale })},
	{store.Column{Name: "stiffness_slowest", Doc: "Stiffness of the slowest mode.", Unit: perLogit, Range: anyReal}, numeric(func(p *prediction) *float64 { return &p.Stiffness.Slowest })},
	{store.Column{Name: "gradient_variance", Doc: "Variance of one step's gradient along the stiffest mode.", Unit: force2, Range: atLeast0}, numeric(func(p *prediction) *float64 { return &p.GradientVariance })},
	{store.Column{Name: "damping_ratio", Doc: "ζ of the reduced-order model.", Unit: pureRatio, Range: anyReal}, numeric(func(p *prediction) *float64 { return &p.Oscillator.DampingRatio })},
	{store.Column{Name: "regime", Doc: "Regime of the reduced-order model: `overdamped`, `oscillatory` or `unstable`."}, func(p *prediction) string { return p.Oscillator.Regime }},
	{store.Column{Name: "spectral_radius", Doc: "Largest modulus of a multiplier of the linear dynamics; below 1 is stable.", Unit: pureRatio, Range: atLeast0}, numeric(func(p *prediction) *float64 { return p.full.SpectralRadius })},
	{store.Column{Name: "critical_learning_rate", Doc: "Smallest learning rate at which the fixed point is not stable; empty: none was found.", Unit: perForce, Range: atLeast0}, numeric(func(p *prediction) *float64 { return p.full.CriticalLearningRate })},
	{store.Column{Name: "critical_refresh_interval", Doc: "Smallest refresh interval, or delay, at which it is not stable; empty: none was found.", Unit: inSteps, Range: atLeast0}, numeric(func(p *prediction) *float64 { return p.full.CriticalRefreshInterval })},
	{store.Column{Name: "oscillation_learning_rate", Doc: "Smallest learning rate at which a mode oscillates; empty: none was found.", Unit: perForce, Range: atLeast0}, numeric(func(p *prediction) *float64 { return p.full.OscillationLearningRate })},
	{store.Column{Name: "logit_gap_variance", Doc: "Stationary variance of z by the linear dynamics; two arms.", Unit: logit2, Range: atLeast0}, numeric(func(p *prediction) *float64 { return p.full.StationaryVariance.LogitGap })},
	{store.Column{Name: "expected_reward_variance", Doc: "Stationary variance of J by the linear dynamics, to first order in the noise; of a network that of a run along its slide; `grposim predict`, advice and verdicts have it to second order.", Unit: reward2, Range: atLeast0}, numeric(func(p *prediction) *float64 { return p.full.StationaryVariance.ExpectedReward })},
	{store.Column{Name: "expected_reward_variance_leading_order", Doc: "The same by the reduced-order model; of a network the law of the fixed point where the run starts.", Unit: reward2, Range: atLeast0}, numeric(func(p *prediction) *float64 { return p.LeadingOrder.StationaryVariance.ExpectedReward })},
	{store.Column{Name: "expected_reward_variance_paper_rule", Doc: "The same by the paper's D/(GCK) at paper_stiffness.", Unit: reward2, Range: atLeast0}, numeric(func(p *prediction) *float64 { return p.PaperRule.RewardVariance })},
	{store.Column{Name: "zero_variance_fraction", Doc: "Share of groups whose rewards are all equal.", Unit: pureRatio, Range: zeroToOne}, numeric(func(p *prediction) *float64 { return p.Moments.ZeroVariance })},
	{store.Column{Name: "scope", Doc: "`in`, or why the theory predicts no stationary state here."}, func(p *prediction) string {
		return cmp.Or(p.scope.String(), "in")
	}},
	{store.Column{Name: "neglected_expected_reward", Doc: "Predicted size of what the theory of the mean of J neglects.", Unit: ofReward, Range: atLeast0}, numeric(func(p *prediction) *float64 { return &p.Neglected.RewardMean })},
	{store.Column{Name: "neglected_expected_reward_variance", Doc: "The same of the variance of J.", Unit: reward2, Range: atLeast0}, numeric(func(p *prediction) *float64 { return &p.Neglected.RewardVariance })},
	{store.Column{Name: "neglected_zero_variance_fraction", Doc: "The same of the share of groups with equal rewards.", Unit: pureRatio, Range: atLeast0}, numeric(func(p *prediction) *float64 { return &p.Neglected.ZeroVariance })},
	{store.Column{Name: "paper_stiffness", Doc: "The stiffness K as the paper measures it, which its formulas use.", Unit: perLogit, Range: anyReal}, numeric(func(p *prediction) *float64 { return p.PaperRule.Stiffness })},
	{store.Column{Name: "expected_reward_variance_rule_at_stiffness", Doc: "The paper's D/(GCK) at λ of the stiffest mode.", Unit: reward2, Range: atLeast0}, numeric(func(p *prediction) *float64 { return p.RuleAtStiffness.RewardVariance })},
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
