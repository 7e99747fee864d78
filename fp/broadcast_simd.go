//go:build goexperiment.simd && amd64 && !go1.27

package fp

import (
	"math"
	"simd/archsimd"
	"unsafe"
)

// Integers, Broadcast and Spread return a number in every element. The broadcasts of archsimd use
// an instruction of SSE. Among those of AVX-512 it takes some 70 cycles on Intel's processors,
// which save and restore the upper parts of the registers. It made a step of two arms ten times as
// long.
func Integers(x uint64) archsimd.Uint64x8 {
	var pair archsimd.Uint64x2
	return pair.SetElem(0, x).Broadcast1To8()
}

// Broadcast returns a constant in every element. A variable is in a register of SSE, see Spread.
func Broadcast(x float64) archsimd.Float64x8 { return Integers(math.Float64bits(x)).AsFloat64x8() }

// Spread returns the number at x in every element, see Integers.
func Spread(x *float64) archsimd.Float64x8 {
	return Integers(*(*uint64)(unsafe.Pointer(x))).AsFloat64x8()
}
