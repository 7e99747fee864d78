package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Student's interval for values with mean 3, s² = 2.5, t_{4, 0.975} = 2.776445.
func TestMeanInterval(t *testing.T) {
	e := Mean([]float64{1, 2, 3, 4, 5})
	lo, hi := e.Interval(0.95)
	half := 2.776445105 * math.Sqrt(0.5)
	if e.Mean != 3 || e.DF != 4 || math.Abs(lo-(3-half)) > 1e-8 || math.Abs(hi-(3+half)) > 1e-8 {
		t.Errorf("%+v, [%g, %g]; want 3 ± %g", e, lo, hi, half)
	}
}

// Equal values, whose average is rounded, do not scatter, nor do those that differ by rounding.
func TestRoundingDoesNotScatter(t *testing.T) {
	equal := slices.Repeat([]float64{0.1}, 10)
	if Average(equal) == 0.1 || Mean(equal).StdErr != 0 {
		t.Errorf("%+v, want no error", Mean(equal))
	}
	for rounding, scatters := range map[float64]bool{0: true, 1e-12: true, 1e-9: false} {
		if e := Rounded([]float64{1, 1 + 1e-10, 1 - 1e-10}, rounding); e.StdErr > 0 != scatters || e.DF != 2 {
			t.Errorf("rounding %g: %+v", rounding, e)
		}
	}
	if e := Mean([]float64{1, math.NaN()}); !math.IsNaN(e.StdErr) {
		t.Errorf("%+v, want an error of NaN", e)
	}
}

func TestIntervalsWithoutAnError(t *testing.T) {
	if lo, hi := Mean([]float64{7}).Interval(0.99); !math.IsInf(lo, -1) || !math.IsInf(hi, 1) {
		t.Errorf("a single value: [%g, %g]", lo, hi)
	}
	if lo, hi := Certain(7).Interval(0.99); lo != 7 || hi != 7 {
		t.Errorf("without an error: [%g, %g]", lo, hi)
	}
}

// Intervals have their nominal coverage: the number of 4000 that miss at 95 % is
// binomial; 6 standard deviations have probability 2e-9.
func TestCoverage(t *testing.T) {
	const trials, confidence = 4000, 0.95
	rng := rand.New(rand.NewPCG(1, 1))
	missedMean, missedShare := 0, 0
	for range trials {
		values := make([]float64, 12)
		for i := range values {
			values[i] = rng.NormFloat64()
		}
		if lo, hi := Mean(values).Interval(confidence); lo > 0 || hi < 0 {
			missedMean++
		}
		// shares of 50 trials with p = 0.1 in 40 replicas
		shares := make([]float64, 40)
		for i := range shares {
			for range 50 {
				if rng.Float64() < 0.1 {
					shares[i] += 1. / 50
				}
			}
		}
		if lo, hi := Mean(shares).Share(2000, confidence); lo > 0.1 || hi < 0.1 {
			missedShare++
		}
	}
	expected := trials * (1 - confidence)
	slack := 6 * math.Sqrt(expected*confidence)
	if math.Abs(float64(missedMean)-expected) > slack {
		t.Errorf("the mean's interval misses %d of %d, want %g ± %g", missedMean, trials, expected, slack)
	}
	// Share uses the larger of two errors, so it may miss less often.
	if float64(missedShare) > expected+slack || missedShare == 0 {
		t.Errorf("the share's interval misses %d of %d, want ≤ %g", missedShare, trials, expected+slack)
	}
}

// A share of events that did not occur has an upper bound of about z²/n.
func TestShareOfNothing(t *testing.T) {
	lo, hi := Mean(make([]float64, 10)).Share(1000, 0.95)
	if z2 := 1.959964 * 1.959964; lo != 0 || math.Abs(hi-z2/(1000+z2)) > 1e-8 {
		t.Errorf("[%g, %g]", lo, hi)
	}
}

// The interval of a share without events begins at 0 and that of one without other
// outcomes ends at 1, for any number of trials.
func TestShareEndsExactly(t *testing.T) {
	for trials := 1.0; trials < 1e9; trials = math.Ceil(1.1 * trials) {
		for _, confidence := range []float64{0.9, 0.99, 0.999999} {
			if lo, hi := (Estimate{DF: 3}).Share(trials, confidence); lo != 0 || !(hi > 0) {
				t.Errorf("none of %g: [%g, %g], want [0, more]", trials, lo, hi)
			}
			if lo, hi := (Estimate{Mean: 1, DF: 3}).Share(trials, confidence); hi != 1 || !(lo < 1) {
				t.Errorf("all of %g: [%g, %g], want [less, 1]", trials, lo, hi)
			}
		}
	}
}

// A systematic error widens every interval whose error is known, and hides a sign.
func TestSystematicError(t *testing.T) {
	exact := Estimate{Mean: 2, DF: Exactly, Systematic: 0.5}
	if lo, hi := exact.Interval(0.9); lo != 1.5 || hi != 2.5 || exact.Sign() != 1 {
		t.Errorf("[%g, %g], sign %d, want 2 ± 0.5 and 1", lo, hi, exact.Sign())
	}
	random := Estimate{Mean: 2, StdErr: 0.1, DF: 7}
	_, without := random.Interval(0.9)
	random.Systematic = 2
	if _, hi := random.Interval(0.9); math.Abs(hi-without-2) > 1e-15 || random.Sign() != 0 {
		t.Errorf("upper end %g, sign %d, want %g and 0", hi, random.Sign(), without+2)
	}
}

// Squares about the mean of all replicas, not about each replica's own.
func TestSquaresAboutMean(t *testing.T) {
	mean, square := []float64{1, 3}, []float64{2, 12} // second moments about 2: 2−4+4 = 2, 12−12+4 = 4
	if got := SquaresAboutMean(square, mean); got[0] != 2 || got[1] != 4 {
		t.Errorf("%v, want [2 4]", got)
	}
}

func TestCombine(t *testing.T) {
	se, df := Combine([]Estimate{{StdErr: 3, DF: 10}, {StdErr: 4, DF: 10}, {DF: Exactly}})
	if se != 5 || df != 18 { // 625/((81+256)/10) = 18.5
		t.Errorf("standard error %g with %d degrees of freedom, want 5 with 18", se, df)
	}
	if se, df := Combine([]Estimate{{StdErr: 1, DF: 3}, {DF: 0}}); !math.IsInf(se, 1) || df != 0 {
		t.Errorf("with an unknown term: %g, %d", se, df)
	}
	if se, df := Combine([]Estimate{{DF: Exactly}}); se != 0 || df != Exactly {
		t.Errorf("of certain terms: %g, %d", se, df)
	}
}

// Sign compares with the quantile of Student's t that corresponds to three standard
// deviations.
func TestSign(t *testing.T) {
	probability := math.Erfc(3 / math.Sqrt2)
	for df := 1; df <= 200; df++ {
		quantile := studentQuantile(df, 1-probability)
		for _, x := range []struct {
			mean float64
			want int
		}{{1.002 * quantile, 1}, {0.998 * quantile, 0}, {-0.998 * quantile, 0}, {-1.002 * quantile, -1}} {
			if got := (Estimate{Mean: x.mean, StdErr: 1, DF: df}).Sign(); got != x.want {
				t.Errorf("%g ± 1 with %d degrees of freedom: %d, want %d", x.mean, df, got, x.want)
			}
		}
	}
	for want, e := range map[int]Estimate{1: Certain(1e-300), -1: Certain(-1), 0: Certain(0)} {
		if got := e.Sign(); got != want {
			t.Errorf("%+v: %d", e, got)
		}
	}
	if got := (Estimate{Mean: 5}).Sign(); got != 0 {
		t.Errorf("of unknown error: %d", got)
	}
}

func TestMedian(t *testing.T) {
	for _, x := range []struct {
		values []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{3, 1, 2}, 2}, {[]float64{9, 1, 2, 4}, 3}} {
		if got := Median(x.values); got != x.want {
			t.Errorf("median of %v is %g", x.values, got)
		}
	}
}

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

// The extrapolated slope of sin at 0 is off by d⁴/30 to leading order, within the stated bound.
func TestExtrapolated(t *testing.T) {
	for _, d := range []float64{0.01, 0.1, 0.5} {
		near, far := math.Sin(d)/d, math.Sin(2*d)/(2*d)
		slope := Extrapolated(near, far)
		if off := 1 - slope; math.Abs(off/(math.Pow(d, 4)/30)-1) > 0.1 || off > Bent(near, slope, d) {
			t.Errorf("d = %g: off by %g, stated ± %g, want d⁴/30", d, off, Bent(near, slope, d))
		}
	}
}
