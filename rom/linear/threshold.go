package linear

import "math"

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
