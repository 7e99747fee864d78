package linear

import (
	"fmt"
	"math"
	"math/cmplx"
	"sort"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/scope"
)

// delay is a constant delay of τ = steps ≥ 0: x_old = x_{t−τ}. The state has x_{t−1}, …, x_{t−τ}.
type delay struct {
	everyStep
	steps int
}

func (d delay) OnPolicy() bool                    { return d.steps == 0 }
func (d delay) Stored() (oldest int, p []float64) { return d.steps, nil }
func (d delay) Span() int                         { return d.steps }

func (d delay) Age(of Age) float64 {
	if of == SquareAge {
		return float64(d.steps) * float64(d.steps)
	}
	return float64(d.steps)
}

func (d delay) Interval(_ Age, age float64) (float64, bool) { return age, true }

func (d delay) positions() int { return d.steps }
func (d delay) weights() []float64 {
	at, _ := d.place()
	return oneOf(at, 2+d.steps)
}
func (d delay) place() (int, bool) {
	if d.steps == 0 {
		return 0, true
	}
	return 1 + d.steps, true
}
func (d delay) limit(n int, _ bool) scope.Reason {
	if d.steps > maxCompanion/n-2 {
		return scope.TooLarge.Because(fmt.Sprintf("a delay of more than %d steps with so many arms", maxCompanion/n-2))
	}
	return scope.Reason{}
}

// onCircle is of filtered: e^{−iτw}, and onLine z^{−τ}.
func (d delay) onCircle(w float64) complex128 { return cmplx.Rect(1, -float64(d.steps)*w) }
func (d delay) onLine(z float64) float64      { return fp.Pow(z, -float64(d.steps)) }
func (d delay) resolution() int               { return d.steps }

func (d delay) threshold(of Event, m *Mode) Threshold {
	switch {
	case of == CriticalInterval:
		return m.searchInterval(0, searchDelay)
	case of == CriticalRate && m.frozen() && m.Method == option.HeavyBall:
		return KnownAt(DelayThreshold(m.Momentum, d.steps) / m.Total())
	}
	return d.everyStep.threshold(of, m)
}

// maxDelay is the largest critical delay of one mode that is searched for where neither a
// closed form nor a bound applies.
const maxDelay = 512

// maxClosedDelay is the same where there is a closed form.
const maxClosedDelay = 1 << 20

// searchDelay searches up to maxDelay. It is never where delayIndependent.
func searchDelay(m *Mode) Threshold {
	if m.frozen() && m.Method == option.HeavyBall {
		kappa := m.Rate * m.Total()
		tau := 1 + sort.Search(maxClosedDelay, func(k int) bool { // the threshold falls in τ
			return kappa >= DelayThreshold(m.Momentum, 1+k)
		})
		if tau > maxClosedDelay {
			return UpTo(maxClosedDelay)
		}
		return KnownAt(float64(tau))
	}
	if m.delayIndependent() {
		return Never
	}
	for tau := m.sufficientAge(maxDelay + 1); tau <= maxDelay; tau++ {
		if !schurStable(m.delayPolynomial(tau)) {
			return KnownAt(float64(tau))
		}
	}
	return UpTo(maxDelay)
}

// delayIndependent reports whether no delay can move a multiplier through the unit circle. Then
// |C(w) − κ_f| = |κ_s| has no solution, κ_f = ηλ_f, κ_s = ηλ_s.
func (m *Mode) delayIndependent() bool {
	const points = 1024
	for i := range points + 1 {
		c := m.drive(math.Pi * float64(i) / points)
		if cmplx.Abs(c-complex(m.Rate*m.Fresh, 0)) <= 1.001*m.Rate*math.Abs(m.Stale) {
			return false
		}
	}
	return true
}

// delayPolynomial returns the coefficients, constant first, of the characteristic polynomial
// z^{τ+2} − (1+μ)z^{τ+1} + μz^τ + (κ_f z^τ + κ_s)(n_0 z + n_1), N(z) = n_0 + n_1/z.
func (m *Mode) delayPolynomial(tau int) []float64 {
	n0, n1 := 1.0, 0.0
	if m.Method == option.Nesterov {
		n0, n1 = 1+m.Momentum, -m.Momentum
	}
	p := make([]float64, tau+3)
	p[tau+2] = 1
	p[tau+1] += m.Rate*m.Fresh*n0 - (1 + m.Momentum)
	p[tau] += m.Momentum + m.Rate*m.Fresh*n1
	p[1] += m.Rate * m.Stale * n0
	p[0] += m.Rate * m.Stale * n1
	return p
}

// schurStable reports whether all zeros of the polynomial lie inside the unit circle (constant
// coefficient first). By the Schur–Cohn recursion |p_0| < |p_n|, and so for (p_n p(z) − p_0 z^n
// p(1/z))/z.
func schurStable(p []float64) bool {
	next := make([]float64, len(p))
	for len(p) > 1 {
		n := len(p) - 1
		k := p[0] / p[n]
		if !(math.Abs(k) < 1) {
			return false
		}
		next = next[:n]
		scale := 1 / (1 - k*k)
		for i := range next {
			next[i] = (p[i+1] - k*p[n-i-1]) * scale
		}
		p, next = next, p
	}
	return true
}

// maxMixedDelay is the largest critical delay that is searched for if modes mix and the companion
// matrix is at most half of maxCompanion. That many spectra take 0.2 s.
const maxMixedDelay = 50

func (d delay) mixed(of Event, s *System) Threshold {
	if of != CriticalInterval {
		return d.everyStep.mixed(of, s)
	}
	none := Threshold{}
	for tau := 0; tau <= maxMixedDelay && s.Dim()*(tau+2) <= maxCompanion/2; tau++ {
		if moved := s.at(s.Rate, delay{steps: tau}); !moved.delayStable() {
			switch r := Radius(moved.Monodromy()); {
			case math.IsNaN(r):
				return none
			case r >= 1:
				return KnownAt(float64(tau))
			}
		}
		none = UpTo(float64(tau))
	}
	return none
}

// delayStable reports whether all multipliers of a delay lie inside the unit circle, by the
// argument principle. They are the n(τ+2) zeros of z^{nτ} det D(z),
//
//	D(z) = z² − (1+μ)z + μ + ηN(z)(Λ_f + Λ_s z^{−τ}),  N = z, or (1+μ)z − μ with Nesterov.
//
// All lie inside if det D turns by 2nπ as z = e^{iw} moves from 1 to −1. Each zero outside takes at
// least π from that. Steps in w are small against the turns of z^{−τ} in n modes. They are halved
// until det D turns by less than a right angle. They begin small at 1 and double: four multipliers
// of slow modes near 1 could turn det D by 2π in one step. The answer may be a wrong false, never a
// wrong true. That happens near the circle, where two multipliers meet on it, or where det D
// overflows.
func (s *System) delayStable() bool {
	const closest = 1e-9
	n, lag := s.Dim(), s.Lag.(delay)
	m := newComplexMatrix(n)
	mu, advance := complex(s.Momentum, 0), 0i
	if s.Method == option.Nesterov {
		advance = mu
	}
	direction := func(w float64) complex128 {
		z := cmplx.Rect(1, w)
		gain := complex(s.Rate, 0) * (z + advance*(z-1))
		s.stiffnessOnCircle(m, lag.onCircle(w))
		for i, row := range m {
			for j := range row {
				row[j] *= gain
			}
			row[i] += (z - 1) * (z - mu)
		}
		return m.direction()
	}
	var turn func(from, to float64, before, after complex128) float64
	turn = func(from, to float64, before, after complex128) float64 {
		angle := cmplx.Phase(after * cmplx.Conj(before))
		if math.Abs(angle) < math.Pi/2 || math.IsNaN(angle) {
			return angle
		}
		if !(to-from > closest) {
			return math.NaN()
		}
		middle := (from + to) / 2
		between := direction(middle)
		angle = turn(from, middle, before, between)
		if !math.IsNaN(angle) {
			angle += turn(middle, to, between, after)
		}
		return angle
	}
	step, last, sum := math.Pi/float64(16+4*n*(lag.steps+2)), direction(0), 0.0
	for w := 0.0; w < math.Pi && !math.IsNaN(sum); {
		to := min(w+min(max(w, closest), step), math.Pi)
		now := direction(to)
		sum += turn(w, to, last, now)
		w, last = to, now
	}
	return math.Abs(sum-2*float64(n)*math.Pi) < 1
}
