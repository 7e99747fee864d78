//go:build goexperiment.simd && go1.27 && amd64

package fp

import (
	"math"
	"simd/archsimd"
	"testing"
	"time"
)

// timeOf returns the least time of a thousand exponentials in 20 attempts, before each of which
// prepare is called.
func timeOf(prepare func()) time.Duration {
	least := time.Duration(math.MaxInt64)
	for range 20 {
		prepare()
		start, sum := time.Now(), 0.0
		for i := range 1000 {
			sum += MathExp(float64(i) / 1000)
		}
		if took := time.Since(start); sum > 0 {
			least = min(least, took)
		}
	}
	return least
}

// MathExp takes the same time whatever the upper parts of the vector registers hold. On processors
// without the penalty the test has nothing to find.
func TestUpperParts(t *testing.T) {
	if !archsimd.X86.AVX512() {
		t.Skip("this processor has no AVX-512")
	}
	var kept [8]float64
	clean := timeOf(archsimd.ClearAVXUpperBits)
	dirty := timeOf(func() { archsimd.LoadFloat64x8(kept[:]).Add(archsimd.LoadFloat64x8(kept[:])).Store(kept[:]) })
	if dirty > 5*clean {
		t.Errorf("a thousand exponentials take %v with upper parts in use, %v without", dirty, clean)
	}
}
