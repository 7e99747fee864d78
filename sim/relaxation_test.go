package sim

import (
	"math"
	"math/cmplx"
	"testing"

	"grposim/grpo"
	"grposim/sim/measure"
)

// A mode of two arms: its stiffness, fresh and stale.
type mode struct{ fresh, stale float64 }

// twoArmModes are the settings of the reference bandit whose modes
// docs/theory.md §3 gives in closed form, at G = ∞, β = 0.5, no scale.
var twoArmModes = []struct {
	name       string
	importance grpo.ImportanceMode
	at         grpo.KLPoint
	mode       func(p, pq float64) mode
}{
	{"frozen", grpo.NoImportance, grpo.AtSnapshot, func(_, pq float64) mode { return mode{0, pq} }},
	{"none, KL current", grpo.NoImportance, grpo.AtCurrent, func(p, pq float64) mode {
		stale := 2 * 0.7 * pq * (2*p - 1)
		return mode{pq - stale, stale}
	}},
	{"ratio, KL current", grpo.Ratio, grpo.AtCurrent, func(_, pq float64) mode { return mode{pq, 0} }},
	{"ratio, KL snapshot", grpo.Ratio, grpo.AtSnapshot, func(p, pq float64) mode {
		fresh := 2 * 0.7 * pq * (2*p - 1)
		return mode{fresh, pq - fresh}
	}},
}

// modeCell is the reference bandit at rest at its fixed point z* = 1.4, G = ∞.
func modeCell(importance grpo.ImportanceMode, at grpo.KLPoint) Cell {
	c := referenceCell()
	c.Estimator.GroupSize = grpo.Infinite
	c.Estimator.Importance.Mode = importance
	c.Estimator.KL.At = at
	c.Init = []float64{0.7, -0.7}
	c.Run = Run{Steps: 1, Replicas: 1}
	return c
}

// multipliers are the eigenvalues of one refresh period (docs/theory.md §5), by
// another way than the simulator's: the roots of the characteristic polynomial
// of the linear map, dominant first.
func (m mode) multipliers(o grpo.Optimizer, lag grpo.Lag) []complex128 {
	eta, mu := o.LearningRate, o.Momentum
	var roots []complex128
	if lag.Kind == grpo.Delay {
		// (z−1)(z−μ) z^τ + η(λ_f z^(τ+1) + λ_s z)
		poly := make([]complex128, lag.Interval+3)
		n := len(poly) - 1
		poly[n] += 1
		poly[n-1] += complex(-1-mu+eta*m.fresh, 0)
		poly[n-2] += complex(mu, 0)
		poly[1] += complex(eta*m.stale, 0)
		roots = polynomialRoots(poly)
	} else {
		var a [2][2]float64 // M, column by column: where (1, 0) and (0, 1) go
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

// polynomialRoots finds the roots of Σ c_k z^k, the last c being 1, by the
// iteration of Durand and Kerner.
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

// dampingRatio is ζ = −(s₁+s₂)/(2√(s₁s₂)), s = ln m.
func dampingRatio(m1, m2 complex128) float64 {
	s1, s2 := cmplx.Log(m1), cmplx.Log(m2)
	return real(-(s1 + s2) / (2 * cmplx.Sqrt(s1*s2)))
}

func estimate(r Result, name string) (measure.Estimate, bool) {
	for _, e := range r.Estimates {
		if e.Name == name {
			return e.Estimate, true
		}
	}
	return measure.Estimate{}, false
}

// At G = ∞ the rate and the damping ratio are those of the linear map to 1e-6,
// decaying and growing, block and delay, every share of fresh and stale.
func TestRelaxationOfTheLinearMap(t *testing.T) {
	p := 1 / (1 + math.Exp(-1.4))
	for _, setting := range twoArmModes {
		for _, motion := range []struct {
			lag    grpo.Lag
			mu     float64
			kappa  float64 // ηλ
			burnIn int
		}{
			{grpo.Lag{Kind: grpo.Block, Interval: 1}, 0, 0.1, 0},
			{grpo.Lag{Kind: grpo.Block, Interval: 1}, 0.5, 0.3, 0},
			{grpo.Lag{Kind: grpo.Block, Interval: 1}, 0.9, 0.001, 0},
			{grpo.Lag{Kind: grpo.Block, Interval: 1}, 0.99, 1e-5, 0},
			{grpo.Lag{Kind: grpo.Block, Interval: 4}, 0.9, 0.01, 0},
			{grpo.Lag{Kind: grpo.Block, Interval: 4}, 0.9, 0.07, 40},
			{grpo.Lag{Kind: grpo.Block, Interval: 4}, 0.9, 0.1, 0},
			{grpo.Lag{Kind: grpo.Block, Interval: 16}, 0.5, 0.06, 0},
			{grpo.Lag{Kind: grpo.Block, Interval: 8}, 0, 0.3, 0},
			{grpo.Lag{Kind: grpo.Delay, Interval: 1}, 0.9, 0.08, 30},
			{grpo.Lag{Kind: grpo.Delay, Interval: 4}, 0.9, 0.02, 60},
			{grpo.Lag{Kind: grpo.Delay, Interval: 4}, 0.9, 0.03, 60},
		} {
			c := modeCell(setting.importance, setting.at)
			m := setting.mode(p, p*(1-p))
			c.Lag = motion.lag
			c.Optimizer.Momentum = motion.mu
			c.Optimizer.LearningRate = motion.kappa / (m.fresh + m.stale)
			c.Run = Run{Steps: 4000, BurnIn: motion.burnIn, Replicas: 1}
			c.Relaxation = &RelaxationProbe{Point: c.Init, Direction: []float64{1, -1}, Offset: 1e-6}
			r := simulate(t, []Cell{c}, 1)[0]

			z := m.multipliers(c.Optimizer, c.Lag)
			want := -math.Log(cmplx.Abs(z[0])) / float64(refreshPeriod(c.Lag))
			got, found := estimate(r, RelaxationRate)
			if !found || got.DF != measure.Exactly || math.Abs(got.Mean/want-1) > 1e-6 {
				t.Errorf("%s, %v: rate %.12g, want %.12g", setting.name, motion, got.Mean, want)
			}
			zeta, found := estimate(r, DampingRatio)
			oscillator := motion.mu > 0 && (imag(z[0]) != 0 && math.Abs(imag(z[0])) > 1e-9 || real(z[0]) > 0 && real(z[1]) > 0)
			if found != oscillator {
				t.Errorf("%s, %v: damping ratio %v is found: %v", setting.name, motion, zeta, found)
			}
			if want := dampingRatio(z[0], z[1]); found && math.Abs(zeta.Mean/want-1) > 1e-6 {
				t.Errorf("%s, %v: damping ratio %.12g, want %.12g", setting.name, motion, zeta.Mean, want)
			}
		}
	}
}

// Instability in a window of K (docs/theory.md §5): for the importance ratio with
// the penalty at the snapshot, μ = 0.9, ηλ = 0.62, of K = 1 … 12 only K = 4 grows,
// by 1.141 a period.
func TestRelaxationShowsTheWindow(t *testing.T) {
	var cells []Cell
	for k := 1; k <= 12; k++ {
		c := modeCell(grpo.Ratio, grpo.AtSnapshot)
		c.Lag.Interval = k
		c.Optimizer.Momentum = 0.9
		c.Optimizer.LearningRate = 0.62 / 0.1586848975
		c.Run.Steps = 1200
		c.Relaxation = &RelaxationProbe{Point: c.Init, Direction: []float64{1, -1}, Offset: 1e-6}
		cells = append(cells, c)
	}
	for i, r := range simulate(t, cells, 2) {
		rate, found := estimate(r, RelaxationRate)
		radius := math.Exp(-rate.Mean * float64(i+1))
		if k := i + 1; !found || (radius >= 1) != (k == 4) || k == 4 && math.Abs(radius-1.141) > 5e-4 {
			t.Errorf("K = %d: radius %g", k, radius)
		}
	}
}
