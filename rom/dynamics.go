package rom

import (
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// maxClasses is the largest number of distinct arms whose linear dynamics is
// computed, maxListed that of the multipliers listed.
const (
	maxClasses = 64
	maxListed  = 64
)

// maxPeriod is the largest refresh interval that is followed step by step.
const maxPeriod = 10_000

// linearDynamics is the linear dynamics at a fixed point, taken apart: parts holds
// decoupled modes and relative motions; whole is the symmetric linearDynamics, which
// parts covers too unless coupled.
type linearDynamics struct {
	whole     *linear
	coupled   bool
	parts     []scalar // without multiplicity; the relative motions last
	copies    []int
	relatives int // how many of parts are relative motions
}

// roundedMixing is the part of Λ_f and Λ_s outside their common basis, relative
// to them, that is rounding of closed forms.
const roundedMixing = 1e-9

// newLinearDynamics returns the motion of r under an optimizer with the given method,
// rate and momentum; per arm the force is first multiplied by gain (Adam's
// preconditioner; nil: 1). nil where it is not finite.
func (l *linearization) newLinearDynamics(method Method, rate, momentum float64, gain []float64) *linearDynamics {
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
	m := &linearDynamics{whole: &linear{
		fresh: within(l.q, fresh), stale: within(l.q, stale), noise: within(l.q, noise),
		method: method, rate: rate, momentum: momentum, lag: l.Lag,
	}}
	if !m.finite() {
		return nil
	}
	mixing := roundedMixing
	if l.Measured != nil {
		mixing = measuredMixing
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
	return m
}

// relative returns the linear motion of relative i, with its noise.
func (m *linearDynamics) relative(r *linearization, i int) *linear {
	l := m.parts[len(m.parts)-m.relatives+i].linear()
	l.noise = single(r.relatives[i].noise)
	return l
}

// finite reports whether the stiffness and the noise are numbers.
func (m *linearDynamics) finite() bool {
	var total mat.Dense
	total.Add(m.whole.fresh, m.whole.stale)
	return finite(m.whole.fresh) && finite(m.whole.stale) && finite(&total) && finite(m.whole.noise)
}

// tooLarge says why the dynamics is not computed; "" where it is.
func (m *linearDynamics) tooLarge() string {
	n := m.whole.dim()
	if n+1 > maxClasses {
		return "more than 64 distinct arms"
	}
	if m.whole.lag.Kind == Delay && m.whole.lag.Age > maxCompanion/n-2 {
		return "the companion matrix of the delay is larger than 320"
	}
	if m.whole.lag.Kind == Block && m.whole.lag.Age > maxPeriod {
		for i := range m.parts {
			if s := &m.parts[i]; !s.frozen() && !s.current() {
				return "the refresh interval is longer than 10,000 steps and only part of the force is frozen"
			}
		}
	}
	return ""
}

// dynamics fills in everything about the motion but variances and thresholds.
func (m *linearDynamics) dynamics() Dynamics {
	d := Dynamics{Scope: Scope{In: true}}
	values := m.multipliers()
	if len(values) > 0 {
		largest := cmplx.Abs(values[0])
		d.SpectralRadius = &largest
		relaxation := -math.Log(largest)
		if m.whole.lag.Kind == Block {
			relaxation /= float64(m.whole.lag.Age)
		}
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

// multipliers returns the multipliers of all modes, sorted; nil where those of
// one are not known, without which the largest is not.
func (m *linearDynamics) multipliers() []complex128 {
	var values []complex128
	if m.coupled {
		if values = multipliers(m.whole.monodromy()); values == nil {
			return nil
		}
	}
	for i := range m.parts {
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

// onsetRate returns the smallest learning rate at which a mode rings.
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

// least returns the least threshold of the modes.
func (m *linearDynamics) least(ofWhole func(*linear) threshold, ofPart func(*scalar) threshold) threshold {
	least := never
	if m.coupled {
		least = ofWhole(m.whole)
	}
	for i := range m.parts {
		least = least.or(ofPart(&m.parts[i]))
	}
	return least
}

// multipliers returns the multipliers of one mode.
func (s *scalar) multipliers() []complex128 {
	if s.lag.Kind == Delay {
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
// multipliers of a period, sorted; it does not depend on the period's length
// unless a rotation by more than half a turn aliases. Of a complex pair
// −Re s/|s|; on-policy all pairs of a heavy ball have the modulus √μ, and the one
// that turns fastest, the stiffest mode's, is taken. ok is false where either is negative, where there is only one (a
// second below 1e-12 of it is rounding), and where one decays and the other does
// not.
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

// sortMultipliers puts the largest modulus first, of a conjugate pair the one
// with positive imaginary part.
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
