// Package measure turns independent values into estimates with intervals.
//
// Estimates are rounded explicitly, so that they are the same bits on every
// architecture; intervals (interval.go), which need quantiles, are not and are
// derived later.
package measure

import "math"

// Estimate is a measured mean. DF 0 says that its error is not known (a single
// value); Exactly says that there is none.
type Estimate struct {
	Mean   float64
	StdErr float64
	DF     int
}

// Exactly is the DF of a value that no chance entered.
const Exactly = -1

// Named is an estimate of the quantity Name.
type Named struct {
	Name string
	Estimate
}

// Certain returns the estimate of a value that no chance entered.
func Certain(x float64) Estimate { return Estimate{Mean: x, DF: Exactly} }

// Mean returns the mean of independent values, its standard error s/√n and the
// n−1 degrees of freedom of s, in the order of values.
func Mean(values []float64) Estimate {
	n := float64(len(values))
	sum := 0.0
	for _, x := range values {
		sum += x
	}
	mean := sum / n
	squares := 0.0
	for _, x := range values {
		d := x - mean
		squares += float64(d * d)
	}
	e := Estimate{Mean: mean, DF: len(values) - 1}
	if e.DF > 0 {
		e.StdErr = math.Sqrt(squares / (n - 1) / n)
	}
	return e
}

// Shift returns the estimate of a quantity that is larger by x.
func (e Estimate) Shift(x float64) Estimate {
	e.Mean += x
	return e
}

// threeErrors are the quantiles of Student's t that an error of 1 to 9 degrees of
// freedom exceeds as seldom as a normal one exceeds three standard deviations, with
// probability 0.0027 to both sides.
var threeErrors = [...]float64{235.784, 19.2060, 9.21876, 6.62026, 5.50708, 4.90382, 4.52999, 4.27662, 4.09396}

// Sign returns the sign of the mean where it is certain: three standard errors
// away from 0, or as many more as few degrees of freedom ask for. Else it is 0.
func (e Estimate) Sign() int {
	errors := 3.0
	switch nu := float64(e.DF); {
	case e.DF == 0:
		return 0
	case e.DF == Exactly:
		errors = 0
	case e.DF <= len(threeErrors):
		errors = threeErrors[e.DF-1]
	default: // Cornish and Fisher
		errors += 7.5/nu + 17.25/(nu*nu) + 30.1875/(nu*nu*nu)
	}
	reach := float64(errors * e.StdErr)
	switch {
	case e.Mean > reach:
		return 1
	case e.Mean < -reach:
		return -1
	}
	return 0
}

// SquaresAboutMean returns, for replicas with time averages mean[i] of x and
// square[i] of x², each one's time average of (x − m)², m the mean over all
// replicas: m is known √n times better than a replica's own mean, whose
// subtraction would bias the variance (docs/theory.md §6).
func SquaresAboutMean(square, mean []float64) []float64 {
	m := Mean(mean).Mean
	about := make([]float64, len(square))
	for i, s := range square {
		about[i] = s - float64(2*float64(m*mean[i])) + float64(m*m)
	}
	return about
}
