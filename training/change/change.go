// Package change finds the most likely change of level in a series of noisy values. It bounds the
// probability with which a series without a change shows one as clear.
//
// The model of Find is x_i = a + d·[i ≥ k] + e_i. The noise e may have any law, and neighbours may
// be correlated, e_i = ρ e_{i−1} + innovation with 0 ≤ ρ ≤ 0.99. Values are first replaced by the
// normal quantiles of their ranks (van der Waerden's scores), so that outliers count no more than
// their ranks.
//
// The statistic is the ratio Λ of the largest likelihoods with and without a change at k, each at
// its own ρ. Both leave out the innovation at k itself, so that a single large one is no change. At
// a known position of white noise, (n − 5)(Λ^{2/(n−1)} − 1) is the square of Student's t with n − 5
// degrees of freedom. Correlated noise has those of its effective number of values, n(1−ρ)/(1+ρ) −
// 2. The union bound over the positions makes a probability of it. TestFalseAlarms checks that
// bound by simulation. A random walk has no level, and is said to have changed.
package change

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"

	"grposim/fp"
)

// Change is a change of level of a series.
type Change struct {
	Index         int     // of the first value after the change
	Before, After float64 // means of the values before and from Index on
	Chance        float64 // bound of the probability that no change shows one as clear, in [0, 1]
}

// Direction says which changes are looked for.
type Direction int

const (
	Either Direction = iota // rises and falls
	Rises
	Falls
)

// MinValues is the smallest number of values among which a change is looked for. Of 12 exchangeable
// values the first six are the largest once in 924 times. Of fewer no order is rarer than once in
// 462 times: chance would explain any of them.
const MinValues = 12

// Find returns the most likely change among finite values. Index is 0, and Chance 1, if there
// are fewer than MinValues or no change has the direction. It takes n log n steps.
//
// A level that moves by more than its noise has changed, and Index is a step on its way. A series
// whose mean does not fall shows falls no more often than one of constant level. At every ρ the
// estimate of d is a mean of the values after k less one of those before, with positive weights.
func Find(x []float64, of Direction) Change { return find(x, of, scores) }

// find is Find of values mapped by scale.
func find(x []float64, of Direction, scale func([]float64) []float64) (c Change) {
	n := len(x)
	c.Chance = 1
	if n < MinValues {
		return c
	}
	s := scan{scores: scale(x), of: of, without: make([]float64, n), with: make([]float64, n),
		at: make([]float64, n)}
	for i := range n {
		s.without[i], s.with[i] = math.Inf(1), math.Inf(1)
	}
	for _, rho := range correlations {
		s.try(rho)
	}
	ratio := 1.0 // Λ^{2/(n−1)}
	for i := 1; i < n; i++ {
		if r := s.without[i] / s.with[i]; r > ratio {
			ratio, c.Index = r, i
		}
	}
	if c.Index == 0 {
		return c
	}
	rho := s.at[c.Index]
	if before, after := Mean(x[:c.Index]), Mean(x[c.Index+1:]); math.Abs(x[c.Index]-before) < math.Abs(x[c.Index]-after) {
		c.Index++ // the value left out is one of those before
	}
	values := float64(n)
	freedom := max(1, min(values-5, values*Independent(rho)-2))
	tail := distuv.StudentsT{Sigma: 1, Nu: freedom}.Survival(math.Sqrt((values - 5) * (ratio - 1)))
	// No order of exchangeable values in which some stand apart is rarer than one of all choices.
	tail = max(tail, 1/combin.GeneralizedBinomial(values, float64(c.Index)))
	if of == Either {
		tail *= 2
	}
	c.Chance = min(1, (values-1)*tail)
	c.Before, c.After = Mean(x[:c.Index]), Mean(x[c.Index:])
	return c
}

// Late returns the clearest change within the last n, n/√2, n/2, … values, down to MinValues. So a
// change after a rise is seen where the rise is left out. Before is the level in the window, and
// Index that in x. Values are compared by their ranks and as they are (cut). Chance is that of Find
// times the number of windows and of comparisons.
func Late(x []float64, of Direction) (c Change) {
	c.Chance = 1
	tried := 0.0
	for last := len(x); last >= MinValues; last = int(float64(last) / math.Sqrt2) {
		for _, scale := range []func([]float64) []float64{scores, cut} {
			tried++
			if w := find(x[len(x)-last:], of, scale); w.Index > 0 && (c.Index == 0 || w.Chance < c.Chance) {
				c = w
				c.Index += len(x) - last
			}
		}
	}
	c.Chance = min(1, max(1, tried)*c.Chance)
	return c
}

// correlations are the trial values of ρ, in steps of about a quarter of 1 − ρ. Between two of them
// the likelihood of 100 values varies by less than its noise.
var correlations = []float64{0, 0.15, 0.3, 0.4, 0.5, 0.6, 0.68, 0.75, 0.8, 0.85, 0.89, 0.92, 0.945,
	0.965, 0.98, 0.99}

// scan holds, at every position k, the smallest sums of squared innovations without and with a
// change at k. They are over the correlations tried, times (1−ρ²)^{−1/(n−1)}: the likelihood is the
// power −(n−1)/2.
type scan struct {
	scores            []float64
	of                Direction
	without, with, at []float64 // at: ρ with the change
}

// roundOff is the share of a sum of squares below which a difference of sums is rounding.
const roundOff = 1e-12

// try adds one correlation. The innovations of a series y are √(1−ρ²) y_0 and y_i − ρ y_{i−1}.
// Those of a constant 1 are √(1−ρ²) and q = 1−ρ. Those of a step at k are q after k.
func (s *scan) try(rho float64) {
	y, n, q := s.scores, len(s.scores), 1-rho
	first := 1 - rho*rho
	total, sum := first*y[0]*y[0], 0.0
	for i := 1; i < n; i++ {
		e := y[i] - rho*y[i-1]
		total += e * e
		sum += e
	}
	constant := first + float64(n-2)*q*q
	scale, after := fp.Pow(first, -1/float64(n-1)), 0.0
	for i := n - 1; i > 0; i-- {
		e := y[i] - rho*y[i-1]
		product := first*y[0] + q*(sum-e)
		left := total - e*e - product*product/constant
		square := float64(n-1-i) * q * q // of the step, and its product with the constant
		step := q*after - square*product/constant
		after += e
		gain := 0.0
		if i < n-1 && (s.of == Either || (step > 0) == (s.of == Rises)) {
			gain = step * step / (square - square*square/constant)
		}
		s.without[i] = min(s.without[i], scale*max(left, roundOff*total))
		if with := scale * max(left-gain, roundOff*total); with < s.with[i] {
			s.with[i], s.at[i] = with, rho
		}
	}
}

// scores returns the normal quantiles of ranks as shares, (rank − ½)/n. Equal values have their
// mean rank.
func scores(x []float64) []float64 {
	sorted, y := slices.Sorted(slices.Values(x)), make([]float64, len(x))
	for i, v := range x {
		below, _ := slices.BinarySearch(sorted, v)
		upTo, _ := slices.BinarySearch(sorted, math.Nextafter(v, math.Inf(1)))
		y[i] = distuv.UnitNormal.Quantile(float64(below+upTo) / 2 / float64(len(x)))
	}
	return y
}

// cut returns values as multiples of the deviation of their noise from their median, cut at ±6. The
// deviation is that of the median difference of neighbours. Where most neighbours are equal it is
// 0, and values have their scores. A collapse is seen after four to eight values, where ranks need
// twice as many. The bound of Chance holds for ρ up to 0.6 and noise that is not strongly skewed.
func cut(x []float64) []float64 {
	const most, medianDifference = 6, 0.954 // √2 times the upper quartile of the normal law
	steps := make([]float64, 0, len(x))
	for i := 1; i < len(x); i++ {
		steps = append(steps, math.Abs(x[i]-x[i-1]))
	}
	slices.Sort(steps)
	deviation := steps[len(steps)/2] / medianDifference
	if deviation == 0 {
		return scores(x)
	}
	y := slices.Sorted(slices.Values(x))
	middle := y[len(y)/2]
	for i, v := range x {
		y[i] = min(max((v-middle)/deviation, -most), most)
	}
	return y
}
