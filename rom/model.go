package rom

import (
	"math"
	"slices"

	"grposim/option"
	"grposim/rom/group"
	"grposim/rom/weight"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// model is a completed Params with everything that does not depend on the logits
// precomputed, and the state to which set has brought it. It owns scratch space, so only one
// goroutine may use it.
type model struct {
	penalties
	law group.Law // of the rewards of a group
	// the law where rewards take two values, of many prompts that of the mean prompt; else nil
	counts *group.Counts

	size float64 // G; +Inf where infinite

	running *float64 // b of a step of a mean field, with RunningMean; nil: it is J
	// decides which groups the largest norm cuts, see holdCuts; nil: their own force
	cuts *groupForce

	// Scratch space.
	x     []float64      // one entry per arm
	parts [3][][]float64 // of covariance; nil: not needed yet
	inner [2][]float64   // binomial probabilities of cutMoments
}

// policy is a softmax and its logarithm, one entry per arm.
type policy struct {
	probs, logs []float64
}

func newPolicy(arms int) policy {
	return policy{probs: make([]float64, arms), logs: make([]float64, arms)}
}

func (p *policy) set(theta []float64) {
	norm := softmax(p.probs, theta)
	for a, x := range theta {
		p.logs[a] = x - norm
	}
}

// newModel returns the model of p, which Params.checked has completed. Prompts with a policy
// each have no model of all.
func newModel(p *Params) *model {
	want(!p.tabular(), "Params.Prompts.Parameters", p.Prompts.Parameters, "shared")
	arms, samples := len(p.Arms), group.NewSamples(len(p.Arms))
	m := &model{
		penalties: penalties{
			Params: p, Samples: samples, reference: make([]float64, arms),
			now: newPolicy(arms), past: policy{samples.Old, make([]float64, arms)},
		},
		size: math.Inf(1),
		x:    make([]float64, arms),
	}
	if p.GroupSize != option.Infinite {
		m.size = float64(p.GroupSize)
	}
	logSoftmax(m.reference, p.Reference)
	m.target = m.reference
	if p.Entropy > 0 {
		m.target = m.balanced()
	}
	m.law = group.New(p.Arms, &p.Estimator, samples)
	m.counts, _ = m.law.(*group.Counts)
	if len(p.Prompts.First) > 0 {
		m.law = group.NewPrompts(p.bandits(), &p.Estimator, samples)
	}
	return m
}

// kind returns the kind of this bandit's force: Exact where the law of a group or of a cut force
// is, else Expansion.
func (m *model) kind() Kind {
	if m.limited() || m.law.Exact() {
		return Exact
	}
	return Expansion
}

// factored reports whether the on-policy mean force is φ π_a(m_a − J) with one factor
// φ for all arms, which a mean over prompts and a force that is cut are not.
func (m *model) factored() bool { return !m.limited() && m.law.Factored() }

// set sets the current logits and those of the snapshot, and computes the
// importance weights and κ there.
func (m *model) set(theta, old []float64) {
	m.now.set(theta)
	if slices.Equal(theta, old) {
		copy(m.past.probs, m.now.probs)
		copy(m.past.logs, m.now.logs)
	} else {
		m.past.set(old)
	}
	m.weigh()
	m.score()
	if m.KL.OfReward() {
		m.shiftRewards()
	}
}

// weigh sets the importance weights of every arm for positive (up) and negative
// (down) advantages. An arm with π_old = 0 has the ratio 0.
func (m *model) weigh() {
	for a, old := range m.past.probs {
		ratio := 0.0
		if old > 0 {
			ratio = m.now.probs[a] / old
		}
		m.Up[a], m.Down[a] = weight.At(&m.Importance, ratio, old)
	}
}

// boundReach is the number of standard deviations of ln ρ within which a bound counts. A share
// of 0.1 % of the samples lies beyond, and what chains miss of Var J is at most 0.5 %.
const boundReach = 3

// boundWithin reports whether a bound at which a weight drops to 0 is within boundReach of the
// ratio of an arm at the state that is set. cov is the covariance of both policies in the basis q.
func (m *model) boundWithin(q *mat.Dense, cov [][]float64) bool {
	arms, n := q.Dims()
	if !weight.Jumps(&m.Importance) || len(cov) < 2*n {
		return false
	}
	now, old, gradient := reduce(q, m.now.probs), reduce(q, m.past.probs), make([]float64, 2*n)
	for a := range arms {
		for k := range n { // ∂ ln ρ_a
			gradient[k], gradient[n+k] = q.At(a, k)-now[k], old[k]-q.At(a, k)
		}
		variance := 0.0
		for i, x := range gradient {
			variance += x * floats.Dot(cov[i], gradient)
		}
		reach, at := boundReach*math.Sqrt(max(variance, 0)), m.now.logs[a]-m.past.logs[a]
		up, down, _ := weight.Bands(&m.Importance, m.past.probs[a])
		for _, band := range []weight.Band{up, down} {
			if !band.Held && (math.Abs(math.Log1p(band.Above)-at) < reach || math.Abs(math.Log1p(-min(band.Below, 1))-at) < reach) {
				return true
			}
		}
	}
	return false
}

// startBaseline sets the running mean of a mean field to its value at step 0.
func (m *model) startBaseline() {
	if m.Advantage.Baseline == option.RunningMean {
		b := m.Advantage.Value
		m.running, m.counts.Running = &b, &b
	}
}

// moveBaseline moves the running mean of a mean field by one draw at J.
func (m *model) moveBaseline(j float64) { *m.running += m.Advantage.Rate * (j - *m.running) }

// drawn returns the number of draws of groups in the steps before t.
func (p *Params) drawn(t int) int {
	if p.Samples == option.Reused {
		return (t + p.Lag.Interval - 1) / p.Lag.Interval
	}
	return t
}

// draws reports whether step t draws groups.
func (p *Params) draws(t int) bool { return p.drawn(t+1) > p.drawn(t) }
