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
	fresh, stale := linear.Norm(m.fresh), mat.Norm(m.stale, 2)
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

// mixedBlock is a block. Its modes are r separate motions of x_i and p_i = ηv_i, driven by the
// constants (Λ_s x_old)_i. So the monodromy matrix needs no power of a large matrix:
//
//	(x_i, p_i) ↦ B_i^K (x_i, p_i) + Σ_{j<K} B_i^j e (Λ_s x)_i,   B_i = [1 − aκ_i, b; −κ_i, μ],  e = −η(a, 1)
//
// κ_i = ηλ_f,i, a and b those of linear.StepGains. It acts on (x, p), 2r×2r, or on x alone where no
// velocity is kept.
type mixedBlock struct{}

func (mixedBlock) monodromy(m *mixed, rate float64, k int) *mat.Dense {
	n := len(m.fresh)
	gain, velocity := linear.StepGains(m.Method, m.Momentum)
	kept := 2
	if velocity == 0 {
		kept = 1
	}
	out := mat.NewDense(kept*n, kept*n, nil)
	for i, lambda := range m.fresh {
		kappa := rate * lambda
		columns := [3][2]float64{{1, 0}, {0, 1}, {0, 0}} // what x, p and the drive become
		for c := range columns {
			x, p := columns[c][0], columns[c][1]
			drive := 0.0
			if c == 2 {
				drive = rate
			}
			for range k {
				force := -kappa*x - drive
				x, p = x+gain*force+velocity*p, m.Momentum*p+force
			}
			columns[c] = [2]float64{x, p}
		}
		for part := range kept {
			row := out.RawRowView(part*n + i)
			for j, s := range m.stale.RawRowView(i) {
				row[j] = columns[2][part] * s
			}
			row[i] += columns[0][part]
			if kept == 2 {
				row[n+i] = columns[1][part]
			}
		}
	}
	return out
}

// limit is, for even K, that of the fresh part alone, 2(1+μ) for a heavy ball. There a step turns
// the stiffest mode of Λ_f around, wᵀB = −wᵀ, so that Σ_{j<K} wᵀB^j = 0. The snapshot does not act
// on it and wᵀM = wᵀ: a multiplier 1 (docs/theory-deep.md).
func (mixedBlock) limit(m *mixed, k int) float64 {
	if k%2 == 1 {
		return 0
	}
	return linear.FrozenBlock(linear.CriticalRate, m.Method, m.Momentum, 1) / m.fresh[len(m.fresh)-1]
}

// provenStable holds, without momentum and with symmetric Λ_s, where
//
//	min(Λ_f, 2/η − Λ_f) − Λ_s is positive definite
//
// and 2/η − Λ_f too. The minimum is taken of each eigenvalue of Λ_f (docs/theory-deep.md).
func (mixedBlock) provenStable(m *mixed, rate float64) bool {
	if _, velocity := linear.StepGains(m.Method, m.Momentum); velocity > 0 || !linear.Symmetric(m.stale) {
		return false
	}
	n := len(m.fresh)
	rest := mat.NewSymDense(n, nil)
	for i, lambda := range m.fresh {
		if !(lambda < 2/rate) { // grows within the block, whatever Λ_s
			return false
		}
		for j := i; j < n; j++ {
			rest.SetSym(i, j, -0.5*(m.stale.At(i, j)+m.stale.At(j, i)))
		}
		rest.SetSym(i, i, rest.At(i, i)+min(lambda, 2/rate-lambda))
	}
	var c mat.Cholesky
	return c.Factorize(rest)
}

// intervals go up to 512, as in package linear. Of more than fineDirections directions not every K
// is looked at: all up to 16, then two neighbours, one even, of each sixth part more.
func (mixedBlock) intervals(n int) (from, to int, next func(int) int) {
	return 1, 512, func(k int) int {
		if k++; k > 16 && k%2 == 0 && n > fineDirections {
			k += k / 12 * 2
		}
		return k
	}
}

// mixedDelay is a delay of τ steps, with p = ηv: p′ = μp − η(Λ_f x + Λ_s x_{t−τ}) and x′ = x −
// ηa(Λ_f x + Λ_s x_{t−τ}) + bp. The state is (x, x_{t−1}, …, x_{t−τ}, p), without p where no
// velocity is kept.
type mixedDelay struct{}

func (mixedDelay) monodromy(m *mixed, rate float64, tau int) *mat.Dense {
	n := len(m.fresh)
	gain, velocity := linear.StepGains(m.Method, m.Momentum)
	at, blocks := (tau+1)*n, tau+2 // place of p
	if velocity == 0 {
		blocks--
	}
	out := mat.NewDense(blocks*n, blocks*n, nil)
	add := func(row, column int, v float64) { out.Set(row, column, out.At(row, column)+v) }
	for i, lambda := range m.fresh {
		add(i, i, 1-rate*gain*lambda)
		for j, s := range m.stale.RawRowView(i) {
			add(i, tau*n+j, -rate*gain*s)
		}
		for k := range tau {
			add((k+1)*n+i, k*n+i, 1)
		}
		if velocity == 0 {
			continue
		}
		add(i, at+i, velocity)
		add(at+i, i, -rate*lambda)
		add(at+i, at+i, m.Momentum)
		for j, s := range m.stale.RawRowView(i) {
			add(at+i, tau*n+j, -rate*s)
		}
	}
	return out
}

func (mixedDelay) limit(*mixed, int) float64 { return 0 }

// provenStable holds where nothing is stale, which does not mix.
func (mixedDelay) provenStable(*mixed, float64) bool { return false }

// largestState is the size of the matrix up to which delays are searched: 0.5 s each of the
// largest.
const largestState = 600

// intervals are all, up to 50 as in package linear.
func (mixedDelay) intervals(n int) (from, to int, next func(int) int) {
	return 0, min(50, max(largestState/n-2, 0)), func(tau int) int { return tau + 1 }
}
