package linear

import (
	"math"
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
			s := &Mode{Fresh: 1.5, Stale: -0.5, Update: Update{Method: option.HeavyBall, Momentum: mu, Lag: block{interval: k}}}
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
			s := &Mode{Fresh: 0.73, Stale: -0.22, Update: Update{Method: option.HeavyBall, Momentum: mu, Lag: block{1, behind}}}
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
	l := &System{Fresh: single(0.3), Stale: single(0.7), Noise: single(1), Update: Update{Method: option.HeavyBall, Rate: 0.05, Momentum: 0.5, Lag: block{interval: 4}}}
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
		if apart := joint.At(0, 0) + joint.At(1, 1) - 2*joint.At(0, 1); (k == 0) != (math.Abs(apart) < 1e-12*refreshed) {
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
			fresh, noise := mat.NewDense(2, 2, []float64{0.3, 0.1, 0.05, 0.2}), mat.NewDense(2, 2, []float64{1, 0.3, 0.3, 2})
			s := &System{Samples: samples, Fresh: fresh, Stale: mat.NewDense(2, 2, []float64{0.2, 0, 0.02, 0.1}), Noise: noise, Update: Update{
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

// However far the first steps throw runs, the share is 1 once that has died away.
func TestSharesAfterALargeStart(t *testing.T) {
	l := &System{Fresh: single(0.3), Stale: single(0.7), Noise: single(1), Update: Update{Method: option.HeavyBall, Rate: 0.05, Momentum: 0.5, Lag: block{interval: 4}}}
	law, ok := l.Law()
	if !ok {
		t.Fatal("no stationary law")
	}
	for _, size := range []float64{1, 1e3, 1e9, 1e30} {
		lacks := mat.DenseCopyOf(law.start)
		lacks.Scale(-size, lacks)
		near(t, "share", law.Shares(lacks, [][]float64{{1}}, 4000, 9000)[0], 1, 1e-9)
	}
}
