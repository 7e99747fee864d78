package linear

import (
	"grposim/option"
	"math"
	"math/rand/v2"
	"testing"
)

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
		if got := s.threshold(CriticalInterval); want > 0 && got != KnownAt(float64(want)) || want == 0 && got.Known && got.At <= 400 {
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
