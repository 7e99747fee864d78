package logs

import "slices"

// Trainer is a program that trains, or Plain.
type Trainer string

// The trainers, and the columns of other files.
const (
	Plain    Trainer = ""
	Unsloth  Trainer = "Unsloth"
	TRL      Trainer = "TRL"
	Verl     Trainer = "verl"
	OpenRLHF Trainer = "OpenRLHF"
	NeMoRL   Trainer = "NeMo-RL"
	Slime    Trainer = "slime"
	PrimeRL  Trainer = "prime-rl"
	Grposim  Trainer = "grposim"
)

// trainer is a row of the table: a trainer with the keys that it writes.
type trainer struct {
	name       Trainer
	prefixes   []string    // of its keys, depending on the container
	needs      []string    // keys without which a file is not this trainer's
	containers []Container // that only this trainer writes
	evaluation evaluation  // where it puts evaluation
	row        rowMeaning  // what a row holds
	rules      []rule      // keys of training; of those of one quantity the first counts
	evalRules  []rule      // keys of evaluation, likewise
	unobserved string      // what its stock logs do not show, for docs/logs.md
}

// evaluation says which rows are rows of evaluation.
type evaluation int

const (
	evalShares evaluation = iota // a row may hold training and evaluation
	evalOwns                     // a row with a key of evaluation holds nothing of training
)

// rowMeaning says what a row of training holds.
type rowMeaning int

const (
	singleStep  rowMeaning = iota // one optimizer step, or one update of a batch of rollouts
	stepAverage                   // the mean since the last row
	unknownRow                    // either
)

// rule gives the quantity of a key.
type rule struct {
	key      string   // without the prefix; a * stands for any name
	quantity Quantity // a * is replaced by that name; "" for a key that only tells trainer or version
	meaning  string
	scale    float64 // factor to the unit of the quantity; 0 stands for 1
	with     string  // the rule applies only to files with this key, if one is given
	without  string  // only to files without this key, in a container that has every key the trainer writes
}

// trainers is the table, in the order of precedence among trainers of which a file has
// equally many keys. The keys are those of TRL v0.14 to v1.9, Unsloth of 2026-08, verl
// v0.3 to v0.8, OpenRLHF v0.11, and NeMo-RL, slime and prime-rl of 2026-08.
//
// Every trainer's keys are followed by the names of the quantities themselves.
var trainers = withNames([]trainer{
	{
		name: Plain, prefixes: []string{"", "train/"}, row: unknownRow,
		rules: []rule{
			{key: "reward", quantity: Reward, meaning: "The column reward; taken for the mean reward of the step."},
			{key: "reward_std", quantity: RewardStdAmbiguous, meaning: stdUnknown},
			{key: "kl", quantity: KLRef, meaning: "The column kl; taken for the divergence from the reference policy."},
			{key: "completion_length", quantity: LenMean, meaning: "The column completion_length: mean length of a completion."},
			{key: "response_length", quantity: LenMean, meaning: "The column response_length: mean length of a completion."},
			{key: "learning_rate", quantity: LR, meaning: "The column learning_rate."},
			{key: "loss", quantity: Loss, meaning: "The column loss."},
		},
		evalRules: []rule{{key: "eval_reward", quantity: EvalScore, meaning: evalReward}},
	},
	{
		name: Unsloth, prefixes: []string{"", "train/"}, evaluation: evalOwns, row: stepAverage,
		needs: []string{"completion_length", "completions/mean_length"}, containers: []Container{TrainerState},
		rules: slices.Concat([]rule{
			{key: "kl", quantity: KLRef, meaning: "Mean over tokens of the k3 estimate of KL(π‖π_ref). Unsloth logs it with beta = 0 too, so its presence does not show that there is a penalty."},
		}, trlRules),
		evalRules: evaluated(trlRules), unobserved: trlUnobserved + " Entropy is often not logged.",
	},
	{
		name: TRL, prefixes: []string{"", "train/"}, evaluation: evalOwns, row: stepAverage, containers: []Container{TrainerState},
		rules: trlRules, evalRules: evaluated(trlRules), unobserved: trlUnobserved,
	},
	{
		name: Verl, prefixes: []string{""},
		rules: []rule{
			{key: "critic/score/mean", quantity: Reward, meaning: "Mean score of the reward function, before any KL penalty in the reward."},
			{key: "critic/rewards/mean", quantity: Reward, meaning: "Mean reward less the KL penalty in the reward (use_kl_in_reward); the score itself is not in the file."},
			{key: "critic/group_reward/std_mean", quantity: RewardStdWithin, meaning: "Standard deviation within a group, mean over groups; of a proposed change, not of stock verl."},
			{key: "grpo/reward_group_std/mean", quantity: RewardStdWithin, meaning: "Standard deviation within a group, mean over groups; oumi adds it to verl."},
			{key: "grpo/frac_reward_zero_std", quantity: FracZeroStd, meaning: "Fraction of groups with equal rewards; oumi adds it to verl."},
			{key: "actor/kl_loss", quantity: KLRef, meaning: "Mean estimate of KL(π‖π_ref) before its coefficient, of the type kl_loss_type; logged with use_kl_loss only."},
			{key: "actor/reward_kl_penalty", quantity: KLRef, meaning: "Mean estimate of KL(π‖π_ref) that is subtracted from the reward, before its coefficient; logged with use_kl_in_reward only."},
			{key: "actor/ppo_kl", quantity: KLOld, meaning: "Mean of log π_old − log π over tokens and the updates of a batch: 0 in the first update of each."},
			{key: "actor/entropy", quantity: Entropy, meaning: "Mean entropy of the policy per token when the batch was sampled."},
			{key: "actor/entropy_loss", quantity: Entropy, meaning: "Mean entropy per token, not a loss in spite of its name; in old versions, or where the entropy is part of the loss."},
			{key: "actor/pg_clipfrac", quantity: ClipAny, meaning: "Fraction of tokens where the clipped term decides the loss, both bounds together; 0 with one update a batch, where the ratio is 1."},
			{key: "rollout_corr/rollout_is_mean", quantity: ISRatioMean, meaning: "Mean importance weight of the trainer's policy over the sampling engine's, per token or sequence by the configuration."},
			{key: "rollout_corr/rollout_is_max", quantity: ISRatioMax, meaning: "Largest such weight of the batch."},
			{key: "rollout_corr/kl", quantity: MismatchKL, meaning: "Mean of log π_sampling − log π_trainer over tokens: an estimate of the KL divergence between engine and trainer, in nats."},
			{key: "training/rollout_probs_diff_mean", quantity: ProbMismatch, meaning: "Mean absolute difference of probabilities, not of their logarithms."},
			{key: "actor/grad_norm", quantity: GradNorm, meaning: "Gradient norm before clipping, mean over the updates of the batch."},
			{key: "actor/pg_loss", quantity: Loss, meaning: "Policy-gradient loss, without the KL penalty."},
			{key: "critic/score/min", quantity: RewardMin, meaning: "Smallest score of a response."},
			{key: "critic/score/max", quantity: RewardMax, meaning: "Largest score of a response."},
			{key: "critic/rewards/min", quantity: RewardMin, meaning: "Smallest reward of a response, less the KL penalty in the reward."},
			{key: "critic/rewards/max", quantity: RewardMax, meaning: "Largest reward of a response, less the KL penalty in the reward."},
			{key: "critic/advantages/min", quantity: AdvantageMin, meaning: "Smallest advantage of a token."},
			{key: "critic/advantages/max", quantity: AdvantageMax, meaning: "Largest advantage of a token."},
			{key: "rollout_corr/rollout_is_eff_sample_size", quantity: ISEffective, meaning: "Effective sample size of the importance weights as a share of the samples."},
			{key: "response_length/min", quantity: LenMin, meaning: "Length of the shortest response."},
			{key: "response_length/max", quantity: LenMax, meaning: "Length of the longest response."},
			{key: "actor/lr", quantity: LR, meaning: "Learning rate of the actor."},
			{key: "response_length/mean", quantity: LenMean, meaning: "Mean length of a response; aborted ones count with length 0."},
			{key: "response_length/clip_ratio", quantity: LenClipped, meaning: "Fraction of responses as long as the longest allowed."},
		},
		evalRules: []rule{{key: "val-core/*", quantity: EvalScore + "/*", meaning: "Score in validation of this data source and variable."}},
		unobserved: "The reward's standard deviation, within a group or over the batch, and the fraction of groups without variance. " +
			"The share clipped at each bound: pg_clipfrac_lower is the share at the bound of dual clipping, not at the lower bound. " +
			"The age of samples: fully_async/count/* counts stale samples, not how old they are. A step is one batch of rollouts, hence train_batch_size / ppo_mini_batch_size · ppo_epochs optimizer steps.",
	},
	{
		name: OpenRLHF, prefixes: []string{"train/", ""},
		rules: []rule{
			{key: "reward", quantity: Reward, meaning: "Mean reward of the samples trained on; with dynamic filtering those of filtered groups are not among them."},
			{key: "rollout/reward_mean", quantity: Reward, meaning: "Mean reward of the step's rollouts."},
			{key: "group_reward_std", quantity: RewardStdWithin, meaning: "Standard deviation within a group (divisor G − 1), mean over groups."},
			{key: "rollout/reward_std", quantity: RewardStdBatch, meaning: "Standard deviation of the rewards over all rollouts of the step."},
			{key: "kl", quantity: KLRef, meaning: "Mean estimate of KL(π‖π_ref), of the configured type."},
			{key: "ppo_kl", quantity: KLOld, meaning: "Mean of log π_old − log π over tokens."},
			{key: "entropy_loss", quantity: Entropy, meaning: "Mean entropy per token, not a loss in spite of its name."},
			{key: "ppo_clip_ratio", quantity: ClipAny, meaning: "Fraction of tokens where the clipped term decides the loss, both bounds together; 0 with one update a batch, where the ratio is 1."},
			{key: "vllm_kl", quantity: MismatchKL, meaning: "Estimate of the KL divergence between vLLM and the trainer, in nats."},
			{key: "logprobs_diff", quantity: LogpMismatch, meaning: "Mean difference of log probabilities of tokens, in nats."},
			{key: "actor_grad_norm", quantity: GradNorm, meaning: "Gradient norm of the actor before clipping."},
			{key: "policy_loss", quantity: Loss, meaning: "Policy-gradient loss."},
			{key: "actor_lr", quantity: LR, meaning: "Learning rate of the actor."},
			{key: "response_length", quantity: LenMean, meaning: "Mean length of a response among the samples trained on."},
			{key: "rollout/response_length_mean", quantity: LenMean, meaning: "Mean length of a response among the step's rollouts."},
			{key: "rollout/truncated_rate", quantity: LenClipped, meaning: "Fraction of rollouts cut at the length limit."},
		},
		evalRules:  []rule{{key: "eval/*", quantity: EvalScore + "/*", meaning: "Score in evaluation of this data set and variable."}},
		unobserved: "The fraction of groups without variance: dynamic_filtering_pass_rate depends on the range of the filter. The share clipped at each bound.",
	},
	{
		name: NeMoRL, prefixes: []string{"train/", ""},
		rules: []rule{
			{key: "reward", quantity: Reward, meaning: "Mean reward of the step's samples."},
			{key: "baseline_reward/pct_0", quantity: FracAll0, scale: 0.01, meaning: "Share of samples whose baseline is exactly 0, logged in percent. The leave-one-out baseline (the default) is also 0 for the only success of a group, so this is not less than the fraction of groups. For rewards 0 and 1 only."},
			{key: "baseline_reward/pct_1", quantity: FracAll1, scale: 0.01, meaning: "Share of samples whose baseline is exactly 1, logged in percent. The leave-one-out baseline (the default) is also 1 for the only failure of a group, so this is not less than the fraction of groups. For rewards 0 and 1 only."},
			{key: "kl_penalty", quantity: KLRef, meaning: "Mean estimate of KL(π‖π_ref); whether its coefficient is in it depends on the version."},
			{key: "approx_entropy", quantity: Entropy, meaning: "Estimate of the entropy per token from the log probabilities of the sampled tokens."},
			{key: "probs_ratio", quantity: RatioMean, meaning: "Mean ratio π/π_old over tokens, before clipping."},
			{key: "probs_ratio_max", quantity: RatioMax, meaning: "Largest ratio π/π_old of a token, before clipping."},
			{key: "sampling_importance_ratio", quantity: ISRatioMean, meaning: "Mean importance weight of the trainer's policy over the generation engine's."},
			{key: "gen_kl_error", quantity: MismatchKL, meaning: "Estimate of the KL divergence between generation engine and trainer, in nats."},
			{key: "avg_trajectory_age", quantity: Staleness, meaning: "Mean age of the trajectories trained on, in training steps; logged in asynchronous runs only."},
			{key: "grad_norm", quantity: GradNorm, meaning: "Gradient norm before clipping."},
			{key: "lr", quantity: LR, meaning: "Learning rate."},
			{key: "loss", quantity: Loss, meaning: "Loss of the update."},
			{key: "advantages/min", quantity: AdvantageMin, meaning: "Smallest advantage of a sample."},
			{key: "advantages/max", quantity: AdvantageMax, meaning: "Largest advantage of a sample."},
			{key: "mean_gen_tokens_per_sample", quantity: LenMean, meaning: "Mean number of generated tokens of a sample, over all its turns."},
			{key: "truncation_rate", quantity: LenClipped, meaning: "Fraction of samples cut at the length limit."},
		},
		evalRules:  []rule{{key: "validation/accuracy", quantity: EvalScore, meaning: "Mean reward in validation."}},
		unobserved: "The reward's standard deviation. The fraction of groups without variance, but for rewards 0 and 1, where it is at most pct_0 + pct_1. The share clipped at each bound.",
	},
	{
		name: Slime, prefixes: []string{""},
		rules: []rule{
			{key: "rollout/raw_reward", quantity: Reward, meaning: "Mean reward of the rollouts. (rollout/rewards is the mean after normalization by group, near 0 by construction.)"},
			{key: "rollout/zero_std/all_zero_ratio", quantity: FracAll0, meaning: "Fraction of groups whose rewards are all 0; miles logs it."},
			{key: "zero_std/all_zero_ratio", quantity: FracAll0, meaning: "Fraction of groups whose rewards are all 0; miles logs it."},
			{key: "rollout/zero_std/all_one_ratio", quantity: FracAll1, meaning: "Fraction of groups whose rewards are all 1; miles logs it."},
			{key: "zero_std/all_one_ratio", quantity: FracAll1, meaning: "Fraction of groups whose rewards are all 1; miles logs it."},
			{key: "train/kl_loss", quantity: KLRef, meaning: "Mean estimate of KL(π‖π_ref) before its coefficient; logged with use_kl_loss only."},
			{key: "train/ppo_kl", quantity: KLOld, meaning: "Mean of log π_old − log π over tokens."},
			{key: "train/entropy_loss", quantity: Entropy, meaning: "Mean entropy per token, not a loss in spite of its name."},
			{key: "train/pg_clipfrac", quantity: ClipAny, meaning: "Fraction of tokens where the clipped term decides the loss, both bounds together; 0 with one update a batch, where the ratio is 1."},
			{key: "train/tis", quantity: ISRatioMean, meaning: "Mean importance weight of the trainer's policy over the sampling engine's, before truncation."},
			{key: "train/train_rollout_logprob_abs_diff", quantity: LogpMismatch, meaning: "Mean absolute difference of log probabilities between trainer and sampling engine, in nats."},
			{key: "train/grad_norm", quantity: GradNorm, meaning: "Gradient norm before clipping."},
			{key: "train/loss", quantity: Loss, meaning: "Loss of the update."},
			{key: "train/lr-pg_0", quantity: LR, meaning: "Learning rate of the first parameter group."},
			{key: "rollout/response_len/mean", quantity: LenMean, meaning: "Mean length of a response."},
			{key: "rollout/truncated_ratio", quantity: LenClipped, meaning: "Fraction of responses cut at the length limit."},
		},
		evalRules:  []rule{{key: "eval/*", quantity: EvalScore + "/*", meaning: "Score in evaluation of this data set and variable."}},
		unobserved: "The reward's standard deviation. The fraction of groups without variance: zero_std/count_REWARD is a number of groups, and the number of all is not logged. The share clipped at each bound.",
	},
	{
		name: PrimeRL, prefixes: []string{"train/agg/all/*/", "train/", ""},
		rules: []rule{
			{key: "reward/mean", quantity: Reward, meaning: "Mean reward of all rollouts of the agent, before filters."},
			{key: "reward/std", quantity: RewardStdBatch, meaning: "Standard deviation of the rewards over all rollouts of the step."},
			{key: "solved_none", quantity: FracAll0, meaning: "Fraction of groups in which no rollout is solved."},
			{key: "solved_all", quantity: FracAll1, meaning: "Fraction of groups in which every rollout is solved."},
			{key: "mismatch_kl/all/mean", quantity: MismatchKL, meaning: "Mean estimate of the KL divergence between inference engine and trainer, in nats."},
			{key: "entropy/all/mean", quantity: Entropy, meaning: "Mean entropy per token."},
			{key: "off_policy/max", quantity: StalenessMax, meaning: "Largest number of policy versions by which a rollout is behind."},
			{key: "loss/mean", quantity: Loss, meaning: "Loss of the update."},
			{key: "off_policy/mean", quantity: Staleness, meaning: "Mean number of policy versions by which the rollouts are behind."},
			{key: "optim/grad_norm", quantity: GradNorm, meaning: "Gradient norm before clipping."},
			{key: "optim/lr", quantity: LR, meaning: "Learning rate."},
			{key: "num_output_tokens/mean", quantity: LenMean, meaning: "Mean number of generated tokens of a rollout."},
			{key: "is_truncated/mean", quantity: LenClipped, meaning: "Fraction of rollouts cut at the length limit."},
		},
		unobserved: "The standard deviation within a group. The share clipped at each bound. The divergence from a reference policy.",
	},
	{
		name: Grposim, prefixes: []string{""},
		rules: []rule{
			{key: "expected_reward", quantity: Reward, meaning: "Expected reward J = Σ π_a m_a."},
			{key: "true_reward", quantity: EvalScore, meaning: "Expected intended reward Σ π_a · intended mean of arm a."},
			{key: "zero_variance_fraction", quantity: FracZeroStd, meaning: "Fraction of the step's groups with equal rewards."},
			{key: "kl_reference", quantity: KLRef, meaning: "KL(π‖π_ref)."},
			{key: "entropy", quantity: Entropy, meaning: "Entropy −Σ π log π of the policy over its arms."},
			{key: "collision", quantity: Collision, meaning: "Σ π² over the arms."},
			{key: "clip_fraction", quantity: ClipAny, meaning: "Fraction of samples of nonzero advantage whose weight the clip sets to 0."},
			{key: "importance_ratio_max", quantity: RatioMax, meaning: "Largest ratio π/π_old over the arms."},
			{key: "gradient_norm", quantity: GradNorm, meaning: "Norm of the step's gradient."},
		},
		unobserved: "The reward's standard deviation.",
	},
})

const (
	evalReward = "Mean reward in evaluation."

	stdWithin  = "Standard deviation of the rewards within a group (divisor G − 1), mean over groups."
	stdBatch   = "Standard deviation of the rewards over all samples of the batch, which includes the differences between prompts."
	stdUnknown = "In TRL before v0.27.0 the standard deviation within a group (divisor G − 1), mean over groups, or with scale_rewards = batch of the batch; from v0.27.0 always that of the whole batch. The file does not tell the version."

	trlUnobserved = "The standard deviation within a group, from v0.27.0. Which groups without variance are all right or all wrong. " +
		"Clipping, with the default num_iterations = 1 and one generation per update: the ratio is 1 and clip_ratio/* is 0 whatever the policy does. The age of samples."
)

// trlRules are the keys of TRL's GRPOTrainer.
var trlRules = []rule{
	{key: "reward", quantity: Reward, meaning: "Mean over the batch of the weighted sum of the reward functions."},
	{key: "reward_std", quantity: RewardStdWithin, with: "rewards/*", meaning: stdWithin + " Keys rewards/NAME without /mean show a version up to v0.16."},
	{key: "reward_std", quantity: RewardStdWithin, without: "frac_reward_zero_std", meaning: stdWithin + " The lack of frac_reward_zero_std shows a version before v0.18."},
	{key: "reward_std", quantity: RewardStdBatch, with: "vespo/phi_seq_mean", meaning: stdBatch + " Key vespo/phi_seq_mean shows a version from v1.0."},
	{key: "reward_std", quantity: RewardStdBatch, with: "policy_loss", meaning: stdBatch + " Key policy_loss shows a version from v1.9."},
	{key: "reward_std", quantity: RewardStdBatch, with: "entropy_coef", meaning: stdBatch + " Key entropy_coef shows a version from v1.9."},
	{key: "reward_std", quantity: RewardStdAmbiguous, meaning: stdUnknown},
	{key: "rewards/*/mean", quantity: RewardComponent + "/*", meaning: "Mean of this reward function over the batch, before its weight."},
	{key: "rewards/*/std", quantity: RewardComponentStd + "/*", meaning: "Standard deviation of this reward function over the whole batch, in every version."},
	{key: "rewards/*", quantity: RewardComponent + "/*", meaning: "Mean of this reward function over the batch, before its weight (key of versions up to v0.16)."},
	{key: "frac_reward_zero_std", quantity: FracZeroStd, meaning: "Fraction of groups with equal rewards; with scale_rewards = batch or multi_objective_aggregation = normalize_then_sum 0 or 1 for the batch as a whole."},
	{key: "kl", quantity: KLRef, meaning: "Mean over tokens of the k3 estimate of KL(π‖π_ref); logged with beta ≠ 0 only."},
	{key: "entropy", quantity: Entropy, meaning: "Mean entropy per token of the completions."},
	{key: "clip_ratio/low_mean", quantity: ClipLow, meaning: "Fraction of tokens clipped at the lower bound; 0 with num_iterations = 1 and one generation per update, where the ratio is 1."},
	{key: "clip_ratio/high_mean", quantity: ClipHigh, meaning: "Fraction of tokens clipped at the upper bound; 0 with num_iterations = 1 and one generation per update, where the ratio is 1."},
	{key: "clip_ratio/region_mean", quantity: ClipAny, meaning: "Fraction of tokens clipped at either bound; 0 with num_iterations = 1 and one generation per update, where the ratio is 1."},
	{key: "clip_ratio", quantity: ClipAny, meaning: "Fraction of tokens clipped at either bound (versions up to v0.16, and the Liger loss); 0 with num_iterations = 1, where the ratio is 1."},
	{key: "ratio", quantity: RatioMean, meaning: "Mean ratio π/π_old over tokens, of the asynchronous trainer."},
	{key: "sampling/importance_sampling_ratio/mean", quantity: ISRatioMean, meaning: "Mean importance weight of the trainer's policy over vLLM's, after its cap."},
	{key: "sampling/importance_sampling_ratio/max", quantity: ISRatioMax, meaning: "Largest importance weight of the trainer's policy over vLLM's, after its cap."},
	{key: "sampling/sampling_logp_difference/mean", quantity: LogpMismatch, meaning: "Mean absolute difference of log probabilities between vLLM and the trainer, in nats."},
	{key: "grad_norm", quantity: GradNorm, meaning: "Gradient norm before clipping, of the row's last step."},
	{key: "learning_rate", quantity: LR, meaning: "Learning rate of the row's last step."},
	{key: "loss", quantity: Loss, meaning: "Loss of the update, mean over the row's steps."},
	{key: "completions/min_length", quantity: LenMin, meaning: "Length of the shortest completion."},
	{key: "completions/max_length", quantity: LenMax, meaning: "Length of the longest completion."},
	{key: "completions/mean_length", quantity: LenMean, meaning: "Mean length of a completion."},
	{key: "completion_length", quantity: LenMean, meaning: "Mean length of a completion (key of versions up to v0.16, and of Unsloth)."},
	{key: "vespo/phi_seq_mean"}, {key: "policy_loss"}, {key: "entropy_coef"}, // tell the version
	{key: "completions/clipped_ratio", quantity: LenClipped, meaning: "Fraction of completions without an end token, cut at the length limit."},
}

// stepKeys are the keys of the step, the first of which a file has counts. Those of
// W&B come last: they count calls that log, which other rows share.
var stepKeys = []string{
	"train/global_step", "global_step", "global_step/max_steps", "rollout/step", "train/step", "step",
	"training/global_step", "Step", "_step",
}

// evalStepKey is the key of the step of rows of evaluation that have no other.
const evalStepKey = "eval/global_step"

// names are the rules for keys that are called as the quantities are.
var names = func() (rules []rule) {
	for _, d := range Quantities {
		key := string(d.Quantity)
		if d.Quantity == RewardComponent || d.Quantity == RewardComponentStd {
			key += "/*"
		}
		rules = append(rules, rule{key: key, quantity: Quantity(key), meaning: d.Text})
	}
	return rules
}()

// withNames adds the names of the quantities to the keys of every trainer.
func withNames(all []trainer) []trainer {
	for i := range all {
		all[i].rules = slices.Concat(all[i].rules, names)
	}
	return all
}

// evaluated returns the rules for keys eval_KEY, and eval/KEY as W&B has them.
func evaluated(rules []rule) []rule {
	var of []rule
	for _, prefix := range []string{"eval_", "eval/"} {
		for _, r := range rules {
			if r.quantity == Reward {
				r.quantity, r.meaning = EvalScore, evalReward
			}
			r.key = prefix + r.key
			of = append(of, r)
		}
	}
	return of
}
