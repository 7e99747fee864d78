package deep

import (
	"math"
	"slices"

	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
)

// mixed is a dynamics in which Λ_f, symmetric, and Λ_s do not commute, in the eigenbasis of Λ_f.
type mixed struct {
	fresh []float64  // λ_f, ascending
	stale *mat.Dense // Λ_s
	linear.Update
	lag mixedLag
}

// mixedLag has the monodromy matrix and the bounds of a block or of a delay where modes mix.
type mixedLag interface {
	// monodromy returns the map of a period at an interval K of a block, τ of a delay.
	monodromy(m *mixed, rate float64, interval int) *mat.Dense
	// limit returns a rate at and beyond which the fixed point is not stable, 0 where no formula is
	// known.
	limit(m *mixed, interval int) float64
	// provenStable reports whether the fixed point is stable at every interval, given that Λ restores.
	provenStable(m *mixed, rate float64) bool
	// intervals returns the intervals that are searched of n directions: from, to and the next one
	// after a stable one.
	intervals(n int) (from, to int, next func(stable int) int)
}

// mixed returns the dynamics with the interval of its lag, where modes mix and Λ_f is symmetric. It
// is nil for other lags than a delay and a block that is refreshed from its start.
func (d *Dynamics) mixed() (m *mixed, interval int) {
	lag := d.Whole.Lag
	shortest, ok := lag.Interval(linear.MeanAge, 0)
	if !d.Mixed || !ok || !linear.Symmetric(d.Whole.Fresh) {
		return nil, 0
	}
	now, _ := lag.Interval(linear.MeanAge, lag.Age(linear.MeanAge))
	switch interval = int(math.Round(now)); shortest {
	case 0:
		return newMixed(d.Whole.Fresh, d.Whole.Stale, d.Whole.Update, mixedDelay{}), interval
	case 1:
		return newMixed(d.Whole.Fresh, d.Whole.Stale, d.Whole.Update, mixedBlock{}), interval
	}
	return nil, 0 // a block whose snapshot is older
}

func newMixed(fresh, stale *mat.Dense, update linear.Update, lag mixedLag) *mixed {
	values, vectors := linear.Axes(linear.SymmetricPart(fresh))
	return &mixed{values, linear.Within(vectors, stale), update, lag}
}

func (m *mixed) radius(rate float64, interval int) float64 {
	return linear.Radius(m.lag.monodromy(m, rate, interval))
}

// unitRounding is how far from 1 a radius is taken for 1. Slow modes are as near to it as the
// rounding of a spectrum, some 1e-14 of entries up to 1/(1−μ). They cannot cross 1 where Λ
// restores. Near a threshold the radius changes by some |d ln η| or more, so this is about its
// relative error.
const unitRounding = 1e-11

// excess returns the radius less 1, and 0 for 1 up to rounding. It is above 0 where the dynamics is
// not stable or a spectrum is not known.
func (m *mixed) excess(rate float64, interval int) float64 {
	r := m.radius(rate, interval)
	switch {
	case math.IsNaN(r):
		return math.Inf(1)
	case math.Abs(r-1) <= unitRounding:
		return 0
	}
	return r - 1
}

// restores reports whether every eigenvalue of Λ has a positive real part.
func (m *mixed) restores() bool {
	total := mat.DenseCopyOf(m.stale)
	for i, lambda := range m.fresh {
		total.Set(i, i, total.At(i, i)+lambda)
	}
	values, _, _ := linear.Eigenvectors(total)
	return !slices.ContainsFunc(values, func(lambda float64) bool { return lambda <= 0 })
}

// The search for a critical rate.
const (
	fineDirections = 24   // stiff directions that are scanned finely
	coarseRates    = 12   // rates at which all directions are looked at
	rateFactor     = 1.02 // between the rates above
)

// criticalRate scans the stiffest directions alone on a fine grid: they have the narrow windows, if
// there are any. All directions are then looked at on a coarse grid up to there and beyond.
func (m *mixed) criticalRate(interval int) linear.Threshold {
	if !m.restores() {
		return linear.KnownAt(0)
	}
	low, high, unstable := m.bounds(interval)
	at, n, fine := func(rate float64) float64 { return m.excess(rate, interval) }, coarseRates, 200+16*min(interval, 100)
	first := high
	if stiff := m.stiffest(fineDirections); stiff != nil {
		first = scan(func(rate float64) float64 { return stiff.excess(rate, interval) }, low, high, fine)
	} else {
		n = fine
	}
	critical := scan(at, low, first, n)
	for last := first; critical >= first && last < high; {
		next := min(last*rateFactor, high)
		if at(next) > 0 {
			critical = linear.Root(at, last, next, at(last))
			break
		}
		critical, last = next, next
	}
	if critical >= high && !unstable {
		return linear.UpTo(high)
	}
	return linear.KnownAt(critical)
}

// scan returns the first rate at which f turns positive, between low and high or below low. Its
// grid has n intervals uniform in √rate; high where there is none.
func scan(f func(float64) float64, low, high float64, n int) float64 {
	from, step := math.Sqrt(low), (math.Sqrt(high)-math.Sqrt(low))/float64(n)
	last, value := low, f(low)
	if value > 0 {
		return linear.Root(f, 0, low, -1)
	}
	for i := 1; i <= n; i++ {
		rate := (from + float64(i)*step) * (from + float64(i)*step)
		now := f(rate)
		if now > 0 {
			return linear.Root(f, last, rate, value)
		}
		last, value = rate, now
	}
	return high
}

// bounds returns the ends of the search, and whether the upper one is itself unstable. Below the
// lower one docs/theory.md §5 guarantees stability of commuting modes; the upper one is
// 10(1+μ)/max(|Λ_f|, |Λ_s|) unless the lag knows better.
func (m *mixed) bounds(interval int) (low, high float64, unstable bool) {
	fresh, stale := 0.0, mat.Norm(m.stale, 2)
	for _, lambda := range m.fresh {
		fresh = max(fresh, math.Abs(lambda))
	}
	low = 0.5 * min(2*(1+m.Momentum)/(fresh+stale), (1-m.Momentum)/(stale*float64(max(interval, 1)))) / (1 + 2*m.Momentum)
	high = 10 * (1 + m.Momentum) / max(fresh, stale)
	if limit := m.lag.limit(m, interval); limit > 0 && limit < high {
		return min(low, limit/2), limit, true
	}
	return low, high, false
}

// stiffest returns the dynamics of the n directions in which Λ_f² + Λ_sᵀΛ_s is largest, alone; nil
// where there are not more.
func (m *mixed) stiffest(n int) *mixed {
	size := len(m.fresh)
	if size <= n {
		return nil
	}
	square := mat.NewSymDense(size, nil)
	square.SymOuterK(1, m.stale.T())
	for i, lambda := range m.fresh {
		square.SetSym(i, i, square.At(i, i)+lambda*lambda)
	}
	_, vectors := linear.Axes(square)
	kept := mat.DenseCopyOf(vectors.Slice(0, size, size-n, size))
	return newMixed(linear.Within(kept, mat.NewDiagDense(size, m.fresh)), linear.Within(kept, m.stale), m.Update, m.lag)
}

// criticalInterval returns the smallest interval at which the fixed point is not stable at a rate.
// Between the last stable interval that was looked at and the first that is not, all are.
func (m *mixed) criticalInterval(rate float64) linear.Threshold {
	from, to, next := m.lag.intervals(len(m.fresh))
	if !m.restores() {
		return linear.KnownAt(float64(from))
	}
	if m.lag.provenStable(m, rate) {
		return linear.Never
	}
	for k, stable := from, from-1; k <= to; k = next(k) {
		if m.excess(rate, k) <= 0 {
			stable = k
			continue
		}
		for low := stable + 1; low < k; low++ {
			if m.excess(rate, low) > 0 {
				return linear.KnownAt(float64(low))
			}
		}
		return linear.KnownAt(float64(k))
	}
	return linear.UpTo(float64(to))
}
