package linear

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Root returns a zero of f between a and b, where f must have opposite signs; fa = f(a). It narrows
// the bracket to the precision of floating point, a relative width of 2e-16.
func Root(f func(float64) float64, a, b, fa float64) float64 {
	if fa == 0 {
		return a
	}
	// Regula falsi (Illinois); bisection whenever that does not halve the bracket.
	fb := f(b)
	if fb == 0 {
		return b
	}
	for range 200 {
		width := b - a
		x := a - fa*(b-a)/(fb-fa)
		if !(math.Min(a, b) < x && x < math.Max(a, b)) {
			x = a + 0.5*(b-a)
		}
		for range 2 {
			fx := f(x)
			if fx == 0 {
				return x
			}
			if (fx < 0) == (fa < 0) {
				a, fa = x, fx
				fb *= 0.5
			} else {
				b, fb = x, fx
				fa *= 0.5
			}
			if math.Abs(b-a) <= 0.5*math.Abs(width) {
				break
			}
			x = a + 0.5*(b-a)
		}
		if math.Abs(b-a) <= 2e-16*math.Max(math.Abs(a), math.Abs(b)) {
			break
		}
	}
	return a + 0.5*(b-a)
}

// Golden returns the maximum of f, which must be unimodal on [a, b], and its place
// x by golden-section search. x is good to the square root of machine precision.
func Golden(f func(float64) float64, a, b float64) (x, value float64) {
	ratio := 0.5 * (math.Sqrt(5) - 1)
	c, d := b-ratio*(b-a), a+ratio*(b-a)
	fc, fd := f(c), f(d)
	for range 60 {
		if fc > fd {
			b, d, fd = d, c, fc
			c = b - ratio*(b-a)
			fc = f(c)
		} else {
			a, c, fc = c, d, fd
			d = a + ratio*(b-a)
			fd = f(d)
		}
	}
	if fc > fd {
		return c, fc
	}
	return d, fd
}

// Broyden finds a zero of f near x, by Broyden's first method from the identity as derivative. It
// returns nil if the norm is above tolerance after the given attempts. f returns its value and
// norm, +Inf outside its domain. A step that leaves the domain or makes the norm much larger is
// halved.
func Broyden(f func(x []float64) (value []float64, norm float64), x []float64, tolerance float64, attempts int) []float64 {
	const grows = 1.5 // by which factor the norm may grow in one step
	n := len(x)
	x = slices.Clone(x)
	value, norm := f(x)
	inverse := Identity(n)
	for attempts--; norm > tolerance && attempts > 0; {
		var step mat.VecDense
		step.MulVec(inverse, mat.NewVecDense(n, value))
		var next, there []float64
		size := math.Inf(1)
		for share := -1.0; attempts > 0 && !(size <= grows*norm); share /= 2 {
			next = slices.Clone(x)
			floats.AddScaled(next, share, step.RawVector().Data)
			there, size = f(next)
			attempts--
		}
		if there == nil || math.IsInf(size, 1) {
			return nil
		}
		moved, changed := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
		for i := range n {
			moved.SetVec(i, next[i]-x[i])
			changed.SetVec(i, there[i]-value[i])
		}
		// B⁻¹ ← B⁻¹ + (s − B⁻¹y) sᵀB⁻¹/(sᵀB⁻¹y)
		var predicted, row mat.VecDense
		predicted.MulVec(inverse, changed)
		row.MulVec(inverse.T(), moved)
		if scale := mat.Dot(moved, &predicted); scale != 0 {
			predicted.SubVec(moved, &predicted)
			var outer mat.Dense
			outer.Outer(1/scale, &predicted, &row)
			inverse.Add(inverse, &outer)
		}
		x, value, norm = next, there, size
	}
	if norm <= tolerance {
		return x
	}
	return nil
}

// Event is what happens to a mode as a parameter grows.
type Event int

const (
	// CriticalRate is the smallest learning rate at which a mode is not stable: 0 for λ ≤ 0.
	CriticalRate Event = iota
	// OnsetRate is the smallest learning rate at which a mode oscillates: the dominant multiplier is
	// complex or negative. It is that of M or, since M aliases a fast rotation, of the map inside a
	// block. Of modes that mix a slow one counts. It is never for λ ≤ 0.
	OnsetRate
	// CriticalInterval is the smallest K ≥ 1 (block) or τ ≥ 0 (delay) at which a mode is not stable.
	// It is unknown where there is no interval.
	CriticalInterval
)

// Threshold is the outcome of a search, from below, for the smallest value at
// which an event occurs. Its zero value is an unknown threshold.
type Threshold struct {
	At    float64 // known: the threshold, +Inf if the event never occurs; else the end of the search
	Known bool    // the event first occurs at At; else it does not occur up to At
}

// Never is the threshold of an event that provably does not occur.
var Never = Threshold{math.Inf(1), true}

// KnownAt returns the known threshold at ≥ 0. Where at is NaN, or negative from
// rounding, the threshold is unknown.
func KnownAt(at float64) Threshold {
	if !(at >= 0) {
		return Threshold{}
	}
	return Threshold{at, true}
}

// UpTo returns the threshold of an event that does not occur up to limit. Where the
// limit is not finite the threshold is unknown.
func UpTo(limit float64) Threshold {
	if !IsFinite(limit) {
		return Threshold{}
	}
	return Threshold{At: limit}
}

// Or returns the threshold of either of two events: the lower one. It is not known
// beyond the end of the search for the other.
func (x Threshold) Or(y Threshold) Threshold {
	if x.At < y.At || x.At == y.At && x.Known {
		return x
	}
	return y
}

// Result returns the value, nil where there is none or it is not known, and the limit
// up to which there is none.
func (x Threshold) Result() (value *float64, limit float64) {
	if x.Known && !math.IsInf(x.At, 1) {
		return &x.At, x.At
	}
	return nil, x.At
}

// firstCrossing returns the smallest x in [low, high] with f(x) ≥ 1, or below low where f(low) ≥ 1
// already. It scans a grid of n intervals uniform in √x and bisects; a maximum between grid points
// that reaches 1 counts. Where f is unknown (NaN) the search ends.
func firstCrossing(f func(float64) float64, low, high float64, n int) Threshold {
	if !IsFinite(low, high) {
		return Threshold{}
	}
	from, to := math.Sqrt(low), math.Sqrt(high)
	place := func(i int) float64 {
		x := from + (to-from)*float64(i)/float64(n)
		return x * x
	}
	unknown := false
	at := func(x float64) float64 {
		value := f(x)
		unknown = unknown || math.IsNaN(value)
		return value
	}
	refine := func(a, b float64) Threshold { // f(a) < 1 ≤ f(b)
		excess := func(x float64) float64 { return at(x) - 1 }
		x := Root(excess, a, b, excess(a))
		if unknown {
			return UpTo(a)
		}
		return KnownAt(x)
	}
	last := at(place(0))
	if unknown {
		return Threshold{}
	}
	before := last
	if last >= 1 {
		return refine(0, place(0))
	}
	for i := 1; i <= n; i++ {
		now := at(place(i))
		if unknown {
			return UpTo(place(i - 1))
		}
		// The parabola through three points exceeds the largest of them by at most an
		// eighth of their second difference.
		if i >= 2 && last > before && last > now && last+(2*last-before-now)/8 >= 1 {
			x, value := Golden(at, place(i-2), place(i))
			if unknown {
				return UpTo(place(i - 2))
			}
			if value >= 1 {
				return refine(place(i-2), x)
			}
		}
		if now >= 1 {
			return refine(place(i-1), place(i))
		}
		before, last = last, now
	}
	return UpTo(high)
}

// firstMaximum returns the first maximum of rate(z) from z = 1 down to μ. It is unknown where the
// rate is infinite first or unknown (NaN). 1 − z starts at 1e-6 of its range, since the maximum is
// at 1 − O(1/τ), and grows by 3 % a point. It ends at all but 1e-12 of the range. Only each eighth
// point is looked at until the rate falls, then all from two of those back.
func firstMaximum(rate func(z float64) float64, mu float64) Threshold {
	const growth, far, end = 1.03, 8, 1 - 1e-12
	type point struct{ share, before, last, value float64 } // next share, last two z, rate at the last
	at := point{1e-6, 1, 1, 0}
	passed, stride := [2]point{at, at}, far
	for {
		z := 1 - (1-mu)*min(at.share, end)
		now := rate(z)
		unknown := math.IsInf(now, 1) || math.IsNaN(now)
		switch {
		case stride == far && (at.share >= 1 || unknown || now < at.value):
			at, stride = passed[0], 1
			continue
		case unknown:
			return Threshold{}
		case now >= at.value && at.share >= 1:
			return KnownAt(now)
		case now < at.value:
			_, top := Golden(func(z float64) float64 {
				r := rate(z)
				unknown = unknown || math.IsNaN(r)
				return r
			}, z, at.before)
			if unknown {
				return Threshold{}
			}
			return KnownAt(top)
		}
		passed[0], passed[1] = passed[1], at
		at = point{at.share, at.last, z, now}
		for range stride {
			at.share *= growth
		}
	}
}
