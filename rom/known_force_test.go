package rom_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/force"
)

// options lists every combination of the options that determine the force.
func options(base rom.Params) []rom.Params {
	var all []rom.Params
	for _, baseline := range []option.Baseline{option.MeanBaseline, option.LeaveOneOut} {
		for scale := range 5 {
			for _, w := range option.ImportanceModes {
				for _, est := range []option.KLGradient{option.ExactKL, option.K2, option.K3} {
					for _, anchor := range []option.KLPoint{option.AtCurrent, option.AtSnapshot} {
						p := weighted(base, w)
						p.Advantage.Baseline, p.KL.Gradient, p.KL.At = baseline, est, anchor
						switch scale {
						case 0:
							p.Advantage.Scale = option.NoScale
						case 1, 2:
							p.Advantage.Scale, p.Advantage.Std = option.StdScale, option.Deviation(scale-1)
						default:
							p.Advantage.Scale, p.Advantage.Std, p.Advantage.Epsilon = option.StdScale, option.Deviation(scale-3), 0.05
						}
						p.Importance.ClipLow, p.Importance.ClipHigh = 0.15, 0.28
						all = append(all, p)
					}
				}
			}
		}
	}
	return all
}

// randomCell draws arms of the given law, a reference, and two policies that differ.
func randomCell(r *rand.Rand, law option.Law, arms, groupSize int) (p rom.Params, theta, old []float64) {
	p = rom.Params{Estimator: option.Estimator{GroupSize: groupSize, GroupsPerStep: 1, KL: option.KL{Coefficient: 0.1 + r.Float64()}}, Lag: block(1), Optimizer: option.Optimizer{LearningRate: 0.1}, Factors: rom.Unit}
	for range arms {
		p.Arms = append(p.Arms, option.Arm{Law: law, Mean: r.Float64()})
		p.Reference = append(p.Reference, r.NormFloat64())
		theta = append(theta, r.NormFloat64())
		old = append(old, theta[len(theta)-1]+0.3*r.NormFloat64())
	}
	return p, theta, old
}

func mean(p rom.Params, theta, old []float64) []float64 {
	dst := make([]float64, len(theta))
	for i := range dst {
		dst[i] = math.NaN() // MeanForce writes, it does not add
	}
	force.Mean(dst, p, theta, old)
	return dst
}

// The mean and the covariance of the gradient at finite G, against the
// enumeration of every group (docs/theory.md §1, §2). Both sides are sums of
// at most 1296 terms of order one: 1e-12.
func TestForceIsTheEnumerationOfAllGroups(t *testing.T) {
	const tol = 1e-12
	r := rand.New(rand.NewPCG(1, 2))
	for _, shape := range []struct{ arms, size int }{{2, 2}, {2, 3}, {2, 4}, {3, 2}, {3, 3}, {4, 3}} {
		base, _, _ := randomCell(r, option.Bernoulli, shape.arms, shape.size)
		for i, p := range options(base) {
			q, theta, old := randomCell(r, option.Bernoulli, shape.arms, shape.size)
			p.Arms, p.Reference, p.KL.Coefficient = q.Arms, q.Reference, q.KL.Coefficient
			switch i % 5 { // the corners of the parameter space
			case 0:
				copy(old, theta)
			case 1:
				p.Arms[0].Mean = 1
			case 2:
				p.Arms[shape.arms-1].Mean = 0
			case 3:
				p.Arms[0].Mean, p.Arms[1].Mean = 0, 1
			}
			want := oracleForce(p, theta, old)
			dst := make([]float64, shape.arms)
			kind := force.Mean(dst, p, theta, old)
			cov, covKind := force.Covariance(p, theta, old)
			if kind != rom.Exact || covKind != rom.Exact {
				t.Errorf("%s: kinds %q, %q, want exact", describe(p), kind, covKind)
			}
			for a := range dst {
				closeTo(t, describe(p)+" mean", dst[a], want.mean[a], tol)
				for b := range dst {
					closeTo(t, describe(p)+" covariance", cov.At(a, b), want.cov(a, b), tol)
				}
			}
			if t.Failed() {
				t.Fatalf("arms %v, reference %v, θ %v, θ_old %v", p.Arms, p.Reference, theta, old)
			}
		}
	}
}

// At G = ∞ the baseline and the scale are the population's and nothing fluctuates.
func TestForceOfInfiniteGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, law := range []option.Law{option.Bernoulli, option.Constant} {
		for _, arms := range []int{2, 3, 8} {
			base, _, _ := randomCell(r, law, arms, option.Infinite)
			for _, p := range options(base) {
				q, theta, old := randomCell(r, law, arms, option.Infinite)
				p.Arms, p.Reference = q.Arms, q.Reference
				want := oracleInfiniteForce(p, theta, old)
				dst := make([]float64, arms)
				if kind := force.Mean(dst, p, theta, old); kind != rom.Exact {
					t.Errorf("%s: kind %q, want exact", describe(p), kind)
				}
				cov, _ := force.Covariance(p, theta, old)
				for a := range dst {
					closeTo(t, describe(p)+" mean", dst[a], want[a], 1e-12)
					closeTo(t, describe(p)+" variance", cov.At(a, a), 0, 0)
				}
			}
		}
	}
}

// oraclePhi is φ_G(J) = Σ_S Binomial(S; G, J) R(1−R)/s / (J(1−J)) for 0/1 rewards.
func oraclePhi(p rom.Params, j float64) float64 {
	if p.GroupSize == option.Infinite {
		if p.Advantage.Scale == option.NoScale {
			return 1
		}
		return 1 / (math.Sqrt(j*(1-j)) + p.Advantage.Epsilon)
	}
	n := float64(p.GroupSize)
	h := 0.0
	for s := 1; s < p.GroupSize; s++ {
		rate := float64(s) / n
		scale := 1.0
		if p.Advantage.Scale == option.StdScale {
			scale = math.Sqrt(rate * (1 - rate))
			if p.Advantage.Std == option.SampleStd {
				scale *= math.Sqrt(n / (n - 1))
			}
			scale += p.Advantage.Epsilon
		}
		log := lgamma(p.GroupSize) - lgamma(s) - lgamma(p.GroupSize-s) + float64(s)*math.Log(j) + (n-float64(s))*math.Log1p(-j)
		h += math.Exp(log) * rate * (1 - rate) / scale
	}
	if p.Advantage.Baseline == option.LeaveOneOut {
		h *= n / (n - 1)
	}
	return h / (j * (1 - j))
}

// The correction of the std scale at J = 0.9, G = 16 is 1.7 times −1/(8Gσ²),
// and the sample deviation multiplies by √((G−1)/G) (docs/theory.md §2).
func TestScaleCorrection(t *testing.T) {
	p := bandit(option.StdScale, 0, 16)
	p.Arms = []option.Arm{{Mean: 0.95}, {Mean: 0.85}}
	at := []float64{0, 0} // J = 0.9
	force := mean(p, at, at)[0]
	h := force / (0.5 * 0.05) * 0.09
	sigma := 0.3
	short := (1 - h/sigma) / (1 / (8 * 16 * sigma * sigma))
	printed(t, "correction over its leading term", short, 1.7, 0.1)
	p.Advantage.Std = option.SampleStd
	closeTo(t, "sample deviation", mean(p, at, at)[0], force*math.Sqrt(15.0/16), 1e-15)
	// At large G it is the leading term, with a relative error 1/(Gσ²).
	p.Advantage.Std, p.GroupSize = option.PopulationStd, 20000
	h = mean(p, at, at)[0] / (0.5 * 0.05) * 0.09
	closeTo(t, "correction at large G", (1-h/sigma)*(8*20000*sigma*sigma), 1, 5/(20000*sigma*sigma))
}

// Two constant 0/1 arms at p = ½ with the std scale: gradient variance 1/(8G²)
// to leading order, 1.81 times that at G = 8 and 1.03 times at 64
// (docs/theory.md §2). The order 1/G vanishes.
func TestGradientVarianceOfConstantArms(t *testing.T) {
	for size, want := range map[int]float64{8: 1.81, 64: 1.03} {
		p := bandit(option.StdScale, 0, size)
		p.Arms = []option.Arm{{Mean: 1}, {Mean: 0}}
		for _, w := range []option.ImportanceMode{option.NoImportance, option.Ratio} {
			p.Importance.Mode = w
			cov, _ := force.Covariance(p, []float64{0, 0}, []float64{0, 0})
			printed(t, "variance over 1/(8G²)", cov.At(0, 0)*8*float64(size*size), want, 0.01)
		}
	}
}

// Equal arms move equally in the mean but not in a sample: within a class
// Var(g_a − g_b) ≈ 2π_a v_a/(Gs²), v_a = E[(r − J)² | a], up to 1/G (docs/theory.md §3).
func TestNoiseWithinAClass(t *testing.T) {
	const size = 400
	p := bandit(option.StdScale, 0, size)
	p.Arms = []option.Arm{{Mean: 0.8}, {Mean: 0.8}, {Mean: 0.3}}
	p.Reference = []float64{0, 0, 0}
	theta := []float64{0.2, 0.2, -0.4}
	pi, j := oracleSoftmax(theta), oracleReward(p, theta)
	v := 0.8*(1-j)*(1-j) + 0.2*j*j
	cov, _ := force.Covariance(p, theta, theta)
	got := cov.At(0, 0) + cov.At(1, 1) - 2*cov.At(0, 1)
	want := 2 * pi[0] * v / (size * j * (1 - j))
	closeTo(t, "Var(g_a − g_b) over its leading order", got/want, 1, 5/float64(size)/(j*(1-j)))
}
