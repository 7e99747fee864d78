package grpo

import "math"

// Law is the distribution of an arm's reward.
type Law string

const (
	Bernoulli Law = "bernoulli" // 1 with probability Mean, else 0
	Constant  Law = "constant"  // always Mean
	Normal    Law = "normal"    // Mean + Std·N(0, 1)
)

// Laws lists every Law.
var Laws = []Law{Bernoulli, Constant, Normal}

// Arm is one arm of the bandit.
type Arm struct {
	Reward Law     // distribution of the reward
	Mean   float64 // m_a, in units of reward: in [0, 1] for Bernoulli, else any finite number
	Std    float64 // standard deviation of a normal reward, in units of reward, ≥ 0; unused by other laws
}

// Bandit is the environment: one context, len(Arms) ≥ 2 actions. Where an
// equation speaks of two arms, index 1 is the arm listed first (Go index 0).
type Bandit struct {
	Arms      []Arm     // at least 2
	TrueMeans []float64 // true mean reward of each arm, where Arms hold a proxy (reward hacking); recorded, no part of a force
}

// Infinite is the group size at which the force is the expected gradient itself.
const Infinite = math.MaxInt

// Baseline is the number that the advantage subtracts from a reward.
type Baseline string

const (
	MeanBaseline Baseline = "mean"          // the group's mean
	LeaveOneOut  Baseline = "leave-one-out" // the mean of the others: a factor G/(G−1)
	SecondBest   Baseline = "second-best"   // of the best sample, the reward of the second best; other samples have advantage 0 (verl GRPO_PASSK)

	ConstantBaseline Baseline = "constant"     // b, the same in all steps; 0 is no baseline
	RunningMean      Baseline = "running-mean" // b, which after each draw of groups becomes (1−α)b + αr̄, r̄ the mean of their rewards
)

// Baselines lists every Baseline.
var Baselines = []Baseline{MeanBaseline, LeaveOneOut, SecondBest, ConstantBaseline, RunningMean}

// Given reports whether the baseline does not depend on the rewards of the step. Groups of
// equal rewards then have advantages.
func (b Baseline) Given() bool { return b == ConstantBaseline || b == RunningMean }

// Scale is the number that divides the advantage.
type Scale string

const (
	StdScale Scale = "std"  // the standard deviation of the group's rewards, plus epsilon
	NoScale  Scale = "none" // 1 (Dr. GRPO)

	BatchStd  Scale = "batch-std"  // the standard deviation of the rewards of all groups of the step, plus epsilon (TRL scale_rewards "batch")
	OthersStd Scale = "others-std" // the sample standard deviation of the other samples of the group plus epsilon, 1 where it is 0 (NeMo-RL with leave-one-out)
	MeanScale Scale = "mean"       // the mean of the group's rewards (MaxRL)
	PooledStd Scale = "pooled-std" // the standard deviation of the rewards of all groups of the step, each less the mean of its group, plus epsilon (OpenRLHF reinforce_baseline, verl reinforce_plus_plus_baseline)
	BatchMean Scale = "batch-mean" // the mean of the rewards of all groups of the step (GPG)
)

// Scales lists every Scale.
var Scales = []Scale{StdScale, NoScale, BatchStd, OthersStd, MeanScale, PooledStd, BatchMean}

// OfStep reports whether all groups of a step have one scale, which depends on their rewards.
func (s Scale) OfStep() bool { return s == BatchStd || s == PooledStd || s == BatchMean }

// Deviation says which standard deviation StdScale takes.
type Deviation string

const (
	PopulationStd Deviation = "population" // divides by G
	SampleStd     Deviation = "sample"     // divides by G−1
)

// Deviations lists every Deviation.
var Deviations = []Deviation{PopulationStd, SampleStd}

// Advantage says how a reward becomes an advantage,
// A_i = (r_i − baseline)/scale, and 0 when all rewards of a group are equal unless the
// baseline is ConstantBaseline or RunningMean. These go with NoScale. OthersStd
// goes with LeaveOneOut, MeanScale, PooledStd and BatchMean with MeanBaseline, SecondBest with
// StdScale or NoScale. Those and BatchStd are for 0/1 rewards, without a Filter.
type Advantage struct {
	Baseline Baseline  // the number subtracted from each reward
	Scale    Scale     // the number that divides the difference
	Std      Deviation // the standard deviation of StdScale, BatchStd and PooledStd; unused by others
	Value    float64   // b in [0, 1] of ConstantBaseline, of RunningMean in the first step, in units of reward; unused by others
	Rate     float64   // α in (0, 1] of RunningMean, per draw of groups; unused by others
	Epsilon  float64   // ε ≥ 0, added to the standard deviation, in units of reward; unused by NoScale, MeanScale and BatchMean
}

// Filter is what happens to groups whose rewards are all equal.
type Filter string

const (
	KeepAll Filter = "none"   // they count, with advantages 0
	Redraw  Filter = "redraw" // each is replaced by a group whose rewards differ (DAPO; verl filter_groups)
	Drop    Filter = "drop"   // they do not count: the mean is that of the other groups, 0 if there are none
)

// Changes reports whether groups are redrawn or dropped; "" stands for KeepAll.
func (f Filter) Changes() bool { return f == Redraw || f == Drop }

// Filters lists every Filter.
var Filters = []Filter{KeepAll, Redraw, Drop}

// BinaryOnly reports whether the advantage is one of those for 0/1 rewards only.
func (adv *Advantage) BinaryOnly() bool {
	return adv.Baseline == SecondBest || adv.Baseline.Given() || adv.Scale != StdScale && adv.Scale != NoScale
}

// KLGradient is the estimator of the gradient of the KL penalty.
type KLGradient string

const (
	ExactKL KLGradient = "exact" // ∇KL(π‖π_ref) in closed form
	K2      KLGradient = "k2"    // per sample log(π/π_ref)(e_a − π)
	K3      KLGradient = "k3"    // per sample (1 − π_ref/π)(e_a − π)

	// The losses log π/π_ref, and ρ times it or ρ times k3, ρ = π/π_old.
	K1      KLGradient = "k1"       // per sample e_a − π: slime --kl-loss-type k1; no penalty in the mean
	RatioK1 KLGradient = "ratio-k1" // per sample ρ(log(π/π_ref) + 1)(e_a − π)
	RatioK3 KLGradient = "ratio-k3" // per sample ρ log(π/π_ref)(e_a − π): TRL use_bias_correction_kl, slime --use-unbiased-kl
)

// KLGradients lists every KLGradient.
var KLGradients = []KLGradient{ExactKL, K1, K2, K3, RatioK1, RatioK3}

// KLPoint is the policy at which the KL penalty is evaluated.
type KLPoint string

const (
	AtCurrent  KLPoint = "current"  // π
	AtSnapshot KLPoint = "snapshot" // π_old throughout, projection included
)

// KLPoints lists every KLPoint.
var KLPoints = []KLPoint{AtCurrent, AtSnapshot}

// KLPlacement is the place of the KL penalty in the algorithm.
type KLPlacement string

const (
	InLoss      KLPlacement = "loss"      // a gradient of its own beside that of the reward
	InAdvantage KLPlacement = "advantage" // A_i − β log π_old/π_ref: OpenRLHF for rloo, group_norm and dr_grpo
	InReward    KLPlacement = "reward"    // r_i − β log π_old/π_ref before the advantage: verl algorithm.use_kl_in_reward
)

// KLPlacements lists every KLPlacement.
var KLPlacements = []KLPlacement{InLoss, InAdvantage, InReward}

// KL is the penalty β·KL(π‖π_ref).
type KL struct {
	Coefficient float64     // β ≥ 0, in units of advantage (InReward: of reward) per nat; 0 is no penalty
	In          KLPlacement // "" is InLoss; InAdvantage with NoImportance or Ratio only; unused if β = 0
	Gradient    KLGradient  // how the gradient is estimated; unused if β = 0 and outside the loss
	At          KLPoint     // where the gradient is evaluated; unused if β = 0 and outside the loss
}

// Outside reports whether there is a penalty that is not in the loss.
func (kl *KL) Outside() bool {
	return kl.Coefficient != 0 && (kl.In == InAdvantage || kl.In == InReward)
}

// Sampled reports whether the force has a KL gradient of its samples.
func (kl *KL) Sampled() bool {
	return kl.Coefficient != 0 && kl.In != InReward && (kl.Gradient != ExactKL || kl.Outside())
}

// Estimator is the stochastic gradient of one optimizer step.
type Estimator struct {
	GroupSize     int        // G, samples per group, ≥ 2, or Infinite
	GroupsPerStep int        // B ≥ 1, independent groups averaged in a step
	Filter        Filter     // of groups of equal rewards; "": KeepAll. Drop needs the exact KL gradient
	Advantage     Advantage  // from rewards to advantages A_i
	Importance    Importance // the weights w_i
	KL            KL         // the penalty
	Entropy       float64    // α ≥ 0 of the bonus α·H(π), exact gradient, in units of advantage per nat; 0 is none
	Samples       Samples    // the groups of the steps of a block; "" is Fresh
}

// Samples says which groups a step uses.
type Samples string

const (
	Fresh  Samples = "fresh"  // its own
	Reused Samples = "reused" // those of the first step of its block (TRL num_iterations, ppo_epochs)
)

// SampleUses lists every Samples.
var SampleUses = []Samples{Fresh, Reused}

// LagKind is the rule by which the behaviour policy lags the current one.
type LagKind string

const (
	Block LagKind = "block" // π_old ← π every Interval ≥ 1 steps
	Delay LagKind = "delay" // π_old is π of Interval ≥ 0 steps ago, at first the initial one

	// π_old is π of a random number of steps ago, as in asynchronous trainers (AReaL
	// max_head_offpolicyness, prime-rl max_off_policy_steps, TRL max_staleness).
	Random LagKind = "random"
)

// LagKinds lists every LagKind.
var LagKinds = []LagKind{Block, Delay, Random}

// Lag is the policy staleness.
type Lag struct {
	Kind     LagKind // the rule
	Interval int     // in optimizer steps: K ≥ 1 (block) or τ ≥ 0 (delay); K = 1 and τ = 0 are on-policy; unused by Random

	// Behind ≥ 0 is the number of blocks by which the snapshot is older than the last one;
	// 1 is the one-step-off schedule of verl and slime. Unused unless the kind is Block.
	Behind int

	Ages Ages // unused unless the kind is Random
}

// AgeLaw is the kind of a law of ages.
type AgeLaw string

const (
	UniformAges   AgeLaw = "uniform"   // equal probabilities of From, …, To
	GeometricAges AgeLaw = "geometric" // p_j = (1−r) r^j, j ≥ 0, of mean r/(1−r) = Mean
	TableAges     AgeLaw = "table"     // p_j in proportion to Weights[j]
)

// AgeLaws lists every AgeLaw.
var AgeLaws = []AgeLaw{UniformAges, GeometricAges, TableAges}

// AgeDraw is what has one age.
type AgeDraw string

const (
	AgePerGroup AgeDraw = "group" // each group of a step, independently
	AgePerStep  AgeDraw = "step"  // all groups of a step
)

// AgeDraws lists every AgeDraw.
var AgeDraws = []AgeDraw{AgePerGroup, AgePerStep}

// MaxTableAge is the largest age of a table.
const MaxTableAge = 23

// Ages is a law of the age of snapshots, in optimizer steps. The policy of an age that
// reaches back before step 0 is the initial one.
//
// At G = ∞ the force of a step is its mean over the law, Σ p_j F(π_t, π_{t−j}): the limit
// of many groups with an age each. The run is then deterministic.
type Ages struct {
	Law      AgeLaw
	From, To int       // of UniformAges: 0 ≤ From ≤ To
	Mean     float64   // of GeometricAges: > 0
	Weights  []float64 // of TableAges, by age up to MaxTableAge: ≥ 0, with a positive sum
	Drawn    AgeDraw
}

// Method is the optimizer's update rule.
type Method string

const (
	HeavyBall Method = "heavy-ball" // v ← μv + g, θ ← θ + ηv
	Nesterov  Method = "nesterov"   // v ← μv + g, θ ← θ + η(g + μv)
	Adam      Method = "adam"       // bias-corrected, no weight decay
)

// Methods lists every Method.
var Methods = []Method{HeavyBall, Nesterov, Adam}

// ScheduleKind is the shape of the learning rate over the run.
type ScheduleKind string

const (
	ConstantRate ScheduleKind = "constant" // 1
	LinearDecay  ScheduleKind = "linear"   // 1 − x
	CosineDecay  ScheduleKind = "cosine"   // ½(1 + cos πx)
)

// ScheduleKinds lists every ScheduleKind.
var ScheduleKinds = []ScheduleKind{ConstantRate, LinearDecay, CosineDecay}

// Schedule scales the learning rate: over the first Warmup steps it rises as
// (t+1)/Warmup; after them it stays (constant) or falls to 0 at step Total as
// 1−x (linear) or ½(1+cos πx) (cosine), x = (t−Warmup)/(Total−Warmup).
type Schedule struct {
	Kind   ScheduleKind // the shape after the warm-up
	Warmup int          // length of the warm-up in steps, ≥ 0
	Total  int          // step at which the rate reaches 0, > Warmup; unused by ConstantRate
}

// Optimizer is the update rule of the logits. Its state starts at zero, and is not
// reset when the snapshot is refreshed.
type Optimizer struct {
	Kind         Method   // the rule
	LearningRate float64  // η > 0, in logits per unit of force
	Momentum     float64  // μ in [0, 1), per step; heavy ball and Nesterov only
	Beta1        float64  // β1 in [0, 1), decay of the first moment per step; Adam only
	Beta2        float64  // β2 in [0, 1), decay of the second moment per step; Adam only
	Epsilon      float64  // ε ≥ 0, added to the root of the second moment, in units of force; Adam only
	MaxNorm      float64  // c ≥ 0: a force of norm above c is scaled to c (max_grad_norm); 0: no limit
	Schedule     Schedule // factor of the learning rate over the run
}
