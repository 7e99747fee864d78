package linear

import (
	"grposim/option"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// near fails unless got agrees with want to the relative error.
func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s: got %.12g, want %.12g to %.1g", what, got, want, relative)
	}
}

// The general map loses stability at the closed-form threshold of a frozen mode. Its radius is
// below 1 on a grid and just under the threshold, and at least 1 just over.
func TestClosedFormsAgainstTheGeneralMap(t *testing.T) {
	for _, method := range []option.Method{option.HeavyBall, option.Nesterov} {
		for _, mu := range []float64{0, 0.3, 0.544, 0.9, 0.99} {
			for _, k := range []int{1, 2, 3, 5, 8, 16, 33} {
				closed := FrozenBlock(CriticalRate, option.HeavyBall, mu, k)
				if method == option.Nesterov {
					closed = FrozenBlock(CriticalRate, option.Nesterov, mu, k)
				}
				l := &System{Fresh: single(0), Stale: single(1), Noise: single(1),
					Update: Update{Method: method, Momentum: mu, Lag: block{interval: k}}}
				for _, share := range []float64{0.1, 0.5, 0.9, 1 - 1e-9} {
					if r := Radius(l.at(share*closed, block{interval: k}).Monodromy()); r >= 1 {
						t.Errorf("method %v μ %v K %d: radius %v at %v of the threshold", method, mu, k, r, share)
					}
				}
				if r := Radius(l.at((1+1e-7)*closed, block{interval: k}).Monodromy()); r < 1 {
					t.Errorf("method %v μ %v K %d: radius %v above the threshold", method, mu, k, r)
				}
			}
			for _, tau := range []int{0, 1, 2, 5, 16} {
				if method == option.Nesterov {
					continue
				}
				closed := DelayThreshold(mu, tau)
				l := &System{Fresh: single(0), Stale: single(1), Noise: single(1),
					Update: Update{Momentum: mu, Lag: delay{steps: tau}}}
				if r := Radius(l.at((1-1e-7)*closed, delay{steps: tau}).Monodromy()); r >= 1 {
					t.Errorf("delay %d μ %v: radius %v below the threshold", tau, mu, r)
				}
				if r := Radius(l.at((1+1e-7)*closed, delay{steps: tau}).Monodromy()); r < 1 {
					t.Errorf("delay %d μ %v: radius %v above the threshold", tau, mu, r)
				}
			}
		}
	}
}

// The dominant multipliers are real and positive below the onset of oscillation and a
// complex pair above. At a double root an error ε in κ moves them by √ε.
func TestOnsetsAgainstTheGeneralMap(t *testing.T) {
	for _, mu := range []float64{0.3, 0.9} {
		for _, c := range []struct {
			lag    Lag
			method option.Method
			onset  float64
		}{
			{block{interval: 1}, option.HeavyBall, FrozenBlock(OnsetRate, option.HeavyBall, mu, 1)},
			{block{interval: 7}, option.HeavyBall, FrozenBlock(OnsetRate, option.HeavyBall, mu, 7)},
			{delay{steps: 1}, option.HeavyBall, delayOnset(mu, 1)},
			{delay{steps: 6}, option.HeavyBall, delayOnset(mu, 6)},
			{block{interval: 1}, option.Nesterov, FrozenBlock(OnsetRate, option.Nesterov, mu, 1)},
			{block{interval: 7}, option.Nesterov, FrozenBlock(OnsetRate, option.Nesterov, mu, 7)},
		} {
			l := &System{Fresh: single(0), Stale: single(1), Noise: single(1),
				Update: Update{Method: c.method, Momentum: mu, Lag: c.lag}}
			below := Multipliers(l.at(c.onset*(1-1e-6), c.lag).Monodromy())[0]
			above := Multipliers(l.at(c.onset*(1+1e-6), c.lag).Monodromy())[0]
			if imag(below) != 0 || real(below) < 0 || imag(above) == 0 {
				t.Errorf("μ %v %+v %v: %v below, %v above the onset", mu, c.lag, c.method, below, above)
			}
		}
	}
}

// The search for thresholds of one mode agrees with a fine scan of the general
// map, mixed forces included.
func TestScalarThresholdsAgainstAScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shortest, lag := 1, func(k int) Lag { return block{interval: k} }
		if rapid.Bool().Draw(t, "delay") {
			shortest, lag = 0, func(tau int) Lag { return delay{steps: tau} }
		}
		s := Mode{Fresh: rapid.Float64Range(-0.8, 1.5).Draw(t, "fresh"), Update: Update{Method: rapid.SampledFrom([]option.Method{option.HeavyBall, option.Nesterov}).Draw(t, "method"), Momentum: rapid.SampledFrom([]float64{0, 0.5, 0.9}).Draw(t, "mu"), Lag: lag(rapid.IntRange(1, 6).Draw(t, "age"))}}
		s.Stale = 1 - s.Fresh
		if math.Abs(s.Stale) < 0.01 || math.Abs(s.Fresh) < 0.01 {
			return
		}
		found := s.threshold(CriticalRate)
		critical := found.At
		l := s.System()
		at := func(rate float64) float64 { return Radius(l.at(rate, s.Lag).Monodromy()) }
		end := min(critical, 6) // where none is known, up to the limit
		for i := 1; i < 40; i++ {
			rate := end * float64(i) / 40
			if r := at(rate); r > 1+1e-9 {
				t.Fatalf("%+v: radius %v at %v, before the threshold %v", s, r, rate, critical)
			}
		}
		if found.Known {
			if r := at(critical * (1 + 1e-6)); r < 1-1e-9 {
				t.Fatalf("%+v: radius %v just above the threshold %v", s, r, critical)
			}
			s.Rate = 0.7 * critical
		} else {
			s.Rate = 0.5
		}
		interval := s.threshold(CriticalInterval)
		for age := shortest; age < 40 && float64(age) <= interval.At; age++ {
			r := Radius(l.at(s.Rate, lag(age)).Monodromy())
			if interval.Known && float64(age) == interval.At {
				if r < 1-1e-9 {
					t.Fatalf("%+v: radius %v at the critical interval %d", s, r, age)
				}
				break
			}
			if r > 1+1e-9 {
				t.Fatalf("%+v: radius %v at %d, critical interval %v", s, r, age, interval)
			}
		}
		if !interval.Known && interval.At < 40 {
			t.Fatalf("%+v: no critical interval, searched to %v only", s, interval.At)
		}
	})
}

// Two modes oscillate if one of their slow multipliers is complex or negative. The
// fast multipliers that momentum adds do not count, nor does the effect of rounding
// on a double or a zero multiplier.
func TestRings(t *testing.T) {
	for _, c := range []struct {
		values []complex128
		want   bool
	}{
		{[]complex128{0.9, 0.8, 0.3, 0.1}, false},
		{[]complex128{0.9, 0.8, 0.3, -0.1}, false},
		{[]complex128{0.9, 0.8, complex(0.3, 0.1), complex(0.3, -0.1)}, false},
		{[]complex128{0.9, -0.8, 0.3, 0.1}, true},
		{[]complex128{complex(0.9, 0.1), complex(0.9, -0.1), 0.3, 0.1}, true},
		{[]complex128{complex(0.9, 1e-9), complex(0.9, -1e-9), 0.3, 0.1}, false},
		{[]complex128{0.9, -1e-9, 0, 0}, false},
		{[]complex128{-0.9}, true},
	} {
		if got := oscillates(c.values, 2); got != c.want {
			t.Errorf("%v rings: %v", c.values, got)
		}
	}
}

// The damping ratio ζ of given multipliers, and the cases without one.
func TestDampingRatioOfMultipliers(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []complex128
		want   float64 // NaN: none
	}{
		{"a quarter turn and a decay by e^{−π/2}", []complex128{complex(0, math.Exp(-math.Pi/2)),
			complex(0, -math.Exp(-math.Pi/2))}, math.Sqrt(0.5)},
		{"a growing pair", []complex128{complex(0, math.Exp(math.Pi/2)),
			complex(0, -math.Exp(math.Pi/2))}, -math.Sqrt(0.5)},
		{"a pair on the unit circle", []complex128{complex(0.6, 0.8), complex(0.6, -0.8)}, 0},
		{"two decays", []complex128{complex(math.Exp(-1), 0), complex(math.Exp(-4), 0)}, 1.25},
		{"one decay twice", []complex128{0.5, 0.5}, 1},
		{"two growths", []complex128{complex(math.Exp(4), 0), complex(math.Exp(1), 0)}, -1.25},
		{"two pairs of one modulus",
			[]complex128{complex(0.8, 0.6), complex(0.6, 0.8), complex(0.6, -0.8), complex(0.8, -0.6)}, 0},
		{"a growth and a decay", []complex128{1.5, 0.5}, math.NaN()},
		{"a neutral one", []complex128{1, 0.5}, math.NaN()},
		{"a negative one", []complex128{-0.9, 0.5}, math.NaN()},
		{"a negative second", []complex128{0.9, -0.5}, math.NaN()},
		{"a pair behind", []complex128{0.9, complex(0.5, 0.1), complex(0.5, -0.1)}, math.NaN()},
		{"one only", []complex128{0.9, 0}, math.NaN()},
		{"one and rounding", []complex128{0.9, 1e-17}, math.NaN()},
		{"none that moves", []complex128{0, 0}, math.NaN()},
		{"none", nil, math.NaN()},
	} {
		got, ok := DampingRatio(c.values)
		if ok == math.IsNaN(c.want) {
			t.Errorf("%s: %v, %v", c.name, got, ok)
		} else if ok && !(math.Abs(got-c.want) <= 1e-15) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// delayOnset returns κ_osc of the heavy ball with the constant delay τ ≥ 0, 0 ≤ μ < 1. It is the
// maximum of z^{τ−1}(1−z)(z−μ) over z in (μ, 1), at the larger root of (τ+1)z² − τ(1+μ)z +
// (τ−1)μ = 0. For τ = 0 it is (1−√μ)².
func delayOnset(mu float64, tau int) float64 {
	if tau == 0 {
		r := 1 - math.Sqrt(mu)
		return r * r
	}
	n := float64(tau)
	z := (n*(1+mu) + math.Sqrt(n*n*(1+mu)*(1+mu)-4*(n*n-1)*mu)) / (2 * (n + 1))
	return math.Pow(z, n-1) * (1 - z) * (z - mu)
}
