package rom

import (
	"math"
	"math/cmplx"

	"grposim/option"
)

// scalar is the linear recursion of a single mode: linear with n = 1 and without
// noise, for which thresholds have closed forms or are zeros of functions of one
// variable.
type scalar struct {
	fresh, stale float64       // λ_f, λ_s
	method       option.Method // heavy ball or Nesterov
	rate         float64       // η > 0
	momentum     float64       // μ within [0, 1)
	lag          option.Lag
	ageDraws     int // independent ages of a step, see Params.ageDraws
}

// negligible is the share of a stiffness below which a part of it counts as rounding.
const negligible = 1e-12

// total returns λ = λ_f + λ_s.
func (s *scalar) total() float64 { return s.fresh + s.stale }

// frozen reports whether the force depends on the snapshot alone, up to rounding.
func (s *scalar) frozen() bool {
	return math.Abs(s.fresh) <= negligible*math.Abs(s.stale)
}

// current reports whether the force depends on the present position alone, up to
// rounding.
func (s *scalar) current() bool {
	return math.Abs(s.stale) <= negligible*math.Abs(s.fresh) || staleness(s.lag).onPolicy()
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

// oscillates reports whether the dominant eigenvalue belongs to a complex pair or is
// negative.
func (m matrix2) oscillates() bool {
	tr, det := m[0]+m[3], m[0]*m[3]-m[1]*m[2]
	return 0.25*tr*tr < det || tr < 0
}

// inner returns the step (x, ηv)′ = B (x, ηv) + b x_old inside a block at the given
// learning rate: B, and b as enter.
func (s *scalar) inner(rate float64) (b matrix2, enter [2]float64) {
	force, velocity := 1.0, s.momentum
	if s.method == option.Nesterov {
		force, velocity = 1+s.momentum, s.momentum*s.momentum
	}
	f := rate * s.fresh
	return matrix2{1 - force*f, velocity, -f, s.momentum}, [2]float64{-force * rate * s.stale, -rate * s.stale}
}

// monodromy returns the monodromy matrix of a block,
// M = B^K + (Σ_{j<K} B^j) b e_1ᵀ, at the given learning rate, by doubling; and B.
func (s *scalar) monodromy(rate float64) (m, b matrix2) {
	b, enter := s.inner(rate)
	power, sum := b.powers(s.lag.Interval)
	return closeBlock(power, sum, enter), b
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

// criticalRate returns the smallest learning rate at which the mode is not
// stable: 0 for λ ≤ 0. For a block with only part of the force frozen the search
// ends at 10(1+μ)/max(|λ_f|, |λ_s|); everything else has closed forms, or all
// crossings of the unit circle are found.
func (s *scalar) criticalRate() threshold {
	lambda := s.total()
	switch {
	case lambda <= 0:
		return first(0)
	case s.current():
		return first(newBlockSums(s.momentum, 1).threshold(s.method) / lambda)
	case staleness(s.lag).plainBlock() && s.frozen():
		return first(newBlockSums(s.momentum, s.lag.Interval).threshold(s.method) / lambda)
	case s.lag.Kind == option.Block && s.lag.Behind > 0:
		return s.firstRate(func(rate float64) float64 {
			moved := *s
			moved.rate = rate
			return radius(moved.linear().monodromy())
		})
	case s.lag.Kind == option.Block:
		return s.firstRate(func(rate float64) float64 {
			m, _ := s.monodromy(rate)
			return m.radius()
		})
	case s.lag.Kind == option.Delay && s.frozen() && s.method == option.HeavyBall:
		return first(DelayThreshold(s.momentum, s.lag.Interval) / lambda)
	}
	return s.delayCrossing()
}

// firstRate scans the learning rate from half the sufficient bound of
// docs/theory.md §5 (over 1+2μ with Nesterov, by whose gain it can be short)
// to 10(1+μ)/max(|λ_f|, |λ_s|) and returns the first zero of f − 1. The inner
// map rotates by about √(ηλ_f) per step, so a grid uniform in √η with 48 points per
// step of the block resolves every window.
func (s *scalar) firstRate(f func(rate float64) float64) threshold {
	low := 0.5 * s.sufficientRate()
	if s.method == option.Nesterov {
		low /= 1 + 2*s.momentum
	}
	high := 10 * (1 + s.momentum) / max(math.Abs(s.fresh), math.Abs(s.stale))
	return firstCrossing(f, low, high, 200+48*s.lag.Interval*(1+s.lag.Behind))
}

// sufficientRate returns the learning rate below which docs/theory.md §5
// guarantees stability for λ > 0, unless ages are random: η|λ_s|K ≤ 1−μ and
// η(λ_f+|λ_s|) < 2(1+μ), with (1+d)K for K where the snapshot is d blocks older.
func (s *scalar) sufficientRate() float64 {
	stale := math.Abs(s.stale)
	rate := 2 * (1 + s.momentum) / (s.fresh + stale)
	age := float64(s.lag.Interval)
	if s.lag.Kind == option.Block {
		age *= float64(1 + s.lag.Behind)
	}
	if stale > 0 && age > 0 {
		rate = min(rate, (1-s.momentum)/(stale*age))
	}
	return rate
}

// delayCrossing returns the smallest learning rate at which a multiplier
// reaches the unit circle, z = e^{iw}: there
//
//	η(λ_f + λ_s P(1/z)) = C(w) = −(z − (1+μ) + μ/z)/N(z),
//
// P(1/z) = z^{−τ} of a delay, Σ p_j z^{−j} of random ages,
// N = 1 (heavy ball) or (1+μ) − μ/z (Nesterov), so that C times the conjugate
// of λ_f + λ_s P is real and η their ratio. A crossing always exists (the
// multipliers' sum, or with λ_f = 0 their product, grows without bound): if the scan
// finds none, the threshold is unknown.
func (s *scalar) delayCrossing() threshold {
	parts := func(w float64) (c, d complex128) {
		return s.drive(w), complex(s.fresh, 0) + complex(s.stale, 0)*staleness(s.lag).onCircle(w)
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
	n := 64 + 32*staleness(s.lag).resolution()
	step := math.Pi / (float64(n) + 0.5)
	before, value := step/2, turn(step/2)
	// A fresh part that pushes away, as of k1 in the loss, lets a slow pair cross at w ~ √ηλ.
	for w, slower := before, value; w*(1-s.momentum) > 1e-8; {
		half, now := w/2, turn(w/2)
		if (now < 0) != (slower < 0) {
			consider(root(turn, half, w, now))
		}
		w, slower = half, now
	}
	for i := 1; i < n; i++ {
		w := step * (float64(i) + 0.5)
		now := turn(w)
		if (now < 0) != (value < 0) {
			consider(root(turn, before, w, value))
		}
		before, value = w, now
	}
	if math.IsInf(best, 1) {
		return threshold{}
	}
	return first(best)
}

// drive returns C(w) of delayCrossing, 0 < w ≤ π.
func (s *scalar) drive(w float64) complex128 {
	z := cmplx.Rect(1, w)
	mu := complex(s.momentum, 0)
	c := -(z - (1 + mu) + mu/z)
	if s.method == option.Nesterov {
		c /= 1 + mu - mu/z
	}
	return c
}

// delayIndependent reports whether stability is the same for every delay as
// on-policy, because no delay can move a multiplier through the unit circle:
// |C(w) − κ_f| = |κ_s| has no solution, κ_f = ηλ_f, κ_s = ηλ_s.
func (s *scalar) delayIndependent() bool {
	const points = 1024
	for i := range points + 1 {
		c := s.drive(math.Pi * float64(i) / points)
		if cmplx.Abs(c-complex(s.rate*s.fresh, 0)) <= 1.001*s.rate*math.Abs(s.stale) {
			return false
		}
	}
	return true
}

// onsetRate returns the smallest learning rate at which the mode oscillates: the
// dominant multiplier of M, or of the one-step map inside a block (M aliases a
// fast rotation), is a complex pair or negative. It is never for λ ≤ 0, where the
// mode does not restore. The search ends where that of criticalRate does.
func (s *scalar) onsetRate() threshold {
	lambda := s.total()
	switch {
	case lambda <= 0:
		return never
	case s.current():
		return first(newBlockSums(s.momentum, 1).onset(s.method) / lambda)
	case staleness(s.lag).plainBlock() && s.frozen():
		return first(newBlockSums(s.momentum, s.lag.Interval).onset(s.method) / lambda)
	case s.lag.Kind != option.Block:
		return s.delayOnset()
	case s.lag.Behind > 0:
		return s.linear().onsetRate()
	}
	oscillates := func(rate float64) float64 {
		m, b := s.monodromy(rate)
		if m.oscillates() || b.oscillates() {
			return 2
		}
		return 0
	}
	// The onset may lie far below the bound on stability: (1−√μ)² against 1−μ.
	low := 1e-3 * s.sufficientRate()
	high := 10 * (1 + s.momentum) / max(math.Abs(s.fresh), math.Abs(s.stale))
	return firstCrossing(oscillates, low, high, 200+48*s.lag.Interval)
}

// delayOnset follows the real multiplier that starts from 1: at z it needs
// η(z) = (1−z)(z−μ)/(z N(z)(λ_f + λ_s P(1/z))), P as in delayCrossing, and the first maximum of η(z)
// going down from 1 is where it meets another and both leave the real line.
// Where the denominator vanishes first they do not meet; the onset is then where a
// complex multiplier overtakes the real one.
func (s *scalar) delayOnset() threshold {
	rate := func(z float64) float64 {
		n := 1.0
		if s.method == option.Nesterov {
			n = 1 + s.momentum - s.momentum/z
		}
		d := s.fresh + s.stale*staleness(s.lag).onLine(z)
		if d <= 0 {
			return math.Inf(1)
		}
		return (1 - z) * (z - s.momentum) / (z * n * d)
	}
	if top := firstMaximum(rate, s.momentum); top.known {
		return top
	}
	return s.overtaking()
}

// maxCompanion is the largest companion matrix whose eigenvalues are computed.
const maxCompanion = 320

// overtaking returns the first learning rate, up to the critical one, at which
// the dominant eigenvalue of the companion matrix is not a positive number. It
// takes about a hundred spectra, so the matrix may be a quarter of maxCompanion at
// most; beyond that the threshold is unknown.
func (s *scalar) overtaking() threshold {
	if s.linear().memory() > maxCompanion/4-2 {
		return threshold{}
	}
	high := s.criticalRate().at
	oscillates := func(rate float64) float64 {
		moved := *s
		moved.rate = rate
		values := multipliers(moved.linear().monodromy())
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

// linear returns the mode as a linear recursion of one coordinate, without noise.
func (s *scalar) linear() *linear {
	return &linear{
		fresh: single(s.fresh), stale: single(s.stale), noise: single(0),
		method: s.method, rate: s.rate, momentum: s.momentum, lag: s.lag, ageDraws: s.ageDraws,
	}
}

// maxInterval is the largest refresh interval that is tried; maxDelay the largest
// delay that is tried where neither a closed form nor a bound applies.
const (
	maxInterval = 1_000_000
	maxDelay    = 512
)

// criticalInterval returns the smallest K ≥ 1 (block) or τ ≥ 0 (delay) at which
// the mode is not stable at its learning rate, searched up to maxInterval or
// maxDelay. It is never where nothing is stale, where the motion inside a long block
// dies out, and where delayIndependent.
func (s *scalar) criticalInterval() threshold {
	if s.lag.Kind == option.Random {
		return threshold{} // there is no interval
	}
	lambda := s.total()
	kappa := s.rate * lambda
	shortest := 1.0
	if s.lag.Kind == option.Delay {
		shortest = 0
	}
	onPolicy := *s
	onPolicy.lag = option.Lag{Kind: option.Block, Interval: 1}
	switch {
	case lambda <= 0 || s.rate >= onPolicy.criticalRate().at:
		return first(shortest)
	case math.Abs(s.stale) <= negligible*math.Abs(s.fresh):
		return never
	case s.lag.Kind == option.Block && s.lag.Behind > 0:
		return s.linear().criticalInterval()
	case s.lag.Kind == option.Block && s.frozen():
		b := newBlockSums(s.momentum, 1)
		for ; b.k <= maxInterval; b = b.next() {
			if kappa >= b.threshold(s.method) {
				return first(float64(b.k))
			}
		}
		return upTo(maxInterval)
	case s.lag.Kind == option.Block:
		return s.criticalBlock()
	case s.frozen() && s.method == option.HeavyBall:
		// By its closed form DelayThreshold falls in τ, so bisection finds the first.
		low, high := 0, 1
		for kappa < DelayThreshold(s.momentum, high) {
			low, high = high, 2*high
			if low > maxInterval {
				return upTo(float64(low))
			}
		}
		for high-low > 1 {
			if middle := (low + high) / 2; kappa < DelayThreshold(s.momentum, middle) {
				low = middle
			} else {
				high = middle
			}
		}
		return first(float64(high))
	}
	if s.delayIndependent() {
		return never
	}
	for tau := s.sufficientAge(maxDelay + 1); tau <= maxDelay; tau++ {
		if !schurStable(s.delayPolynomial(tau)) {
			return first(float64(tau))
		}
	}
	return upTo(maxDelay)
}

// sufficientAge returns the age from 1 to end, with the heavy ball, up to which
// docs/theory.md §5 guarantees stability for λ > 0; at least 1.
func (s *scalar) sufficientAge(end int) int {
	if s.method != option.HeavyBall || s.rate*(s.fresh+math.Abs(s.stale)) >= 2*(1+s.momentum) {
		return 1
	}
	return max(1, int(min((1-s.momentum)/(s.rate*math.Abs(s.stale)), float64(end))))
}

// criticalBlock is criticalInterval of a block with only part of the force frozen. It
// computes B^K and Σ_{j<K} B^j from those of K−1, from sufficientAge on; once B^K has died
// out M no longer changes.
func (s *scalar) criticalBlock() threshold {
	b, enter := s.inner(s.rate)
	start := s.sufficientAge(maxInterval)
	power, sum := b.powers(start)
	for k := start; k <= maxInterval; k++ {
		if closeBlock(power, sum, enter).radius() >= 1 {
			return first(float64(k))
		}
		if norm(power[:]) < 1e-17 {
			return never
		}
		sum = sum.plus(power)
		power = power.times(b)
	}
	return upTo(maxInterval)
}

// delayPolynomial returns the coefficients, constant first, of the
// characteristic polynomial z^{τ+2} − (1+μ)z^{τ+1} + μz^τ
// + (κ_f z^τ + κ_s)(n_0 z + n_1), N(z) = n_0 + n_1/z.
func (s *scalar) delayPolynomial(tau int) []float64 {
	n0, n1 := 1.0, 0.0
	if s.method == option.Nesterov {
		n0, n1 = 1+s.momentum, -s.momentum
	}
	p := make([]float64, tau+3)
	p[tau+2] = 1
	p[tau+1] += s.rate*s.fresh*n0 - (1 + s.momentum)
	p[tau] += s.momentum + s.rate*s.fresh*n1
	p[1] += s.rate * s.stale * n0
	p[0] += s.rate * s.stale * n1
	return p
}

// schurStable reports whether all zeros of the polynomial (constant
// coefficient first) lie inside the unit circle, by the Schur–Cohn recursion:
// |p_0| < |p_n|, and so for (p_n p(z) − p_0 z^n p(1/z))/z.
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
