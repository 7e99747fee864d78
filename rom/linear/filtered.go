package linear

import (
	"cmp"
	"math"
	"math/cmplx"
	"slices"

	"grposim/option"

	"gonum.org/v1/gonum/mat"
)

// filtered is a lag whose snapshot is a constant linear filter of the past, x_old = Σ p_j x_{t−j}.
type filtered interface {
	Lag
	// onCircle returns P(e^{−iw}) = Σ p_j e^{−ijw}, which multiplies the stale part of the force
	// at the multiplier e^{iw}.
	onCircle(w float64) complex128
	// onLine returns P(1/z) at the real multiplier z > 0.
	onLine(z float64) float64
	// resolution returns the number of steps of delay on which P turns as a function of the
	// angle of z.
	resolution() int
}

// everyStep has the methods that a delay and random ages share, since both store a policy at
// every step. It finds thresholds of the learning rate where multipliers reach the unit circle
// or two real ones meet. It has no interval; a lag that has one overrides Interval.
type everyStep struct{}

func (everyStep) Period() int                           { return 1 }
func (everyStep) Interval(Age, float64) (float64, bool) { return 0, false }
func (everyStep) source(k int) int                      { return k }
func (everyStep) next(k int) (keep, gain float64, from int) {
	if k == 0 {
		return 0, 1, 0
	}
	return 0, 1, 1 + k
}
func (everyStep) multipliers(m *Mode) []complex128 { return m.spectrum() }

func (everyStep) threshold(of Event, m *Mode) Threshold { return rateOf(of, m) }
func (everyStep) mixed(of Event, s *System) Threshold   { return rateOf(of, s) }

// rateOf returns the threshold of an event in the learning rate, of one mode or of several.
func rateOf(of Event, in interface {
	circleCrossing() Threshold
	lineEnd() Threshold
}) Threshold {
	switch of {
	case CriticalRate:
		return in.circleCrossing()
	case OnsetRate:
		return in.lineEnd()
	}
	return Threshold{}
}

// circleCrossing returns the smallest learning rate at which a multiplier reaches the unit circle,
// z = e^{iw}: there
//
//	η(λ_f + λ_s P(1/z)) = C(w) = −(z − (1+μ) + μ/z)/N(z).
//
// P(1/z) = z^{−τ} of a delay, Σ p_j z^{−j} of random ages. N = 1 (heavy ball) or (1+μ) − μ/z
// (Nesterov). So C times the conjugate of λ_f + λ_s P is real, and η is their ratio. A crossing
// always exists: the multipliers' sum, or with λ_f = 0 their product, grows without bound. If the
// scan finds none, the threshold is unknown.
func (m *Mode) circleCrossing() Threshold {
	l := m.Lag.(filtered)
	parts := func(w float64) (c, d complex128) {
		return m.drive(w), complex(m.Fresh, 0) + complex(m.Stale, 0)*l.onCircle(w)
	}
	turn := func(w float64) float64 {
		c, d := parts(w)
		return imag(c * cmplx.Conj(d))
	}
	best := math.Inf(1)
	consider := func(w float64) {
		c, d := parts(w)
		// Where d passes through 0 there is no rate, and the ratio is not real.
		ratio := c * cmplx.Conj(d)
		if real(ratio) > 0 && math.Abs(imag(ratio)) <= 1e-6*real(ratio) {
			best = min(best, real(ratio)/(real(d)*real(d)+imag(d)*imag(d)))
		}
	}
	consider(math.Pi) // both sides are real
	n := 64 + 32*l.resolution()
	step := math.Pi / (float64(n) + 0.5)
	before, value := step/2, turn(step/2)
	// A fresh part that pushes away, as of k1 in the loss, lets a slow pair cross at w ~ √ηλ.
	for w, slower := before, value; w*(1-m.Momentum) > 1e-8; {
		half, now := w/2, turn(w/2)
		if (now < 0) != (slower < 0) {
			consider(Root(turn, half, w, now))
		}
		w, slower = half, now
	}
	for i := 1; i < n; i++ {
		w := step * (float64(i) + 0.5)
		now := turn(w)
		if (now < 0) != (value < 0) {
			consider(Root(turn, before, w, value))
		}
		before, value = w, now
	}
	if math.IsInf(best, 1) {
		return Threshold{}
	}
	return KnownAt(best)
}

// drive returns C(w) of circleCrossing, 0 < w ≤ π.
func (m *Mode) drive(w float64) complex128 {
	z := cmplx.Rect(1, w)
	mu := complex(m.Momentum, 0)
	c := -(z - (1 + mu) + mu/z)
	if m.Method == option.Nesterov {
		c /= 1 + mu - mu/z
	}
	return c
}

// lineEnd is the onset of oscillation. It follows the real multiplier that starts from 1, at which
// η(z) = (1−z)(z−μ)/(z N(z)(λ_f + λ_s P(1/z))), P as in circleCrossing. At the first maximum of
// η(z) below z = 1 it meets another one and both leave the real line. Where the denominator
// vanishes first, the onset is where a complex multiplier overtakes the real one.
func (m *Mode) lineEnd() Threshold {
	l := m.Lag.(filtered)
	rate := func(z float64) float64 { return m.lineRate(z, m.Fresh+m.Stale*l.onLine(z)) }
	if top := firstMaximum(rate, m.Momentum); top.Known {
		return top
	}
	return m.overtaking()
}

// lineRate returns the η(z) of lineEnd for the stiffness d = λ_f + λ_s P(1/z); +Inf for d ≤ 0.
func (u *Update) lineRate(z, d float64) float64 {
	n := 1.0
	if u.Method == option.Nesterov {
		n = 1 + u.Momentum - u.Momentum/z
	}
	if d <= 0 {
		return math.Inf(1)
	}
	return (1 - z) * (z - u.Momentum) / (z * n * d)
}

// overtaking returns the first learning rate, up to the critical one, at which the dominant
// eigenvalue of the companion matrix is not a positive number. It takes about a hundred spectra, so
// the matrix may be a quarter of maxCompanion at most; beyond that the threshold is unknown.
func (m *Mode) overtaking() Threshold {
	if m.Lag.positions() > maxCompanion/4-2 {
		return Threshold{}
	}
	high := m.threshold(CriticalRate).At
	oscillates := func(rate float64) float64 {
		moved := *m
		moved.Rate = rate
		values := moved.spectrum()
		switch {
		case values == nil:
			return math.NaN()
		case imag(values[0]) != 0 || real(values[0]) < 0:
			return 2
		}
		return 0
	}
	return firstCrossing(oscillates, 1e-3*high, high, 64)
}

// Crossing is a learning rate at which multipliers of a delay cross the unit circle. It has the
// change in the number of multipliers outside as the rate grows.
type Crossing struct {
	Rate   float64
	Change int // ±1 at z = −1, ±2 for a conjugate pair
}

// circleCrossing is that of a Mode for modes that mix, even if stability returns
// above the threshold. It is 0 where an eigenvalue of Λ does not restore, and unknown where
// a spectrum is not known or there is no crossing.
func (s *System) circleCrossing() Threshold {
	crossings := s.crossings()
	if crossings == nil {
		return Threshold{}
	}
	return KnownAt(crossings[0].Rate)
}

// crossings returns all crossings in order. e^{iw} is a multiplier at the rate η where
// R(w) = C(w)/ν = η for an eigenvalue ν of Λ_f + Λ_s P(e^{−iw}). Every ν is followed through w from
// 0 to π, where a conjugate pair counts once. Between two values of R on either side of the real
// line there is a real one. There dz/dη = iz/(dR/dw): the multiplier leaves the unit circle where
// Im R rises. An eigenvalue of Λ that does not restore has the crossing 0. crossings returns nil
// where a spectrum is not known, where nothing crosses, and of a block.
func (s *System) crossings() []Crossing {
	l, ok := s.Lag.(filtered)
	if !ok {
		return nil
	}
	mode := s.Mode(0, 0)
	m := newComplexMatrix(s.Dim())
	spectrum := func(w float64) []complex128 {
		s.stiffnessOnCircle(m, l.onCircle(w))
		return m.eigenvalues()
	}
	last := spectrum(0)
	if last == nil {
		return nil
	}
	for _, v := range last {
		if real(v) <= 0 {
			return []Crossing{{0, 1}}
		}
	}
	var found []Crossing
	unknown := false
	steps := 64 + 32*l.resolution()
	step := math.Pi / float64(steps)
	for i := range steps {
		from, to := max(float64(i), 1e-6)*step, float64(i+1)*step // C(0) = 0 for every ν
		now := nearest(last, spectrum(to))
		if now == nil {
			return nil
		}
		for j := range now {
			a, b := mode.drive(from)/last[j], mode.drive(to)/now[j]
			change := 2
			if imag(a) >= 0 {
				change = -2
			}
			if i == steps-1 && math.Abs(imag(b)) <= 1e-9*math.Abs(real(b)) { // ν is real at w = π
				if real(b) > 0 {
					found = append(found, Crossing{real(b), change / 2})
				}
				continue
			}
			if (imag(a) < 0) == (imag(b) < 0) || max(real(a), real(b)) <= 0 {
				continue
			}
			at := func(w float64) complex128 {
				share := complex((w-from)/(to-from), 0)
				values := nearest([]complex128{(1-share)*last[j] + share*now[j]}, spectrum(w))
				if values == nil {
					unknown = true
					return cmplx.NaN()
				}
				return mode.drive(w) / values[0]
			}
			w := Root(func(w float64) float64 {
				rate := at(w)
				if math.Abs(imag(rate)) <= 1e-14*math.Abs(real(rate)) { // rounding
					return 0
				}
				return imag(rate)
			}, from, to, imag(a))
			// Where two ν were confused the imaginary part jumps over 0.
			if rate := at(w); real(rate) > 0 && math.Abs(imag(rate)) <= 1e-6*real(rate) {
				found = append(found, Crossing{real(rate), change})
			}
		}
		last = now
	}
	if unknown {
		return nil
	}
	slices.SortFunc(found, func(a, b Crossing) int { return cmp.Compare(a.Rate, b.Rate) })
	return found
}

// stiffnessOnCircle writes Λ_f + turn Λ_s, the stiffness at a multiplier e^{iw} with the factor
// turn of the stale part, into m.
func (s *System) stiffnessOnCircle(m complexMatrix, turn complex128) {
	for i, row := range m {
		for j := range row {
			row[j] = complex(s.Fresh.At(i, j), 0) + turn*complex(s.Stale.At(i, j), 0)
		}
	}
}

// nearest returns, for each entry of to in turn, the nearest of the values not yet
// used; nil where there are fewer values than entries.
func nearest(to, values []complex128) []complex128 {
	if len(values) < len(to) {
		return nil
	}
	left := slices.Clone(values)
	ordered := make([]complex128, len(to))
	for j, v := range to {
		closest := 0
		for k, x := range left {
			if cmplx.Abs(x-v) < cmplx.Abs(left[closest]-v) {
				closest = k
			}
		}
		ordered[j] = left[closest]
		left = slices.Delete(left, closest, closest+1)
	}
	return ordered
}

// lineEnd is the onset of oscillation of modes that mix, where two real multipliers meet: the first
// maximum of η_1(z) below z = 1. η_1 is the smallest rate for which z in (μ, 1) is a multiplier.
// Where none meet the onset is unknown.
func (s *System) lineEnd() Threshold {
	l := s.Lag.(filtered)
	n := s.Dim()
	rate := func(z float64) float64 {
		force := mat.NewDense(n, n, nil)
		force.Scale(l.onLine(z), s.Stale)
		force.Add(force, s.Fresh)
		values := Multipliers(force)
		if values == nil {
			return math.NaN()
		}
		stiffest := math.Inf(-1)
		for _, v := range values {
			stiffest = max(stiffest, real(v))
		}
		return s.lineRate(z, stiffest)
	}
	return firstMaximum(rate, s.Momentum)
}
