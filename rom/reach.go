package rom

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/group"
	"grposim/rom/linear"
	"grposim/rom/weight"
)

// This file has what the norm of a gradient does not exceed, at any policy and along a path, and so
// where a largest norm never acts (docs/theory-trainers.md §11.6). There the theory is that without
// one.

// Plain returns parameters of the same runs without options that cannot act: a largest norm that no
// gradient can exceed, Nesterov's rule without momentum, samples that are reused in the one step of
// a block, and a warm-up whose first step has the whole rate.
func Plain(p Params) Params {
	if s := &p.Optimizer.Schedule; s.Kind == option.ConstantRate && s.Warmup == 1 {
		s.Warmup = 0
	}
	if p.Optimizer.Momentum == 0 && p.Optimizer.Kind == option.Nesterov {
		p.Optimizer.Kind = option.HeavyBall
	}
	if p.Lag.Kind == option.Block && p.Lag.Interval <= 1 && p.Lag.Behind == 0 {
		p.Samples = option.Fresh
	}
	if p.Optimizer.MaxNorm == 0 || p.GroupSize <= 0 { // at G = ∞ the limit has a theory of its own
		return p
	}
	q := p
	q.Lag.Complete()
	if q.Reference == nil {
		q.Reference = make([]float64, len(p.Arms))
	}
	if q.largestForce() <= p.Optimizer.MaxNorm {
		p.Optimizer.MaxNorm = 0
	}
	return p
}

// neverClipped reports whether no force is longer than the largest norm, at G = ∞ not even
// force, the largest that is met; there it is 0 at the fixed point.
func (p *Params) neverClipped(force float64) bool {
	norm := p.Optimizer.MaxNorm
	return norm == 0 || p.GroupSize == option.Infinite && force <= norm || p.largestForce() <= norm
}

// rewardWithinNorm reports whether the bound without a penalty is at most the largest norm.
func (p *Params) rewardWithinNorm() bool {
	free := *p
	free.KL = option.KL{}
	return free.largestForce() <= p.Optimizer.MaxNorm
}

// largestForce returns a number that the norm of no gradient exceeds at any policy; +Inf where none
// is known. With S the bound of advantages of advantageBound, W the largest weight and L the
// largest −log π_ref,
//
//	‖g‖ ≤ S W/√2 + √2 βL + √2 α log A
//
// A ratio is at most e^(√2 D) where the logits have moved by D since the snapshot. Of a gradient
// within the bound n the heavy ball moves them by ηn/(1−μ) at most in a step, so that n is the
// least solution for its own W.
func (p *Params) largestForce() float64 {
	reward, rest := p.advantageBound(nil, math.Inf(1))/math.Sqrt2, math.Sqrt2*p.Entropy*math.Log(float64(len(p.Arms)))
	switch logs := referenceLogs(p); {
	case p.KL.Coefficient == 0, p.KL.OfReward():
	case p.KL.In != option.InLoss:
		return math.Inf(1)
	case p.KL.Gradient == option.ExactKL:
		rest += math.Sqrt2 * p.KL.Coefficient * -floats.Min(logs)
	case p.KL.Gradient == option.K1:
		rest += math.Sqrt2 * p.KL.Coefficient
	default:
		return math.Inf(1)
	}
	lag := linear.NewLag(&p.Lag)
	if p.Importance.Mode == option.NoImportance || lag.OnPolicy() || math.IsInf(reward, 1) {
		return reward + rest
	}
	steps := math.Sqrt2 * float64(lag.Span()) * p.Optimizer.LearningRate
	if p.Lag.Kind == option.Block {
		steps *= float64(lag.Span()-1) / float64(lag.Span())
	}
	most := func(n float64) float64 {
		ratio := fp.MathExp(steps * n / (1 - p.Optimizer.Momentum))
		return reward*weight.Most(&p.Importance, 1/ratio, ratio, math.SmallestNonzeroFloat64) + rest
	}
	if p.Optimizer.Kind == option.Adam {
		most = func(float64) float64 {
			ratio := fp.MathExp(math.Sqrt2 * steps * largestAdamStep(&p.Optimizer))
			return reward*weight.Most(&p.Importance, 1/ratio, ratio, math.SmallestNonzeroFloat64) + rest
		}
	}
	for n, rounds := reward+rest, 0; rounds < 1000; rounds++ {
		switch next := most(n); {
		case next <= n*(1+1e-12):
			return next
		case !(next < 1e6*reward):
			return math.Inf(1)
		default:
			n = next
		}
	}
	return math.Inf(1)
}

// largestAdamStep bounds |m|/√v of an entry, by Cauchy's inequality: a step by the learning rate.
func largestAdamStep(o *option.Optimizer) float64 {
	decay := o.Beta1 * o.Beta1 / o.Beta2
	if o.Beta1 == 0 {
		decay = 0
	}
	if !(decay < 1) {
		return math.Inf(1)
	}
	return max(1, (1-o.Beta1)/math.Sqrt((1-o.Beta2)*(1-decay)))
}

// advantageBound returns S, what the mean modulus of the advantages of a step does not exceed where
// they add to 0, else twice that of one sign; +Inf where none is known. Normal rewards are counted
// up to so many deviations. The shifts are added to the rewards of the arms; nil: none.
//
// Then the part of the gradient has a norm of at most S W/√2: it adds to 0, so that its norm is √2
// times the sum of its positive or of its negative entries at most, of which one has samples of one
// sign alone.
func (p *Params) advantageBound(shift []float64, deviations float64) float64 {
	most := 1.0
	switch scale := p.Advantage.Scale; {
	case p.Advantage.Baseline.Given():
		most = 2
	case p.Advantage.Baseline > option.LeaveOneOut, scale == option.OthersStd:
		return math.Inf(1)
	case scale == option.MeanScale, scale == option.BatchMean:
		most = 2
	case scale == option.NoScale && p.KL.OfReward() && shift == nil:
		return math.Inf(1)
	case scale == option.NoScale:
		low, high := math.Inf(1), math.Inf(-1)
		for a, arm := range p.Arms {
			below, above, ok := group.Support(arm)
			if !ok {
				below, above = arm.Mean-deviations*arm.Std, arm.Mean+deviations*arm.Std
			}
			if shift != nil {
				below, above = below+shift[a], above+shift[a]
			}
			low, high = min(low, below), max(high, above)
		}
		most = (high - low) / 2
	}
	if p.GroupSize == option.Infinite {
		return most
	}
	size := float64(p.GroupSize)
	if p.Advantage.Baseline == option.LeaveOneOut {
		most *= size / (size - 1)
	}
	if p.Advantage.Scale == option.StdScale && p.Advantage.Std == option.SampleStd {
		most *= math.Sqrt((size - 1) / size)
	}
	return most
}

// A gradient is taken to stay below a bound that it exceeds with a probability of about rareNorm in
// a step: a limit that acts that rarely changes the mean force by less than that share of it. Of a
// normal law that are rareNormal deviations.
const (
	rareNorm   = 1e-5
	rareNormal = 4.3
	rareEvents = 4 // of events of any rate, beyond so many deviations of their number
)

// reach bounds the norms of gradients at states of a model of runs whose largest norm does not act.
type reach struct{ *model }

// at returns what the norm of a gradient exceeds with a probability of about rareNorm at most,
// at policies now and old. The noise of the steps since the snapshot displaces the policy from now:
// the bound is the largest where it does so along the noise of an arm, by as rare an amount.
func (m reach) at(now, old []float64) float64 {
	m.set(now, old)
	lag := linear.NewLag(&m.Lag)
	if m.Importance.Mode == option.NoImportance || lag.OnPolicy() {
		return m.here()
	}
	age := float64(lag.Span())
	if m.Lag.Kind == option.Block {
		age--
	}
	o, arms := &m.Optimizer, len(m.Arms)
	decay := o.Momentum
	if o.Kind == option.Adam {
		decay = o.Beta1
	}
	// of the sum of a velocity Σ decay^k g_{t−k} over so many steps
	steps := math.Sqrt((age + 2*decay/(1-decay)*(age-(1-fp.Pow(decay, age))/(1-decay))) / (1 - decay*decay))
	if m.Estimator.Samples == option.Reused { // whose noise is that of one draw
		steps = age / (1 - decay)
	}
	noise, force, scale := m.covariance(), make([]float64, arms), make([]float64, arms)
	m.meanForce(force)
	for a := range scale {
		scale[a] = steps * o.LearningRate
		if square := noise.At(a, a) + force[a]*force[a]; o.Kind == option.Adam && square > 0 {
			scale[a] *= (1 - o.Beta1) / math.Sqrt(square)
		}
	}
	most, moved := m.here(), make([]float64, arms)
	for a := range now {
		for _, by := range [2]float64{-rareNormal, rareNormal} {
			if v := noise.At(a, a); v > 0 {
				for b, x := range now {
					moved[b] = x + by*scale[b]*noise.At(a, b)/math.Sqrt(v)
				}
				m.set(moved, old)
				most = max(most, m.here())
			}
		}
	}
	return most
}

// here is the same at the state that is set, without the noise of earlier steps: the less of two
// bounds: that of the rewards' part beside that of the penalty's, and the mean force with the
// deviations of a normal law and some of the largest single events.
func (m reach) here() float64 {
	still, force := make([]float64, len(m.Arms)), make([]float64, len(m.Arms))
	m.subtractPenalty(still)
	m.addEntropy(still)
	m.meanForce(force)
	var shift []float64
	if m.KL.OfReward() {
		shift = m.Shift
	}
	few := m.rareShare(1 - floats.Max(m.Old))
	reward := m.advantageBound(shift, rareNormal) * m.spanned(few)
	largest, scatter := m.sampledPenalty(few)
	events := largest + reward/float64(m.GroupsPerStep)
	normal := floats.Norm(force, 2) + rareNormal*math.Sqrt(mat.Trace(m.covariance())) + rareEvents*events
	return min(reward+floats.Norm(still, 2)+scatter, normal)
}

// spanned returns what the norm of the rewards' part does not exceed per unit of advantageBound S.
// The advantages of either sign have the sum S/2 in modulus, so that it is largest where all
// positive ones are of an arm i and all negative ones of an arm j,
//
//	½ ‖w⁺_i(e_i − π) − w⁻_j(e_j − π)‖
//
// Where all but a few of the samples, a share f, are of one arm and the weights have no sign, the
// sum of the others' is less: √f of it with the std scale, f of the range of the rewards without
// one.
func (m reach) spanned(few float64) (most float64) {
	square, signed := floats.Dot(m.now.probs, m.now.probs), m.Advantage.BinaryOnly()
	for i, p := range m.now.probs {
		up := m.Up[i]
		signed = signed || up != m.Down[i]
		for j, q := range m.now.probs {
			down := m.Down[j]
			norm := up*up + down*down + (up-down)*(up-down)*square - 2*(up-down)*(up*p-down*q)
			if i == j {
				norm = (up - down) * (up - down) * (1 - 2*p + square)
			}
			most = max(most, norm)
		}
	}
	switch most = math.Sqrt(most) / 2; {
	case signed || m.Filter != option.KeepAll:
		return most
	case m.Advantage.Scale == option.NoScale:
		return most * min(1, 4*few)
	}
	return most * min(1, 2*math.Sqrt(few))
}

// rareShare returns the share that events of the given probability have of the samples of a step at
// most, but for as rare steps, by Chernoff's bound.
func (m reach) rareShare(p float64) float64 {
	exponent := -math.Log(rareNorm) / (m.size * float64(m.GroupsPerStep))
	low, high := p, 1.0
	for range 40 {
		q := (low + high) / 2
		if q*math.Log(q/p)+(1-q)*math.Log((1-q)/(1-p)) > exponent {
			high = q
		} else {
			low = q
		}
	}
	return high
}

// sampledPenalty returns the largest gradient of a sampled penalty's sample, of arms that are drawn
// in no rarer steps, and by how much their sum differs from its mean: by Bernstein's inequality, or
// with x_a = βκ_a(e_a − π) the largest difference to that of the most probable arm for all but the
// few samples of others.
func (m reach) sampledPenalty(few float64) (largest, scatter float64) {
	if !m.KL.Sampled() {
		return 0, 0
	}
	at, samples, first := m.anchor().probs, m.size*float64(m.GroupsPerStep), floats.MaxIdx(m.Old)
	sum, square, apart := floats.Dot(at, at), 0.0, 0.0
	for a, drawn := range m.Old {
		if samples*drawn < rareNorm {
			continue
		}
		x, y := m.Kappa[a], m.Kappa[first]
		size := m.KL.Coefficient * math.Abs(x) * math.Sqrt(max(1-2*at[a]+sum, 0)) / samples
		square += samples * drawn * size * size
		largest = max(largest, size)
		if a != first {
			apart = max(apart, x*x+y*y+(x-y)*(x-y)*sum-2*(x-y)*(x*at[a]-y*at[first]))
		}
	}
	tail := -math.Log(rareNorm)
	by := tail * largest / 3
	off := few + m.Old[first] - 1
	if len(m.Arms) > 2 {
		off = few + 1 - m.Old[first]
	}
	return largest, min(by+math.Sqrt(by*by+2*tail*square), off*m.KL.Coefficient*math.Sqrt(apart))
}

// withoutNorm returns the parameters without a largest norm.
func withoutNorm(p Params) Params {
	p.Optimizer.MaxNorm, p.cut = 0, 0
	return p
}

// metStep is the distance in logits that policies move between two points at which the norm is
// bounded.
const metStep = 0.01

// unlimited returns checked parameters without their largest norm where the gradients of runs from
// the logits init do not reach it within the given steps. Else it notes which they do not exceed.
func unlimited(p Params, init []float64, steps int) Params {
	if p.neverClipped(0) {
		return withoutIdle(p)
	}
	if p.tabular() || p.notDerived(rewardsInDigits, meanForceKnown).Out() {
		return p
	}
	free := withoutNorm(p)
	m, past := newModel(&free), newSnapshots(&p.Lag, init, steps)
	before, most := []float64(nil), 0.0
	_, within := meanField(free, init, steps, func(t int, theta []float64) (more bool) {
		old := past.at(t, theta)
		here := append(append([]float64{}, theta...), old...)
		if before == nil || floats.Distance(here, before, math.Inf(1)) > metStep {
			before, most = here, max(most, reach{m}.at(theta, old))
		}
		return !math.IsInf(most, 1)
	})
	if !within.In || math.IsNaN(most) {
		return p
	}
	return meeting(p, most)
}

// unlimitedAt is unlimited of runs at rest at the given logits.
func unlimitedAt(p Params, logits []float64) Params {
	if p.neverClipped(0) {
		return withoutIdle(p)
	}
	if p.tabular() || p.notDerived(rewardsInDigits, meanForceKnown).Out() || p.cut > 0 && p.Optimizer.Kind != option.Adam {
		return p
	}
	free := withoutNorm(p)
	return meeting(p, reach{newModel(&free)}.at(logits, logits))
}

// meeting returns the parameters of runs whose gradients do not exceed a norm.
func meeting(p Params, most float64) Params {
	if p.met = most; most <= p.Optimizer.MaxNorm {
		return withoutNorm(p)
	}
	return p
}

// withoutIdle returns the parameters without a largest norm that a finite group never reaches.
func withoutIdle(p Params) Params {
	if p.GroupSize == option.Infinite {
		return p
	}
	return withoutNorm(p)
}
