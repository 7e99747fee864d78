package measure

import "math"

// All says that a statistic of batches leaves none of them out.
const All = -1

// Jackknife returns a statistic of data in batches, its standard error from
// leaving each batch out in turn,
//
//	se² = (n−1)/n Σ (S_{without i} − mean)²,
//
// and n−1 degrees of freedom. statistic(All) is the statistic of everything,
// statistic(i) that without batch i. Where one of them is NaN the error is not
// known (DF 0).
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
	// Mean's standard error is √(Σ(…)²/(n(n−1))), of which this is n−1 times.
	if se := float64((n - 1) * Mean(values).StdErr); !math.IsNaN(se) {
		e.StdErr, e.DF = se, batches-1
	}
	return e
}
