package logs

import (
	"math"
	"slices"
	"strings"
)

// Quantity is the canonical name of a series.
type Quantity string

// The quantities. A quantity that is recorded for several named things, RewardComponent
// and EvalScore, is followed by a slash and the name.
const (
	Reward             Quantity = "reward"
	RewardMin          Quantity = "reward_min"
	RewardMax          Quantity = "reward_max"
	RewardStdWithin    Quantity = "reward_std_within"
	RewardStdBatch     Quantity = "reward_std_batch"
	RewardStdAmbiguous Quantity = "reward_std_ambiguous"
	RewardComponent    Quantity = "reward_component"
	RewardComponentStd Quantity = "reward_component_std"
	FracZeroStd        Quantity = "frac_zero_std"
	FracAll0           Quantity = "frac_all0"
	FracAll1           Quantity = "frac_all1"
	CountZeroStd       Quantity = "count_zero_std"
	CountAll0          Quantity = "count_all0"
	CountAll1          Quantity = "count_all1"
	Groups             Quantity = "groups"
	AdvantageMin       Quantity = "advantage_min"
	AdvantageMax       Quantity = "advantage_max"
	Loss               Quantity = "loss"
	KLRef              Quantity = "kl_ref"
	KLOld              Quantity = "kl_old"
	Entropy            Quantity = "entropy"
	Collision          Quantity = "collision"
	ClipLow            Quantity = "clip_low"
	ClipHigh           Quantity = "clip_high"
	ClipAny            Quantity = "clip_any"
	RatioMax           Quantity = "ratio_max"
	ISRatioMean        Quantity = "is_ratio_mean"
	ISEffective        Quantity = "is_effective"
	LogpMismatch       Quantity = "logp_mismatch"
	MismatchKL         Quantity = "mismatch_kl"
	ProbMismatch       Quantity = "prob_mismatch"
	Staleness          Quantity = "staleness"
	StalenessMax       Quantity = "staleness_max"
	GradNorm           Quantity = "grad_norm"
	LR                 Quantity = "lr"
	LenMean            Quantity = "len_mean"
	LenMin             Quantity = "len_min"
	LenMax             Quantity = "len_max"
	LenClipped         Quantity = "len_clipped"
	EvalScore          Quantity = "eval_score"
)

// Definition says what a quantity is.
type Definition struct {
	Quantity Quantity
	Text     string // one sentence, with the range
	within   bounds // outside of which no value is believed
}

// bounds are the smallest and the largest value that a quantity can have.
type bounds struct{ lo, hi float64 }

var (
	anyValue   = bounds{math.Inf(-1), math.Inf(1)} // KL too: its estimate k1 can be negative
	share      = bounds{0, 1}
	atLeastOne = bounds{1, math.Inf(1)}
	notBelow0  = bounds{0, math.Inf(1)}
)

// Quantities defines every quantity, in the order of a log's columns.
var Quantities = []Definition{
	{Reward, "Mean reward of the step's samples, in the unit of the reward functions.", anyValue},
	{RewardMin, "Smallest reward of a sample of the step.", anyValue},
	{RewardMax, "Largest reward of a sample of the step.", anyValue},
	{RewardStdWithin, "Standard deviation of the rewards within a group, mean over the groups, ≥ 0.", notBelow0},
	{RewardStdBatch, "Standard deviation of the rewards over all samples of a batch, " +
		"which includes the differences between prompts, ≥ 0.", notBelow0},
	{RewardStdAmbiguous, "One of the two above; the file does not tell which, ≥ 0.", notBelow0},
	{RewardComponent, "Mean of one reward function, before its weight.", anyValue},
	{RewardComponentStd, "Standard deviation of one reward function over all samples of a batch, ≥ 0.", notBelow0},
	{FracZeroStd, "Fraction of groups whose rewards are all equal, in [0, 1].", share},
	{FracAll0, "Fraction of groups whose rewards are all 0, in [0, 1].", share},
	{FracAll1, "Fraction of groups whose rewards are all 1, in [0, 1].", share},
	{CountZeroStd, "Number of groups whose rewards are all equal, ≥ 0.", notBelow0},
	{CountAll0, "Number of groups whose rewards are all 0, ≥ 0.", notBelow0},
	{CountAll1, "Number of groups whose rewards are all 1, ≥ 0.", notBelow0},
	{Groups, "Number of groups of the step, ≥ 1.", atLeastOne},
	{AdvantageMin, "Smallest advantage of a sample of the step.", anyValue},
	{AdvantageMax, "Largest advantage of a sample of the step.", anyValue},
	{Loss, "Loss of the update. Its mean is near 0 whatever the policy does, but for the KL penalty.", anyValue},
	{KLRef, "Estimate of the KL divergence of the policy from the reference policy, in nats.", anyValue},
	{KLOld, "Estimate of the KL divergence between the policy and that of the ratio, in nats.", anyValue},
	{Entropy, "Entropy of the policy, in nats per token, ≥ 0.", notBelow0},
	{Collision, "Σ π² of the policy, in (0, 1].", share},
	{ClipLow, "Fraction clipped at the lower bound, in [0, 1].", share},
	{ClipHigh, "Fraction clipped at the upper bound, in [0, 1].", share},
	{ClipAny, "Fraction clipped at either bound, in [0, 1].", share},
	{"ratio_mean", "Mean ratio π/π_old of the policy to the one at the start of the update, ≥ 0.", notBelow0},
	{RatioMax, "Largest such ratio, ≥ 0.", notBelow0},
	{ISRatioMean, "Mean importance weight of the trainer over the sampling engine, ≥ 0.", notBelow0},
	{"is_ratio_max", "Largest such weight, ≥ 0.", notBelow0},
	{ISEffective, "Effective sample size of the importance weights as a share of the samples, " +
		"(Σw)²/(n Σw²), in (0, 1].", share},
	{LogpMismatch, "Mean absolute difference between the trainer's and the sampling engine's log " +
		"probabilities of the same tokens, in nats, ≥ 0.", notBelow0},
	{MismatchKL, "Estimate of the KL divergence between the sampling engine's and the trainer's " +
		"policy, in nats per token.", anyValue},
	{ProbMismatch, "Mean absolute difference between the trainer's and the sampling engine's " +
		"probabilities of the same tokens, in [0, 1].", share},
	{Staleness, "Age of the samples: by how many policy versions the sampling policy is behind, " +
		"mean over samples, ≥ 0.", notBelow0},
	{StalenessMax, "Age of the oldest samples, in policy versions, ≥ 0.", notBelow0},
	{GradNorm, "Norm of the gradient before clipping, ≥ 0.", notBelow0},
	{LR, "Learning rate, ≥ 0.", notBelow0},
	{LenMean, "Mean length of a completion, in tokens, ≥ 0.", notBelow0},
	{LenMin, "Length of the shortest completion, in tokens, ≥ 0.", notBelow0},
	{LenMax, "Length of the longest completion, in tokens, ≥ 0.", notBelow0},
	{LenClipped, "Fraction of completions cut at the length limit, in [0, 1].", share},
	{EvalScore, "Score in evaluation: the mean reward, or the benchmark's score.", anyValue},
}

// Family returns the quantity without the name of what it is of.
func (q Quantity) Family() Quantity {
	family, _, _ := strings.Cut(string(q), "/")
	return Quantity(family)
}

// definition returns the definition of the quantity's family.
func (q Quantity) definition() Definition { return Quantities[q.rank()] }

// rank is the position of the quantity's family in Quantities.
func (q Quantity) rank() int {
	return slices.IndexFunc(Quantities, func(d Definition) bool { return d.Quantity == q.Family() })
}

// estimator is an estimate of the divergence KL(π‖π') of a sampled token by x = log π'/π
// (Schulman, Approximating KL divergence, 2020): k1 is −x, k2 and k3 are never negative.
type estimator string

const (
	k2 estimator = "k2" // x²/2
	k3 estimator = "k3" // e^x − x − 1
)
