package rom

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
	age := s.lag.Age
	if s.onPolicy() {
		age = 0
	}
	rate := (1 - s.momentum) / (stiffness * float64(max(age, 1)))
	interval := (1 - s.momentum) / (s.rate * stiffness)
	onset := PaperOnset(s.momentum, age) / stiffness
	ratio := PaperDampingRatio(stiffness, s.rate, s.momentum, age)
	rule := Rule{
		Stiffness:            &stiffness,
		CriticalLearningRate: &rate, CriticalRefreshInterval: &interval,
		OscillationLearningRate: &onset, DampingRatio: &ratio,
	}
	if damping := ((1 - s.momentum) - s.rate*stiffness*float64(age)) / s.rate; damping > 0 && noise > 0 {
		variance := noise / (damping * stiffness)
		rule.RewardVariance = &variance
	}
	return rule
}

// sufficientRule returns the bound of docs/theory.md §5 below which every mode is
// stable: η|λ_s|K ≤ 1 − μ and η(λ_f + |λ_s|) < 2(1+μ), with K = τ for a delay. It
// holds for the heavy ball, λ > 0 and modes that do not mix; for another optimizer
// or any λ ≤ 0 every field is nil. Where the second condition fails no interval is
// guaranteed to be stable, and the critical interval is the smallest possible: 1
// for a block, 0 for a delay.
func sufficientRule(modes []scalar) Rule {
	var rule Rule
	for i := range modes {
		s := &modes[i]
		if s.total() <= 0 || s.method != HeavyBall {
			return Rule{}
		}
		rule.CriticalLearningRate = smaller(rule.CriticalLearningRate, s.sufficientRate())
		stale := s.stale
		if stale < 0 {
			stale = -stale
		}
		switch {
		case s.rate*(s.fresh+stale) >= 2*(1+s.momentum):
			first := 1.0
			if s.lag.Kind == Delay {
				first = 0
			}
			rule.CriticalRefreshInterval = smaller(rule.CriticalRefreshInterval, first)
		case stale > negligible*s.total():
			rule.CriticalRefreshInterval = smaller(rule.CriticalRefreshInterval, (1-s.momentum)/(s.rate*stale))
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
