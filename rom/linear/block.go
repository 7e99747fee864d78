package linear

import (
	"math"
	"sort"

	"grposim/option"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/mat"
)

// block is a snapshot that is taken every K = interval ≥ 1 steps and used d = behind ≥ 0 blocks
// later. The state has the positions of the last 1 + d refreshes, the newest first and x_old last.
type block struct{ interval, behind int }

// Span returns (1+d)K, one more than the largest age.
func (b block) Span() int { return b.interval * (1 + b.behind) }

func (b block) OnPolicy() bool                    { return b.Span() == 1 }
func (b block) Period() int                       { return b.interval }
func (b block) Stored() (oldest int, p []float64) { return b.behind, nil }

// Age returns dK + (K−1)/2 as MeanAge, and (K−1)(2K−1)/6 as SquareAge with d = 0. Gain is, without
// the first term for K = 1,
//
//	1/(2 sin(π/(4K−2))) + dK.
//
// It is the norm of a triangular matrix of ones, which sums the steps since the last refresh. A
// delay by d blocks adds dK.
func (b block) Age(of Age) float64 {
	k, d := float64(b.interval), float64(b.behind)
	switch {
	case of == MeanAge:
		return d*k + (k-1)/2
	case of == SquareAge && b.behind == 0:
		return (k - 1) * (2*k - 1) / 6
	case of == SquareAge:
		_, square := uniformMoments(d*k, d*k+k-1)
		return square
	case of == Gain && b.interval > 1:
		return d*k + 0.5/math.Sin(math.Pi/(4*k-2))
	case of == Gain:
		return d * k
	case b.OnPolicy():
		return 0
	}
	return k * (1 + d)
}

// Interval knows that of Gain for d = 0.
func (b block) Interval(of Age, age float64) (float64, bool) {
	switch {
	case of == MeanAge:
		return (1 + 2*age) / float64(1+2*b.behind), true
	case of == PaperAge:
		return age / float64(1+b.behind), true
	case age > 0:
		return 0.5 * (1 + 0.5*math.Pi/math.Asin(0.5/max(age, 1))), b.behind == 0 // 2 if K = 2 is too long
	}
	return 1, b.behind == 0
}

func (b block) positions() int     { return 1 + b.behind }
func (b block) weights() []float64 { return oneOf(2+b.behind, 3+b.behind) }
func (b block) place() (int, bool) { return 2 + b.behind, true }

func (b block) next(int) (keep, gain float64, from int) { return 1, 0, 0 }

// source copies x into the newest past position and moves the others back.
func (b block) source(k int) int {
	switch k {
	case 0, 1:
		return k
	case 2:
		return 0
	}
	return k - 1
}

// MaxPeriod is the largest refresh interval that is computed step by step. maxOlderBlock is the
// largest in a search for a threshold where the snapshot is older than a block.
const (
	MaxPeriod     = 10_000
	maxOlderBlock = 512
)

func (b block) limit(n int, partly bool) scope.Reason {
	switch {
	case b.behind > 0 && tooManyPositions(b, n).Out():
		return tooManyPositions(b, n)
	case b.behind > 0 && b.interval > maxOlderBlock:
		return scope.TooLarge.Because("a refresh interval longer than 512 steps, with a snapshot older than a block")
	case b.interval > MaxPeriod && partly:
		return scope.TooLarge.Because("a refresh interval longer than 10,000 steps, with only part of the force frozen")
	}
	return scope.Reason{}
}

// threshold ends a search of learning rates at 10(1+μ)/max(|λ_f|, |λ_s|).
func (b block) threshold(of Event, m *Mode) Threshold {
	switch {
	case of == CriticalInterval:
		return m.searchInterval(1, b.searchInterval)
	case b.behind == 0 && m.frozen():
		return KnownAt(FrozenBlock(of, m.Method, m.Momentum, b.interval) / m.Total())
	case b.behind > 0 && of == OnsetRate:
		return b.mixed(of, m.System())
	}
	low, high := b.bounds(m)
	if of == OnsetRate { // which may lie far below the bound on stability: (1−√μ)² against 1−μ
		low = 1e-3 * b.sufficientRate(m)
	}
	return firstCrossing(func(rate float64) float64 {
		if b.behind > 0 {
			moved := *m
			moved.Rate = rate
			return Radius(moved.System().Monodromy())
		}
		period, step := m.period(b.interval, rate)
		switch {
		case of == CriticalRate:
			return period.radius()
		case period.oscillates() || step.oscillates():
			return 2
		}
		return 0
	}, low, high, 200+48*b.interval*(1+b.behind))
}

// multipliers of a block whose snapshot is the last one are those of a 2×2 matrix.
func (b block) multipliers(m *Mode) []complex128 {
	if b.behind > 0 {
		return m.spectrum()
	}
	period, _ := m.period(b.interval, m.Rate)
	return period.eigenvalues()
}

// bounds returns the ends of a scan of learning rates, up to 10(1+μ)/max(|λ_f|, |λ_s|). It begins
// at half of sufficientRate, divided by 1+2μ with Nesterov. The inner map rotates by about √(ηλ_f)
// a step. So 48 points for each step of the block, uniform in √η, resolve every window.
func (b block) bounds(m *Mode) (low, high float64) {
	low = 0.5 * b.sufficientRate(m)
	if m.Method == option.Nesterov {
		low /= 1 + 2*m.Momentum
	}
	return low, 10 * (1 + m.Momentum) / max(math.Abs(m.Fresh), math.Abs(m.Stale))
}

// sufficientRate returns the learning rate below which docs/theory.md §5 guarantees
// stability for λ > 0: η|λ_s|(1+d)K ≤ 1−μ and η(λ_f+|λ_s|) < 2(1+μ).
func (b block) sufficientRate(m *Mode) float64 {
	stale := math.Abs(m.Stale)
	rate := 2 * (1 + m.Momentum) / (m.Fresh + stale)
	if age := float64(b.interval) * float64(1+b.behind); stale > 0 {
		rate = min(rate, (1-m.Momentum)/(stale*age))
	}
	return rate
}

// maxInterval is the largest critical refresh interval of one mode that is searched for.
const maxInterval = 1_000_000

// searchInterval is never where the motion inside a long block dies out.
func (b block) searchInterval(m *Mode) Threshold {
	switch {
	case b.behind > 0:
		return b.mixed(CriticalInterval, m.System())
	case m.frozen():
		kappa := m.Rate * m.Total()
		k := sort.Search(maxInterval, func(k int) bool { // the threshold falls in K
			return kappa >= newBlockSums(m.Momentum, 1+k).threshold(m.Method)
		})
		if k == maxInterval {
			return UpTo(maxInterval)
		}
		return KnownAt(float64(1 + k))
	}
	// B^K and Σ_{j<K} B^j follow from those of K−1; once B^K has died out M no longer changes.
	step, enter := m.inner(m.Rate)
	start := m.sufficientAge(maxInterval)
	power, sum := step.powers(start)
	for k := start; k <= maxInterval; k++ {
		if closeBlock(power, sum, enter).radius() >= 1 {
			return KnownAt(float64(k))
		}
		if Norm(power[:]) < 1e-17 {
			return Never
		}
		sum = sum.plus(power)
		power = power.times(step)
	}
	return UpTo(maxInterval)
}

// mixed scans learning rates between the bounds of a mode with the norms of Λ_f and Λ_s.
func (b block) mixed(of Event, s *System) Threshold {
	if of == CriticalInterval {
		return b.mixedInterval(s)
	}
	worst := s.Mode(mat.Norm(s.Fresh, 2), mat.Norm(s.Stale, 2))
	low, high := b.bounds(&worst)
	if of == OnsetRate {
		low *= 1e-3
	}
	return firstCrossing(func(rate float64) float64 {
		moved := s.at(rate, s.Lag)
		if of == CriticalRate {
			return Radius(moved.Monodromy())
		}
		return 2 * moved.oscillates(Multipliers(moved.Monodromy()))
	}, low, high, 200+16*min(b.interval, 100))
}

// maxMixedBlock is the largest critical block of modes that mix.
const maxMixedBlock = 512

func (b block) mixedInterval(s *System) Threshold {
	none := Threshold{}
	a, _ := s.step()
	power := mat.DenseCopyOf(a)
	for k, quiet := 1, 0; k <= maxMixedBlock; k++ {
		switch r := Radius(s.refresh(power)); {
		case math.IsNaN(r):
			return none
		case r >= 1:
			return KnownAt(float64(k))
		}
		none = UpTo(float64(k))
		var next, change mat.Dense
		next.Mul(power, a)
		change.Sub(&next, power)
		if Norm(change.RawMatrix().Data) < 1e-14 {
			quiet++ // the motion inside the block has died out, so M no longer changes
		} else {
			quiet = 0
		}
		if quiet == 3 {
			return Never
		}
		power = &next
	}
	return none
}
