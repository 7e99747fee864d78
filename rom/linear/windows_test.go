package linear

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"grposim/option"

	"gonum.org/v1/gonum/mat"
)

// mixedDelay returns a random recursion of n modes that mix with a delay below a limit.
// fresh and stale are the standard deviations of the entries about 1 and 0.
func mixedDelay(r *rand.Rand, n int, fresh, stale float64, delays int) *System {
	l := &System{Fresh: mat.NewDense(n, n, normals(r, n*n, fresh)), Stale: mat.NewDense(n, n, normals(r, n*n, stale)), Update: Update{Method: option.Method(r.IntN(2)), Momentum: 0.95 * r.Float64(), Lag: delay{steps: r.IntN(delays)}}}
	for i := range n {
		l.Fresh.Set(i, i, l.Fresh.At(i, i)+1)
	}
	return l
}

// The argument principle finds a spectral radius below 1 where it is, and the critical
// delay is the one found from spectra alone. The couplings are random, some with modes of
// λ ≤ 0.
func TestArgumentPrincipleAgainstSpectra(t *testing.T) {
	r := rand.New(rand.NewPCG(85, 86))
	stable, unstable := 0, 0
	for range 80 {
		n := 2 + r.IntN(3)
		l := &System{Fresh: mat.NewDense(n, n, normals(r, n*n, 0.4)), Stale: mat.NewDense(n, n, normals(r, n*n, 0.4)), Update: Update{Method: option.Method(r.IntN(2)), Rate: 0.02 + 0.2*r.ExpFloat64(), Momentum: 0.95 * r.Float64(), Lag: delay{steps: 0}}}
		for i := range n {
			l.Fresh.Set(i, i, l.Fresh.At(i, i)+1)
		}
		want := UpTo(12)
		for tau := 12; tau >= 0; tau-- {
			at := l.at(l.Rate, delay{steps: tau})
			size := Radius(at.Monodromy())
			if size < 1 {
				stable++
			} else {
				unstable++
				want = KnownAt(float64(tau))
			}
			if got := at.delayStable(); math.Abs(size-1) > 1e-6 && got != (size < 1) {
				t.Errorf("%+v: %v with a spectral radius of %v", at, got, size)
			}
		}
		if got := l.Lag.mixed(CriticalInterval, l); want.Known && got != want || !want.Known && got.Known && got.At <= 12 {
			t.Errorf("%+v: critical delay %v, by spectra %v", l, got, want)
		}
	}
	if stable < 200 || unstable < 200 {
		t.Errorf("%d maps are stable, %d unstable", stable, unstable)
	}
	// At a small learning rate all modes are slow, with multipliers next to 1.
	for i := range 40 {
		l := mixedDelay(r, 1+i%10, 0.1, 0.1, 15)
		l.Rate = 1e-3 * math.Pow(0.1, 3*r.Float64())
		if got, size := l.delayStable(), Radius(l.Monodromy()); got != (size < 1) {
			t.Errorf("%+v: %v with a spectral radius of 1 − %g", l, got, 1-size)
		}
	}
	// Two equal modes next to the circle may hide each other, but nothing unstable is stable.
	for _, excess := range []float64{-1e-9, 1e-9} {
		s := &Mode{Stale: 1, Update: Update{Lag: delay{steps: 5}}}
		l := &System{Fresh: mat.NewDense(2, 2, nil), Stale: Identity(2), Update: Update{Rate: s.threshold(CriticalRate).At * (1 + excess), Lag: s.Lag}}
		if l.delayStable() && excess > 0 {
			t.Error("two equal modes above their threshold count as stable")
		}
	}
}

// The sign of the stability margin is that of the largest spectrum of the companion matrix minus 1.
// So it is at every learning rate, also where stability returns. The couplings are random.
func TestStabilityMarginAgainstSpectra(t *testing.T) {
	r := rand.New(rand.NewPCG(87, 88))
	stable, unstable, returns := 0, 0, 0
	for range 200 {
		n := 1 + r.IntN(4)
		l := mixedDelay(r, n, 0.3, 0.4, 10)
		m := &Dynamics{Whole: l, Mixed: true}
		crossings := m.Crossings()
		if crossings == nil {
			t.Fatalf("%+v: the crossings are not known", l)
		}
		if crossings[0].Rate == 0 {
			continue // a mode of λ ≤ 0
		}
		before := -1.0
		for i := range 60 {
			rate := 0.03 * math.Pow(100, float64(i)/60)
			margin := StabilityMargin(crossings, rate)
			size := Radius(l.at(rate, l.Lag).Monodromy())
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
		// The first is orthogonal: QR without shifts does not converge.
		{{0, 1}, {-1, 0}}, {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}, {{0, 1}, {1, 0}},
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

func normals(r *rand.Rand, n int, width float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = width * r.NormFloat64()
	}
	return x
}
