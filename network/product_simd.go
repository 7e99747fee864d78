//go:build goexperiment.simd && amd64

package network

import (
	"simd/archsimd"
	"unsafe"

	"grposim/grpo/fp"
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

// exponentials replaces every number x ≤ 0 in the memory of m, padding included, by eˣ.
func exponentials(m matrix) {
	if !archsimd.X86.AVX512() {
		fp.ExpBelow(m.data, m.data, 0)
		return
	}
	vectors := unsafe.Slice((*[8]float64)(unsafe.Pointer(unsafe.SliceData(m.data))), len(m.data)/8)
	var zero archsimd.Float64x8
	fp.ExpBelowLanes(vectors, vectors, zero)
}
