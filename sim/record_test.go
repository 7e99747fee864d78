package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grposim/option"
	"grposim/sim/measure"
)

// The summary of values added one by one, in chunks of any size, is that of all of them. It has the
// mean and the standard error s/√n.
func TestSummary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	whole, part := newMoments(2), newMoments(2)
	values := make([]float64, 101)
	for i := range values {
		values[i] = 1e3 + rng.NormFloat64()
		if part.add([]float64{0, values[i]}); i == 6 || i == 79 || i == 100 {
			whole.merge(&part)
			part = newMoments(2)
		}
	}
	want, got := measure.Mean(values), whole.summary(1)
	if math.Abs(got.Mean-want.Mean) > 1e-11 || math.Abs(got.StdErr-want.StdErr) > 1e-12 {
		t.Errorf("%.17g ± %.17g, want %.17g ± %.17g", got.Mean, got.StdErr, want.Mean, want.StdErr)
	}
}

// recordedAt simulates a cell and returns the means that it records at a step.
func recordedAt(t *testing.T, c Cell, step int) map[Quantity]float64 {
	t.Helper()
	r := simulate(t, []Cell{c}, 1)[0]
	values := make(map[Quantity]float64)
	for q, name := range r.Quantities {
		values[name] = r.Trajectory[slices.Index(r.Steps, step)][q].Mean
	}
	return values
}

// The quantities recorded at the first step from the uniform policy at G = ∞ are known. J is 0.55,
// and the gradient ±π_0π_1Δ = ±0.175.
func TestRecordedQuantities(t *testing.T) {
	c := referenceCell()
	c.Estimator.GroupSize = option.Infinite
	c.Bandit.TrueMeans = []float64{0.3, 0.5}
	c.Init = []float64{0, 0}
	c.Run = Run{Steps: 1}
	for name, want := range map[Quantity]float64{
		ExpectedReward: 0.55, TrueReward: 0.4, Entropy: math.Ln2, Collision: 0.5, ZeroVarianceFraction: 0,
		KLReference: 0, ClipFraction: 0, ImportanceRatioMax: 1, GradientNorm: 0.175 * math.Sqrt2, LogitGap: 0,
	} {
		near(t, name, recordedAt(t, c, 0)[name], want, 1e-15)
	}
	near(t, "logit gap after a step", recordedAt(t, c, 1)[LogitGap], 2*0.1*0.175, 1e-15)
	c.Optimizer.Schedule = option.Schedule{Warmup: 4}
	near(t, "after the first of four steps of warm-up", recordedAt(t, c, 1)[LogitGap], 2*0.025*0.175,
		1e-15)
	c.Run = Run{Steps: 4, BurnIn: 3} // averages are of a single step, after burn-in
	want := recordedAt(t, c, 3)[ExpectedReward]
	got, _ := estimate(simulate(t, []Cell{c}, 1)[0], ExpectedRewardMean)
	near(t, "mean reward", got.Mean, want, 1e-15)
}

// The Result has as many traces as Cell.Traces; quantiles are over the first 1,024
// replicas with any number of traces.
func TestTracesOfManyReplicas(t *testing.T) {
	c := referenceCell()
	c.Run = Run{Steps: 2, Replicas: 1100}
	plain := simulate(t, []Cell{c}, 2)[0]
	c.Traces = 1090
	traced := simulate(t, []Cell{c}, 2)[0]
	if len(traced.Traces) != 1090 || traced.Traces[1089] == nil {
		t.Errorf("got %d traces, want 1090, none of them nil", len(traced.Traces))
	}
	if !slices.EqualFunc(plain.Trajectory, traced.Trajectory, slices.Equal) {
		t.Error("the trajectory with traces differs from that without")
	}
}

// Quantiles are to the bit those of the sorted values, and the values are only reordered. They are
// any number of random, equal, mostly equal or sorted values.
func TestQuantilesAreOfSortedValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for _, values := range []struct {
		name string
		at   func(i int) float64
	}{
		{"random", func(int) float64 { return rng.NormFloat64() }},
		{"equal", func(int) float64 { return 0.3 }},
		{"mostly equal", func(int) float64 { return math.Floor(1.1 * rng.Float64()) }},
		{"mostly one", func(int) float64 { return -math.Floor(1.1 * rng.Float64()) }},
		{"few", func(int) float64 { return float64(rng.IntN(5)) / 4 }},
		{"up", func(i int) float64 { return float64(i) }}, {"down", func(i int) float64 { return -float64(i) }},
		{"up and down", func(i int) float64 { return math.Abs(float64(i) - 500) }},
		{"subnormal", func(int) float64 { return float64(rng.IntN(3)-1) * math.SmallestNonzeroFloat64 }},
		{"far apart", func(int) float64 { return math.Exp(100 * rng.NormFloat64()) }},
		{"infinite", func(int) float64 { return math.Inf(1) }}, {"least infinite", func(int) float64 { return math.Inf(-1) }},
		{"some infinite", func(int) float64 { return 1 / math.Floor(1.5*rng.Float64()) }},
		{"largest there", func(int) float64 { return math.MaxFloat64 * (rng.Float64() - 0.5) }},
	} {
		for n := 1; n < 1100; n += 1 + n/7 {
			drawn := make([]float64, n)
			for i := range drawn {
				drawn[i] = values.at(i)
			}
			sorted := slices.Sorted(slices.Values(drawn))
			var want [5]float64
			for i, level := range QuantileLevels {
				at := float64(n-1) * level
				k := int(at)
				want[i] = sorted[k]
				if step := sorted[min(k+1, n-1)] - sorted[k]; step > 0 && at > float64(k) {
					want[i] += float64((at - float64(k)) * step)
				}
			}
			if got := quantiles(drawn); got != want {
				t.Errorf("%s, %d values: %v, want %v", values.name, n, got, want)
			}
			if slices.Sort(drawn); !slices.Equal(drawn, sorted) {
				t.Errorf("%s, %d values: values have changed, want the same in another order", values.name, n)
			}
		}
	}
}

// Moments of many values are to the bit those of each value alone.
func TestMomentsAreOfEachValue(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	for n := range 200 {
		got, alone, at := newMoments(9+n%90), newMoments(1), n%9
		for range 1 + rng.IntN(300) {
			var values []float64
			for range 9 + n%90 {
				values = append(values, []float64{0, rng.NormFloat64(), math.Inf(1), math.NaN()}[rng.IntN(2+n%3)])
			}
			got.add(values)
			alone.add(values[at : at+1])
		}
		if x := got.m2[at]; x != alone.m2[0] && !math.IsNaN(x) {
			t.Errorf("case %d, value %d: %v, alone %v", n, at, x, alone.m2[0])
		}
	}
}
