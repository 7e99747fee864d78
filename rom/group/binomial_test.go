package group

import (
	"math"
	"testing"
)

// The weights of a binomial window have the mean nJ and the variance nJ(1−J), up to rounding. So
// they do at every n and for any J however close to 0 or 1.
func TestBinomialWindow(t *testing.T) {
	for _, n := range []int{0, 1, 2, 14, 254, 65534} {
		for _, p := range []float64{1e-200, 1e-12, 0.003, 0.5, 0.9, 1 - 1e-9} {
			law := NewBinomial(n, p, 1-p, nil)
			mean, square := 0.0, 0.0
			for i, w := range law.Weights {
				mean += w * float64(law.At(i))
			}
			for i, w := range law.Weights {
				d := float64(law.At(i)) - float64(n)*p
				square += w * d * d
			}
			size := float64(n) * p
			if math.Abs(mean-size) > 1e-12*size || math.Abs(square-size*(1-p)) > 1e-11*(size*(1-p)+size*size*1e-12) {
				t.Errorf("n = %d, p = %v: mean %v of %v, variance %v of %v", n, p, mean, size, square, size*(1-p))
			}
		}
	}
}

// A sampled binomial has the expectations of a summed one. The weights of the sum are
// products of up to 9σ = 1e4 ratios with three roundings each, an error of 3e-12. The
// neglected term 1/12k shifts the mean of the sampled ones by at most
// 1/12σ³ = 8e-11 σ.
func TestSampledBinomial(t *testing.T) {
	for _, c := range []struct {
		n int
		p float64
	}{{5e6, 0.5}, {1 << 25, 0.04}, {1 << 25, 0.96}} {
		expectation := func(law Binomial) (f, mean, variance float64) {
			for i, w := range law.Weights {
				k := float64(law.At(i))
				x := k / float64(c.n)
				f += w / math.Sqrt(x*(1-x))
				mean += w * (k - float64(c.n)*c.p)
				variance += w * (k - float64(c.n)*c.p) * (k - float64(c.n)*c.p)
			}
			return f, mean, variance
		}
		law := NewBinomial(c.n, c.p, 1-c.p, nil)
		if law.Stride == 1 {
			t.Fatal("the binomial is summed with stride 1, want a sampled one")
		}
		f, mean, variance := expectation(law)
		width := math.Sqrt(float64(c.n) * c.p * (1 - c.p))
		wantF, _, _ := expectation(summed(c.n, c.p, 1-c.p, nil))
		near(t, "E 1/√(x(1−x))", f, wantF, 1e-11)
		near(t, "variance", variance, width*width, 1e-10)
		if math.Abs(mean) > 1e-10*width {
			t.Errorf("mean off by %v of %v", mean, width)
		}
	}
}
