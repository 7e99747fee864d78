package linear

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// correctedFor is the number of times 1/(1−β1) after which Adam's correction 1/(1−β1^t) is
// taken for 1; LargestStart bounds what it adds to a variance, in stationary ones: the first
// T = 1/(1−β1) steps go as far as the force itself, which adds 2Tη², the stationary one being
// η²/(2r), up to the relaxation time 1/r.
//
// Case: without the correction Var J was 0.3 too small at β1 = 0.999 after 500 steps, and 0.01 at
// 0.9 after 300.
const correctedFor, LargestStart = 7, 4

// Lacks returns what the covariance of a run that starts at 0 lacks of the stationary one at
// the start of a period: at step 0. With Adam, β1 > 0, it is that at step since: before it, the
// correction of the first moment makes the steps of x 1/(1 − β1^t) times those of a heavy ball, and
// the covariance is stepped with that.
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

// Share returns the share of the stationary variance of aᵀx that the steps from ≤ t < to
// after the start of a period have on average, if the covariance lacks what is given there; 0
// where that variance is 0.
func (s *Law) Share(lacks *mat.Dense, a []float64, from, to int) float64 {
	from, to = max(from, 0), max(to, max(from, 0)+1)
	whole := Form(a, s.TimeAverage(), a)
	if !(whole > 0) {
		return 0
	}
	var phases []float64 // stationary, of a refresh period
	s.States(func(state *mat.Dense) {
		n := len(a)
		phases = append(phases, Form(a, mat.DenseCopyOf(state.Slice(0, n, 0, n)), a))
	})
	sum := func(steps int) float64 { // of the first steps
		stationary := whole * float64(steps/len(phases)*len(phases))
		for _, x := range phases[:steps%len(phases)] {
			stationary += x
		}
		return stationary - s.missing(lacks, a, steps)
	}
	return (sum(to) - sum(from)) / (float64(to-from) * whole)
}

// missing returns Σ_{t<steps} aᵀ(Σ − Cov x_t)a for a state that lacks the given part of the
// stationary covariance Σ of the phase at the start of a period, a the given vector.
func (s *Law) missing(lacks *mat.Dense, a []float64, steps int) float64 {
	n, period := s.Dim(), s.Lag.Period()
	free, _ := lacks.Dims()
	// phases returns the sum over the given number of phases of a period that begins
	// with x.
	phases := func(x *mat.Dense, count int) float64 {
		state := s.refreshed(x)
		sum := 0.0
		for range count {
			sum += Form(a, mat.DenseCopyOf(state.Slice(0, n, 0, n)), a)
			state = Congruence(s.A, state)
		}
		return sum
	}
	// Σ_{r<k} M^r Σ M^rᵀ and M^k Σ M^kᵀ by the binary digits of k.
	sum, last := mat.NewDense(free, free, nil), lacks
	factor, partial := s.Monodromy(), lacks // M^{2^i}, Σ_{r<2^i} M^r Σ M^rᵀ
	passed := Identity(free)                // M to the power of the digits so far
	for k := steps / period; k > 0; k >>= 1 {
		if k&1 == 1 {
			sum.Add(sum, Congruence(passed, partial))
			var next mat.Dense
			next.Mul(passed, factor)
			passed = &next
			last = Congruence(factor, last)
		}
		more := Congruence(factor, partial)
		more.Add(more, partial)
		partial = more
		var next mat.Dense
		next.Mul(factor, factor)
		factor = &next
	}
	return phases(sum, period) + phases(last, steps%period)
}
