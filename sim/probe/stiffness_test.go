package probe

import (
	"math"
	"testing"

	"grposim/grpo"
	"grposim/option"
	"grposim/sim"
)

// twoArmProbe returns a probe that displaces z of two arms by ±2d from the fixed point of
// the reference cell.
func twoArmProbe(displaced sim.Displaced, d float64, pairs int) Stiffness {
	return Stiffness{
		Name: string(displaced), Displaced: displaced, Point: []float64{0.65625, -0.65625},
		Direction: []float64{1, -1}, Covector: []float64{0.5, -0.5}, Displacement: d, Pairs: pairs,
	}
}

// The stiffness of the reference bandit with the penalty at the current policy lies in the measured
// intervals, widened by an error. Each fails by chance with probability 1e-6. The plain λ and λ_s
// are those of docs/theory.md §3. Extrapolation has the error (2d)⁴/30 times a fifth derivative, of
// the size of the total. A clipped λ is that of docs/theory-trainers.md §11.6: displacement takes
// some groups across the limit.
func TestStiffnessOfTheReferenceBandit(t *testing.T) {
	const delta = 0.7 * 15 / 16 // c_GΔ
	total := 2 * 0.5 * logistic(1.3125) * logistic(-1.3125)
	stale := -2 * delta * total * (1 - 2*logistic(1.3125))
	for _, x := range []struct {
		maxNorm, strength, z, displacement float64
		scale                              option.Scale
		pairs                              int
		total, fresh, stale, slack, width  float64
	}{
		{0, 0.5, 1.3125, 0.1, option.NoScale, 4_000_000, total, total - stale, stale,
			16e-4 / 30 * total * 4, 0.02 * total},
		{0.1, 1.2, 1.34290743, 0.02, option.StdScale, 1_000_000, 0.145641022, 0.0409333392, 0.104707683,
			0.001, 0.015},
	} {
		c := referenceCell()
		c.Estimator.KL.At, c.Estimator.KL.Coefficient = option.AtCurrent, x.strength
		c.Estimator.Advantage.Scale = x.scale
		c.Optimizer.MaxNorm, c.Run = x.maxNorm, sim.Run{Steps: 1, Replicas: 1}
		for _, displaced := range []sim.Displaced{sim.Both, sim.Current, sim.Behind} {
			probe := twoArmProbe(displaced, x.displacement, x.pairs)
			probe.Point = []float64{x.z / 2, -x.z / 2}
			c.Stiffness = append(c.Stiffness, probe)
		}
		want := map[string]float64{"total": x.total, "fresh": x.fresh, "stale": x.stale}
		for _, e := range simulate(t, []Cell{c}, 2)[0].Estimates {
			lo, hi := e.Interval(1 - 1e-6)
			if of := want[e.Name]; !(lo-x.slack <= of && of <= hi+x.slack) || !(hi-lo < x.width) {
				t.Errorf("norm up to %g: %s in [%g, %g] ± %g, want %g", x.maxNorm, e.Name, lo, hi, x.slack, of)
			}
		}
	}
}

func logistic(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// The two sides of a probe draw nearly the same groups, of any size. So most of the noise of the
// gradient cancels in their difference.
func TestSidesOfAProbeAreCoupled(t *testing.T) {
	const d, pairs, probes = 0.1, 64 * 200, 16
	for size, limit := range map[int]float64{16: 0.5, 200: 0.5, 1000: 0.33} {
		c := referenceCell()
		c.Estimator.GroupSize = size
		c.Run = sim.Run{Steps: 1, Replicas: 1}
		probe := twoArmProbe(sim.Both, d, pairs)
		squares := 0. // of standard errors, each known from 64 bins to 9 %
		for range probes {
			c.Stiffness = append(c.Stiffness, probe)
		}
		for _, e := range simulate(t, []Cell{c}, 2)[0].Estimates {
			squares += e.StdErr * e.StdErr
		}
		coupled := math.Sqrt(squares / probes)

		c.ID = "independent"
		s, policy := sim.NewCoupled(&c.Cell, sim.ForReplica, 0), grpo.NewPolicy(probe.Point)
		s.Aim([2]*grpo.Policy{policy, policy}, pairs)
		mean, square := 0., 0.
		for range pairs {
			s.DrawOnce()
			g := s.Gradient(0, policy, policy)
			x := (g[0] - g[1]) / 2
			mean += x / pairs
			square += x * x / pairs
		}
		// The error of S(d) from independent sides, times 1.5 for Richardson's extrapolation.
		independent := 1.5 * math.Sqrt(2*(square-mean*mean)/pairs) / (2 * d)
		t.Logf("G = %d: standard error %g, of independent sides %g", size, coupled, independent)
		if !(coupled < limit*independent) { // the ratios are 0.48, 0.39 and 0.27, known to 2 %
			t.Errorf("G = %d: standard error %g, want below %g times that of independent sides, %g", size,
				coupled, limit, independent)
		}
	}
}

// The error of a stiffness at a fixed point, with d = 0.1 and 0.2 at G = ∞, is within the stated
// systematic error. That is at most 10 times as large where the O(d²) of S(d) does not cancel. The
// true value is that of d = 0.01, whose error is 1e4 times smaller.
func TestSystematicErrorOfStiffness(t *testing.T) {
	for _, scale := range []option.Scale{option.NoScale, option.StdScale} {
		for _, mean := range []float64{0.9, 0.5, 0.02} {
			for _, z := range []float64{0.1, 0.4, 1.3, 3} {
				c := referenceCell()
				c.Bandit.Arms[0].Mean, c.Bandit.Arms[1].Mean = mean, mean/3
				p := 1 / (1 + math.Exp(-z))
				c.Estimator.KL.Coefficient = mean * 2 / 3 / z // the fixed point is z = φΔ/β
				if scale == option.StdScale {
					reward := mean * (1 + 2*p) / 3
					c.Estimator.KL.Coefficient /= math.Sqrt(reward * (1 - reward))
				}
				c.Estimator.GroupSize, c.Estimator.Advantage.Scale = option.Infinite, scale
				c.Estimator.KL.At = option.AtCurrent
				c.Run = sim.Run{Steps: 1, Replicas: 1}
				for _, displaced := range []sim.Displaced{sim.Both, sim.Current, sim.Behind} {
					for _, d := range []float64{0.01, 0.1, 0.2} {
						probe := twoArmProbe(displaced, d, 1)
						probe.Point = []float64{z / 2, -z / 2}
						c.Stiffness = append(c.Stiffness, probe)
					}
				}
				e := simulate(t, []Cell{c}, 1)[0].Estimates
				for i := range e {
					off := math.Abs(e[i].Mean - e[i-i%3].Mean)
					if i%3 > 0 && (off > e[i].Systematic || z < 1 && e[i].Systematic > 10*off) {
						t.Errorf("%s, success %g, z = %g: %s %.8g is off by %.2g, stated ± %.2g",
							scale, mean, z, e[i].Name, e[i].Mean, off, e[i].Systematic)
					}
				}
			}
		}
	}
}

// Without groups whose rewards differ, or with only a few, the error of a stiffness is
// not known. Where no reward can differ nothing is missing.
func TestStiffnessOfSilentGroups(t *testing.T) {
	for _, x := range []struct {
		mean  float64 // of both arms
		known bool
	}{{1e-9, false}, {1e-4, false}, {0.1, true}, {0, true}} {
		c := referenceCell()
		c.Bandit.Arms[0].Mean, c.Bandit.Arms[1].Mean = x.mean, x.mean
		c.Estimator.GroupSize = 2
		c.Run = sim.Run{Steps: 1, Replicas: 1}
		c.Stiffness = []Stiffness{twoArmProbe(sim.Both, 0.1, 10_000)}
		e := simulate(t, []Cell{c}, 1)[0].Estimates[0]
		if (e.DF > 0) != x.known {
			t.Errorf("success %g: %+v, want a known error: %v", x.mean, e, x.known)
		}
	}
}
