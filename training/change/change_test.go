package change

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

func newRand() *rand.Rand { return rand.New(rand.NewPCG(20261126, 1)) }

// correlated returns n values of noise with variance 1, if that of the innovations is 1.
func correlated(rng *rand.Rand, n int, rho float64, innovation func(*rand.Rand) float64) []float64 {
	x, last := make([]float64, n), 0.0
	const settled = 60 // 0.9^60 = 0.002
	for i := -settled; i < n; i++ {
		if last = rho*last + math.Sqrt(1-rho*rho)*innovation(rng); i >= 0 {
			x[i] = last
		}
	}
	return x
}

func normal(rng *rand.Rand) float64 { return rng.NormFloat64() }

// heavy is Student's t with three degrees of freedom: its fourth moment is infinite.
func heavy(rng *rand.Rand) float64 {
	sum := 0.0
	for range 3 {
		z := rng.NormFloat64()
		sum += z * z
	}
	return rng.NormFloat64() / math.Sqrt(sum)
}

// most is the number of successes that n trials of probability p exceed with probability
// 1e-4.
func most(n int, p float64) int {
	law := distuv.Binomial{N: float64(n), P: p}
	for k := 0; ; k++ {
		if 1-law.CDF(float64(k)) < 1e-4 {
			return k
		}
	}
}

// Series without a change show one of Chance ≤ 1 % in at most 1 % of the cases. Noise is white or
// correlated, normal or with heavy tails; where falls are looked for, rises of any shape are added.
// A case fails by chance once in 10,000 times.
func TestFalseAlarms(t *testing.T) {
	const runs, chance = 100, 0.01
	rng := newRand()
	for _, law := range []struct {
		name       string
		innovation func(*rand.Rand) float64
	}{{"normal", normal}, {"heavy", heavy}} {
		for _, rho := range []float64{0, 0.3, 0.6, 0.9} {
			for _, n := range []int{MinValues, 30, 120} {
				level, late, fall := 0, 0, 0
				for range runs {
					x := correlated(rng, n, rho, law.innovation)
					if c := Find(x, Either); c.Chance <= chance {
						level++
					}
					if c := Late(x, Falls); c.Chance <= chance {
						late++
					}
					size, middle, width := 10*rng.Float64(), rng.Float64(), 0.5*rng.Float64()
					for i := range x {
						x[i] += size / (1 + math.Exp((middle-float64(i)/float64(n))/width))
					}
					if c := Late(x, Falls); c.Chance <= chance {
						fall++
					}
				}
				want := most(runs, chance)
				if level > want || late > want || fall > want {
					t.Errorf("%s noise, ρ = %g, %d values: %d changes, %d late falls, %d falls of a rise, "+
						"want at most %d", law.name, rho, n, level, late, fall, want)
				}
			}
		}
	}
}

// Falls are found soon: by four deviations within 8 of 128 values, and after a rise within 12 of
// 132; by ten deviations within 6 of 106 and at their index, also of correlated noise.
func TestPower(t *testing.T) {
	for _, c := range []struct {
		rho, rise, fall  float64
		at, after, least int
	}{
		{0, 0, 4, 120, 8, 90}, {0, 10, 4, 120, 12, 90}, {0, 0, 10, 100, 6, 98}, {0.3, 0, 10, 100, 6, 95},
	} {
		rng, found := newRand(), 0
		for range 100 {
			x := correlated(rng, c.at+c.after, c.rho, normal)
			for i := range x {
				x[i] -= c.rise * math.Exp(-6*float64(i)/float64(c.at))
				if i >= c.at {
					x[i] -= c.fall
				}
			}
			if got := Late(x, Falls); got.Chance <= 1e-3 && (c.fall < 10 || got.Index == c.at) {
				found++
			}
		}
		if found < c.least {
			t.Errorf("%+v: %d of 100 falls are found", c, found)
		}
	}
	levels := append(slices.Repeat([]float64{1}, 18), make([]float64, 6)...)
	if c := Late(levels, Falls); c.Index != 18 || c.Chance > 1e-2 {
		t.Errorf("of two levels without noise: %+v", c)
	}
}

// The sums of a scan are those of least squares with a matrix, at every position.
func TestScanAgainstLeastSquares(t *testing.T) {
	rng := newRand()
	const n = 30
	for _, rho := range []float64{0, 0.5, 0.98} {
		y := correlated(rng, n, 0.5, normal)
		endless := slices.Repeat([]float64{math.Inf(1)}, n)
		s := scan{scores: y, of: Either, without: endless, with: slices.Clone(endless)}
		s.at = make([]float64, n)
		s.try(rho)
		innovations := func(x []float64) []float64 {
			e := []float64{math.Sqrt(1-rho*rho) * x[0]}
			for i := 1; i < n; i++ {
				e = append(e, x[i]-rho*x[i-1])
			}
			return e
		}
		for k := 1; k < n-1; k++ {
			constant, step, pulse := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range n {
				constant[i] = 1
				if i >= k {
					step[i] = 1
				}
			}
			pulse[k] = 1
			rest := func(columns ...[]float64) float64 {
				design, of := mat.NewDense(n, len(columns), nil), mat.NewVecDense(n, innovations(y))
				for i, c := range columns {
					design.SetCol(i, c)
				}
				var fit, left mat.VecDense
				if err := fit.SolveVec(design, of); err != nil {
					t.Fatal(err)
				}
				left.MulVec(design, &fit)
				left.SubVec(of, &left)
				return mat.Dot(&left, &left) * math.Pow(1-rho*rho, -1.0/(n-1))
			}
			constant, step = innovations(constant), innovations(step)
			without, with := rest(constant, pulse), rest(constant, pulse, step)
			if math.Abs(s.without[k]-without) > 1e-9*without || math.Abs(s.with[k]-with) > 1e-9*without {
				t.Errorf("ρ = %g: %g and %g, want %g and %g", rho, s.without[k], s.with[k], without, with)
			}
		}
	}
}

// Equal values have no change, and a single outlier is none. Two levels without noise have one,
// with at least the chance of an order of exchangeable values.
func TestWithoutNoise(t *testing.T) {
	levels := func(n, k int) []float64 {
		x := make([]float64, n)
		for i := k; i < n; i++ {
			x[i] = -0.5
		}
		return x
	}
	for _, c := range []struct {
		n, k  int
		found bool
		least float64 // Chance
		most  float64
	}{
		{11, 5, false, 1, 1}, {50, 50, false, 1, 1}, {50, 49, true, 0.5, 1},
		{50, 46, true, 48.9 / 230300.0, 49.1 / 230300.0}, {50, 25, true, 1e-14, 1e-8},
	} {
		got := Find(levels(c.n, c.k), Falls)
		found := got.Index > 0
		want := Change{Index: c.k, After: -0.5, Chance: got.Chance}
		if found != c.found || got.Chance < c.least || got.Chance > c.most || got.Chance < 0.5 && got != want {
			t.Errorf("%d of %d values: %+v, %v", c.k, c.n, got, found)
		}
	}
}
