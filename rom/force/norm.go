package force

import (
	"math"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A gradient is taken to stay below a bound that it exceeds with a probability of about rareNorm in
// a step: a limit that acts that rarely changes the mean force by less than that share of it. Of a
// normal law that are rareNormal deviations.
const (
	rareNorm   = 1e-5
	rareNormal = 4.3
	rareEvents = 4 // of events of any rate, beyond so many deviations of their number
)

// NormMet returns what the norm of a gradient exceeds with a probability of about rareNorm at most,
// at policies now and old, of a model of runs whose largest norm does not act. The noise of the
// steps since the snapshot displaces the policy from now. The bound is the largest where it does so
// along the noise of an arm, by as rare an amount.
func (m *Model) NormMet(now, old []float64) float64 {
	m.Set(now, old)
	lag := linear.NewLag(&m.Lag)
	if m.Importance.Mode == option.NoImportance || lag.OnPolicy() {
		return m.normHere()
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
	steps := math.Sqrt((age + 2*decay/(1-decay)*(age-(1-fp.Pow(decay, age))/(1-decay))) /
		(1 - decay*decay))
	if m.Estimator.Samples == option.Reused { // whose noise is that of one draw
		steps = age / (1 - decay)
	}
	noise, force, scale := m.Covariance(), make([]float64, arms), make([]float64, arms)
	m.MeanForce(force)
	for a := range scale {
		scale[a] = steps * o.LearningRate
		if square := noise.At(a, a) + force[a]*force[a]; o.Kind == option.Adam && square > 0 {
			scale[a] *= (1 - o.Beta1) / math.Sqrt(square)
		}
	}
	most, moved := m.normHere(), make([]float64, arms)
	for a := range now {
		for _, by := range [2]float64{-rareNormal, rareNormal} {
			if v := noise.At(a, a); v > 0 {
				for b, x := range now {
					moved[b] = x + by*scale[b]*noise.At(a, b)/math.Sqrt(v)
				}
				m.Set(moved, old)
				most = max(most, m.normHere())
			}
		}
	}
	return most
}

// normHere is the same at the state that is set, without the noise of earlier steps: the less of two
// bounds: that of the rewards' part beside that of the penalty's, and the mean force with the
// deviations of a normal law and some of the largest single events.
func (m *Model) normHere() float64 {
	still, force := make([]float64, len(m.Arms)), make([]float64, len(m.Arms))
	m.SubtractPenalty(still)
	m.AddEntropy(still)
	m.MeanForce(force)
	var shift []float64
	if m.KL.OfReward() {
		shift = m.Shift
	}
	few := m.rareShare(1 - floats.Max(m.Old))
	reward := m.AdvantageBound(shift, rareNormal) * m.spanned(few)
	largest, scatter := m.sampledPenalty(few)
	events := largest + reward/float64(m.GroupsPerStep)
	normal := floats.Norm(force, 2) + rareNormal*math.Sqrt(mat.Trace(m.Covariance())) +
		rareEvents*events
	return min(reward+floats.Norm(still, 2)+scatter, normal)
}

// spanned returns what the norm of the rewards' part does not exceed per unit of AdvantageBound S.
// The advantages of either sign have the sum S/2 in modulus, so that it is largest where all
// positive ones are of an arm i and all negative ones of an arm j,
//
//	½ ‖w⁺_i(e_i − π) − w⁻_j(e_j − π)‖
//
// Where all but a few of the samples, a share f, are of one arm and the weights have no sign, the
// sum of the others' is less: √f of it with the std scale, f of the range of the rewards without
// one.
func (m *Model) spanned(few float64) (most float64) {
	square, signed := floats.Dot(m.Now.Probs, m.Now.Probs), m.Advantage.BinaryOnly()
	for i, p := range m.Now.Probs {
		up := m.Up[i]
		signed = signed || up != m.Down[i]
		for j, q := range m.Now.Probs {
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
func (m *Model) rareShare(p float64) float64 {
	exponent := -math.Log(rareNorm) / (m.Size * float64(m.GroupsPerStep))
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
func (m *Model) sampledPenalty(few float64) (largest, scatter float64) {
	if !m.KL.Sampled() {
		return 0, 0
	}
	at, samples, first := m.anchor().Probs, m.Size*float64(m.GroupsPerStep), floats.MaxIdx(m.Old)
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
