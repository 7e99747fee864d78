package linear

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"grposim/option"

	"gonum.org/v1/gonum/mat"
)

// Doubling solves X = AXAᵀ + Q: the result equals the sum of the series ΣAⁿQAᵀⁿ.
func TestLyapunovAgainstTheSeries(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := 1; n <= 6; n++ {
		a, b := mat.NewDense(n, n, normals(r, n*n, 1)), mat.NewDense(n, n, normals(r, n*n, 1))
		a.Scale(0.9/Radius(a), a)
		q := Congruence(b, Identity(n))
		x, ok := Lyapunov(a, q)
		if !ok {
			t.Fatal("no solution of a stable equation")
		}
		// 0.9^(2·600) of anything is below rounding.
		sum, term := mat.DenseCopyOf(q), mat.DenseCopyOf(q)
		for range 600 {
			term = Congruence(a, term)
			sum.Add(sum, term)
		}
		sum.Sub(sum, x)
		if miss := Norm(sum.RawMatrix().Data); miss > 1e-11*Norm(x.RawMatrix().Data) {
			t.Errorf("n = %d: doubling misses the series by %v", n, miss)
		}
	}
	if _, ok := Lyapunov(single(1.01), single(1)); ok {
		t.Error("an unstable equation has a solution")
	}
}

// A mode with λ_s < 0 first oscillates inside the block, where only the fresh part
// acts: from ηλ_f = (1−√μ)², the on-policy onset. The map of the whole block does not
// show it yet (docs/theory.md §5).
func TestOnsetInsideABlock(t *testing.T) {
	for _, mu := range []float64{0, 0.5, 0.9} {
		for _, k := range []int{2, 3, 8} {
			s := &Mode{Fresh: 1.5, Stale: -0.5,
				Update: Update{Method: option.HeavyBall, Momentum: mu, Lag: block{interval: k}}}
			want := (1 - math.Sqrt(mu)) * (1 - math.Sqrt(mu)) / 1.5
			near(t, "onset", s.threshold(OnsetRate).At, want, 1e-6)
			if m, _ := s.period(k, 1.2*want); m.oscillates() {
				t.Errorf("μ = %v, K = %d: M rings just beyond the onset too", mu, k)
			}
		}
	}
}

// With a snapshot that is older than a block the dominant multiplier is real and positive up to the
// onset and complex from there on. At K = 1 no step lies inside a block, so that the fresh part
// alone, which would oscillate from (1−√μ)²/λ_f on, counts for nothing.
func TestOnsetOfOlderSnapshots(t *testing.T) {
	for _, mu := range []float64{0.5, 0.9} {
		for behind := 1; behind <= 3; behind++ {
			s := &Mode{Fresh: 0.73, Stale: -0.22,
				Update: Update{Method: option.HeavyBall, Momentum: mu, Lag: block{1, behind}}}
			onset := s.threshold(OnsetRate).At
			if fresh := (1 - math.Sqrt(mu)) * (1 - math.Sqrt(mu)) / s.Fresh; onset < 1.05*fresh {
				t.Errorf("μ = %v, %d behind: onset %v, that of the fresh part is %v", mu, behind, onset, fresh)
			}
			for share := 0.05; share < 1.1; share += 0.1 {
				s.Rate = onset * share
				top := Multipliers(s.System().Monodromy())[0]
				if turns := imag(top) != 0 || real(top) < 0; turns != (share > 1) {
					t.Errorf("μ = %v, %d behind, %.2f of the onset: %v", mu, behind, share, top)
				}
			}
		}
	}
}

// The first phase of a stationary block is the refresh, where x_old = x; x_old keeps
// its variance to the end of the block.
func TestPhasesBeginWithTheRefresh(t *testing.T) {
	l := &System{Fresh: single(0.3), Stale: single(0.7), Noise: single(1),
		Update: Update{Method: option.HeavyBall, Rate: 0.05, Momentum: 0.5, Lag: block{interval: 4}}}
	law, ok := l.Law()
	if !ok {
		t.Fatal("no stationary law")
	}
	var seen []*mat.Dense
	for _, joint := range law.Phases {
		seen = append(seen, mat.DenseCopyOf(joint))
	}
	if len(seen) != 4 {
		t.Fatalf("%d phases, want 4", len(seen))
	}
	refreshed := seen[0].At(0, 0)
	for k, joint := range seen {
		near(t, "Var x_old", joint.At(1, 1), refreshed, 1e-12)
		if apart := joint.At(0, 0) + joint.At(1, 1) - 2*joint.At(0,
			1); (k == 0) != (math.Abs(apart) < 1e-12*refreshed) {
			t.Errorf("phase %d: Var(x − x_old) = %v", k, apart)
		}
	}
}

// Law and its sums over a period by doubling are those of its steps, for coupled modes with a
// partly frozen force. Reused samples give the response to each ξ to all later steps of a block.
func TestSumsOverAPeriod(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 2))
	for _, period := range []int{1, 2, 3, 4, 7, 100, 1500, 2047} {
		for _, samples := range []option.Samples{option.Fresh, option.Reused} {
			fresh, noise := mat.NewDense(2, 2, []float64{0.3, 0.1, 0.05, 0.2}),
				mat.NewDense(2, 2, []float64{1, 0.3, 0.3, 2})
			s := &System{Samples: samples, Fresh: fresh,
				Stale: mat.NewDense(2, 2, []float64{0.2, 0, 0.02, 0.1}), Noise: noise, Update: Update{
					Method: option.HeavyBall, Rate: 0.002, Momentum: 0.5, Lag: block{interval: period}}}
			law, ok := s.Law()
			if !ok {
				t.Fatalf("K = %d: no law", period)
			}
			a, gamma := s.step()
			size, _ := a.Dims()
			before := law.refreshed(law.start)
			walk := func(visit func(state *mat.Dense)) { // all K + 1 of them
				// Of the start, and of the noise.
				state, gathered := mat.DenseCopyOf(before), mat.NewDense(size, size, nil)
				response := mat.DenseCopyOf(gamma)
				for range period + 1 {
					visit(Sum(state, gathered))
					state = Congruence(a, state)
					if samples == option.Reused {
						gathered = Congruence(response, noise)
						var next mat.Dense
						next.Mul(a, response)
						response.Add(&next, gamma)
					} else {
						gathered = Sum(Congruence(a, gathered), Congruence(gamma, noise))
					}
				}
			}
			alike := func(what string, got, want mat.Matrix) {
				var miss mat.Dense
				miss.Sub(got, want)
				if off := Norm(miss.RawMatrix().Data); !(off < 1e-10*Norm(mat.DenseCopyOf(want).RawMatrix().Data)) {
					t.Errorf("K = %d, %v: %s misses by %g", period, samples, what, off)
				}
			}
			var states []*mat.Dense
			walk(func(state *mat.Dense) { states = append(states, state) })
			free, _ := law.start.Dims()
			alike("the law after a period", law.start, states[period].Slice(0, free, 0, free))
			for k, state := range law.States {
				alike("a phase", state.Slice(0, size, 0, size), states[k])
			}
			joint, some := mat.NewDense(4, 4, nil), mat.NewDense(4, 4, nil)
			for k, state := range states[:period] {
				if k == period/2 {
					some.Copy(joint)
				}
				joint.Add(joint, among(state, law.Places()))
			}
			alike("the sum over the phases", law.jointSum(period), joint)
			if period > 1 {
				alike("the sum over some of them", law.jointSum(period/2), some)
			}
			joint.Scale(1/float64(period), joint)
			alike("the average", law.TimeAverage(), joint.Slice(0, 2, 0, 2))
			alike("the snapshot", law.Snapshot(), joint.Slice(2, 4, 2, 4))
			alike("the average over a period", law.Over(0, 0), joint)
			rows := mat.NewDense(3, 4, normals(r, 12, 1))
			square := Congruence(rows, joint)
			for a, x := range law.MeanSquares(rows) {
				near(t, "mean square over the phases", x, square.At(a, a), 1e-9)
			}
		}
	}
}

// With a random age a step, 0 or 1 with the same probability, the covariance of a step is the mean
// over the ages of what each makes of it: that of modes that mix repeats itself.
func TestAgeNoiseOfModesThatMix(t *testing.T) {
	two := func(a, b, c, d float64) *mat.Dense { return mat.NewDense(2, 2, []float64{a, b, c, d}) }
	s := &System{Fresh: two(0.3, 0.1, 0, 0.2), Stale: two(0.5, 0, 0.2, 0.9), Noise: two(1, 0.3, 0.3, 2),
		Update: Update{Method: option.HeavyBall, Rate: 0.6, Momentum: 0.3, AgeDraws: 1,
			Lag: newRandom(&option.Ages{Law: option.UniformAges, To: 1})}}
	law, _ := s.Law()
	now, last, after := *s, *s, Congruence(law.Gamma, s.Noise)
	now.Fresh, now.Stale = Sum(s.Fresh, s.Stale), mat.NewDense(2, 2, nil)
	last.Lag = newRandom(&option.Ages{Law: option.UniformAges, From: 1, To: 1})
	for _, aged := range []*System{&now, &last} {
		a, _ := aged.step()
		half := Congruence(a, law.start)
		half.Scale(0.5, half)
		after.Add(after, half)
	}
	for i := range 6 {
		near(t, "a variance", after.At(i, i), law.start.At(i, i), 1e-10)
	}
}

// The share of a run whose rate rises and then falls is that of its variance, step by step.
func TestVariedByStepping(t *testing.T) {
	s := &System{Fresh: single(1), Stale: single(0), Noise: single(1), Update: Update{Method: option.HeavyBall,
		Rate: 0.02, Lag: onPolicy}}
	factor := func(t int) float64 { return min(float64(t+1)/200, 1-float64(t)/2000) }
	variance, want, steps := 0.0, 0.0, []int{300, 1900}
	for t := range 1900 {
		if t >= 300 {
			want += variance / 1600
		}
		rate := 0.02 * factor(t)
		variance = (1-rate)*(1-rate)*variance + rate*rate
	}
	for t := 0; t <= 1900; t += 100 {
		steps = append(steps, t)
	}
	law, _ := s.Law()
	share, ok := law.Varied(factor, steps, []float64{1})
	if want /= law.TimeAverage().At(0, 0); !ok || math.Abs(share-want) > 0.01 {
		t.Errorf("a share of %g, want %g", share, want)
	}
}

// mixedDelay returns a random recursion of n modes that mix with a delay below a limit.
// fresh and stale are the standard deviations of the entries about 1 and 0.
func mixedDelay(r *rand.Rand, n int, fresh, stale float64, delays int) *System {
	l := &System{Fresh: mat.NewDense(n, n, normals(r, n*n, fresh)), Stale: mat.NewDense(n, n, normals(r, n*n, stale)), Update: Update{Method: option.Method(r.IntN(2)), Momentum: 0.95 * r.Float64(), Lag: delay{steps: r.IntN(delays)}}}
	for i := range n {
		l.Fresh.Set(i, i, l.Fresh.At(i, i)+1)
	}
	return l
}

// The argument principle finds a spectral radius below 1 where it is, and the critical delay is the
// one found from spectra alone. The couplings are random, some with modes of λ ≤ 0.
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
		if got := l.Lag.mixed(CriticalInterval, l); want.Known && got != want || !want.Known &&
			got.Known && got.At <= 12 {
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
		l := &System{Fresh: mat.NewDense(2, 2, nil), Stale: Identity(2),
			Update: Update{Rate: s.threshold(CriticalRate).At * (1 + excess), Lag: s.Lag}}
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
