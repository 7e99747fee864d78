package fp

import (
	"math"
	"math/rand/v2"
	"testing"
)

// points returns n points of (low, high) from a fixed seed.
func points(n int, low, high float64) []float64 {
	random := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, n)
	for i := range x {
		x[i] = low + (high-low)*random.Float64()
	}
	return x
}

// ulps returns the error of got in units in the last place of want·2^k.
func ulps(got float64, want double, k int) float64 {
	m, e := math.Frexp(want.hi)
	if m == 0.5 && want.lo < 0 { // use the spacing at the exact value, not at the rounded one
		e--
	}
	unit := max(e+k-53, -1074)
	// got·2^−k may leave the range: scale by halves.
	d := math.Ldexp(math.Ldexp(got, -k/2), -(k-k/2)) - want.hi - want.lo
	return math.Abs(math.Ldexp(d, k-unit))
}

// worstExp returns the largest error of Exp over x, in ulps.
func worstExp(x []float64, exp func(float64) float64) (worst, at float64) {
	for _, x := range x {
		power, k := expReference(double{x, 0})
		if d := ulps(exp(x), power, k); !(d <= worst) {
			worst, at = d, x
		}
	}
	return worst, at
}

func worstLog(x []float64, log func(float64) float64) (worst, at float64) {
	for _, x := range x {
		if d := ulps(log(x), logReference(x), 0); !(d <= worst) {
			worst, at = d, x
		}
	}
	return worst, at
}

const (
	samples  = 200_000 / thin // points per range
	expBound = 1              // ulp, as the doc comments say
	logBound = 0.65
)

func TestExp(t *testing.T) {
	for _, r := range []struct{ low, high float64 }{
		{-1, 1}, {-20, 20}, {-708, 709}, {-745.14, -708}, {709, 709.782712893383}, {-0x1p-40, 0x1p-40},
		{-520, -500}, {500, 520},
	} {
		worst, at := worstExp(points(samples, r.low, r.high), Exp)
		t.Logf("(%g, %g): %.4f ulp at %x", r.low, r.high, worst, at)
		if !(worst < expBound) {
			t.Errorf("Exp(%x) is %.4f ulp off", at, worst)
		}
	}
}

func TestLog(t *testing.T) {
	powers := points(samples, -1022, 1024)
	for i := range powers {
		powers[i] = math.Exp2(powers[i])
	}
	for _, r := range []struct {
		name string
		x    []float64
	}{
		{"all normal numbers", powers},
		{"(0, 2)", points(samples, 0, 2)},
		{"just outside the series", points(samples, 1+0x1p-5, 1+0x1p-4)},
		{"around 1", points(samples, 1-0x1p-4, 1+0x1p-4)},
		{"at 1", points(samples, 1-0x1p-20, 1+0x1p-20)},
	} {
		worst, at := worstLog(r.x, Log)
		t.Logf("%s: %.4f ulp at %x", r.name, worst, at)
		if !(worst < logBound) {
			t.Errorf("%s: Log(%x) is %.4f ulp off", r.name, at, worst)
		}
	}
}

// Planted faults: the tests detect a table without its second parts, and one result
// in a thousand that is off by one ulp.
func TestAccuracyTestsHavePower(t *testing.T) {
	shorter := func(x float64) float64 {
		k, r := expReduced(x)
		return math.Float64frombits(math.Float64bits(1+expSeries(r)-p10*math.Pow(r, 12)) + k<<52)
	}
	if worst, _ := worstExp(points(samples/10, -20, 20), shorter); worst < expBound {
		t.Errorf("Exp without its last term is %.4f ulp off, below the bound", worst)
	}
	calls := 0
	neighbour := func(f func(float64) float64) func(float64) float64 {
		return func(x float64) float64 {
			if calls++; calls%1000 == 0 {
				return math.Nextafter(f(x), math.Inf(1))
			}
			return f(x)
		}
	}
	if worst, _ := worstExp(points(samples/10, -20, 20), neighbour(Exp)); worst < expBound {
		t.Errorf("Exp with wrong neighbours is %.4f ulp off, below the bound", worst)
	}
	if worst, _ := worstLog(points(samples/10, 0, 2), neighbour(Log)); worst < logBound {
		t.Errorf("Log with wrong neighbours is %.4f ulp off, below the bound", worst)
	}
}

func TestSpecialCases(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	negativeZero := math.Copysign(0, -1)
	functions := map[string]func(float64) float64{
		"Exp": Exp, "Log": Log, "NormalPDF": NormalPDF, "NormalCDF": NormalCDF,
	}
	for _, c := range []struct {
		function string
		x, want  float64
	}{
		{"Exp", inf, inf},
		{"Exp", -inf, 0},
		{"Exp", nan, nan},
		{"Exp", 0, 1},
		{"Exp", negativeZero, 1},
		{"Exp", 5e-324, 1},
		{"Exp", 0x1p-54, 1},
		{"Exp", 0x1p-52, 1 + 0x1p-52},
		{"Exp", 0x1.62e42fefa39efp+9, 0x1.fffffffffff2ap+1023}, // the last finite one
		{"Exp", 0x1.62e42fefa39fp+9, inf},
		{"Exp", math.MaxFloat64, inf},
		{"Exp", -math.MaxFloat64, 0},
		{"Exp", -0x1.74910d52d3051p+9, 5e-324}, // the last above 2⁻¹⁰⁷⁵
		{"Exp", -0x1.74910d52d3052p+9, 0},
		{"Log", inf, inf},
		{"Log", -inf, nan},
		{"Log", nan, nan},
		{"Log", 0, -inf},
		{"Log", negativeZero, -inf},
		{"Log", -1, nan},
		{"Log", -5e-324, nan},
		{"Log", 1, 0},
		{"Log", 2, math.Ln2},
		{"Log", 5e-324, -1074 * math.Ln2},
		{"Log", 0x1p-1022, -1022 * math.Ln2},
		{"Log", math.MaxFloat64, 1024 * math.Ln2},
		{"NormalPDF", inf, 0},
		{"NormalPDF", -inf, 0},
		{"NormalPDF", math.MaxFloat64, 0},
		{"NormalPDF", nan, nan},
		{"NormalCDF", -inf, 0},
		{"NormalCDF", inf, 1},
		{"NormalCDF", nan, nan},
		{"NormalCDF", 0, 0.5},
		{"NormalCDF", -math.MaxFloat64, 0},
	} {
		got := functions[c.function](c.x)
		if got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s(%x) = %x, want %x", c.function, c.x, got, c.want)
		}
	}
}

// For a subnormal number x·2ᵏ the logarithm is ln x + k ln 2.
func TestLogOfSubnormalNumbers(t *testing.T) {
	for _, mantissa := range points(samples/10, 1, 0x1p51) {
		mantissa = math.Floor(mantissa)
		x := math.Ldexp(mantissa, -1074)
		want := logReference(mantissa).plus(ln2.times(double{-1074, 0}))
		if d := ulps(Log(x), want, 0); !(d < logBound) {
			t.Fatalf("Log(%x) is %.4f ulp off", x, d)
		}
	}
}

// ExpBelow has the bits of Exp, also near the ends of its range.
func TestExpBelowIsExp(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		top := 10 * random.NormFloat64()
		x, y := make([]float64, 7), make([]float64, 7)
		for a := range x {
			x[a] = top - [...]float64{0, random.Float64(), 100 * random.Float64(), 800 * random.Float64(),
				0x1p-54, 0x1p-60, math.Inf(1)}[random.IntN(7)]
		}
		want := 0.0
		sum := ExpBelow(y, x, top)
		for a := range x {
			want += Exp(x[a] - top)
			if y[a] != Exp(x[a]-top) {
				t.Fatalf("e^(%x − %x) is %x, want %x", x[a], top, y[a], Exp(x[a]-top))
			}
		}
		if sum != want {
			t.Fatalf("the sum is %x, want %x", sum, want)
		}
	}
}
