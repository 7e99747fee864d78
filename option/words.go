package option

import "fmt"

// The words of options are small integers, so that comparing them costs nothing in a
// step. Each type has the words of a configuration file as text, in one list by value.
// The zero value is the usual word.

// word is a type of words.
type word interface {
	~uint8
	String() string
}

// text returns the word of a value.
func text[W ~uint8](w W, words ...string) string {
	if int(w) < len(words) {
		return words[w]
	}
	return fmt.Sprintf("%d of %d words", w, len(words))
}

// all returns every value up to the last.
func all[W word](last W) []W {
	values := make([]W, last+1)
	for i := range values {
		values[i] = W(i)
	}
	return values
}

// The values of each type of words.
var (
	Laws            = all(Normal)
	Baselines       = all(RunningMean)
	Scales          = all(BatchMean)
	Deviations      = all(SampleStd)
	Filters         = all(Drop)
	ImportanceModes = all(DPPO)
	Corrections     = all(MaskedRatio)
	KLGradients     = all(RatioK3)
	KLPoints        = all(AtSnapshot)
	KLPlacements    = all(InReward)
	SampleUses      = all(Reused)
	LagKinds        = all(Random)
	AgeLaws         = all(TableAges)
	AgeDraws        = all(AgePerStep)
	Methods         = all(Adam)
	ScheduleKinds   = all(CosineDecay)
	UpdateStates    = all(ResetState)
	ParameterKinds  = all(Shared)
	PromptOrders    = all(ByFailure)
)

// Law is the distribution of an arm's reward.
type Law uint8

const (
	Bernoulli Law = iota // 1 with probability Mean, else 0
	Constant             // always Mean
	Normal               // Mean + Std·N(0, 1)
)

func (w Law) String() string { return text(w, "bernoulli", "constant", "normal") }

// Baseline is the number that the advantage subtracts from a reward.
type Baseline uint8

const (
	MeanBaseline     Baseline = iota // the group's mean
	LeaveOneOut                      // the mean of the others: a factor G/(G−1)
	SecondBest                       // for the best sample the second best reward; others get 0
	ConstantBaseline                 // b, the same in all steps; 0 is no baseline
	RunningMean                      // b, which after each draw of groups becomes (1−α)b + αr̄
)

func (w Baseline) String() string {
	return text(w, "mean", "leave-one-out", "second-best", "constant", "running-mean")
}

// Given reports whether the baseline does not depend on the rewards of the step. Groups of
// equal rewards then have advantages.
func (w Baseline) Given() bool { return w == ConstantBaseline || w == RunningMean }

// Scale is the number that divides the advantage.
type Scale uint8

const (
	StdScale  Scale = iota // the standard deviation of the group's rewards, plus epsilon
	NoScale                // 1 (Dr. GRPO)
	BatchStd               // the deviation of all rewards of the step, plus epsilon (TRL "batch")
	OthersStd              // that of the group's other samples plus epsilon, 1 where it is 0 (NeMo-RL)
	MeanScale              // the mean of the group's rewards (MaxRL)
	PooledStd              // that of r − r̄ of all groups of the step, plus epsilon (OpenRLHF)
	BatchMean              // the mean of the rewards of all groups of the step (GPG)
)

func (w Scale) String() string {
	return text(w, "std", "none", "batch-std", "others-std", "mean", "pooled-std", "batch-mean")
}

// scaleUses says what goes with a scale, by Scale.
var scaleUses = [...]struct {
	baselines []Baseline // that go with it
	epsilon   bool       // Advantage.Epsilon has
	ofStep    bool       // all groups of a step have one scale
}{
	StdScale:  {baselines: []Baseline{MeanBaseline, LeaveOneOut, SecondBest}, epsilon: true},
	NoScale:   {baselines: Baselines},
	BatchStd:  {baselines: []Baseline{MeanBaseline, LeaveOneOut}, epsilon: true, ofStep: true},
	OthersStd: {baselines: []Baseline{LeaveOneOut}, epsilon: true},
	MeanScale: {baselines: []Baseline{MeanBaseline}},
	PooledStd: {baselines: []Baseline{MeanBaseline}, epsilon: true, ofStep: true},
	BatchMean: {baselines: []Baseline{MeanBaseline}, ofStep: true},
}

// OfStep reports whether all groups of a step have one scale, which depends on their rewards.
func (w Scale) OfStep() bool { return scaleUses[w].ofStep }

// Deviation says which standard deviation StdScale, BatchStd and PooledStd take.
type Deviation uint8

const (
	PopulationStd Deviation = iota // divides by G
	SampleStd                      // divides by G−1
)

func (w Deviation) String() string { return text(w, "population", "sample") }

// Filter is what happens to groups whose rewards are all equal.
type Filter uint8

const (
	KeepAll Filter = iota // they count, with advantages 0
	// each is replaced by a group whose rewards differ (DAPO; verl filter_groups)
	Redraw
	// they do not count: the mean is that of the other groups, 0 if there are none
	Drop
)

func (w Filter) String() string { return text(w, "none", "redraw", "drop") }

// ImportanceMode is the importance weight of a sample of ratio ρ = π/π_old.
type ImportanceMode uint8

const (
	NoImportance ImportanceMode = iota // 1
	Ratio                              // ρ
	Clip                               // ρ where the clipped objective has slope, else 0: GRPO, DAPO
	DualClip                           // clip, and for A < 0 only up to the cap (verl, TRL)
	Truncated                          // min(ρ, cap): TIS of verl, slime, OpenRLHF; CISPO of TRL
	Masked                             // ρ between floor and cap, else 0: IcePop, TRL *_mask
	// ρ limited to [1 − ε_low, 1 + ε_high]: CISPO of verl, slime, AReaL
	CISPO
	SAPO  // 4σ(1−σ)ρ, σ = 1/(1 + e^{−τ(ρ−1)}), τ by the sign of A
	VESPO // ρ^k e^{λ(1−ρ)}, k and λ by the sign of A
	DPPO  // ρ while π − π_old ≥ −ε_low (A < 0), ≤ ε_high (A > 0)
)

func (w ImportanceMode) String() string {
	return text(w, "none", "ratio", "clip", "dual-clip", "truncated",
		"masked", "cispo", "sapo", "vespo", "dppo")
}

// WeightUse is a set of fields of an Importance.
type WeightUse uint8

const (
	UseBounds      WeightUse = 1 << iota // ClipLow and ClipHigh
	UseFloor                             // Floor
	UseCap                               // Cap
	UseTemperature                       // Temperature
	UsePower                             // Power and Decay
)

// weightUses are the fields that a mode uses, by ImportanceMode.
var weightUses = [...]WeightUse{
	Clip: UseBounds, DualClip: UseBounds | UseCap, CISPO: UseBounds, DPPO: UseBounds,
	Truncated: UseCap, Masked: UseFloor | UseCap, SAPO: UseTemperature, VESPO: UsePower,
}

// Uses reports whether the mode uses the fields.
func (w ImportanceMode) Uses(fields WeightUse) bool {
	return int(w) < len(weightUses) && weightUses[w]&fields != 0
}

// Correction is a second weight of a sample, of the ratio r = π_old/π_sampler, π_old the trainer's.
type Correction uint8

const (
	NoCorrection   Correction = iota // 1
	TruncatedRatio                   // min(r, cap): TIS
	MaskedRatio                      // r between floor and cap, else 0: MIS, IcePop
)

func (w Correction) String() string { return text(w, "none", "truncated", "masked") }

// KLGradient is the estimator of the gradient of the KL penalty.
type KLGradient uint8

const (
	ExactKL KLGradient = iota // ∇KL(π‖π_ref) in closed form
	K1                        // per sample e_a − π, of the loss log π/π_ref (slime): none in the mean
	K2                        // per sample log(π/π_ref)(e_a − π)
	K3                        // per sample (1 − π_ref/π)(e_a − π)
	RatioK1                   // per sample ρ(log(π/π_ref) + 1)(e_a − π), of the loss ρ log π/π_ref
	RatioK3                   // per sample ρ log(π/π_ref)(e_a − π), of the loss ρ times k3: TRL, slime
)

func (w KLGradient) String() string {
	return text(w, "exact", "k1", "k2", "k3", "ratio-k1", "ratio-k3")
}

// KLPoint is the policy at which the KL penalty is evaluated.
type KLPoint uint8

const (
	AtCurrent  KLPoint = iota // π
	AtSnapshot                // π_old throughout, projection included
)

func (w KLPoint) String() string { return text(w, "current", "snapshot") }

// KLPlacement is the place of the KL penalty in the algorithm.
type KLPlacement uint8

const (
	InLoss KLPlacement = iota // a gradient of its own beside that of the reward
	// A_i − β log π_old/π_ref: OpenRLHF for rloo, group_norm and dr_grpo
	InAdvantage
	InReward // r_i − β log π_old/π_ref before the advantage: verl
)

func (w KLPlacement) String() string { return text(w, "loss", "advantage", "reward") }

// Samples says which groups a step uses.
type Samples uint8

const (
	Fresh  Samples = iota // its own
	Reused                // those of the first step of its block (TRL num_iterations, ppo_epochs)
)

func (w Samples) String() string { return text(w, "fresh", "reused") }

// LagKind is the rule by which the behaviour policy lags the current one.
type LagKind uint8

const (
	Block  LagKind = iota // π_old ← π every Interval ≥ 1 steps
	Delay                 // π_old is π of Interval ≥ 0 steps ago, at first the initial one
	Random                // π_old is π of a random number of steps ago, as in asynchronous trainers
)

// Regular reports whether the kind is a block or a delay, which alone have rules for an interval.
func (w LagKind) Regular() bool { return w == Block || w == Delay }

func (w LagKind) String() string { return text(w, "block", "delay", "random") }

// AgeLaw is the kind of a law of ages.
type AgeLaw uint8

const (
	UniformAges   AgeLaw = iota // equal probabilities of From, …, To
	GeometricAges               // p_j = (1−r) r^j, j ≥ 0, of mean r/(1−r) = Mean
	TableAges                   // p_j in proportion to Weights[j]
)

func (w AgeLaw) String() string { return text(w, "uniform", "geometric", "table") }

// AgeDraw is what has one age.
type AgeDraw uint8

const (
	AgePerGroup AgeDraw = iota // each group of a step, independently
	AgePerStep                 // all groups of a step
)

func (w AgeDraw) String() string { return text(w, "group", "step") }

// Method is the optimizer's update rule.
type Method uint8

const (
	HeavyBall Method = iota // v ← μv + g, θ ← θ + ηv
	Nesterov                // v ← μv + g, θ ← θ + η(g + μv)
	Adam                    // bias-corrected, no weight decay
)

func (w Method) String() string { return text(w, "heavy-ball", "nesterov", "adam") }

// ScheduleKind is the shape of a Schedule.
type ScheduleKind uint8

const (
	ConstantRate ScheduleKind = iota // 1
	LinearDecay                      // 1 − x
	CosineDecay                      // ½(1 + cos πx)
)

func (w ScheduleKind) String() string { return text(w, "constant", "linear", "cosine") }

// UpdateState says what an update of the reference does to the state of the optimizer.
type UpdateState uint8

const (
	KeptState  UpdateState = iota // nothing
	ResetState                    // as before the first step: ProRL
)

func (w UpdateState) String() string { return text(w, "keep", "reset") }

// Parameters says which logits the prompts have.
type Parameters uint8

const (
	Tabular Parameters = iota // each prompt its own; the optimizer steps all, so a prompt coasts
	Shared                    // one policy for all
)

func (w Parameters) String() string { return text(w, "tabular", "shared") }

// PromptOrder is the order in which prompts are chosen.
type PromptOrder uint8

const (
	Shuffled    PromptOrder = iota // each once an epoch, in a new random order
	InOrder                        // each once an epoch, as listed
	Independent                    // uniformly, with replacement
	ByFailure                      // with replacement, in proportion to 1 − J of the prompt
)

func (w PromptOrder) String() string {
	return text(w, "shuffled", "in-order", "independent", "by-failure")
}
