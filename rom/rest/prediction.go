package rest

import (
	"fmt"
	"math"
	"slices"

	"grposim/rom/fixed"
	"grposim/rom/paper"
	"grposim/rom/scope"
)

// Rule returns the formulas of a kind; nil for a kind that is not that of a formula.
func (p *Prediction) Rule(kind scope.Kind) *paper.Rule {
	if i := slices.Index(scope.Rules, kind); i >= 0 {
		return p.rules()[i]
	}
	return nil
}

// rules returns the formulas in the order of scope.Rules.
func (p *Prediction) rules() [4]*paper.Rule {
	return [4]*paper.Rule{&p.PaperRule, &p.RuleAtStiffness, &p.RuleAtLargestAge, &p.SufficientRule}
}

// Dynamics returns the linear dynamics of a kind, nil for that of a formula: the reduced-order
// model to LeadingOrder, else that of the full map. Where the force is expanded the latter is
// out of scope; Linear gives the dynamics of such a force.
func (p *Prediction) Dynamics(kind scope.Kind) *Dynamics {
	switch {
	case kind.IsRule():
		return nil
	case kind == scope.LeadingOrder:
		return &p.LeadingOrder
	}
	return &p.Exact
}

// Number returns a quantity by a kind of prediction; nil where that does not give it.
func (p *Prediction) Number(kind scope.Kind, of scope.Quantity) *float64 {
	if r := p.Rule(kind); r != nil {
		return r.Number(of)
	}
	d := p.Dynamics(kind)
	return [...]*float64{d.CriticalLearningRate, d.CriticalRefreshInterval, d.OscillationLearningRate,
		d.RelaxationRate, d.DampingRatio, d.StationaryVariance.ExpectedReward}[of]
}

// Threshold returns one of the three thresholds, nil where none is known, and the limit of
// the search for it; see Limits.
func (d *Dynamics) Threshold(of scope.Quantity) (threshold *float64, searched float64) {
	s := &d.Searched
	return [...]*float64{d.CriticalLearningRate, d.CriticalRefreshInterval,
		d.OscillationLearningRate}[of], [...]float64{s.LearningRate, s.RefreshInterval, s.Onset}[of]
}

// roundedRadius is the distance of a multiplier's modulus from 1 within which it is 1 but for
// rounding, so that rounding alone would decide between stable and unstable: it errs by about 1e-16
// for each operation of a period.
const roundedRadius = 1e-12

// IsUnstable reports whether a multiplier lies outside the unit circle, by more than rounding.
func (d *Dynamics) IsUnstable() bool {
	return d.SpectralRadius != nil && *d.SpectralRadius > 1+roundedRadius
}

// marginal returns the number of directions that are neither stable nor unstable but for rounding.
func (d *Dynamics) marginal() (count int) {
	for _, z := range d.Multipliers {
		if math.Abs(math.Hypot(z[0], z[1])-1) <= roundedRadius {
			count++
		}
	}
	return count + d.Neutral
}

// Unstable returns why dynamics with a multiplier outside the unit circle have no stationary law,
// with the learning rate and the refresh interval below which they have one, as far as they are
// known.
func (d *Dynamics) Unstable() scope.Reason {
	stable, or := "", "; stable with "
	if rate := d.CriticalLearningRate; rate != nil && *rate > 0 {
		stable, or = fmt.Sprintf("%sa learning rate below about %.3g", or, *rate), " or "
	}
	if interval := d.CriticalRefreshInterval; interval != nil && *interval > 1 {
		stable += fmt.Sprintf("%san interval of the snapshot below about %.3g steps", or, *interval)
	}
	return scope.Unstable.Because(*d.SpectralRadius, stable)
}

// variance returns the stationary variance of J of the linear dynamics; nil: none.
func (prediction *Prediction) LinearVariance() *float64 {
	if prediction.Exact.Scope.In {
		return prediction.Exact.StationaryVariance.ExpectedReward
	}
	return prediction.LeadingOrder.StationaryVariance.ExpectedReward
}

// Mode is an eigenmode of the total stiffness on the centred subspace (logits that sum to 0).
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

// Variance is a stationary variance, averaged over the phases of a refresh period.
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
	Scope scope.Scope `json:"scope"`
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
	// RelaxationRate is the rate per optimizer step at which a small displacement decays in the long
	// run, −ln(spectral radius); negative is growth. Of the reduced-order model it is the smallest k/γ
	// of its modes, or γ/2m of a mode that oscillates (see Oscillator).
	RelaxationRate *float64 `json:"-"`
	// DampingRatio is ζ = −(s_1+s_2)/(2√(s_1s_2)), s = ln of the two largest multipliers, which with
	// several arms may belong to two modes: below 1 for a complex pair (among pairs of equal modulus
	// the one that rotates fastest), negative for growth. nil where the dominant multiplier is
	// negative, where there is only one, and where one decays and the other grows. Of the
	// reduced-order model it is Oscillator.DampingRatio.
	DampingRatio *float64 `json:"-"`
	// StabilityMargin is ln(η/η′), η′ the learning rate nearest to η at which the dynamics
	// becomes stable or unstable: its modulus, with a minus sign where η is stable. Only
	// BoundariesAlone computes it, with a delay; nil where unknown.
	StabilityMargin *float64 `json:"-"`
}

// Limits holds, for each threshold of a Dynamics, the value up to which there is
// none: the threshold itself where it is not nil.
//
// +Inf: there is provably none. In the reduced-order model, whose formulas are closed, wherever
// λ > 0. In the linear dynamics there is no critical interval where nothing is stale, where the
// motion inside a block dies out and remains stable, and where no delay can move a multiplier
// through the unit circle; there is no onset where λ ≤ 0 in every mode.
//
// 0: nothing is known. There is no linear dynamics; the part of PredictPart does not
// search; a number is not finite; eigenvalues do not converge at the start of
// the search; or the onset under a delay is beyond the limits of Dynamics.
type Limits struct {
	LearningRate    float64 // of CriticalLearningRate, ≥ 0
	RefreshInterval float64 // of CriticalRefreshInterval, in optimizer steps, ≥ 0
	Onset           float64 // of OscillationLearningRate, a learning rate ≥ 0
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
	FixedPoint *fixed.Point  `json:"fixed_point"`
	Stiffness  ModeStiffness `json:"stiffness"`
	// GradientVariance is the variance of Covector·g of one step in the stiffest
	// mode, with two arms Var(2g_1); in squared units of force, ≥ 0.
	GradientVariance float64          `json:"gradient_variance"`
	Oscillator       paper.Oscillator `json:"rom"`
	Exact            Dynamics         `json:"exact"`         // the linear dynamics, exactly
	LeadingOrder     Dynamics         `json:"leading_order"` // the reduced-order model; see ForceKind
	// the formulas of arXiv:2606.30789 at PaperStiffness
	PaperRule paper.Rule `json:"paper_rule"`
	// the same formulas at λ of the stiffest mode
	RuleAtStiffness paper.Rule `json:"rule_at_stiffness"`
	SufficientRule  paper.Rule `json:"sufficient_rule"`
	// RuleAtStiffness with the largest age of the snapshot for K_ref
	RuleAtLargestAge paper.Rule `json:"-"`

	// ForceKind is the kind of the mean force and its covariance: Exact where rewards take two values
	// (Bernoulli arms, or constants of two values), for G = ∞ and without scale, else Expansion. Where
	// it is Expansion, the field Exact is out of scope and the field LeadingOrder holds the full
	// linear dynamics of that force.
	ForceKind scope.Kind `json:"-"`
	Moments   Moments    `json:"-"`
	// Noise is the scope of every prediction of a stationary state. It is out at G = ∞, where the
	// fixed point is unstable, for a learning rate that decays, under Adam where runs escape, and
	// where a law is not derived. In scope, Neglected says how good the predictions are.
	Noise scope.Scope `json:"-"`
	// MeanKnown says that E J has its size where Noise is out: J at the fixed point, without a shift.
	MeanKnown bool `json:"-"`
	// Neglected lists what the stationary predictions leave out.
	Neglected scope.Neglected `json:"neglected"`

	// Adam says what happens under Adam at large learning rates; nil with another optimizer, at
	// G = ∞, and where no learning rate is critical.
	Adam *AdamAtRest `json:"adam,omitempty"`
}

// Linear returns the exact linear dynamics or, outside its scope, that of the field
// LeadingOrder, and its kind.
func (p *Prediction) Linear() (*Dynamics, scope.Kind) {
	switch {
	case p.Exact.Scope.In:
		return &p.Exact, scope.Exact
	case p.ForceKind == scope.Expansion:
		return &p.LeadingOrder, scope.Expansion
	}
	return &p.LeadingOrder, scope.LeadingOrder
}

// AdamAtRest says what a large learning rate does to Adam at a finite G, where no learning rate is
// a stability limit: wherever held second moments would make the fixed point unstable, the force
// grows until they have made the steps short enough (docs/theory-neglected.md §6.8).
type AdamAtRest struct {
	// LogitGapDeviation is η over the rate below, in logits. Far above the critical rate it is the
	// deviation of z = θ_1 − θ_0, with more arms of the gap in the stiffest mode.
	LogitGapDeviation float64 `json:"large_rate_logit_gap_deviation"`
	// EscapeLearningRate is κ*/(2(1−β1)) > 0. Between 0.8 and 2 times of it runs leave the well of the
	// fixed point.
	EscapeLearningRate float64 `json:"escape_learning_rate"`
}

// Extent is the set of the parts of a prediction that are computed, besides fixed point, stiffness,
// oscillator and rules, which always are, and the reduced-order model, which is if any part is.
type Extent uint

// The parts of the linear dynamics and the stationary law. A number of a part that is left
// out is nil, its limit in Searched 0, and the scope of the stationary law out.
const (
	// and what they give: spectral radius, relaxation rate, damping ratio
	Multipliers Extent = 1 << iota
	// StabilityMargin; without a delay and where it is unknown Multipliers
	Margin
	Onset            // OscillationLearningRate
	CriticalRate     // CriticalLearningRate
	CriticalInterval // CriticalRefreshInterval
	StationaryLaw    // variances and moments

	Everything      = Multipliers | Onset | CriticalRate | CriticalInterval | StationaryLaw
	DynamicsAlone   = Multipliers | Onset // without what takes most of the time
	BoundariesAlone = Margin | Onset
	RulesAlone      = Extent(0) // puts the scope of the reduced-order model out as well
)
