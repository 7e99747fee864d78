// Package force has the mean force at a policy and its snapshot, its slope and its noise.
//
//  1. New precomputes a Model of a checked cell; Model.Set brings it to two policies.
//  2. Model.MeanForce, Model.Covariance and Model.Stiffness are those of one step there.
//  3. Mean, Covariance and Stiffness are the same for callers with a single question.
package force

import (
	"iter"
	"math"
	"slices"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/group"
	"grposim/rom/linear"
	"grposim/rom/scope"
	"grposim/rom/weight"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// DifferenceStep returns the step h of second differences, small enough to stay
// inside the smooth range of the weights. The error of the fourth-order formula, h⁴/90 times
// the sixth derivative, and rounding over h² are both about 1e-11.
func (m *Model) DifferenceStep() float64 {
	return min(5e-3, weight.Range(&m.Importance)/8)
}

// Expected returns J(π) of π = softmax(logits).
func (m *Model) Expected(logits []float64) float64 {
	cell.Softmax(m.Now.Probs, logits)
	return cell.Expected(m.Arms, m.Now.Probs)
}

// Model is a completed Params with everything that does not depend on the logits precomputed, and
// the state to which set has brought it. It owns scratch space, so only one goroutine may use it.
type Model struct {
	penalties
	Law group.Law // of the rewards of a group
	// the law where rewards take two values, of many prompts that of the mean prompt; else nil
	Counts *group.Counts
	Each   []*group.Counts  // of each prompt
	draws  []*group.Prompts // of prompts in a fixed order, see Turn; nil: of none
	away   bool             // no group of the step is of this prompt, see Turn
	others [2]float64       // of Params.Others, see Turn
	Anchor []float64        // logits of π_ref, see Turn
	whole  option.Estimator // whose schedules are those of Params.Estimator, see Turn

	Size float64 // G; +Inf where infinite

	Running *float64 // b of a step of a mean field, with RunningMean; nil: it is J
	// decides which groups the largest norm cuts, see HoldCuts; nil: their own force
	cuts *groupForce

	// Scratch space.
	x      []float64      // one entry per arm
	parts  [3][][]float64 // of covariance; nil: not needed yet
	inner  [2][]float64   // binomial probabilities of eachGroup
	series *fourier.FFT   // of LimitedStep; nil: not needed yet
}

// New returns the model of p, which Params.Checked has completed. Prompts with a policy
// each have no model of all.
func New(p *cell.Params) *Model {
	cell.Want(!p.Tabular(), "Params.Prompts.Parameters", p.Prompts.Parameters, "shared")
	if p.Varies() {
		own := *p
		p = &own
	}
	arms, samples := len(p.Arms), group.NewSamples(len(p.Arms))
	m := &Model{
		whole: p.Estimator, Anchor: slices.Clone(p.Reference),
		penalties: penalties{
			Params: p, Samples: samples, LogReference: make([]float64, arms),
			Now:  Policy{make([]float64, arms), make([]float64, arms)},
			Past: Policy{samples.Old, make([]float64, arms)},
		},
		Size: math.Inf(1),
		x:    make([]float64, arms),
	}
	if p.GroupSize != option.Infinite {
		m.Size = float64(p.GroupSize)
	}
	m.SetReference(p.Reference)
	m.Law = group.New(p.Arms, &p.Estimator, samples)
	if p.OnTheWay && p.KL.OfReward() {
		if l := group.Compose(p.Arms, &p.Estimator, samples); l != nil {
			m.Law = l
		}
	}
	m.Counts, _ = m.Law.(*group.Counts)
	var bandits [][]option.Arm
	for x := range p.Prompts.First {
		one, _ := p.Prompt(x, nil)
		bandits = append(bandits, one.Arms)
	}
	if m.Each = []*group.Counts{m.Counts}; bandits != nil {
		law := group.NewPrompts(bandits, &p.Estimator, samples)
		if m.Law, m.Each = law, law.Each; p.Prompts.Order == option.InOrder {
			m.draws = law.InOrder(p.GroupsPerStep)
		}
	}
	return m
}

// Turned is what tells steps apart whose forces at the same policies differ.
type Turned struct{ Draw, Others, KL, Clip int }

// Turn gives a model β, the clip, π_ref and the law of a group of step t. The step begins at the
// logits theta. It is called in every step. Steps of about the same force return the same, whatever
// the reference. They have one draw in an epoch in order of prompts with one policy, and
// Params.Others, β and clip within 2 %.
func Turn(m *Model, t int, theta []float64) (at Turned) {
	if u := m.ReferenceUpdate; t > 0 && u.Moves(t-1) {
		floats.Scale(1-u.Rate, m.Anchor)
		floats.AddScaled(m.Anchor, u.Rate, theta)
		m.SetReference(m.Anchor)
	}
	if kl, clip := &m.KL, &m.Importance; m.Varies() {
		kl.Coefficient = Scheduled(m.whole.KL.Coefficient, &kl.Schedule, t)
		clip.ClipLow = Scheduled(m.whole.Importance.ClipLow, &clip.Schedule, t)
		clip.ClipHigh = Scheduled(m.whole.Importance.ClipHigh, &clip.Schedule, t)
		m.SetReference(m.Anchor)
		at.KL, at.Clip = int(Scheduled(50, &kl.Schedule, t)), int(Scheduled(50, &clip.Schedule, t))
	}
	if n := len(m.Others); n > 0 {
		m.others = m.Others[min(t, n-1)]
		at.Others = int(math.Log(max(m.others[0], math.SmallestNonzeroFloat64)) / 0.02)
	}
	if m.away = cell.InTurn(m.Params, t) == 0; m.away {
		at.Draw = -1
	}
	if m.draws != nil {
		at.Draw = cell.Draw(m.Params, t) % len(m.draws)
		m.Law = m.draws[at.Draw]
	}
	return at
}

// Scheduled returns x times the factor of a schedule in step t ≥ 0.
func Scheduled(x float64, s *option.Schedule, t int) float64 {
	if t < s.Warmup {
		return x * float64(t+1) / float64(s.Warmup)
	}
	done := 1.0
	if t < s.Total {
		done = float64(t-s.Warmup) / float64(s.Total-s.Warmup)
	}
	switch s.Kind {
	case option.LinearDecay:
		return x * (1 - done)
	case option.CosineDecay:
		return x * 0.5 * (1 + math.Cos(math.Pi*done))
	}
	return x
}

// Visiting returns the probability that a group is of this prompt, at the state that is set.
func Visiting(m *Model) float64 {
	if m.away {
		return 0
	}
	if m.Others == nil || m.Filter != option.Redraw {
		return cell.Visiting(m.Params)
	}
	p, _ := m.Counts.Differ(m.Counts.Chances(m.Old))
	return p / (p + m.others[0])
}

// sharesOf returns the laws of the prompts, if rewards take two values, with their probabilities.
func sharesOf(m *Model) iter.Seq2[float64, *group.Counts] {
	if law, ok := m.Law.(*group.Prompts); ok {
		return law.Shares
	}
	return func(yield func(share float64, one *group.Counts) bool) {
		if m.Counts != nil {
			yield(1, m.Counts)
		}
	}
}

// Kind returns the kind of this bandit's force: Exact where the law of a group or of a cut force
// is, else Expansion.
func (m *Model) Kind() scope.Kind {
	if m.Limited() || m.Law.Exact() {
		return scope.Exact
	}
	return scope.Expansion
}

// Factored reports whether the on-policy mean force is φ π_a(m_a − J) with one factor
// φ for all arms, which a mean over prompts and a force that is cut are not.
func (m *Model) Factored() bool { return !m.Limited() && m.Law.Factored() }

// Set sets the current logits and those of the snapshot, and computes the
// importance weights and κ there.
func (m *Model) Set(theta, old []float64) {
	m.Now.Set(theta)
	if slices.Equal(theta, old) {
		copy(m.Past.Probs, m.Now.Probs)
		copy(m.Past.Logs, m.Now.Logs)
	} else {
		m.Past.Set(old)
	}
	m.weigh()
	m.score()
	if m.KL.OfReward() {
		for a, l := range m.Past.Logs { // the penalty adds −β log π_old/π_ref to a reward
			m.Shift[a] = -m.KL.Coefficient * (l - m.LogReference[a])
		}
	}
}

// weigh sets the importance weights of every arm for positive (up) and negative
// (down) advantages. An arm with π_old = 0 has the ratio 0.
func (m *Model) weigh() {
	for a, old := range m.Past.Probs {
		ratio := 0.0
		if old > 0 {
			ratio = m.Now.Probs[a] / old
		}
		m.Up[a], m.Down[a] = weight.At(&m.Importance, ratio, old)
	}
}

// BoundReach is the number of standard deviations of ln ρ within which a bound counts. A share
// of 0.1 % of the samples lies beyond, and what chains miss of Var J is at most 0.5 %.
const BoundReach = 3

// BoundWithin returns 1 if the ratio of an arm is within BoundReach of a bound at which its weight
// drops to 0, else 0. cov is that of both policies in the basis q.
func (m *Model) BoundWithin(q *mat.Dense, cov [][]float64) float64 {
	arms, n := q.Dims()
	if !weight.Jumps(&m.Importance) || len(cov) < 2*n {
		return 0
	}
	now, old, gradient := linear.Reduce(q, m.Now.Probs), linear.Reduce(q, m.Past.Probs),
		make([]float64, 2*n)
	for a := range arms {
		for k := range n { // ∂ ln ρ_a
			gradient[k], gradient[n+k] = q.At(a, k)-now[k], old[k]-q.At(a, k)
		}
		variance := 0.0
		for i, x := range gradient {
			variance += x * floats.Dot(cov[i], gradient)
		}
		reach, at := BoundReach*math.Sqrt(max(variance, 0)), m.Now.Logs[a]-m.Past.Logs[a]
		up, down, _ := weight.Bands(&m.Importance, m.Past.Probs[a])
		for _, band := range []weight.Band{up, down} {
			if !band.Held && (math.Abs(math.Log1p(band.Above)-at) < reach ||
				math.Abs(math.Log1p(-min(band.Below, 1))-at) < reach) {
				return 1
			}
		}
	}
	return 0
}

// TieWithin returns the share of groups whose force with the std scale jumps within BoundReach of the
// policy that draws. Their rewards differ by the KL alone, which may be the same of two arms. It is 1
// where a KL may outweigh a reward, or of more values than two. cov ends with that policy's.
func TieWithin(m *Model, q *mat.Dense, cov [][]float64) (share float64) {
	if !m.KL.OfReward() || m.Advantage.Scale != option.StdScale {
		return 0
	}
	_, n := q.Dims()
	d := len(cov)
	all := mat.NewDense(d, d, slices.Concat(cov...))
	c := linear.Congruence(q, mat.DenseCopyOf(all.Slice(d-n, d, d-n, d)))
	success, span := group.TwoValued(m.Arms)
	if success == nil {
		return 1
	}
	j := floats.Dot(success, m.Old)
	for a, x := range m.Shift {
		for b, y := range m.Shift[:a] {
			gap := math.Sqrt(max(c.At(a, a)+c.At(b, b)-2*c.At(a, b), 0))
			switch far, reach := math.Abs(x-y), BoundReach*m.KL.Coefficient*gap; {
			case math.Abs(far-span) < reach:
				return 1
			case far < reach:
				share = fp.Pow(j, m.Size) + fp.Pow(1-j, m.Size)
			}
		}
	}
	return share
}

// StartBaseline sets the running mean of a mean field to its value at step 0.
func (m *Model) StartBaseline() {
	if m.Advantage.Baseline == option.RunningMean {
		b := m.Advantage.Value
		m.Running, m.Counts.Running = &b, &b
	}
}

// MoveBaseline moves the running mean of a mean field by one draw at J.
func (m *Model) MoveBaseline(j float64) { *m.Running += m.Advantage.Rate * (j - *m.Running) }

// Limited reports whether the force is cut. Two equal arms that are merged exert none.
func (m *Model) Limited() bool { return m.Cut() > 0 && len(m.Arms) == 2 }

// groupForce holds the coefficients of the force on the first arm of a group with s_a
// successes and f_a failures of arm a,
//
//	g_1 = u⁺ Σ_a success_a s_a + u⁻ Σ_a failure_a f_a + Σ_a arm_a (s_a + f_a) + fixed
//
// with g_1 = π_0c_1 − π_1c_0 of c^R and c^K (docs/theory.md §2).
type groupForce struct {
	success, failure, arm [2]float64
	fixed                 float64 // of the exact KL gradient and the entropy bonus
}
