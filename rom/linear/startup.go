package linear

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Share returns the mean share of the stationary variance of aᵀx in steps from ≤ t < to. At step 0
// the covariance lacks the given part; nil: all of it. The share is 0 where that variance is 0.
func (s *Law) Share(lacks *mat.Dense, a []float64, from, to int) float64 {
	n, period := s.Dim(), s.Lag.Period()
	earlier, later := s.missing(cmp.Or(lacks, s.start), first(n), from, to)
	over := func(sum *mat.Dense) float64 { return Form(a, sum.Slice(0, n, 0, n).(*mat.Dense), a) }
	whole := over(s.stateSum(period)) / float64(period)
	if !(whole > 0) {
		return 0
	}
	sum := func(steps int, missing *mat.Dense) float64 { // of the first steps
		return whole*float64(steps/period*period) + over(s.stateSum(steps%period)) - Form(a, missing, a)
	}
	return (sum(to, later) - sum(from, earlier)) / (float64(to-from) * whole)
}

// Varied is Share, from the first of the given steps on to the second, of a run from rest whose
// learning rate is factor(t) times that of the law. Between the steps, rounded to whole periods, it
// is held at its value in the middle. ok is false where a piece has no law.
func (s *Law) Varied(factor func(t int) float64, steps []int, a []float64) (share float64, ok bool) {
	period, whole, state := s.System.Lag.Period(), Form(a, s.TimeAverage(), a), &mat.Dense{}
	for i, t := range steps {
		steps[i] = t / period * period
	}
	from := steps[0]
	slices.Sort(steps)
	steps = slices.Compact(steps)
	state.Scale(0, s.start)
	for i, to := range steps[1:] {
		begin, lacks := steps[i], &mat.Dense{}
		held, ok := s.at(s.Rate*factor((begin+to)/2), s.System.Lag).Law()
		if !ok {
			return 0, false
		}
		lacks.Sub(held.start, state)
		if begin >= from && whole > 0 {
			share += held.Share(lacks, a, 0, to-begin) * Form(a, held.TimeAverage(), a) / whole *
				float64(to-begin) / float64(steps[len(steps)-1]-from)
		}
		past := held.Monodromy()
		past.Pow(past, (to-begin)/period)
		state.Sub(held.start, Congruence(past, lacks))
	}
	return share, steps[len(steps)-1] > from
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
