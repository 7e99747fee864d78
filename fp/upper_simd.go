//go:build goexperiment.simd && amd64

package fp

import "simd/archsimd"

var hasAVX = archsimd.X86.AVX()

// clearUpper clears the upper parts of the vector registers. A Go with vector instructions restores
// these whole when it resumes a goroutine that it had preempted. From then on each change between
// SSE and AVX takes some 70 cycles on Intel's processors. MathExp has a dozen: a prediction took 70
// times as long. (golang.org/issue/80835 is about such changes within compiled code.)
func clearUpper() {
	if hasAVX {
		archsimd.ClearAVXUpperBits()
	}
}
