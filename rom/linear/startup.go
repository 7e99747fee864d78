package linear

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// correctedFor is the number of times 1/(1−β1) after which Adam's correction 1/(1−β1^t) is taken
// for 1. LargestStart bounds what it adds to a variance, in stationary ones. The first T = 1/(1−β1)
// steps are as large as the force and add 2Tη². The stationary variance is η²/(2r), with the
// relaxation time 1/r.
//
// Case: without the correction Var J was 0.3 too small at β1 = 0.999 after 500 steps, and 0.01 at
// 0.9 after 300.
const correctedFor, LargestStart = 7, 4

// Lacks returns what the covariance of a run lacks of the stationary one at its start, step 0. With
// Adam, β1 > 0, it is that at step since. Before it, the correction of the first moment makes steps
// of x 1/(1 − β1^t) times those of a heavy ball.
func (s *Law) Lacks(beta1 float64) (covariance *mat.Dense, since int) {
	if beta1 == 0 {
		return s.start, 0
	}
	period := s.Lag.Period()
	periods := int(math.Ceil(correctedFor / (1 - beta1) / float64(period)))
	free, _ := s.start.Dims()
	size, _ := s.A.Dims()
	state, gone := mat.NewDense(free, free, nil), 1.0
	var a, noise mat.Dense
	for range periods {
		state = s.refreshed(state)
		for range period {
			gone *= beta1
			a.CloneFrom(s.A)
			noise.CloneFrom(s.kicks)
			for i := range s.Dim() { // x′ = x + (step of x)/(1 − β1^t)
				a.Set(i, i, a.At(i, i)-1)
				for j := range size {
					a.Set(i, j, a.At(i, j)/(1-gone))
					noise.Set(i, j, noise.At(i, j)/(1-gone))
					noise.Set(j, i, noise.At(j, i)/(1-gone))
				}
				a.Set(i, i, a.At(i, i)+1)
			}
			state = Congruence(&a, state)
			state.Add(state, &noise)
		}
		state = mat.DenseCopyOf(state.Slice(0, free, 0, free))
	}
	state.Sub(s.start, state)
	return state, periods * period
}

// largestLack is the largest lack of which sums up to two steps are subtracted, in stationary
// covariances. Beyond it their difference would be rounding. Adam's first steps can be so large
// that the spread grows by many orders before it dies away.
const largestLack = 1e6

// Shares returns the mean share of the stationary variance of each aᵀx in steps from ≤ t < to. The
// covariance lacks the given part at the start of a period. The share is 0 where that variance is
// 0.
func (s *Law) Shares(lacks *mat.Dense, vectors [][]float64, from, to int) []float64 {
	from, to = max(from, 0), max(to, max(from, 0)+1)
	n, period := s.Dim(), s.Lag.Period()
	k := from / period
	if k > 0 && Norm(lacks.RawMatrix().Data) > largestLack*Norm(s.start.RawMatrix().Data) {
		past := s.Monodromy()
		past.Pow(past, k)
		lacks, from, to = Congruence(past, lacks), from-k*period, to-k*period
	}
	earlier, later := s.missing(lacks, first(n), from, to)
	cycle, before, last := s.stateSum(period), s.stateSum(from%period), s.stateSum(to%period)
	shares := make([]float64, len(vectors))
	for i, a := range vectors {
		over := func(sum *mat.Dense) float64 { return Form(a, sum.Slice(0, n, 0, n).(*mat.Dense), a) }
		whole := over(cycle) / float64(period)
		if !(whole > 0) {
			continue
		}
		sum := func(steps int, rest, missing *mat.Dense) float64 { // of the first steps
			return whole*float64(steps/period*period) + over(rest) - Form(a, missing, a)
		}
		shares[i] = (sum(to, last, later) - sum(from, before, earlier)) / (float64(to-from) * whole)
	}
	return shares
}

// Over returns the covariance of (x, x_old), 2n×2n, averaged over steps from ≤ t < to of runs that
// start at the fixed point. Where to ≤ from it averages over the phases of the stationary law. The
// lag has one snapshot in each step: Places is not nil.
func (s *Law) Over(from, to int) *mat.Dense {
	period := s.Lag.Period()
	started := to > from
	if !started {
		from, to = 0, period
	}
	sum := &mat.Dense{}
	sum.Scale(float64(to/period-from/period), s.jointSum(period))
	sum.Add(sum, s.jointSum(to%period))
	sum.Sub(sum, s.jointSum(from%period))
	if started {
		earlier, later := s.missing(s.start, s.Places(), from, to)
		sum.Add(sum, earlier)
		sum.Sub(sum, later)
	}
	sum.Scale(1/float64(to-from), sum)
	return sum
}

// first returns 0, 1, …, n−1.
func first(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// missing sums stationary covariance − covariance at step t, at the given places: earlier over
// t < from, later over t < to. lacks is that difference for the state at the start of a period.
func (s *Law) missing(lacks *mat.Dense, places []int, from, to int) (earlier, later *mat.Dense) {
	n, period := len(places), s.Lag.Period()
	// passing adds the sum over the given number of phases of a period that begins with x.
	size, _ := s.A.Dims()
	still := mat.NewDense(size, size, nil)
	passing := func(sum, x *mat.Dense, count int) {
		if count > 0 {
			sum.Add(sum, among(after(s.A, s.refreshed(x), still, count).sum, places))
		}
	}
	// Σ_{r<k} M^r Σ M^rᵀ and M^k by the binary digits of k, for both numbers k of periods.
	type elapsed struct{ sum, power *mat.Dense } // power nil: the identity
	var past [2]elapsed
	counts := [2]int{from / period, to / period}
	factor, partial := s.Monodromy(), lacks // M^{2^i}, Σ_{r<2^i} M^r Σ M^rᵀ
	for i := 0; counts[1]>>i > 0; i++ {
		if i > 0 {
			partial, factor = Sum(Congruence(factor, partial), partial), product(factor, factor)
		}
		for side, k := range counts {
			at := &past[side]
			switch {
			case k>>i&1 == 0:
			case at.power == nil:
				at.sum, at.power = partial, factor
			default:
				at.sum = Sum(at.sum, Congruence(at.power, partial))
				at.power = product(at.power, factor)
			}
		}
	}
	missing := [2]*mat.Dense{}
	for side, steps := range [2]int{from, to} {
		missing[side] = mat.NewDense(n, n, nil)
		last := lacks
		if at := &past[side]; at.power != nil {
			passing(missing[side], at.sum, period)
			if steps%period > 0 {
				last = Congruence(at.power, lacks)
			}
		}
		passing(missing[side], last, steps%period)
	}
	return missing[0], missing[1]
}

// Sum returns a + b.
func Sum(a, b *mat.Dense) *mat.Dense {
	var sum mat.Dense
	sum.Add(a, b)
	return &sum
}

func product(a, b mat.Matrix) *mat.Dense {
	var out mat.Dense
	out.Mul(a, b)
	return &out
}
