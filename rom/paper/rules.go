package paper

import (
	"math"

	"grposim/option"
	"grposim/rom/linear"
	"grposim/rom/scope"
)

// Number returns a quantity by the formulas; nil where they do not give it.
func (r *Rule) Number(of scope.Quantity) *float64 {
	return [...]*float64{r.CriticalLearningRate, r.CriticalRefreshInterval, r.OscillationLearningRate,
		nil, r.DampingRatio, r.RewardVariance}[of]
}

// Rule holds thresholds by a formula instead of the exact map. Intervals are as the formula gives
// them, not rounded to whole steps. nil where the formula gives none: every rule with Adam, the
// paper's for a stiffness that is not above 0 or not defined, the sufficient one outside its
// premises (see Sufficient) and, for the interval, where nothing is stale.
type Rule struct {
	CriticalLearningRate    *float64 `json:"critical_learning_rate"`    // ≥ 0
	CriticalRefreshInterval *float64 `json:"critical_refresh_interval"` // in optimizer steps, ≥ 0

	// OscillationLearningRate is the learning rate at which ζ = 1 (see Onset).
	// Not of the sufficient rule, as the fields below.
	OscillationLearningRate *float64 `json:"-"`
	// DampingRatio is ζ (see the function).
	DampingRatio *float64 `json:"-"`
	// RewardVariance is Var J = D/(GCK), in squared units of reward; two arms. Equation
	// 12 of the paper claims it up to a constant factor, which for unit white noise is ½.
	RewardVariance *float64 `json:"-"`
	// Stiffness is the K in the formulas, in units of force per logit.
	Stiffness *float64     `json:"stiffness,omitempty"`
	Because   scope.Reason `json:"because,omitzero"` // why the formulas give nothing
}

// RuleOf returns the formulas of arXiv:2606.30789 at stiffness K for s, of which it uses the
// optimizer and the lag: the stability threshold ηK·K_ref = 1 − μ, where K_ref is at least 1, the
// onset of oscillation ζ = 1 and the damping ratio ζ, where the snapshot is K_ref steps old,
// on-policy 0. The interval is as printed, not rounded to whole steps. For K ≤ 0 every threshold is
// nil. The formulas do not apply to Adam, which has no learning rate in the paper's sense.
//
// The variance of the reward is D/(GCK), C = [(1−μ) − Kητ]/η, where noise = D/G is
// the variance of one step's force on J; it is nil for noise 0 and C ≤ 0.
func RuleOf(stiffness float64, s *linear.Mode, noise float64) Rule {
	if stiffness <= 0 {
		return Rule{Stiffness: &stiffness, Because: scope.PaperFormula.Because(
			"the stiffness is not above 0")}
	}
	return RuleAt(stiffness, s, noise, s.Lag.Age(linear.PaperAge))
}

// RuleAt is RuleOf with the given K_ref.
func RuleAt(stiffness float64, s *linear.Mode, noise, age float64) Rule {
	if math.IsInf(age, 1) {
		return Rule{Stiffness: &stiffness, Because: scope.NoNumber.Because(
			"the law of ages has no largest age")}
	}
	rate := (1 - s.Momentum) / (stiffness * max(age, 1))
	onset := Onset(s.Momentum, age) / stiffness
	ratio := DampingRatio(stiffness, s.Rate, s.Momentum, age)
	rule := Rule{Stiffness: &stiffness, CriticalLearningRate: &rate, OscillationLearningRate: &onset,
		DampingRatio: &ratio}
	if interval, ok := s.Lag.Interval(linear.PaperAge, (1-s.Momentum)/(s.Rate*stiffness)); ok {
		rule.CriticalRefreshInterval = &interval
	}
	if damping := ((1 - s.Momentum) - s.Rate*stiffness*age) / s.Rate; damping > 0 && noise > 0 {
		rule.RewardVariance = new(noise / (damping * stiffness))
	}
	return rule
}

// Sufficient returns the bound of docs/theory-trainers.md §11.1 below which every mode is stable,
//
//	η(λ/2 + |λ_s| A) < 1 − μ,
//
// A = gain of the lag. It is proven for the heavy ball, λ > 0 and modes that do not mix; for
// another optimizer or any λ ≤ 0 every field is nil. The critical interval is that of a delay
// or of a block whose snapshot is the last one: the smallest value at which the bound fails;
// nil for other lags and where nothing is stale.
func Sufficient(modes []linear.Mode) Rule {
	var rule Rule
	for i := range modes {
		s := &modes[i]
		if s.Total() <= 0 || s.Method != option.HeavyBall {
			return Rule{}
		}
		stale := math.Abs(s.Stale)
		if stale <= linear.Negligible*s.Total() {
			stale = 0
		}
		rule.CriticalLearningRate = smaller(
			rule.CriticalLearningRate, (1-s.Momentum)/(0.5*s.Total()+stale*s.Lag.Age(linear.Gain)))
		left := max((1-s.Momentum-0.5*s.Rate*s.Total())/(s.Rate*stale), 0) // for the gain
		if interval, ok := s.Lag.Interval(linear.Gain, left); ok && stale > 0 {
			rule.CriticalRefreshInterval = smaller(rule.CriticalRefreshInterval, interval)
		}
	}
	return rule
}

// smaller returns a pointer to the smaller of *old and x; to x if old is nil.
func smaller(old *float64, x float64) *float64 {
	if old != nil && *old <= x {
		return old
	}
	return &x
}
