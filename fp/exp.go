package fp

import "math"

const (
	expLast      = 0x1.62e42fefa39efp+9  // the last x whose exp does not round to +Inf
	expFirst     = -0x1.74910d52d3051p+9 // the first x above ln 2⁻¹⁰⁷⁵, where exp x rounds to 0
	expLarge     = 0x1p9                 // beyond this |x| the result's exponent may be out of range
	expLargeBits = (1023 + 9) << 52      // its bits
	// toInteger added to |t| < 2⁵¹ rounds t to the nearest integer and leaves it in the low bits.
	toInteger = 0x1.8p52
)

// Exp returns eˣ with an error below 1 ulp (of a subnormal result, 2⁻¹⁰⁷⁴). ½ is from the last
// rounding. The two before it give up to ½ where eʳ is below 1. With k the integer nearest to
// x/ln 2 and r = x − k ln 2, |r| ≤ ln2/2,
//
//	eˣ = 2ᵏ (1 + r + r² P(r)).
//
// P is the polynomial of degree 10 that equals (eʳ − 1 − r)/r² at the 11 Chebyshev points of the
// interval of r. Its relative error in eʳ is below 2⁻⁶¹. ln 2 is a sum of two parts, the first so
// short that its product with k is exact. There is no table, which vectors could not look up.
//
// Special cases: Exp(+Inf) = +Inf, Exp(−Inf) = 0, Exp(NaN) = NaN. It is +Inf above 709.7827, 0
// below −745.1332, and subnormal from there to −708.4.
func Exp(x float64) float64 {
	if math.Float64bits(x)&^(1<<63) >= expLargeBits {
		return expFar(x)
	}
	k, r := expReduced(x)
	return math.Float64frombits(math.Float64bits(1+expSeries(r)) + k<<52)
}

// ExpBelow sets y[a] = e^(x[a]−top), with the bits of Exp, and returns their sum.
// It needs top ≥ x[a] for every a, and x and y of equal length.
func ExpBelow(y, x []float64, top float64) (sum float64) {
	x = x[:len(y)]
	for a, x := range x {
		d := x - top
		k, r := expReduced(d) // as Exp, which the compiler does not inline
		e := math.Float64frombits(math.Float64bits(1+expSeries(r)) + k<<52)
		if !(d > -expLarge) {
			e = expFar(d)
		}
		y[a] = e
		sum += e
	}
	return sum
}

// expReduced returns k, in the low bits, and r.
func expReduced(x float64) (k uint64, r float64) {
	shifted := float64(x*perLn2) + toInteger
	n := shifted - toInteger
	return math.Float64bits(shifted), x - float64(n*ln2Hi) - float64(n*ln2Lo)
}

// expSeries returns r + r² P(r). The even and the odd powers are summed apart, which takes half of
// the time of one sum.
func expSeries(r float64) float64 {
	s := float64(r * r)
	even := p0 + float64(s*(p2+float64(s*(p4+float64(s*(p6+float64(s*(p8+float64(s*p10)))))))))
	odd := p1 + float64(s*(p3+float64(s*(p5+float64(s*(p7+float64(s*p9)))))))
	return r + float64(s*(even+float64(r*odd)))
}

// The coefficients of P.
const (
	p0  = 0x1p-1
	p1  = 0x1.5555555555557p-3
	p2  = 0x1.5555555555556p-5
	p3  = 0x1.11111111100dfp-7
	p4  = 0x1.6c16c16c162d6p-10
	p5  = 0x1.a01a01abe6323p-13
	p6  = 0x1.a01a01a6d7831p-16
	p7  = 0x1.71de0237484cdp-19
	p8  = 0x1.27e4db67ac2b0p-22
	p9  = 0x1.af4ddda1c08cdp-26
	p10 = 0x1.1f72fc83bcbc7p-29
)

// expFar returns eˣ for |x| ≥ 2⁹ and for NaN.
func expFar(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > expLast:
		return math.Inf(1)
	case x < expFirst:
		return 0
	}
	k, r := expReduced(x)
	return scaled(k<<52, expSeries(r), x)
}

// scaled returns 2ᵏ(1 + rest), given k in the bits of an exponent, which may be out of range. It
// computes at a shifted exponent and undoes the shift in one rounding.
func scaled(exponent uint64, rest, x float64) float64 {
	if x > 0 {
		power := math.Float64frombits(exponent + 1022<<52)
		return 2 * (power + float64(power*rest))
	}
	power := math.Float64frombits(exponent + 2045<<52)
	product := float64(power * rest)
	y := power + product
	if y < 1 {
		// A subnormal result. 1 + y has the spacing the result will have, so rounding there, once and
		// with what the sum above lost, is the only rounding.
		lost := power - y + product
		one := 1 + y
		lost += 1 - one + y
		y = one + lost - 1
	}
	return y * 0x1p-1022
}

// ExpNear is 2⁹. Exp needs no test of the range of its result below it in modulus.
const ExpNear = expLarge

// ExpReduction returns the numbers by which Exp reduces its argument: 1/ln 2, the number that rounds
// to integers, and the two parts of ln 2.
func ExpReduction() (perLn, toNearest, high, low float64) { return perLn2, toInteger, ln2Hi, ln2Lo }

// ExpCoefficients returns those of P.
func ExpCoefficients() [11]float64 { return [...]float64{p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10} }
