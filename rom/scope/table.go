package scope

// The rows of the table of reasons, in the order in which `grposim help reasons` prints them.
const (
	answered Row = iota

	// There is no fixed point.
	NoPenalty
	K1NoPenalty
	K1Redrawn
	MovingReference
	K3Entropy
	BelowCriticalPenalty
	BelowCriticalRedrawn
	NotReached
	NoneFound
	NoFixedPoint
	NoStart
	PromptWithoutPoint

	// There is one, but no stationary state.
	Locked
	LockedReference
	RoundedStiffness
	Unstable
	Neutral
	SlowMode
	NearThreshold
	NearThresholdOfAges
	RateVaries
	WarmingUp
	NoNoise
	NoVariance
	EqualRewards
	NoiseTooLarge
	BoundWithinNoise
	AdamEscapes

	// The force is not derived.
	RewardKLFiltered
	OutsideKLBinary
	PromptsOutside
	PromptsFiltered
	RewardKLWeights
	RewardKLEntropy
	ManyValued
	WeightKink
	SignedWeights
	NormClips
	RoundedRewards

	// The dynamics or its noise is not derived.
	ReusedOlder
	AgesOutsideKL
	AdamReused
	AgesSeveralModes
	SeveralOldPolicies
	DependentSteps
	AdamAges
	AdamArms
	AdamStill
	AdamLeading
	ExpandedForce
	ManyArms
	MeasuredArms
	LongBlock
	LongOlderBlock
	LongPartlyFrozen
	ManyPast
	LongDelay
	UnknownMultipliers
	MixedModes
	PartAlone
	RulesAlone

	// The path of runs is not derived.
	AdamRewards
	AdamGroups
	RunningMeanPath
	ReusedPath
	OldPoliciesPath
	ManyArmsPath
	ManyCoordinates
	NoRise
	NoMotion
	NoStratum
	WideEnd
	FewForces
	NoGroups
	TrueMeans
	LargestRatio
	ClipOfRewards
	NormOnTheWay
	QuantityOfPrompts
	ShareOfRewardKL
	ShareTooLong
	PathOverflows

	// The arrival of runs is not derived.
	PathNotThere
	ArrivalOfPrompts
	KicksOfAdam
	KicksOfOldSamples
	LockingWalk
	LoneSample
	ShareOfTwoArms
	ShareOfLost

	// Many prompts.
	SharedEpochs
	PromptsWithReplacement
	PromptsNoMultiple
	CoastingOptimizer
	CoastingShuffled
	CoastingNoise
	PromptSnapshot
	NoOscillator
	NoSingleDynamics
	OfPrompt

	// The run is too short, or too few samples decide.
	NotArrived
	BaselineRemembers
	TooMuchNeglected
	UnknownSize
	PairsAlike
	TooFewPoints
	NoExponential
	NoShare

	// A model or formula does not apply.
	AdamNoModel
	RateVariesModel
	SeveralModesStart
	NoMass
	PaperStiffnessNegative
	PaperNoPoint
	PaperAtRest
	PaperPasses
	NoLargestAge
	RuleNoNumber
	NoExactKind
	NoNumberOfKind
	NoLargeSizeSlope

	// Recurrences of blocks.
	RecurrenceWeights
	RecurrenceNoPenalty
	RecurrenceNoFactor
	RecurrenceNoise
	RecurrenceUnconverged

	// A located event.
	Networks
	NotSearched
	UncertainSign
	BelowSearch
	BeyondSearch

	// Floating point.
	BeyondRange
	LawBeyondRange
	InCell
)

// rows holds the words of each row, and what a user can do about the reason in those of docs/primer.md.
var rows = [...]struct{ name, says, try string }{
	NoPenalty:            {"no-penalty", "no fixed point exists without a KL penalty", "set `grpo.kl.coefficient` or `grpo.entropy.coefficient` above 0; without one read the way: `predict --path`, `advise`"},
	K1NoPenalty:          {"k1-no-penalty", "no fixed point exists: k1 in the loss is no penalty in the mean", "use `grpo.kl.gradient` exact, k2 or k3, or put k1 into the reward"},
	K1Redrawn:            {"k1-redrawn", "no stable fixed point exists: k1 in the loss of redrawn groups pushes away from J = ½", "use `grpo.kl.gradient` exact, k2 or k3"},
	MovingReference:      {"moving-reference", "simulated, not predicted: a reference that moves", "set `policy.reference_update.interval` 0, or simulate"},
	K3Entropy:            {"k3-entropy", "the fixed point of k3 with an entropy bonus is not derived", "set `grpo.kl.gradient` exact, or `grpo.entropy.coefficient` 0"},
	BelowCriticalPenalty: {"below-critical-penalty", "no fixed point exists at G = ∞ below the critical KL coefficient, %.2g", "raise `grpo.kl.coefficient` to the one named, or take a finite `grpo.group_size`, which always has one"},
	BelowCriticalRedrawn: {"below-critical-redrawn", "no fixed point exists where groups of equal rewards are redrawn below the critical KL coefficient, %.2g", "raise `grpo.kl.coefficient` to the one named, or set `grpo.filter` none, which keeps groups of equal rewards"},
	NotReached:           {"not-reached", "no fixed point is reached from the start", "start nearer to one: `policy.init`, or give it as fixed-point"},
	NoneFound:            {"none-found", "no fixed point was found", "start nearer to one: `policy.init`, or simulate the cell: `sweep`"},
	NoFixedPoint:         {"no-fixed-point", "the theory finds no fixed point", "simulate the cell: `sweep`"},
	NoStart:              {"no-start", "the theory finds no fixed point to start from", "give `policy.init` as logits; a cell that starts at its fixed point needs one"},
	PromptWithoutPoint:   {"prompt-without-point", "a prompt has no fixed point: %s", "see the reason of that prompt"},

	Locked:              {"locked", "no stationary state: the rewards differ by far more than the %s coefficient %.3g balances, and the policy locks on arm %d, the first being 0, beside which the others have a probability of %.1g in all%s", "raise the coefficient to the one named, or read the way: `predict --path`"},
	LockedReference:     {"locked-reference", "no stationary state: whatever the %s coefficient, the policy is locked on arm %d, the first being 0, beside which the others have a probability of %.1g in all", "take a reference that is not locked on one arm"},
	RoundedStiffness:    {"rounded-stiffness", "the stiffness at the fixed point is less than a millionth of the %s coefficient, so that rounding decides the dynamics", "raise the coefficient, or move arms with nearly no probability out of the bandit"},
	Unstable:            {"unstable", "unstable: spectral radius %.4g%s", "lower `optimizer.learning_rate`, `optimizer.momentum` or `lag.interval` below the values named, or weight the samples: `grpo.importance.mode` ratio or clip"},
	Neutral:             {"neutral", "the fixed point is neutral, neither stable nor unstable, in %d of %d directions of the logits: the arms that move there are almost never drawn, so that the stiffness is rounding and nothing comes to rest", "raise `grpo.kl.coefficient`, or leave those arms out"},
	SlowMode:            {"slow-mode", "the relaxation time, %.2g steps, is so long that rounding decides the stationary law, and no run comes to rest", "raise `optimizer.learning_rate` or `grpo.kl.coefficient`, to which the relaxation time is in inverse proportion; at a threshold lower `optimizer.learning_rate`"},
	NearThreshold:       {"near-threshold", "too close to a threshold for a stationary law", "lower `optimizer.learning_rate` or `lag.interval`"},
	NearThresholdOfAges: {"near-threshold-of-ages", "the noise of random ages makes the variance grow without bound, or it is too close to a threshold for a stationary law%s", "lower `optimizer.learning_rate` below the value named"},
	RateVaries:          {"rate-varies", "the learning rate is not constant", "use `optimizer.schedule.kind` constant for a stationary state"},
	WarmingUp:           {"warming-up", "the learning rate still rises after burn-in", "raise `run.burn_in` above `optimizer.schedule.warmup`"},
	NoNoise:             {"no-noise", "no noise at G = ∞", "take a finite `grpo.group_size`"},
	NoVariance:          {"no-variance", "the theory has no variance here", "simulate the cell: `sweep`"},
	EqualRewards:        {"equal-rewards", "all rewards are equal at the fixed point, KL included, so that there is no linear regime", "set `grpo.kl.in` loss, or give the arms rewards with noise"},
	NoiseTooLarge:       {"noise-too-large", "the noise is too large for a law about one point: it leaves out a share of about %.2g of Var J", "lower `optimizer.learning_rate` or `optimizer.momentum`, or raise `grpo.group_size` or `grpo.kl.coefficient`"},
	BoundWithinNoise:    {"bound-within-noise", "a bound of the weights or of the norm lies within three standard deviations", "widen the bound, lower `optimizer.learning_rate`, or raise `grpo.group_size`"},
	AdamEscapes:         {"adam-escapes", "under Adam the spread of runs about the fixed point reaches a logit at a learning rate of %.3g, and from %.3g on they may leave it for good", "lower `optimizer.learning_rate` below the second value named, or `lag.interval`"},

	RewardKLFiltered: {"reward-kl-filtered", "a KL penalty in the reward is not derived with dynamic sampling", "set `grpo.kl.in` loss, or `grpo.filter` none"},
	OutsideKLBinary:  {"outside-kl-binary", "a KL penalty outside the loss is derived for the scales none and std of a group only", "use `grpo.advantage.scale` none or std, or set `grpo.kl.in` loss"},
	PromptsOutside:   {"prompts-outside", "many prompts with a KL penalty outside the loss, an entropy bonus or a moving reference are not derived", "set `grpo.kl.in` loss, without entropy bonus and with a fixed reference"},
	PromptsFiltered:  {"prompts-filtered", "simulated, not predicted: dynamic sampling among many prompts", "set `grpo.filter` none, or simulate"},
	RewardKLWeights:  {"reward-kl-weights", "the force of a KL penalty in the reward is derived without importance weights or with ratios only", "use `grpo.importance.mode` none or ratio, or set `grpo.kl.in` loss"},
	RewardKLEntropy:  {"reward-kl-entropy", "a KL penalty in the reward beside an entropy bonus is not derived", "leave one of the two out"},
	ManyValued:       {"many-valued", "simulated, not predicted: the std scale of rewards with the KL in them, and of more than two values in groups below 8", "use `grpo.advantage.scale` none, set `grpo.kl.in` loss, or use larger groups"},
	WeightKink:       {"weight-kink", "the importance weight has a kink or a jump where the current policy is the snapshot", "widen the bounds of the ratio: `grpo.importance.cap` above 1, `grpo.importance.floor` below 1"},
	SignedWeights:    {"signed-weights", "importance weights that depend on the sign of the advantage, with rewards of more than two values in finite groups", "use rewards of two values, G = ∞, or weights that are the same for both signs"},
	NormClips:        {"norm-clips", "the largest norm may clip the force, which changes its mean%s", "leave `optimizer.max_norm` out (0), or raise it to the norm that is named, if one is"},
	RoundedRewards:   {"rounded-rewards", "the standard deviation of a normal reward is so small beside its mean that rounding decides the rewards", "subtract a constant from the rewards: it changes nothing but the rounding"},

	ReusedOlder:        {"reused-older", "the dynamics of reused samples are derived for blocks whose snapshot is the last one", "use `lag.kind` block with `lag.behind` 0"},
	AgesOutsideKL:      {"ages-outside-kl", "random ages with a KL penalty outside the loss are not derived", "set `grpo.kl.in` loss"},
	AdamReused:         {"adam-reused", "the second moment of Adam under reused samples is not derived", "set `lag.samples` fresh, or `optimizer.kind` heavy-ball"},
	AgesSeveralModes:   {"ages-several-modes", "the noise of random ages is computed for one mode, two kinds of arms", "use a constant delay of the mean age, or two arms"},
	SeveralOldPolicies: {"several-old-policies", "the second order in the noise, and with it the share of groups with equal rewards, is not derived where the force depends on several old policies", "use a block with `lag.behind` 0 or a constant delay"},
	DependentSteps:     {"dependent-steps", "the second order in the noise, and with it the share of groups with equal rewards, is not derived where the noise of one step depends on that of another", "use `lag.samples` fresh, and for `grpo.advantage.baseline` one of the group: mean or leave-one-out"},
	AdamAges:           {"adam-ages", "the second moment of Adam under random ages is not known", "use a block or a constant delay"},
	AdamArms:           {"adam-arms", "Adam with more than 64 arms", "take at most 64 arms"},
	AdamStill:          {"adam-still", "Adam is a heavy ball near a fixed point only where every logit has noise", "take a finite `grpo.group_size`, and arms that are drawn"},
	AdamLeading:        {"adam-leading", "Adam is a heavy ball to leading order only", "read `leading_order`"},
	ExpandedForce:      {"expanded-force", "the force of these rewards is known as an expansion in 1/G only", "read `leading_order`; rewards of two values or small groups are exact"},
	ManyArms:           {"many-arms", "more than 64 distinct arms", "merge arms: those of equal reward, reference and start count once"},
	MeasuredArms:       {"measured-arms", "the measured stiffness of more than 64 arms", "take at most 64 arms"},
	LongBlock:          {"long-block", "the refresh interval is longer than 10,000 steps", "take a shorter `lag.interval`"},
	LongOlderBlock:     {"long-older-block", "the refresh interval is longer than 512 steps and the snapshot older than a block", "take a shorter `lag.interval`, or `lag.behind` 0"},
	LongPartlyFrozen:   {"long-partly-frozen", "the refresh interval is longer than 10,000 steps and only part of the force is frozen", "take a shorter `lag.interval`"},
	ManyPast:           {"many-past", "the matrix of the past policies is larger than 320: with so many arms at most %d past policies are followed", "take fewer arms or smaller ages"},
	LongDelay:          {"long-delay", "the companion matrix of the delay is larger than 320: with so many arms a delay of at most %d steps is followed", "take fewer arms or a shorter delay"},
	UnknownMultipliers: {"unknown-multipliers", "the multipliers of the linear map are not known", "simulate the cell: `sweep`"},
	MixedModes:         {"mixed-modes", "the sufficient rule is for modes that do not mix", "read the exact threshold"},
	PartAlone:          {"part-alone", "a part without the noise was predicted", "ask for the whole prediction"},
	RulesAlone:         {"rules-alone", "the rules alone were predicted", "ask for the whole prediction"},

	AdamRewards:       {"adam-rewards", "the spread of runs under Adam needs the fourth moments of the force, known for rewards of two values without a KL penalty in them", "use 0/1 rewards and `grpo.kl.in` loss, or take G = ∞"},
	AdamGroups:        {"adam-groups", "the spread of runs under Adam needs the fourth moments of the force, known where a step averages independent groups of one prompt", "use a scale and a baseline of the group, without dropped groups, or take G = ∞"},
	RunningMeanPath:   {"running-mean-path", "the spread of runs with a running mean of old rewards as baseline is followed on-policy or with weights π/π_old only", "use `grpo.importance.mode` ratio, `lag.interval` 1, or a baseline of the group"},
	ReusedPath:        {"reused-path", "the spread of runs whose blocks reuse their samples is simulated, not predicted", "set `lag.samples` fresh"},
	OldPoliciesPath:   {"old-policies-path", "the spread of runs is followed for a constant delay and for blocks whose snapshot is the last one", "use one of these, or `grpo.group_size` inf"},
	ManyArmsPath:      {"many-arms-path", "the spread of runs is followed for at most %d arms, here are %d", "take fewer arms, or G = ∞"},
	ManyCoordinates:   {"many-coordinates", "the spread of runs is followed for at most %d coordinates of policies and velocity, here are %d", "take fewer arms or a shorter delay, or G = ∞"},
	NoRise:            {"no-rise", "the run starts at the reward where it ends: there is no rise to compare", "start elsewhere: `policy.init`"},
	NoMotion:          {"no-motion", "the predicted mean of %s does not move: there is no range to compare with", "judge another quantity"},
	NoStratum:         {"no-stratum", "the prompts are in %d strata by the reward with which they start, of which none is %s", "give prompts different starts, `bandit.prompts.start.alpha` and `bandit.prompts.start.beta`, or judge another quantity"},
	WideEnd:           {"wide-end", "at the end of the path runs are predicted to differ by %.2g, so that four times that reach over more than a quarter of the range of rewards, and those that arrived are not told from others", "lower `optimizer.learning_rate`, raise `grpo.group_size`, or run longer"},
	FewForces:         {"few-forces", "the noise is that of rare samples, about %.2g in the whole run, of which fewer than %d decide no %s", "run longer or with more replicas, or raise `grpo.group_size` so that more groups have unequal rewards"},
	NoGroups:          {"no-groups", "at G = ∞ there are no groups", "take a finite `grpo.group_size`"},
	LargestRatio:      {"largest-ratio", "the largest of the importance ratios has a kink where another arm's becomes the largest: its mean is not derived", "ask for clip_fraction or effective_sample_size"},
	TrueMeans:         {"true-means", "the true reward has means of its own, which the theory does not have", "leave out `bandit.true_means`, or ask for expected_reward"},
	ClipOfRewards:     {"clip-of-rewards", "the share of clipped samples along the path is derived at G = ∞, for rewards of two values and a baseline about the mean of a group; others are simulated, not predicted", "set `grpo.group_size` inf, take Bernoulli arms, and `grpo.advantage.baseline` mean"},
	NormOnTheWay:      {"norm-on-the-way", "the norm of sampled gradients is simulated, not predicted", "set `grpo.group_size` inf, with one prompt and no `optimizer.max_norm`"},
	QuantityOfPrompts: {"quantity-of-prompts", "of prompts with a policy each that are drawn by epochs the effective share of the samples within a block is not derived along the path", "set `lag.interval` 1, or `bandit.prompts.order` independent"},
	ShareOfRewardKL:   {"share-of-reward-kl", "the share of groups with equal rewards along the path is not derived where the KL is a part of the reward", "set `grpo.kl.in` loss"},
	ShareTooLong:      {"share-too-long", "the share of groups with equal rewards is followed over at most %d steps, here are %d", "take fewer `run.steps` after `run.burn_in`"},
	PathOverflows:     {"path-overflows", "the mean field leaves the range of floating point at step %d", "lower `optimizer.learning_rate`, or take smaller rewards or logits: the run diverges"},

	PathNotThere:      {"path-not-there", "at step %d the mean path has a probability of %.2g of the arm in front where it should end, which has %.2g there, so that it has not arrived itself", "raise `run.steps` or `optimizer.learning_rate`, or start nearer: `policy.init`"},
	ArrivalOfPrompts:  {"arrival-of-prompts", "the share of runs that arrive is not derived for many prompts", "ask for one prompt: a bandit without `bandit.prompts`"},
	KicksOfAdam:       {"kicks-of-adam", "the kicks of k3 are not derived under Adam, which bounds them", "use `grpo.kl.gradient` exact, k2 or ratio-k3, or simulate from the start: `advise`"},
	KicksOfOldSamples: {"kicks-of-old-samples", "the kicks of k3 are derived on-policy, without dynamic sampling: of older samples they come at the old probability and weigh the present one", "use `grpo.kl.gradient` exact, k2 or ratio-k3, or `lag.interval` 1 and `grpo.filter` none"},
	LockingWalk:       {"locking-walk", "the locking of runs without a penalty is derived for rewards of two values with a baseline of the group, on-policy or with reused samples of the weight 1, without dynamic sampling and under heavy ball or Nesterov", "simulate from the start: `advise`"},
	LoneSample:        {"lone-sample", "what one sample of a rare arm does is derived for rewards of two values with a baseline of the group, without dynamic sampling and under heavy ball or Nesterov", "simulate from the start: `advise`"},
	ShareOfTwoArms:    {"share-of-two-arms", "the share of runs that end on a wrong arm is derived for two arms of different means", "read the flag, or simulate from the start: `advise`"},
	ShareOfLost:       {"share-of-lost", "whether runs fail to arrive by %s is derived here, not which share of them", "simulate from the start: `advise`"},

	SharedEpochs:           {"shared-epochs", "prompts that share one policy are drawn by epochs, whose noise is not derived: it is for prompts drawn with replacement", "set `bandit.prompts.order` independent: with replacement"},
	PromptsWithReplacement: {"prompts-with-replacement", "prompts with a policy each are drawn with replacement: the theory has each once an epoch", "set `bandit.prompts.order` in-order or shuffled: by epochs"},
	PromptsNoMultiple:      {"prompts-no-multiple", "%d prompts are no multiple of %d groups per step", "take a number of prompts that is a multiple of `grpo.groups_per_step`"},
	CoastingOptimizer:      {"coasting-optimizer", "between its visits a prompt coasts, for which the theory has a heavy ball with a constant learning rate only", "set `optimizer.kind` heavy-ball, `optimizer.schedule.kind` constant and `optimizer.schedule.warmup` 0"},
	CoastingShuffled:       {"coasting-shuffled", "with momentum a prompt coasts for random times between its visits in shuffled epochs; the theory has those in order", "set `optimizer.momentum` 0, or for the path of runs `bandit.prompts.order` in-order"},
	CoastingNoise:          {"coasting-noise", "with momentum a prompt coasts between its visits, and the theory has its variance at the visits only", "set `optimizer.momentum` 0"},
	PromptSnapshot:         {"prompt-snapshot", "a snapshot is older than the last visit of its prompt, or the prompt coasts on it", "take a `lag.interval` that divides the epoch, and `optimizer.momentum` 0"},
	NoOscillator:           {"no-oscillator", "each prompt has a policy of its own: there is no single oscillator", "ask for one prompt: a bandit without `bandit.prompts`"},
	NoSingleDynamics:       {"no-single-dynamics", "each prompt has a policy of its own: the theory has the mean and the variance of their mean reward, and no dynamics of it", "ask for one prompt: a bandit without `bandit.prompts`"},
	OfPrompt:               {"of-prompt", "of a prompt: %s", "see the reason of that prompt"},

	NotArrived:        {"not-arrived", "at step %d the mean field from the start is %.2g logits away from the fixed point that its flow reaches: J is %.4g, not %.4g; %s", "raise `run.steps` and `run.burn_in`, or set `policy.init` to fixed-point"},
	BaselineRemembers: {"baseline-remembers", "the running mean of the baseline has not forgotten its first value", "raise `run.burn_in`"},
	TooMuchNeglected:  {"too-much-neglected", "what the theory neglects is predicted to be %s, more than half of %s %s: %s", "lower `optimizer.learning_rate`, raise `grpo.group_size` or `grpo.kl.coefficient`, run longer, or widen the margin; a verdict and `predict` say which of them would do"},
	UnknownSize:       {"unknown-size", "what the theory neglects is of unknown size: %s", "lower `optimizer.learning_rate`, or raise `grpo.group_size` or `grpo.kl.coefficient`; a verdict and `predict` say which of them would do"},
	PairsAlike:        {"pairs-alike", "the samples of the two sides of a pair are expected to differ %.2g times in a relaxation time, so that noise decides their deviation; in scope with an offset above %.2g", "raise the check's `offset` to the one named, or `grpo.group_size`"},
	TooFewPoints:      {"too-few-points", "the mean-field curve has too few points, or does not change but for rounding", "run longer, or start elsewhere: `policy.init`"},
	NoExponential:     {"no-exponential", "no exponential fits the predicted curve", "run longer, or start elsewhere: `policy.init`"},
	NoShare:           {"no-share", "the theory has no share of zero-variance groups for these rewards", "set `grpo.kl.in` loss"},

	AdamNoModel:            {"adam-no-model", "Adam has no linear dynamics and no reduced-order model away from its fixed point", "judge Adam's own prediction"},
	RateVariesModel:        {"rate-varies-model", "the learning rate varies", "set `optimizer.schedule.kind` constant and `optimizer.schedule.warmup` 0"},
	SeveralModesStart:      {"several-modes-start", "the start lies along more than one mode", "take two arms, which have one mode, or judge the exact prediction"},
	NoMass:                 {"no-mass", "the reduced-order model has no positive mass", "lower `optimizer.learning_rate` or `lag.interval`"},
	PaperStiffnessNegative: {"paper-stiffness-negative", "the paper's formulas need a stiffness above 0", "read the exact threshold"},
	PaperNoPoint:           {"paper-no-point", "the paper's stiffness is not defined: no fixed point at G = ∞ is reached from the start", "raise `grpo.kl.coefficient`, or read the rule at λ of the stiffest mode"},
	PaperAtRest:            {"paper-at-rest", "the paper's stiffness is not defined: its baseline run starts at the fixed point", "start elsewhere: `policy.init`"},
	PaperPasses:            {"paper-passes", "the paper's stiffness is not defined: its baseline run passes the fixed point at step %d", "start elsewhere: `policy.init`"},
	NoLargestAge:           {"no-largest-age", "the law of ages has no largest age", "set `lag.ages.law` uniform"},
	RuleNoNumber:           {"rule-no-number", "the rule gives no number here", "judge the exact prediction: leave `prediction` out of the check"},
	NoExactKind:            {"no-exact-kind", "the theory has no exact prediction here: its own is of the kind %s", "leave `prediction` out of the check"},
	NoNumberOfKind:         {"no-number-of-kind", "the theory has no %s %s here", "judge another kind of prediction, or simulate"},
	NoLargeSizeSlope:       {"no-large-size-slope", "no slope at large G: %s", "judge the exact prediction"},

	RecurrenceWeights:     {"recurrence-weights", "the recurrence holds only for importance ratios without a clip and the exact KL at the current policy", "set `grpo.importance.mode` ratio and `grpo.kl.at` current"},
	RecurrenceNoPenalty:   {"recurrence-no-penalty", "without a penalty the motion inside a block does not converge", "set `grpo.kl.coefficient` above 0"},
	RecurrenceNoFactor:    {"recurrence-no-factor", "the mean force of these rewards has no common factor for all arms", "use rewards of two values, or `grpo.advantage.scale` none"},
	RecurrenceNoise:       {"recurrence-noise", "at finite G the noise of every step enters the gap: the recurrence is that of the mean field", "set `grpo.group_size` inf"},
	RecurrenceUnconverged: {"recurrence-unconverged", "the block from step %d, where z = %.4g, does not converge: to come within half the margin of the map's next policy, z = %.4g, takes about %.2g steps, not %d", "raise `lag.interval` to the number of steps named"},

	Networks:      {"networks", "of a policy that is a network %s is not derived", "judge another number, or a bandit: `policy.network.kind` none"},
	NotSearched:   {"not-searched", "nothing could be searched: the measured stiffness is not certainly positive, or `from` lies beyond 16 lengths of the run", "raise the check's `draws`, or lower `from`"},
	UncertainSign: {"uncertain-sign", "a mode is so slow that the sign of its measured stiffness is not certain", "raise `grpo.kl.coefficient` or the check's `draws`"},
	BelowSearch:   {"below-search", "the search begins at %.4g, where by the theory what it looks for has begun and is over", "lower the check's `from`"},
	BeyondSearch:  {"beyond-search", "the theory says what is below %.4g only", "lower the check's `to`"},

	BeyondRange:    {"beyond-range", "the fixed point or its dynamics leaves the range of floating point", "take smaller rewards, logits or rates"},
	LawBeyondRange: {"law-beyond-range", "the stationary law leaves the range of floating point", "take smaller rewards, logits or rates"},
	InCell:         {"in-cell", "%s: %s", "see the reason of that cell"},
}
