package rom

// paperRule returns the stability threshold of arXiv:2606.30789, ηλK_ref = 1 − μ,
// for the stiffest mode s, and the paper's onset of oscillation and damping ratio.
// In the threshold K_ref is at least 1; the interval is as printed, not rounded to
// whole steps. For λ ≤ 0 every field is nil. The rule does not apply to Adam, which
// has no learning rate in the paper's sense.
func paperRule(s *scalar) Rule {
	if s.total() <= 0 {
		return Rule{}
	}
	age := float64(max(s.lag.Age, 1))
	rate := (1 - s.momentum) / (s.total() * age)
	interval := (1 - s.momentum) / (s.rate * s.total())
	onset := PaperOnset(s.momentum, s.lag.Age) / s.total()
	ratio := PaperDampingRatio(s.total(), s.rate, s.momentum, s.lag.Age)
	return Rule{
		CriticalLearningRate: &rate, CriticalRefreshInterval: &interval,
		OscillationLearningRate: &onset, DampingRatio: &ratio,
	}
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
