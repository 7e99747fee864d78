package logs

import (
	"fmt"
	"slices"
)

// Trainer is a program that trains, or Plain.
type Trainer string

// The trainers, and the columns of other files.
const (
	Plain        Trainer = ""
	Unsloth      Trainer = "Unsloth"
	TRL          Trainer = "TRL"
	Verl         Trainer = "verl"
	OpenRLHF     Trainer = "OpenRLHF"
	NeMoRL       Trainer = "NeMo-RL"
	Slime        Trainer = "slime"
	PrimeRL      Trainer = "prime-rl"
	Tinker       Trainer = "tinker"
	SkyRL        Trainer = "SkyRL"
	OpenInstruct Trainer = "open-instruct"
	Torchforge   Trainer = "torchforge"
	AReaL        Trainer = "AReaL"
	MLX          Trainer = "mlx-lm-lora"
	Grposim      Trainer = "grposim"
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
	key       string   // without the prefix, whatever its case; a * stands for any name
	quantity  Quantity // a * is replaced by that name; "" for a key that only tells trainer or version
	meaning   string
	estimator Estimator // of a divergence
	scale     float64   // factor to the unit of the quantity; 0 stands for 1
	rest      bool      // the quantity is 1 minus the value
	with      string    // the rule applies only to files with this key, if one is given
	without   string    // only to files without this key, in a container that has every key the trainer writes
}

// trainers is the table, in the order of precedence among trainers of which a file has
// equally many keys. The keys are those of TRL v0.14 to v1.9, Unsloth of 2026-08, verl
// v0.3 to v0.8, OpenRLHF v0.11, and NeMo-RL, slime, prime-rl, tinker-cookbook, SkyRL,
// open-instruct and mlx-lm-lora of 2026-08, AReaL of 2026-05, torchforge of 2025-11.
//
// Every trainer's keys are followed by general names and those of the quantities themselves.
var trainers = withNames([]trainer{
	{
		name: Plain, prefixes: []string{"", "train/"}, row: unknownRow, rules: general,
		evalRules: []rule{
			{key: "eval_reward", quantity: EvalScore, meaning: evalReward},
			{key: "val_reward", quantity: EvalScore, meaning: evalReward},
			{key: "validation_reward", quantity: EvalScore, meaning: evalReward},
		},
	},
	{
		name: Unsloth, prefixes: []string{"", "train/"}, evaluation: evalOwns, row: stepAverage,
		needs: []string{"completion_length", "completions/mean_length"}, containers: []Container{TrainerState},
		rules: slices.Concat([]rule{
			{key: "kl", quantity: KLRef, estimator: K3, meaning: "Mean over tokens of the k3 estimate of KL(π‖π_ref). Unsloth logs it with beta = 0 too, so its presence does not show that there is a penalty."},
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
			{key: "reward/overall", quantity: Reward, meaning: "Mean score of the reward function, of EasyR1."},
			{key: "reward/format", quantity: RewardComponent + "/format", meaning: "Mean score of the format, of EasyR1."},
			{key: "reward/accuracy", quantity: RewardComponent + "/accuracy", meaning: "Mean score of the answer, of EasyR1."},
			{key: "critic/*_score/mean", quantity: RewardComponent + "/*", meaning: "Mean of one part of the score, of forks that log it."},
			{key: "batch/solve_none", quantity: CountAll0, meaning: solvedCount("no response is right")},
			{key: "batch/solve_all", quantity: CountAll1, meaning: solvedCount("every response is right")},
			{key: "batch/num_tasks", quantity: Groups, meaning: "Number of tasks, hence of groups; rLLM logs it."},
			{key: "critic/group_reward/std_mean", quantity: RewardStdWithin, meaning: "Standard deviation within a group, mean over groups; of a proposed change, not of stock verl."},
			{key: "grpo/reward_group_std/mean", quantity: RewardStdWithin, meaning: "Standard deviation within a group, mean over groups; oumi adds it to verl."},
			{key: "grpo/frac_reward_zero_std", quantity: FracZeroStd, meaning: "Fraction of groups with equal rewards; oumi adds it to verl."},
			{key: "actor/kl_loss", quantity: KLRef, estimator: Configured, meaning: "Mean estimate of KL(π‖π_ref) before its coefficient, of the type kl_loss_type; logged with use_kl_loss only."},
			{key: "actor/reward_kl_penalty", quantity: KLRef, estimator: Configured, meaning: "Mean estimate of KL(π‖π_ref) that is subtracted from the reward, before its coefficient; logged with use_kl_in_reward only."},
			{key: "actor/ppo_kl", quantity: KLOld, meaning: "Mean of log π_old − log π over tokens and the updates of a batch: 0 in the first update of each."},
			{key: "actor/entropy", quantity: Entropy, meaning: "Mean entropy of the policy per token when the batch was sampled."},
			{key: "actor/entropy_loss", quantity: Entropy, meaning: "Mean entropy per token, not a loss in spite of its name; in old versions, or where the entropy is part of the loss."},
			{key: "actor/pg_clipfrac", quantity: ClipAny, meaning: "Fraction of tokens where the clipped term decides the loss, both bounds together; 0 with one update a batch, where the ratio is 1."},
			{key: "rollout_corr/rollout_is_mean", quantity: ISRatioMean, meaning: "Mean importance weight of the trainer's policy over the sampling engine's, per token or sequence by the configuration."},
			{key: "rollout_corr/rollout_is_max", quantity: ISRatioMax, meaning: "Largest such weight of the batch."},
			{key: "rollout_corr/kl", quantity: MismatchKL, estimator: K1, meaning: "Mean of log π_sampling − log π_trainer over tokens: an estimate of the KL divergence between engine and trainer, in nats."},
			{key: "rollout_corr/k3_kl", quantity: MismatchKL, estimator: K3, meaning: "The k3 estimate of the same divergence, never negative."},
			{key: "training/off_policy/trajectory_staleness/mean", quantity: Staleness, meaning: "Number of policy versions between the newest version that sampled a trajectory and the trained one, mean over trajectories."},
			{key: "training/off_policy/trajectory_staleness/max", quantity: StalenessMax, meaning: "Largest such number."},
			{key: "training/rollout_probs_diff_mean", quantity: ProbMismatch, meaning: "Mean absolute difference of probabilities, not of their logarithms."},
			{key: "actor/grad_norm", quantity: GradNorm, meaning: "Gradient norm before clipping, mean over the updates of the batch."},
			{key: "actor/pg_loss", quantity: Loss, meaning: "Policy-gradient loss, without the KL penalty."},
			{key: "actor/loss", quantity: Loss, meaning: "Loss of the update, with the KL penalty and the bonus for entropy."},
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
			{key: "kl", quantity: KLRef, estimator: Configured, meaning: "Mean estimate of KL(π‖π_ref), of the configured type."},
			{key: "ppo_kl", quantity: KLOld, meaning: "Mean of log π_old − log π over tokens."},
			{key: "entropy_loss", quantity: Entropy, meaning: "Mean entropy per token, not a loss in spite of its name."},
			{key: "ppo_clip_ratio", quantity: ClipAny, meaning: "Fraction of tokens where the clipped term decides the loss, both bounds together; 0 with one update a batch, where the ratio is 1."},
			{key: "vllm_kl", quantity: MismatchKL, meaning: "Estimate of the KL divergence between vLLM and the trainer, in nats."},
			{key: "logprobs_diff", quantity: KLRef, estimator: K1, meaning: "Mean of log π − log π_ref over tokens, the k1 estimate of KL(π‖π_ref); it can be negative."},
			{key: "actor_grad_norm", quantity: GradNorm, meaning: "Gradient norm of the actor before clipping."},
			{key: "policy_loss", quantity: Loss, meaning: "Policy-gradient loss."},
			{key: "actor_lr", quantity: LR, meaning: "Learning rate of the actor."},
			{key: "response_length", quantity: LenMean, meaning: "Mean length of a response among the samples trained on."},
			{key: "rollout/response_length_mean", quantity: LenMean, meaning: "Mean length of a response among the step's rollouts."},
			{key: "rollout/truncated_rate", quantity: LenClipped, meaning: "Fraction of rollouts cut at the length limit."},
			{key: "rm", quantity: Reward, meaning: "reward, as progress bars of versions up to v0.7 call it."},
			{key: "pg", quantity: Loss, meaning: "policy_loss, as those bars call it."},
			{key: "ent", quantity: Entropy, meaning: "entropy_loss, as those bars call it."},
			{key: "act_lr", quantity: LR, meaning: "actor_lr, as those bars call it."},
			{key: "glen", quantity: LenMean, meaning: "response_length, as those bars call it."},
		},
		evalRules:  []rule{{key: "eval/*", quantity: EvalScore + "/*", meaning: "Score in evaluation of this data set and variable."}},
		unobserved: "The fraction of groups without variance: dynamic_filtering_pass_rate depends on the range of the filter. The share clipped at each bound.",
	},
	{
		name: NeMoRL, prefixes: []string{"train/", ""},
		rules: []rule{
			{key: "reward", quantity: Reward, meaning: "Mean reward of the step's samples."},
			{key: "Avg Reward", quantity: Reward, meaning: "Mean reward of the step's samples, as the console has it."},
			{key: "Avg Total Reward", quantity: Reward, meaning: "Mean reward of all samples, before dynamic sampling, as the console has it."},
			{key: "Avg Filtered Reward", quantity: Reward, meaning: "Mean reward of the samples that dynamic sampling keeps, as the console has it."},
			{key: "baseline_reward/pct_0", quantity: FracAll0, scale: 0.01, meaning: "Share of samples whose baseline is exactly 0, logged in percent. The leave-one-out baseline (the default) is also 0 for the only success of a group, so this is not less than the fraction of groups. For rewards 0 and 1 only."},
			{key: "baseline_reward/pct_1", quantity: FracAll1, scale: 0.01, meaning: "Share of samples whose baseline is exactly 1, logged in percent. The leave-one-out baseline (the default) is also 1 for the only failure of a group, so this is not less than the fraction of groups. For rewards 0 and 1 only."},
			{key: "kl_penalty", quantity: KLRef, estimator: K3, meaning: "Mean estimate of KL(π‖π_ref); whether its coefficient is in it depends on the version."},
			{key: "approx_entropy", quantity: Entropy, meaning: "Estimate of the entropy per token from the log probabilities of the sampled tokens."},
			{key: "probs_ratio", quantity: RatioMean, meaning: "Mean ratio π/π_old over tokens, before clipping."},
			{key: "probs_ratio_max", quantity: RatioMax, meaning: "Largest ratio π/π_old of a token, before clipping."},
			{key: "sampling_importance_ratio", quantity: ISRatioMean, meaning: "Mean importance weight of the trainer's policy over the generation engine's."},
			{key: "gen_kl_error", quantity: MismatchKL, meaning: "Estimate of the KL divergence between generation engine and trainer, in nats."},
			{key: "Generation KL Error", quantity: MismatchKL, meaning: "The same, as the console has it."},
			{key: "avg_trajectory_age", quantity: Staleness, meaning: "Mean age of the trajectories trained on, in training steps; logged in asynchronous runs only."},
			{key: "grad_norm", quantity: GradNorm, meaning: "Gradient norm before clipping."},
			{key: "lr", quantity: LR, meaning: "Learning rate."},
			{key: "loss", quantity: Loss, meaning: "Loss of the update."},
			{key: "advantages/min", quantity: AdvantageMin, meaning: "Smallest advantage of a sample."},
			{key: "advantages/max", quantity: AdvantageMax, meaning: "Largest advantage of a sample."},
			{key: "mean_gen_tokens_per_sample", quantity: LenMean, meaning: "Mean number of generated tokens of a sample, over all its turns."},
			{key: "Mean Generation Length", quantity: LenMean, meaning: "The same, as the console has it."},
			{key: "truncation_rate", quantity: LenClipped, meaning: "Fraction of samples cut at the length limit."},
		},
		evalRules:  []rule{{key: "validation/accuracy", quantity: EvalScore, meaning: "Mean reward in validation."}},
		unobserved: "The reward's standard deviation. The fraction of groups without variance, but for rewards 0 and 1, where it is at most pct_0 + pct_1. The share clipped at each bound.",
	},
	{
		name: Slime, prefixes: []string{""},
		rules: []rule{
			{key: "rollout/raw_reward", quantity: Reward, meaning: "Mean reward of the rollouts. (rollout/rewards is the mean after normalization by group, near 0 by construction.)"},
			{key: "rollout/zero_std/count_0", quantity: CountAll0, meaning: "Number of groups whose rewards, rounded to one digit, are all 0."},
			{key: "rollout/zero_std/count_0.0", quantity: CountAll0, meaning: "Number of groups whose rewards, rounded to one digit, are all 0."},
			{key: "rollout/zero_std/count_1", quantity: CountAll1, meaning: "Number of groups whose rewards, rounded to one digit, are all 1."},
			{key: "rollout/zero_std/count_1.0", quantity: CountAll1, meaning: "Number of groups whose rewards, rounded to one digit, are all 1."},
			{key: countOfReward + "*", quantity: CountZeroStd, meaning: "Number of groups with equal rewards: the sum over the values of the reward."},
			{key: "rollout/zero_std/all_zero_percentage", quantity: FracAll0, meaning: "Fraction of groups whose rewards are all 0, in spite of the name no percentage."},
			{key: "rollout/zero_std/all_one_percentage", quantity: FracAll1, meaning: "Fraction of groups whose rewards are all 1, in spite of the name no percentage."},
			{key: "rollout/zero_std/all_zero_ratio", quantity: FracAll0, meaning: "Fraction of groups whose rewards are all 0; miles logs it."},
			{key: "zero_std/all_zero_ratio", quantity: FracAll0, meaning: "Fraction of groups whose rewards are all 0; miles logs it."},
			{key: "rollout/zero_std/all_one_ratio", quantity: FracAll1, meaning: "Fraction of groups whose rewards are all 1; miles logs it."},
			{key: "zero_std/all_one_ratio", quantity: FracAll1, meaning: "Fraction of groups whose rewards are all 1; miles logs it."},
			{key: "train/kl_loss", quantity: KLRef, estimator: Configured, meaning: "Mean estimate of KL(π‖π_ref) before its coefficient; logged with use_kl_loss only."},
			{key: "train/ppo_kl", quantity: KLOld, meaning: "Mean of log π_old − log π over tokens."},
			{key: "train/entropy_loss", quantity: Entropy, meaning: "Mean entropy per token, not a loss in spite of its name."},
			{key: "train/pg_clipfrac", quantity: ClipAny, meaning: "Fraction of tokens where the clipped term decides the loss, both bounds together; 0 with one update a batch, where the ratio is 1."},
			{key: "train/tis", quantity: ISRatioMean, meaning: "Mean importance weight of the trainer's policy over the sampling engine's, before truncation."},
			{key: "train/train_rollout_logprob_abs_diff", quantity: LogpMismatch, meaning: "Mean absolute difference of log probabilities between trainer and sampling engine, in nats."},
			{key: "train/grad_norm", quantity: GradNorm, meaning: "Gradient norm before clipping."},
			{key: "train/loss", quantity: Loss, meaning: "Loss of the update."},
			{key: "train/lr-pg_0", quantity: LR, meaning: "Learning rate of the first parameter group."},
			{key: "rollout/response_len/mean", quantity: LenMean, meaning: "Mean length of a response."},
			{key: "rollout/response_lengths", quantity: LenMean, meaning: "Mean length of a response."},
			{key: "rollout/response_len/min", quantity: LenMin, meaning: "Length of the shortest response."},
			{key: "rollout/response_len/max", quantity: LenMax, meaning: "Length of the longest response."},
			{key: "rollout/truncated_ratio", quantity: LenClipped, meaning: "Fraction of responses cut at the length limit."},
			{key: "rollout/truncated", quantity: LenClipped, meaning: "Fraction of responses cut at the length limit."},
		},
		evalRules:  []rule{{key: "eval/*", quantity: EvalScore + "/*", meaning: "Score in evaluation of this data set and variable."}},
		unobserved: "The reward's standard deviation. The fraction of groups without variance: zero_std/count_REWARD is a number of groups, and the number of all is not logged; miles logs fractions. The share clipped at each bound.",
	},
	{
		name: PrimeRL, prefixes: []string{"train/agg/all/*/", "train/", ""},
		rules: []rule{
			{key: "reward/mean", quantity: Reward, meaning: "Mean reward of all rollouts of the agent, before filters."},
			{key: "reward/std", quantity: RewardStdBatch, meaning: "Standard deviation of the rewards over all rollouts of the step."},
			{key: "solved_none", quantity: FracAll0, meaning: "Fraction of groups in which no rollout is solved."},
			{key: "solved_all", quantity: FracAll1, meaning: "Fraction of groups in which every rollout is solved."},
			{key: "reward/min", quantity: RewardMin, meaning: "Smallest reward of a rollout."},
			{key: "reward/max", quantity: RewardMax, meaning: "Largest reward of a rollout."},
			{key: "batch/solve_none", quantity: FracAll0, meaning: "Fraction of groups in which no rollout is solved; in versions of 2025."},
			{key: "batch/solve_all", quantity: FracAll1, meaning: "Fraction of groups in which every rollout is solved; in versions of 2025."},
			{key: "mismatch_kl/mean", quantity: MismatchKL, estimator: K3, meaning: "Mean k3 estimate of the KL divergence between inference engine and trainer, in nats; in versions of 2025."},
			{key: "Mismatch KL", quantity: MismatchKL, estimator: K3, meaning: "Mean k3 estimate of the KL divergence between inference engine and trainer, in nats, as the console has it."},
			{key: "entropy/mean", quantity: Entropy, meaning: "Mean entropy per token; in versions of 2025."},
			{key: "batch/off_policy_level/mean", quantity: Staleness, meaning: "Mean number of policy versions by which the rollouts are behind; in versions of 2025."},
			{key: "batch/off_policy_level/max", quantity: StalenessMax, meaning: "Largest number of policy versions by which a rollout is behind; in versions of 2025."},
			{key: "Max. Off-Policy Level", quantity: StalenessMax, meaning: "Largest number of policy versions by which a rollout is behind, as the console has it."},
			{key: "Max Off-Policy", quantity: StalenessMax, meaning: "Largest number of policy versions by which a rollout is behind, as the console has it."},
			{key: "Truncation", quantity: LenClipped, meaning: "Fraction of rollouts cut at the length limit, as the console has it."},
			{key: "decode_len/mean", quantity: LenMean, meaning: "Mean number of generated tokens of a rollout; in versions of 2026."},
			{key: "completion_len/mean", quantity: LenMean, meaning: "Mean number of generated tokens of a rollout; in versions of 2025."},
			{key: "seq_len/mean", quantity: LenMean, meaning: "Mean number of tokens of a rollout, with those of the prompt."},
			{key: "Seq. Length", quantity: LenMean, meaning: "Mean number of tokens of a rollout, with those of the prompt, as the console has it."},
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
		evalRules:  primeEvaluation(),
		unobserved: "The standard deviation within a group. The share clipped at each bound. The divergence from a reference policy.",
	},
	{
		name: Tinker, prefixes: []string{""},
		rules: []rule{
			{key: "env/all/reward/total", quantity: Reward, meaning: "Mean total reward of an episode, over all environments."},
			{key: "env/*/reward/total", quantity: RewardComponent + "/*", meaning: "Mean total reward of an episode of the environments with this tag: a part of the episodes, not of the reward."},
			{key: "env/all/correct", quantity: RewardComponent + "/correct", meaning: "Share of right answers, of environments that log it."},
			{key: "env/all/format", quantity: RewardComponent + "/format", meaning: "Share of answers in the right form, of environments that log it."},
			{key: "env/all/by_group/frac_all_bad", quantity: FracAll0, meaning: "Fraction of groups with equal rewards below 0.5."},
			{key: "env/all/by_group/frac_all_good", quantity: FracAll1, meaning: "Fraction of groups with equal rewards of 0.5 or more."},
			{key: "optim/kl_sample_train_v1", quantity: MismatchKL, estimator: K1, meaning: "Mean of log π_sampling − log π_trainer over tokens, the k1 estimate of the KL divergence between sampler and trainer; it can be negative. Samples of older policies count too."},
			{key: "optim/kl_sample_train_v2", quantity: MismatchKL, estimator: K2, meaning: "Half the mean square of that difference, the k2 estimate."},
			{key: "kl_policy_base", quantity: KLRef, estimator: K1, meaning: "Mean of log π − log π_ref over tokens, the k1 estimate of KL(π‖π_ref); it can be negative."},
			{key: "optim/entropy", quantity: Entropy, meaning: "Mean of −log π_sampling over the sampled tokens: an estimate of the entropy per token."},
			{key: "optim/grad_norm", quantity: GradNorm, meaning: "Gradient norm."},
			{key: "optim/lr", quantity: LR, meaning: "Learning rate."},
			{key: "env/all/ac_tokens_per_turn", quantity: LenMean, meaning: "Mean number of sampled tokens of a turn; an episode may have several turns."},
		},
		evalRules: []rule{
			{key: "test/env/all/reward/total", quantity: EvalScore, meaning: evalReward},
			{key: "test/env/all/correct", quantity: EvalScore + "/correct", meaning: "Share of right answers in evaluation."},
		},
		unobserved: "The reward's standard deviation. Clipping. The age of samples: sampling_client/step_mean is a step, not an age.",
	},
	{
		name: SkyRL, prefixes: []string{""},
		rules: []rule{
			{key: "reward/avg_raw_reward", quantity: Reward, meaning: "Mean reward of the step's trajectories."},
			{key: "loss/avg_final_rewards", quantity: Reward, meaning: "Mean reward less the KL penalty in the reward."},
			{key: "reward/min", quantity: RewardMin, meaning: "Smallest reward of a trajectory."},
			{key: "reward/max", quantity: RewardMax, meaning: "Largest reward of a trajectory."},
			{key: "reward/num_zero_variance_filtered", quantity: CountZeroStd, meaning: "Number of groups with equal rewards, which the filter removes."},
			{key: "policy/policy_kl", quantity: KLRef, estimator: Configured, meaning: "Mean estimate of KL(π‖π_ref) before its coefficient, of the configured type."},
			{key: "loss/avg_kl", quantity: KLRef, meaning: "Mean estimate of KL(π‖π_ref) in the reward, before its coefficient."},
			{key: "policy/policy_entropy", quantity: Entropy, meaning: "Mean entropy per token."},
			{key: "policy/ppo_clip_ratio", quantity: ClipAny, meaning: "Fraction of tokens where the clipped term decides the loss, both bounds together."},
			{key: "policy/loss_metrics/clip_ratio", quantity: ClipAny, meaning: "Fraction of tokens where the clipped term decides the loss, both bounds together."},
			{key: "policy/rollout_train_logprobs_abs_diff_mean", quantity: LogpMismatch, meaning: "Mean absolute difference of log probabilities between inference engine and trainer, in nats."},
			{key: "async/staleness_mean", quantity: Staleness, meaning: "Mean number of steps by which the groups are behind."},
			{key: "async/staleness_max", quantity: StalenessMax, meaning: "Largest number of steps by which a group is behind."},
			{key: "policy/raw_grad_norm", quantity: GradNorm, meaning: "Gradient norm before clipping."},
			{key: "policy/policy_lr", quantity: LR, meaning: "Learning rate."},
			{key: "policy/policy_loss", quantity: Loss, meaning: "Policy-gradient loss."},
			{key: "policy/final_loss", quantity: Loss, meaning: "Loss of the update, with the KL penalty and the bonus for entropy."},
			{key: "generate/avg_num_tokens", quantity: LenMean, meaning: "Mean number of tokens of a response."},
			{key: "generate/min_num_tokens", quantity: LenMin, meaning: "Number of tokens of the shortest response."},
			{key: "generate/max_num_tokens", quantity: LenMax, meaning: "Number of tokens of the longest response."},
		},
		evalRules:  []rule{{key: "eval/*", quantity: EvalScore + "/*", meaning: "Score in evaluation of this data set and variable."}},
		unobserved: "The reward's standard deviation. The fraction of groups without variance. The share clipped at each bound.",
	},
	{
		name: OpenInstruct, prefixes: []string{"", "debug/"},
		rules: []rule{
			{key: "objective/verifiable_reward", quantity: Reward, meaning: "Mean verifiable reward of the responses."},
			{key: "scores", quantity: Reward, meaning: "Mean score of the responses trained on."},
			{key: "objective/scores", quantity: Reward, meaning: "Mean score of the responses, in old versions and in TRL's trainers for PPO and RLOO."},
			{key: "objective/*_reward", quantity: RewardComponent + "/*", meaning: "Mean reward of this verifier."},
			{key: "objective/verifiable_correct_rate", quantity: RewardComponent + "/verifiable_correct_rate", meaning: "Share of responses with a verifiable reward above 0."},
			{key: "val/format_scores", quantity: RewardComponent + "/format_scores", meaning: "Mean reward for the format."},
			{key: "objective/kl2_avg", quantity: KLRef, estimator: K3, meaning: "Mean over tokens of the k3 estimate of KL(π‖π_ref)."},
			{key: "objective/kl_avg", quantity: KLRef, meaning: "Mean over tokens of an estimate of KL(π‖π_ref), in old versions."},
			{key: "objective/kl0_avg", quantity: KLRef, estimator: K1, meaning: "Mean over tokens of log π − log π_ref, the k1 estimate of KL(π‖π_ref); it can be negative."},
			{key: "policy/approxkl_avg", quantity: KLOld, meaning: "Mean estimate of the KL divergence between the policy and that at the start of the step."},
			{key: "policy/entropy_avg", quantity: Entropy, meaning: "Mean entropy per token."},
			{key: "policy/clipfrac_avg", quantity: ClipAny, meaning: "Fraction of tokens where the clipped term decides the loss, both bounds together."},
			{key: "val/ratio", quantity: RatioMean, meaning: "Mean ratio π/π_old over tokens."},
			{key: "vllm_vs_local_logprob_diff_mean", quantity: LogpMismatch, meaning: "Mean absolute difference of log probabilities between vLLM and the trainer, in nats."},
			{key: "optim/grad_norm", quantity: GradNorm, meaning: "Gradient norm before clipping."},
			{key: "lr", quantity: LR, meaning: "Learning rate."},
			{key: "loss/policy_avg", quantity: Loss, meaning: "Policy-gradient loss."},
			{key: "loss/total_avg", quantity: Loss, meaning: "Loss of the update, with the KL penalty."},
			{key: "val/advantages_min", quantity: AdvantageMin, meaning: "Smallest advantage of a response."},
			{key: "val/advantages_max", quantity: AdvantageMax, meaning: "Largest advantage of a response."},
			{key: "val/sequence_lengths", quantity: LenMean, meaning: "Mean length of a response."},
			{key: "val/sequence_lengths_min", quantity: LenMin, meaning: "Length of the shortest response."},
			{key: "val/sequence_lengths_max", quantity: LenMax, meaning: "Length of the longest response."},
			{key: "val/stop_rate", quantity: LenClipped, rest: true, meaning: "1 − the fraction of responses that end by themselves; those that end otherwise are nearly all cut at the length limit."},
		},
		evalRules:  []rule{{key: "eval/scores", quantity: EvalScore, meaning: evalReward}, {key: "eval/*", quantity: EvalScore + "/*", meaning: "Score in evaluation of this variable."}},
		unobserved: "The reward's standard deviation. The fraction of groups without variance: real_batch_size_ratio shows it only without active sampling. The share clipped at each bound.",
	},
	{
		name: Torchforge, prefixes: []string{""},
		rules: []rule{
			{key: "reward/evaluate_response/avg_total_reward", quantity: Reward, meaning: "Mean reward of the step's responses."},
			{key: "reward/evaluate_response/avg_*_reward", quantity: RewardComponent + "/*", meaning: "Mean of this reward function."},
			{key: "reward/evaluate_response/std_*_reward", quantity: RewardComponentStd + "/*", meaning: "Standard deviation of this reward function over all responses."},
			{key: "grpo_loss/kl_divergence_mean", quantity: KLRef, estimator: K3, meaning: "Mean over tokens of the k3 estimate of KL(π‖π_ref)."},
			{key: "rl_trainer/step/avg_kl_divergence", quantity: KLRef, estimator: K3, meaning: "Mean over tokens of the k3 estimate of KL(π‖π_ref)."},
			{key: "rl_trainer/step/avg_policy_entropy", quantity: Entropy, meaning: "Mean entropy per token."},
			{key: "buffer/sample/avg_sampled_policy_age", quantity: Staleness, meaning: "Mean number of policy versions by which the episodes are behind."},
			{key: "buffer/sample/max_sampled_policy_age", quantity: StalenessMax, meaning: "Largest number of policy versions by which an episode is behind."},
			{key: "grpo_loss/total_loss", quantity: Loss, meaning: "Loss of the update, with the KL penalty."},
			{key: "trainer/avg_grpo_loss", quantity: Loss, meaning: "Loss of the update, with the KL penalty."},
			{key: "rl_trainer/avg_loss", quantity: Loss, meaning: "Loss of the update, with the KL penalty."},
			{key: "trainer/learning_rate", quantity: LR, meaning: "Learning rate."},
			{key: "rl_trainer/learning_rate", quantity: LR, meaning: "Learning rate."},
			{key: "generator/generate/avg_tokens_generated", quantity: LenMean, meaning: "Mean number of tokens of a response."},
		},
		unobserved: "The reward's standard deviation within a group. The fraction of groups without variance. Clipping. The gradient norm.",
	},
	{
		name: AReaL, prefixes: []string{"ppo_actor/update/", "grpo_actor/update/", "ppo_actor/", "grpo_actor/", ""},
		rules: []rule{
			{key: "task_reward/avg", quantity: Reward, meaning: "Mean reward of the step's samples."},
			{key: "rollout/reward", quantity: Reward, meaning: "Mean reward of the rollouts."},
			{key: "rollout/reward/avg", quantity: Reward, meaning: "Mean reward of the rollouts."},
			{key: "task_reward/min", quantity: RewardMin, meaning: "Smallest reward of a sample."},
			{key: "task_reward/max", quantity: RewardMax, meaning: "Largest reward of a sample."},
			{key: "advantages/min", quantity: AdvantageMin, meaning: "Smallest advantage of a token."},
			{key: "advantages/max", quantity: AdvantageMax, meaning: "Largest advantage of a token."},
			{key: "approx_kl/avg", quantity: KLOld, meaning: "Mean estimate of the KL divergence between the policy and the proximal one, over tokens."},
			{key: "entropy/avg", quantity: Entropy, meaning: "Mean entropy per token."},
			{key: "clip_ratio/avg", quantity: ClipAny, meaning: "Fraction of tokens where the clipped term decides the loss, both bounds together."},
			{key: "importance_weight/avg", quantity: RatioMean, meaning: "Mean ratio of the policy to the proximal one, over tokens."},
			{key: "importance_weight/max", quantity: RatioMax, meaning: "Largest such ratio."},
			{key: "behave_imp_weight/avg", quantity: ISRatioMean, meaning: "Mean importance weight of the proximal policy over the one that sampled; samples of older policies count too."},
			{key: "behave_imp_weight/max", quantity: ISRatioMax, meaning: "Largest such weight."},
			{key: "behave_approx_kl/avg", quantity: MismatchKL, meaning: "Mean estimate of the KL divergence between the policy that sampled and the proximal one; samples of older policies count too."},
			{key: "*/sample_staleness_proximal_avg", quantity: Staleness, meaning: "Mean number of policy versions by which the tokens are behind."},
			{key: "*/sample_staleness_proximal_max", quantity: StalenessMax, meaning: "Largest such number."},
			{key: "head_offpolicyness/avg", quantity: Staleness, meaning: "Mean number of policy versions by which the first tokens of the samples are behind; in versions of 2025."},
			{key: "head_offpolicyness/max", quantity: StalenessMax, meaning: "Largest such number; in versions of 2025."},
			{key: "grad_norm", quantity: GradNorm, meaning: "Gradient norm before clipping."},
			{key: "lr", quantity: LR, meaning: "Learning rate."},
			{key: "actor_loss/avg", quantity: Loss, meaning: "Policy-gradient loss."},
			{key: "loss/avg", quantity: Loss, meaning: "Loss of the update."},
			{key: "seq_len/avg", quantity: LenMean, meaning: "Mean length of a sample, with its prompt."},
			{key: "no_eos_ratios/avg", quantity: LenClipped, meaning: "Fraction of samples without an end token, cut at the length limit."},
		},
		evalRules: []rule{
			{key: "eval-rollout/reward", quantity: EvalScore, meaning: evalReward},
			{key: "eval-rollout/reward/avg", quantity: EvalScore, meaning: evalReward},
		},
		unobserved: "The reward's standard deviation within a group. The fraction of groups without variance. The share clipped at each bound.",
	},
	{
		name: MLX, prefixes: []string{"", "train_"},
		rules: []rule{
			{key: "total_rewards_mean", quantity: Reward, meaning: "Mean total reward of the completions."},
			{key: "Total Rewards μ", quantity: Reward, meaning: "Mean total reward of the completions, as the console has it."},
			{key: "total_rewards_std", quantity: RewardStdBatch, meaning: "Standard deviation of the total reward over all completions."},
			{key: "Total Rewards σ", quantity: RewardStdBatch, meaning: "Standard deviation of the total reward over all completions, as the console has it."},
			{key: "grouped_rewards_std", quantity: RewardStdWithin, meaning: "Standard deviation within a group (divisor G), mean over groups."},
			{key: "Group Rewards σ", quantity: RewardStdWithin, meaning: "Standard deviation within a group (divisor G), mean over groups, as the console has it."},
			{key: "kl", quantity: KLRef, meaning: "Mean estimate of KL(π‖π_ref) over tokens."},
			{key: "KL Divergence", quantity: KLRef, meaning: "Mean estimate of KL(π‖π_ref) over tokens, as the console has it."},
			{key: "clip_ratio_low", quantity: ClipLow, meaning: "Fraction of tokens clipped at the lower bound."},
			{key: "Clipping low", quantity: ClipLow, meaning: "Fraction of tokens clipped at the lower bound, as the console has it."},
			{key: "clip_ratio_high", quantity: ClipHigh, meaning: "Fraction of tokens clipped at the upper bound."},
			{key: "Clipping high", quantity: ClipHigh, meaning: "Fraction of tokens clipped at the upper bound, as the console has it."},
			{key: "clip_ratio_total", quantity: ClipAny, meaning: "Fraction of tokens clipped at either bound."},
			{key: "Clipping total", quantity: ClipAny, meaning: "Fraction of tokens clipped at either bound, as the console has it."},
			{key: "train loss", quantity: Loss, meaning: "Loss of the update, mean over the row's steps."},
			{key: "average_generated_tokens", quantity: LenMean, meaning: "Mean number of generated tokens."},
			{key: "Avg tokens", quantity: LenMean, meaning: "Mean number of generated tokens, as the console has it."},
			{key: "min_generated_tokens", quantity: LenMin, meaning: "Smallest number of generated tokens."},
			{key: "Min tokens", quantity: LenMin, meaning: "Smallest number of generated tokens, as the console has it."},
			{key: "max_generated_tokens", quantity: LenMax, meaning: "Largest number of generated tokens."},
			{key: "Max tokens", quantity: LenMax, meaning: "Largest number of generated tokens, as the console has it."},
			{key: "hit_max_tokens_ratio", quantity: LenClipped, meaning: "Fraction of completions cut at the length limit."},
			{key: "Hit limit", quantity: LenClipped, meaning: "Fraction of completions cut at the length limit, as the console has it."},
		},
		row:        stepAverage,
		unobserved: "The fraction of groups without variance. Entropy. The gradient norm.",
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
	{key: "kl", quantity: KLRef, estimator: K3, meaning: "Mean over tokens of the k3 estimate of KL(π‖π_ref); logged with beta ≠ 0 only."},
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
	{key: "Training Loss", quantity: Loss, meaning: "Loss of the update, mean over the row's steps, as notebooks call it."},
	{key: "completions/min_length", quantity: LenMin, meaning: "Length of the shortest completion."},
	{key: "completions/max_length", quantity: LenMax, meaning: "Length of the longest completion."},
	{key: "completions/mean_length", quantity: LenMean, meaning: "Mean length of a completion."},
	{key: "completion_length", quantity: LenMean, meaning: "Mean length of a completion (key of versions up to v0.16, and of Unsloth)."},
	{key: "vespo/phi_seq_mean"}, {key: "policy_loss"}, {key: "entropy_coef"}, // tell the version
	{key: "completions/clipped_ratio", quantity: LenClipped, meaning: "Fraction of completions without an end token, cut at the length limit."},
}

// general are the names that people give to keys of their own.
var general = []rule{
	{key: "reward", quantity: Reward, meaning: "The column reward; taken for the mean reward of the step."},
	{key: "reward_mean", quantity: Reward, meaning: "The column reward_mean: mean reward of the step."},
	{key: "mean_reward", quantity: Reward, meaning: "The column mean_reward: mean reward of the step."},
	{key: "avg_reward", quantity: Reward, meaning: "The column avg_reward: mean reward of the step."},
	{key: "reward_std", quantity: RewardStdAmbiguous, meaning: stdUnknown},
	{key: "group_reward_std_mean", quantity: RewardStdWithin, meaning: "The column group_reward_std_mean: standard deviation within a group, mean over groups."},
	{key: "group_reward_std", quantity: RewardStdWithin, meaning: "The column group_reward_std: standard deviation within a group, mean over groups."},
	{key: "zero_std_group_ratio", quantity: FracZeroStd, meaning: "The column zero_std_group_ratio: fraction of groups with equal rewards."},
	{key: "zero_std_ratio", quantity: FracZeroStd, meaning: "The column zero_std_ratio: fraction of groups with equal rewards."},
	{key: "zero_advantage_frac", quantity: FracZeroStd, meaning: "The column zero_advantage_frac: fraction of groups without advantages, whose rewards are equal."},
	{key: "zero_std_groups", quantity: CountZeroStd, meaning: "The column zero_std_groups: number of groups with equal rewards."},
	{key: "n_groups", quantity: Groups, meaning: "The column n_groups: number of groups of the step."},
	{key: "num_groups", quantity: Groups, meaning: "The column num_groups: number of groups of the step."},
	{key: "kl", quantity: KLRef, meaning: "The column kl; taken for the divergence from the reference policy."},
	{key: "kl_loss", quantity: KLRef, meaning: "The column kl_loss; taken for the divergence from the reference policy before its coefficient."},
	{key: "approx_kl", quantity: KLOld, meaning: "The column approx_kl; taken for the divergence from the policy at the start of the update."},
	{key: "policy_entropy", quantity: Entropy, meaning: "The column policy_entropy: entropy per token."},
	{key: "clip_fraction", quantity: ClipAny, meaning: "The column clip_fraction: fraction of tokens that are clipped."},
	{key: "clip_frac", quantity: ClipAny, meaning: "The column clip_frac: fraction of tokens that are clipped."},
	{key: "clipfrac", quantity: ClipAny, meaning: "The column clipfrac: fraction of tokens that are clipped."},
	{key: "completion_length", quantity: LenMean, meaning: "The column completion_length: mean length of a completion."},
	{key: "completion_length_mean", quantity: LenMean, meaning: "The column completion_length_mean: mean length of a completion."},
	{key: "mean_completion_length", quantity: LenMean, meaning: "The column mean_completion_length: mean length of a completion."},
	{key: "completion_len_mean", quantity: LenMean, meaning: "The column completion_len_mean: mean length of a completion."},
	{key: "response_length", quantity: LenMean, meaning: "The column response_length: mean length of a completion."},
	{key: "response_length_mean", quantity: LenMean, meaning: "The column response_length_mean: mean length of a completion."},
	{key: "mean_response_length", quantity: LenMean, meaning: "The column mean_response_length: mean length of a completion."},
	{key: "truncation_rate", quantity: LenClipped, meaning: "The column truncation_rate: fraction of completions cut at the length limit."},
	{key: "truncated_ratio", quantity: LenClipped, meaning: "The column truncated_ratio: fraction of completions cut at the length limit."},
	{key: "policy_staleness_steps", quantity: Staleness, meaning: "The column policy_staleness_steps: age of the samples, in steps of the policy."},
	{key: "gradient_norm", quantity: GradNorm, meaning: "The column gradient_norm; taken for the norm before clipping."},
	{key: "learning_rate", quantity: LR, meaning: "The column learning_rate."},
	{key: "loss", quantity: Loss, meaning: "The column loss."},
}

// countOfReward begins slime's keys of the number of groups with equal rewards, which end
// with the reward. A row has only those of rewards that occur.
const countOfReward = "rollout/zero_std/count_"

// solvedCount is what rLLM means by batch/solve_none and batch/solve_all.
func solvedCount(when string) string {
	return "Number of groups in which " + when + "; rLLM on verl logs it."
}

// primeEvaluation returns the rules for prime-rl's mean reward of K rollouts of an example,
// eval/ENVIRONMENT/avg@K, for the K that are in use.
func primeEvaluation() (rules []rule) {
	for k := 1; k <= 64; k *= 2 {
		rules = append(rules, rule{key: fmt.Sprintf("eval/*/avg@%d", k), quantity: EvalScore + "/*", meaning: fmt.Sprintf("Mean reward of %d rollouts of each example of this environment.", k)})
	}
	return rules
}

// stepKeys are the keys of the step, the first of which a file has counts. Those of
// W&B come last: they count calls that log, which other rows share.
var stepKeys = []string{
	"train/global_step", "global_step", "global_step/max_steps", "trainer/global_step", "rollout/step", "train/step", "step",
	"training/global_step", "training_step", "progress/batch", "iteration", "iter", "_step",
}

// evalStepKey is the key of the step of rows of evaluation that have no other.
const evalStepKey = "eval/global_step"

var (
	stepNames = setOf(append(stepKeys, evalStepKey)...)
	// endNames are keys of the line that transformers write after the last step, which
	// repeats metrics as means over the run.
	endNames = setOf("train_runtime", "train/train_runtime")
	// updateNames are keys that TRL and Unsloth write of updates only, never of evaluation.
	updateNames = setOf("loss", "grad_norm", "learning_rate", "train/loss", "train/grad_norm", "train/learning_rate")
	// otherPrefixes are beginnings of keys that are not about the policy in training.
	otherPrefixes = setOf("eval", "val", "valid", "validation", "test", "critic", "value", "ref", "reference", "teacher", "old", "time", "timing", "perf", "loss", "objective")
)

func setOf(words ...string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range words {
		set[w] = true
	}
	return set
}

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

// withNames adds the general names and those of the quantities to the keys of every
// trainer.
func withNames(all []trainer) []trainer {
	for i := range all {
		if all[i].name != Plain {
			all[i].rules = slices.Concat(all[i].rules, general)
		}
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
