// Package rom is the theory: it predicts what GRPO on a softmax bandit does,
// without drawing a sample (docs/theory.md).
//
// To use it:
//
//  1. Describe the cell by Params: the bandit, the estimator, the lag and the
//     optimizer. A field out of its range is a caller's mistake and panics with
//     its name.
//  2. Call Predict. For several optimizers or lags of one bandit call
//     NewEquilibrium once and Equilibrium.Predict for each.
//  3. Read Prediction. FixedPoint is nil where the bandit has no fixed point, or none
//     was found; the Because of every Scope says which.
//  4. Before using a number of Exact or LeadingOrder check its Scope, before a
//     stationary variance or a Moment also Prediction.Noise: In says whether the
//     prediction holds here, Because why not. A nil pointer is a number that the
//     theory does not give.
//  5. The Kind of a prediction says how good it is, from Exact to PaperRule. Prediction.ForceKind is that of the force that all of
//     them use.
//
// What runs do from their start needs no fixed point: Paths gives means and spreads over runs,
// Arrival which runs do not arrive, MarginAlong how near the way comes to an instability.
//
// Single quantities have functions of their own: MeanForce, ForceCovariance,
// FixedPoints, StiffnessAt and Modes, MeanField, ClosedForm and Refreshed. Closed forms of
// one mode are in rom/linear, such as linear.FrozenBlock.
//
// The package imports nothing of the code whose behaviour it predicts; both speak the
// vocabulary of package option, which computes nothing.
//
// Notation (docs/theory.md §0): Λ = −∂E[g]/∂θ at the fixed point is the
// stiffness matrix, Λ = Λ_f + Λ_s its fresh part (through θ) and stale part
// (through θ_old), λ the stiffness of a mode, η the learning rate, κ = ηλ. With
// two arms index 1 is the arm listed first (Go index 0), z = θ_1 − θ_0, p = σ(z).
package rom

import (
	"grposim/option"
	"grposim/rom/scope"
)

// Factors multiply constants of the theory by numbers > 0, to plant a known fault
// in a prediction. A factor left 0 stands for 1, so that the zero value is Unit.
type Factors struct {
	Stiffness float64 // of the mean force and so of the stiffness; fixed points stay
	Noise     float64 // of the covariance of the force
	Lag       float64 // of the snapshot's age, in the reduced-order model only
	Mass      float64 // of the mass, in the reduced-order model only
}

// Unit is the theory as derived.
var Unit = Factors{Stiffness: 1, Noise: 1, Lag: 1, Mass: 1}

// Params is a cell: all that the theory depends on, in the vocabulary of package option.
type Params struct {
	Arms      []option.Arm // at least 2
	Reference []float64    // logits of π_ref, one per arm, finite; nil: all 0

	option.Estimator // a GroupSize of 0 stands for Infinite; Filter: rewards of two values only

	ReferenceUpdate option.ReferenceUpdate

	Lag       option.Lag       // unused by functions of the force alone
	Optimizer option.Optimizer // the same, but for its largest norm
	Factors   Factors

	// Start is where the on-policy mean field begins that decides which fixed point
	// is reached, logits, one per arm, finite; nil: the reference.
	Start []float64

	// Measured replaces the closed forms of Λ_f and Λ_s in the linear dynamics; nil:
	// closed forms.
	Measured *Measured

	Prompts Prompts // of a cell with many; the zero value: none

	uniform []float64 // logits of the uniform policy over arms, by class; nil: all 0

	cut float64 // bound of |g_1| by the largest norm, by checked; 0: see cutForce

	// norm that the gradients of the runs in question do not exceed, see unlimited; 0: not known
	met float64
}

// Kind is the origin of a prediction.
type Kind = scope.Kind

// The kinds of a prediction.
const (
	Exact            = scope.Exact
	Expansion        = scope.Expansion
	LeadingOrder     = scope.LeadingOrder
	PaperRule        = scope.PaperRule
	RuleAtStiffness  = scope.RuleAtStiffness
	RuleAtLargestAge = scope.RuleAtLargestAge
	SufficientRule   = scope.SufficientRule
)

// Scope says whether a prediction holds for its cell.
type Scope struct {
	In      bool         `json:"in"`      // the prediction holds
	Because scope.Reason `json:"because"` // why it does not
}

// FixedPoint is a solution of E[g](θ, θ) = 0.
type FixedPoint struct {
	Logits []float64 `json:"logits"`          // one per arm, centred: they sum to 0
	Policy []float64 `json:"policy"`          // probabilities, one per arm
	Reward float64   `json:"expected_reward"` // J*, in units of reward
}

// Mode is an eigenmode of the total stiffness on the centred subspace (logits
// that sum to 0).
type Mode struct {
	Total     float64   // λ, the eigenvalue (of a complex pair its real part); Fresh + Stale
	Fresh     float64   // λ_f = Covectorᵀ Λ_f Direction
	Stale     float64   // λ_s = Covectorᵀ Λ_s Direction
	Direction []float64 // right eigenvector, one entry per arm; the entry of largest modulus is 1
	Covector  []float64 // left eigenvector, one entry per arm; Covector·Direction = 1
}

// ModeStiffness is the stiffness of the stiffest mode and the total of the
// slowest, in units of force per logit. Negative values do not restore.
type ModeStiffness struct {
	Total float64 `json:"total"` // λ of the stiffest mode
	// λ_f of the stiffest mode; of shared weights the largest eigenvalue of Λ_f
	Fresh   float64 `json:"fresh"`
	Stale   float64 `json:"stale"`   // λ_s of the stiffest mode; of shared weights λ − λ_f
	Slowest float64 `json:"slowest"` // the smallest λ of all modes
}

// Oscillator holds the constants of the reduced-order model
// m x″ + γ x′ + k x = ξ of the stiffest mode, time in optimizer steps
// (docs/theory.md §4).
type Oscillator struct {
	LagSteps     float64 `json:"lag_steps"`     // mean age ā of the snapshot in steps, ≥ 0
	Mass         float64 `json:"mass"`          // m
	Damping      float64 `json:"damping"`       // γ; ≤ 0 is unstable
	Spring       float64 `json:"spring"`        // k = ηλ
	DampingRatio float64 `json:"damping_ratio"` // ζ = γ/(2√(mk)); 0 where k ≤ 0 or m ≤ 0
	Regime       string  `json:"regime"`        // "overdamped", "oscillatory" or "unstable"
}

// Variance is a stationary variance, averaged over the phases of a refresh
// period.
type Variance struct {
	// Var z, in squared logits; nil unless there are two arms
	LogitGap       *float64 `json:"logit_gap"`
	ExpectedReward *float64 `json:"expected_reward"` // Var J, in squared units of reward
}

// Dynamics is the motion about the fixed point according to one theory. A nil
// pointer is a number that does not exist or is not known; of a threshold,
// Searched says how far it was searched for. A critical refresh interval of the
// linear dynamics is a whole number, that of the reduced-order model is not.
//
// Limits of the search, in optimizer steps:
//
//   - a critical block: 1,000,000; of several arms whose Λ_f and Λ_s do not
//     commute 512
//   - a critical delay: 512 where only part of the force is delayed; of several
//     arms whose Λ_f and Λ_s do not commute 50, and less than 160/(A−1)
//   - an onset of oscillation other than the meeting of two real multipliers: a
//     delay of 78, and a mode with λ > 0
//   - spectrum of a block with only part of the force frozen, and every
//     stationary law: a refresh interval of 10,000
type Dynamics struct {
	Scope Scope `json:"scope"`
	// SpectralRadius is the largest modulus of a multiplier, ≥ 0; below 1 is stable.
	SpectralRadius *float64 `json:"spectral_radius"`
	// Neutral is the number of the A−1 directions of the logits in which the fixed point is neither
	// stable nor unstable: their stiffness is rounding beside that of the stiffest mode. Every other
	// number is that of the other directions.
	Neutral int `json:"neutral_directions,omitempty"`
	// Multipliers are [real part, imaginary part] of the eigenvalues of the
	// monodromy matrix: of one refresh period (block) or one step (delay). The
	// largest modulus comes first; at most 64 are listed.
	Multipliers [][2]float64 `json:"multipliers"`
	// CriticalLearningRate is the smallest learning rate at which the fixed point is not stable, ≥ 0,
	// everything else as it is; under Adam at a finite G it would not be with the second moments of
	// smaller rates, which is where the spread of runs begins to exceed that of these. With random
	// ages it is that of the mean over ages, which at G = ∞ is the run itself.
	CriticalLearningRate *float64 `json:"critical_learning_rate"`
	// MeanSquareLearningRate is the smallest learning rate at which random ages let the variance grow
	// without bound, below CriticalLearningRate; nil where ages make no noise, for modes that mix,
	// under Adam, whose second moments grow with the spread, and where there is none. Between the two
	// single runs may decay or grow, by the Lyapunov exponent of products of random matrices, which is
	// not computed.
	MeanSquareLearningRate *float64 `json:"mean_square_learning_rate,omitempty"`
	// CriticalRefreshInterval is the smallest interval K ≥ 1 (block) or delay
	// τ ≥ 0 at which the fixed point is not stable, everything else as it is. Where
	// the on-policy dynamics is already unstable it is 1 (block) or 0 (delay).
	CriticalRefreshInterval *float64 `json:"critical_refresh_interval"`
	// OscillationLearningRate is the smallest learning rate at which a mode
	// oscillates, ≥ 0, everything else as it is.
	OscillationLearningRate *float64 `json:"oscillation_learning_rate"`
	StationaryVariance      Variance `json:"stationary_variance"`

	// Searched holds the limits of the search for the three thresholds.
	Searched Limits `json:"-"`
	// RelaxationRate is the rate per optimizer step at which a small displacement
	// decays in the long run, −ln(spectral radius); negative is growth. Of the
	// reduced-order model it is the smallest k/γ of its modes, or γ/2m of a mode
	// that oscillates (see Oscillator).
	RelaxationRate *float64 `json:"-"`
	// DampingRatio is ζ = −(s_1+s_2)/(2√(s_1s_2)), s = ln of the two largest
	// multipliers, which with several arms may belong to two modes: below 1 for a
	// complex pair (among pairs of equal modulus the one that rotates fastest),
	// negative for growth. nil where the dominant multiplier is negative, where there is
	// only one, and where one decays and the other grows. Of the reduced-order model
	// it is Oscillator.DampingRatio.
	DampingRatio *float64 `json:"-"`
	// StabilityMargin is ln(η/η′), η′ the learning rate nearest to η at which the dynamics
	// becomes stable or unstable: its modulus, with a minus sign where η is stable. Only
	// BoundariesAlone computes it, with a delay; nil where unknown.
	StabilityMargin *float64 `json:"-"`
}

// Limits holds, for each threshold of a Dynamics, the value up to which there is
// none: the threshold itself where it is not nil.
//
// +Inf: there is provably none. In the reduced-order model, whose formulas are
// closed, wherever λ > 0. In the linear dynamics there is no critical interval
// where nothing is stale, where the motion inside a block dies out and remains
// stable, and where no delay can move a multiplier through the unit circle; there is
// no onset where λ ≤ 0 in every mode.
//
// 0: nothing is known. There is no linear dynamics; the part of PredictPart does not
// search; a number is not finite; eigenvalues do not converge at the start of
// the search; or the onset under a delay is beyond the limits of Dynamics.
type Limits struct {
	LearningRate    float64 // of CriticalLearningRate, ≥ 0
	RefreshInterval float64 // of CriticalRefreshInterval, in optimizer steps, ≥ 0
	Onset           float64 // of OscillationLearningRate, a learning rate ≥ 0
}

// Rule holds thresholds by a formula instead of the exact map. Intervals are as
// the formula gives them, not rounded to whole steps. nil where the formula
// gives none: every rule with Adam, the paper's for a stiffness that is not above 0
// or not defined, the sufficient one outside its premises (see sufficientRule) and,
// for the interval, where nothing is stale.
type Rule struct {
	CriticalLearningRate    *float64 `json:"critical_learning_rate"`    // ≥ 0
	CriticalRefreshInterval *float64 `json:"critical_refresh_interval"` // in optimizer steps, ≥ 0

	// OscillationLearningRate is the learning rate at which ζ = 1 (see PaperOnset).
	// Not of the sufficient rule, as the fields below.
	OscillationLearningRate *float64 `json:"-"`
	// DampingRatio is ζ (see PaperDampingRatio).
	DampingRatio *float64 `json:"-"`
	// RewardVariance is Var J = D/(GCK), in squared units of reward; two arms. Equation
	// 12 of the paper claims it up to a constant factor, which for unit white noise is ½.
	RewardVariance *float64 `json:"-"`
	// Stiffness is the K in the formulas, in units of force per logit.
	Stiffness *float64     `json:"stiffness,omitempty"`
	Because   scope.Reason `json:"because,omitzero"` // why the formulas give nothing
}

// Moments are the stationary moments, to second order in the noise where that is derived
// (docs/theory-neglected.md §6); nil where the theory has none. Neglected says how much
// they leave out.
type Moments struct {
	LogitGapShift *float64 // E z − z*, in logits; two arms
	RewardShift   *float64 // E J − J*, in units of reward
	// Var J, in squared units of reward; that of the linear law for more than six classes of arms and
	// long delays, of the best law for Adam
	RewardVariance *float64
	// E[Σ_v P(r = v)^G] within [0, 1], the share of groups whose rewards are all equal
	ZeroVariance *float64

	ZeroVarianceShift *float64 // the part of ZeroVariance that is due to the fluctuation of the policy

	// why one of them is missing where the noise is in scope; of LogitGapShift the number of arms may
	// be why
	Because scope.Reason `json:"-"`
}

// Prediction is everything the theory predicts about a cell near its fixed point.
type Prediction struct {
	// nil: none exists or none was found, see Exact.Scope
	FixedPoint *FixedPoint   `json:"fixed_point"`
	Stiffness  ModeStiffness `json:"stiffness"`
	// GradientVariance is the variance of Covector·g of one step in the stiffest
	// mode, with two arms Var(2g_1); in squared units of force, ≥ 0.
	GradientVariance float64    `json:"gradient_variance"`
	Oscillator       Oscillator `json:"rom"`
	Exact            Dynamics   `json:"exact"`         // the linear dynamics, exactly
	LeadingOrder     Dynamics   `json:"leading_order"` // the reduced-order model; see ForceKind
	// the formulas of arXiv:2606.30789 at PaperStiffness
	PaperRule Rule `json:"paper_rule"`
	// the same formulas at λ of the stiffest mode
	RuleAtStiffness Rule `json:"rule_at_stiffness"`
	SufficientRule  Rule `json:"sufficient_rule"`
	// RuleAtStiffness with the largest age of the snapshot for K_ref
	RuleAtLargestAge Rule `json:"-"`

	// ForceKind is the kind of the mean force and its covariance: Exact where rewards take two values
	// (Bernoulli arms, or constants of two values), for G = ∞ and without scale, else Expansion. Where
	// it is Expansion, the field Exact is out of scope and the field LeadingOrder holds the full
	// linear dynamics of that force.
	ForceKind Kind    `json:"-"`
	Moments   Moments `json:"-"`
	// Noise is the scope of every prediction of a stationary state. It is out at G = ∞, where the
	// fixed point is unstable, for a learning rate that decays, under Adam where runs escape, and
	// where a law is not derived. In scope, Neglected says how good the predictions are.
	Noise Scope `json:"-"`
	// Neglected lists what the stationary predictions leave out.
	Neglected scope.Neglected `json:"neglected"`

	// Adam says what happens under Adam at large learning rates; nil with another optimizer, at
	// G = ∞, and where no learning rate is critical.
	Adam *AdamAtRest `json:"adam,omitempty"`
}

// Linear returns the exact linear dynamics or, outside its scope, that of the field
// LeadingOrder, and its kind.
func (p *Prediction) Linear() (*Dynamics, Kind) {
	switch {
	case p.Exact.Scope.In:
		return &p.Exact, Exact
	case p.ForceKind == Expansion:
		return &p.LeadingOrder, Expansion
	}
	return &p.LeadingOrder, LeadingOrder
}
