package group

import (
	"math"
	"testing"

	"grposim/option"
)

// convolved returns φ and B times the variance of Q/s with PooledStd. The law of BG²Q = Σ S(G−S) is
// the convolution of that of one group.
func convolved(e *option.Estimator, j float64) (phi, variance float64) {
	size, groups := e.GroupSize, e.GroupsPerStep
	one := make([]float64, size*size/4+1)
	chance := math.Pow(1-j, float64(size))
	for s := range size + 1 {
		one[s*(size-s)] += chance
		chance *= j / (1 - j) * float64(size-s) / float64(s+1)
	}
	law := []float64{1}
	for range groups {
		sum := make([]float64, len(law)+len(one)-1)
		for x, p := range law {
			for y, q := range one {
				sum[x+y] += p * q
			}
		}
		law = sum
	}
	n, d := float64(size*groups), 1.0
	if e.Advantage.Std == option.SampleStd {
		d = math.Sqrt(n / (n - 1))
	}
	scaled := func(x int) float64 {
		q := float64(x) / n / float64(size)
		return q / (d*math.Sqrt(q) + e.Advantage.Epsilon)
	}
	mean := 0.0
	for x, chance := range law[1:] {
		mean += chance * scaled(x+1)
	}
	variance = law[0] * mean * mean
	for x, chance := range law[1:] {
		variance += chance * (scaled(x+1) - mean) * (scaled(x+1) - mean)
	}
	return mean / (j * (1 - j)), float64(groups) * variance
}

// The quadrature over t is the sum over the law of Q, and with one group the scale is that of the
// group.
func TestPooledStdIsTheConvolution(t *testing.T) {
	for _, shape := range [][2]int{{2, 1}, {2, 7}, {3, 2}, {4, 4}, {16, 5}, {33, 9}} {
		for _, epsilon := range []float64{0, 1e-6, 0.3} {
			for _, j := range []float64{1e-9, 0.1, 0.5, 0.68, 0.999} {
				e := option.Estimator{GroupSize: shape[0], GroupsPerStep: shape[1], Advantage: option.Advantage{Scale: option.PooledStd, Std: option.Deviation(shape[1] % 2), Epsilon: epsilon}}
				m := counts(e)
				phi, variance := convolved(&e, j)
				g := m.moments(j, 1-j)
				near(t, "φ", m.Phi(j, 1-j), phi, 1e-12)
				near(t, "h", g.mean, phi*j*(1-j), 1e-12)
				near(t, "Var q", g.variance, variance, 1e-9)
				h := 1e-4 * j * (1 - j)
				near(t, "φ′", m.PhiSlope(j, 1-j)+phi/h, (m.Phi(j+h, 1-j-h)-m.Phi(j-h, 1-j+h))/(2*h)+phi/h, 1e-7)
				if shape[1] > 1 {
					continue
				}
				e.Advantage.Scale = option.StdScale
				of := counts(e)
				near(t, "φ of one group", m.Phi(j, 1-j), of.Phi(j, 1-j), 1e-12)
				near(t, "φ′ of one group", m.PhiSlope(j, 1-j)+1, of.PhiSlope(j, 1-j)+1, 1e-10)
			}
		}
	}
}

// counts is the law of two arms with the rewards 1 and 0.
func counts(e option.Estimator) *Counts {
	return NewCounts([]option.Arm{{Mean: 1}, {Mean: 0}}, &e, NewSamples(2))
}

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// φ is that of a law that has computed none before, for groups of which all inverse scales are kept
// and for larger ones.
func TestPhiIsKept(t *testing.T) {
	arms := []option.Arm{{Mean: 1, Law: option.Bernoulli}, {Mean: 0, Law: option.Bernoulli}}
	for _, size := range []int{2, 16, mostInverses + 100} {
		for _, scale := range []option.Scale{option.StdScale, option.MeanScale, option.NoScale} {
			e := option.Estimator{GroupSize: size, GroupsPerStep: 1,
				Advantage: option.Advantage{Scale: scale}}
			known := NewCounts(arms, &e, NewSamples(2))
			for _, j := range []float64{0.5, 0.5, 0.99, 0.01, 0.5} {
				if got, want := known.Phi(j, 1-j), NewCounts(arms, &e, NewSamples(2)).Phi(j, 1-j); got != want {
					t.Errorf("G = %d, %v, J = %v: φ = %v, of a new law %v", size, scale, j, got, want)
				}
			}
		}
	}
}
