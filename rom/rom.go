// Package rom is the theory: what GRPO on a softmax bandit must do, computed
// without drawing a single sample.
//
// It imports nothing of the code whose behaviour it predicts; the vocabulary
// below is its own on purpose. Every prediction says its Kind and whether it
// is in Scope.
//
// Notation (docs/theory.md, "Symbols"): Λ = −∂E[g]/∂θ at the fixed point is
// the stiffness matrix, Λ = Λ_f + Λ_s its fresh part (through θ) and stale
// part (through θ_old), λ the stiffness of a mode, κ = ηλ. With two arms index
// 1 is the arm listed first, z = θ_1 − θ_0, p = σ(z).
package rom

// Law is the distribution of an arm's reward.
type Law int

const (
	Bernoulli Law = iota
	Constant
	Normal
)

// Arm is the reward of one arm.
type Arm struct {
	Law  Law
	Mean float64
	Std  float64 // normal only
}

// Baseline is what the advantage subtracts.
type Baseline int

const (
	GroupMean Baseline = iota
	LeaveOneOut
)

// Scale is what the advantage is divided by.
type Scale int

const (
	GroupStd Scale = iota
	Unscaled
)

// Deviation says which standard deviation GroupStd takes.
type Deviation int

const (
	Population Deviation = iota
	Sample
)

// Weighting is the importance weight of a sample.
type Weighting int

const (
	Unweighted Weighting = iota
	Ratio
	Clipped
)

// KLEstimator is the way the gradient of the KL penalty is taken.
type KLEstimator int

const (
	ExactKL KLEstimator = iota
	K2
	K3
)

// Anchor is the policy at which the KL penalty is evaluated.
type Anchor int

const (
	AtCurrent Anchor = iota
	AtSnapshot
)

// LagKind is the way the behaviour policy falls behind.
type LagKind int

const (
	Block LagKind = iota
	Delay
)

// Method is the optimizer's update rule.
type Method int

const (
	HeavyBall Method = iota
	Nesterov
	Adam
)

// Decay is the shape of the learning rate over a run.
type Decay int

const (
	Steady Decay = iota
	Linear
	Cosine
)

// Infinite is the group size at which the gradient is its own expectation.
const Infinite = 0

// Lag is the staleness of the behaviour policy: Age is the period K ≥ 1 of a
// block, or the constant delay τ ≥ 0 in steps.
type Lag struct {
	Kind LagKind
	Age  int
}

// Optimizer is the map from force to motion. The rate of step t is
// Rate·(t+1)/Warmup while t < Warmup, then Rate times 1 (Steady), 1−x (Linear)
// or ½(1+cos πx) (Cosine), x = min((t−Warmup)/(Total−Warmup), 1).
type Optimizer struct {
	Method       Method
	Rate         float64 // η
	Momentum     float64 // μ; heavy ball and Nesterov
	Beta1, Beta2 float64 // Adam
	Epsilon      float64 // Adam
	Decay        Decay
	Warmup       int
	Total        int
}

// Factors multiply constants of the theory; Unit is the theory as derived,
// anything else a planted fault. Stiffness multiplies the mean force (fixed
// points stay), Noise its covariance; Lag (the age of the snapshot) and Mass
// act on the reduced-order model only.
type Factors struct {
	Stiffness, Noise, Lag, Mass float64
}

// Unit leaves the theory as derived.
var Unit = Factors{Stiffness: 1, Noise: 1, Lag: 1, Mass: 1}

// Params is everything the theory needs to know of a cell.
type Params struct {
	Arms      []Arm
	Reference []float64 // logits of π_ref, one an arm

	GroupSize int // G ≥ 2, or Infinite
	Groups    int // B ≥ 1

	Baseline  Baseline
	Scale     Scale
	Deviation Deviation
	Epsilon   float64 // added to the group's standard deviation

	Weighting         Weighting
	ClipLow, ClipHigh float64

	Strength    float64 // β ≥ 0
	KLEstimator KLEstimator
	Anchor      Anchor

	Lag       Lag
	Optimizer Optimizer
	Factors   Factors

	Measured *Measured // replaces the closed forms of Λ_f, Λ_s in the linear dynamics; nil: closed forms
}

// Kind says where a prediction comes from.
type Kind string

const (
	Exact        Kind = "exact"         // the exact law of the linear or mean-field dynamics
	LeadingOrder Kind = "leading-order" // first order in a small quantity named in the docs
	PaperRule    Kind = "paper-rule"    // the formula of arXiv:2606.30789 as printed
)

// Scope is what a prediction says of itself: whether it holds here, and why not.
type Scope struct {
	In      bool   `json:"in"`
	Because string `json:"because"`
}

// FixedPoint is a solution of E[g](θ, θ) = 0.
type FixedPoint struct {
	Logits []float64 `json:"logits"` // centred: they sum to 0
	Policy []float64 `json:"policy"`
	Reward float64   `json:"expected_reward"` // J*
}

// Mode is an eigenmode of the total stiffness on the centred subspace.
// Direction and Covector are the right and left eigenvectors, largest |entry|
// of Direction 1, Covector·Direction = 1; Fresh and Stale are
// Covectorᵀ Λ_f Direction and Covectorᵀ Λ_s Direction, which sum to Total.
type Mode struct {
	Total, Fresh, Stale float64
	Direction, Covector []float64
}

// ModeStiffness is the stiffness of the stiffest mode, and the slowest's total.
type ModeStiffness struct {
	Total   float64 `json:"total"`
	Fresh   float64 `json:"fresh"`
	Stale   float64 `json:"stale"`
	Slowest float64 `json:"slowest"`
}

// Oscillator holds the constants of the reduced-order model
// m x″ + γ x′ + k x = ξ of the stiffest mode (§4 of docs/theory.md).
type Oscillator struct {
	LagSteps     float64 `json:"lag_steps"`     // mean age of the snapshot
	Mass         float64 `json:"mass"`          // m
	Damping      float64 `json:"damping"`       // γ
	Spring       float64 `json:"spring"`        // k = ηλ
	DampingRatio float64 `json:"damping_ratio"` // ζ = γ/(2√(mk)); 0 where k ≤ 0 or m ≤ 0
	Regime       string  `json:"regime"`        // overdamped, oscillatory or unstable
}

// Variance is a stationary variance, averaged over time (over the phases of a
// refresh period).
type Variance struct {
	LogitGap       *float64 `json:"logit_gap"` // two arms only
	ExpectedReward *float64 `json:"expected_reward"`
}

// Dynamics is what one theory says of the motion about the fixed point; nil is
// "none" or "not said", for the thresholds Searched says which. A critical
// refresh interval is looked for up to 1,000,000 steps of a block, and up to 512
// steps of delay where only part of the force is delayed; with several arms whose
// fresh and stale stiffness do not commute, up to 512 steps of a block and 50 of
// delay, less than 160/(A−1) of them. Block dynamics with only part of the force
// frozen, and stationary laws, go up to a period of 10,000 steps. An onset that is
// no meeting of two real multipliers is looked for up to 78 steps of delay, and
// of a mode with λ > 0. At most the 64
// largest multipliers are listed. Where Exact or LeadingOrder are linear
// dynamics the interval is whole; the reduced-order model's is not.
type Dynamics struct {
	Scope                   Scope        `json:"scope"`
	SpectralRadius          *float64     `json:"spectral_radius"`
	Multipliers             [][2]float64 `json:"multipliers"` // of one refresh period, one step for delay; largest modulus first
	CriticalLearningRate    *float64     `json:"critical_learning_rate"`
	CriticalRefreshInterval *float64     `json:"critical_refresh_interval"` // where already on-policy is unstable the smallest there is: 1 (block), 0 (delay)
	OscillationLearningRate *float64     `json:"oscillation_learning_rate"`
	StationaryVariance      Variance     `json:"stationary_variance"`

	// Searched is how far the three thresholds were looked for.
	Searched Limits `json:"-"`
	// RelaxationRate is what a small displacement decays by in the long run,
	// −ln(spectral radius) per optimizer step; negative is growth. Of the
	// reduced-order model, the smallest k/γ of its modes, or γ/2m of one that
	// oscillates (see Oscillator).
	RelaxationRate *float64 `json:"-"`
	// DampingRatio is ζ = −(s_1+s_2)/(2√(s_1s_2)), s = ln of the two largest
	// multipliers, which with several arms may belong to two modes: below 1 a
	// pair (of pairs of equal modulus the one that turns fastest), negative
	// growth. nil where the dominant multiplier is negative, where
	// there is one only, where one decays and the other grows. Of the
	// reduced-order model, its own of the stiffest mode.
	DampingRatio *float64 `json:"-"`
}

// Limits are, for each threshold of a Dynamics that is nil, the limit up to which
// there is none; where it is not nil, its value.
//
// +Inf is provably none at all: in the reduced-order model, whose formulas are
// closed, wherever λ > 0; of the linear dynamics no interval, where nothing is
// stale, where a block lasts until the motion inside has died out and is stable,
// and where no delay can move a multiplier through the unit circle; and no onset
// where λ ≤ 0 in every mode.
//
// 0 is nothing said: no linear dynamics or (PredictDynamics) no thresholds asked
// for, a number that is not finite, eigenvalues that do not converge before there
// is anything to say, or an onset under delay that is beyond what is looked for.
type Limits struct{ LearningRate, RefreshInterval, Onset float64 }

// Rule is a threshold by a formula instead of the exact map; intervals as the
// formula gives them, not rounded to whole steps. nil where the rule says
// nothing: both with Adam, the paper's for λ ≤ 0, the sufficient one beyond its
// premises (see sufficientRule), which with nothing stale bounds no interval.
type Rule struct {
	CriticalLearningRate    *float64 `json:"critical_learning_rate"`
	CriticalRefreshInterval *float64 `json:"critical_refresh_interval"`

	// The paper rule's alone, at the age K_ref of the lag as it is (0 without
	// delay, 1 in a block of one step).
	OscillationLearningRate *float64 `json:"-"` // ζ = 1
	DampingRatio            *float64 `json:"-"` // see PaperDampingRatio
}

// Moments are the stationary moments beyond the linear ones, second order in
// the noise (§6 of docs/theory.md); nil where the theory has none.
type Moments struct {
	LogitGapShift  *float64 // E z − z*, two arms
	RewardShift    *float64 // E J − J*
	RewardVariance *float64 // Var J to second order: two arms, no scale
	ZeroVariance   *float64 // E[Σ_v P(r = v)^G], the share of groups whose rewards are all equal
}

// Prediction is everything the theory says of a cell at rest.
type Prediction struct {
	FixedPoint       *FixedPoint   `json:"fixed_point"` // nil: none
	Stiffness        ModeStiffness `json:"stiffness"`
	GradientVariance float64       `json:"gradient_variance"` // of Covector·g in the stiffest mode; two arms: Var(2g_1)
	Oscillator       Oscillator    `json:"rom"`
	Exact            Dynamics      `json:"exact"`
	LeadingOrder     Dynamics      `json:"leading_order"`
	PaperRule        Rule          `json:"paper_rule"`
	SufficientRule   Rule          `json:"sufficient_rule"`

	// ForceKind says how the mean force and its covariance are known: Exact
	// where rewards take two values (Bernoulli arms, or constants of two values)
	// and for G = ∞, else LeadingOrder in 1/G. Where it is
	// LeadingOrder, Exact is out of scope and LeadingOrder carries the full
	// linear dynamics of that force.
	ForceKind Kind    `json:"-"`
	Moments   Moments `json:"-"`
	// Noise is the scope of every prediction of a stationary state: out when
	// G = ∞, when the linear map is unstable, when the linear variance of a
	// logit gap exceeds 0.01, for Adam, for a schedule that does not stay, and
	// where almost every group has equal rewards at the fixed point.
	Noise Scope `json:"-"`
	// PaperVariance is the paper's Var J = J′² D/(GCK), which lacks a factor
	// 1/2; nil with more than two arms.
	PaperVariance *float64 `json:"-"`
}
