// Package measure turns independent values into estimates with intervals.
//
// Estimates are rounded explicitly, so that they are the same bits on every
// architecture; intervals, which need quantiles, are not and are derived later.
package measure

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

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

// Interval returns the two-sided Student t interval of the given confidence,
// (−∞, ∞) where the error is not known.
func (e Estimate) Interval(confidence float64) (lo, hi float64) {
	switch {
	case e.DF == Exactly:
		return e.Mean, e.Mean
	case e.DF == 0:
		return math.Inf(-1), math.Inf(1)
	}
	t := studentQuantile(e.DF, confidence)
	return e.Mean - t*e.StdErr, e.Mean + t*e.StdErr
}

// studentQuantile returns the two-sided quantile of Student's t.
func studentQuantile(df int, confidence float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}.Quantile(0.5 + confidence/2)
}

// Share returns Wilson's score interval for a share of events that has been
// estimated as e over trials trials. Where the replicas scatter more than
// independent trials would, the number of trials is reduced to what their
// scatter allows, p(1−p)/se², and the quantile is Student's: the scatter is
// known as well as its degrees of freedom allow.
func (e Estimate) Share(trials, confidence float64) (lo, hi float64) {
	switch {
	case e.DF == Exactly:
		return e.Mean, e.Mean
	case e.DF == 0:
		return 0, 1
	}
	p := min(max(e.Mean, 0), 1)
	z := distuv.UnitNormal.Quantile(0.5 + confidence/2)
	if scattered := p * (1 - p) / (e.StdErr * e.StdErr); scattered < trials {
		trials = scattered
		z = studentQuantile(e.DF, confidence)
	}
	z2 := z * z / trials
	centre := (p + z2/2) / (1 + z2)
	half := z / (1 + z2) * math.Sqrt(p*(1-p)/trials+z2/(4*trials))
	return max(centre-half, 0), min(centre+half, 1)
}

// Combine returns the standard error of a sum of independent estimates, and
// its degrees of freedom by Welch and Satterthwaite.
func Combine(terms []Estimate) (stdErr float64, df int) {
	variance, scatter := 0.0, 0.0
	for _, e := range terms {
		if e.DF == Exactly {
			continue
		}
		if e.DF == 0 {
			return math.Inf(1), 0
		}
		v := e.StdErr * e.StdErr
		variance += v
		scatter += v * v / float64(e.DF)
	}
	if variance == 0 {
		return 0, Exactly
	}
	return math.Sqrt(variance), max(1, int(variance*variance/scatter))
}
