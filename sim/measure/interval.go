package measure

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

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
	key := student{df, confidence}
	t, known := students.Load(key)
	if !known {
		t = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}.Quantile(0.5 + confidence/2)
		students.Store(key, t)
	}
	return t.(float64)
}

// student is what a quantile of Student's t depends on.
type student struct {
	df         int
	confidence float64
}

// students keeps the quantiles, by student: a sweep needs few, many times, and each
// is searched for.
var students sync.Map

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
