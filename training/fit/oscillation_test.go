package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// oscillationOf is the oscillation about the mean of a curve.
func oscillationOf(c Curve) Oscillation {
	r := fitLaws(c, laws[:1], math.Inf(1))
	return r.Models[0].oscillation()
}

// waves are n rows of a sinusoid with a random phase, in noise of a correlation at
// successive rows.
func waves(rng *rand.Rand, n int, amplitude, cycles, envelope, noise, correlation float64) Curve {
	phase, e := 2*math.Pi*rng.Float64(), rng.NormFloat64()
	c := curve(rng, n, 0, func(t float64) float64 {
		x := t / float64(n)
		return 3 + amplitude*math.Exp(envelope*x-max(0, envelope))*math.Sin(2*math.Pi*cycles*x+phase)
	})
	for i := range c.Reward {
		c.Reward[i] += noise * e
		e = correlation*e + math.Sqrt(1-correlation*correlation)*rng.NormFloat64()
	}
	return c
}

// A sinusoid that begins anywhere is found with its period and amplitude, in noise as large
// as it is, whether its amplitude stays, falls or grows.
func TestOscillationIsFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 40))
	for _, q := range []struct{ cycles, envelope, noise float64 }{{6, 0, 0.05}, {6, 0, 0.4}, {4.3, 0, 0.2}, {10, -3, 0.1}, {15, 3, 0.1}, {35, 0, 0.3}} {
		for range oscillationRuns / 10 {
			o := oscillationOf(waves(rng, 200, 0.4, q.cycles, q.envelope, q.noise, 0))
			// The standard error of the number of cycles is √6 σ/(π A √n) without envelope (the bound of
			// Cramér and Rao); one third of a cycle is four of the largest.
			if !o.Found || math.Abs(o.Cycles*200/199-q.cycles) > 0.33 || math.Abs(o.Period*q.cycles/200-1) > 0.1 || q.envelope == 0 && math.Abs(o.Amplitude-0.4) > 0.16 {
				t.Errorf("%g cycles of amplitude 0.4 e^%g in noise of %g: %+v", q.cycles, q.envelope, q.noise, o)
			}
		}
	}
}

// Noise with any memory, a walk included, is no oscillation: with the 1 % that is allowed
// more than 3 of 100 of a kind have a probability of 0.02, more than 12 of 400 of 2e-4.
func TestNoiseIsNoOscillation(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 41))
	for _, correlation := range []float64{-0.5, 0, 0.3, 0.6, 0.9, 0.97, 1} {
		found := 0
		for range oscillationRuns {
			c := waves(rng, 60, 0, 1, 0, 1, min(correlation, 0.999))
			if oscillationOf(c).Found {
				found++
			}
		}
		if float64(found) > 0.01*oscillationRuns+2 {
			t.Errorf("%d of %d curves of noise with a correlation of %g are said to oscillate", found, oscillationRuns, correlation)
		}
	}
}

// Two cycles are not told from drift: neither an oscillation nor a level that stays. The
// amplitude that is said to show does, in 95 % of curves: fewer than 40 of 50 have a
// probability of 1e-4, fewer than 16 of 20 of 3e-3.
func TestWhatNoiseHides(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 42))
	const runs = hiddenRuns
	suspected, hidden, flatOnes := 0, 0, 0
	for range runs {
		o := oscillationOf(waves(rng, 120, 0, 3, 0, 1, 0))
		if o.Suspected {
			flatOnes++
		}
		if oscillationOf(waves(rng, 120, o.Hidden, 3, 0, 1, 0)).Suspected {
			hidden++
		}
		if slow := oscillationOf(waves(rng, 120, 1, 2, 0, 0.3, 0)); slow.Suspected && !slow.Found {
			suspected++
		}
	}
	if suspected < runs || hidden < runs*8/10 || flatOnes > 1+runs/25 {
		t.Errorf("of %d curves each are suspected: %d slow waves, %d of the hidden amplitude, %d of white noise", runs, suspected, hidden, flatOnes)
	}
}

// A sine of amplitude 0.4 and period 40 about a level is neither flat nor growth; two of its
// periods are not identified; growth with a sinusoid oscillates and rises.
func TestRegimeOfOscillations(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 43))
	rising := waves(rng, 200, 0.2, 8, 0, 0.1, 0)
	for i, x := range rising.Time {
		rising.Reward[i] += -math.Expm1(-x / 40)
	}
	for name, q := range map[string]struct {
		c         Curve
		regime    Regime
		direction Direction
	}{
		"six cycles": {waves(rng, 240, 0.4, 6, 0, 0.05, 0), Oscillating, NoDirection},
		"two cycles": {waves(rng, 80, 0.4, 2, 0, 0.05, 0), NotIdentified, NoDirection},
		"noise":      {waves(rng, 80, 0, 2, 0, 0.4, 0), Flat, NoDirection},
		"growth":     {rising, Oscillating, Rises},
	} {
		if r := Fit(q.c); r.Regime != q.regime || r.Direction != q.direction {
			t.Errorf("%s: %s, %s, want %s, %s: %+v", name, r.Regime, r.Direction, q.regime, q.direction, r.Oscillation)
		}
	}
}

// The filter whitens as the inverse of the covariance does, by elimination.
func TestNoiseModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 44))
	const n, memory, steps = 12, 3.0, 0.7
	y, variance := make([]float64, n), make([]float64, n)
	for i := range y {
		y[i], variance[i] = rng.NormFloat64(), 0.5+rng.Float64()
	}
	k := newNoise(y, variance, memory, steps)
	stay := math.Exp(-1 / memory)
	var rows [n][n + 2]float64 // covariance, 1, y
	for i := range n {
		for j := range n {
			rows[i][j] = steps / (1 - stay*stay) * math.Pow(stay, math.Abs(float64(i-j)))
		}
		rows[i][i] += variance[i]
		rows[i][n], rows[i][n+1] = 1, y[i]
	}
	logDeterminant := 0.0
	for i := range n {
		pivot := rows[i][i]
		logDeterminant += math.Log(pivot)
		for j := range n + 2 {
			rows[i][j] /= pivot
		}
		for other := range n {
			if factor := rows[other][i]; other != i {
				for j := range n + 2 {
					rows[other][j] -= factor * rows[i][j]
				}
			}
		}
	}
	var oneOne, oneY, yy float64
	for i := range n {
		oneOne += rows[i][n]
		oneY += rows[i][n+1]
		yy += y[i] * rows[i][n+1]
	}
	if want := yy - oneY*oneY/oneOne; math.Abs(k.rest-want) > 1e-10 || math.Abs(k.logVariance-logDeterminant) > 1e-10 {
		t.Errorf("sum of squares %.12g and determinant %.12g, want %.12g and %.12g", k.rest, k.logVariance, want, logDeterminant)
	}
}
