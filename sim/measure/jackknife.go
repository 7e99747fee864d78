package measure

import "math"

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
