package grpo

import "grposim/option"

// History gives the behaviour policy π_old of each step. It serves one run.
type History struct {
	lag  option.Lag
	past []*Policy // round n (see oldest) is in slot n mod its length; empty on-policy unless Random
}

// OnPolicy reports whether π_old is always π.
func OnPolicy(l *option.Lag) bool { return l.StepsPerSnapshot() == 1 && oldest(l) == 0 }

// LagAge returns the age of snapshots in steps that characterizes the lag. It is (1+d)K of a block
// (one more than its largest age), τ of a delay, the mean age of a random lag.
func LagAge(l *option.Lag) float64 {
	switch l.Kind {
	case option.Block:
		return float64((1 + l.Behind) * l.Interval)
	case option.Delay:
		return float64(l.Interval)
	}
	mean := 0.0
	for age, p := range AgeProbabilities(&l.Ages) {
		mean += float64(float64(age) * p)
	}
	return mean
}

// oldest returns the largest number of rounds between a policy that is stored and the step that
// uses it. Policies are stored once a round: in each step, or at each refresh of a block.
func oldest(l *option.Lag) int {
	switch l.Kind {
	case option.Block:
		return l.Behind
	case option.Delay:
		return l.Interval
	}
	return len(AgeProbabilities(&l.Ages)) - 1
}

// negligibleTail is the probability of the ages beyond those of a geometric law that are
// kept; the oldest one kept has theirs.
const negligibleTail = 1e-15

// AgeProbabilities returns the probabilities p_0, …, p_S of the ages; p_S > 0.
func AgeProbabilities(a *option.Ages) []float64 {
	var p []float64
	switch a.Law {
	case option.UniformAges:
		p = make([]float64, a.To+1)
		for age := a.From; age <= a.To; age++ {
			p[age] = 1 / float64(a.To-a.From+1)
		}
	case option.GeometricAges:
		r := a.Mean / (1 + a.Mean)
		tail := 1.0
		for ; tail > negligibleTail; tail *= r {
			p = append(p, (1-r)*tail)
		}
		p[len(p)-1] += tail
	case option.TableAges:
		sum := 0.0
		for age, w := range a.Weights {
			if sum += w; w > 0 {
				p = append(p, a.Weights[len(p):age+1]...)
			}
		}
		for age := range p {
			p[age] /= sum
		}
	}
	return p
}

// StoredPolicies returns the number of policies that the history of a run of that many steps holds.
// It is 0 on-policy. Beyond the run the snapshot is the initial policy.
func StoredPolicies(l *option.Lag, steps int) int {
	if OnPolicy(l) && l.Kind != option.Random {
		return 0
	}
	return min(oldest(l), steps) + 1
}

// NewHistory returns the history of a run of the given number of steps, before its first step.
// Policies have the given number of arms. It panics if the lag or the number of arms is not valid.
func NewHistory(lag option.Lag, arms, steps int) *History {
	must(lag.Check)
	mustHaveArms(arms)
	h := &History{lag: lag, past: make([]*Policy, StoredPolicies(&lag, steps))}
	for i := range h.past {
		h.past[i] = NewPolicy(make([]float64, arms))
	}
	return h
}

// Store stores the policy of step t. It must be called once per step, in order from t = 0.
func (h *History) Store(t int, current *Policy) {
	if len(h.past) > 0 && h.lag.Refreshes(t) {
		h.past[t/h.lag.StepsPerSnapshot()%len(h.past)].Set(current)
	}
}

// Aged returns the policy that is age ≤ t steps old in step t, in which it has been stored. For a
// larger age it is the initial one. With a block, age counts blocks.
func (h *History) Aged(t, age int) *Policy {
	return h.past[max(t/h.lag.StepsPerSnapshot()-age, 0)%len(h.past)]
}

// Behaviour stores the policy of step t and returns π_old of that step, unless the lag is Random.
// It is that of the refresh d blocks before the last (block), or of step max(t−τ, 0) (delay). The
// result is valid until the next call; on-policy it is current itself.
func (h *History) Behaviour(t int, current *Policy) *Policy {
	h.Store(t, current)
	if len(h.past) == 0 {
		return current
	}
	return h.Aged(t, oldest(&h.lag))
}
