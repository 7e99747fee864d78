package fp

import (
	"math"
	"math/big"
	"testing"
)

// A double is the unevaluated sum hi + lo, accurate to about 100 bits: the reference
// for millions of points. It is checked against math/big.
type double struct{ hi, lo float64 }

func quickTwoSum(a, b float64) double {
	s := a + b
	return double{s, b - (s - a)}
}

func twoSum(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

func (a double) plus(b double) double {
	s, t := twoSum(a.hi, b.hi), twoSum(a.lo, b.lo)
	s = quickTwoSum(s.hi, s.lo+t.hi)
	return quickTwoSum(s.hi, s.lo+t.lo)
}

func (a double) times(b double) double {
	p := float64(a.hi * b.hi) // not fused into the sum below
	e := math.FMA(a.hi, b.hi, -p)
	return quickTwoSum(p, math.FMA(a.hi, b.lo, math.FMA(a.lo, b.hi, e)))
}

func (a double) over(d float64) double {
	q := a.hi / d
	return quickTwoSum(q, (math.FMA(-q, d, a.hi)+a.lo)/d)
}

// ln 2 to 106 bits (OEIS A002162).
var ln2 = double{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}

// expReference returns e^x as 2^k times a double in [0.7, 1.5].
func expReference(x double) (power double, k int) {
	n := math.RoundToEven(x.hi / math.Ln2)
	r := x.plus(ln2.times(double{-n, 0}))
	r = double{r.hi / 8, r.lo / 8} // |r| < 0.0434
	sum := double{1, 0}
	for n := 19.; n > 0; n-- { // 0.0434²⁰/20! < 2⁻¹⁵⁰
		sum = double{1, 0}.plus(r.times(sum).over(n))
	}
	for range 3 {
		sum = sum.times(sum)
	}
	return sum, int(n)
}

// logReference returns ln x for a normal x, near 1 by the series. Else it is one step of Newton's
// method from math.Log, whose error is far below the 2⁻²⁶ that the step needs.
func logReference(x float64) double {
	if f := x - 1; math.Abs(f) < 0x1p-9 {
		sum := double{}
		for n := 13.; n > 0; n-- { // (2⁻⁹)¹³/14 < 2⁻¹²⁰
			sum = double{1, 0}.over(n).plus(sum.times(double{-f, 0}))
		}
		return sum.times(double{f, 0})
	}
	y := math.Log(x)
	power, k := expReference(double{-y, 0})
	fraction, e := math.Frexp(x)
	scale := math.Ldexp(1, k+e) // x e^−y is 1 within rounding: k + e is 0 or 1
	e1 := power.times(double{float64(fraction * scale), 0}).plus(double{-1, 0})
	return double{y, 0}.plus(e1).plus(double{-float64(e1.hi*e1.hi) / 2, 0})
}

// bigExp returns eˣ for |x| < 750 by the series for x/2²⁰, squared twenty times.
func bigExp(x *big.Float) *big.Float {
	const precision = 400
	r := new(big.Float).SetPrec(precision).SetMantExp(x, -20)
	sum, term := big.NewFloat(1).SetPrec(precision), big.NewFloat(1).SetPrec(precision)
	for n := 1; n < 40; n++ {
		term.Mul(term, r)
		term.Quo(term, new(big.Float).SetInt64(int64(n)))
		sum.Add(sum, term)
	}
	for range 20 {
		sum.Mul(sum, sum)
	}
	return sum
}

func (a double) big() *big.Float {
	sum := new(big.Float).SetPrec(400).SetFloat64(a.hi)
	return sum.Add(sum, big.NewFloat(a.lo))
}

// relativeDifference returns |a − b|/|b|.
func relativeDifference(a, b *big.Float) float64 {
	d := new(big.Float).SetPrec(400).Sub(a, b)
	d.Quo(d, b)
	f, _ := d.Float64()
	return math.Abs(f)
}

// The references are accurate to 2⁻⁹⁰, which is 2⁻³⁷ ulp.
func TestReferencesAgainstBig(t *testing.T) {
	const tolerance = 0x1p-90
	for _, x := range points(300, -745, 709) {
		power, k := expReference(double{x, 0})
		got := power.big()
		got.SetMantExp(got, k)
		want := bigExp(new(big.Float).SetFloat64(x))
		if d := relativeDifference(got, want); d > tolerance {
			t.Errorf("exp(%v): reference is %g off", x, d)
		}
	}
	for i, e := range points(300, -1020, 1020) {
		x := math.Exp2(e)
		switch i % 3 {
		case 1:
			x = 1 + e*0x1p-20
		case 2:
			x = 1 + e*0x1p-11
		}
		l := logReference(x)
		// e^l/x − 1 is the absolute error of l.
		d := relativeDifference(bigExp(l.big()), new(big.Float).SetFloat64(x))
		if d > tolerance*math.Abs(l.hi) {
			t.Errorf("log(%v): reference is %g off", x, d)
		}
	}
}
