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

// Exp returns eˣ with an error below 0.54 ulp (of a subnormal result, 2⁻¹⁰⁷⁴). ½ is from the last
// rounding, the rest from roundings of terms of 2⁻⁶ of the result. With k the integer nearest to
// 32x/ln 2 and r = x − k ln2/32, |r| ≤ ln2/64,
//
//	eˣ = 2^(k/32) (1 + r + r²/2! + r³/3! + r⁴/4! + r⁵/5! + r⁶/6! + r⁷/7!).
//
// The next term of the series is 2⁻⁶⁷·⁵. ln2/32 is a sum of two parts, the first so short that its
// product with k is exact. 2^(k/32) is an entry, in two parts, of a table of 32 numbers, times a
// power of 2. The table is short because lanes load from all of it.
//
// Special cases: Exp(+Inf) = +Inf, Exp(−Inf) = 0, Exp(NaN) = NaN. It is +Inf above 709.7827, 0
// below −745.1332, and subnormal from there to −708.4.
func Exp(x float64) float64 {
	if math.Float64bits(x)&^(1<<63) >= expLargeBits {
		return expFar(x)
	}
	power, tail, r := expReduced(x)
	return power + float64(power*expSeries(tail, r))
}

// ExpBelow sets y[a] = e^(x[a]−top), with the bits of Exp, and returns their sum.
// It needs top ≥ x[a] for every a, and x and y of equal length.
func ExpBelow(y, x []float64, top float64) (sum float64) {
	x = x[:len(y)]
	for a, x := range x {
		d := x - top
		power, tail, r := expReduced(d) // as Exp, which the compiler does not inline
		e := power + float64(power*expSeries(tail, r))
		if !(d > -expLarge) {
			e = expFar(d)
		}
		y[a] = e
		sum += e
	}
	return sum
}

// expReduced returns 2^(k/32) = power(1 + tail) and r. If 2^(k/32) is outside the
// range of float64, the exponent of power has overflowed and is wrong.
func expReduced(x float64) (power, tail, r float64) {
	shifted := float64(x*stepsPerUnit) + toInteger
	steps := math.Float64bits(shifted)
	k := shifted - toInteger
	r = x - float64(k*ln2StepHi) - float64(k*ln2StepLo)
	entry := &expTable[steps&31]
	// The low 5 bits of steps choose the entry; their contribution to the sum below is
	// already subtracted from the stored bits. The other bits go to the exponent.
	return math.Float64frombits(entry.bits + steps<<47), entry.tail, r
}

// expSeries returns tail + r + r²/2! + … + r⁷/7!.
func expSeries(tail, r float64) float64 {
	square := float64(r * r)
	return tail + r +
		float64(square*(1./2+float64(r*(1./6)))) +
		float64(float64(square*square)*(1./24+float64(r*(1./120))+float64(square*(1./720+float64(r*(1./5040))))))
}

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
	power, tail, r := expReduced(x)
	return scaled(math.Float64bits(power), expSeries(tail, r), x)
}

// scaled returns 2^(k/32)(1 + rest), given the bits of 2^(k/32), whose exponent may have
// overflowed. It computes at a shifted exponent and undoes the shift in one rounding.
func scaled(bits uint64, rest, x float64) float64 {
	if x > 0 {
		power := math.Float64frombits(bits - 1<<52)
		return 2 * (power + float64(power*rest))
	}
	power := math.Float64frombits(bits + 1022<<52)
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

// ExpReduction returns the numbers by which Exp reduces its argument: 32/ln 2, the number that
// rounds to integers, and the two parts of ln 2/32.
func ExpReduction() (perUnit, toNearest, high, low float64) {
	return stepsPerUnit, toInteger, ln2StepHi, ln2StepLo
}

// ExpTable returns the table of Exp: for i/32 the bits of 2^(i/32), less i<<47, and of the rest
// relative to it.
func ExpTable() (table [32][2]uint64) {
	for i, e := range expTable {
		table[i] = [2]uint64{e.bits, math.Float64bits(e.tail)}
	}
	return table
}
