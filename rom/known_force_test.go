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
							p.Advantage.Scale, p.Advantage.Std, p.Advantage.Epsilon = option.StdScale,
								option.Deviation(scale-3), 0.05
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
func randomCell(r *rand.Rand, law option.Law, arms, groupSize int) (p rom.Params, theta,
	old []float64) {
	p = rom.Params{Estimator: option.Estimator{GroupSize: groupSize, GroupsPerStep: 1,
		KL: option.KL{Coefficient: 0.1 + r.Float64()}}, Lag: block(1),
		Optimizer: option.Optimizer{LearningRate: 0.1}, Factors: rom.Unit}
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

// The mean and the covariance of the gradient at finite G, against the enumeration of every group
// (docs/theory.md §1, §2). Both sides are sums of at most 1296 terms of order one: 1e-12.
func TestForceIsTheEnumerationOfAllGroups(t *testing.T) {
	const tol = 1e-12
	r := rand.New(rand.NewPCG(1, 2))
	for _, shape := range []struct{ arms, size int }{{2, 2}, {2, 3}, {2, 4}, {3, 2}, {3, 3}, {4, 3}} {
		base, _, _ := randomCell(r, option.Bernoulli, shape.arms, shape.size)
		for i, p := range options(base) {
			q, theta, old := randomCell(r, option.Bernoulli, shape.arms, shape.size)
			p.Arms, p.Reference, p.KL.Coefficient = q.Arms, q.Reference, q.KL.Coefficient
			switch i % 6 { // the corners of the parameter space
			case 0:
				copy(old, theta)
			case 1:
				p.Arms[0].Mean = 1
			case 2:
				p.Arms[shape.arms-1].Mean = 0
			case 3:
				p.Arms[0].Mean, p.Arms[1].Mean = 0, 1
			case 4: // rewards of three values
				p.Arms[0] = option.Arm{Law: option.Constant, Mean: 1.7}
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

// Two constant 0/1 arms at p = ½ with the std scale: gradient variance 1/(8G²) to leading order,
// 1.81 times that at G = 8 and 1.03 times at 64 (docs/theory.md §2). The order 1/G vanishes.
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

// For three constant rewards without scale the mean force is (1 − 1/G)u at any G.
// Its stiffness is −(1 − 1/G)H_u, H_u = diag u − uπᵀ − πuᵀ (docs/theory.md §3).
func TestUnscaledStiffness(t *testing.T) {
	p := bandit(option.NoScale, 0, 8)
	p.Arms = []option.Arm{{Law: option.Constant, Mean: 0.1}, {Law: option.Constant, Mean: 1.3},
		{Law: option.Constant, Mean: 0.6}}
	p.Reference = []float64{0, 0, 0}
	theta := []float64{0.4, -0.3, 1.1}
	pi, j := oracleSoftmax(theta), oracleReward(p, theta)
	for _, w := range []option.ImportanceMode{option.NoImportance, option.Ratio, option.Clip} {
		p.Importance.Mode, p.Importance.ClipLow, p.Importance.ClipHigh = w, 0.2, 0.2
		if kind := force.Mean(make([]float64, 3), p, theta, theta); kind != rom.Exact {
			t.Errorf("%s: the force is %s", describe(p), kind)
		}
		fresh, stale := force.Stiffness(p, theta)
		whole, nothing := fresh, stale
		if w == option.NoImportance {
			whole, nothing = stale, fresh
		}
		for a := range pi {
			for b := range pi {
				ua, ub := pi[a]*(p.Arms[a].Mean-j), pi[b]*(p.Arms[b].Mean-j)
				want := 7. / 8 * (ua*pi[b] + pi[a]*ub)
				if a == b {
					want -= 7. / 8 * ua
				}
				closeTo(t, describe(p), whole.At(a, b), want, 1e-12)
				closeTo(t, describe(p)+" the other part", nothing.At(a, b), 0, 1e-12)
			}
		}
	}
}

// J = Σ π_a m_a: of two arms m_1 + (m_0 − m_1)/(1 + e^{−z}) at the gap z, of three at logits ln 1,
// ln 2, ln 5 the mean (1·m_0 + 2·m_1 + 5·m_2)/8. A constant added to all logits changes nothing.
func TestExpectedReward(t *testing.T) {
	p := rom.Params{
		Arms:      []option.Arm{{Mean: 0.9}, {Mean: 0.2}},
		Reference: []float64{0, 0},
		Estimator: option.Estimator{GroupSize: 2, GroupsPerStep: 1},
		Lag:       block(1),
		Optimizer: option.Optimizer{LearningRate: 0.1},
		Factors:   rom.Unit,
	}
	for _, z := range []float64{-3, 0, 0.7, 800} {
		closeTo(t, "two arms", force.ExpectedReward(p, []float64{z - 1, -1}), 0.2+0.7/(1+math.Exp(-z)), 1e-15)
	}
	p.Arms = []option.Arm{{Law: option.Normal, Mean: -2, Std: 3}, {Law: option.Constant, Mean: 5}, {Mean: 0.5}}
	p.Reference = []float64{0, 0, 0}
	for _, shift := range []float64{0, -1000} {
		theta := []float64{shift, math.Log(2) + shift, math.Log(5) + shift}
		closeTo(t, "three arms", force.ExpectedReward(p, theta), (-2+2*5+5*0.5)/8, 1e-12)
	}
	// E r² is 13 on the normal arm, 25 on the constant and 0.5 on the Bernoulli one.
	closeTo(t, "variance", force.RewardVariance(p, []float64{0, math.Log(2), math.Log(5)}),
		(13+2*25+5*0.5)/8-math.Pow((-2+2*5+5*0.5)/8, 2), 1e-12)
	defer func() {
		if recover() == nil {
			t.Error("no panic for two logits and three arms")
		}
	}()
	force.ExpectedReward(p, []float64{0, 0})
}

// The slopes s^± decide what is fresh and what is stale, and thresholds with them: the
// reference bandit with the std scale, β = 1.2, G = 16 (docs/theory-trainers.md §11.2).
func TestStiffnessOfWeights(t *testing.T) {
	for _, c := range []struct {
		weights                 []option.ImportanceMode
		fresh, stale, threshold float64
	}{
		{[]option.ImportanceMode{option.NoImportance}, 0.11380735, 0.22534537, 0.0128},
		{[]option.ImportanceMode{option.VESPO}, 0.54176053, -0.20260781, 0.0479},
		{[]option.ImportanceMode{ // of slope 1
			option.Ratio, option.Clip, option.DualClip, option.Truncated, option.Masked, option.CISPO,
			option.SAPO, option.DPPO,
		}, 0.40886144, -0.06970872, 0.3188},
	} {
		for _, w := range c.weights {
			p := weighted(bandit(option.StdScale, 1.2, 16), w)
			p.KL.At, p.Lag, p.Optimizer = option.AtCurrent, delay(16),
				option.Optimizer{LearningRate: 0.01, Momentum: 0.9}
			got := rom.Predict(p)
			printed(t, describe(p)+" λ_f", got.Stiffness.Fresh, c.fresh, 1e-8)
			printed(t, describe(p)+" λ_s", got.Stiffness.Stale, c.stale, 1e-8)
			printed(t, describe(p)+" threshold ηλ", critical(t, p), c.threshold, 1e-4)
		}
	}
}

// The mean force of one group far from the snapshot: z_old = 0.5, std scale, G = 16, no
// penalty. With noisy rewards a clip reverses it.
func TestForceFarFromTheSnapshot(t *testing.T) {
	for _, c := range []struct {
		w          option.ImportanceMode
		above, mid float64 // E g_1 at z = 1.5 and at z = −0.5
	}{
		{option.NoImportance, 0.32947826, 0.32947826},
		{option.Ratio, 0.20910526, 0.32947826},
		{option.Clip, -0.04075397, 0.39369255},
		{option.Truncated, 0.20228581, 0.27366117},
		{option.CISPO, 0.28762470, 0.31333918},
		{option.SAPO, 0.19797727, 0.30251451},
		{option.VESPO, 0.08287510, 0.45025588},
	} {
		p := weighted(bandit(option.StdScale, 0, 16), c.w)
		printed(t, describe(p)+" z = 1.5", mean(p, gapAt(1.5), gapAt(0.5))[0], c.above, 1e-8)
		printed(t, describe(p)+" z = −0.5", mean(p, gapAt(-0.5), gapAt(0.5))[0], c.mid, 1e-8)
	}
}

// Λ_f and Λ_s are the derivatives of the mean force for every weight, also where rewards
// have three values and at slopes that no trainer has.
func TestStiffnessOfWeightsIsTheDerivative(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for _, w := range option.ImportanceModes {
		for _, c := range []struct {
			law  option.Law
			size int
		}{{option.Bernoulli, 7}, {option.Constant, 5}, {option.Constant, option.Infinite},
			{option.Normal, option.Infinite}} {
			p, theta, _ := randomCell(r, c.law, 3, c.size)
			p = weighted(p, w)
			p.Importance.Power, p.Importance.Decay = option.Signed{Positive: 0.5, Negative: 2.5},
				option.Signed{Positive: 1.2, Negative: 0.1}
			for a := range p.Arms {
				p.Arms[a].Std = 0.4
			}
			checkStiffness(t, p, theta)
		}
	}
}
