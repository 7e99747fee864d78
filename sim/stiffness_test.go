package sim

import (
	"math"
	"testing"

	"grposim/grpo"
	"grposim/sim/draw"
)

// twoArmProbe returns a probe that displaces z of two arms by ±2d from the fixed point of
// the reference cell.
func twoArmProbe(displaced Displaced, d float64, pairs int) StiffnessProbe {
	return StiffnessProbe{
		Name: string(displaced), Displaced: displaced, Point: []float64{0.65625, -0.65625},
		Direction: []float64{1, -1}, Covector: []float64{0.5, -0.5}, Displacement: d, Pairs: pairs,
	}
}

// The stiffness of the reference bandit with the penalty at the current policy
// (docs/theory.md §3: λ = 2βpq, λ_s = −2c_GΔpq(1−2p), λ_f = λ − λ_s) lies in the
// measured intervals, widened by the error of the extrapolation. Each fails by chance
// with probability 1e-6.
func TestStiffnessOfTheReferenceBandit(t *testing.T) {
	const d, pairs = 0.1, 4_000_000
	c := referenceCell()
	c.Estimator.KL.At = grpo.AtCurrent
	c.Run = Run{Steps: 1, Replicas: 1}
	for _, displaced := range []Displaced{Both, Current, Behind} {
		c.Stiffness = append(c.Stiffness, twoArmProbe(displaced, d, pairs))
	}
	p := 1 / (1 + math.Exp(-1.3125))
	delta := 0.7 * 15 / 16 // c_GΔ
	total := p * (1 - p)   // 2βpq, β = ½
	stale := -2 * delta * p * (1 - p) * (1 - 2*p)
	want := map[string]float64{"total": total, "stale": stale, "fresh": total - stale}
	// The error of the extrapolation is (2d)⁴/30 times a fifth derivative in z, which is
	// a sum of terms of the size of the total.
	bias := 16 * d * d * d * d / 30 * total * 4
	for _, e := range simulate(t, []Cell{c}, 2)[0].Estimates {
		lo, hi := e.Interval(1 - 1e-6)
		if x := want[e.Name]; !(lo-bias <= x && x <= hi+bias) {
			t.Errorf("%s in [%g, %g] ± %g, want %g", e.Name, lo, hi, bias, x)
		}
		if !(hi-lo < 0.02*total) {
			t.Errorf("%s: the interval [%g, %g] is wider than 2 %% of the total", e.Name, lo, hi)
		}
	}
}

// Two probes of one cell draw different groups, even if they are equal.
func TestProbesAreIndependent(t *testing.T) {
	c := referenceCell()
	c.Run = Run{Steps: 1, Replicas: 1}
	c.Stiffness = []StiffnessProbe{twoArmProbe(Both, 0.1, 1000), twoArmProbe(Both, 0.1, 1000)}
	estimates := simulate(t, []Cell{c}, 1)[0].Estimates
	if len(estimates) != 2 || estimates[0].Mean == estimates[1].Mean {
		t.Errorf("got %+v, want two different estimates", estimates)
	}
}

// The two sides of a probe draw nearly the same groups, so that most of the noise of the
// gradient cancels in their difference, for groups of any size.
func TestSidesOfAProbeAreCoupled(t *testing.T) {
	const d, pairs, probes = 0.1, 64 * 200, 16
	for _, size := range []int{16, 200, 1000} {
		c := referenceCell()
		c.Estimator.GroupSize = size
		c.Run = Run{Steps: 1, Replicas: 1}
		probe := twoArmProbe(Both, d, pairs)
		squares := 0. // of standard errors, each known from 64 bins to 9 %
		for range probes {
			c.Stiffness = append(c.Stiffness, probe)
		}
		for _, e := range simulate(t, []Cell{c}, 2)[0].Estimates {
			squares += e.StdErr * e.StdErr
		}
		coupled := math.Sqrt(squares / probes)

		s := newGradientSampler(&c, newLaws(&c.Bandit, &c.Estimator), draw.NewWords(Stream(1, "independent", ForReplica, 0)), pairs)
		policy := grpo.NewPolicy(probe.Point)
		s.sampler.aim(policy)
		mean, square := 0., 0.
		for range pairs {
			s.draw()
			s.gradient(policy, policy)
			x := (s.g[0] - s.g[1]) / 2
			mean += x / pairs
			square += x * x / pairs
		}
		// The error of S(d) from independent sides, times 1.5 for Richardson's extrapolation.
		independent := 1.5 * math.Sqrt(2*(square-mean*mean)/pairs) / (2 * d)
		t.Logf("G = %d: standard error %g, of independent sides %g", size, coupled, independent)
		if !(coupled < 0.5*independent) { // the ratios are 0.42, 0.42 and 0.23, known to 2 %
			t.Errorf("G = %d: standard error %g, want below half that of independent sides, %g", size, coupled, independent)
		}
	}
}
