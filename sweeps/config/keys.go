package config

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"grposim/option"
)

// ValueKind is the type of a key's value.
type ValueKind int

const (
	IntegerValue ValueKind = iota // int; grpo.group_size may be option.Infinite
	NumberValue                   // float64, finite
	SeedValue                     // uint64
	WordValue                     // string, one of Key.Words
	WeightsValue                  // Weights
	RecordValue                   // Record
	MeansValue                    // PromptMeans
	ListValue                     // []float64, one entry per arm or per item of bandit.arms
	InitValue                     // Init
	ArmsValue                     // []ArmGroup
	searchValue                   // *Locate; of a check only
)

// Key is one dotted key of a configuration.
type Key struct {
	Path  string    // the dotted path, unique in the table
	Kind  ValueKind // the type of the values
	Words []string  // allowed values of a WordValue; nil for other kinds
	Range Range     // allowed values of an IntegerValue or NumberValue, and entries of a ListValue
	// of the type of Kind; nil: the key is required or its default depends on other keys
	Default any
	Follows string    // in words, the default that depends on other keys; "": Default, or required
	Doc     string    // meaning, for the reference document
	Symbol  string    // in labels and quantities, such as η; "": the last word of Path
	Noun    string    // in titles and on axes, such as learning rate; "": Path
	Unit    string    // on axes; "": none
	Idle    Condition // in a cell where it holds the key has no effect; zero: there is none
	// what trainers call it: TRL's GRPOConfig and verl without their sections (docs/primer.md), and
	// usual abbreviations
	Known []string

	get    func(*Settings) any
	set    func(*Settings, any)
	follow func(*Settings) any // computes the default that Follows describes; nil: none
}

// Required reports whether a file must give the key.
func (k Key) Required() bool { return k.Default == nil && k.Follows == "" }

// AtDefault reports whether settings hold the key's default.
func (k Key) AtDefault(s *Settings) bool { return atDefault(k, k.get(s), s) }

// Get returns the key's value, of the type of Kind.
func (k Key) Get(s *Settings) any { return k.get(s) }

// JSON returns the key's value in the form in which a file or a results folder writes
// it, which encoding/json takes.
func (k Key) JSON(s *Settings) any { return documentValue(k.Get(s)) }

// Set assigns a value of the type of Kind. It changes no other key: defaults that
// depend on the value stay as they are. A list must have one entry per arm; a list of
// another length is the error.
func (k Key) Set(s *Settings, v any) error {
	if n, isList := listLength(v); isList && n != len(s.Bandit.Arms) {
		return fmt.Errorf("%s: got %s, want %s", k.Path, CountWords(n, "number"), CountWords(len(s.Bandit.Arms), "number")+", one per arm")
	}
	k.set(s, v)
	return nil
}

// defaultFor returns the key's default under the other settings, nil where the key is
// required.
func (k Key) defaultFor(s *Settings) any {
	if k.follow != nil {
		return k.follow(s)
	}
	return k.Default
}

// IdleIn reports whether the key has no effect in a cell.
func (k Key) IdleIn(s *Settings) bool { return k.Idle.Param != "" && k.Idle.holds(s) }

// Sparse reports whether tables of cells have a column for the key only if a cell does not hold the
// default: so it is with the options that trainers add to GRPO (docs/theory-trainers.md §11).
func (k Key) Sparse() bool {
	return slices.ContainsFunc(sparse, func(beginning string) bool { return strings.HasPrefix(k.Path, beginning) })
}

// sparse lists the beginnings of the paths of sparse keys.
var sparse = []string{
	"bandit.prompts.", "bandit.contexts.", "policy.network.", "policy.reference_update.", "grpo.filter", "grpo.advantage.value", "grpo.advantage.rate", "grpo.importance.floor", "grpo.importance.cap", "grpo.importance.tau", "grpo.importance.power", "grpo.importance.decay",
	"grpo.kl.in", "grpo.entropy.", "lag.behind", "lag.ages.", "lag.samples", "optimizer.max_norm", "run.record",
}

// Want says in words what a value of the key must be: the end of a message
// "got X, want Y".
func (k Key) Want() string {
	condition := strings.TrimSuffix(" "+k.Range.String(), " ")
	switch k.Kind {
	case IntegerValue:
		if k.Path == GroupSizeKey {
			condition += ", or inf"
		}
		return "an integer" + condition
	case SeedValue:
		return "an integer in [0, 18446744073709551615]"
	case NumberValue:
		return "a number" + condition
	case WordValue:
		return listWords(k.Words)
	case WeightsValue:
		return fmt.Sprintf("a list of at most %d numbers ≥ 0", option.MaxTableAge+1)
	case RecordValue:
		return recordWant
	case MeansValue:
		return "a list of pairs of numbers" + condition + ", one per prompt"
	case ListValue:
		return "a list of numbers, one per arm"
	case searchValue:
		return "{param, from, to, tolerance}, from and to in multiples of " + ruleMeasured
	case InitValue:
		return "a list of numbers, one per arm, or fixed-point, or {fixed_point_offset: x}"
	default:
		return "a list of at least 2 arms"
	}
}

// Paths of the keys that appear in rules between keys.
const (
	SeedKey          = "seed"
	ArmsKey          = "bandit.arms"
	TrueMeansKey     = "bandit.true_means"
	InitKey          = "policy.init"
	GroupSizeKey     = "grpo.group_size"
	LagIntervalKey   = "lag.interval"
	LearningRateKey  = "optimizer.learning_rate"
	MomentumKey      = "optimizer.momentum"
	ScheduleTotalKey = "optimizer.schedule.total"
	StepsKey         = "run.steps"
	BurnInKey        = "run.burn_in"
)

// Keys is the key table, from which the loader, --set, axes, conditions, the JSON
// Schema and the reference document are derived. A file nests at the dots of a path.
var Keys = slices.Concat(banditKeys, promptKeys, contextKeys, networkKeys, otherKeys)

// banditKeys are the rows of section `bandit` but for prompts.
var banditKeys = []Key{
	rowOf(Key{Path: SeedKey, Kind: SeedValue, Range: atLeast(0), Doc: "Seed of every random number. Cells that differ in it alone are independent repetitions."},
		func(s *Settings) *uint64 { return &s.Seed }),
	{
		Path: ArmsKey, Kind: ArmsValue,
		Doc: "The arms: `{reward: bernoulli, mean: 0.9}`, `{reward: constant, mean: 1}` or `{reward: normal, mean: 0.5, std: 0.1}`; Bernoulli means in [0, 1], std ≥ 0. `count: n` stands for n equal arms.",
		get: func(s *Settings) any { return groupArms(s.Bandit.Arms) },
		set: func(s *Settings, v any) { s.Bandit.Arms = expandArms(v.([]ArmGroup)) },
	},
	rowOf(Key{
		Path: TrueMeansKey, Kind: ListValue, Range: anyNumber, Follows: "the arms' means", follow: func(s *Settings) any { return s.ArmMeans() },
		Doc: "Intended mean reward of each arm, where the trained reward deviates from it (reward hacking).",
	}, func(s *Settings) *[]float64 { return &s.Bandit.TrueMeans }),
}

// otherKeys are the rows of the other sections.
var otherKeys = []Key{
	rowOf(Key{
		Path: InitKey, Kind: InitValue, Follows: "0 for every arm", follow: func(s *Settings) any { return Init{Logits: make([]float64, len(s.Bandit.Arms))} },
		Doc: "Initial logits; or `fixed-point`; or `{fixed_point_offset: x}`: z* + x for two arms, θ* + x e for more, where e is a generic direction drawn from the seed, centred, with largest |entry| 1.",
	}, func(s *Settings) *Init { return &s.Policy.Init }),
	rowOf(Key{
		Path: "policy.reference", Kind: ListValue, Range: anyNumber, Follows: "0 for every arm", follow: func(s *Settings) any { return make([]float64, len(s.Bandit.Arms)) },
		Doc: "Logits of π_ref, the policy towards which the KL penalty pulls.",
	}, func(s *Settings) *[]float64 { return &s.Policy.Reference }),

	integerKey("policy.reference_update.interval", atLeast(0), 0, "Number of steps after which the reference moves towards the policy, θ_ref ← (1 − rate)θ_ref + rate·θ in logits; 0: it stays. TRL `sync_ref_model`, slime `--ref-update-interval`. There is no fixed point.",
		func(s *Settings) *int { return &s.Policy.ReferenceUpdate.Interval }).known("sync_ref_model", "ref_model_sync_steps", "ref_update_interval"),
	numberKey("policy.reference_update.rate", Range{Low: 0, High: 1, LowOpen: true}, 0.6, "Share of the policy in the moved reference.",
		func(s *Settings) *float64 { return &s.Policy.ReferenceUpdate.Rate }).idle("policy.reference_update.interval", 0).known("ref_model_mixup_alpha"),

	integerKey(GroupSizeKey, between(2, maxGroup), nil, "Group size G; `inf`: the expected gradient in place of a sampled one (a single replica; its variance is 0, and other claims about noise are out of scope).",
		func(s *Settings) *int { return &s.Estimator.GroupSize }).named("G", "group size", "").known("num_generations", "n"),
	integerKey("grpo.groups_per_step", between(1, maxGroups), 1, "Number B of independent groups averaged in one step.",
		func(s *Settings) *int { return &s.Estimator.GroupsPerStep }).named("B", "groups per step", "").known("per_device_train_batch_size", "ppo_mini_batch_size"),
	wordKey("grpo.filter", option.Filters, "Groups whose rewards are all equal: they count with advantages 0 (`none`); each is replaced by a group whose rewards differ (`redraw`: dynamic sampling of DAPO, verl, NeMo-RL, OpenRLHF, slime), drawn from its exact conditional law; or the step averages the other groups alone (`drop`: prime-rl). Bernoulli arms only; `drop` with the exact KL gradient only. With many prompts a group of equal rewards is replaced by one of another prompt, drawn in proportion to the probability that its rewards differ (`redraw`; with `bandit.prompts.order: independent`). `inf` has no such groups.",
		func(s *Settings) *option.Filter { return &s.Estimator.Filter }).idle(GroupSizeKey, option.Infinite).known("filter_groups", "use_dynamic_sampling", "dynamic_filtering_enable"),
	wordKey("grpo.advantage.baseline", option.Baselines, "What the advantage subtracts from a reward: the mean of its group, or of the other samples of its group; `second-best` gives the best sample the difference to the second best, and 0 to the others (verl GRPO_PASSK), with the scales `std` and `none`; a constant b, the `value` (`constant`; 0 is no baseline), or a running mean of the rewards, which starts at `value` and after each draw of groups becomes (1 − rate)·b + rate·r̄, r̄ the mean of their rewards (`running-mean`). The last two go with the scale `none`; `second-best` and `running-mean` are for finite `grpo.group_size`.",
		func(s *Settings) *option.Baseline { return &s.Estimator.Advantage.Baseline }).known("adv_estimator"),
	wordKey("grpo.advantage.scale", option.Scales, "What the advantage is divided by: the group's standard deviation plus epsilon; nothing (`none`, Dr. GRPO); the standard deviation of the rewards of all groups of the step (`batch-std`, TRL); the sample standard deviation of the other samples, 1 where it is 0 (`others-std`, NeMo-RL, with the baseline `leave-one-out`); the group's mean reward (`mean`, MaxRL); the standard deviation of the rewards of all groups of the step, each less the mean of its group (`pooled-std`, OpenRLHF `reinforce_baseline`, verl `reinforce_plus_plus_baseline`); or the mean reward of the step (`batch-mean`, GPG of verl). The last three go with the baseline `mean`. All but `std` and `none`, and the baselines `second-best`, `constant` and `running-mean`, are for Bernoulli arms without a filter.",
		func(s *Settings) *option.Scale { return &s.Estimator.Advantage.Scale }).known("scale_rewards", "norm_adv_by_std_in_grpo"),
	wordKey("grpo.advantage.std", option.Deviations, "Divisor in the variance: the number of rewards (`population`) or one less (`sample`).",
		func(s *Settings) *option.Deviation { return &s.Estimator.Advantage.Std }).idleScales(option.Scale.UsesStd),
	numberKey("grpo.advantage.epsilon", nonNegative, 0.0, "Added to the standard deviation.",
		func(s *Settings) *float64 { return &s.Estimator.Advantage.Epsilon }).idleScales(option.Scale.UsesEpsilon),
	numberKey("grpo.advantage.value", unit, 0.0, "Baseline b of `constant`, and of `running-mean` in the first step, in units of reward.",
		func(s *Settings) *float64 { return &s.Estimator.Advantage.Value }).idle("grpo.advantage.baseline", option.MeanBaseline, option.LeaveOneOut, option.SecondBest),
	numberKey("grpo.advantage.rate", Range{Low: 0, High: 1, LowOpen: true}, 0.1, "Weight of the newest mean reward in a running mean.",
		func(s *Settings) *float64 { return &s.Estimator.Advantage.Rate }).idle("grpo.advantage.baseline", option.MeanBaseline, option.LeaveOneOut, option.SecondBest, option.ConstantBaseline),
	wordKey("grpo.importance.mode", option.ImportanceModes, "Weight of a sample: 1 (`none`); the ratio ρ = π/π_old (`ratio`); ρ where the clipped objective has a gradient and 0 elsewhere (`clip`), for negative advantages at most up to ρ = `cap` (`dual-clip`); ρ limited from above to `cap` (`truncated`: TIS, CISPO of TRL) or to [1 − clip_low, 1 + clip_high] (`cispo` of verl); ρ between `floor` and `cap` and 0 elsewhere (`masked`: IcePop); 4σ(1−σ)ρ, σ the logistic function of tau·(ρ − 1) (`sapo`); ρ^power e^{decay·(1−ρ)} (`vespo`); ρ while π − π_old is at most clip_high for positive advantages, at least −clip_low for negative ones, and 0 elsewhere (`dppo`). See docs/theory-trainers.md §11.2.",
		func(s *Settings) *option.ImportanceMode { return &s.Estimator.Importance.Mode }).known("importance_sampling_level"),
	numberKey("grpo.importance.clip_low", openUnit, 0.2, "With `clip` a sample of negative advantage counts while its ratio is at least 1 − clip_low.",
		func(s *Settings) *float64 { return &s.Estimator.Importance.ClipLow }).weighs(option.UseBounds).known("epsilon", "clip_ratio", "clip_ratio_low", "dppo_mask_low"),
	numberKey("grpo.importance.clip_high", positive, 0.2, "With `clip` a sample of positive advantage counts while its ratio is at most 1 + clip_high.",
		func(s *Settings) *float64 { return &s.Estimator.Importance.ClipHigh }).weighs(option.UseBounds).known("epsilon_high", "clip_ratio_high", "dppo_mask_high"),
	numberKey("grpo.importance.floor", unit, 0.0, "Least ratio of a sample that counts.",
		func(s *Settings) *float64 { return &s.Estimator.Importance.Floor }).weighs(option.UseFloor),
	numberKey("grpo.importance.cap", atLeast(1), 3.0, "Largest ratio: of a sample that counts, or at which the weight is held. The usual cap of `truncated` is 2.",
		func(s *Settings) *float64 { return &s.Estimator.Importance.Cap }).weighs(option.UseCap).known("delta", "clip_ratio_c", "eps_clip_c", "rollout_is_threshold", "tis_clip"),
	numberKey("grpo.importance.tau", positive, 1.0, "τ of the logistic weight of positive advantages.",
		func(s *Settings) *float64 { return &s.Estimator.Importance.Temperature.Positive }).weighs(option.UseTemperature).known("sapo_temperature_pos", "tau_pos"),
	numberKey("grpo.importance.tau"+"_negative", positive, 1.05, "τ of the logistic weight of negative advantages.",
		func(s *Settings) *float64 { return &s.Estimator.Importance.Temperature.Negative }).weighs(option.UseTemperature).known("sapo_temperature_neg", "tau_neg"),
	numberKey("grpo.importance.power", positive, 2.0, "Exponent k of the ratio for positive advantages.",
		func(s *Settings) *float64 { return &s.Estimator.Importance.Power.Positive }).weighs(option.UsePower).known("vespo_k_pos"),
	numberKey("grpo.importance.power"+"_negative", positive, 3.0, "Exponent k of the ratio for negative advantages.",
		func(s *Settings) *float64 { return &s.Estimator.Importance.Power.Negative }).weighs(option.UsePower).known("vespo_k_neg"),
	numberKey("grpo.importance.decay", nonNegative, 3.0, "Rate λ of e^{λ(1−ρ)} for positive advantages.",
		func(s *Settings) *float64 { return &s.Estimator.Importance.Decay.Positive }).weighs(option.UsePower).known("vespo_lambda_pos"),
	numberKey("grpo.importance.decay"+"_negative", nonNegative, 2.0, "Rate λ of e^{λ(1−ρ)} for negative advantages.",
		func(s *Settings) *float64 { return &s.Estimator.Importance.Decay.Negative }).weighs(option.UsePower).known("vespo_lambda_neg"),
	numberKey("grpo.kl.coefficient", nonNegative, 0.0, "Strength β of the KL penalty.",
		func(s *Settings) *float64 { return &s.Estimator.KL.Coefficient }).named("β", "KL coefficient", "").known("beta", "kl_coef", "kl_loss_coef"),
	wordKey("grpo.kl.in", option.KLPlacements, "Where the KL penalty is: a gradient of its own (`loss`), −β log π_old/π_ref added to the advantage (`advantage`, OpenRLHF), or to the reward before the advantage (`reward`, verl `use_kl_in_reward`).",
		func(s *Settings) *option.KLPlacement { return &s.Estimator.KL.In }).idle("grpo.kl.coefficient", 0.0).known("use_kl_in_reward"),
	wordKey("grpo.kl.gradient", option.KLGradients, "How the gradient of the KL penalty in the loss is computed: in closed form (`exact`), or by a sampled estimator as in trainers (`k1`, `k2`, `k3`), `k1` and `k3` also times the importance ratio. `k1` is no penalty in the mean.",
		func(s *Settings) *option.KLGradient { return &s.Estimator.KL.Gradient }).idle("grpo.kl.coefficient", 0.0).known("kl_loss_type", "use_bias_correction_kl", "use_unbiased_kl"),
	wordKey("grpo.kl.at", option.KLPoints, "The policy at which the KL penalty in the loss is evaluated.",
		func(s *Settings) *option.KLPoint { return &s.Estimator.KL.At }).idle("grpo.kl.coefficient", 0.0),
	numberKey("grpo.entropy.coefficient", nonNegative, 0.0, "Strength α of the entropy bonus αH(π), whose gradient is exact.",
		func(s *Settings) *float64 { return &s.Estimator.Entropy }).named("α", "entropy coefficient", "").known("entropy_coef", "entropy_coeff"),

	wordKey("lag.kind", option.LagKinds, "`block`: the snapshot is refreshed every `interval` ≥ 1 steps; `delay`: the snapshot is the policy of `interval` ≥ 0 steps ago; `random`: that of a random number of steps ago, see `lag.ages`, as in asynchronous trainers. Before the start of the run it is the initial policy.",
		func(s *Settings) *option.LagKind { return &s.Lag.Kind }),
	integerKey(LagIntervalKey, atLeast(0), 1, "Refresh interval K of a block, at least 1, or the delay; in optimizer steps.",
		func(s *Settings) *int { return &s.Lag.Interval }).named("K", "refresh interval", "optimizer steps").idle("lag.kind", option.Random).known("num_iterations", "ppo_epochs", "max_trajectory_age_steps", "weight_sync_steps", "trigger_parameter_sync_step"),
	integerKey("lag.behind", between(0, maxDelay), 0, "Number of blocks by which the snapshot of a block is older than the last one; 1 is the one-step-off schedule of trainers.",
		func(s *Settings) *int { return &s.Lag.Behind }).idle("lag.kind", option.Delay, option.Random).known("staleness_threshold"),
	ofAges(wordKey("lag.ages.law", option.AgeLaws, "The law of random ages, in optimizer steps: `uniform` on `from` … `to`, `geometric` (p_j in proportion to r^j, j ≥ 0, of the given `mean`; ages beyond the last 1e-15 of the law count as the last), or a `table` of `weights`.",
		func(s *Settings) *option.AgeLaw { return &s.Lag.Ages.Law })),
	ofAges(integerKey("lag.ages.from", between(0, maxDelay), 0, "Smallest age of a uniform law.",
		func(s *Settings) *int { return &s.Lag.Ages.From })),
	ofAges(integerKey("lag.ages.to", between(0, maxDelay), 0, "Largest age of a uniform law: at least 1 and at least `from`.",
		func(s *Settings) *int { return &s.Lag.Ages.To })).known("max_off_policy_steps", "max_staleness"),
	ofAges(numberKey("lag.ages.mean", Range{Low: 0, High: maxMeanAge}, 0.0, "Mean of a geometric law, greater than 0.",
		func(s *Settings) *float64 { return &s.Lag.Ages.Mean })).known("max_head_offpolicyness"),
	ofAges(Key{
		Path: "lag.ages.weights", Kind: WeightsValue, Range: nonNegative, Default: Weights{},
		Doc: "Weights of the ages 0, 1, … of a table; they need not add to 1.",
		get: func(s *Settings) any { return weightsOf(&s.Lag.Ages) },
		set: func(s *Settings, v any) {
			s.Lag.Ages.Weights = [option.MaxTableAge + 1]float64{}
			copy(s.Lag.Ages.Weights[:], v.(Weights))
		},
	}),
	ofAges(wordKey("lag.ages.drawn", option.AgeDraws, "What has an age of its own: each `group` of a step, or the `step`, all groups of which share it. At `group_size` inf it is `group`, and the force is the mean over the law.",
		func(s *Settings) *option.AgeDraw { return &s.Lag.Ages.Drawn })),

	wordKey("lag.samples", option.SampleUses, "Groups of the steps of a block: each step draws its own (`fresh`), or all use those of the first (`reused`: TRL `num_iterations`, verl `ppo_epochs`).",
		func(s *Settings) *option.Samples { return &s.Estimator.Samples }),

	wordKey("optimizer.kind", option.Methods, "The update rule.",
		func(s *Settings) *option.Method { return &s.Optimizer.Kind }).known("optim"),
	numberKey(LearningRateKey, positive, nil, "Learning rate η.",
		func(s *Settings) *float64 { return &s.Optimizer.LearningRate }).named("η", "learning rate", "").known("lr"),
	numberKey(MomentumKey, belowOne, 0.0, "Momentum μ of heavy-ball and nesterov.",
		func(s *Settings) *float64 { return &s.Optimizer.Momentum }).named("μ", "momentum", "").idle("optimizer.kind", option.Adam),
	numberKey("optimizer.beta1", belowOne, 0.9, "Adam: decay of the first moment.",
		func(s *Settings) *float64 { return &s.Optimizer.Beta1 }).idle("optimizer.kind", option.HeavyBall, option.Nesterov).known("adam_beta1", "betas"),
	numberKey("optimizer.beta2", belowOne, 0.999, "Adam: decay of the second moment.",
		func(s *Settings) *float64 { return &s.Optimizer.Beta2 }).idle("optimizer.kind", option.HeavyBall, option.Nesterov).known("adam_beta2"),
	numberKey("optimizer.epsilon", nonNegative, 1e-8, "Adam: added to the root of the second moment.",
		func(s *Settings) *float64 { return &s.Optimizer.Epsilon }).idle("optimizer.kind", option.HeavyBall, option.Nesterov).known("adam_epsilon"),
	numberKey("optimizer.max_norm", nonNegative, 0.0, "Norm to which a longer gradient is scaled before the optimizer's step (`max_grad_norm`); 0: no limit.",
		func(s *Settings) *float64 { return &s.Optimizer.MaxNorm }).known("max_grad_norm", "clip_grad", "grad_clip"),
	wordKey("optimizer.schedule.kind", option.ScheduleKinds, "Course of the learning rate after the warm-up.",
		func(s *Settings) *option.ScheduleKind { return &s.Optimizer.Schedule.Kind }).known("lr_scheduler_type", "warmup_style"),
	integerKey("optimizer.schedule.warmup", atLeast(0), 0, "Number of steps over which the learning rate rises to its full value.",
		func(s *Settings) *int { return &s.Optimizer.Schedule.Warmup }).known("warmup_steps", "lr_warmup_steps"),
	rowOf(Key{
		Path: ScheduleTotalKey, Kind: IntegerValue, Range: atLeast(0), Follows: "run.steps", follow: func(s *Settings) any { return s.Run.Steps },
		Doc: "Step at which a linear or cosine learning rate reaches 0, greater than `warmup`; 0 means `run.steps`.",
	}, func(s *Settings) *int { return &s.Optimizer.Schedule.Total }).idle("optimizer.schedule.kind", option.ConstantRate),

	integerKey(StepsKey, atLeast(1), nil, "Number of optimizer steps.",
		func(s *Settings) *int { return &s.Run.Steps }).known("max_steps", "total_training_steps"),
	integerKey(BurnInKey, atLeast(0), 0, "Number of initial steps left out of stationary averages, less than `steps`.",
		func(s *Settings) *int { return &s.Run.BurnIn }),
	integerKey("run.replicas", between(1, maxReplicas), 1, "Number of independent replicas.",
		func(s *Settings) *int { return &s.Run.Replicas }),
	recordRow,
}

// rowOf completes the row of a key that is a field of Settings.
func rowOf[T any](k Key, field func(*Settings) *T) Key {
	k.get = func(s *Settings) any { return *field(s) }
	k.set = func(s *Settings, v any) { *field(s) = v.(T) }
	return k
}

// integerKey is the row of a key whose values are integers; byDefault nil: required.
func integerKey(path string, r Range, byDefault any, doc string, field func(*Settings) *int) Key {
	return rowOf(Key{Path: path, Kind: IntegerValue, Range: r, Default: byDefault, Doc: doc}, field)
}

// numberKey is the row of a key whose values are numbers; byDefault nil: required.
func numberKey(path string, r Range, byDefault any, doc string, field func(*Settings) *float64) Key {
	return rowOf(Key{Path: path, Kind: NumberValue, Range: r, Default: byDefault, Doc: doc}, field)
}

// wordKey is the row of a key whose values are words, by default the first.
func wordKey[Word word](path string, words []Word, doc string, field func(*Settings) *Word) Key {
	k := Key{Path: path, Kind: WordValue, Default: words[0].String(), Words: texts(words), Doc: doc}
	k.get = func(s *Settings) any { return (*field(s)).String() }
	k.set = func(s *Settings, v any) { *field(s) = words[slices.Index(k.Words, v.(string))] }
	return k
}

// word is a type of words of package option.
type word interface {
	~uint8
	String() string
}

// texts returns words as a file writes them.
func texts[Word word](words []Word) []string {
	return each(words, func(w Word) string { return w.String() })
}

// each lists what a function returns for the items of a list; nil for an empty one.
func each[T, U any](list []T, of func(T) U) []U {
	var all []U
	for _, item := range list {
		all = append(all, of(item))
	}
	return all
}

// ofAges marks a key of random ages, which has no effect with another lag.
func ofAges(k Key) Key { return k.idle("lag.kind", option.Block, option.Delay) }

// idle sets the condition under which the key has no effect: param has one of the values.
func (k Key) idle(param string, values ...any) Key {
	k.Idle.Param = param
	for _, v := range values {
		if w, isWord := v.(fmt.Stringer); isWord {
			v = w.String()
		}
		k.Idle.Values = append(k.Idle.Values, v)
	}
	return k
}

// weighs marks a field of a weight, which has no effect with modes that do not use it.
func (k Key) weighs(use option.WeightUse) Key {
	return k.idle("grpo.importance.mode", without(option.ImportanceModes, func(mode option.ImportanceMode) bool { return mode.Uses(use) })...)
}

// idleScales sets the scales that do not use the key as those where it has no effect.
func (k Key) idleScales(use func(option.Scale) bool) Key {
	return k.idle("grpo.advantage.scale", without(option.Scales, use)...)
}

// without lists the words that do not use something.
func without[Word word](words []Word, use func(Word) bool) (others []any) {
	for _, w := range words {
		if !use(w) {
			others = append(others, w)
		}
	}
	return others
}

// named sets the symbol, noun and unit of the key's quantity.
func (k Key) named(symbol, noun, unit string) Key {
	k.Symbol, k.Noun, k.Unit = symbol, noun, unit
	return k
}

// known sets the names that trainers have for the key.
func (k Key) known(names ...string) Key {
	k.Known = names
	return k
}

// ShortName returns the key's symbol, or the last word of its path where it has none.
func (k Key) ShortName() string { return cmp.Or(k.Symbol, lastName(k.Path)) }

// Title names the key in words, such as learning rate η, or by its path where it has
// no noun. The settings decide whether lag.interval is a refresh interval or a delay.
func (k Key) Title(s *Settings) string {
	switch {
	case k.Noun == "":
		return k.Path
	case k.Path == LagIntervalKey && s.Lag.Kind == option.Delay:
		return "delay " + k.Symbol
	}
	return k.Noun + " " + k.Symbol
}

// AxisLabel returns the Title with the unit, such as refresh interval K, optimizer steps.
func (k Key) AxisLabel(s *Settings) string {
	if k.Unit == "" {
		return k.Title(s)
	}
	return k.Title(s) + ", " + k.Unit
}

// OfRun reports whether the key belongs to section `run`: how long and how often a
// cell is simulated. No prediction depends on these keys.
func (k Key) OfRun() bool { return strings.HasPrefix(k.Path, "run.") }

// Faulty reports whether the control of a check can set the key: the theory uses it.
func (k Key) Faulty() bool { return !k.OfRun() && k.Path != SeedKey }

// whole reports whether the key's values are integers.
func (k Key) whole() bool { return k.Kind == IntegerValue || k.Kind == SeedValue }

// Numeric reports whether the key's values are numbers.
func (k Key) Numeric() bool { return k.Kind == IntegerValue || k.Kind == NumberValue }

// Number returns the value of a numeric key, +Inf for option.Infinite. It panics for
// other keys.
func (k Key) Number(s *Settings) float64 {
	switch v := k.Get(s).(type) {
	case float64:
		return v
	case int:
		if v == option.Infinite {
			return math.Inf(1)
		}
		return float64(v)
	}
	panic("config: the value of " + k.Path + " is not a number")
}

// SetNumber assigns a numeric key, an integer key the integer nearest to x.
func (k Key) SetNumber(s *Settings, x float64) {
	var v any = x
	if k.Kind == IntegerValue {
		v = int(math.Round(x))
	}
	if err := k.Set(s, v); err != nil {
		panic(err) // only lists can fail
	}
}

// ShortName returns the ShortName of the key with a path of the table.
func ShortName(path string) string {
	k, _ := LookupKey(path)
	return k.ShortName()
}

// LookupKey returns the key with a dotted path; false where the table has none.
func LookupKey(path string) (Key, bool) {
	if i := keyIndex(path); i >= 0 {
		return Keys[i], true
	}
	return Key{}, false
}

// keyIndex returns the index in Keys of the key with a path, −1 where there is none.
func keyIndex(path string) int {
	if i, known := keyIndices()[path]; known {
		return i
	}
	return -1
}

var keyIndices = sync.OnceValue(func() map[string]int {
	indices := make(map[string]int)
	for i := range Keys {
		indices[Keys[i].Path] = i
	}
	return indices
})

// keyPaths lists the paths of Keys.
func keyPaths() []string { return each(Keys, func(k Key) string { return k.Path }) }

// sectionNames lists the names that may follow a prefix of the paths in Keys; the
// prefix "" gives the sections of a file.
func sectionNames(prefix string) []string {
	if prefix != "" {
		prefix += "."
	}
	var names []string
	for _, k := range Keys {
		if rest, under := strings.CutPrefix(k.Path, prefix); under {
			name, _, _ := strings.Cut(rest, ".")
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
