package rom

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"

	"grposim/option"

	"gonum.org/v1/gonum/mat"
)

// maxClasses is the largest number of distinct arms whose linear dynamics is
// computed, maxListed the largest number of multipliers listed.
const (
	maxClasses = 64
	maxListed  = 64
)

// maxPeriod is the largest refresh interval that is computed step by step.
const maxPeriod = 10_000

// maxOlderBlock is the largest refresh interval at which a threshold is searched for where
// the snapshot is older than a block.
const maxOlderBlock = 512

// linearDynamics is the linear dynamics at a fixed point. whole is that of the merged
// bandit. parts holds independent scalar recursions: the modes of whole, unless
// they are coupled, and the relative modes.
type linearDynamics struct {
	whole     *linear
	coupled   bool     // the modes of whole are not independent and not in parts
	parts     []scalar // the relative modes last
	copies    []int    // multiplicity of each part
	relatives int      // number of relative modes in parts
	neutral   int      // number of directions left out of everything above but parts, see leaveNeutral
	rounding  float64  // stiffness of a part, or of a direction of whole, up to which it is rounding

	gain []float64 // multiplies the force of each arm; nil: 1
}

// roundedMixing is the largest off-diagonal part of Λ_f and Λ_s in their common
// basis, relative to them, that counts as rounding of closed forms.
const roundedMixing = 1e-9

// newLinearDynamics returns the linear dynamics under an optimizer with the given
// method, rate and momentum. gain, one entry per arm, multiplies the force (Adam's
// preconditioner; nil: 1). It returns nil where a matrix is not finite.
func (l *linearization) newLinearDynamics(method option.Method, rate, momentum float64, gain []float64) *linearDynamics {
	fresh, stale, noise := l.fresh, l.stale, l.noise
	if gain != nil {
		p := mat.NewDiagDense(len(gain), gain)
		var f, s, half, n mat.Dense
		f.Mul(p, fresh)
		s.Mul(p, stale)
		half.Mul(p, noise)
		n.Mul(&half, p)
		fresh, stale, noise = &f, &s, &n
	}
	m := &linearDynamics{gain: gain, whole: &linear{
		fresh: within(l.q, fresh), stale: within(l.q, stale), noise: within(l.q, noise),
		method: method, rate: rate, momentum: momentum, lag: l.Lag, ageDraws: l.ageDraws(&l.Lag), samples: l.Samples,
	}}
	if !m.finite() {
		return nil
	}
	mixing, share := roundedMixing, negligible
	if l.Measured != nil {
		mixing, share = measuredMixing, unmeasurable
		m.whole.dropUnmeasurable()
	}
	parts, ok := m.whole.decouple(mixing)
	m.parts, m.coupled = parts, !ok
	if l.Measured != nil {
		for i := range m.parts {
			m.parts[i].dropUnmeasurable()
		}
	}
	for range m.parts {
		m.copies = append(m.copies, 1)
	}
	for _, x := range l.relatives {
		m.parts = append(m.parts, m.whole.scalar(x.fresh, x.stale))
		m.copies = append(m.copies, x.multiplicity)
		m.relatives++
	}
	m.leaveNeutral(share)
	return m
}

// leaveNeutral counts the neutral directions: those whose stiffness, beside that of the
// stiffest mode, is at most the given share, and so rounding. A displacement along one stays, neither
// decays nor grows: its multiplier is 1, whose rounding says nothing. Such are the logits of arms that are almost
// never drawn, as beside two equally good arms whose common reward exceeds the others' by far
// more than β. Of modes that are coupled the directions that neither Λ_f nor Λ_s moves are projected out:
// with Λ_f n = Λ_s n = 0 the other directions do not depend on n.
func (m *linearDynamics) leaveNeutral(share float64) {
	stiffest := 0.0
	for i := range m.parts {
		stiffest = max(stiffest, math.Abs(m.parts[i].fresh)+math.Abs(m.parts[i].stale))
	}
	var moving mat.SVD
	if m.coupled {
		var both mat.Dense
		both.Stack(m.whole.fresh, m.whole.stale)
		if !moving.Factorize(&both, mat.SVDThin) {
			panic("rom: the singular values of a stiffness do not converge")
		}
		stiffest = max(stiffest, moving.Values(nil)[0])
	}
	m.rounding = share * stiffest
	for i := range m.parts {
		if m.isNeutral(&m.parts[i]) {
			m.neutral += m.copies[i]
		}
	}
	if !m.coupled {
		return
	}
	moved := 0
	for _, x := range moving.Values(nil) {
		if x > m.rounding {
			moved++
		}
	}
	n := m.whole.dim()
	m.neutral += n - moved
	switch moved {
	case n:
	case 0:
		m.coupled = false
	default:
		var v mat.Dense
		moving.VTo(&v)
		kept, whole := v.Slice(0, n, 0, moved).(*mat.Dense), *m.whole
		whole.fresh, whole.stale, whole.noise = within(kept, whole.fresh), within(kept, whole.stale), within(kept, whole.noise)
		m.whole = &whole
	}
}

// isNeutral reports whether a part is a neutral direction, see leaveNeutral.
func (m *linearDynamics) isNeutral(part *scalar) bool { return math.Abs(part.total()) <= m.rounding }

// moving returns the parts that are not neutral.
func (m *linearDynamics) moving() (parts []scalar) {
	for i := range m.parts {
		if !m.isNeutral(&m.parts[i]) {
			parts = append(parts, m.parts[i])
		}
	}
	return parts
}

// relative returns the linear recursion of relative mode i of l, with its noise.
func (m *linearDynamics) relative(l *linearization, i int) *linear {
	mode := m.parts[len(m.parts)-m.relatives+i].linear()
	mode.noise, mode.samples = single(l.relatives[i].noise), l.Samples
	return mode
}

// finite reports whether the stiffness and the noise are finite.
func (m *linearDynamics) finite() bool {
	var total mat.Dense
	total.Add(m.whole.fresh, m.whole.stale)
	return finite(m.whole.fresh) && finite(m.whole.stale) && finite(&total) && finite(m.whole.noise)
}

// tooLarge returns the reason why the dynamics is not computed, "" where it is.
func (m *linearDynamics) tooLarge() string {
	n := m.whole.dim()
	if n+1 > maxClasses {
		return "more than 64 distinct arms"
	}
	if m.whole.lag.Kind == option.Delay && m.whole.lag.Interval > maxCompanion/n-2 {
		return "the companion matrix of the delay is larger than 320"
	}
	if !staleness(m.whole.lag).plainBlock() && m.whole.memory() > maxCompanion/n-2 {
		return "the matrix of the past policies is larger than 320"
	}
	if m.whole.lag.Kind == option.Block && m.whole.lag.Behind > 0 && m.whole.lag.Interval > maxOlderBlock {
		return fmt.Sprintf("the refresh interval is longer than %d steps and the snapshot older than a block", maxOlderBlock)
	}
	if m.whole.lag.Kind == option.Block && m.whole.lag.Interval > maxPeriod {
		for i := range m.parts {
			if s := &m.parts[i]; !s.frozen() && !s.current() {
				return "the refresh interval is longer than 10,000 steps and only part of the force is frozen"
			}
		}
	}
	return ""
}

// dynamics returns the dynamics without its variances and thresholds.
func (m *linearDynamics) dynamics() Dynamics {
	d := Dynamics{Scope: Scope{In: true}, Neutral: m.neutral}
	values := m.multipliers()
	if len(values) > 0 {
		largest := cmplx.Abs(values[0])
		d.SpectralRadius = &largest
		relaxation := -math.Log(largest) / float64(m.whole.period())
		d.RelaxationRate = &relaxation
		if ratio, ok := dampingRatio(values); ok {
			d.DampingRatio = &ratio
		}
	}
	for _, z := range values[:min(len(values), maxListed)] {
		d.Multipliers = append(d.Multipliers, [2]float64{real(z), imag(z)})
	}
	return d
}

// multipliers returns the multipliers of all modes that are not neutral, sorted by sortMultipliers;
// nil where those of one mode are not known, because the largest is then not known.
func (m *linearDynamics) multipliers() []complex128 {
	var values []complex128
	if m.coupled {
		if values = multipliers(m.whole.monodromy()); values == nil {
			return nil
		}
	}
	for i := range m.parts {
		if m.isNeutral(&m.parts[i]) {
			continue
		}
		one := m.parts[i].multipliers()
		if one == nil {
			return nil
		}
		for range min(m.copies[i], maxListed) {
			values = append(values, one...)
		}
	}
	sortMultipliers(values)
	return values
}

// onsetRate returns the smallest learning rate at which a mode oscillates.
func (m *linearDynamics) onsetRate() threshold {
	return m.least((*linear).onsetRate, (*scalar).onsetRate)
}

// criticalRate returns the smallest learning rate at which a mode is not stable.
func (m *linearDynamics) criticalRate() threshold {
	return m.least((*linear).criticalRate, (*scalar).criticalRate)
}

// criticalInterval returns the smallest refresh interval at which a mode is not
// stable.
func (m *linearDynamics) criticalInterval() threshold {
	return m.least((*linear).criticalInterval, (*scalar).criticalInterval)
}

// crossings returns the crossings of all modes with a delay, in order; nil where those of
// a mode are not known.
func (m *linearDynamics) crossings() []crossing {
	var all []crossing
	known := true
	m.least(func(l *linear) threshold {
		found := l.crossings()
		all, known = append(all, found...), known && found != nil
		return never
	}, func(s *scalar) threshold {
		found := s.linear().crossings()
		all, known = append(all, found...), known && found != nil
		return never
	})
	if !known {
		return nil
	}
	slices.SortFunc(all, func(a, b crossing) int { return compare(a.rate, b.rate) })
	return all
}

// stabilityMargin returns the logarithm of a learning rate over that at which stability
// changes next to it, given all crossings: negative where stable, positive where not. It
// is NaN where the crossings contradict each other.
func stabilityMargin(crossings []crossing, rate float64) float64 {
	nearest, outside, beyond := math.Inf(1), 0, false
	for _, c := range crossings {
		before := outside
		if outside += c.change; outside < 0 {
			return math.NaN()
		}
		if (before == 0) != (outside == 0) {
			nearest = min(nearest, math.Abs(math.Log(rate/c.rate)))
		}
		if c.rate <= rate {
			beyond = outside > 0
		}
	}
	if beyond {
		return nearest
	}
	return -nearest
}

// least returns the smallest threshold of all modes; one that is neutral has none.
func (m *linearDynamics) least(ofWhole func(*linear) threshold, ofPart func(*scalar) threshold) threshold {
	least := never
	if m.coupled {
		least = ofWhole(m.whole)
	}
	parts := m.moving()
	for i := range parts {
		least = least.or(ofPart(&parts[i]))
	}
	return least
}

// multipliers returns the multipliers of one mode; nil where they are not finite.
func (s *scalar) multipliers() []complex128 {
	if !staleness(s.lag).plainBlock() {
		return multipliers(s.linear().monodromy())
	}
	m, _ := s.monodromy(s.rate)
	tr, det := m[0]+m[3], m[0]*m[3]-m[1]*m[2]
	disc := 0.25*tr*tr - det
	if math.IsNaN(disc) || math.IsInf(disc, 0) {
		return nil
	}
	if disc < 0 {
		return []complex128{complex(tr/2, math.Sqrt(-disc)), complex(tr/2, -math.Sqrt(-disc))}
	}
	large := tr/2 + math.Copysign(math.Sqrt(disc), tr)
	small := 0.0
	if large != 0 {
		small = det / large
	}
	return []complex128{complex(large, 0), complex(small, 0)}
}

// dampingRatio returns ζ = −(s_1+s_2)/(2√(s_1s_2)), s = ln of the two largest
// multipliers of a period, sorted. It does not depend on the period's length
// unless a rotation by more than half a turn aliases. For a complex pair it is
// −Re s/|s|; on-policy all pairs of a heavy ball have the modulus √μ, and the pair
// that rotates fastest, the stiffest mode's, counts. ok is false where either is
// negative, where there is only one (a second below 1e-12 of the first is
// rounding), and where one decays and the other does not.
func dampingRatio(values []complex128) (ratio float64, ok bool) {
	if len(values) < 2 || values[0] == 0 {
		return 0, false
	}
	fastest := 0i
	for _, z := range values {
		if cmplx.Abs(z) >= (1-roundedMixing)*cmplx.Abs(values[0]) && imag(z) != 0 && cmplx.Phase(z) > imag(fastest) {
			fastest = cmplx.Log(z)
		}
	}
	if fastest != 0 {
		return -real(fastest) / cmplx.Abs(fastest), true
	}
	first, second := real(values[0]), real(values[1])
	if imag(values[1]) != 0 || first <= 0 || second <= negligible*first {
		return 0, false
	}
	a, b := math.Log(first), math.Log(second)
	if a*b <= 0 {
		return 0, false
	}
	return -(a + b) / (2 * math.Sqrt(a*b)), true
}

// sortMultipliers sorts by decreasing modulus, then by decreasing real part; of a
// conjugate pair the one with positive imaginary part comes first.
func sortMultipliers(values []complex128) {
	slices.SortStableFunc(values, func(a, b complex128) int {
		if c := compare(cmplx.Abs(b), cmplx.Abs(a)); c != 0 {
			return c
		}
		if c := compare(real(b), real(a)); c != 0 {
			return c
		}
		return compare(imag(b), imag(a))
	})
}
