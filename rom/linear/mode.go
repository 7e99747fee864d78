package linear

import (
	"math"

	"grposim/fp"
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

// Closed forms of docs/theory.md §5 for one mode whose whole force is frozen at the snapshot;
// κ = ηλ, 0 ≤ μ < 1. A threshold is the smallest κ at which the mode is not asymptotically stable.
// An onset is the smallest κ at which the two dominant multipliers are a complex pair. Without
// momentum it is that at which the one dominant multiplier turns negative.

// blockSums holds sums over a block of K steps. Under a constant unit force a heavy
// ball with η = 1 that starts at rest ends the block with velocity s, displaced by a.
type blockSums struct {
	mu    float64 // μ
	s     float64 // Σ_{j<K} μ^j = (1−μ^K)/(1−μ)
	a     float64 // Σ_{i≤K} s_i = (K−μs)/(1−μ)
	power float64 // μ^K
	k     int     // K ≥ 0
}

// next returns the sums of a block longer by one step.
func (b blockSums) next() blockSums {
	b.k++
	b.s += b.power
	b.power *= b.mu
	b.a += b.s
	return b
}

// newBlockSums returns the sums of K = k steps, step by step up to 64 and by the
// closed forms beyond.
func newBlockSums(mu float64, k int) blockSums {
	if k <= 64 {
		b := blockSums{mu: mu, power: 1}
		for range k {
			b = b.next()
		}
		return b
	}
	power := fp.Pow(mu, float64(k))
	s := (1 - power) / (1 - mu)
	return blockSums{mu: mu, s: s, a: (float64(k) - mu*s) / (1 - mu), power: power, k: k}
}

// threshold returns κ*, the smaller of the flip and the Neimark–Sacker threshold:
//
//	flip 2(1+μ^K)/(c(1+μ^K) − νs²),  Neimark–Sacker (1−μ^K)/(νs² − μ^K c).
//
// The second counts only where it is positive. c = a, ν = μ for the heavy ball, and c = K + μa,
// ν = μ² for Nesterov. Both fall in K. The second is (1−μ)/(ν/(1−μ) − Kμ^K/(1−μ^K)), and Kp/(1−p)
// falls, p = μ^K. With x = μp and g(p) = (1−p)²/(1+p) the first is 2/(c − νg(p)/(1−μ)²). From K to
// K + 1 its denominator grows by
//
//	(1−x)/(1−μ) − μ(g(x) − g(p))/(1−μ)² ≥ (1−x)/(1−μ) (1 − x(3+x)/(1+x)²) > 0
//
// for the heavy ball, because g(x) − g(p) ≤ (p−x)|g′(x)|. For Nesterov it is 1 and μ times that.
func (b blockSums) threshold(method option.Method) float64 {
	c, nu := b.gains(method)
	flip := 2 * (1 + b.power) / (c*(1+b.power) - nu*b.s*b.s)
	if d := nu*b.s*b.s - b.power*c; d > 0 {
		return min(flip, (1-b.power)/d)
	}
	return flip
}

// onset returns κ_osc = ((√(Ks) − s√ν)/c)², c and ν as in threshold.
func (b blockSums) onset(method option.Method) float64 {
	c, nu := b.gains(method)
	r := (math.Sqrt(float64(b.k)*b.s) - b.s*math.Sqrt(nu)) / c
	return r * r
}

// gains returns c and ν of threshold.
func (b blockSums) gains(method option.Method) (c, nu float64) {
	if method == option.Nesterov {
		return float64(b.k) + b.mu*b.a, b.mu * b.mu
	}
	return b.a, b.mu
}

// FrozenBlock returns κ* (CriticalRate) or κ_osc (OnsetRate) of a block of k ≥ 1 steps, 0 ≤ μ < 1.
// On-policy they are 2(1+μ) and (1−√μ)² of the heavy ball. With Nesterov they are 2(1+μ)/(1+2μ) and
// ((1−μ)/(1+μ))². For μ = 0 they are 2/k and 1/k.
func FrozenBlock(of Event, method option.Method, mu float64, k int) float64 {
	if of == OnsetRate {
		return newBlockSums(mu, k).onset(method)
	}
	return newBlockSums(mu, k).threshold(method)
}

// DelayThreshold returns κ* of the heavy ball with the constant delay τ ≥ 0, 0 ≤ μ < 1. It is 2
// sin(w/2)√(1 − 2μcos w + μ²) at the smallest w > 0 with (τ+½)w + atan2(μ sin w, 1 − μcos w) = π/2.
// For τ = 0 it is 2(1+μ), for τ = 1 it is 1−μ.
func DelayThreshold(mu float64, tau int) float64 {
	if tau == 0 {
		return 2 * (1 + mu)
	}
	lag := float64(tau) + 0.5
	phase := func(w float64) float64 {
		return lag*w + math.Atan2(mu*math.Sin(w), 1-mu*math.Cos(w)) - math.Pi/2
	}
	w := Root(phase, 0, math.Pi/(2*lag), -math.Pi/2)
	return 2 * math.Sin(w/2) * math.Hypot(1-mu, 2*math.Sqrt(mu)*math.Sin(w/2))
}
