package measure

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval returns the two-sided interval Mean ± (t·StdErr + Systematic) of the given confidence in
// (0, 1). t is the quantile of Student's law. It is (−∞, ∞) if the error is not known, Mean ±
// Systematic if none is random.
func (e Estimate) Interval(confidence float64) (lo, hi float64) {
	switch {
	case e.DF == Exactly:
		return e.Mean - e.Systematic, e.Mean + e.Systematic
	case e.DF == 0:
		return math.Inf(-1), math.Inf(1)
	}
	half := studentQuantile(e.DF, confidence)*e.StdErr + e.Systematic
	return e.Mean - half, e.Mean + half
}

// quantiles holds the results of studentQuantile by its arguments. Computing one takes a numerical
// search, and a sweep needs few of them many times.
var quantiles sync.Map

// studentQuantile returns the two-sided quantile of Student's t with df ≥ 1 degrees of freedom.
func studentQuantile(df int, confidence float64) float64 {
	key := [2]float64{float64(df), confidence}
	t, known := quantiles.Load(key)
	if !known {
		t = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}.Quantile(0.5 + confidence/2)
		quantiles.Store(key, t)
	}
	return t.(float64)
}

// Share returns Wilson's score interval, within [0, 1], of the given confidence in (0, 1) for a
// share of events. Mean is the share among the given number of trials, StdErr its error from the
// scatter of replicas. If these scatter more than independent trials would, the number of trials is
// reduced to p(1−p)/StdErr². The quantile is then Student's, with the degrees of freedom of the
// scatter. The interval is [0, 1] if the error is not known, [Mean, Mean] if there is none.
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
	lo, hi = max(centre-half, 0), min(centre+half, 1)
	switch p { // an end of the interval, exactly, which the square root misses by rounding
	case 0:
		lo = 0
	case 1:
		hi = 1
	}
	return lo, hi
}

// Combine returns the standard error of a sum of independent estimates, √Σ StdErr². Its degrees of
// freedom are those of Welch and Satterthwaite, (Σ v)²/Σ(v²/DF), v = StdErr². If an error is not
// known it returns (+Inf, 0), if there is none (0, Exactly).
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
