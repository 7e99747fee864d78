package linear

import (
	"cmp"
	"math"
	"math/cmplx"
	"slices"

	"grposim/rom/scope"

	"gonum.org/v1/gonum/mat"
)

// Of a linear dynamics: MaxClasses bounds the distinct arms, MaxListed the multipliers listed, and
// maxCompanion the companion matrix whose eigenvalues are computed.
const (
	MaxClasses   = 64
	MaxListed    = 64
	maxCompanion = 320
)

// Dynamics is the linear dynamics at a fixed point: that of the merged bandit, and independent
// modes.
type Dynamics struct {
	Whole     *System // of the merged bandit
	Mixed     bool    // the modes of Whole are not independent and not in Parts
	Parts     []Mode  // the modes of Whole unless they mix, then the relative modes
	Neutral   int     // number of directions left out of everything above but Parts, see leaveNeutral
	copies    []int   // multiplicity of each part
	relatives int     // number of relative modes in Parts
	rounding  float64 // stiffness of a part, or of a direction of Whole, up to which it is rounding
}

// Relative is a relative mode, a displacement of equal arms against each other.
type Relative struct {
	Fresh, Stale float64 // λ_f, λ_s
	Multiplicity int     // number of equal modes, ≥ 1
}

// Tolerance is what counts as rounding of a stiffness, or as an error of measurement. Mixing is the
// largest relative off-diagonal part of Λ_f and Λ_s in their common basis. Part is the ratio of the
// fresh and the stale part, or its inverse, at which the smaller is 0. Neutral is the stiffness of
// a neutral direction beside the stiffest one.
type Tolerance struct{ Mixing, Part, Neutral float64 }

// Rounded is the tolerance of closed forms.
var Rounded = Tolerance{Mixing: 1e-9, Neutral: Negligible}

// New returns the dynamics of a system and of relative modes with its optimizer and lag; nil where
// a matrix is not finite.
func New(whole *System, relatives []Relative, of Tolerance) *Dynamics {
	if !Finite(whole.Fresh) || !Finite(whole.Stale) || !Finite(Sum(whole.Fresh, whole.Stale)) ||
		!Finite(whole.Noise) {
		return nil
	}
	fresh, stale := Norm(whole.Fresh.RawMatrix().Data), Norm(whole.Stale.RawMatrix().Data)
	if fresh <= of.Part*stale {
		whole.Fresh.Zero()
	}
	if stale <= of.Part*fresh {
		whole.Stale.Zero()
	}
	parts, ok := whole.decouple(of.Mixing)
	m := &Dynamics{Whole: whole, Mixed: !ok, Parts: parts, relatives: len(relatives)}
	for i := range m.Parts {
		m.Parts[i].drop(of.Part)
		m.copies = append(m.copies, 1)
	}
	for _, x := range relatives {
		m.Parts = append(m.Parts, whole.Mode(x.Fresh, x.Stale))
		m.copies = append(m.copies, x.Multiplicity)
	}
	m.leaveNeutral(of.Neutral)
	return m
}

// drop sets a part of the stiffness to 0 that is at most the given ratio times the other.
func (m *Mode) drop(ratio float64) {
	if math.Abs(m.Fresh) <= ratio*math.Abs(m.Stale) {
		m.Fresh = 0
	}
	if math.Abs(m.Stale) <= ratio*math.Abs(m.Fresh) {
		m.Stale = 0
	}
}

// Relative returns the recursion of relative mode i, with a noise of the given variance.
func (m *Dynamics) Relative(i int, noise float64) *System {
	mode := m.Parts[len(m.Parts)-m.relatives+i].System()
	mode.Noise, mode.Samples = single(noise), m.Whole.Samples
	return mode
}

// TooLarge returns the reason why the dynamics is not computed, none where it is.
func (m *Dynamics) TooLarge() scope.Reason {
	n := m.Whole.Dim()
	if n+1 > MaxClasses {
		return scope.TooLarge.Because("more than 64 distinct arms")
	}
	return m.Whole.Lag.limit(n, slices.ContainsFunc(m.Parts, func(part Mode) bool { return !part.frozen() && !part.current() }))
}

// leaveNeutral counts the neutral directions: their stiffness beside the stiffest mode's is at most
// the given share, and so rounding. A displacement along one neither decays nor grows. Its
// multiplier is 1 up to rounding, which must not decide stability. Logits of arms that are almost
// never drawn are such, as beside two equally good arms far better than β. Of modes that mix,
// directions with Λ_f n = Λ_s n = 0 are projected out, since the others do not depend on them.
func (m *Dynamics) leaveNeutral(share float64) {
	stiffest := 0.0
	for i := range m.Parts {
		stiffest = max(stiffest, math.Abs(m.Parts[i].Fresh)+math.Abs(m.Parts[i].Stale))
	}
	var sizes []float64
	var axes *mat.Dense
	if m.Mixed {
		sizes, axes = m.Whole.Directions()
		stiffest = max(stiffest, sizes[0])
	}
	m.rounding = share * stiffest
	for i := range m.Parts {
		if m.IsNeutral(&m.Parts[i]) {
			m.Neutral += m.copies[i]
		}
	}
	if !m.Mixed {
		return
	}
	moved := 0
	for _, x := range sizes {
		if x > m.rounding {
			moved++
		}
	}
	n := m.Whole.Dim()
	m.Neutral += n - moved
	switch moved {
	case n:
	case 0:
		m.Mixed = false
	default:
		m.Whole = m.Whole.Within(axes.Slice(0, n, 0, moved).(*mat.Dense))
	}
}

// Directions returns the singular values of [Λ_f; Λ_s], the largest first, and the orthonormal
// directions of x that they belong to, the columns.
func (s *System) Directions() (sizes []float64, axes *mat.Dense) {
	var both mat.Dense
	both.Stack(s.Fresh, s.Stale)
	var of mat.SVD
	if !of.Factorize(&both, mat.SVDThin) {
		panic("linear: the singular values of a stiffness do not converge")
	}
	axes = new(mat.Dense)
	of.VTo(axes)
	return of.Values(nil), axes
}

// Within returns the system in the coordinates of the orthonormal columns of q alone.
func (s *System) Within(q *mat.Dense) *System {
	part := *s
	part.Fresh, part.Stale, part.Noise = Within(q, s.Fresh), Within(q, s.Stale), Within(q, s.Noise)
	return &part
}

// IsNeutral reports whether a part is a neutral direction, see leaveNeutral.
func (m *Dynamics) IsNeutral(part *Mode) bool { return math.Abs(part.Total()) <= m.rounding }

// Moving returns the parts that are not neutral.
func (m *Dynamics) Moving() (parts []Mode) {
	for i := range m.Parts {
		if !m.IsNeutral(&m.Parts[i]) {
			parts = append(parts, m.Parts[i])
		}
	}
	return parts
}

// Multipliers returns the multipliers of all modes that are not neutral, sorted by Sort. It is nil
// where those of one mode, and so the largest, are not known.
func (m *Dynamics) Multipliers() []complex128 {
	var values []complex128
	if m.Mixed {
		if values = Multipliers(m.Whole.Monodromy()); values == nil {
			return nil
		}
	}
	for i := range m.Parts {
		if m.IsNeutral(&m.Parts[i]) {
			continue
		}
		one := m.Parts[i].Lag.multipliers(&m.Parts[i])
		if one == nil {
			return nil
		}
		for range min(m.copies[i], MaxListed) {
			values = append(values, one...)
		}
	}
	Sort(values)
	return values
}

// Threshold returns the smallest threshold of an event of all modes that are not neutral.
func (m *Dynamics) Threshold(of Event) Threshold {
	return m.least(func(s *System) Threshold { return s.mixedThreshold(of) }, func(part *Mode) Threshold { return part.threshold(of) })
}

// MeanSquareRate returns the smallest learning rate at which the noise of random ages makes a
// variance grow without bound. It is unknown where ages make no noise and for modes that mix.
func (m *Dynamics) MeanSquareRate() Threshold {
	if m.Whole.AgeDraws == 0 || m.Mixed {
		return Threshold{}
	}
	return m.least(nil, (*Mode).meanSquareRate)
}

// Crossings returns the crossings of all modes with a delay or random ages, in order; nil where
// those of a mode are not known.
func (m *Dynamics) Crossings() (all []Crossing) {
	var systems []*System
	if m.Mixed {
		systems = append(systems, m.Whole)
	}
	for _, part := range m.Moving() {
		systems = append(systems, part.System())
	}
	for _, s := range systems {
		found := s.crossings()
		if found == nil {
			return nil
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b Crossing) int { return cmp.Compare(a.Rate, b.Rate) })
	return all
}

// StabilityMargin returns the logarithm of a learning rate over the nearest crossing that changes
// stability. It is negative where stable, and NaN where the crossings contradict each other.
func StabilityMargin(crossings []Crossing, rate float64) float64 {
	nearest, outside, beyond := math.Inf(1), 0, false
	for _, c := range crossings {
		before := outside
		if outside += c.Change; outside < 0 {
			return math.NaN()
		}
		if (before == 0) != (outside == 0) {
			nearest = min(nearest, math.Abs(math.Log(rate/c.Rate)))
		}
		if c.Rate <= rate {
			beyond = outside > 0
		}
	}
	if beyond {
		return nearest
	}
	return -nearest
}

// least returns the smallest threshold of all modes that are not neutral.
func (m *Dynamics) least(ofWhole func(*System) Threshold, ofPart func(*Mode) Threshold) Threshold {
	least := Never
	if m.Mixed {
		least = ofWhole(m.Whole)
	}
	parts := m.Moving()
	for i := range parts {
		least = least.Or(ofPart(&parts[i]))
	}
	return least
}

// DampingRatio returns ζ = −(s_1+s_2)/(2√(s_1s_2)), s = ln of the two largest multipliers of a
// period, sorted. It does not depend on the period's length unless a rotation by more than half a
// turn aliases. For a complex pair it is −Re s/|s|. On-policy all pairs of a heavy ball have the
// modulus √μ: the fastest rotation, that of the stiffest mode, counts. ok is false where either is
// negative, where only one decays, and where there is one (a second below 1e-12 of the first is
// rounding).
func DampingRatio(values []complex128) (ratio float64, ok bool) {
	if len(values) < 2 || values[0] == 0 {
		return 0, false
	}
	fastest := 0i
	for _, z := range values {
		if cmplx.Abs(z) >= (1-Rounded.Mixing)*cmplx.Abs(values[0]) && imag(z) != 0 && cmplx.Phase(z) > imag(fastest) {
			fastest = cmplx.Log(z)
		}
	}
	if fastest != 0 {
		return -real(fastest) / cmplx.Abs(fastest), true
	}
	first, second := real(values[0]), real(values[1])
	if imag(values[1]) != 0 || first <= 0 || second <= Negligible*first {
		return 0, false
	}
	a, b := math.Log(first), math.Log(second)
	if a*b <= 0 {
		return 0, false
	}
	return -(a + b) / (2 * math.Sqrt(a*b)), true
}

// Sort sorts multipliers by decreasing modulus, then by decreasing real part; of a
// conjugate pair the one with positive imaginary part comes first.
func Sort(values []complex128) {
	slices.SortStableFunc(values, func(a, b complex128) int {
		return cmp.Or(cmp.Compare(cmplx.Abs(b), cmplx.Abs(a)), cmp.Compare(real(b), real(a)),
			cmp.Compare(imag(b), imag(a)))
	})
}

// decouple returns the modes of s as independent recursions, where Λ_f and Λ_s are diagonal in one
// real basis (one is 0, or they commute). Otherwise ok is false. mixing is the largest relative
// off-diagonal entry that counts as rounding or noise.
func (s *System) decouple(mixing float64) (parts []Mode, ok bool) {
	n := s.Dim()
	_, right, left := Eigenvectors(Sum(s.Fresh, s.Stale))
	small := mixing * (Norm(s.Fresh.RawMatrix().Data) + Norm(s.Stale.RawMatrix().Data))
	for k := range n {
		scale := mat.Dot(left.ColView(k), right.ColView(k))
		for i := range n {
			left.Set(i, k, left.At(i, k)/scale)
		}
	}
	diagonal := func(m *mat.Dense) *mat.Dense {
		out := product(product(left.T(), m), right)
		for i := range n {
			for j := range n {
				if i != j && !(math.Abs(out.At(i, j)) <= small) {
					return nil
				}
			}
		}
		return out
	}
	fresh, stale := diagonal(s.Fresh), diagonal(s.Stale)
	if fresh == nil || stale == nil {
		return nil, false
	}
	for k := range n {
		parts = append(parts, s.Mode(fresh.At(k, k), stale.At(k, k)))
	}
	return parts, true
}

// mixedThreshold returns the threshold of modes that mix. On-policy only the total stiffness
// counts, whose modes do not mix. A search for a learning rate would end at a multiple of
// 1/max(|Λ_f|, |Λ_s|). The threshold lies above that where the two nearly cancel.
func (s *System) mixedThreshold(of Event) Threshold {
	if of != CriticalInterval && s.Lag.OnPolicy() {
		total := *s
		total.Fresh, total.Stale = Sum(s.Fresh, s.Stale), mat.NewDense(s.Dim(), s.Dim(), nil)
		if parts, ok := total.decouple(Rounded.Mixing); ok {
			least := Never
			for i := range parts {
				least = least.Or(parts[i].threshold(of))
			}
			return least
		}
	}
	return s.Lag.mixed(of, s)
}

// Mode returns the recursion of one mode under s's optimizer and lag.
func (s *System) Mode(fresh, stale float64) Mode { return Mode{fresh, stale, s.Update} }

// oscillates returns 1 where a slow multiplier is complex or negative, 0 where none is, and NaN
// where they are not known. whole has all multipliers of a period; a step inside a period counts
// too.
func (s *System) oscillates(whole []complex128) float64 {
	n, inside := s.Dim(), whole
	if s.Lag.Period() > 1 {
		a, _ := s.step()
		inside = Multipliers(mat.DenseCopyOf(a.Slice(0, 2*n, 0, 2*n)))
	}
	switch {
	case whole == nil || inside == nil:
		return math.NaN()
	case oscillates(whole, n) || oscillates(inside, n):
		return 1
	}
	return 0
}

// oscillates reports whether one of the slow multipliers, the n largest of n modes,
// is complex or negative. The others come from momentum, and a negative one of them
// does not make its mode oscillate. Moduli below 1e-6 and relative imaginary parts
// below 1e-6 are rounding of a zero or a double eigenvalue.
func oscillates(values []complex128, n int) bool {
	return slices.ContainsFunc(values[:min(n, len(values))], func(z complex128) bool {
		size := cmplx.Abs(z)
		return size > 1e-6 && (math.Abs(imag(z)) > 1e-6*size || real(z) < 0)
	})
}
