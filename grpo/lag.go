package grpo

// History decides which policy draws the groups of a step.
type History struct {
	lag  Lag
	past []*Policy // block: the snapshot; delay τ: step t in slot t mod (τ+1)
}

// StepsPerSnapshot returns how many optimizer steps draw from the same policy.
func (l Lag) StepsPerSnapshot() int {
	if l.Kind == Block {
		return l.Interval
	}
	return 1
}

// NewHistory returns the history of a run that has not begun, for policies
// with the given number of arms.
func NewHistory(lag Lag, arms int) *History {
	slots := 0 // on-policy: nothing to remember
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

// Refreshes reports whether π_old of step t may be another than that of the step
// before.
func (l Lag) Refreshes(t int) bool { return l.Kind != Block || t%l.Interval == 0 }

// Behaviour returns π_old of step t: the policy of the last multiple of K
// (block), or of step max(t−τ, 0) (delay). It must be called once a step, in
// order from t = 0, with the policy of that step; what it returns is valid
// until the next call. Without lag it is current itself.
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
