package probe

import (
	"math"

	"grposim/fp"
	"grposim/option"
	"grposim/sim"
	"grposim/sim/measure"
)

// mapping is the shape of the linear map of deviations from one refresh instant to the next.
//
//	(x, v)_{n+1} = (x, v)_n + C (x_n, v_n, x_{n−past}) + innovation.
//
// x are the gaps of a deviation of the logits to the last arm, v those of the velocity. The
// innovation is independent of all that C multiplies. So sampled pairs determine C, of any number
// of arms and under any lag with one snapshot a step.
type mapping struct {
	gaps     int  // A − 1
	velocity bool // v counts
	snapshot bool // x_{n−past} counts beside x and v
	lastStep bool // x_{n−past} is the policy of the step before, which x and v give
	past     int  // periods
}

// newMapping returns the mapping of a cell whose lag is a block or a delay. Of a snapshot that
// is one step old x_{n−1} = x_n − ηv_n, but for Nesterov's method.
func newMapping(c *sim.Cell) mapping {
	o, past := &c.Optimizer, c.Lag.Behind
	if c.Lag.Kind == option.Delay {
		past = c.Lag.Interval
	}
	plain := o.Kind == option.HeavyBall || o.Kind == option.Nesterov && o.Momentum == 0
	lastStep := past == 1 && c.Lag.StepsPerSnapshot() == 1 && plain
	return mapping{
		gaps:     len(c.Init) - 1,
		velocity: !plain || o.Momentum > 0 || lastStep,
		snapshot: past > 0 && !lastStep,
		lastStep: lastStep,
		past:     past,
	}
}

// sizes returns the numbers of components that C takes and gives.
func (m *mapping) sizes() (from, to int) {
	from, to = m.gaps, m.gaps
	if m.velocity {
		from, to = 2*m.gaps, 2*m.gaps
	}
	if m.snapshot {
		from += m.gaps
	}
	return from, to
}

// starts returns the starts of pairs. For each arm its logit is displaced against all others by
// reach, and with momentum another has the velocity that carries it so far. Velocities that only
// follow from displacements are nearly parallel to them, which leaves much of C to noise.
func (m *mapping) starts(o *option.Optimizer, reach float64) []deviation {
	var all []deviation
	for a := range m.gaps + 1 {
		alone, rest := make([]float64, m.gaps+1), make([]float64, m.gaps+1)
		for b := range alone {
			alone[b] = -reach / float64(m.gaps)
		}
		alone[a] = reach
		all = append(all, deviation{alone, rest})
		if o.Kind == option.Adam || o.Momentum == 0 {
			continue
		}
		speed := make([]float64, m.gaps+1)
		for b, x := range alone {
			speed[b] = x * ((1 - o.Momentum) / float64(o.Momentum*o.LearningRate))
		}
		all = append(all, deviation{rest, speed})
	}
	return all
}

// state is a deviation as C takes it, with the snapshots that are still to come.
type state struct {
	mapping
	now  []float64   // x, v where it counts, and the snapshot where it counts
	next []float64   // y of a row
	old  [][]float64 // x at the last instants, of instant n in slot n mod past
}

func newState(m mapping) *state {
	from, to := m.sizes()
	s := &state{mapping: m, now: make([]float64, from), next: make([]float64, to)}
	if m.snapshot {
		s.old = make([][]float64, m.past)
		for i := range s.old {
			s.old[i] = make([]float64, m.gaps)
		}
	}
	return s
}

// turn sets the snapshot of instant n, x_{n−past} or x_0 before, and keeps x_n.
func (s *state) turn(n int) {
	if !s.snapshot {
		return
	}
	x, slot := s.now[:s.gaps], s.old[n%s.past]
	if n == 0 {
		for _, old := range s.old {
			copy(old, x)
		}
	}
	copy(s.now[len(s.next):], slot)
	copy(slot, x)
}

// mapPeriods is the number of periods for which a fitted map is iterated. The growth is taken over
// the last two quarters, when all modes with moduli less by more than 1e-3 have died. The phase of
// a rotation is worth less than 1e-4 of the growth of a period.
const mapPeriods = 1 << 14

// growth returns ln of the factor by which deviations grow in a period under C, in the long run;
// NaN where C is not determined.
func (m *mapping) growth(c [][]float64, ok bool) float64 {
	if !ok {
		return math.NaN()
	}
	s := newState(*m)
	for a := range s.gaps {
		s.now[a] = 1 / float64(a+1)
	}
	grown := [2]float64{} // Σ ln of the norm over two quarters
	scale := 0.0          // ln of what is divided out
	for n := range mapPeriods {
		s.turn(n)
		square := 0.0
		for i, row := range c {
			y := s.now[i]
			for k, x := range s.now {
				y += float64(row[k] * x)
			}
			s.next[i] = y
			square += float64(y * y)
		}
		copy(s.now, s.next)
		if norm := math.Sqrt(square); norm > 0x1p100 || norm < 0x1p-100 {
			if !(norm > 0) || math.IsInf(norm, 1) {
				return math.Inf(int(math.Copysign(1, norm-1)))
			}
			s.scale(1 / norm)
			scale += fp.Log(norm)
			square = 1
		}
		if quarter := 4*n/mapPeriods - 2; quarter >= 0 {
			grown[quarter] += scale + float64(fp.Log(square)/2)
		}
	}
	const quarter = mapPeriods / 4
	return (grown[1] - grown[0]) / (quarter * quarter)
}

// scale multiplies the state by a factor.
func (s *state) scale(factor float64) {
	for i := range s.now {
		s.now[i] *= factor
	}
	for _, old := range s.old {
		for i := range old {
			old[i] *= factor
		}
	}
}

// A pair is followed for mappedPeriods refresh periods, and as many again for each period that its
// snapshots are behind. Its norm must stay below mappedGrowth times that of a displaced logit. More
// tells no more, since every period is a row of the fit. But noise moves the middle of the pair off
// the fixed point, where the force is less stiff. With 32 periods thresholds were up to 1.5 times
// too large, with 4 they are right to 2 %. Cubic terms move them by about half of the square of the
// offset, in logits.
const (
	mappedPeriods = 4
	mappedGrowth  = 1.5
)

// mapFits returns fits of C, without data, to bins of pairs. Deviations are followed up to a norm.
func mapFits(m mapping, bins int, limit float64) (fits []pairFit, maps []*measure.LinearMap) {
	for range bins {
		fit := measure.NewLinearMap(m.sizes())
		maps = append(maps, fit)
		follow := func() follower { return m.follow(fit, limit) }
		fits = append(fits, pairFit{follow, &fit.Innovations})
	}
	return fits, maps
}

// follow adds the deviations of one pair to a fit of C, up to the norm limit.
func (m mapping) follow(fit *measure.LinearMap, limit float64) follower {
	s := newState(m)
	set := func(x []float64, of []float64) {
		for a := range x {
			x[a] = of[a] - of[m.gaps]
		}
	}
	return func(period int, d deviation) (more bool) {
		set(s.next[:m.gaps], d.logits)
		if m.velocity {
			set(s.next[m.gaps:], d.velocity)
		}
		if period > 0 {
			for i, x := range s.now[:len(s.next)] {
				s.next[i] -= x
			}
			if period > 1 || !m.lastStep {
				fit.Add(s.now, s.next)
			}
			for i, move := range s.next {
				s.now[i] += move
			}
		} else {
			copy(s.now, s.next)
		}
		s.turn(period)
		return d.norm() <= limit
	}
}
