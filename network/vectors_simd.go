//go:build goexperiment.simd && amd64 && !go1.27

package network

import (
	"simd/archsimd"
	"unsafe"

	"grposim/fp"
)

// accumulate adds to every entry of c, in this order of k,
//
//	c_ij += Σ_k a_(i·rowStep + k·step) b_kj,
//
// where the entries of a are counted in memory. Every product is rounded, so the bits are those
// of accumulatePlain. With AVX-512 it holds tiles of c in registers.
func accumulate(c, a matrix, rowStep, step int, b matrix) {
	if !archsimd.X86.AVX512() {
		accumulatePlain(c, a, rowStep, step, b)
		return
	}
	for j := 0; j < c.columns; j += tileColumns {
		for i := 0; i < c.rows; i += tileRows {
			addTile(c.data[i*c.stride+j:], c.stride, a.data[i*rowStep:], rowStep, step, b.data[j:], b.stride, b.rows)
		}
	}
}

// addTile is accumulate for the tile of c that begins at c[0].
func addTile(c []float64, cStride int, a []float64, rowStep, step int, b []float64, bStride, inner int) {
	at := func(i int) *[8]float64 { return (*[8]float64)(c[i*cStride:]) }
	c0, c1, c2, c3 := archsimd.LoadFloat64x8(at(0)), archsimd.LoadFloat64x8(at(1)), archsimd.LoadFloat64x8(at(2)), archsimd.LoadFloat64x8(at(3))
	c4, c5, c6, c7 := archsimd.LoadFloat64x8(at(4)), archsimd.LoadFloat64x8(at(5)), archsimd.LoadFloat64x8(at(6)), archsimd.LoadFloat64x8(at(7))
	for k := range inner {
		from := archsimd.LoadFloat64x8((*[8]float64)(b[k*bStride:]))
		column := a[k*step:]
		c0 = c0.Add(fp.Spread(&column[0]).Mul(from))
		c1 = c1.Add(fp.Spread(&column[rowStep]).Mul(from))
		c2 = c2.Add(fp.Spread(&column[2*rowStep]).Mul(from))
		c3 = c3.Add(fp.Spread(&column[3*rowStep]).Mul(from))
		c4 = c4.Add(fp.Spread(&column[4*rowStep]).Mul(from))
		c5 = c5.Add(fp.Spread(&column[5*rowStep]).Mul(from))
		c6 = c6.Add(fp.Spread(&column[6*rowStep]).Mul(from))
		c7 = c7.Add(fp.Spread(&column[7*rowStep]).Mul(from))
	}
	c0.Store(at(0))
	c1.Store(at(1))
	c2.Store(at(2))
	c3.Store(at(3))
	c4.Store(at(4))
	c5.Store(at(5))
	c6.Store(at(6))
	c7.Store(at(7))
}

// tanhs replaces z by tanh z = sign(z) (1 − e)/(1 + e), e = e^(−2|z|), and sets slopes to 1 − tanh²
// z. The absolute error is two roundings. Lengths are multiples of 8.
func tanhs(z, slopes []float64) {
	if !archsimd.X86.AVX512() {
		tanhsPlain(z, slopes)
		return
	}
	values, exponentials := vectors(z), vectors(slopes)
	sign, minusTwo, one := fp.Integers(1<<63), fp.Broadcast(-2), fp.Broadcast(1)
	for i := range values {
		size := archsimd.LoadFloat64x8(&values[i]).AsUint64x8().AndNot(sign).AsFloat64x8()
		size.Mul(minusTwo).Store(&exponentials[i])
	}
	var zero archsimd.Float64x8
	fp.ExpBelowLanes(exponentials, exponentials, zero)
	for i := range values {
		e := archsimd.LoadFloat64x8(&exponentials[i])
		signs := archsimd.LoadFloat64x8(&values[i]).AsUint64x8().And(sign)
		y := one.Sub(e).Div(one.Add(e))
		y.AsUint64x8().Or(signs).AsFloat64x8().Store(&values[i])
		one.Sub(y.Mul(y)).Store(&exponentials[i])
	}
}

// gelus replaces z by z Φ(z), Φ the normal distribution function, and sets slopes to Φ(z) + z
// Φ'(z). The absolute error is below 3e-16 (1+|z|). For x ≥ 0, Φ(−x) is Φ'(x) times a series.
// Lengths are multiples of 8.
func gelus(z, slopes []float64) {
	if !archsimd.X86.AVX512() {
		gelusPlain(z, slopes)
		return
	}
	values, exponentials := vectors(z), vectors(slopes)
	sign, minusHalf, peak := fp.Integers(1<<63), fp.Broadcast(-0.5), fp.Broadcast(densityAtZero)
	one, five, nine, nineteen, top := fp.Broadcast(1), fp.Broadcast(5), fp.Broadcast(9), fp.Broadcast(19), fp.Broadcast(140)
	for i := range values {
		x := archsimd.LoadFloat64x8(&values[i])
		minusHalf.Mul(x.Mul(x)).Store(&exponentials[i])
	}
	var zero archsimd.Float64x8
	fp.ExpBelowLanes(exponentials, exponentials, zero)
	for i := range values {
		x := archsimd.LoadFloat64x8(&values[i])
		density := archsimd.LoadFloat64x8(&exponentials[i]).Mul(peak)
		s := top.Div(five.Add(x.AsUint64x8().AndNot(sign).AsFloat64x8())).Sub(nineteen).Div(nine)
		double, next, after := s.Add(s), zero, zero
		for n := len(millsRatio) - 1; n > 0; n-- {
			next, after = fp.Spread(&millsRatio[n]).Add(double.Mul(next)).Sub(after), next
		}
		below := density.Mul(fp.Spread(&millsRatio[0]).Add(s.Mul(next)).Sub(after))
		below = one.Sub(below).Merge(below, x.Greater(zero))
		x.Mul(below).Store(&values[i])
		below.Add(x.Mul(density)).Store(&exponentials[i])
	}
}

// vectors returns the memory of numbers, of a length that is a multiple of 8.
func vectors(x []float64) [][8]float64 {
	return unsafe.Slice((*[8]float64)(unsafe.Pointer(unsafe.SliceData(x))), len(x)/8)
}
