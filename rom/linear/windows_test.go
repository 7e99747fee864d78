package rom

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"grposim/option"

	"gonum.org/v1/gonum/mat"
)

// firstUnstable checks a critical learning rate against a dense scan of the
// spectral radius of the whole map: below 1 at every one of points rates under
// it, evenly spaced, and at least 1 just above it.
func firstUnstable(t *testing.T, name string, l *linear, critical float64, points int) {
	t.Helper()
	at := func(rate float64) float64 { return radius(l.at(rate, l.lag.Interval).monodromy()) }
	for i := 1; i < points; i++ {
		rate := critical * float64(i) / float64(points)
		if r := at(rate); r > 1+1e-12 {
			t.Errorf("%s: radius %v at %v, before the critical learning rate %v", name, r, rate, critical)
			return
		}
	}
	if r := at(critical * (1 + 1e-8)); r < 1-1e-9 {
		t.Errorf("%s: radius %v just above the critical learning rate %v", name, r, critical)
	}
}

// Instability in windows (docs/theory.md §5: ratio, KL at the snapshot,
// μ = .9): the critical learning rate at a given K, and the critical K at a
// given learning rate, are the smallest unstable ones, whatever comes after.
func TestCriticalValuesAreTheFirstWindows(t *testing.T) {
	p := reference(option.NoScale, 0.5, option.Infinite)
	p.Importance.Mode, p.Optimizer.Momentum = option.Ratio, 0.9
	lambda := Predict(p).Stiffness.Total
	motion := func(p Params) *linear {
		f := fold(p)
		return newLinearization(f, f.reached()).newMotion(option.HeavyBall, p.Optimizer.LearningRate, p.Optimizer.Momentum, nil).whole
	}
	windows := 0
	for k := 1; k <= 12; k++ {
		p.Lag = option.Lag{Kind: option.Block, Interval: k}
		l := motion(p)
		critical := *Predict(p).Exact.CriticalLearningRate
		firstUnstable(t, "block", l, critical, 2000)
		for i := range 400 { // stable again somewhere beyond?
			if rate := critical * (1.01 + 0.02*float64(i)); radius(l.at(rate, k).monodromy()) < 1 {
				windows++
				break
			}
		}
		p.Lag = option.Lag{Kind: option.Delay, Interval: k}
		firstUnstable(t, "delay", motion(p), *Predict(p).Exact.CriticalLearningRate, 400)
	}
	if windows < 6 {
		t.Errorf("only %d of 12 blocks have a window", windows)
	}

	for i := range 60 {
		p.Optimizer.LearningRate, p.Lag = 0.02*float64(i+1)/lambda, option.Lag{Kind: option.Block, Interval: 1}
		l := motion(p)
		first := 0
		for k := 1; k <= 40 && first == 0; k++ {
			if radius(l.at(p.Optimizer.LearningRate, k).monodromy()) >= 1 {
				first = k
			}
		}
		d := Predict(p).Exact
		if got := d.CriticalRefreshInterval; first > 0 && (got == nil || *got != float64(first)) || first == 0 && got != nil && *got <= 40 {
			t.Errorf("ηλ = %v: critical interval %v, the first unstable is %d", 0.02*float64(i+1), got, first)
		}
	}
}

// coupledDelay returns a random recursion of n coupled modes with a delay below a limit.
// fresh and stale are the standard deviations of the entries about 1 and 0.
func coupledDelay(r *rand.Rand, n int, fresh, stale float64, delays int) *linear {
	l := &linear{
		fresh: mat.NewDense(n, n, normals(r, n*n, fresh)), stale: mat.NewDense(n, n, normals(r, n*n, stale)),
		method: option.Method(r.IntN(2)), momentum: 0.95 * r.Float64(), lag: option.Lag{Kind: option.Delay, Interval: r.IntN(delays)},
	}
	for i := range n {
		l.fresh.Set(i, i, l.fresh.At(i, i)+1)
	}
	return l
}

// The critical rate of coupled modes under delay: for random matrices (0 if one of
// their modes has λ ≤ 0), and for the substitute of eight completions as the update is written,
// where the first window of instability at τ = 20 is 6 % below the next.
func TestCriticalRateOfCoupledDelays(t *testing.T) {
	r := rand.New(rand.NewPCG(81, 82))
	for range 40 {
		n := 2 + r.IntN(3)
		l := coupledDelay(r, n, 0.4, 0.4, 8)
		var total mat.Dense
		total.Add(l.fresh, l.stale)
		for _, v := range multipliers(&total) {
			if real(v) <= 0 {
				total.Zero()
			}
		}
		rate := l.criticalRate()
		if !rate.known {
			t.Errorf("critical rate %v is not known, though some rate is always unstable", rate)
		}
		critical := rate.at
		if norm(total.RawMatrix().Data) == 0 {
			if critical != 0 {
				t.Errorf("critical rate %v with a mode of λ ≤ 0, want 0", critical)
			}
			continue
		}
		firstUnstable(t, "random", l, critical, 300)
	}
	p := Params{
		Estimator: option.Estimator{GroupSize: option.Infinite, GroupsPerStep: 1, Importance: option.Importance{Mode: option.Ratio}, KL: option.KL{Coefficient: 1}},
		Reference: make([]float64, 8),
		Lag:       option.Lag{Kind: option.Delay, Interval: 20},
		Optimizer: option.Optimizer{LearningRate: 0.3, Momentum: 0.8},
		Factors:   Unit,
	}
	for _, reward := range []float64{0, 0, 0, 0.5, 0.5, 1, 1, 2} {
		p.Arms = append(p.Arms, option.Arm{Law: option.Constant, Mean: reward})
	}
	f := fold(p)
	m := newLinearization(f, f.reached()).newMotion(option.HeavyBall, 0.3, 0.8, nil)
	if !m.coupled {
		t.Fatal("the modes are independent, want the stale share of the scale to couple them")
	}
	firstUnstable(t, "eight completions", m.whole, m.whole.criticalRate().at, 300)
}

// The argument principle finds a spectral radius below 1 where it is, and the critical
// delay is the one found from spectra alone. The couplings are random, some with modes of
// λ ≤ 0.
func TestArgumentPrincipleAgainstSpectra(t *testing.T) {
	r := rand.New(rand.NewPCG(85, 86))
	stable, unstable := 0, 0
	for range 80 {
		n := 2 + r.IntN(3)
		l := &linear{
			fresh: mat.NewDense(n, n, normals(r, n*n, 0.4)), stale: mat.NewDense(n, n, normals(r, n*n, 0.4)),
			method: option.Method(r.IntN(2)), momentum: 0.95 * r.Float64(), rate: 0.02 + 0.2*r.ExpFloat64(), lag: option.Lag{Kind: option.Delay},
		}
		for i := range n {
			l.fresh.Set(i, i, l.fresh.At(i, i)+1)
		}
		want := upTo(12)
		for tau := 12; tau >= 0; tau-- {
			at := l.at(l.rate, tau)
			size := radius(at.monodromy())
			if size < 1 {
				stable++
			} else {
				unstable++
				want = first(float64(tau))
			}
			if got := at.delayStable(); math.Abs(size-1) > 1e-6 && got != (size < 1) {
				t.Errorf("%+v: %v with a spectral radius of %v", at, got, size)
			}
		}
		if got := l.criticalInterval(); want.known && got != want || !want.known && got.known && got.at <= 12 {
			t.Errorf("%+v: critical delay %v, by spectra %v", l, got, want)
		}
	}
	if stable < 200 || unstable < 200 {
		t.Errorf("%d maps are stable, %d unstable", stable, unstable)
	}
	// Two equal modes next to the circle may hide each other, but nothing unstable is stable.
	for _, excess := range []float64{-1e-9, 1e-9} {
		s := &scalar{stale: 1, lag: option.Lag{Kind: option.Delay, Interval: 5}}
		l := &linear{fresh: mat.NewDense(2, 2, nil), stale: identity(2), lag: s.lag, rate: s.criticalRate().at * (1 + excess)}
		if l.delayStable() && excess > 0 {
			t.Error("two equal modes above their threshold count as stable")
		}
	}
}

// The sign of the stability margin is that of the largest spectrum of the companion matrix
// minus 1, at every learning rate, also where stability returns above a threshold. The
// couplings are random.
func TestStabilityMarginAgainstSpectra(t *testing.T) {
	r := rand.New(rand.NewPCG(87, 88))
	stable, unstable, returns := 0, 0, 0
	for range 200 {
		n := 1 + r.IntN(4)
		l := coupledDelay(r, n, 0.3, 0.4, 10)
		m := &linearDynamics{whole: l, coupled: true}
		crossings := m.crossings()
		if crossings == nil {
			t.Fatalf("%+v: the crossings are not known", l)
		}
		if crossings[0].rate == 0 {
			continue // a mode of λ ≤ 0
		}
		before := -1.0
		for i := range 60 {
			rate := 0.03 * math.Pow(100, float64(i)/60)
			margin := stabilityMargin(crossings, rate)
			size := radius(l.at(rate, l.lag.Interval).monodromy())
			switch {
			case math.Abs(size-1) < 1e-9:
				continue
			case math.IsNaN(margin) || (margin > 0) != (size > 1):
				t.Fatalf("%+v at η = %g: margin %g, spectral radius %g, crossings %v", l, rate, margin, size, crossings)
			case margin > 0:
				unstable++
			case before > 0:
				returns++
				fallthrough
			default:
				stable++
			}
			before = margin
		}
	}
	if stable < 1500 || unstable < 1500 || returns < 3 {
		t.Errorf("%d stable, %d unstable, %d returns to stability", stable, unstable, returns)
	}
}

// The eigenvalues of a triangular matrix in another basis are its diagonal;
// separate ones, of conjugates, real, and all alike in modulus.
func TestComplexEigenvalues(t *testing.T) {
	r := rand.New(rand.NewPCG(83, 84))
	for n := 1; n <= 12; n++ {
		for kind := range 4 {
			triangle, basis := newComplexMatrix(n), newComplexMatrix(n)
			want := make([]complex128, n)
			for i := range n {
				switch kind {
				case 0:
					want[i] = complex(r.NormFloat64(), r.NormFloat64())
				case 1:
					want[i] = complex(r.NormFloat64(), r.NormFloat64())
					if i%2 == 1 {
						want[i] = cmplx.Conj(want[i-1])
					}
				case 2:
					want[i] = complex(r.NormFloat64(), 0)
				case 3:
					want[i] = cmplx.Rect(1, 2*math.Pi*float64(i)/float64(n))
				}
				triangle[i][i] = want[i]
				for j := i + 1; j < n; j++ {
					triangle[i][j] = complex(0.1*r.NormFloat64(), 0.1*r.NormFloat64())
				}
				for j := range n {
					basis[i][j] = complex(r.NormFloat64(), r.NormFloat64())
				}
			}
			// The same change of basis from both sides, one rotation at a time.
			for i := range n {
				for j := range i {
					g := givens(basis[j][i], basis[i][j])
					g.rows(triangle[j], triangle[i])
					g.columns(triangle, j, i)
				}
			}
			got := triangle.eigenvalues()
			if len(got) != n {
				t.Fatalf("kind %d: %d of %d eigenvalues", kind, len(got), n)
			}
			for i, v := range nearest(want, got) {
				// Condition numbers of a few hundred, times rounding and n.
				if miss := cmplx.Abs(v - want[i]); !(miss <= 1e-11) {
					t.Errorf("kind %d, n = %d: %v, want %v", kind, n, v, want[i])
				}
			}
		}
	}
	for _, exact := range []complexMatrix{
		{{0, 1}, {-1, 0}}, {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}, {{0, 1}, {1, 0}}, // orthogonal: QR without shifts does not converge
		{{2, 0}, {0, 2}}, {{0, 0}, {0, 0}},
	} {
		trace, sum := 0i, 0i
		for i := range exact {
			trace += exact[i][i]
		}
		n := len(exact)
		got := exact.eigenvalues()
		for _, v := range got {
			sum += v
		}
		if len(got) != n || cmplx.Abs(sum-trace) > 1e-15 {
			t.Errorf("eigenvalues %v, trace %v", got, trace)
		}
	}
	if got := (complexMatrix{{complex(math.NaN(), 0), 1}, {1, 0}}).eigenvalues(); got != nil {
		t.Errorf("eigenvalues %v of a matrix that is not finite", got)
	}
}

// Where the determinant overflows, no delay counts as stable, and the search ends.
func TestArgumentPrincipleEndsAtOverflow(t *testing.T) {
	for _, size := range []float64{1e200, math.MaxFloat64} {
		l := &linear{fresh: mat.NewDense(2, 2, []float64{size, size, -size, size}), stale: identity(2), rate: 1e150, lag: option.Lag{Kind: option.Delay, Interval: 300}}
		if l.delayStable() {
			t.Errorf("a stiffness of %v counts as stable", size)
		}
	}
}
