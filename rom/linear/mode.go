package linear

import (
	"math"

	"grposim/option"
)

// Mode is the recursion of a single mode: a System with n = 1 and without noise. Its thresholds
// have closed forms or are zeros of functions of one variable.
type Mode struct {
	Fresh, Stale float64 // λ_f, λ_s
	Update
}

// Negligible is the share of a stiffness below which a part of it counts as rounding.
const Negligible = 1e-12

// Total returns λ = λ_f + λ_s.
func (m *Mode) Total() float64 { return m.Fresh + m.Stale }

// frozen reports whether the force depends on the snapshot alone, up to rounding.
func (m *Mode) frozen() bool {
	return math.Abs(m.Fresh) <= Negligible*math.Abs(m.Stale)
}

// current reports whether the force depends on the present position alone, up to rounding.
func (m *Mode) current() bool {
	return math.Abs(m.Stale) <= Negligible*math.Abs(m.Fresh) || m.Lag.OnPolicy()
}

// matrix2 is a 2×2 matrix by rows.
type matrix2 [4]float64

func (m matrix2) times(o matrix2) matrix2 {
	return matrix2{
		m[0]*o[0] + m[1]*o[2], m[0]*o[1] + m[1]*o[3],
		m[2]*o[0] + m[3]*o[2], m[2]*o[1] + m[3]*o[3],
	}
}

func (m matrix2) plus(o matrix2) matrix2 {
	return matrix2{m[0] + o[0], m[1] + o[1], m[2] + o[2], m[3] + o[3]}
}

// radius returns the spectral radius; +Inf where it is not finite.
func (m matrix2) radius() float64 {
	tr, det := m[0]+m[3], m[0]*m[3]-m[1]*m[2]
	disc := 0.25*tr*tr - det
	r := math.Sqrt(math.Abs(det))
	if disc >= 0 {
		r = 0.5*math.Abs(tr) + math.Sqrt(disc)
	}
	if math.IsNaN(r) {
		return math.Inf(1)
	}
	return r
}

// oscillates reports whether the dominant eigenvalue belongs to a complex pair or is negative.
func (m matrix2) oscillates() bool {
	tr, det := m[0]+m[3], m[0]*m[3]-m[1]*m[2]
	return 0.25*tr*tr < det || tr < 0
}

// eigenvalues returns both eigenvalues; nil where they are not finite.
func (m matrix2) eigenvalues() []complex128 {
	tr, det := m[0]+m[3], m[0]*m[3]-m[1]*m[2]
	disc := 0.25*tr*tr - det
	if !IsFinite(disc) {
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

// inner returns the step (x, ηv)′ = B (x, ηv) + b x_old at the given learning rate: B, and b as
// enter.
func (m *Mode) inner(rate float64) (step matrix2, enter [2]float64) {
	force, velocity := StepGains(m.Method, m.Momentum)
	f := rate * m.Fresh
	return matrix2{1 - force*f, velocity, -f, m.Momentum}, [2]float64{-force * rate * m.Stale, -rate * m.Stale}
}

// period returns the monodromy matrix of a block of k steps and its step B, by doubling. The
// snapshot is the last one: M = B^K + (Σ_{j<K} B^j) b e_1ᵀ.
func (m *Mode) period(k int, rate float64) (period, step matrix2) {
	step, enter := m.inner(rate)
	power, sum := step.powers(k)
	return closeBlock(power, sum, enter), step
}

// powers returns m^k and Σ_{j<k} m^j, k ≥ 1.
func (m matrix2) powers(k int) (power, sum matrix2) {
	power = matrix2{1, 0, 0, 1}
	factor, partial := m, power // m^{2^l}, Σ_{j<2^l} m^j
	for ; ; k >>= 1 {           // the binary digits of k from below
		if k&1 == 1 {
			sum = sum.plus(power.times(partial))
			power = power.times(factor)
		}
		if k <= 1 {
			return power, sum
		}
		partial = partial.plus(factor.times(partial))
		factor = factor.times(factor)
	}
}

// closeBlock returns power + sum b e_1ᵀ, b given as enter.
func closeBlock(power, sum matrix2, enter [2]float64) matrix2 {
	power[0] += sum[0]*enter[0] + sum[1]*enter[1]
	power[2] += sum[2]*enter[0] + sum[3]*enter[1]
	return power
}

// System returns the mode as a System of one coordinate, without noise.
func (m *Mode) System() *System {
	return &System{Fresh: single(m.Fresh), Stale: single(m.Stale), Noise: single(0), Update: m.Update}
}

// spectrum returns the multipliers from the monodromy matrix.
func (m *Mode) spectrum() []complex128 { return Multipliers(m.System().Monodromy()) }

// threshold returns that of an event.
func (m *Mode) threshold(of Event) Threshold {
	lambda := m.Total()
	switch {
	case of == CriticalInterval:
	case lambda <= 0 && of == OnsetRate:
		return Never
	case lambda <= 0:
		return KnownAt(0)
	case m.current():
		return KnownAt(FrozenBlock(of, m.Method, m.Momentum, 1) / lambda)
	}
	return m.Lag.threshold(of, m)
}

// searchInterval returns the critical interval, given the shortest and the search for longer ones.
// It searches where something is stale and the mode is stable on-policy.
func (m *Mode) searchInterval(shortest float64, longer func(*Mode) Threshold) Threshold {
	current := *m
	current.Lag = onPolicy
	switch {
	case m.Total() <= 0 || m.Rate >= current.threshold(CriticalRate).At:
		return KnownAt(shortest)
	case math.Abs(m.Stale) <= Negligible*math.Abs(m.Fresh):
		return Never
	}
	return longer(m)
}

// sufficientAge returns the age from 1 to end, with the heavy ball, up to which docs/theory.md §5
// guarantees stability for λ > 0. It is at least 1.
func (m *Mode) sufficientAge(end int) int {
	if m.Method != option.HeavyBall || m.Rate*(m.Fresh+math.Abs(m.Stale)) >= 2*(1+m.Momentum) {
		return 1
	}
	return max(1, int(min((1-m.Momentum)/(m.Rate*math.Abs(m.Stale)), float64(end))))
}
