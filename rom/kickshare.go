package rom

import (
	"math"

	"grposim/fp"
	"grposim/rom/linear"
)

// This file has the share of runs that the kicks of k3 leave on the wrong arm: two arms, one of which freezes on the way
// (docs/theory-neglected.md §6.12). Until the freezing a run is a normal law about the mean path. From there on it is a deterministic motion
// between single samples of the rare arm: it coasts, waits, is thrown, comes back by the mean force where samples are frequent again, freezes again.
// The samples come at a known rate, so that the probability of every history is known; a tree of histories sums it.

// landing is the motion of the gap z = θ_right − θ_other after the freezing.
type landing struct {
	*Params
	end     float64 // step at which the run ends
	share   float64 // see frozen
	samples float64 // GB
	limit   float64 // of the force on z by the largest norm c, √2 c; +Inf: none
	gain    float64 // of the force in a step of z, and of the velocity
	carry   float64
	rates   []float64 // learning rates of the first steps, the last one for the rest

	reference [2]float64    // π_ref of the arm that is rare for z > 0 and for z < 0
	lone      [2]loneSample // the advantage of a lone sample of it
	table     []float64     // the mean force on z, from −edge to edge
	edge      float64

	lost  float64 // sum of the probabilities of the histories that end at z < 0
	drawn int     // branchings so far
}

// tableStep is the distance of the points between which the mean force is interpolated: its curvature, of order 1, leaves an error of
// 1e-4 of it.
const tableStep = 1.0 / 32

// newLanding returns the motion of a bandit of two arms, of which right is the better one, from step begin to end.
func newLanding(p *Params, right int, end int, share float64) *landing {
	l := &landing{Params: p, end: float64(end), share: share, samples: float64(p.GroupSize) * float64(p.GroupsPerStep), limit: math.Inf(1)}
	if p.Optimizer.MaxNorm > 0 {
		l.limit = math.Sqrt2 * p.Optimizer.MaxNorm
	}
	l.gain, l.carry = linear.StepGains(p.Optimizer.Kind, p.Optimizer.Momentum)
	for t := range p.Optimizer.Schedule.Warmup + 1 {
		l.rates = append(l.rates, rateAt(&p.Optimizer, t))
	}
	free := *p
	free.Optimizer.MaxNorm, free.cut = 0, 0
	m := newModel(&free)
	logits, force := make([]float64, 2), make([]float64, 2)
	at := func(z float64) {
		logits[right], logits[1-right] = z/2, -z/2
		m.set(logits, logits)
	}
	softmax(force, p.Reference)
	l.reference = [2]float64{force[1-right], force[right]}
	l.lone = [2]loneSample{newLoneSample(p, 1-right, right), newLoneSample(p, right, 1-right)}
	l.edge = tableStep * math.Ceil((math.Log(l.samples/(1-p.Optimizer.Momentum)/share)+1)/tableStep)
	for z := -l.edge; z <= l.edge+tableStep; z += tableStep {
		at(z)
		m.meanForce(force)
		l.table = append(l.table, force[right]-force[1-right])
	}
	return l
}

// meanForceAt returns the mean force on z.
func (l *landing) meanForceAt(z float64) float64 {
	x := (z + l.edge) / tableStep
	i := min(max(int(x), 0), len(l.table)-2)
	return l.table[i] + (x-float64(i))*(l.table[i+1]-l.table[i])
}

// kick returns the force on z by one sample of the rare arm whose advantage is at the given quantile.
func (l *landing) kick(z, quantile float64) float64 {
	side, sign := 0, 1.0
	if z < 0 {
		side, sign = 1, -1
	}
	force := 2 / l.samples * (l.KL.Coefficient*(l.reference[side]*(1+fp.MathExp(math.Abs(z)))-1) + l.lone[side].at(quantile))
	return -sign * max(min(force, l.limit), -l.limit)
}

// state is a run at one step.
type state struct{ t, z, velocity float64 }

func (l *landing) rate(t float64) float64 { return l.rates[min(int(t), len(l.rates)-1)] }

// step moves a run by one step under the given force.
func (l *landing) step(s *state, force float64) {
	s.z += l.rate(s.t) * (l.gain*force + l.carry*s.velocity)
	s.velocity = l.Optimizer.Momentum*s.velocity + force
	s.t++
}

// Limits of the tree of histories: the time of a kick splits a history of probability p into p·branches, at least one; kicks of one history, after which it
// counts as it is; and the coasting, in logits, that no longer matters.
const (
	branches     = 256
	maxStrata    = 16
	maxKicks     = 2000
	restingCoast = 1e-3
)

// follow adds the histories of a run of probability p from the state s: those in which the time of the next kick is in one of equally
// probable strata, and that without one. The place in the stratum is the next one of a sequence that fills it evenly.
func (l *landing) follow(s state, p float64, kicks int) {
	l.approach(&s)
	if s.t >= l.end || kicks == maxKicks {
		if s.z < 0 {
			l.lost += p
		}
		return
	}
	strata := min(max(math.Round(p*branches), 1), maxStrata)
	offset := l.next(math.Phi)
	each, next, met := p/strata, 0.0, 0.0 // met: the mean number of kicks so far
	due := func() float64 { return -math.Log1p(-(next + offset) / strata) }
	kicked := func(at state) {
		l.step(&at, l.kick(at.z, l.next(math.Sqrt2)))
		l.follow(at, each, kicks+1)
		next++
	}
	for next < strata && s.t < l.end {
		rate := l.samples / (1 + fp.MathExp(math.Abs(s.z)))
		if math.Abs(s.velocity)*l.rate(s.t)*l.carry > restingCoast*(1-l.Optimizer.Momentum) {
			for met += rate; next < strata && met >= due(); {
				kicked(s)
			}
			if next == strata {
				return
			}
			if l.step(&s, 0); !l.isFrozen(s.z) { // it crosses the middle again
				l.follow(s, p-each*next, kicks)
				return
			}
			continue
		}
		wait := max(due()-met, 0) / rate
		if s.t+wait >= l.end {
			break
		}
		met, s.t, s.velocity = due(), s.t+wait, 0
		kicked(s)
	}
	if s.z < 0 {
		l.lost += p - each*next
	}
}

// next returns the next point of a sequence that fills [0, 1) evenly.
func (l *landing) next(by float64) float64 {
	l.drawn++
	_, x := math.Modf(float64(l.drawn) * by)
	return x
}

func (l *landing) isFrozen(z float64) bool { return l.frozen(1/(1+fp.MathExp(math.Abs(z))), l.share) }

// approach moves a run by the mean force until it is frozen or the run ends. Where it comes to rest before it stays.
func (l *landing) approach(s *state) {
	for !l.isFrozen(s.z) && s.t < l.end {
		force, z := l.meanForceAt(s.z), s.z
		if l.step(s, force); math.Abs(s.z-z) < settled && math.Abs(force) < settled {
			s.t = l.end
		}
	}
}

// largestKick is the largest step of z by one sample of advantage 1, 2η/(GB(1−μ)), in logits, at which the share is predicted. Beyond it runs that
// have come back leave again by the noise of common samples, which the motion between kicks does not have (docs/theory-neglected.md §6.12).
const largestKick = 0.3

// hermite are nodes and weights of the mean over the standard normal law, exact for polynomials of degree 21.
var hermite = [...][2]float64{
	{-5.188001224374871, 8.121849790214966e-07}, {-3.936166607129977, 1.956719302712241e-04}, {-2.865123160643645, 6.720285235537270e-03},
	{-1.876035020154846, 6.613874607105787e-02}, {-0.928868997381064, 2.422402998739704e-01}, {0, 3.694083694083694e-01},
	{0.928868997381064, 2.422402998739704e-01}, {1.876035020154846, 6.613874607105787e-02}, {2.865123160643645, 6.720285235537270e-03},
	{3.936166607129977, 1.956719302712241e-04}, {5.188001224374871, 8.121849790214966e-07},
}

// kicked returns the share of runs of two arms from the logits init that kicks of k3 leave on the other arm than right after the given steps;
// ok is false where no arm freezes on the way. share is that of frozen.
func (p *Params) kicked(init []float64, right, steps int, share float64) (lost float64, ok bool) {
	all, within := climbs(*p, init, steps, share)
	rare := 1 - right
	if !all[rare].frozen {
		rare = right
	}
	h := all[rare]
	if !within || !h.frozen {
		return 0, false
	}
	sign := 1.0
	if rare == right {
		sign = -1
	}
	l := newLanding(p, right, steps, share)
	coast := coasting(&p.Optimizer, h.step)
	for _, node := range hermite {
		velocity := h.velocity + h.along*h.deviation*node[0]
		u := h.end + h.deviation*node[0] - coast*velocity
		l.follow(state{float64(h.step), sign * u, sign * velocity}, node[1], 0)
	}
	return l.lost, true
}
