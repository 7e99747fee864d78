package deep

import (
	"math"

	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
)

// mixedBlock is a block in which Λ_f, symmetric, and Λ_s do not commute, in the eigenbasis of Λ_f. There a block is r separate
// motions of two numbers, x_i and p_i = ηv_i, driven by the constants (Λ_s x_old)_i, so that its monodromy matrix
// needs no power of a large matrix:
//
//	(x_i, p_i) ↦ B_i^K (x_i, p_i) + Σ_{j<K} B_i^j e (Λ_s x)_i,   B_i = [1 − aκ_i, b; −κ_i, μ],  e = −η(a, 1)
//
// κ_i = ηλ_f,i, a and b those of linear.StepGains.
type mixedBlock struct {
	fresh []float64  // λ_f,i
	stale *mat.Dense // Λ_s
	linear.Update
}

// mixedBlock returns the block of modes that mix; nil where they do not, for another lag, and where Λ_f is not symmetric.
func (d *Dynamics) mixedBlock() *mixedBlock {
	oldest, probabilities := d.Whole.Lag.Stored()
	if !d.Mixed || oldest > 0 || probabilities != nil || !symmetric(d.Whole.Fresh) {
		return nil
	}
	return newMixedBlock(d.Whole.Fresh, d.Whole.Stale, d.Whole.Update)
}

func newMixedBlock(fresh, stale *mat.Dense, update linear.Update) *mixedBlock {
	n, _ := fresh.Dims()
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			sym.SetSym(i, j, 0.5*(fresh.At(i, j)+fresh.At(j, i)))
		}
	}
	values, vectors := linear.Axes(sym)
	return &mixedBlock{values, linear.Within(vectors, stale), update}
}

// monodromy returns the matrix of a block of k steps on (x, p), 2r×2r, or r×r on x where no velocity is kept.
func (b *mixedBlock) monodromy(rate float64, k int) *mat.Dense {
	n := len(b.fresh)
	gain, velocity := linear.StepGains(b.Method, b.Momentum)
	kept := 2
	if velocity == 0 {
		kept = 1
	}
	m := mat.NewDense(kept*n, kept*n, nil)
	for i, lambda := range b.fresh {
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
				x, p = x+gain*force+velocity*p, b.Momentum*p+force
			}
			columns[c] = [2]float64{x, p}
		}
		for part := range kept {
			row := m.RawRowView(part*n + i)
			for j, s := range b.stale.RawRowView(i) {
				row[j] = columns[2][part] * s
			}
			row[i] += columns[0][part]
			if kept == 2 {
				row[n+i] = columns[1][part]
			}
		}
	}
	return m
}

func (b *mixedBlock) radius(rate float64, k int) float64 {
	return linear.Radius(b.monodromy(rate, k))
}

// rounded is how far beyond 1 a radius must be to count as unstable: slow modes are as near to 1 as the rounding of a spectrum, some 1e-14 of
// matrices with entries up to 1/(1−μ), and cannot cross 1 where Λ restores. It moves a threshold, near which the radius
// rises at least as ln η, by as much.
const rounded = 1e-11

// excess returns the radius less its bound, above 0 where it is not stable or a spectrum is not known.
func (b *mixedBlock) excess(rate float64, k int) float64 {
	r := b.radius(rate, k)
	if math.IsNaN(r) {
		return math.Inf(1)
	}
	return r - 1 - rounded
}

// restores reports whether every eigenvalue of Λ has a positive real part.
func (b *mixedBlock) restores() bool {
	total := mat.DenseCopyOf(b.stale)
	for i, lambda := range b.fresh {
		total.Set(i, i, total.At(i, i)+lambda)
	}
	values, _, _ := linear.Eigenvectors(total)
	for _, lambda := range values {
		if lambda <= 0 {
			return false
		}
	}
	return true
}

// The search for a critical rate: the number of stiff directions that are scanned finely, and the number of rates below what these give at
// which all directions are looked at.
const (
	scanned = 24
	checked = 24
)

// criticalRate searches up to highest. The stiffest directions alone are scanned on a fine grid: they have the narrow windows, if
// there are any. All directions are then looked at on a coarse grid up to there and beyond.
func (b *mixedBlock) criticalRate(k int) linear.Threshold {
	if !b.restores() {
		return linear.KnownAt(0)
	}
	low, high, ends := b.bounds(k)
	at, n := func(rate float64) float64 { return b.excess(rate, k) }, checked
	first := high
	if stiff := b.stiffest(scanned); stiff != nil {
		first = scan(func(rate float64) float64 { return stiff.excess(rate, k) }, low, high, 200+16*min(k, 100))
	} else {
		n = 200 + 16*min(k, 100)
	}
	critical := scan(at, low, first, n)
	for last := first; critical >= first && last < high; {
		next := min(last*1.02, high)
		if at(next) > 0 {
			critical = linear.Root(at, last, next, at(last))
			break
		}
		critical, last = next, next
	}
	if critical >= high && !ends {
		return linear.UpTo(high)
	}
	return linear.KnownAt(critical)
}

// scan returns the first rate between low and high at which f > 0, on a grid of n intervals uniform in √rate; high where there is none, and
// low where it is there already.
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

// bounds returns the ends of the search, and whether the upper one is itself unstable. Below the lower one docs/theory.md §5
// guarantees stability of commuting modes. With an even K the upper one is that of the fresh part alone: at κ_f = 2(1+μ) a step turns
// the stiffest mode of Λ_f around, wᵀB = −wᵀ, so that Σ_{j<K} wᵀB^j = 0, the snapshot does not act on it and wᵀM = wᵀ: a multiplier
// 1 (docs/theory-deep.md). Otherwise it is 10(1+μ)/max(|Λ_f|, |Λ_s|).
func (b *mixedBlock) bounds(k int) (low, high float64, ends bool) {
	fresh, stale := 0.0, mat.Norm(b.stale, 2)
	for _, lambda := range b.fresh {
		fresh = max(fresh, math.Abs(lambda))
	}
	low = 0.5 * min(2*(1+b.Momentum)/(fresh+stale), (1-b.Momentum)/(stale*float64(k))) / (1 + 2*b.Momentum)
	high = 10 * (1 + b.Momentum) / max(fresh, stale)
	if turned := linear.FrozenBlock(linear.CriticalRate, b.Method, b.Momentum, 1) / b.fresh[len(b.fresh)-1]; k%2 == 0 && turned > 0 && turned < high {
		return min(low, turned/2), turned, true
	}
	return low, high, false
}

// stiffest returns the block of the n directions in which Λ_f² + Λ_sᵀΛ_s is largest alone; nil where there are not more.
func (b *mixedBlock) stiffest(n int) *mixedBlock {
	size := len(b.fresh)
	if size <= n {
		return nil
	}
	square := mat.NewSymDense(size, nil)
	square.SymOuterK(1, b.stale.T())
	for i, lambda := range b.fresh {
		square.SetSym(i, i, square.At(i, i)+lambda*lambda)
	}
	_, vectors := linear.Axes(square)
	kept := mat.DenseCopyOf(vectors.Slice(0, size, size-n, size))
	return newMixedBlock(linear.Within(kept, mat.NewDiagDense(size, b.fresh)), linear.Within(kept, b.stale), b.Update)
}

// maxInterval is the largest critical block of modes that mix that is searched for, as in package linear.
const maxInterval = 512

// criticalInterval returns the smallest K at which the fixed point is not stable at a rate. Of more than scanned directions not every
// K is looked at: all up to 16, then two neighbours, one even, of each sixth part more, and all between the last stable pair and the first that
// is not.
func (b *mixedBlock) criticalInterval(rate float64) linear.Threshold {
	if !b.restores() {
		return linear.KnownAt(1)
	}
	if b.noIntervalMatters(rate) {
		return linear.Never
	}
	for k, stable := 1, 0; k <= maxInterval; {
		if b.excess(rate, k) <= 0 {
			stable = k
			if k++; k > 16 && k%2 == 0 && len(b.fresh) > scanned {
				k += k / 12 * 2
			}
			continue
		}
		for low := stable + 1; low < k; low++ {
			if b.excess(rate, low) > 0 {
				return linear.KnownAt(float64(low))
			}
		}
		return linear.KnownAt(float64(k))
	}
	return linear.UpTo(maxInterval)
}

// noIntervalMatters reports whether the fixed point is provably stable at every K, given that Λ restores: without momentum and with symmetric Λ_s if
//
//	min(Λ_f, 2/η − Λ_f) − Λ_s is positive definite
//
// the minimum taken of each eigenvalue of Λ_f (docs/theory-deep.md).
func (b *mixedBlock) noIntervalMatters(rate float64) bool {
	if _, velocity := linear.StepGains(b.Method, b.Momentum); velocity > 0 || !symmetric(b.stale) {
		return false
	}
	n := len(b.fresh)
	rest := mat.NewSymDense(n, nil)
	for i, lambda := range b.fresh {
		for j := i; j < n; j++ {
			rest.SetSym(i, j, -0.5*(b.stale.At(i, j)+b.stale.At(j, i)))
		}
		rest.SetSym(i, i, rest.At(i, i)+min(lambda, 2/rate-lambda))
	}
	var c mat.Cholesky
	return c.Factorize(rest)
}
