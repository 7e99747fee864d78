package probe

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"grposim/option"
	"grposim/sim"
	"grposim/sim/measure"
)

// mode is the mode of two arms: its stiffness, fresh and stale part.
type mode struct{ fresh, stale float64 }

// twoArmModes holds the settings of the reference bandit whose modes docs/theory.md §3
// gives in closed form, at G = ∞, β = 0.5, no scale.
var twoArmModes = []struct {
	name       string
	importance option.ImportanceMode
	at         option.KLPoint
	mode       func(p, pq float64) mode
}{
	{"frozen", option.NoImportance, option.AtSnapshot, func(_, pq float64) mode { return mode{0, pq} }},
	{"none, KL current", option.NoImportance, option.AtCurrent, func(p, pq float64) mode {
		stale := 2 * 0.7 * pq * (2*p - 1)
		return mode{pq - stale, stale}
	}},
	{"ratio, KL current", option.Ratio, option.AtCurrent, func(_, pq float64) mode { return mode{pq, 0} }},
	{"ratio, KL snapshot", option.Ratio, option.AtSnapshot, func(p, pq float64) mode {
		fresh := 2 * 0.7 * pq * (2*p - 1)
		return mode{fresh, pq - fresh}
	}},
}

// modeCell is the reference bandit at its fixed point z* = 1.4, G = ∞.
func modeCell(importance option.ImportanceMode, at option.KLPoint) Cell {
	c := referenceCell()
	c.Estimator.GroupSize, c.Estimator.Importance.Mode = option.Infinite, importance
	c.Estimator.KL.At = at
	c.Init = []float64{0.7, -0.7}
	c.Run = sim.Run{Steps: 1, Replicas: 1}
	return c
}

// multipliers returns the eigenvalues of the linear map of one refresh period (docs/theory.md §5),
// dominant first. They are the roots of its characteristic polynomial, which the simulator does not
// use.
func (m mode) multipliers(o option.Optimizer, lag option.Lag) []complex128 {
	eta, mu := o.LearningRate, o.Momentum
	var roots []complex128
	if lag.Kind == option.Delay {
		// (z−1)(z−μ) z^τ + η(λ_f z^(τ+1) + λ_s z)
		poly := make([]complex128, lag.Interval+3)
		n := len(poly) - 1
		poly[n] += 1
		poly[n-1] += complex(-1-mu+eta*m.fresh, 0)
		poly[n-2] += complex(mu, 0)
		poly[1] += complex(eta*m.stale, 0)
		roots = polynomialRoots(poly)
	} else {
		var a [2][2]float64 // the monodromy matrix; its columns are the images of (1, 0) and (0, 1)
		for column := range 2 {
			x, v := float64(1-column), float64(column)
			old := x
			for range lag.Interval {
				v = mu*v - m.fresh*x - m.stale*old
				x += eta * v
			}
			a[0][column], a[1][column] = x, v
		}
		roots = polynomialRoots([]complex128{
			complex(a[0][0]*a[1][1]-a[0][1]*a[1][0], 0), complex(-a[0][0]-a[1][1], 0), 1})
	}
	for i := range roots {
		for j := range i {
			if cmplx.Abs(roots[i]) > cmplx.Abs(roots[j]) {
				roots[i], roots[j] = roots[j], roots[i]
			}
		}
	}
	return roots
}

// polynomialRoots returns the roots of Σ c_k z^k, the last c being 1, by the iteration of
// Durand and Kerner.
func polynomialRoots(c []complex128) []complex128 {
	n := len(c) - 1
	roots := make([]complex128, n)
	for i := range roots {
		roots[i] = cmplx.Pow(complex(0.4, 0.9), complex(float64(i), 0))
	}
	for range 2000 {
		for i, z := range roots {
			value, others := complex128(0), complex128(1)
			for k := n; k >= 0; k-- {
				value = value*z + c[k]
			}
			for j, w := range roots {
				if j != i {
					others *= z - w
				}
			}
			roots[i] -= value / others
		}
	}
	return roots
}

// dampingRatio returns ζ = −(s₁+s₂)/(2√(s₁s₂)), s = ln m.
func dampingRatio(m1, m2 complex128) float64 {
	s1, s2 := cmplx.Log(m1), cmplx.Log(m2)
	return real(-(s1 + s2) / (2 * cmplx.Sqrt(s1*s2)))
}

// estimate returns the estimate of the given name.
func estimate(r sim.Result, name string) (measure.Estimate, bool) {
	i := slices.IndexFunc(r.Estimates, func(e measure.Named) bool { return e.Name == name })
	if i < 0 {
		return measure.Estimate{}, false
	}
	return r.Estimates[i].Estimate, true
}

// At G = ∞ the rate and the damping ratio agree with those of the linear map to 1e-6. They do for
// decay and growth, block and delay lag, and all settings of twoArmModes.
func TestRelaxationOfTheLinearMap(t *testing.T) {
	p := 1 / (1 + math.Exp(-1.4))
	for _, setting := range twoArmModes {
		for _, x := range []struct {
			lag    option.Lag
			mu     float64
			kappa  float64 // ηλ
			burnIn int
		}{
			{block(1), 0, 0.1, 0},
			{block(1), 0.5, 0.3, 0},
			{block(1), 0.9, 0.001, 0},
			{block(1), 0.99, 1e-5, 0},
			{block(4), 0.9, 0.01, 0},
			{block(4), 0.9, 0.07, 40},
			{block(4), 0.9, 0.1, 0},
			{block(16), 0.5, 0.06, 0},
			{block(8), 0, 0.3, 0},
			{delay(1), 0.9, 0.08, 30},
			{delay(4), 0.9, 0.02, 60},
			{delay(4), 0.9, 0.03, 60},
		} {
			c := modeCell(setting.importance, setting.at)
			m := setting.mode(p, p*(1-p))
			c.Lag, c.Optimizer.Momentum = x.lag, x.mu
			c.Optimizer.LearningRate = x.kappa / (m.fresh + m.stale)
			c.Run = sim.Run{Steps: 4000, BurnIn: x.burnIn, Replicas: 1}
			c.Relaxation = &Relaxation{Point: c.Init, Direction: []float64{1, -1}, Offset: 1e-6}
			r := simulate(t, []Cell{c}, 1)[0]

			z := m.multipliers(c.Optimizer, c.Lag)
			want := -math.Log(cmplx.Abs(z[0])) / float64(c.Lag.StepsPerSnapshot())
			got, found := estimate(r, RelaxationRate)
			if !found || got.DF != measure.Exactly || math.Abs(got.Mean/want-1) > 1e-6 {
				t.Errorf("%s, %v: rate %.12g, want %.12g", setting.name, x, got.Mean, want)
			}
			zeta, found := estimate(r, DampingRatio)
			oscillator := x.mu > 0 && (math.Abs(imag(z[0])) > 1e-9 || real(z[0]) > 0 && real(z[1]) > 0)
			if found != oscillator {
				t.Errorf("%s, %v: damping ratio %v, found %v, not %v", setting.name, x, zeta, found, oscillator)
			}
			if want := dampingRatio(z[0], z[1]); found && math.Abs(zeta.Mean/want-1) > 1e-6 {
				t.Errorf("%s, %v: damping ratio %.12g, want %.12g", setting.name, x, zeta.Mean, want)
			}
		}
	}
}

// relaxing returns the reference bandit at finite G with a relaxation probe of pairs that
// start at z* ± 0.1, and its mode.
func relaxing(size int, lag option.Lag, mu, eta float64, run sim.Run) (Cell, mode) {
	c := referenceCell()
	z := 1.4 * (1 - 1/float64(size))
	c.ID = fmt.Sprintf("%v %g %g", lag, mu, eta)
	c.Estimator.GroupSize = size
	c.Init = []float64{z / 2, -z / 2}
	c.Lag, c.Optimizer.Momentum, c.Optimizer.LearningRate, c.Run = lag, mu, eta, run
	c.Relaxation = &Relaxation{Point: c.Init, Direction: []float64{1, -1}, Offset: 0.05}
	p := 1 / (1 + math.Exp(-z))
	return c, mode{0, p * (1 - p)}
}

// At finite G the rate and the damping ratio of the linear map lie in the measured intervals. So
// they do if refresh periods of several steps correlate the noise of successive x. Each fails by
// chance with probability 1e-6. Errors of second order (docs/theory-neglected.md §6) are below 1 %.
func TestRelaxationUnderNoise(t *testing.T) {
	var cells []Cell
	var modes []mode
	for _, x := range []struct {
		lag     option.Lag
		mu, eta float64
	}{
		{block(1), 0, 0.1}, {block(1), 0.9, 0.1}, {block(4), 0, 0.3}, {block(4), 0.9, 0.01},
		{block(4), 0.9, 0.1}, {delay(1), 0.9, 0.1},
	} {
		c, m := relaxing(64, x.lag, x.mu, x.eta, sim.Run{Steps: 600, Replicas: 640})
		cells, modes = append(cells, c), append(modes, m)
	}
	for i, r := range simulate(t, cells, 2) {
		c := cells[i]
		z := modes[i].multipliers(c.Optimizer, c.Lag)
		check := func(name string, want float64) {
			e, found := estimate(r, name)
			lo, hi := e.Interval(1 - 1e-6)
			slack := 0.01 * want
			if !found || e.DF != 63 || !(lo-slack <= want && want <= hi+slack) || hi-lo > 0.25*want {
				t.Errorf("%s: %s in [%g, %g], want %g", c.ID, name, lo, hi, want)
			}
		}
		check(RelaxationRate, -math.Log(cmplx.Abs(z[0]))/float64(c.Lag.StepsPerSnapshot()))
		if c.Optimizer.Momentum > 0 {
			check(DampingRatio, dampingRatio(z[0], z[1]))
		}
	}
}

// If noise dominates its second moment, Adam relaxes at the rates of docs/theory-neglected.md §6,
// which grow as √G. The test fails by chance with probability 1e-6; the theory is of
// leading order, with an error of 3 %.
func TestRelaxationOfAdam(t *testing.T) {
	want := map[int]float64{8: 4.737e-4, 32: 8.335e-4}
	var cells []Cell
	for _, size := range []int{8, 32} {
		c, _ := relaxing(size, block(1), 0, 2e-4, sim.Run{Steps: 6000, BurnIn: 1500, Replicas: 128})
		c.Relaxation.Offset = 0.05
		c.Optimizer = option.Optimizer{Kind: option.Adam, LearningRate: 2e-4, Beta1: 0.9, Beta2: 0.999,
			Epsilon: 1e-8, Schedule: c.Optimizer.Schedule}
		cells = append(cells, c)
	}
	for i, r := range simulate(t, cells, 2) {
		size := cells[i].Estimator.GroupSize
		e, _ := estimate(r, RelaxationRate)
		lo, hi := e.Interval(1 - 1e-6)
		if x, slack := want[size], 0.03*want[size]; !(lo-slack <= x && x <= hi+slack) || hi-lo > 0.3*x {
			t.Errorf("G = %d: rate in [%g, %g], want %g", size, lo, hi, x)
		}
	}
}

// There is no estimate, rather than NaN, from a pair whose difference is below round-off
// from the start or that has no step to fit.
func TestRelaxationOfNothing(t *testing.T) {
	none := modeCell(option.NoImportance, option.AtSnapshot)
	none.Run.Steps = 10
	none.Relaxation = &Relaxation{Point: none.Init, Direction: []float64{1, -1}, Offset: 1e-13}
	short := none
	short.Lag.Interval = 20 // no refresh in 10 steps
	short.Relaxation = &Relaxation{Point: none.Init, Direction: []float64{1, -1}, Offset: 1e-3}
	for _, r := range simulate(t, []Cell{none, short}, 1) {
		if len(r.Estimates) > 0 {
			t.Errorf("got %+v, want no estimates", r.Estimates)
		}
	}
}

// At G = ∞ the error of a relaxation rate and of a damping ratio is within the stated one, for
// large offsets as well. This is with and without scale, one multiplier and two, and a burn-in. The
// true value is that of an offset of 1e-5.
func TestSystematicErrorOfRelaxation(t *testing.T) {
	for _, scale := range []option.Scale{option.NoScale, option.StdScale} {
		for _, z := range []float64{0.3, 1.4, 3} {
			for _, x := range []struct {
				lag     option.Lag
				mu, eta float64
			}{{block(1), 0, 0.3}, {block(8), 0, 0.1}, {block(1), 0.9, 0.005}, {block(4), 0.9, 0.05},
				{delay(1), 0, 0.02}, {delay(1), 0.5, 0.3}, {delay(4), 0.9, 0.02}} {
				for _, burnIn := range []int{0, 200} {
					var cells []Cell
					for _, offset := range []float64{1e-5, 1e-3, 0.1} {
						c := modeCell(option.NoImportance, option.AtSnapshot)
						p := 1 / (1 + math.Exp(-z))
						c.Estimator.Advantage.Scale, c.Estimator.KL.Coefficient = scale, 0.7/z
						if reward := 0.2 + 0.7*p; scale == option.StdScale {
							c.Estimator.KL.Coefficient /= math.Sqrt(reward * (1 - reward))
						}
						c.Init = []float64{z / 2, -z / 2}
						c.Lag, c.Optimizer.Momentum = x.lag, x.mu
						c.Optimizer.LearningRate = x.eta / (2 * c.Estimator.KL.Coefficient * p * (1 - p))
						c.Run = sim.Run{Steps: 400, BurnIn: burnIn, Replicas: 1}
						c.Relaxation = &Relaxation{Point: c.Init, Direction: []float64{0.5, -0.5}, Offset: offset}
						cells = append(cells, c)
					}
					results := simulate(t, cells, 1)
					for _, name := range []string{RelaxationRate, DampingRatio} {
						right, found := estimate(results[0], name)
						for i, r := range results[1:] {
							e, ok := estimate(r, name)
							if !ok || !found {
								continue
							}
							if off := math.Abs(e.Mean - right.Mean); off > e.Systematic+right.Systematic {
								t.Errorf("%s, z = %g, %v, μ = %g, burn-in %d, offset %g: %s %.9g is off by %.2g, stated ± %.2g", scale, z, x.lag, x.mu, burnIn, cells[i+1].Relaxation.Offset, name, e.Mean, off, e.Systematic)
							}
							if i == 0 && e.Systematic > 1e-3*math.Abs(e.Mean) {
								t.Errorf("%s, z = %g, %v, μ = %g, burn-in %d: %s %.9g ± %.2g", scale, z, x.lag, x.mu,
									burnIn, name, e.Mean, e.Systematic)
							}
						}
					}
				}
			}
		}
	}
}

// The fit to a given series finds its multipliers. They are exact if it has as many modes as the
// fit, and a mixture where a slower mode is still small.
func TestFitRelaxation(t *testing.T) {
	c := modeCell(option.NoImportance, option.AtSnapshot)
	c.Lag = option.Lag{Interval: 2}
	c.Run = sim.Run{Steps: 40, BurnIn: 10, Replicas: 1}
	c.Relaxation = &Relaxation{Point: c.Init, Direction: []float64{0.5, -0.5}, Offset: 1e-6}
	// series yields x_t = 1e-6 (fast^t + share·slow^t) along the direction.
	series := func(fast, slow, share float64) func(yield func(x, v []float64) bool) {
		return func(yield func(x, v []float64) bool) {
			for step := 0.0; ; step++ {
				x := 1e-6 * (math.Pow(fast, step) + share*math.Pow(slow, step))
				if !yield([]float64{x / 2, -x / 2}, []float64{0, 0}) {
					return
				}
			}
		}
	}
	if rate, _ := FitRelaxation(&c, series(0.9, 0, 0)); math.Abs(rate+math.Log(0.9)) > 1e-9 {
		t.Errorf("one mode: rate %g, want %g", rate, -math.Log(0.9))
	}
	if rate, _ := FitRelaxation(&c, series(0.9, 0.95, 0.01)); rate < 0.07 {
		t.Errorf("a slower mode of 1 %%: rate %g, want %g, not %g", rate, -math.Log(0.9), -math.Log(0.95))
	}
}

// Without a step in which the sides of a pair draw different groups the error of a fit is not
// known. At the offset 1e-9 one sample in 1e9 falls on another arm.
func TestRelaxationOfEqualGroups(t *testing.T) {
	c := referenceCell()
	c.Estimator.GroupSize = 4
	c.Run = sim.Run{Steps: 20, Replicas: 64}
	for offset, known := range map[float64]bool{1e-8: false, 0.05: true} {
		c.Relaxation = &Relaxation{Point: c.Init, Direction: []float64{0.5, -0.5}, Offset: offset}
		for _, e := range simulate(t, []Cell{c}, 1)[0].Estimates {
			if e.Name == RelaxationRate && (e.DF > 0) != known {
				t.Errorf("offset %g: %+v, want a known error: %t", offset, e, known)
			}
		}
	}
}
