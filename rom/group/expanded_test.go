package group

import (
	"math"
	"testing"

	"grposim/option"
)

// What the expansion leaves out of the exact sums over 0/1 rewards is within 1.5 times its size.
// Even arms, 1 and 0, have no noise to first order; a large ε makes the scale constant.
func TestLeftOut(t *testing.T) {
	arms, even := []option.Arm{{Mean: 0.9}, {Mean: 0.2}}, []option.Arm{{Mean: 1}, {Mean: 0}}
	leftOut(t, arms, 0, 0.1, 0.5, 0.8, 0.95)
	leftOut(t, arms, 7, 0.1, 0.5, 0.8, 0.95)
	leftOut(t, even, 0, 0.51)
	leftOut(t, even, 7, 0.51)
}

func leftOut(t *testing.T, arms []option.Arm, epsilon float64, bests ...float64) {
	for _, size := range []int{16, 64, 256, 1024} {
		for _, best := range bests {
			e := option.Estimator{GroupSize: size, GroupsPerStep: 1}
			e.Advantage.Epsilon = epsilon
			s := NewSamples(2)
			s.Old[0], s.Old[1] = best, 1-best
			for a := range 2 {
				s.Up[a], s.Down[a] = 1, 1
			}
			exact, expanded := NewCounts(arms, &e, s), NewExpanded(arms, &e, s)
			of := func(law Law) (mean, variance float64) {
				dst, noise := make([]float64, 2), Square(2)
				law.Mean(dst)
				law.Covariance(noise, Square(2), Square(2))
				return dst[0], noise[0][0]
			}
			mean, variance := of(exact)
			near, about := of(expanded)
			left, noise := expanded.LeftOut()
			if miss := math.Abs(near/mean - 1); miss > 1.5*left {
				t.Errorf("G = %d, π = %g: the mean is off by %.2g, left out %.2g", size, best, miss, left)
			}
			if miss := math.Abs(about/variance - 1); miss > 1.5*noise {
				t.Errorf("G = %d, π = %g: the variance is off by %.2g, left out %.2g", size, best, miss, noise)
			}
			if m, n := exact.LeftOut(); m+n != 0 {
				t.Error("the exact sums leave something out")
			}
		}
	}
}

// Where a rare arm has an outlying reward, the force on it is off by a share of LeftOut in the sum
// over all groups of three constant rewards.
func TestLeftOutOfLoneSamples(t *testing.T) {
	values, probs := []float64{0, 1, 4}, []float64{0.5, 0.496, 0.004}
	arms := make([]option.Arm, len(values))
	s := NewSamples(len(values))
	for a, p := range probs {
		arms[a] = option.Arm{Law: option.Constant, Mean: values[a]}
		s.Old[a], s.Up[a], s.Down[a] = p, 1, 1
	}
	for _, size := range []int{32, 64, 128} {
		law := NewExpanded(arms, &option.Estimator{GroupSize: size, GroupsPerStep: 1}, s)
		mean := make([]float64, len(values))
		law.Mean(mean)
		exact, g := 0.0, float64(size)
		last := math.Log(probs[0]) * g
		for second := range size + 1 {
			for rare := range size + 1 - second {
				n := []float64{float64(size - second - rare), float64(second), float64(rare)}
				chance, sum, square := last-last, 0.0, 0.0
				all, _ := math.Lgamma(g + 1)
				for a, count := range n {
					ways, _ := math.Lgamma(count + 1)
					chance += count*math.Log(probs[a]) - ways
					sum += count * values[a] / g
					square += count * values[a] * values[a] / g
				}
				if variance := square - sum*sum; variance > 1e-12 {
					exact += math.Exp(all+chance) * n[2] / g * (values[2] - sum) / math.Sqrt(variance)
				}
			}
		}
		left, _ := law.LeftOut()
		t.Logf("G = %d: %g of %g, left out %.2g", size, mean[2], exact, left)
		if miss := math.Abs(mean[2]/exact - 1); miss > left || miss < left/20 {
			t.Errorf("G = %d: the mean is off by %.2g, left out %.2g", size, miss, left)
		}
	}
}

// The transforms of φ_1 and φ_2 by quadrature are 1/(s+ε) and its square, and the two
// branches of laplace agree where they meet.
func TestLaplace(t *testing.T) {
	for _, epsilon := range []float64{0, 1e-4, 0.3, 5, 1e4} {
		for _, s := range []float64{0.2, 1, 3} {
			first, second := 0.0, 0.0
			const h = 0.02
			for v := -80.0; v < 10; v += h {
				x := math.Exp(v)
				a, b := laplace(epsilon * math.Sqrt(x))
				first += h * x * a / math.Sqrt(x) * math.Exp(-x*s*s)
				second += h * x * b * math.Exp(-x*s*s)
			}
			near(t, "1/(s+ε)", first, 1/(s+epsilon), 1e-12)
			near(t, "1/(s+ε)²", second, 1/((s+epsilon)*(s+epsilon)), 1e-12)
		}
	}
	a, b := laplace(2)
	c, d := laplace(math.Nextafter(2, 0))
	near(t, "φ_1", a, c, 1e-13)
	near(t, "φ_2", b, d, 1e-12)
}

// The weights of a binomial window have the mean nJ and the variance nJ(1−J), up to rounding. So
// they do at every n and for any J however close to 0 or 1.
func TestBinomialWindow(t *testing.T) {
	for _, n := range []int{0, 1, 2, 14, 254, 65534, 1 << 24} {
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
			if math.Abs(mean-size) > 1e-12*size ||
				math.Abs(square-size*(1-p)) > 1e-11*(size*(1-p)+size*size*1e-12) {
				t.Errorf("n = %d, p = %v: mean %v of %v, variance %v of %v", n, p, mean, size, square, size*(1-p))
			}
		}
	}
}

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
				g := m.advantage.moments(j, 1-j)
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
