package rom

// paperRule is the threshold of arXiv:2606.30789, ηλK = 1 − μ at the stiffest
// mode, with K_ref at least 1; as printed, not rounded to a whole interval; and
// its damping ratio. Adam has no learning rate in its sense: nothing is said.
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

// sufficientRule is the bound of docs/theory.md §5 below which every mode is
// stable, for λ > 0: η|λ_s|K ≤ 1 − μ and η(λ_f + |λ_s|) < 2(1+μ), K = τ with a
// delay. It is a statement about the heavy ball and modes that do not mix;
// beyond them nothing is said. Where the second condition fails no interval is
// guaranteed and the critical one is the smallest there is.
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

// smaller returns the smaller of what old points to, if anything, and x.
func smaller(old *float64, x float64) *float64 {
	if old != nil && *old <= x {
		return old
	}
	return &x
}
