package draw

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func numbers(n int, draw func() float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = draw()
	}
	return x
}

func TestUniform(t *testing.T) {
	ends := NewWords(filled{&script{words: []uint64{0, math.MaxUint64}}})
	if u := Uniform(ends); u != 0x1p-53 {
		t.Errorf("the least number is %x", u)
	}
	if u := Uniform(ends); u != 1-0x1p-53 {
		t.Errorf("the greatest number is %x", u)
	}
	w := words(1)
	x := numbers(draws, func() float64 { return Uniform(w) })
	identity := func(x float64) float64 { return x }
	passes(t, "uniform", testCDF(x, identity), testMoments(x, 0.5, 1./12, 1./80))
}

func TestNormal(t *testing.T) {
	w := words(1)
	x := numbers(draws, func() float64 { return Normal(w) })
	passes(t, "normal", testMoments(x, 0, 1, 3), testCDF(x, distuv.UnitNormal.CDF))
	// Successive draws are independent: their products have mean 0, variance 1 and
	// fourth moment 9.
	product := numbers(draws, func() float64 { return Normal(w) * Normal(w) })
	passes(t, "products", testMoments(product, 0, 1, 9))
}

func TestGamma(t *testing.T) {
	for i, shape := range []float64{0.05, 0.5, 0.99, 1, 1.5, 10, 1000} {
		if i%min(thin, 3) != 0 {
			continue
		}
		w := words(uint64(i))
		x := numbers(draws, func() float64 { return Gamma(w, shape) })
		if shape >= 0.5 { // below, means of draws are far from normal
			passes(t, shape, testMoments(x, shape, shape, 3*shape*shape+6*shape))
		}
		passes(t, shape, testCDF(x, distuv.Gamma{Alpha: shape, Beta: 1}.CDF))
	}
}

func TestChiSquare(t *testing.T) {
	w := words(1)
	if x := ChiSquare(w, 0); x != 0 {
		t.Errorf("ChiSquare(0) = %v", x)
	}
	for _, k := range []int{1, 2, 15, 1023} {
		x := numbers(draws, func() float64 { return ChiSquare(w, k) })
		passes(t, k, testCDF(x, distuv.ChiSquared{K: float64(k)}.CDF))
	}
}
