package rom_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
	"grposim/rom"
)

// options lists every combination of the options that determine the force.
func options(base rom.Params) []rom.Params {
	var all []rom.Params
	for _, baseline := range []option.Baseline{option.MeanBaseline, option.LeaveOneOut} {
		for scale := range 5 {
			for _, w := range everyWeighting {
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
	rom.MeanForce(dst, p, theta, old)
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
			kind := rom.MeanForce(dst, p, theta, old)
			cov, covKind := rom.ForceCovariance(p, theta, old)
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

// The same comparison for larger groups: the enumeration takes one representative
// of all orders of a group, weighted by their number.
func TestForceByCountsAtLargerGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	small, theta, old := randomCell(r, option.Bernoulli, 2, 4)
	small.Importance.Mode = option.Ratio
	want, got := oracleForce(small, theta, old), oracleForceByCounts(small, theta, old)
	closeTo(t, "the oracle by counts", got.cov(0, 0), want.cov(0, 0), 1e-14)
	for _, scale := range []option.Scale{option.StdScale, option.NoScale} {
		for _, w := range everyWeighting {
			for _, est := range []option.KLGradient{option.ExactKL, option.K2, option.K3} {
				for _, size := range []int{8, 16, 25} {
					p, theta, old := randomCell(r, option.Bernoulli, 2, size)
					p = weighted(p, w)
					p.Advantage.Scale, p.KL.Gradient = scale, est
					want := oracleForceByCounts(p, theta, old)
					cov, _ := rom.ForceCovariance(p, theta, old)
					for a, g := range mean(p, theta, old) {
						closeTo(t, describe(p)+" mean", g, want.mean[a], 1e-12)
						closeTo(t, describe(p)+" variance", cov.At(a, a), want.cov(a, a), 1e-12)
					}
				}
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
				if kind := rom.MeanForce(dst, p, theta, old); kind != rom.Exact {
					t.Errorf("%s: kind %q, want exact", describe(p), kind)
				}
				cov, _ := rom.ForceCovariance(p, theta, old)
				for a := range dst {
					closeTo(t, describe(p)+" mean", dst[a], want[a], 1e-12)
					closeTo(t, describe(p)+" variance", cov.At(a, a), 0, 0)
				}
			}
		}
	}
}

// A reward equal to J_old has advantage 0, but the number of its arm's samples enters
// like that of any other arm: mean and covariance are continuous there. If all arms
// have the same mean, J equals it up to rounding to either side.
func TestForceOfARewardAtTheMean(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, w := range []option.ImportanceMode{option.NoImportance, option.Ratio} {
		for range 50 {
			p, theta, old := randomCell(r, option.Bernoulli, 3, 4)
			p.Importance.Mode = w
			for a := range p.Arms {
				p.Arms[a].Mean = 0.2
			}
			p.Arms[0].Law = option.Constant
			cov, _ := rom.ForceCovariance(p, theta, old)
			force := mean(p, theta, old)
			for _, shift := range []float64{-1e-9, 1e-9} {
				q := p
				q.Arms = append([]option.Arm(nil), p.Arms...)
				q.Arms[0].Mean += shift
				near, _ := rom.ForceCovariance(q, theta, old)
				for a, g := range mean(q, theta, old) {
					closeTo(t, describe(p)+" force", g, force[a], 1e-7)
					for b := range force {
						closeTo(t, describe(p)+" covariance", near.At(a, b), cov.At(a, b), 1e-7)
					}
				}
			}
		}
	}
}

// A force of kind Exact agrees with the enumeration, also for constant rewards of two
// values, which are equivalent to 0/1 rewards.
func TestExactMeansExact(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	exact := 0
	for _, values := range [][]float64{{0, 1, 1}, {-0.4, 1.7, -0.4}, {0.3, 0.3, 0.3}, {0.1, 1.3, 0.6}} {
		base, _, _ := randomCell(r, option.Constant, 3, 5)
		for _, p := range options(base) {
			q, theta, old := randomCell(r, option.Constant, 3, 5)
			p.Arms, p.Reference = q.Arms, q.Reference
			for a, v := range values {
				p.Arms[a].Mean = v
			}
			want := oracleForceByCounts(p, theta, old)
			dst := make([]float64, 3)
			meanKind := rom.MeanForce(dst, p, theta, old)
			cov, covKind := rom.ForceCovariance(p, theta, old)
			for a := range dst {
				if meanKind == rom.Exact {
					closeTo(t, describe(p)+" mean", dst[a], want.mean[a], 1e-12)
					exact++
				}
				if covKind == rom.Exact {
					for b := range dst {
						closeTo(t, describe(p)+" covariance", cov.At(a, b), want.cov(a, b), 1e-12)
					}
				}
			}
			if t.Failed() {
				t.Fatalf("arms %v, reference %v, θ %v, θ_old %v", p.Arms, p.Reference, theta, old)
			}
		}
	}
	if exact == 0 {
		t.Skip("constant rewards never have the kind exact")
	}
}

// Normal arms of zero spread are constant arms, and at G = ∞ only the variance
// of the rewards enters: s² = Σ π_a(σ_a² + (m_a − J)²).
func TestNormalRewards(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, w := range []option.ImportanceMode{option.NoImportance, option.Ratio} {
		for _, size := range []int{option.Infinite, 16} {
			p, theta, old := randomCell(r, option.Constant, 3, size)
			p.Importance.Mode = w
			constant := mean(p, theta, old)
			cov, _ := rom.ForceCovariance(p, theta, old)
			for a := range p.Arms {
				p.Arms[a].Law = option.Normal
			}
			normal := mean(p, theta, old)
			ncov, _ := rom.ForceCovariance(p, theta, old)
			for a := range normal {
				closeTo(t, describe(p)+" mean", normal[a], constant[a], 1e-14)
				closeTo(t, describe(p)+" variance", ncov.At(a, a), cov.At(a, a), 1e-14)
			}
		}
		p, theta, old := randomCell(r, option.Normal, 3, option.Infinite)
		p.Importance.Mode, p.KL.Coefficient = w, 0
		pi := oracleSoftmax(theta)
		po := oracleSoftmax(old)
		j := oracleReward(p, old)
		s2 := 0.0
		for a := range p.Arms {
			p.Arms[a].Std = 0.2 + r.Float64()
			s2 += po[a] * (p.Arms[a].Std*p.Arms[a].Std + (p.Arms[a].Mean-j)*(p.Arms[a].Mean-j))
		}
		draw := po // the policy by which a sample is weighted
		if w == option.Ratio {
			draw, j = pi, oracleReward(p, theta)
		}
		for a, g := range mean(p, theta, old) {
			closeTo(t, describe(p), g, draw[a]*(p.Arms[a].Mean-j)/math.Sqrt(s2), 1e-14)
		}
	}
}

// For normal rewards the covariance of leading order (docs/theory.md §2) is that of
// ψ under π_old, integrated here independently.
func TestCovarianceOfNormalRewards(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, scale := range []option.Scale{option.NoScale, option.StdScale} {
		for _, w := range []option.ImportanceMode{option.NoImportance, option.Ratio} {
			for _, est := range []option.KLGradient{option.ExactKL, option.K2, option.K3} {
				arms := 3
				if scale == option.StdScale {
					arms = 48 // too many for the integral over groups
				}
				p, theta, old := randomCell(r, option.Normal, arms, 64)
				p.Advantage.Scale, p.Importance.Mode, p.KL.Gradient = scale, w, est
				for a := range p.Arms {
					p.Arms[a].Std = 0.2 + r.Float64()
				}
				pi, po, ref := oracleSoftmax(theta), oracleSoftmax(old), oracleSoftmax(p.Reference)
				jo, s2 := oracleReward(p, old), 0.0
				for a := range p.Arms {
					s2 += po[a] * (p.Arms[a].Std*p.Arms[a].Std + (p.Arms[a].Mean-jo)*(p.Arms[a].Mean-jo))
				}
				s, b := 1.0, po
				if scale == option.StdScale {
					s = math.Sqrt(s2)
				}
				if w == option.Ratio {
					b = pi
				}
				// Without scale 1 − 1/G times the samples' covariance of w(e_a − b) and r, exactly.
				exact, want := 1.0, rom.Expansion
				if scale == option.NoScale {
					exact, want = 1-1.0/64, rom.Exact
				}
				hat := make([]float64, arms)
				psi := func(a int, reward float64) []float64 {
					v := make([]float64, arms)
					for c := range v {
						e := 0.0
						if a == c {
							e = 1
						}
						v[c] = exact * oracleWeight(p, 0, pi[a], po[a]) * (reward - jo) * (e - b[c]) / s
						if scale == option.StdScale {
							v[c] -= hat[c] / 2 * (reward - jo) * (reward - jo) / s2
						}
						if est != option.ExactKL {
							v[c] -= p.KL.Coefficient * oracleKappa(p, pi[a], ref[a]) * (e - pi[c])
						}
					}
					return v
				}
				for a := range hat {
					for c := range hat {
						e := 0.0
						if a == c {
							e = 1
						}
						hat[c] += po[a] * oracleWeight(p, 0, pi[a], po[a]) * (p.Arms[a].Mean - jo) * (e - b[c]) / s
					}
				}
				m := newMoments(arms)
				for a := range p.Arms { // five-point Gauss–Hermite: exact to the ninth power
					for i, x := range [5]float64{0, 1.3556261799742659, -1.3556261799742659, 2.8569700138728056, -2.8569700138728056} {
						weight := [5]float64{8.0 / 15, 0.22207592200561266, 0.22207592200561266, 0.011257411327720689, 0.011257411327720689}[i]
						m.add(po[a]*weight, psi(a, p.Arms[a].Mean+p.Arms[a].Std*x))
					}
				}
				cov, kind := rom.ForceCovariance(p, theta, old)
				if kind != want {
					t.Errorf("%s: kind %q", describe(p), kind)
				}
				for a := range arms {
					for c := range arms {
						pairs := 0.0 // E over two samples
						if scale == option.NoScale {
							pairs = hat[a] * hat[c]
							for x := range po {
								w, u, v := oracleWeight(p, 0, pi[x], po[x]), -b[a], -b[c]
								if x == a {
									u++
								}
								if x == c {
									v++
								}
								pairs += po[x] * w * w * u * v * s2
							}
						}
						closeTo(t, describe(p), cov.At(a, c), m.cov(a, c)/64+exact*exact*pairs/(64*63), 1e-14)
					}
				}
			}
		}
	}
}

// Adding a constant to the logits, or to the reference, changes nothing;
// relabelling the arms relabels the force.
func TestForceSymmetries(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	base, _, _ := randomCell(r, option.Bernoulli, 4, 5)
	for i, p := range options(base) {
		q, theta, old := randomCell(r, []option.Law{option.Bernoulli, option.Constant}[i%2], 4, []int{5, option.Infinite}[i/2%2])
		p.Arms, p.Reference, p.GroupSize = q.Arms, q.Reference, q.GroupSize
		if p.Arms[0].Law == option.Constant && p.GroupSize != option.Infinite && p.Importance.Mode == option.Clip {
			p.Importance.Mode = option.Ratio // at a clip's kink the leading order lacks these symmetries
		}
		g := mean(p, theta, old)
		cov, _ := rom.ForceCovariance(p, theta, old)
		total := 0.0
		for _, x := range g {
			total += x
		}
		closeTo(t, describe(p)+" sum", total, 0, 1e-13)

		perm := r.Perm(4)
		m := p
		m.Arms, m.Reference = make([]option.Arm, 4), make([]float64, 4)
		theta2, old2 := make([]float64, 4), make([]float64, 4)
		for a, b := range perm {
			m.Arms[b], m.Reference[b] = p.Arms[a], p.Reference[a]+2.5
			theta2[b], old2[b] = theta[a]-1.5, old[a]+0.75
		}
		g2 := mean(m, theta2, old2)
		cov2, _ := rom.ForceCovariance(m, theta2, old2)
		for a, b := range perm {
			closeTo(t, describe(p)+" mean", g2[b], g[a], 1e-12)
			for c, d := range perm {
				closeTo(t, describe(p)+" covariance", cov2.At(b, d), cov.At(a, c), 1e-12)
			}
		}
	}
}

// B groups divide the covariance by B and leave the mean; Factors.Stiffness multiplies
// the mean force, Factors.Noise its covariance.
func TestGroupsAndFactors(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for _, law := range []option.Law{option.Bernoulli, option.Constant} {
		p, theta, old := randomCell(r, law, 3, 6)
		g := mean(p, theta, old)
		cov, _ := rom.ForceCovariance(p, theta, old)
		many := p
		many.GroupsPerStep = 7
		planted := p
		planted.Factors.Stiffness, planted.Factors.Noise = 1.25, 3
		planted.Factors.Lag, planted.Factors.Mass = 2, 5 // act on the reduced-order model only
		gm, gp := mean(many, theta, old), mean(planted, theta, old)
		cm, _ := rom.ForceCovariance(many, theta, old)
		noise := p
		noise.Factors.Noise = 3
		cn, _ := rom.ForceCovariance(noise, theta, old)
		for a := range g {
			closeTo(t, "mean of B groups", gm[a], g[a], 1e-15)
			closeTo(t, "mean × stiffness", gp[a], 1.25*g[a], 1e-15)
			for b := range g {
				closeTo(t, "covariance of B groups", cm.At(a, b), cov.At(a, b)/7, 1e-15)
				closeTo(t, "covariance × noise", cn.At(a, b), 3*cov.At(a, b), 1e-15)
			}
		}
		// The factors are independent: Stiffness changes neither fixed points nor noise.
		cp, _ := rom.ForceCovariance(planted, theta, old)
		closeTo(t, "noise under a planted stiffness", cp.At(0, 0), 3*cov.At(0, 0), 1e-15)
	}
}

// E[g] = π_old,a (m_a − J_old) φ_G(J_old) unweighted, π_a (m_a − J) φ_G(J_old)
// with the importance ratio, whatever the distance (docs/theory.md §2); without
// scale φ_G is 1 − 1/G, or 1 with leave-one-out.
func TestMeanRewardForce(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for _, size := range []int{2, 5, 64} {
		for _, baseline := range []option.Baseline{option.MeanBaseline, option.LeaveOneOut} {
			for _, w := range []option.ImportanceMode{option.NoImportance, option.Ratio} {
				p, theta, old := randomCell(r, option.Bernoulli, 3, size)
				p.KL.Coefficient, p.Advantage.Scale, p.Importance.Mode, p.Advantage.Baseline = 0, option.NoScale, w, baseline
				at, phi := old, 1-1/float64(size)
				if w == option.Ratio {
					at = theta
				}
				if baseline == option.LeaveOneOut {
					phi = 1
				}
				pi, j := oracleSoftmax(at), oracleReward(p, at)
				for a, g := range mean(p, theta, old) {
					closeTo(t, describe(p), g, pi[a]*(p.Arms[a].Mean-j)*phi, 1e-13)
				}
				p.Advantage.Scale = option.StdScale
				phi = oraclePhi(p, oracleReward(p, old))
				for a, g := range mean(p, theta, old) {
					closeTo(t, describe(p), g, pi[a]*(p.Arms[a].Mean-j)*phi, 1e-12)
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
			cov, _ := rom.ForceCovariance(p, []float64{0, 0}, []float64{0, 0})
			printed(t, "variance over 1/(8G²)", cov.At(0, 0)*8*float64(size*size), want, 0.01)
		}
	}
}

// Two arms, sample by sample: the reward part with importance ratios is
// pq/(p_o q_o) times the one without; so is its mean, and its variance with
// the square (docs/theory.md §2).
func TestRatioRescalesTwoArms(t *testing.T) {
	p := bandit(option.StdScale, 0, 9)
	theta, old := gapAt(1.1), gapAt(-0.4)
	factor := sigmoid(1.1) * sigmoid(-1.1) / (sigmoid(-0.4) * sigmoid(0.4))
	plain := mean(p, theta, old)[0]
	plainCov, _ := rom.ForceCovariance(p, theta, old)
	p.Importance.Mode = option.Ratio
	weighted := mean(p, theta, old)[0]
	weightedCov, _ := rom.ForceCovariance(p, theta, old)
	closeTo(t, "mean", weighted, factor*plain, 1e-14)
	closeTo(t, "variance", weightedCov.At(0, 0), factor*factor*plainCov.At(0, 0), 1e-14)
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
	cov, _ := rom.ForceCovariance(p, theta, theta)
	got := cov.At(0, 0) + cov.At(1, 1) - 2*cov.At(0, 1)
	want := 2 * pi[0] * v / (size * j * (1 - j))
	closeTo(t, "Var(g_a − g_b) over its leading order", got/want, 1, 5/float64(size)/(j*(1-j)))
}
