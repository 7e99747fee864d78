package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// correlated is an exponential of n rows with noise of a correlation r at successive rows.
func correlated(seed uint64, n int, r float64) Curve {
	generator := rand.New(rand.NewPCG(seed, 12))
	var c Curve
	e := generator.NormFloat64()
	for i := range n {
		t := float64(i + 1)
		c.Time, c.Reward = append(c.Time, t), append(c.Reward, -math.Expm1(-5*t/float64(n))+0.1*e)
		e = r*e + math.Sqrt(1-r*r)*generator.NormFloat64()
	}
	return c
}

// The weights are e^{−BIC/2} over their sum; a quantity of two laws that count alike has the
// quartiles at both, one of them a median between them, and bounds that hold both.
func TestAveraged(t *testing.T) {
	g := Grow(correlated(1, 100, 0), math.Inf(1))
	sum := 0.0
	for i, m := range g.models {
		sum += g.weight[i]
		if want := math.Exp((g.models[1].BIC - m.BIC) / 2); math.Abs(g.weight[i]/g.weight[1]-want) > 1e-9*want {
			t.Errorf("%s has %g times the weight of %s, want %g", m.Name, g.weight[i]/g.weight[1], g.models[1].Name, want)
		}
	}
	if math.Abs(sum-1) > 1e-12 || g.Weight(Inertial) != 0 {
		t.Errorf("the weights add to %g, of %s %g", sum, Inertial, g.Weight(Inertial))
	}
	a := Averaged{laws: []byLaw{{0.5, 0, 0.01, 100}, {0.5, 1, 0.01, 100}}, largest: math.Inf(1)}
	if lo, hi := a.Interval(0.25); math.Abs(lo) > 1e-6 || math.Abs(hi-1) > 1e-6 || math.Abs(a.Median()-0.5) > 0.5 {
		t.Errorf("[%g, %g] about %g, want [0, 1]", lo, hi, a.Median())
	}
	if lo, hi := a.Interval(0.01); lo > -0.02 || hi < 1.02 || math.Abs(a.Error()-math.Hypot(0.5, 0.01)) > 1e-12 {
		t.Errorf("[%g, %g] with error %g", lo, hi, a.Error())
	}
	a.laws[1].err = math.Inf(1) // too few rows for its parameters
	if lo, hi := a.Interval(0.01); !math.IsInf(lo, -1) || !math.IsInf(hi, 1) {
		t.Errorf("[%g, %g] with an unknown error", lo, hi)
	}
}

// The correlation of residuals is that of the noise. The mean of 100 logs of 60 rows has a
// standard error of 0.008; uncorrected it is 0.1 too small.
func TestCorrelationIsThatOfTheNoise(t *testing.T) {
	const logs, r = 100, 0.8
	var mean float64
	for seed := range uint64(logs) {
		mean += Grow(correlated(seed, 60, r), math.Inf(1)).Correlation / logs
	}
	if math.Abs(mean-r) > 0.05 {
		t.Errorf("correlation %.3f, want %g", mean, r)
	}
}

// An exponential e^{−5t/n} over 200 rows: start at the first row, plateau, half of the rise
// from there, and what is missing at the end, each in an interval that misses it with 1e-4.
func TestGrowth(t *testing.T) {
	const n = 200.0
	c := correlated(3, n, 0)
	g := Grow(c, math.Inf(1))
	rate := 5 / n
	for name, q := range map[string]struct {
		of   Averaged
		want float64
	}{
		"start":     {g.Start(), -math.Expm1(-rate)},
		"plateau":   {g.Plateau(), 1},
		"half-time": {g.LogHalfTime(), math.Log(math.Ln2 / rate)},
		"missing":   {g.Missing, math.Exp(-rate * (n - 1))},
	} {
		lo, hi := q.of.Interval(5e-5)
		if !(lo <= q.want && q.want <= hi && hi-lo < 1) {
			t.Errorf("%s in [%g, %g], want %g", name, lo, hi, q.want)
		}
	}
	if lo, hi := Grow(c, 0.95).Plateau().Interval(0.01); hi > 0.95 || !(lo < hi) {
		t.Errorf("plateau in [%g, %g] with rewards of at most 0.95", lo, hi)
	}
}
