// Package measure turns independent values into estimates with intervals, and fits
// recurrences and curves to series.
//
// The arithmetic of estimates is rounded explicitly, so they are the same bits on every
// architecture. Intervals (interval.go) use the quantiles of a library and may differ in
// the last bits; they are never stored, but computed from estimates.
package measure

import (
	"math"
	"slices"
)

// Estimate is a measured value with its errors.
type Estimate struct {
	Mean   float64 `json:"mean"`   // in units of the quantity
	StdErr float64 `json:"stderr"` // standard error of Mean, ≥ 0; unused unless DF ≥ 1
	// degrees of freedom of StdErr, ≥ 1; 0: the error is not known; Exactly: there is no random error
	DF int `json:"df"`
	// Systematic is the half-width of the error that is not random, in the same units, ≥ 0. It is
	// that of a finite difference, or of a linear fit of a nonlinear series.
	Systematic float64 `json:"systematic,omitempty"`
}

// Exactly is the DF of a value that is not random.
const Exactly = -1

// Named is an estimate with the name of its quantity, as a journal keeps it.
type Named struct {
	Name string `json:"name"` // of the quantity, unique among the estimates of one result
	Estimate
}

// Determined removes estimates that are not finite: the data do not determine them.
func Determined(estimates ...Named) []Named {
	return slices.DeleteFunc(estimates, func(e Named) bool { return !Finite(e.Mean, e.StdErr, e.Systematic) })
}

// Finite reports whether no value is infinite or NaN.
func Finite(values ...float64) bool {
	return !slices.ContainsFunc(values, func(x float64) bool { return math.IsNaN(x - x) })
}

// Certain returns the estimate of a value that is not random.
func Certain(x float64) Estimate { return Estimate{Mean: x, DF: Exactly} }

// Indicator returns 1 if the event occurred, else 0.
func Indicator(event bool) float64 {
	if event {
		return 1
	}
	return 0
}

// Mean returns the mean of n ≥ 1 independent values, its standard error s/√n, where s²
// is their sample variance, and n−1 degrees of freedom. It sums in the order of values.
func Mean(values []float64) Estimate { return Rounded(values, 0) }

// Rounded is Mean of values that have a rounding error of up to the given one. Values that differ
// by no more than that, and the rounding of their mean, do not scatter: the standard error is 0.
func Rounded(values []float64, rounding float64) Estimate {
	n, mean := float64(len(values)), Average(values)
	rounding += float64(float64(n*0x1p-52) * math.Abs(mean))
	squares, scatter := 0.0, false
	for _, x := range values {
		d := x - mean
		squares += float64(d * d)
		scatter = scatter || !(math.Abs(d) <= rounding) // NaN does
	}
	e := Estimate{Mean: mean, DF: len(values) - 1}
	if e.DF > 0 && scatter {
		e.StdErr = math.Sqrt(squares / (n - 1) / n)
	}
	return e
}

// Average returns the mean of n ≥ 1 values alone, summed in their order.
func Average(values []float64) float64 {
	sum := 0.0
	for _, x := range values {
		sum += x
	}
	return sum / float64(len(values))
}

// Median returns the median of values, NaN of none and where one is NaN.
func Median(values []float64) float64 {
	sorted, n := slices.Sorted(slices.Values(values)), len(values) // NaN first
	if n == 0 || math.IsNaN(sorted[0]) {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Shift returns the estimate of the quantity plus the constant x.
func (e Estimate) Shift(x float64) Estimate {
	e.Mean += x
	return e
}

// threeSigma holds quantiles of the absolute value of Student's t, for 1 to 9 degrees of freedom.
// It exceeds them with probability 0.0027, as a normal number exceeds 3.
var threeSigma = [...]float64{235.784, 19.2060, 9.21876, 6.62026, 5.50708, 4.90382, 4.52999, 4.27662, 4.09396}

// Sign returns the sign of the mean if it is significant, else 0. Then |Mean| exceeds Systematic
// plus StdErr times the quantile of Student's t that is three standard deviations of a normal
// number.
func (e Estimate) Sign() int {
	quantile := 3.0
	switch nu := float64(e.DF); {
	case e.DF == 0:
		return 0
	case e.DF == Exactly:
		quantile = 0
	case e.DF <= len(threeSigma):
		quantile = threeSigma[e.DF-1]
	default: // expansion of Cornish and Fisher in 1/ν
		quantile += 7.5/nu + 17.25/(nu*nu) + 30.1875/(nu*nu*nu)
	}
	reach := float64(quantile*e.StdErr) + e.Systematic
	switch {
	case e.Mean > reach:
		return 1
	case e.Mean < -reach:
		return -1
	}
	return 0
}

// SquaresAboutMean returns the time average of (x − m)² of each replica. Given are its time
// averages mean[i] of x and square[i] of x².
//
//	square[i] − 2m·mean[i] + m²,    m = (1/n) Σ_i mean[i].
//
// The standard error of m is √n times smaller than that of a replica's own mean. To subtract that
// would bias the variance (docs/theory-neglected.md §6).
func SquaresAboutMean(square, mean []float64) []float64 {
	m := Average(mean)
	about := make([]float64, len(square))
	for i, s := range square {
		about[i] = s - float64(2*float64(m*mean[i])) + float64(m*m)
	}
	return about
}

// All, in place of the index of a batch to leave out, stands for none.
const All = -1

// Jackknife returns the estimate of a statistic of data in n ≥ 1 batches. That is its value for all
// data, statistic(All). Its standard error is from the values statistic(i) without batch i, i = 0 …
// n−1.
//
//	se² = (n−1)/n Σ_i (statistic(i) − mean)².
//
// It has n−1 degrees of freedom. If n = 1 or one of these values is NaN, the error is not known (DF
// 0).
func Jackknife(batches int, statistic func(without int) float64) Estimate {
	e := Estimate{Mean: statistic(All)}
	if batches < 2 {
		return e
	}
	values := make([]float64, batches)
	for i := range values {
		values[i] = statistic(i)
	}
	n := float64(batches)
	// The StdErr of Mean is √(Σ(…)²/(n(n−1))): se is n−1 times that.
	if se := float64((n - 1) * Mean(values).StdErr); !math.IsNaN(se) {
		e.StdErr, e.DF = se, batches-1
	}
	return e
}

// BinStart returns the first item of a bin, where n items are divided into contiguous bins whose
// sizes differ by at most 1.
func BinStart(bin, bins, n int) int { return bin * n / bins }

// Extrapolated returns Richardson's (4 S(d) − S(2d))/3 = λ − 4b d⁴ of near = S(d) and far = S(2d).
// They are central differences over ±d and ±2d, S(d) = λ + a d² + b d⁴.
func Extrapolated(near, far float64) float64 { return (float64(4*near) - far) / 3 }

// Bent bounds the systematic error of an extrapolated λ, 4d²(|S(d) − λ| + d²|λ|). It takes |b| for at
// most |a| + |λ|, as of a force that changes by a factor of order 1 over a unit of its argument.
func Bent(near, extrapolated, d float64) float64 {
	square := float64(d * d)
	next := float64(square * math.Abs(extrapolated))
	return float64(4 * float64(square*(math.Abs(near-extrapolated)+next)))
}

// RoundedUlps is the rounding error of a difference of forces in units of its largest term.
const RoundedUlps = 0x1p-50

// CentredSquare returns Σ (x − mean)², with a mean of its own for each n values in a row.
func CentredSquare(x []float64, n int) (sum float64) {
	for i := 0; i < len(x); i += n {
		mean, square := Average(x[i:i+n]), 0.0
		for _, v := range x[i : i+n] {
			square += float64((v - mean) * (v - mean))
		}
		sum += square
	}
	return sum
}
