package rom

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"grposim/option"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// reference returns the reference bandit of docs/theory.md §5.
func reference(scale option.Scale, beta float64, size int) Params {
	return Params{
		Arms:      []option.Arm{{Mean: 0.9}, {Mean: 0.2}},
		Reference: []float64{0, 0},
		Estimator: option.Estimator{GroupSize: size, GroupsPerStep: 1, Advantage: option.Advantage{Scale: scale}, KL: option.KL{Coefficient: beta, At: option.AtSnapshot}},
		Lag:       option.Lag{Kind: option.Block, Interval: 1},
		Optimizer: option.Optimizer{LearningRate: 0.1},
		Factors:   Unit,
	}
}

// near fails unless got agrees with want to the relative error.
func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s: got %.12g, want %.12g to %.1g", what, got, want, relative)
	}
}

// At the closed-form threshold of a frozen mode the general map loses stability:
// radius below 1 just under the threshold, at or above 1 just over, and no
// instability on a grid before it.
func TestClosedFormsAgainstTheGeneralMap(t *testing.T) {
	for _, method := range []option.Method{option.HeavyBall, option.Nesterov} {
		for _, mu := range []float64{0, 0.3, 0.544, 0.9, 0.99} {
			for _, k := range []int{1, 2, 3, 5, 8, 16, 33} {
				closed := BlockThreshold(mu, k)
				if method == option.Nesterov {
					closed = NesterovThreshold(mu, k)
				}
				l := &linear{fresh: single(0), stale: single(1), noise: single(1), method: method, momentum: mu, lag: option.Lag{Kind: option.Block, Interval: k}}
				for _, share := range []float64{0.1, 0.5, 0.9, 1 - 1e-9} {
					if r := radius(l.at(share*closed, k).monodromy()); r >= 1 {
						t.Errorf("method %v μ %v K %d: radius %v at %v of the threshold", method, mu, k, r, share)
					}
				}
				if r := radius(l.at((1+1e-7)*closed, k).monodromy()); r < 1 {
					t.Errorf("method %v μ %v K %d: radius %v above the threshold", method, mu, k, r)
				}
			}
			for _, tau := range []int{0, 1, 2, 5, 16} {
				if method == option.Nesterov {
					continue
				}
				closed := DelayThreshold(mu, tau)
				l := &linear{fresh: single(0), stale: single(1), noise: single(1), momentum: mu, lag: option.Lag{Kind: option.Delay, Interval: tau}}
				if r := radius(l.at((1-1e-7)*closed, tau).monodromy()); r >= 1 {
					t.Errorf("delay %d μ %v: radius %v below the threshold", tau, mu, r)
				}
				if r := radius(l.at((1+1e-7)*closed, tau).monodromy()); r < 1 {
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
			lag    option.Lag
			method option.Method
			onset  float64
		}{
			{option.Lag{Kind: option.Block, Interval: 1}, option.HeavyBall, BlockOnset(mu, 1)}, {option.Lag{Kind: option.Block, Interval: 7}, option.HeavyBall, BlockOnset(mu, 7)},
			{option.Lag{Kind: option.Delay, Interval: 1}, option.HeavyBall, DelayOnset(mu, 1)}, {option.Lag{Kind: option.Delay, Interval: 6}, option.HeavyBall, DelayOnset(mu, 6)},
			{option.Lag{Kind: option.Block, Interval: 1}, option.Nesterov, NesterovOnset(mu, 1)}, {option.Lag{Kind: option.Block, Interval: 7}, option.Nesterov, NesterovOnset(mu, 7)},
		} {
			l := &linear{fresh: single(0), stale: single(1), noise: single(1), method: c.method, momentum: mu, lag: c.lag}
			below := multipliers(l.at(c.onset*(1-1e-6), c.lag.Interval).monodromy())[0]
			above := multipliers(l.at(c.onset*(1+1e-6), c.lag.Interval).monodromy())[0]
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
		s := scalar{
			fresh:    rapid.Float64Range(-0.8, 1.5).Draw(t, "fresh"),
			momentum: rapid.SampledFrom([]float64{0, 0.5, 0.9}).Draw(t, "mu"),
			method:   rapid.SampledFrom([]option.Method{option.HeavyBall, option.Nesterov}).Draw(t, "method"),
			lag:      option.Lag{Kind: rapid.SampledFrom([]option.LagKind{option.Block, option.Delay}).Draw(t, "kind"), Interval: rapid.IntRange(1, 6).Draw(t, "age")},
		}
		s.stale = 1 - s.fresh
		if math.Abs(s.stale) < 0.01 || math.Abs(s.fresh) < 0.01 {
			return
		}
		found := s.criticalRate()
		critical := found.at
		l := s.linear()
		at := func(rate float64) float64 { return radius(l.at(rate, s.lag.Interval).monodromy()) }
		end := min(critical, 6) // where none is known, up to the limit
		for i := 1; i < 40; i++ {
			rate := end * float64(i) / 40
			if r := at(rate); r > 1+1e-9 {
				t.Fatalf("%+v: radius %v at %v, before the threshold %v", s, r, rate, critical)
			}
		}
		if found.known {
			if r := at(critical * (1 + 1e-6)); r < 1-1e-9 {
				t.Fatalf("%+v: radius %v just above the threshold %v", s, r, critical)
			}
			s.rate = 0.7 * critical
		} else {
			s.rate = 0.5
		}
		interval := s.criticalInterval()
		shortest := 1
		if s.lag.Kind == option.Delay {
			shortest = 0
		}
		for age := shortest; age < 40 && float64(age) <= interval.at; age++ {
			r := radius(l.at(s.rate, age).monodromy())
			if interval.known && float64(age) == interval.at {
				if r < 1-1e-9 {
					t.Fatalf("%+v: radius %v at the critical interval %d", s, r, age)
				}
				break
			}
			if r > 1+1e-9 {
				t.Fatalf("%+v: radius %v at %d, critical interval %v", s, r, age, interval)
			}
		}
		if !interval.known && interval.at < 40 {
			t.Fatalf("%+v: no critical interval, searched to %v only", s, interval.at)
		}
	})
}

// The sufficient rule admits no unstable mode (docs/theory.md §5).
func TestSufficientRuleIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := scalar{
			fresh:    rapid.Float64Range(-3, 3).Draw(t, "fresh"),
			stale:    rapid.Float64Range(-3, 3).Draw(t, "stale"),
			momentum: rapid.Float64Range(0, 0.99).Draw(t, "mu"),
			lag:      option.Lag{Kind: rapid.SampledFrom([]option.LagKind{option.Block, option.Delay, option.Random}).Draw(t, "kind"), Interval: rapid.IntRange(1, 24).Draw(t, "age")},
		}
		s.lag.Behind = rapid.IntRange(0, 3).Draw(t, "behind")
		s.lag.Ages = anyAges(rapid.IntRange(0, 2).Draw(t, "law"), rapid.IntRange(0, 24).Draw(t, "from"), rapid.Uint64().Draw(t, "weights"))
		if s.total() < 1e-3 {
			return
		}
		rule := sufficientRule([]scalar{s})
		s.rate = *rule.CriticalLearningRate * rapid.Float64Range(0.5, 1-1e-9).Draw(t, "share")
		if r := radius(s.linear().monodromy()); r > 1+1e-10 {
			t.Fatalf("%+v: radius %v", s, r)
		}
	})
}

// anyAges returns a law of ages; the weights of a table are the bits of a word.
func anyAges(law, from int, weights uint64) option.Ages {
	a := option.Ages{Law: option.AgeLaw(law), From: from, To: from + int(weights%8), Mean: 0.1 + float64(weights%1000)/50}
	a.Weights[0] = 1e-3
	for age := range 24 {
		a.Weights[age] += float64(weights >> age & 1)
	}
	return a
}

// The window of docs/theory.md §5: ratio with the KL at the snapshot, μ = .9,
// ηλ = .62: of K = 1 … 12 only 4 is unstable, radius 1.141.
func TestInstabilityWindow(t *testing.T) {
	p := reference(option.NoScale, 0.5, option.Infinite)
	p.Importance.Mode, p.Optimizer.Momentum = option.Ratio, 0.9
	lambda := Predict(p).Stiffness.Total
	p.Optimizer.LearningRate = 0.62 / lambda
	for k := 1; k <= 12; k++ {
		p.Lag.Interval = k
		d := Predict(p).Exact
		if (*d.SpectralRadius > 1) != (k == 4) {
			t.Errorf("K = %d: radius %v", k, *d.SpectralRadius)
		}
		if k == 4 {
			near(t, "radius", *d.SpectralRadius, 1.141, 0.0005/1.141)
		}
		if d.CriticalRefreshInterval == nil || *d.CriticalRefreshInterval != 4 {
			t.Errorf("K = %d: critical interval %v", k, d.CriticalRefreshInterval)
		}
	}
}

// Doubling solves X = AXAᵀ + Q: the result equals the sum of the series ΣAⁿQAᵀⁿ.
func TestLyapunovAgainstTheSeries(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := 1; n <= 6; n++ {
		a, b := mat.NewDense(n, n, normals(r, n*n, 1)), mat.NewDense(n, n, normals(r, n*n, 1))
		a.Scale(0.9/radius(a), a)
		q := congruence(b, identity(n))
		x, ok := lyapunov(a, q)
		if !ok {
			t.Fatal("no solution of a stable equation")
		}
		// 0.9^(2·600) of anything is below rounding.
		sum, term := mat.DenseCopyOf(q), mat.DenseCopyOf(q)
		for range 600 {
			term = congruence(a, term)
			sum.Add(sum, term)
		}
		sum.Sub(sum, x)
		if miss := norm(sum.RawMatrix().Data); miss > 1e-11*norm(x.RawMatrix().Data) {
			t.Errorf("n = %d: doubling misses the series by %v", n, miss)
		}
	}
	if _, ok := lyapunov(single(1.01), single(1)); ok {
		t.Error("an unstable equation has a solution")
	}
}

// A folded bandit gives the same predictions as the bandit arm by arm: every
// multiplier, threshold and moment, for all estimators and both lags.
func TestFoldingChangesNothing(t *testing.T) {
	base := Params{
		Arms:      []option.Arm{{Mean: 0.8}, {Mean: 0.3}, {Mean: 0.8}, {Mean: 0.8}, {Mean: 0.3}},
		Reference: []float64{0, 0, 0, 0, 0},
		Estimator: option.Estimator{GroupSize: 64, GroupsPerStep: 4, KL: option.KL{Coefficient: 0.8}, Importance: option.Importance{ClipLow: 0.2, ClipHigh: 0.2}},
		Lag:       option.Lag{Kind: option.Block, Interval: 3},
		Optimizer: option.Optimizer{LearningRate: 0.2, Momentum: 0.5},
		Factors:   Unit,
	}
	everyEstimator(base, func(p Params) {
		if p.Advantage.Baseline == option.LeaveOneOut || p.Advantage.Std == option.SampleStd {
			return
		}
		for _, lag := range []option.Lag{{Kind: option.Block, Interval: 3}, {Kind: option.Delay, Interval: 2}} {
			p.Lag = lag
			folded := Predict(p)
			whole := unmerged(p)
			f := fold(p)
			r := newLinearization(whole, f.arms(f.reached()))
			m := r.newMotion(p.Optimizer.Kind, p.Optimizer.LearningRate, p.Optimizer.Momentum, nil)
			want := Prediction{ForceKind: Exact, Exact: Dynamics{Scope: Scope{In: true}}}
			values := multipliers(m.whole.monodromy())
			for i, z := range folded.Exact.Multipliers {
				// Sorting may exchange equal moduli, and the copies of a symmetric
				// multiplier are n-fold eigenvalues, which differ by at most the square
				// root of rounding.
				if d := math.Abs(cmplx.Abs(complex(z[0], z[1])) - cmplx.Abs(values[i])); d > 1e-7 {
					t.Fatalf("%+v: multiplier %d differs by %v", p, i, d)
				}
			}
			near(t, "radius", *folded.Exact.SpectralRadius, cmplx.Abs(values[0]), 1e-10)
			want.Exact.SpectralRadius = folded.Exact.SpectralRadius
			r.stationary(&want, p, m)
			near(t, "Var J", *folded.Exact.StationaryVariance.ExpectedReward, *want.Exact.StationaryVariance.ExpectedReward, 1e-9)
			// Second differences are good to 1e-9 or so of the force's curvature.
			near(t, "E J shift", *folded.Moments.RewardShift, *want.Moments.RewardShift, 1e-5)
			near(t, "zero variance", *folded.Moments.ZeroVariance, *want.Moments.ZeroVariance, 1e-5)
			if folded.Noise != want.Noise {
				t.Errorf("noise scope %v, arm by arm %v", folded.Noise, want.Noise)
			}
		}
	})
}

// A decoupled bandit gives the same thresholds through matrices as through its
// modes: to the resolution of the matrix scan's refinement.
func TestMatrixThresholdsAgainstModes(t *testing.T) {
	p := reference(option.StdScale, 1.2, 32)
	p.Arms = []option.Arm{{Mean: 0.9}, {Mean: 0.2}, {Mean: 0.5}, {Mean: 0.7}}
	p.Reference = []float64{0, 0.5, 0, -0.3}
	p.Optimizer.Momentum = 0.8
	for _, lag := range []option.Lag{{Kind: option.Block, Interval: 1}, {Kind: option.Block, Interval: 4}, {Kind: option.Delay, Interval: 3}} {
		p.Lag = lag
		f := fold(p)
		r := newLinearization(f, f.reached())
		m := r.newMotion(option.HeavyBall, p.Optimizer.LearningRate, p.Optimizer.Momentum, nil)
		if m.coupled {
			t.Fatal("the modes of a frozen force are coupled")
		}
		rate, onset, least := never, never, never
		for _, s := range m.parts {
			rate, onset, least = rate.or(s.criticalRate()), onset.or(s.onsetRate()), least.or(s.criticalInterval())
		}
		near(t, "critical rate", m.whole.criticalRate().at, rate.at, 1e-9)
		// The onset is a double root: rounding in the matrix shows as its square
		// root, against the threshold 1e-6 of oscillates.
		near(t, "onset", m.whole.onsetRate().at, onset.at, 1e-5)
		if k := m.whole.criticalInterval(); least.at < 30 && k != least {
			t.Errorf("%+v: critical interval %v, by modes %v", lag, k, least)
		}
	}
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

// The relative mode of a class of equal arms has the stiffness and the noise that the bandit
// arm by arm has along (e_a − e_b)/√2, a and b two arms of the class.
func TestRelativeModesArmByArm(t *testing.T) {
	p := Params{Estimator: option.Estimator{GroupSize: 64, GroupsPerStep: 4, KL: option.KL{Coefficient: 0.8}}, Lag: option.Lag{Kind: option.Block, Interval: 3}, Optimizer: option.Optimizer{LearningRate: 0.2, Momentum: 0.5}, Factors: Unit}
	for a := range 10 {
		p.Arms = append(p.Arms, option.Arm{Mean: 0.3 + 0.5*float64(a%2)})
		p.Reference = append(p.Reference, 0)
	}
	p = p.checked()
	f := fold(p)
	l := newLinearization(f, f.reached())
	whole := newLinearization(unmerged(p), f.arms(f.reached()))
	if len(l.relatives) != 2 {
		t.Fatalf("%d relative modes, want 2", len(l.relatives))
	}
	for _, x := range l.relatives {
		a := slices.Index(f.class, x.class)
		b := a + 1 + slices.Index(f.class[a+1:], x.class)
		along := func(m mat.Matrix) float64 { return 0.5 * (m.At(a, a) + m.At(b, b) - m.At(a, b) - m.At(b, a)) }
		near(t, "noise", x.noise, along(whole.noise), 1e-9)
		near(t, "fresh stiffness", x.fresh, along(whole.fresh), 1e-9)
		near(t, "stale stiffness", x.stale, along(whole.stale), 1e-9)
	}
}
