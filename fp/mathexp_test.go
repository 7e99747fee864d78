//go:build amd64 && !amd64.v3

package fp

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// arguments returns numbers of every size, many of them where the functions change their form.
func arguments() []float64 {
	random := rand.New(rand.NewPCG(1, 2))
	x := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 709.782712893384,
		math.Nextafter(709.782712893384, 710),
		-745.1332191019412, -745.2, -746, -746.5, -1e10, -1e300, 1e300, 5e-324, 0.5, 0.625, 1.25,
		1 / 0.35, 6, 21, 28, 44, 44.1}
	for range 5000 {
		x = append(x, random.NormFloat64(), 50*random.NormFloat64(), 1600*(random.Float64()-0.5),
			math.Float64frombits(random.Uint64()), -708-40*random.Float64(), 709.7+0.2*random.Float64())
	}
	return x
}

// checksum returns a checksum of the bits of a function of these numbers.
func checksum(f func(float64) float64, x []float64) uint64 {
	sum := fnv.New64a()
	for _, x := range x {
		if y := f(x); y == y {
			_ = binary.Write(sum, binary.LittleEndian, y)
		}
	}
	return sum.Sum64()
}

// tested are the functions, those of package math, and checksums of their bits.
var tested = []struct {
	name      string
	own, math func(float64) float64
	bits      uint64
}{
	{"MathExp", MathExp, math.Exp, 0xc1a418f3e0ad6a8f},
	{"Erfc", Erfc, math.Erfc, 0x7e1e970df7b613d7},
	{"Cosh", Cosh, math.Cosh, 0xba7b994cf4cab71b},
	{"Pow x^1.3", func(x float64) float64 { return Pow(x, 1.3) },
		func(x float64) float64 { return math.Pow(x, 1.3) }, 0xa9cbeff5f6ddb77d},
	{"Pow x^-7.75", func(x float64) float64 { return Pow(x, -7.75) },
		func(x float64) float64 { return math.Pow(x, -7.75) }, 0x535362f9ca2c38d3},
	{"Pow x^3", func(x float64) float64 { return Pow(x, 3) },
		func(x float64) float64 { return math.Pow(x, 3) }, 0xb0a06f6773f19675},
	{"Pow √|x|", func(x float64) float64 { return Pow(math.Abs(x), 0.5) },
		func(x float64) float64 { return math.Pow(math.Abs(x), 0.5) }, 0x2d1d522ece4b0889},
	{"Pow 0.3^x", func(x float64) float64 { return Pow(0.3, x) },
		func(x float64) float64 { return math.Pow(0.3, x) }, 0xbb0378f914fdd8d0},
	{"Pow -2^x", func(x float64) float64 { return Pow(-2, x) },
		func(x float64) float64 { return math.Pow(-2, x) }, 0xb48450b48e4e43e1},
}

// The functions have the same bits on every processor of amd64, with FMA and without, and where
// there is one those of package math. (Elsewhere the compiler fuses products with sums, also in
// package math.)
func TestMathBits(t *testing.T) {
	x := arguments()
	fused := checksum(math.Exp, x) == tested[0].bits
	for _, f := range tested {
		if got := checksum(f.own, x); got != f.bits {
			t.Errorf("%s has bits %#x, want %#x", f.name, got, f.bits)
		}
		if got := checksum(f.math, x); fused && got != f.bits {
			t.Errorf("%s of package math has bits %#x, want %#x", f.name, got, f.bits)
		}
	}
	if fused && strings.Contains(os.Getenv("GODEBUG"), "cpu.fma=off") {
		t.Error("FMA is not off")
	}
}

// The same without FMA.
func TestMathBitsWithoutFMA(t *testing.T) {
	test := exec.Command(os.Args[0], "-test.run", "^TestMathBits$")
	test.Env = append(os.Environ(), "GODEBUG=cpu.fma=off")
	if out, err := test.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
