package linear

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"

	"gonum.org/v1/gonum/mat"
)

// The earlier of two thresholds is the lower one, unless the other was not searched that far. A
// search up to +Inf means Never, and one up to 0 leaves both unknown.
func TestThresholdOfEither(t *testing.T) {
	for _, c := range []struct{ a, b, want Threshold }{
		{KnownAt(2), KnownAt(3), KnownAt(2)},
		{KnownAt(2), Never, KnownAt(2)},
		{Never, Never, Never},
		{KnownAt(2), UpTo(5), KnownAt(2)},
		{KnownAt(5), UpTo(2), UpTo(2)},
		{KnownAt(2), UpTo(2), KnownAt(2)},
		{UpTo(2), UpTo(5), UpTo(2)},
		{Never, UpTo(5), UpTo(5)},
		{KnownAt(2), Threshold{}, Threshold{}},
		{KnownAt(0), Threshold{}, KnownAt(0)},
		{KnownAt(math.NaN()), Never, Threshold{}},
		{KnownAt(-1e-7), Never, Threshold{}},
		{UpTo(math.Inf(1)), Never, Threshold{}},
	} {
		if got, swapped := c.a.Or(c.b), c.b.Or(c.a); got != c.want || swapped != c.want {
			t.Errorf("%v or %v: %v, %v; want %v", c.a, c.b, got, swapped, c.want)
		}
	}
}

// A search ends where the function is NaN, that is, unknown. A threshold found before is kept;
// beyond that point there is no result, and the point itself is no threshold.
func TestSearchEndsWhereNothingIsKnown(t *testing.T) {
	const n = 100
	knownTo := func(limit float64, f func(float64) float64) func(float64) float64 {
		return func(x float64) float64 {
			if x > limit {
				return math.NaN()
			}
			return f(x)
		}
	}
	rising := func(x float64) float64 { return x / 3 }
	if got := firstCrossing(rising, 1, 9, n); !got.Known || math.Abs(got.At-3) > 1e-12 {
		t.Errorf("crossing at 3: %v", got)
	}
	if got := firstCrossing(rising, 1, 2, n); got != UpTo(2) {
		t.Errorf("no crossing up to 2: %v", got)
	}
	if got := firstCrossing(knownTo(3.2, rising), 1, 9, n); !got.Known || math.Abs(got.At-3) > 1e-12 {
		t.Errorf("crossing at 3, known to 3.2: %v", got)
	}
	// The grid steps by 0.02 in √x: by at most 0.08 below 4.
	if got := firstCrossing(knownTo(2.5, rising), 1, 9, n); got.Known || got.At > 2.5 || got.At < 2.4 {
		t.Errorf("known to 2.5: %v", got)
	}
	if got := firstCrossing(knownTo(0.5, rising), 1, 9, n); got != (Threshold{}) {
		t.Errorf("never known: %v", got)
	}
	// NaN around the crossing, within one cell of the grid: there is no crossing before.
	gap := func(x float64) float64 {
		if 2.99 < x && x < 3.001 {
			return math.NaN()
		}
		return rising(x)
	}
	if got := firstCrossing(gap, 1, 9, n); got.Known || got.At > 3 || got.At < 2.9 {
		t.Errorf("NaN around the crossing: %v", got)
	}
	// A peak between two grid points.
	peak := func(x float64) float64 { return 1.001 - 10*(x-3.03)*(x-3.03) }
	if got := firstCrossing(peak, 1, 9, n); !got.Known || math.Abs(got.At-(3.03-0.01)) > 1e-9 {
		t.Errorf("a peak reaches 1 at 3.02: %v", got)
	}
	if got := firstCrossing(rising, 1, math.Inf(1), n); got != (Threshold{}) {
		t.Errorf("a scan up to +Inf: %v", got)
	}

	hill := func(z float64) float64 { return (1 - z) * (z - 0.5) }
	if got := firstMaximum(hill, 0.5); !got.Known || math.Abs(got.At-0.0625) > 1e-12 {
		t.Errorf("the maximum of (1−z)(z−½) is 1/16: %v", got)
	}
	for _, hole := range []float64{math.NaN(), math.Inf(1)} {
		got := firstMaximum(func(z float64) float64 {
			if z < 0.8 {
				return hole
			}
			return hill(z)
		}, 0.5)
		if got != (Threshold{}) {
			t.Errorf("%v before the maximum: %v", hole, got)
		}
	}
}

// Eigenvalues that do not converge make a result unknown, not unstable; a map that
// overflows is unstable; any other panic is passed on.
func TestUnconverged(t *testing.T) {
	if unconverged(nil) {
		t.Error("the absence of a panic counts as no convergence")
	}
	if !unconverged("lapack: bad length of wr") {
		t.Error("gonum's panic for a QR iteration that does not converge is not recognized")
	}
	for _, other := range []any{"lapack: bad length of wi", errors.New("lapack: bad length of wr"), []int{1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("the panic %v is not passed on", other)
				}
			}()
			unconverged(other)
		}()
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic for a matrix that is not square")
			}
		}()
		Multipliers(mat.NewDense(2, 3, nil))
	}()
	for _, x := range []float64{math.Inf(1), math.NaN()} {
		if r := Radius(single(x)); !math.IsInf(r, 1) {
			t.Errorf("radius %v of %v", r, x)
		}
	}
}

// The limits of the search for a critical interval of modes that mix.
func TestHowFarIntervalsOfMixedModesAreSearched(t *testing.T) {
	// Modes that mix (Λ_f and Λ_s do not commute) at a rate below every threshold. The
	// limit of delays is lower for many arms, whose companion matrix is large.
	for _, c := range []struct {
		lag  Lag
		n    int
		want float64
	}{{delay{steps: 3}, 2, maxMixedDelay}, {delay{steps: 3}, 8, maxCompanion/2/8 - 2},
		{block{interval: 3}, 2, maxMixedBlock}} {
		fresh, stale := Identity(c.n), Identity(c.n)
		fresh.Set(0, 1, 0.3)
		stale.Set(1, 0, 0.3)
		l := &System{Fresh: fresh, Stale: stale, Update: Update{Rate: 1e-4, Lag: c.lag}}
		if got := l.Lag.mixed(CriticalInterval, l); got != UpTo(c.want) {
			t.Errorf("%T, n = %d: critical interval %v, want none up to %v", c.lag, c.n, got, c.want)
		}
		if got := l.Lag.mixed(CriticalRate, l); !got.Known {
			t.Errorf("%T, n = %d: critical rate %v", c.lag, c.n, got)
		}
	}
	// The dynamics inside the block converge within 512 steps, after which
	// x_old ↦ −Λ_f⁻¹Λ_s x_old, a contraction to a third.
	fresh, stale := Identity(2), Identity(2)
	fresh.Set(0, 1, 0.3)
	stale.Set(1, 0, 0.3)
	stale.Scale(1.0/3, stale)
	l := &System{Fresh: fresh, Stale: stale, Update: Update{Rate: 0.5, Lag: block{interval: 3}}}
	if got := l.Lag.mixed(CriticalInterval, l); got != Never {
		t.Errorf("a block whose inner dynamics converge: %v", got)
	}
}

// Skipping points before the rate falls finds the same maximum as a look at every point. So it does
// of coupled modes, whose rate has kinks.
func TestFirstMaximumAgainstEveryPoint(t *testing.T) {
	every := func(rate func(z float64) float64, mu float64) Threshold {
		before, last, value := 1.0, 1.0, 0.0
		for share := 1e-6; share < 1.03; share *= 1.03 {
			z := 1 - (1-mu)*min(share, 1-1e-12)
			now := rate(z)
			if math.IsInf(now, 1) || math.IsNaN(now) {
				return Threshold{}
			}
			if now < value {
				_, top := Golden(rate, z, before)
				return KnownAt(top)
			}
			before, last, value = last, z, now
		}
		return KnownAt(value)
	}
	r := rand.New(rand.NewPCG(87, 88))
	known := 0
	for range 2000 {
		mu, age := 0.95*r.Float64(), float64(r.IntN(30))
		modes := make([][2]float64, 1+r.IntN(4))
		for i := range modes {
			modes[i] = [2]float64{r.NormFloat64() + 1, r.NormFloat64()}
		}
		rate := func(z float64) float64 {
			stiffest := math.Inf(-1)
			for _, m := range modes {
				stiffest = max(stiffest, m[0]+m[1]*math.Pow(z, -age))
			}
			if stiffest <= 0 {
				return math.Inf(1)
			}
			return (1 - z) * (z - mu) / (z * stiffest)
		}
		got, want := firstMaximum(rate, mu), every(rate, mu)
		if got != want {
			t.Errorf("μ %v, delay %v, modes %v: %v, at every point %v", mu, age, modes, got, want)
		}
		if got.Known {
			known++
		}
	}
	if known < 500 || known > 1900 {
		t.Errorf("%d of 2000 maxima are known", known)
	}
}

// The search for a critical refresh interval that starts from the sufficient one finds the
// interval that a look at each one does.
func TestCriticalBlockAgainstEveryInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(89, 90))
	late := 0
	for range 300 {
		s := &Mode{Fresh: r.NormFloat64(), Stale: r.NormFloat64(), Update: Update{Method: option.Method(r.IntN(2)), Rate: 0.3 * r.Float64() * r.Float64(), Momentum: 0.95 * r.Float64(), Lag: block{interval: 1}}}
		if s.Total() <= 0 {
			continue
		}
		want := 0
		for k := 1; k <= 400 && want == 0; k++ {
			if m, _ := s.period(k, s.Rate); m.radius() >= 1 {
				want = k
			}
		}
		if got := s.threshold(CriticalInterval); want > 0 && got != KnownAt(float64(want)) || want == 0 &&
			got.Known && got.At <= 400 {
			t.Errorf("%+v: critical interval %v, at every interval %v", s, got, want)
		}
		if want > 0 && s.sufficientAge(maxInterval) > 1 {
			late++
		}
	}
	if late < 20 {
		t.Errorf("%d searches start late", late)
	}
}

// Of a frozen mode, whose threshold falls in K, bisection finds the interval that the sums of each
// one do.
func TestCriticalFrozenBlockAgainstEveryInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(91, 92))
	long := 0
	for range 300 {
		s := &Mode{Stale: 1, Update: Update{Method: option.Method(r.IntN(2)), Rate: math.Exp(1 - 11*r.Float64()), Momentum: 1 - math.Exp(-7*r.Float64()), Lag: block{interval: 1}}}
		sums := newBlockSums(s.Momentum, 1)
		for last := math.Inf(1); s.Rate < sums.threshold(s.Method); sums = sums.next() {
			if next := sums.threshold(s.Method); !(next < last) {
				t.Fatalf("μ = %v, %v: threshold %v at K = %d, before %v", s.Momentum, s.Method, next, sums.k, last)
			} else {
				last = next
			}
		}
		if got := s.threshold(CriticalInterval); got != KnownAt(float64(sums.k)) {
			t.Errorf("%+v: critical interval %v, at every interval %d", s, got, sums.k)
		}
		if sums.k > 100 {
			long++
		}
	}
	if long < 50 {
		t.Errorf("%d intervals are long", long)
	}
}
