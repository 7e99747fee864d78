package measure

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// follow adds n steps of the map m from (x, v), with noise added to both.
func follow(r *Recurrence, m [2][2]float64, x, v float64, n int, noise func() (float64, float64)) {
	for range n {
		dx, dv := noise()
		nextX, nextV := m[0][0]*x+m[0][1]*v+dx, m[1][0]*x+m[1][1]*v+dv
		r.Add(x, v, nextX, nextV)
		x, v = nextX, nextV
	}
}

func noiseless() (float64, float64) { return 0, 0 }

// eigenvalues returns the eigenvalues of m, the one of larger modulus first.
func eigenvalues(m [2][2]float64) (m1, m2 complex128) {
	trace, det := m[0][0]+m[1][1], m[0][0]*m[1][1]-m[0][1]*m[1][0]
	root := cmplx.Sqrt(complex(trace*trace-4*det, 0))
	m1, m2 = (complex(trace, 0)+root)/2, (complex(trace, 0)-root)/2
	if cmplx.Abs(m2) > cmplx.Abs(m1) {
		m1, m2 = m2, m1
	}
	return m1, m2
}

// A few steps of any linear map of two numbers determine its multipliers.
func TestRecurrenceOfALinearMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var m [2][2]float64
		for i := range m {
			for j := range m[i] {
				m[i][j] = 3 * rng.NormFloat64()
			}
		}
		r := Recurrence{Order: Second, Floor: 1e-15}
		for range 3 {
			follow(&r, m, 1e-4*rng.NormFloat64(), 1e-4*rng.NormFloat64(), 2, noiseless)
		}
		got := r.Multipliers()
		m1, m2 := eigenvalues(m)
		near := func(what string, x, want, scale float64) {
			if !(math.Abs(x-want) <= 1e-8*scale) {
				t.Errorf("%v: %s %.12g, want %.12g", m, what, x, want)
			}
		}
		near("ln modulus", got.LogModulus(), math.Log(cmplx.Abs(m1)), 1)
		near("discriminant", got.Discriminant(), real((m1-m2)*(m1-m2)), 100)
		if separate := cmplx.Abs(m1-m2) > 1e-3; separate && (got.Ringing(1e-6) > 0) != (imag(m1) != 0 || real(m1) < 0) {
			t.Errorf("%v and %v: ringing %v", m1, m2, got.Ringing(1e-6))
		}
		s1, s2 := cmplx.Log(m1), cmplx.Log(m2)
		if imag(m1) == 0 && !(real(m1) > 0 && real(m2) > 0 && real(s1*s2) > 0) {
			if zeta := got.DampingRatio(); !math.IsNaN(zeta) {
				t.Errorf("%v and %v: damping ratio %g", m1, m2, zeta)
			}
			continue
		}
		near("damping ratio", got.DampingRatio(), real(-(s1+s2)/(2*cmplx.Sqrt(s1*s2))), 1+math.Abs(got.DampingRatio()))
	}
}

// If both multipliers are near 1, as for μ = 0.99 and small ηλ, their distances from 1 and from
// each other keep their digits. The sign of the discriminant is right within a relative 1e-6 of its
// zero at ηλ = (1−√μ)².
func TestRecurrenceNearOne(t *testing.T) {
	const mu = 0.99
	onset := (1 - math.Sqrt(mu)) * (1 - math.Sqrt(mu))
	for _, off := range []float64{-1e-2, -1e-4, -1e-6, 1e-6, 1e-4, 1e-2} {
		kappa := onset * (1 + off)
		r := Recurrence{Order: Second, Floor: 1e-11}
		// heavy ball: v ← μv − λx, x ← x + ηv with η = 1
		follow(&r, [2][2]float64{{1 - kappa, mu}, {-kappa, mu}}, 1e-4, 0, 4000, noiseless)
		m := r.Multipliers()
		if ringing := m.Discriminant() < 0; ringing != (off > 0) {
			t.Errorf("relative distance %g from the onset: discriminant %g", off, m.Discriminant())
		}
		modulus := mu / 2 // complex: |m|² = μ
		if off > 0 {
			modulus = math.Log(mu) / 2
		} else {
			sum := 1 + mu - kappa
			modulus = math.Log((sum + math.Sqrt(sum*sum-4*mu)) / 2)
		}
		if math.Abs(m.LogModulus()/modulus-1) > 1e-6 {
			t.Errorf("off the onset by %g: ln modulus %.10g, want %.10g", off, m.LogModulus(), modulus)
		}
	}
}

// A single multiplier, for order First and for order Second with a second component
// below the floor.
func TestOneMultiplier(t *testing.T) {
	for _, a := range []float64{0.9, -0.3, -1.2, 1.01, 0} {
		first := Recurrence{Order: First}
		follow(&first, [2][2]float64{{a, 0}, {5, 7}}, 1, 0, 5, noiseless)
		unresolved := Recurrence{Order: Second, Floor: 1e-11}
		follow(&unresolved, [2][2]float64{{a, 0}, {0, 0.5}}, 1, 1e-12, 5, noiseless)
		for _, m := range []Multipliers{first.Multipliers(), unresolved.Multipliers()} {
			if want := math.Log(math.Abs(a)); m.Order != First || math.Abs(m.LogModulus()-want) > 1e-12 && m.LogModulus() != want {
				t.Errorf("a = %g: order %d, ln modulus %g, want %g", a, m.Order, m.LogModulus(), want)
			}
			if (m.Ringing(1e-6) > 0) != (a < 0) || !math.IsNaN(m.DampingRatio()) || m.Discriminant() != 0 {
				t.Errorf("a = %g: ringing %v, damping ratio %g, discriminant %g", a, m.Ringing(1e-6), m.DampingRatio(), m.Discriminant())
			}
		}
	}
}

// Without rows above the floor nothing is determined.
func TestNothingToFit(t *testing.T) {
	for _, order := range []Order{First, Second} {
		r := Recurrence{Order: order, Floor: 1e-11}
		r.Add(1e-12, -1e-13, 1, 1)
		m := r.Multipliers()
		if !math.IsNaN(m.LogModulus()) || !math.IsNaN(m.DampingRatio()) ||
			!math.IsNaN(m.Discriminant()) || m.Ringing(0) != 0 || !math.IsNaN(m.Trace()) {
			t.Errorf("order %d: %+v", order, m)
		}
	}
}

// The merged fits of parts equal the fit of all rows.
func TestMerge(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	noise := func() (float64, float64) { return rng.NormFloat64(), rng.NormFloat64() }
	whole := Recurrence{Order: Second}
	merged := Recurrence{Order: Second}
	for range 5 {
		part := Recurrence{Order: Second}
		x, v := noise()
		for range 20 {
			nextX, nextV := noise()
			part.Add(x, v, nextX, nextV)
			whole.Add(x, v, nextX, nextV)
			x, v = nextX, nextV
		}
		merged.Merge(&part)
	}
	merged.Merge(&Recurrence{Order: Second})
	a, b := whole.Multipliers(), merged.Multipliers()
	if math.Abs(a.LogModulus()-b.LogModulus()) > 1e-12 || math.Abs(a.Discriminant()-b.Discriminant()) > 1e-12 {
		t.Errorf("merged: %+v, whole: %+v", b, a)
	}
}

// The fit is consistent under noise that is correlated between x and v, as the
// innovation of several steps is. (A fit of x_{n+2} to x_{n+1} and x_n is not: its ln
// modulus would be 0.16 too small here.) The interval misses with probability 1e-9.
func TestRecurrenceUnderNoise(t *testing.T) {
	m := [2][2]float64{{0.85, 0.4}, {-0.3, 0.6}}
	m1, _ := eigenvalues(m)
	const batches = 64
	rng := rand.New(rand.NewPCG(5, 6))
	var fits [batches]Recurrence
	for i := range fits {
		fits[i].Order = Second
		follow(&fits[i], m, 0, 0, 4000, func() (float64, float64) {
			a, b := rng.NormFloat64(), rng.NormFloat64()
			return a, 0.8*a + 0.6*b
		})
	}
	e := Jackknife(batches, func(without int) float64 {
		all := Recurrence{Order: Second}
		for i := range fits {
			if i != without {
				all.Merge(&fits[i])
			}
		}
		return all.Multipliers().LogModulus()
	})
	lo, hi := e.Interval(1 - 1e-9)
	if want := math.Log(cmplx.Abs(m1)); !(lo <= want && want <= hi) || hi-lo > 0.02 {
		t.Errorf("ln modulus in [%g, %g], want %g", lo, hi, want)
	}
}

func TestAngle(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 10_000 {
		x, y := rng.NormFloat64(), math.Abs(rng.NormFloat64())*math.Pow(10, -10*rng.Float64())
		if want := math.Atan2(y, x); math.Abs(angle(y, x)-want) > 1e-15*want {
			t.Fatalf("angle(%g, %g) = %.17g, want %.17g", y, x, angle(y, x), want)
		}
	}
	if angle(0, 1) != 0 || angle(0, -1) != math.Pi || math.Abs(angle(1, 0)-math.Pi/2) > 1e-15 {
		t.Errorf("%g, %g, %g", angle(0, 1), angle(0, -1), angle(1, 0))
	}
}
