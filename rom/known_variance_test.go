package rom_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/fixed"
	"grposim/rom/force"
	"grposim/rom/path"
	"grposim/rom/rest"

	"gonum.org/v1/gonum/mat"
)

func gapPredicted(t *testing.T, p rom.Params) float64 {
	t.Helper()
	return said(t, describe(p)+" Var z", rom.Predict(p).Exact.StationaryVariance.LogitGap)
}

// Linear Var z of the reference bandit, time average (docs/theory.md §5), to
// the printed digits, and the same from the stepped covariance.
func TestPrintedVariances(t *testing.T) {
	for _, c := range []struct {
		scale      option.Scale
		beta       float64
		size       int
		eta, mu    float64
		k          int
		want, unit float64
	}{
		{option.NoScale, 0.5, 16, .1, 0, 1, 3.606780e-3, 1e-9},
		{option.NoScale, 0.5, 16, .01, .9, 4, 3.670013e-3, 1e-9},
		{option.NoScale, 0.5, 16, .1, 0, 8, 3.821589e-3, 1e-9},
		{option.NoScale, 0.5, 64, .1, 0, 8, 1.048679e-3, 1e-9},
		{option.StdScale, 1.2, 16, .1, 0, 1, 7.830812e-3, 1e-9},
		{option.StdScale, 1.2, 64, .1, 0, 8, 2.316235e-3, 1e-9},
	} {
		p := with(bandit(c.scale, c.beta, c.size), c.eta, c.mu, block(c.k))
		printed(t, describe(p), gapPredicted(t, p), c.want, c.unit)
		f, _ := rest.Reached(p)
		m := newLinearMap(p, f.Logits)
		printed(t, describe(p)+", stepped", gapVariance(m.predictedVariance(t, p, f.Logits)), c.want, c.unit)
		if c.eta == .1 && c.k == 8 && c.size == 16 {
			cov, _ := force.Covariance(p, f.Logits, f.Logits)
			var noise mat.Dense
			noise.Product(m.basis.T(), cov, m.basis)
			at, _ := m.stationary(&noise)
			printed(t, "at refresh", gapVariance(m.inArms(at)), 3.832826e-3, 1e-9)
		}
	}
}

// The closed forms of docs/theory.md §5 for one mode with noise η²Var[2g_1] = N.
func TestVarianceInClosedForm(t *testing.T) {
	base := bandit(option.NoScale, 0.5, 64)
	for _, eta := range []float64{1e-13, 1e-9, 0.02, 0.3} {
		for _, mu := range []float64{0, 0.5, 0.9} {
			p := with(base, eta, mu, block(1))
			got := rom.Predict(p)
			kappa, n := eta*got.Stiffness.Total, eta*eta*got.GradientVariance
			want := n * (1 + mu) / ((1 - mu) * kappa * (2*(1+mu) - kappa))
			closeTo(t, describe(p), gapPredicted(t, p), want, (1e-11+1e-15/kappa)*want)
			p.Lag = delay(0)
			closeTo(t, describe(p), gapPredicted(t, p), want, (1e-11+1e-15/kappa)*want)
			if kappa < 1-mu {
				p.Lag = delay(1)
				want = n * (1 + mu + kappa) / ((1 - mu - kappa) * kappa * (2*(1+mu) + kappa))
				if want < 0.01 {
					closeTo(t, describe(p), gapPredicted(t, p), want, (1e-11+1e-15/kappa)*want)
				}
			}
		}
		for _, k := range []int{2, 5, 9} {
			p := with(base, eta, 0, block(k))
			got := rom.Predict(p)
			kappa, n, kk := eta*got.Stiffness.Total, eta*eta*got.GradientVariance, float64(k)
			want := n / (kappa * (2 - kk*kappa)) * (1 - kappa*kappa*(kk*kk-1)/6)
			closeTo(t, describe(p), gapPredicted(t, p), want, (1e-11+1e-15/kappa)*want)
		}
	}
}

// The predicted variances against the covariance stepped until it no longer changes, for every lag,
// optimizer and share of staleness, with several arms as well; Var J = ∇Jᵀ Σ ∇J.
func TestStationaryVarianceOfTheSteppedRecursion(t *testing.T) {
	compared := 0
	for i, p := range cells(t, 41) {
		if i%2 == 1 && len(p.Arms) > 2 {
			continue
		}
		p.GroupSize, p.GroupsPerStep = 8, 400
		got := rom.Predict(p)
		if got.FixedPoint == nil {
			continue
		}
		m := newLinearMap(p, got.FixedPoint.Logits)
		if m.radius() > 0.997 {
			continue
		}
		want := m.predictedVariance(t, p, got.FixedPoint.Logits)
		if len(p.Arms) == 2 {
			closeTo(t, describe(p)+" Var z",
				said(t, describe(p), got.Exact.StationaryVariance.LogitGap)/gapVariance(want), 1, 1e-8)
		}
		pi, u := got.FixedPoint.Policy, make([]float64, len(p.Arms))
		for a := range u {
			u[a] = pi[a] * (p.Arms[a].Mean - got.FixedPoint.Reward)
		}
		varJ := 0.0
		for a := range u {
			for b := range u {
				varJ += u[a] * want.At(a, b) * u[b]
			}
		}
		closeTo(t, describe(p)+" Var J",
			said(t, describe(p), got.Exact.StationaryVariance.ExpectedReward)/varJ, 1, 1e-8)
		compared++
	}
	if compared < 50 {
		t.Errorf("only %d cells compared", compared)
	}
}

// B groups divide the variance by B; Factors.Noise multiplies it.
func TestVarianceScalesWithTheNoise(t *testing.T) {
	p := with(bandit(option.StdScale, 1.2, 64), 0.1, 0.5, block(4))
	v := gapPredicted(t, p)
	p.GroupsPerStep = 5
	closeTo(t, "B = 5", gapPredicted(t, p), v/5, 1e-12*v)
	p.GroupsPerStep = 1
	p.Factors.Noise = 1.5
	closeTo(t, "noise × 1.5", gapPredicted(t, p), 1.5*v, 1e-12*v)
	p.Factors = rom.Unit
	p.Factors.Stiffness = 2
	q := p
	q.Factors = rom.Unit
	// doubling the force equals doubling the rate with a quarter of the noise
	q.Optimizer.LearningRate *= 2
	closeTo(t, "stiffness × 2", gapPredicted(t, p), gapPredicted(t, q)/4, 1e-10*v)
}

// nonlinear computes the exact stationary law of the on-policy chain without momentum,
// z' = z + η·2g_1, at finite G: the transfer operator on Chebyshev polynomials, with every outcome
// of a group enumerated, and its invariant functional.
type nonlinear struct {
	z, weight []float64
}

func newNonlinear(p rom.Params, centre, half float64, nodes int) nonlinear {
	z, bary := make([]float64, nodes), make([]float64, nodes)
	for i := range nodes {
		angle := math.Pi * (float64(i) + 0.5) / float64(nodes)
		z[i] = centre + half*math.Cos(angle)
		bary[i] = math.Sin(angle)
		if i%2 == 1 {
			bary[i] = -bary[i]
		}
	}
	m := mat.NewDense(nodes, nodes, nil)
	cardinal := make([]float64, nodes)
	for i := range nodes {
		oracleEachCount(p, gapAt(z[i]), gapAt(z[i]), func(w float64, g []float64) {
			next, sum := z[i]+p.Optimizer.LearningRate*gapOf(g), 0.0
			for j := range nodes {
				if next == z[j] {
					m.Set(i, j, m.At(i, j)+w)
					return
				}
				cardinal[j] = bary[j] / (next - z[j])
				sum += cardinal[j]
			}
			for j := range nodes {
				m.Set(i, j, m.At(i, j)+w*cardinal[j]/sum)
			}
		})
	}
	// Invariant: wᵀ(M − 1) = 0, Σ w = 1, solved by replacing one equation.
	a := mat.NewDense(nodes, nodes, nil)
	for i := range nodes {
		for j := range nodes {
			a.Set(j, i, m.At(i, j))
		}
		a.Set(i, i, a.At(i, i)-1)
	}
	b := mat.NewVecDense(nodes, nil)
	for j := range nodes {
		a.Set(0, j, 1)
	}
	b.SetVec(0, 1)
	var w mat.VecDense
	if err := w.SolveVec(a, b); err != nil {
		panic(err)
	}
	return nonlinear{z, w.RawVector().Data}
}

func (n nonlinear) mean(f func(z float64) float64) float64 {
	sum := 0.0
	for i, z := range n.z {
		sum += n.weight[i] * f(z)
	}
	return sum
}

// The exact nonlinear law (docs/theory.md §5), here from the transfer operator, against the printed
// numbers; the drift of docs/theory-neglected.md §6 within 1 %, and Var J within 0.01 %.
func TestExactNonlinearLaw(t *testing.T) {
	for _, c := range []struct {
		scale                          option.Scale
		beta                           float64
		size                           int
		shiftZ, varZ, shiftJ, varJ     float64
		unitShiftZ, unitVarZ, unitSJ   float64
		varianceUnit                   float64
		half                           float64
		nodes                          int
		shiftWithin, rewardShiftWithin float64
	}{
		{option.NoScale, 0.5, 16, 2.082276e-3, 3.618096e-3, 1.216689e-4, 4.931350e-5, 1e-9, 1e-9, 1e-10,
			1e-11, 0.75, 40, 0.01, 0.01},
		{option.NoScale, 0.5, 4, 4.884157e-3, 1.014832e-2, 3.275825e-4, 1.816590e-4, 1e-9, 1e-8, 1e-10,
			1e-10, 1.2, 40, 0.01, 0.01},
		{option.StdScale, 1.2, 16, 4.654906e-3, 7.905834e-3, 2.887947e-4, 1.115032e-4, 1e-9, 1e-9, 1e-10,
			1e-10, 1.0, 40, 0.01, 0.01},
	} {
		p := bandit(c.scale, c.beta, c.size)
		name := describe(p)
		f, _ := rest.Reached(p)
		star := gapOf(f.Logits)
		reward := func(z float64) float64 { return oracleReward(p, gapAt(z)) }
		law := newNonlinear(p, star, c.half, c.nodes)
		ez := law.mean(func(z float64) float64 { return z })
		ej := law.mean(reward)
		vz := law.mean(func(z float64) float64 { return (z - ez) * (z - ez) })
		vj := law.mean(func(z float64) float64 { return (reward(z) - ej) * (reward(z) - ej) })
		printed(t, name+" E z − z*", ez-star, c.shiftZ, c.unitShiftZ)
		printed(t, name+" Var z", vz, c.varZ, c.unitVarZ)
		printed(t, name+" E J − J*", ej-f.Reward, c.shiftJ, c.unitSJ)
		printed(t, name+" Var J", vj, c.varJ, c.varianceUnit)
		got := rom.Predict(p)
		closeTo(t, name+" predicted shift of z",
			said(t, name+" shift of z", got.Moments.LogitGapShift)/c.shiftZ, 1, c.shiftWithin)
		closeTo(t, name+" predicted shift of J",
			said(t, name+" shift of J", got.Moments.RewardShift)/c.shiftJ, 1, c.rewardShiftWithin)
		closeTo(t, name+" predicted Var J", said(t, name+" Var J", got.Moments.RewardVariance)/c.varJ, 1,
			got.Neglected.RewardVariance/c.varJ)
	}
}

// Several arms, on-policy: Λ Eδ = ½ Σ ∂²E[g]/∂θ_b∂θ_c Cov_bc and
// E J − J* = ∇J·Eδ + ½ tr(∇²J Cov), here by differences.
func TestDriftOfSeveralArms(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	for range 4 {
		p, _, _ := randomCell(r, option.Bernoulli, 4, 32)
		p.KL.Coefficient, p.KL.At = 1.5, option.AtSnapshot
		p.Optimizer.LearningRate = 0.05
		got := rom.Predict(p)
		if got.FixedPoint == nil {
			t.Fatalf("%s: no fixed point", describe(p))
		}
		star := got.FixedPoint.Logits
		m := newLinearMap(p, star)
		cov := m.predictedVariance(t, p, star)
		n := len(star)
		second := func(f func(theta []float64) float64) float64 { // Σ_bc f_bc Cov_bc
			const h = 1e-3
			sum := 0.0
			for b := range n {
				for c := range n {
					at := func(sb, sc float64) float64 {
						x := append([]float64(nil), star...)
						x[b] += sb * h
						x[c] += sc * h
						return f(x)
					}
					sum += cov.At(b, c) * (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / (4 * h * h)
				}
			}
			return sum
		}
		pushed := mat.NewVecDense(n, nil)
		for a := range n {
			pushed.SetVec(a, 0.5*second(func(x []float64) float64 { return mean(p, x, x)[a] }))
		}
		f, s := force.Stiffness(p, star)
		var total, projected mat.Dense
		total.Add(f, s)
		projected.Product(m.basis.T(), &total, m.basis)
		var right, solved, delta mat.VecDense
		right.MulVec(m.basis.T(), pushed)
		if err := solved.SolveVec(&projected, &right); err != nil {
			t.Fatal(err)
		}
		delta.MulVec(m.basis, &solved)
		want := 0.5 * second(func(x []float64) float64 { return oracleReward(p, x) })
		for a := range n {
			want += got.FixedPoint.Policy[a] * (p.Arms[a].Mean - got.FixedPoint.Reward) * delta.AtVec(a)
		}
		// Second differences: truncation h² ~ 1e-6, round-off ε/h² ~ 1e-9.
		closeTo(t, describe(p)+" E J − J* over its want",
			said(t, describe(p), got.Moments.RewardShift)/want, 1, 1e-4)
	}
}

// Adam near θ* is a heavy ball with μ = β1, κ = (1−β1)ηλ/√Var g_1: the rate of
// its slow pole is ηλ/√Var g_1 ∝ √G to leading order, 4.737e-4 and 8.335e-4 a
// step at η = 2e-4, and Var z = 2η√Var g_1/λ ∝ G^{−1/2} (docs/theory-neglected.md §6).
func TestAdam(t *testing.T) {
	for size, want := range map[int]float64{8: 4.737e-4, 32: 8.335e-4} {
		p := bandit(option.NoScale, 0.5, size)
		p.Optimizer = option.Optimizer{Kind: option.Adam, LearningRate: 2e-4, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-12}
		star := 1.4 * (1 - 1/float64(size))
		cov, _ := force.Covariance(p, gapAt(star), gapAt(star))
		f, ok := rest.Reached(p)
		if !ok {
			t.Fatal("nothing reached")
		}
		closeTo(t, "Adam has the same fixed point", gapOf(f.Logits), star, 1e-9)
		lambda := 2 * 0.5 * f.Policy[0] * f.Policy[1]
		deviation := math.Sqrt(cov.At(0, 0))
		kappa := 0.1 * 2e-4 * lambda / deviation
		rate := -math.Log((1.9 - kappa + math.Sqrt((1.9-kappa)*(1.9-kappa)-3.6)) / 2)
		closeTo(t, "rate over its leading order", rate/(10*kappa), 1, 2*rate*10)
		printed(t, "rate", rate, want, 1e-7)

		// Once Adam's moments are stationary the mean field relaxes at that rate, up to the offset.
		var first, last float64
		path.MeanField(p, gapAt(star+1e-4), 2000, func(i int, theta []float64) {
			switch i {
			case 1000:
				first = gapOf(theta) - star
			case 2000:
				last = gapOf(theta) - star
			}
		})
		closeTo(t, "rate of the mean field over the formula", math.Log(first/last)/1000/rate, 1, 1e-4)

		got := rom.Predict(p)
		if got.Exact.Scope.In {
			t.Error("Adam's exact linear dynamics are in scope")
		}
		if !got.Noise.In {
			t.Errorf("Adam's stationary state is out of scope: %s", got.Noise.Because)
		}
		// The formula holds to first order in κ.
		closeTo(t, "predicted Var z over 2η√Var g_1/λ", said(t, "Adam's Var z",
			got.LeadingOrder.StationaryVariance.LogitGap)/(4e-4*deviation/lambda), 1, rate)
	}
}

// Without a penalty, or below β_c, there is no fixed point and no prediction at one.
func TestNoFixedPoint(t *testing.T) {
	below := bandit(option.StdScale, 0.9*rom.BetaCritical(0), option.Infinite)
	below.Arms = []option.Arm{{Mean: 1}, {Mean: 0}}
	for name, p := range map[string]rom.Params{"no KL": bandit(option.NoScale, 0, 16), "below β_c": below} {
		if got := fixed.Points(p); len(got) != 0 {
			t.Errorf("%s: fixed points %v", name, got)
		}
		got := rom.Predict(p)
		if got.FixedPoint != nil || got.Exact.Scope.In || got.Exact.SpectralRadius != nil ||
			got.Exact.StationaryVariance.LogitGap != nil || got.Noise.In {
			t.Errorf("%s: predicted %+v", name, got)
		}
	}
}
