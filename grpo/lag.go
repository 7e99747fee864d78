package grpo

// History gives the behaviour policy π_old of each step. It serves one run.
type History struct {
	lag  Lag
	past []*Policy // block: the snapshot; delay τ: the policy of step t in slot t mod (τ+1); on-policy: empty
}

// StepsPerSnapshot returns the number of optimizer steps that draw from the same
// policy: K (block) or 1 (delay).
func (l Lag) StepsPerSnapshot() int {
	if l.Kind == Block {
		return l.Interval
	}
	return 1
}

// NewHistory returns the history of a run before its first step, for policies with
// the given number of arms ≥ 2. It panics if the lag or the number of arms is not valid.
func NewHistory(lag Lag, arms int) *History {
	lag.Check()
	checkArms(arms)
	slots := 0 // on-policy
	switch {
	case lag.Kind == Block && lag.Interval > 1:
		slots = 1
	case lag.Kind == Delay && lag.Interval > 0:
		slots = lag.Interval + 1
	}
	h := &History{lag: lag, past: make([]*Policy, slots)}
	for i := range h.past {
		h.past[i] = NewPolicy(make([]float64, arms))
	}
	return h
}

// Refreshes reports whether π_old of step t ≥ 0 may differ from that of step t − 1:
// whether K divides t (block), always (delay).
func (l Lag) Refreshes(t int) bool { return l.Kind != Block || t%l.Interval == 0 }

// Behaviour returns π_old of step t: the policy of the last multiple of K
// (block), or of step max(t−τ, 0) (delay). It must be called once per step, in
// order from t = 0, with the policy of that step. The result is valid until the next
// call; on-policy it is current itself.
func (h *History) Behaviour(t int, current *Policy) *Policy {
	switch {
	case len(h.past) == 0:
		return current
	case h.lag.Kind == Block:
		if h.lag.Refreshes(t) {
			h.past[0].Set(current)
		}
		return h.past[0]
	default:
		h.past[t%len(h.past)].Set(current)
		return h.past[max(t-h.lag.Interval, 0)%len(h.past)]
	}
}
