package equivalence

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// known is the normal interval of a difference with a standard error.
func known(d, s float64) Interval { return Student(d, s, math.Inf(1)) }

// fixed is an interval that is the same at each confidence.
func fixed(lo, hi float64) Interval { return func(float64) (float64, float64) { return lo, hi } }

// The intervals of known data: Student's of 3 ± 2 with 5 degrees of freedom, Clopper and Pearson's
// for 0 and 8 of 10.
func TestIntervals(t *testing.T) {
	check := func(name string, interval Interval, tail, wantLo, wantHi float64) {
		t.Helper()
		if lo, hi := interval(tail); math.Abs(lo-wantLo) > 1e-4 || math.Abs(hi-wantHi) > 1e-4 {
			t.Errorf("%s: [%g, %g], want [%g, %g]", name, lo, hi, wantLo, wantHi)
		}
	}
	check("Student", Student(3, 2, 5), 0.025, 3-2*2.570582, 3+2*2.570582)
	check("normal", known(3, 2), 0.05, 3-2*1.644854, 3+2*1.644854)
	check("0 of 10", exactShare(0, 10), 0.025, 0, 1-math.Pow(0.025, 0.1))
	check("8 of 10", exactShare(0.8, 10), 0.025, 0.443905, 0.974789)
	check("10 of 10", exactShare(1, 10), 0.025, math.Pow(0.025, 0.1), 1)
	check("difference", subtract(0.5, 0.6, fixed(0.47, 0.54), fixed(0.57, 0.65)), 0.05,
		0.1-0.05, 0.1+math.Hypot(0.05, 0.03))
	for _, unknown := range []Interval{Student(3, 2, 0), known(0, math.NaN()), known(math.NaN(), 0.1)} {
		if lo, hi := unknown(0.05); !math.IsInf(lo, -1) || !math.IsInf(hi, 1) {
			t.Errorf("an interval that is not known is [%g, %g]", lo, hi)
		}
	}
}

// Of several rows, Holm's procedure. Three with p values of 0.001, 0.02 and 0.04 for a difference
// of the margin, at 2α = 0.1: 0.001 ≤ 0.1/3, 0.02 ≤ 0.1/2, 0.04 ≤ 0.1. Without the step down the
// last is not rejected. Without a correction a fourth with 0.09 would be.
func TestHolm(t *testing.T) {
	row := func(p float64) Row {
		return Row{Interval: known(0.1+distuv.UnitNormal.Quantile(1-p/2), 1), Margin: 0.1}
	}
	judge := func(p ...float64) (verdicts []Verdict) {
		var rows []Row
		for _, x := range p {
			rows = append(rows, row(x))
		}
		for _, j := range Judge(rows, EachRow, 0.9) {
			verdicts = append(verdicts, j.Verdict)
		}
		return verdicts
	}
	for _, c := range []struct {
		p    []float64
		want int // number of rows that are different, those of the smallest p
	}{
		{[]float64{0.001, 0.02, 0.04}, 3}, {[]float64{0.001, 0.02, 0.11}, 2},
		{[]float64{0.001, 0.06, 0.06}, 1}, {[]float64{0.04, 0.04, 0.04}, 0}, {[]float64{0.09}, 1},
	} {
		for i, v := range judge(c.p...) {
			if want := i < c.want; want != (v == Different) {
				t.Errorf("p = %v: row %d is %s", c.p, i, v)
			}
		}
	}
	// The same for the other side: the p value of each one-sided test.
	for _, c := range []struct {
		claim Claim
		p     []float64
		same  bool
	}{
		{EachRow, []float64{0.001, 0.02, 0.04}, true}, // steps down to 0.05
		{EachRow, []float64{0.04, 0.04}, false},
		{AllRows, []float64{0.04, 0.04}, true}, // together
	} {
		var rows []Row
		for _, p := range c.p {
			rows = append(rows, Row{known(1-distuv.UnitNormal.Quantile(1-p)*0.01, 0.01), 1})
		}
		for i, j := range Judge(rows, c.claim, 0.9) {
			if (j.Verdict == Same) != c.same {
				t.Errorf("%+v: row %d is %s", c, i, j.Verdict)
			}
		}
	}
}

// The verdict of a row follows from the interval that comes with it. Exchanging A and B changes the
// sign of all intervals and no verdict. A wider margin leaves what is the same, and makes nothing
// different.
func TestJudgeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		confidence := rapid.SampledFrom([]float64{0.8, 0.9, 0.95}).Draw(t, "confidence")
		var rows, exchanged, wider []Row
		for range rapid.IntRange(1, 12).Draw(t, "rows") {
			var forward, back Interval
			if rapid.Bool().Draw(t, "share") {
				n := float64(rapid.IntRange(1, 200).Draw(t, "n"))
				a, b := rapid.Float64Range(0, 1).Draw(t, "a"), rapid.Float64Range(0, 1).Draw(t, "b")
				forward, back = Shares(a, n, b, 2*n), Shares(b, 2*n, a, n)
			} else {
				d, s := rapid.Float64Range(-3, 3).Draw(t, "d"), rapid.Float64Range(0, 2).Draw(t, "s")
				df := rapid.Float64Range(1, 50).Draw(t, "df")
				forward, back = Student(d, s, df), Student(-d, s, df)
			}
			margin := rapid.Float64Range(0.01, 3).Draw(t, "margin")
			rows, exchanged = append(rows, Row{forward, margin}), append(exchanged, Row{back, margin})
			wider = append(wider, Row{forward, 2 * margin})
		}
		claim := rapid.SampledFrom([]Claim{EachRow, AllRows}).Draw(t, "claim")
		a, b := Judge(rows, claim, confidence), Judge(exchanged, claim, confidence)
		w := Judge(wider, claim, confidence)
		for i, j := range a {
			follows := Undecided
			switch {
			case j.Lo > -rows[i].Margin && j.Hi < rows[i].Margin:
				follows = Same
			case j.Lo > rows[i].Margin || j.Hi < -rows[i].Margin:
				follows = Different
			}
			if j.Verdict != follows {
				t.Fatalf("row %d: %+v with margin %g", i, j, rows[i].Margin)
			}
			if b[i].Verdict != j.Verdict || b[i].Lo != -j.Hi || b[i].Hi != -j.Lo {
				t.Fatalf("row %d: %+v exchanged is %+v", i, j, b[i])
			}
			if j.Verdict == Same && w[i].Verdict != Same || j.Verdict != Different && w[i].Verdict == Different {
				t.Fatalf("row %d: %+v at the margin %g, %+v at twice of it", i, j, rows[i].Margin, w[i])
			}
		}
	})
}

// exceeds reports whether a number of events in trials is beyond chance, one in 10⁶,
// if each has the given probability.
func exceeds(events, trials int, probability float64) bool {
	return distuv.Binomial{N: float64(trials), P: probability}.CDF(float64(events-1)) > 1-1e-6
}

func count(event bool) int {
	if event {
		return 1
	}
	return 0
}

// Verdicts by Shares are wrong as often as declared, exactly, for small numbers of questions: all
// outcomes are enumerated. Two shares at the distance of the margin are different with at most 2α.
// They are the same with at most α for margins up to 0.1, and 1.01 α at MaxMargin.
func TestSharesErrors(t *testing.T) {
	for _, questions := range [][2]int{{5, 5}, {10, 10}, {10, 30}, {30, 30}, {100, 100}} {
		nA, nB := questions[0], questions[1]
		for _, tail := range []float64{0.001, 0.025, 0.05} {
			ends := func(n int) (all [][2]float64) {
				for k := range n + 1 {
					lo, hi := exactShare(float64(k)/float64(n), float64(n))(tail)
					all = append(all, [2]float64{lo, hi})
				}
				return all
			}
			known := func(e [2]float64) Interval { return fixed(e[0], e[1]) }
			endsA, endsB := ends(nA), ends(nB)
			for _, margin := range []float64{0, 0.05, 0.1, MaxMargin} {
				limit := map[Verdict]float64{Different: 2 * tail, Same: tail}
				if margin == MaxMargin {
					limit[Same] *= 1.01
				}
				verdicts := make([]Verdict, (nA+1)*(nB+1))
				for i := range verdicts {
					i, k := i/(nB+1), i%(nB+1)
					d := subtract(float64(i)/float64(nA), float64(k)/float64(nB), known(endsA[i]), known(endsB[k]))
					verdicts[i*(nB+1)+k] = Row{Interval: d, Margin: margin}.verdict(tail)
				}
				for step := range 41 {
					a := float64(step) / 40
					for _, b := range []float64{a + margin, a - margin} {
						if b < 0 || b > 1 {
							continue
						}
						wrong := make(map[Verdict]float64)
						weightsA, weightsB := binomial(nA, a), binomial(nB, b)
						for i, v := range verdicts {
							wrong[v] += weightsA[i/(nB+1)] * weightsB[i%(nB+1)]
						}
						for v, most := range limit {
							if wrong[v] > most {
								t.Errorf("%d and %d questions, shares %g and %g, tail %g: %s with probability %.5f, want at most %g",
									nA, nB, a, b, tail, v, wrong[v], most)
							}
						}
					}
				}
			}
		}
	}
}

// binomial returns the probabilities of 0 to n successes.
func binomial(n int, p float64) []float64 {
	w := make([]float64, n+1)
	for k := range w {
		all, _ := math.Lgamma(float64(n) + 1)
		won, _ := math.Lgamma(float64(k) + 1)
		lost, _ := math.Lgamma(float64(n-k) + 1)
		w[k] = math.Exp(all-won-lost) * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
	}
	return w
}
