package rom

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"grposim/option"
	"grposim/fp"
	"grposim/rom/weight"
)

// jump is what an observable changes by where the weight of the samples of an arm with one sign of the advantage drops to 0.
type jump struct {
	arm     int
	band    weight.Band    // in which the weight is not 0
	dropped bool           // it is 0 at the state that is set
	change  func() float64 // of the observable by a weight of 0
}

// ratioLaw is the normal law of ln ρ of an arm.
type ratioLaw struct {
	at, deviation float64
	gradient      []float64 // of ln ρ by both policies in reduced coordinates
}

// ratioLaws returns those by arm of a normal law of both policies with the given covariance about now and old.
func ratioLaws(m *model, now, old []float64, cov [][]float64) []ratioLaw {
	m.now.set(now)
	m.past.set(old)
	laws, n := make([]ratioLaw, len(m.Arms)), len(m.Arms)-1
	if len(cov) < 2*n {
		return laws // one policy: no ratio differs from 1
	}
	q := basisOfArms(len(m.Arms))
	for a := range laws {
		gradient := make([]float64, 2*n)
		for k := range n { // of ln ρ_a = ln π_a − ln π_old,a
			gradient[k], gradient[n+k] = q.At(a, k), -q.At(a, k)
			for b := range m.Arms {
				gradient[k] -= m.now.probs[b] * q.At(b, k)
				gradient[n+k] += m.past.probs[b] * q.At(b, k)
			}
		}
		variance := 0.0
		for i, x := range gradient {
			variance += x * floats.Dot(cov[i], gradient)
		}
		laws[a] = ratioLaw{m.now.logs[a] - m.past.logs[a], math.Sqrt(max(variance, 0)), gradient}
	}
	return laws
}

// beyond returns the probability that ρ is beyond a bound if ln ρ is off by as much as given.
func (r ratioLaw) beyond(band weight.Band, off float64) float64 {
	tail := func(distance float64) float64 { // P(ln ρ is farther than a bound at this distance)
		if r.deviation == 0 {
			if distance < 0 {
				return 1
			}
			return 0
		}
		return 0.5 * fp.Erfc(distance/(r.deviation*math.Sqrt2))
	}
	at := r.at + off
	return tail(math.Log1p(band.Above)-at) + tail(at-math.Log(max(1-band.Below, 0)))
}

// slopes returns the first and the second derivative of the probability that ρ is beyond a bound by the mean of ln ρ.
func (r ratioLaw) slopes(band weight.Band) (first, second float64) {
	if r.deviation == 0 {
		return 0, 0
	}
	for i, bound := range []float64{math.Log1p(band.Above), math.Log(max(1-band.Below, 0))} {
		if math.IsInf(bound, 0) {
			continue
		}
		x := (bound - r.at) / r.deviation
		density := float64(1-2*i) * fp.MathExp(-x*x/2) / (r.deviation * math.Sqrt(2*math.Pi))
		first += density
		second += density * x / r.deviation
	}
	return first, second
}

// negligible is a share of runs whose jump is not computed.
const negligible = 1e-9

// holding keeps weights at 0 that are so in the middle, and returns a function that ends this.
func holding(m *model, at func(x []float64) (now, old []float64), middle []float64) (release func()) {
	m.set(at(middle))
	m.hold = m.bounded()
	return func() { m.hold = nil }
}

// cross adds to the mean of an observable over the law of the policies, with weights held as in the middle, the jumps in the share of the runs whose
// ratio is beyond a bound and is not so in the middle, or the other way round, and returns their variance. All jumps are computed in the middle.
func (s *shifted) cross(m *model, o *observable, at func(x []float64) (now, old []float64), middle []float64, laws []ratioLaw) (variance float64) {
	for _, law := range laws {
		s.ratios = append(s.ratios, law.at)
	}
	m.set(at(middle))
	for _, x := range o.law(m) {
		beyond, here := laws[x.arm].beyond(x.band, 0), 0.0
		if x.dropped {
			here = 1
		}
		if math.Abs(beyond-here) > negligible {
			by := x.change()
			s.shift += (beyond - here) * by
			variance += beyond * (1 - beyond) * by * by
		}
	}
	s.jumps = func(off []float64) (all float64) {
		if weight.Jumps(&m.Importance) {
			defer holding(m, at, middle)()
		}
		m.set(at(middle))
		for _, x := range o.law(m) {
			law, by := laws[x.arm], off[x.arm]
			here := law.beyond(x.band, 0)
			if part := max(math.Abs(law.beyond(x.band, by)-here), math.Abs(law.beyond(x.band, -by)-here)); part > negligible {
				all += part * math.Abs(x.change())
			}
		}
		return all
	}
	return variance
}

// ratios returns ln ρ by arm on the mean field.
func (f *followed) ratios(n int) []float64 {
	now, old := newPolicy(len(f.logits[n])), newPolicy(len(f.logits[n]))
	now.set(f.logits[n])
	old.set(f.drawing[n])
	floats.Sub(now.logs, old.logs)
	return now.logs
}

// ratiosOff returns by how much the mean of ln ρ of each arm may be off: as neglectedShift does of an observable, of the predicted
// law, that of strict second order (or of another quotient of Adam's) and others; +Inf where one of them is lost.
func ratiosOff(field []float64, by []shifted) []float64 {
	off, lost := make([]float64, len(field)), slices.ContainsFunc(by, func(s shifted) bool { return len(s.ratios) == 0 })
	for a := range off {
		if lost {
			off[a] = math.Inf(1)
			continue
		}
		here := by[0].ratios[a]
		off[a] = nextOrder*math.Abs(here-by[1].ratios[a]) + ofShift*math.Abs(here-field[a])
		for _, other := range by[2:] {
			off[a] += 2 * math.Abs(here-other.ratios[a])
		}
	}
	return off
}

// shares returns the jumps of the share of the samples with A ≠ 0 whose weight is 0. Rewards take two values and the baseline is about the group's mean, so that of the
// samples of a group with A ≠ 0 a share J(1 − J^{G−1})/(1 − Z) has A > 0 and the rest A < 0, Z the probability of equal rewards; π_old draws the
// arms. Of a step without such groups the share counts as 0. Of many prompts all are sums over them.
func shares(m *model) (jumps []jump) {
	if !weight.Jumps(&m.Importance) {
		return nil
	}
	all := eachSuccess(m)
	ups, downs, above, below := make([]float64, len(all)), make([]float64, len(all)), 0.0, 0.0
	for x, success := range all { // up and down: the share of the samples with A > 0 over J, and with A < 0 over 1 − J
		j, rest := 0.0, 0.0
		for a, old := range m.past.probs {
			j += old * success[a]
			rest += old * (1 - success[a])
		}
		ups[x], downs[x] = (1-fp.Pow(j, m.size-1))/float64(len(all)), (1-fp.Pow(rest, m.size-1))/float64(len(all))
		above += j * ups[x]
		below += rest * downs[x]
	}
	if above+below <= 0 {
		return nil
	}
	some := 1.0 / (above + below)
	if m.Filter != option.Redraw {
		some *= 1 - fp.Pow(max(1-above-below, 0), float64(m.GroupsPerStep))
	}
	for a, old := range m.past.probs {
		up, down, _ := weight.Bands(&m.Importance, old)
		risen, fallen := 0.0, 0.0
		for x, success := range all {
			risen += ups[x] * success[a]
			fallen += downs[x] * (1 - success[a])
		}
		for _, side := range []struct {
			band          weight.Band
			weight, share float64
		}{{up, m.Up[a], risen}, {down, m.Down[a], fallen}} {
			if !side.band.Held {
				jumps = append(jumps, jump{a, side.band, side.weight == 0, func() float64 { return old * side.share * some }})
			}
		}
	}
	return jumps
}

// droppedWeight is a weight that is ρ in a band and 0 elsewhere, of the samples of an arm with one sign of the advantage.
type droppedWeight struct {
	arm    int
	band   weight.Band
	weight *float64 // of the model
	ratio  float64  // at the state that is set
}

// droppedWeights returns those of a model.
func droppedWeights(m *model) (all []droppedWeight) {
	if !weight.Jumps(&m.Importance) {
		return nil
	}
	for a, old := range m.past.probs {
		up, down, _ := weight.Bands(&m.Importance, old)
		for _, w := range []droppedWeight{{a, up, &m.Up[a], m.now.probs[a] / old}, {a, down, &m.Down[a], m.now.probs[a] / old}} {
			if !w.band.Held && old > 0 {
				all = append(all, w)
			}
		}
	}
	return all
}

// change returns what numbers change by if the weight is 0 and not ρ.
func (w *droppedWeight) change(of func() []float64) (by []float64) {
	here := *w.weight
	*w.weight = 0
	by = slices.Clone(of())
	*w.weight = w.ratio
	floats.Sub(by, of())
	*w.weight = here
	return by
}

// cross adds to a mean force with weights held as at the middle of the law of the policies now and old, and to its slope, the jumps in the share of the
// runs whose ratio is beyond a bound and is not so in the middle, or the other way round. With the share s of the normal law of y = ln ρ, of
// variance σ², and the jump f of the force
//
//	E f·1 = s f,    slope s′f ∇y,    the rest of the variance (s(1 − s) − s′²σ²) f fᵀ
//
// is noise. The derivative of the force by the sums of kept groups jumps likewise.
func (s *spread) cross(l *localForce, now, old []float64, cov [][]float64) {
	laws := ratioLaws(s.model, now, old, cov)
	s.set(now, old)
	force := make([]float64, len(s.Arms))
	for _, w := range droppedWeights(s.model) {
		law := laws[w.arm]
		beyond := law.beyond(w.band, 0)
		more := beyond
		if *w.weight == 0 {
			more--
		}
		if max(math.Abs(more), beyond*(1-beyond)) <= negligible {
			continue
		}
		l.crossing = true
		slope, bend := law.slopes(w.band)
		by := w.change(func() []float64 { s.meanForce(force); return reduce(s.q, force) })
		for i, x := range by {
			l.offset[i] += more * x
			floats.AddScaled(l.slope[i], slope*x, law.gradient)
		}
		if s.kept > 0 {
			sums := w.change(func() []float64 { return slices.Concat(bySums(s.model, s.q)...) })
			l.tiltJump(law.gradient, sums, more, slope, bend)
			continue
		}
		rest := beyond*(1-beyond) - slope*slope*law.deviation*law.deviation
		jump := mat.NewVecDense(s.n, by)
		l.noise.RankOne(l.noise, rest, jump, jump)
	}
}
