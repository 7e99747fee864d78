//go:build goexperiment.simd && amd64 && !go1.27

package fp

import (
	"math"
	"slices"
	"testing"

	"simd/archsimd"
)

// ExpBelowLanes and ExpLanes have the bits of Exp, also beyond the ends of its range, the former
// the sums of ExpBelow.
func TestExpBelowLanesIsExp(t *testing.T) {
	if !archsimd.X86.AVX512() {
		t.Skip("this processor has no AVX-512")
	}
	all := slices.Concat(points(samples, -760, 0), points(samples, -1, 0), points(samples, -30, 0), points(samples, 0, 511))
	all = append(all, 0, math.NaN(), math.Inf(-1), -expLarge, math.Nextafter(-expLarge, 0), -0x1p-60, -math.MaxFloat64, -745)
	var x, y [][8]float64
	for row := range slices.Chunk(all, 8) {
		x = append(x, [8]float64(row))
	}
	y = make([][8]float64, len(x))
	var sum, want [8]float64
	ExpBelowLanes(y, x, archsimd.BroadcastFloat64x8(0.5)).Store(&sum)
	for a := range x {
		var alone [8]float64
		ExpLanes(archsimd.LoadFloat64x8(&x[a]).Sub(archsimd.BroadcastFloat64x8(0.5))).Store(&alone)
		for i, x := range x[a] {
			e := Exp(x - 0.5)
			want[i] += e
			if math.Float64bits(alone[i]) != math.Float64bits(e) && !(math.IsNaN(alone[i]) && math.IsNaN(e)) {
				t.Fatalf("alone e^(%x − 0.5) is %x, want %x", x, alone[i], e)
			}
			if math.Float64bits(y[a][i]) != math.Float64bits(e) && !(math.IsNaN(y[a][i]) && math.IsNaN(e)) {
				t.Fatalf("e^(%x − 0.5) is %x, want %x", x, y[a][i], e)
			}
		}
	}
	for i := range sum {
		if sum[i] != want[i] && !(math.IsNaN(sum[i]) && math.IsNaN(want[i])) {
			t.Errorf("sum %d is %x, want %x", i, sum[i], want[i])
		}
	}
}

// LogLanes has the bits of Log, also near 1 and of numbers that have no logarithm.
func TestLogLanesIsLog(t *testing.T) {
	if !archsimd.X86.AVX512() {
		t.Skip("this processor has no AVX-512")
	}
	all := slices.Concat(points(samples, 0, 1), points(samples, 0.9, 1.1), points(samples, 0, 1e9), points(samples, 0, 1e-300))
	all = append(all, 0, math.Inf(1), math.NaN(), -1, 1, 0x1p-1022, math.MaxFloat64, math.Copysign(0, -1))
	all = append(all, 1-0x1p-5, math.Nextafter(1-0x1p-5, 0), 1+0x1p-5, math.Nextafter(1+0x1p-5, 2), 0x1p-1074, 0x1.fffffffffffffp-1023, 3, math.Sqrt2)
	for row := range slices.Chunk(all, 8) {
		x := [8]float64(row)
		var y [8]float64
		LogLanes(archsimd.LoadFloat64x8(&x)).Store(&y)
		for i, x := range x {
			if want := Log(x); math.Float64bits(y[i]) != math.Float64bits(want) && !(math.IsNaN(y[i]) && math.IsNaN(want)) {
				t.Fatalf("ln %x is %x, want %x", x, y[i], want)
			}
		}
	}
}
