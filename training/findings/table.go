package findings

import "grposim/training/logs"

// checks is the table, causes before their effects. What to do is what the maintainers of trainers answered
// to those who reported it.
var checks = []check{
	{
		kind: NumericalFailure, find: numericalFailure,
		see:  "`nan` for gradient norm, loss, KL or entropy; completions of one repeated sign",
		is:   "the update is not a number, the weights are lost or the update is skipped",
		next: "go back to the checkpoint before; look for samples without tokens, a group or micro batch that is left empty, and a sampled token of probability 0; try another precision, a lower learning rate, a newer trainer",
		from: []logs.Quantity{logs.GradNorm, logs.Loss, logs.KLRef, logs.KLOld, logs.Entropy},
	},
	{
		kind: NoUpdate, find: noUpdate,
		see:  "gradient norm, and often loss and KL, exactly 0 in every row though rewards differ",
		is:   "the weights do not move: gradients are lost on the way, or the learning rate is 0",
		next: "see whether a weight changes in one step: gradient checkpointing without input gradients, an adapter that is not trained, and versions of DeepSpeed lose gradients",
		from: []logs.Quantity{logs.GradNorm, logs.LR},
	},
	{
		kind: Truncation, find: truncation,
		see:  "`clipped_ratio` near 1; mean length at the limit; reward 0",
		is:   "completions are cut before they end, so that the reward cannot see an answer",
		next: "raise the length limit until most completions end (reasoning about a word problem takes several hundred tokens); check the chat template and the end-of-sequence token",
		from: []logs.Quantity{logs.LenClipped, logs.LenMax, logs.LenMean},
	},
	{
		kind: LengthChange, find: lengthChange,
		see:  "completions get several times longer or shorter",
		is:   "the policy has found that length changes the reward, or it repeats itself",
		next: "read some completions: repetition and unfinished answers, or answers that the reward lets pass without reasoning; raise the length limit, or pay for length less",
		mild: true,
		from: []logs.Quantity{logs.LenMean},
	},
	{
		kind: SamplerMismatch, find: samplerMismatch,
		see:  "log probabilities of the sampling engine and the trainer differ; importance weights away from 1",
		is:   "the samples are not those of the policy that is trained, although the weights are the same",
		next: "check that both see the same weights, temperature, chat template and truncation of sampling (top-p, top-k); run both in one precision (float16 differs less than bfloat16); correct the rest by capped importance weights",
		from: []logs.Quantity{logs.MismatchKL, logs.LogpMismatch, logs.ProbMismatch, logs.ISEffective, logs.ISRatioMean},
	},
	{
		kind: StaleSamples, find: staleSamples,
		see:  "the age of samples grows; most tokens are clipped",
		is:   "the samples are drawn from a policy of many updates ago",
		next: "lower the allowed age of samples or the number of updates a batch, or the learning rate",
		from: []logs.Quantity{logs.Staleness, logs.StalenessMax},
	},
	{
		kind: KLBlowUp, find: klBlowUp,
		see:  "KL of 1, of 10,000, of a billion; a loss as large",
		is:   "the policy has left its reference, or tokens are sampled that it gives no probability",
		next: "lower the learning rate or raise β, warm up, clip the gradient norm; check that policy and reference score the same tokens",
		from: []logs.Quantity{logs.KLRef},
	},
	{
		kind: EntropyGrowth, find: entropyGrowth,
		see:  "the entropy grows several times, completions become noise",
		is:   "the policy forgets what it prefers",
		next: "set the entropy bonus to 0, lower the upper clip bound or the learning rate; check the mismatch of sampler and trainer",
		from: []logs.Quantity{logs.Entropy},
	},
	{
		kind: RewardCollapse, find: rewardCollapse,
		see:  "the reward rises, then drops and stays low, or sags slowly",
		is:   "the policy has got worse at what it is trained on: an update was too large, or samples, reward or data have changed",
		next: "go back to a checkpoint before that step; lower the learning rate, or look at what the findings above say of the same steps",
		from: []logs.Quantity{logs.Reward},
	},
	{
		kind: ResumeJump, find: resumeJump,
		see:  "reward, KL, gradient or learning rate jump after a resume",
		is:   "the run did not go on from the state that it had",
		next: "compare the state that was loaded with the one that was saved: weights, optimizer, schedule, reference policy, seed of the data",
		mild: true,
		from: []logs.Quantity{logs.Reward, logs.KLRef, logs.GradNorm, logs.Entropy, logs.LR},
	},
	{
		kind: ComponentsApart, find: componentsApart,
		see:  "the reward for format rises, that for accuracy falls",
		is:   "one component of the reward is won at the cost of another",
		next: "see whether the one that rises pays for what the other one should: lower its weight, or pay it only where the answer is right",
		mild: true,
		from: []logs.Quantity{logs.RewardComponent},
	},
	{
		kind: NoSignal, find: noSignal,
		see:  "loss 0, reward deviation 0, `frac_reward_zero_std` 1, `solve_none` of all groups",
		is:   "all samples of each group have the same reward, so that none has an advantage",
		next: "read some completions beside their rewards; take prompts that are solved sometimes, more samples a prompt, a finer reward",
		from: []logs.Quantity{logs.FracZeroStd, logs.CountZeroStd, logs.FracAll0, logs.CountAll0, logs.RewardStdWithin, logs.RewardStdBatch, logs.RewardStdAmbiguous, logs.RewardMax, logs.AdvantageMax},
	},
	{
		kind: ConstantReward, find: constantReward,
		see:  "the mean reward is the same number in every row",
		is:   "the reward function returns a constant, or what is logged is not the reward",
		next: "call the reward function on a right and a wrong answer; look for a parser that finds nothing, and for rewards logged after normalization",
		from: []logs.Quantity{logs.Reward},
	},
}
