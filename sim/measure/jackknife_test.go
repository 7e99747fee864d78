package measure

import (
	"math"
	"testing"
)

// The jackknife error of a mean is its usual standard error.
func TestJackknifeOfAMean(t *testing.T) {
	values := []float64{1, 5, 2, 2, 9, 4}
	mean := func(without int) float64 {
		var rest []float64
		for i, x := range values {
			if i != without {
				rest = append(rest, x)
			}
		}
		return Mean(rest).Mean
	}
	got, want := Jackknife(len(values), mean), Mean(values)
	if got.Mean != want.Mean || math.Abs(got.StdErr-want.StdErr) > 1e-15 || got.DF != want.DF {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// The error is not known for one batch, or for a statistic that is NaN without one of
// the batches.
func TestJackknifeWithoutAnError(t *testing.T) {
	if e := Jackknife(1, func(int) float64 { return 3 }); e != (Estimate{Mean: 3}) {
		t.Errorf("one batch: %+v", e)
	}
	e := Jackknife(4, func(without int) float64 {
		if without == 2 {
			return math.NaN()
		}
		return 3
	})
	if e != (Estimate{Mean: 3}) {
		t.Errorf("undefined without batch 2: %+v", e)
	}
}
