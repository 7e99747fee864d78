package rom_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
	"grposim/rom"

	"gonum.org/v1/gonum/mat"
)

// random returns a lag with random ages and no age noise.
func random(a option.Ages) option.Lag { return option.Lag{Kind: option.Random, Ages: a} }

func uniform(from, to int) option.Lag {
	return random(option.Ages{Law: option.UniformAges, From: from, To: to})
}

func geometric(mean float64) option.Lag {
	return random(option.Ages{Law: option.GeometricAges, Mean: mean})
}

func late(k, behind int) option.Lag {
	return option.Lag{Kind: option.Block, Interval: k, Behind: behind}
}

// criticalUnder returns κ* of a frozen force of stiffness 1.
func criticalUnder(t *testing.T, mu float64, lag option.Lag) float64 {
	t.Helper()
	return said(t, "critical η", rom.Predict(free(1, 0.01, mu, lag)).Exact.CriticalLearningRate)
}

// Closed thresholds of the frozen force: uniform ages 0 … S, with w that of the delay S/2,
// κ* = κ*_delay (S+1) sin(w/2)/sin((S+1)w/2); geometric ages min[(1−μ)(1−μr)/(μr),
// 2(1+μ)(1+r)/(1−r)]; and at μ = 0 a block of K, d blocks late, κ*K = 2 sin(π/(2(2d+1))).
func TestClosedAgeThresholds(t *testing.T) {
	for _, mu := range []float64{0, 0.3, 0.8, 0.95} {
		for _, s := range []int{1, 3, 6, 20} {
			phase := func(w float64) float64 {
				return (float64(s)/2+0.5)*w + math.Atan2(mu*math.Sin(w), 1-mu*math.Cos(w)) - math.Pi/2
			}
			low, high := 0.0, math.Pi
			for range 200 {
				if w := (low + high) / 2; phase(w) < 0 {
					low = w
				} else {
					high = w
				}
			}
			delay := 2 * math.Sin(low/2) * math.Sqrt(1-2*mu*math.Cos(low)+mu*mu)
			want := delay * float64(s+1) * math.Sin(low/2) / math.Sin(float64(s+1)*low/2)
			closeTo(t, fmt.Sprintf("uniform 0 … %d at μ = %v", s, mu),
				criticalUnder(t, mu, uniform(0, s))/want, 1, 1e-9)
		}
		for _, mean := range []float64{0.5, 3, 40} {
			r := mean / (1 + mean)
			want := min((1-mu)*(1-mu*r)/(mu*r), 2*(1+mu)*(1+r)/(1-r))
			closeTo(t, fmt.Sprintf("geometric, mean %v, at μ = %v", mean, mu),
				criticalUnder(t, mu, geometric(mean))/want, 1, 1e-9)
		}
	}
	for _, k := range []int{1, 2, 5} {
		for d := range 4 {
			want := 2 * math.Sin(math.Pi/(2*float64(2*d+1))) / float64(k)
			closeTo(t, fmt.Sprintf("block of %d, %d late", k, d), criticalUnder(t, 0, late(k, d))/want, 1, 1e-8)
		}
	}
}

// slowRadius returns the largest growth rate per step of one mode under a law of ages or a
// late block, by its own simulation of the recursion from random pasts.
func slowRadius(o option.Optimizer, shares []float64, block, behind int, fresh,
	stale float64) float64 {
	const steps = 6000
	x := make([]float64, 0, steps)
	r := rand.New(rand.NewPCG(5, 6))
	v, size, first := 0.0, 0.0, 0.0
	position := r.NormFloat64()
	for t := range steps {
		x = append(x, position)
		old := 0.0
		if block > 0 {
			old = x[max(t/block-behind, 0)*block]
		}
		for age, p := range shares {
			old += p * x[max(t-age, 0)]
		}
		v = o.Momentum*v - fresh*position - stale*old
		position += o.LearningRate * v
		if t >= steps/2 && t < steps*3/4 {
			first = max(first, math.Abs(position))
		} else if t >= steps*3/4 {
			size = max(size, math.Abs(position))
		}
	}
	return math.Pow(size/first, 4./steps)
}

// The spectral radius and the threshold with only part of the force stale agree with a plain
// simulation of the recursion: it grows at 1.02 of the threshold and decays at 0.98.
func TestAgesAgainstTheRecursion(t *testing.T) {
	cell := func(eta, mu float64, lag option.Lag) rom.Params {
		p := bandit(option.NoScale, 0.3, option.Infinite)
		p.KL.At, p.Optimizer, p.Lag = option.AtCurrent, option.Optimizer{LearningRate: eta, Momentum: mu}, lag
		return p
	}
	flat, tail := make([]float64, 6), make([]float64, 400)
	for age := 1; age < 6; age++ {
		flat[age] = 0.2
	}
	for age := range tail {
		tail[age] = 0.25 * math.Pow(0.75, float64(age))
	}
	for _, c := range []struct {
		lag           option.Lag
		shares        []float64
		block, behind int
	}{
		{uniform(1, 5), flat, 0, 0}, {geometric(3), tail, 0, 0}, {late(3, 2), nil, 3, 2},
		{late(1, 4), nil, 1, 4},
	} {
		for _, mu := range []float64{0, 0.7} {
			got := rom.Predict(cell(0.1, mu, c.lag))
			s, threshold := got.Stiffness, said(t, "η*", got.Exact.CriticalLearningRate)
			if math.Abs(s.Fresh) < 0.01*s.Total {
				t.Fatalf("λ_f = %v of %v", s.Fresh, s.Total)
			}
			for _, share := range []float64{0.98, 1.02} {
				want := slowRadius(option.Optimizer{LearningRate: share * threshold, Momentum: mu}, c.shares,
					c.block, c.behind, s.Fresh, s.Stale)
				at := rom.Predict(cell(share*threshold, mu, c.lag)).Exact
				radius := said(t, "radius", at.SpectralRadius)
				if c.block > 0 {
					radius = math.Pow(radius, 1/float64(c.block))
				}
				if (want > 1) != (share > 1) || math.Abs(radius-want) > 2e-4 {
					t.Errorf("%+v at μ = %v, %v of the threshold: radius %v, of the recursion %v", c.lag, mu,
						share, radius, want)
				}
			}
		}
	}
}

// The stationary variance under random ages (docs/theory-trainers.md §11.1), V/N of a frozen force
// with uniform ages 0 … 4, μ = 0.9, κ = 0.02: 411.0940784 without age noise, 413.6260897 with
// one age a step; and the variances of real groups there.
func TestPrintedAgeNoise(t *testing.T) {
	variance := func(mu, kappa float64, s, draws int) (inGap, ofNoise float64) {
		p := bandit(option.NoScale, 0.5, 256)
		p.GroupsPerStep = 4
		eta := kappa / rom.Predict(p).Stiffness.Total
		p.Optimizer = option.Optimizer{LearningRate: eta, Momentum: mu}
		p.Lag = ofDraws(&p, s, draws)
		got := rom.Predict(p)
		v := said(t, "Var z", got.Exact.StationaryVariance.LogitGap)
		return v * float64(p.GroupsPerStep) / 4, v / (eta * eta * got.GradientVariance)
	}
	_, without := variance(0.9, 0.02, 4, 0)
	inGap, shared := variance(0.9, 0.02, 4, 1)
	printed(t, "V/N without age noise", without, 411.0940784, 1e-7)
	printed(t, "V/N, one age a step", shared, 413.6260897, 1e-7)
	printed(t, "Var z at μ = 0.9", inGap, 1.309e-3, 1e-6)
	for _, c := range []struct {
		kappa  float64
		draws  int
		want   float64
		digits float64
	}{{0.8, 1, 1.0071e-2, 1e-6}, {0.8, 0, 7.386e-3, 1e-6}, {0.8, 4, 7.913e-3, 1e-6},
		{0.4, 1, 2.4989e-3, 1e-7}} {
		inGap, _ := variance(0, c.kappa, 1, c.draws)
		printed(t, fmt.Sprintf("Var z at κ = %v, B_a = %d", c.kappa, c.draws), inGap, c.want, c.digits)
	}
}

// ofDraws returns a lag of uniform ages up to oldest of which a step of p averages draws
// independent ones, in as many groups. 0 stands for so many that there is no age noise.
func ofDraws(p *rom.Params, oldest, draws int) option.Lag {
	lag := option.Lag{Kind: option.Random, Ages: option.Ages{To: oldest}}
	switch draws {
	case 0:
		p.GroupsPerStep = 4e9
	case 1:
		lag.Ages.Drawn = option.AgePerStep
	default:
		p.GroupsPerStep = draws
	}
	return lag
}

// The mean-square threshold: E[M⊗M] of the random companion matrices has spectral radius 1
// there (docs/theory-trainers.md §11.1).
func TestPrintedMeanSquareThresholds(t *testing.T) {
	for _, c := range []struct {
		mu       float64
		s, draws int
		want     float64
	}{
		{0, 1, 1, 1.236067978}, {0, 4, 1, 0.668322236}, {0.5, 8, 1, 0.184450547},
		{0.9, 4, 1, 0.052436857}, {0.9, 8, 4, 0.028473546},
	} {
		p := free(1, 0.01, c.mu, option.Lag{})
		p.Lag = ofDraws(&p, c.s, c.draws)
		got := rom.Predict(p).Exact
		printed(t, fmt.Sprintf("μ = %v, S = %d, B_a = %d", c.mu, c.s, c.draws),
			said(t, "mean-square η", got.MeanSquareLearningRate), c.want, 1e-9)
		if mean := said(t, "mean η", got.CriticalLearningRate); mean <= *got.MeanSquareLearningRate {
			t.Errorf("the threshold of the mean %v is not above that of the mean square %v", mean,
				*got.MeanSquareLearningRate)
		}
		if c.draws > 1 {
			continue
		}
		n := c.s + 2
		kron := mat.NewDense(n*n, n*n, nil)
		for age := range c.s + 1 { // x_t = (1+μ)x_{t−1} − μx_{t−2} − κx_{t−1−age}
			m := mat.NewDense(n, n, nil)
			m.Set(0, 0, 1+c.mu)
			m.Set(0, 1, -c.mu)
			m.Set(0, age, m.At(0, age)-c.want)
			for i := 1; i < n; i++ {
				m.Set(i, i-1, 1)
			}
			var square mat.Dense
			square.Kronecker(m, m)
			square.Scale(1/float64(c.s+1), &square)
			kron.Add(kron, &square)
		}
		var e mat.Eigen
		e.Factorize(kron, mat.EigenNone)
		largest := 0.0
		for _, z := range e.Values(nil) {
			largest = max(largest, math.Hypot(real(z), imag(z)))
		}
		closeTo(t, fmt.Sprintf("radius of E[M⊗M], μ = %v, S = %d", c.mu, c.s), largest, 1, 1e-7)
	}
}
