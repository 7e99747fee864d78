package rom

import (
	"math"

	"grposim/option"
)

// paperRule returns the formulas of arXiv:2606.30789 at stiffness K for s, of which it
// uses the optimizer and the lag: the stability threshold ηK·K_ref = 1 − μ, where K_ref
// is at least 1, the onset of oscillation ζ = 1 and the damping ratio ζ, where the
// snapshot is K_ref steps old, on-policy 0. The interval is as printed, not rounded to
// whole steps. For K ≤ 0 every threshold is nil. The formulas do not apply to Adam,
// which has no learning rate in the paper's sense.
//
// The variance of the reward is D/(GCK), C = [(1−μ) − Kητ]/η, where noise = D/G is
// the variance of one step's force on J; it is nil for noise 0 and C ≤ 0.
func paperRule(stiffness float64, s *scalar, noise float64) Rule {
	if stiffness <= 0 {
		return Rule{Stiffness: &stiffness, Because: "the paper's formulas need a stiffness above 0"}
	}
	return ruleAt(stiffness, s, noise, staleness(s.lag).paperAge())
}

// paperAge returns K_ref of the paper's formulas, 0 on-policy: (1+d)K of a block, one more
// than its largest age, τ of a delay, the mean of random ages.
func (l staleness) paperAge() float64 {
	switch {
	case l.Kind == option.Random:
		return l.meanAge()
	case l.plainBlock() && l.Interval == 1:
		return 0
	case l.Kind == option.Block:
		return float64(l.Interval) * float64(1+l.Behind)
	}
	return float64(l.Interval)
}

// largestAge returns K_ref if the largest age of random ages stands for the mean one; +Inf if
// there is none.
func (l staleness) largestAge() float64 {
	if l.Kind == option.Random {
		return (*ageLaw)(&l.Ages).oldest()
	}
	return l.paperAge()
}

// ruleAt is paperRule with the given K_ref.
func ruleAt(stiffness float64, s *scalar, noise, age float64) Rule {
	if math.IsInf(age, 1) {
		return Rule{Stiffness: &stiffness, Because: "the law of ages has no largest age"}
	}
	rate := (1 - s.momentum) / (stiffness * max(age, 1))
	interval := (1 - s.momentum) / (s.rate * stiffness)
	if s.lag.Kind == option.Block {
		interval /= float64(1 + s.lag.Behind)
	}
	onset := PaperOnset(s.momentum, age) / stiffness
	ratio := PaperDampingRatio(stiffness, s.rate, s.momentum, age)
	rule := Rule{
		Stiffness:            &stiffness,
		CriticalLearningRate: &rate, CriticalRefreshInterval: &interval,
		OscillationLearningRate: &onset, DampingRatio: &ratio,
	}
	if s.lag.Kind == option.Random {
		rule.CriticalRefreshInterval = nil // there is no interval
	}
	if damping := ((1 - s.momentum) - s.rate*stiffness*age) / s.rate; damping > 0 && noise > 0 {
		variance := noise / (damping * stiffness)
		rule.RewardVariance = &variance
	}
	return rule
}

// sufficientRule returns the bound of docs/theory-trainers.md §11.1 below which every mode is stable,
//
//	η(λ/2 + |λ_s| A) < 1 − μ,
//
// A = gain of the lag. It is proven for the heavy ball, λ > 0 and modes that do not mix; for
// another optimizer or any λ ≤ 0 every field is nil. The critical interval is that of a delay
// or of a block whose snapshot is the last one: the smallest value at which the bound fails;
// nil for other lags and where nothing is stale.
func sufficientRule(modes []scalar) Rule {
	var rule Rule
	for i := range modes {
		s := &modes[i]
		if s.total() <= 0 || s.method != option.HeavyBall {
			return Rule{}
		}
		stale := math.Abs(s.stale)
		if stale <= negligible*s.total() {
			stale = 0
		}
		gain := staleness(s.lag).gain()
		rule.CriticalLearningRate = smaller(rule.CriticalLearningRate, (1-s.momentum)/(0.5*s.total()+stale*gain))
		if stale == 0 || s.lag.Kind != option.Delay && !staleness(s.lag).plainBlock() {
			continue
		}
		left := max((1-s.momentum-0.5*s.rate*s.total())/(s.rate*stale), 0) // for the gain
		if s.lag.Kind == option.Block && left > 0 {
			left = 0.5 * (1 + 0.5*math.Pi/math.Asin(0.5/max(left, 1))) // 2 unless a block of 2 is covered
		} else if s.lag.Kind == option.Block {
			left = 1
		}
		rule.CriticalRefreshInterval = smaller(rule.CriticalRefreshInterval, left)
	}
	return rule
}

// gain returns a bound A on the gain of Δ ↦ x_t − x_old as a map of square-summable sequences
// of steps Δ_t = x_t − x_{t−1}: τ of a delay, ā of random ages, and of a block, 0 for K = 1,
//
//	1/(2 sin(π/(4K−2))) + dK,
//
// the norm of the triangular matrix of K−1 rows of ones, which sums the steps since the last
// refresh, and of a delay by d blocks.
func (l staleness) gain() float64 {
	if l.Kind != option.Block {
		return l.meanAge()
	}
	k := float64(l.Interval)
	gain := float64(l.Behind) * k
	if l.Interval > 1 {
		gain += 0.5 / math.Sin(math.Pi/(4*k-2))
	}
	return gain
}

// smaller returns a pointer to the smaller of *old and x; to x if old is nil.
func smaller(old *float64, x float64) *float64 {
	if old != nil && *old <= x {
		return old
	}
	return &x
}
