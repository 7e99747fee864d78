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
)

// The reference bandit's table (docs/theory.md §5).
func TestReferenceBandit(t *testing.T) {
	for _, c := range []struct {
		scale                 option.Scale
		beta                  float64
		size                  int
		z, zUnit, j, lambda   float64
		gradVar, gradVarDigit float64
	}{
		{option.NoScale, 0.5, option.Infinite, 1.4, 1e-12, 0.761528722, 0.1586848975, 0, 0},
		{option.NoScale, 0.5, 16, 1.3125, 1e-12, 0.751551837, 0.1670956266, 1.195284019e-2, 1e-11},
		{option.NoScale, 0.5, 64, 1.378125, 1e-12, 0.759082789, 0.1607844642, 3.163931963e-3, 1e-12},
		{option.StdScale, 1.2, 16, 1.278577203, 1e-9, 0.747545241, 0.3391527175, 5.221608442e-2, 1e-11},
		{option.StdScale, 1.2, 64, 1.341513656, 1e-9, 0.754917126, 0.3124104569, 1.279492239e-2, 1e-11},
	} {
		p := bandit(c.scale, c.beta, c.size)
		name := describe(p)
		all := fixed.Points(p)
		if len(all) != 1 {
			t.Fatalf("%s: %d fixed points, want 1", name, len(all))
		}
		f, ok := rest.Reached(p)
		if !ok {
			t.Fatalf("%s: no fixed point is reached", name)
		}
		printed(t, name+" z*", gapOf(f.Logits), c.z, c.zUnit)
		printed(t, name+" J*", f.Reward, c.j, 1e-9)
		closeTo(t, name+" z* of the point reached and of the only one", gapOf(all[0].Logits),
			gapOf(f.Logits), 1e-9)
		closeTo(t, name+" Σ logits", f.Logits[0]+f.Logits[1], 0, 1e-12)
		closeTo(t, name+" policy", f.Policy[0], sigmoid(c.z), 1e-9)
		got := rom.Predict(p)
		printed(t, name+" λ", got.Stiffness.Total, c.lambda, 1e-10)
		closeTo(t, name+" slowest = stiffest", got.Stiffness.Slowest, got.Stiffness.Total, 1e-14)
		printed(t, name+" Var[2g_1]", got.GradientVariance, c.gradVar, c.gradVarDigit)
		if got.FixedPoint == nil {
			t.Fatalf("%s: no fixed point predicted", name)
		}
		printed(t, name+" predicted J*", got.FixedPoint.Reward, c.j, 1e-9)
	}
}

// Presets of trainers name an estimator of a KL that they do not take. An entropy bonus alone rests
// at π ∝ e^{R/α}.
func TestWordsOfNoPenalty(t *testing.T) {
	p := bandit(option.NoScale, 0, 16)
	p.Entropy = 0.5
	for _, p.KL.Gradient = range option.KLGradients {
		f, ok := rest.Reached(p)
		if closeTo(t, describe(p)+" z*", gapOf(f.Logits), 1.3125, 1e-9); !ok {
			t.Error("no fixed point is reached")
		}
	}
}

// richardson returns −∂f/∂θ_b by central differences of two step lengths, with an error O(h⁴).
func richardson(f func(shift float64) []float64) []float64 {
	const h = 2e-3
	d := func(h float64) []float64 {
		up, down := f(h), f(-h)
		for a := range up {
			up[a] = -(up[a] - down[a]) / (2 * h)
		}
		return up
	}
	wide, narrow := d(h), d(h/2)
	for a := range wide {
		narrow[a] = (4*narrow[a] - wide[a]) / 3
	}
	return narrow
}

// checkStiffness compares StiffnessAt with differences of MeanForce in θ and in
// θ_old. Truncation is h⁴f⁗/480 ~ 1e-13 and rounding ε/h ~ 1e-13, each times the size
// of the derivatives, hundreds at most.
func checkStiffness(t *testing.T, p rom.Params, theta []float64) {
	t.Helper()
	const tol = 1e-10
	fresh, stale := force.Stiffness(p, theta)
	moved := func(b int, shift float64) []float64 {
		m := append([]float64(nil), theta...)
		m[b] += shift
		return m
	}
	for b := range theta {
		df := richardson(func(s float64) []float64 { return mean(p, moved(b, s), theta) })
		ds := richardson(func(s float64) []float64 { return mean(p, theta, moved(b, s)) })
		for a := range theta {
			closeTo(t, describe(p)+" Λ_f", fresh.At(a, b), df[a], tol)
			closeTo(t, describe(p)+" Λ_s", stale.At(a, b), ds[a], tol)
		}
	}
	if t.Failed() {
		t.Fatalf("arms %v, reference %v, at %v", p.Arms, p.Reference, theta)
	}
}

// Λ_f and Λ_s in closed form against differences of the mean force, for every
// combination of options, at an arbitrary on-policy point (docs/theory.md §3).
func TestStiffnessIsTheDerivativeOfTheForce(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, c := range []struct {
		law        option.Law
		arms, size int
	}{{option.Bernoulli, 2, 8}, {option.Bernoulli, 3, 5}, {option.Bernoulli, 4, option.Infinite},
		{option.Constant, 3, option.Infinite}} {
		base, _, _ := randomCell(r, c.law, c.arms, c.size)
		for _, p := range options(base) {
			q, theta, _ := randomCell(r, c.law, c.arms, c.size)
			p.Arms, p.Reference = q.Arms, q.Reference
			for a := range p.Arms { // keep the curvature of 1/s moderate
				p.Arms[a].Mean = 0.1 + 0.8*p.Arms[a].Mean
			}
			checkStiffness(t, p, theta)
		}
	}
}

// The two-arm table of docs/theory.md §3, and λ = 2βpq, z* = z_ref + c_GΔ/β.
func TestTwoArmStiffnesses(t *testing.T) {
	for _, size := range []int{option.Infinite, 16} {
		c := 1.0
		if size != option.Infinite {
			c -= 1 / float64(size)
		}
		for _, beta := range []float64{0.2, 0.5, 1.5} {
			for _, ref := range []float64{0, -1} {
				const gap = 0.7
				p := bandit(option.NoScale, beta, size)
				p.Reference = gapAt(ref)
				z := ref + c*gap/beta
				pp, qq := sigmoid(z), sigmoid(-z)
				lambda := 2 * beta * pp * qq
				for _, row := range []struct {
					name         string
					w            option.ImportanceMode
					at           option.KLPoint
					fresh, stale float64
				}{
					{"none, snapshot", option.NoImportance, option.AtSnapshot, 0, lambda},
					{"none, current", option.NoImportance, option.AtCurrent, lambda + 2*c*gap*pp*qq*(1-2*pp),
						-2 * c * gap * pp * qq * (1 - 2*pp)},
					{"ratio, current", option.Ratio, option.AtCurrent, lambda, 0},
					{"ratio, snapshot", option.Ratio, option.AtSnapshot, 2 * c * gap * pp * qq * (2*pp - 1),
						lambda - 2*c*gap*pp*qq*(2*pp-1)},
					{"clip, current", option.Clip, option.AtCurrent, lambda, 0},
				} {
					p.Importance.Mode, p.KL.At = row.w, row.at
					p.Importance.ClipLow, p.Importance.ClipHigh = 0.2, 0.2
					f, ok := rest.Reached(p)
					if !ok {
						t.Fatalf("%s: nothing reached", describe(p))
					}
					closeTo(t, row.name+" z*", gapOf(f.Logits), z, 1e-10)
					modes := rest.Modes(force.Stiffness(p, f.Logits))
					if len(modes) != 1 {
						t.Fatalf("%d modes of two arms", len(modes))
					}
					closeTo(t, row.name+" λ", modes[0].Total, lambda, 1e-10)
					closeTo(t, row.name+" λ_f", modes[0].Fresh, row.fresh, 1e-10)
					closeTo(t, row.name+" λ_s", modes[0].Stale, row.stale, 1e-10)
				}
				// λ_f is negative exactly where β < c_GΔ(2p* − 1).
				p.Importance.Mode, p.KL.At = option.NoImportance, option.AtCurrent
				if f := rom.Predict(p).Stiffness.Fresh; (f < 0) != (beta < c*gap*(2*pp-1)) {
					t.Errorf("%s: λ_f = %v, c_GΔ(2p*−1) = %v", describe(p), f, c*gap*(2*pp-1))
				}
				// k3 at the current policy, no weights, no scale: nothing is stale.
				p.KL.Gradient = option.K3
				f, ok := rest.Reached(p)
				if !ok {
					t.Fatalf("%s: nothing reached", describe(p))
				}
				modes := rest.Modes(force.Stiffness(p, f.Logits))
				closeTo(t, "none, k3 λ_s", modes[0].Stale, 0, 1e-10)
			}
		}
	}
	// Fresh and stale part at weak KL, in the cell of the table of thresholds.
	p := bandit(option.NoScale, 0.5, option.Infinite)
	p.KL.At = option.AtCurrent
	s := rom.Predict(p).Stiffness
	printed(t, "λ_f", s.Fresh, 0.0244192432, 1e-10)
	printed(t, "λ_s", s.Stale, 0.1342656543, 1e-10)
}

// Ratio with k3, as trainers run it, has a stale part: λ_s = −0.132 for the bandit
// of §5 (docs/theory.md §3).
func TestStaleShareOfK3(t *testing.T) {
	p := bandit(option.NoScale, 0.5, option.Infinite)
	p.Importance.Mode, p.KL.At, p.KL.Gradient = option.Ratio, option.AtCurrent, option.K3
	printed(t, "λ_s", rom.Predict(p).Stiffness.Stale, -0.132, 1e-3)
}

// β_c(z_ref), above which 0/1 arms with std scale have an interior fixed point
// at G = ∞: 2cosh(L/2) = β(L − L_ref) touches (docs/theory.md §3, docs/theory-neglected.md §6).
func TestBetaCritical(t *testing.T) {
	printed(t, "β_c(0)", rom.BetaCritical(0), 1.50888, 1e-5)
	printed(t, "β_c(−3)", rom.BetaCritical(-3), 0.5634, 1e-4)
	for _, ref := range []float64{-8, -3, -0.5, 0, 1, 4} {
		// Tangency: sinh(L/2) = β, so 2cosh(L/2) = sinh(L/2)(L − L_ref).
		l := bisect(func(l float64) float64 { return (l-ref)*math.Tanh(l/2) - 2 }, max(ref, 0), max(ref, 0)+60)
		closeTo(t, "β_c", rom.BetaCritical(ref), math.Sinh(l/2), 1e-9*math.Sinh(l/2))
		p := bandit(option.StdScale, 0, option.Infinite)
		p.Arms = []option.Arm{{Mean: 1}, {Mean: 0}}
		p.Reference = gapAt(ref)
		for _, f := range []float64{0.9, 0.999, 1.001, 1.1, 2} {
			p.KL.Coefficient = f * math.Sinh(l/2)
			want := 0
			if f > 1 {
				want = 2
			}
			got := fixed.Points(p)
			if len(got) != want {
				t.Errorf("β = %v β_c(%v): %d fixed points, want %d", f, ref, len(got), want)
			}
			for i, q := range got {
				z := gapOf(q.Logits)
				closeTo(t, "2cosh(z/2) − β(z − z_ref)", 2*math.Cosh(z/2)/p.KL.Coefficient-(z-ref), 0,
					1e-7*math.Cosh(z/2))
				if i > 0 && q.Reward < got[i-1].Reward {
					t.Error("fixed points are not in order of reward")
				}
			}
			_, ok := rest.Reached(p)
			if ok != (want > 0) {
				t.Errorf("β = %v β_c(%v): reached %v with %d fixed points", f, ref, ok, want)
			}
		}
	}
}

// zeros returns the places z at which the two-arm on-policy force changes sign.
func zeros(p rom.Params, lo, hi float64) []float64 {
	force := func(z float64) float64 {
		pq := sigmoid(z) * sigmoid(-z)
		gap := p.Arms[0].Mean - p.Arms[1].Mean
		j := p.Arms[1].Mean + gap*sigmoid(z)
		if p.Arms[0].Mean == 1 && p.Arms[1].Mean == 0 && p.GroupSize != option.Infinite {
			// At J → 1 φ_G is summed over the number of failures, so that 1 − J does not cancel.
			j = sigmoid(z)
		}
		kl := pq * (z - gapOf(p.Reference))
		if p.KL.Gradient == option.K3 {
			kl = sigmoid(z) - sigmoid(gapOf(p.Reference))
		}
		return (pq*gap*oraclePhiOf(p, j, z) - p.KL.Coefficient*kl) / pq
	}
	const n = 500
	var at []float64
	for i := range n {
		a, b := lo+(hi-lo)*float64(i)/n, lo+(hi-lo)*float64(i+1)/n
		if (force(a) > 0) != (force(b) > 0) {
			sign := 1.0
			if force(a) > 0 {
				sign = -1
			}
			at = append(at, bisect(func(z float64) float64 { return sign * force(z) }, a, b))
		}
	}
	return at
}

// oraclePhiOf is oraclePhi with 1 − J computed from the gap if the arms are 0/1.
func oraclePhiOf(p rom.Params, j, z float64) float64 {
	if p.Arms[0].Mean != 1 || p.Arms[1].Mean != 0 {
		return oraclePhi(p, j)
	}
	if z <= 0 {
		if p.GroupSize == option.Infinite {
			return 1 / math.Sqrt(sigmoid(z)*sigmoid(-z))
		}
		return oraclePhi(p, j)
	}
	// S → G − S and J → 1 − J leave φ_G unchanged.
	if p.GroupSize == option.Infinite {
		return 1 / math.Sqrt(sigmoid(z)*sigmoid(-z))
	}
	return oraclePhi(p, sigmoid(-z))
}

// At finite G there is always a fixed point near z_ref + √(G−1)/β, where groups are degenerate;
// large G above β_c has three. With k3 there is exactly one for every β > 0 (docs/theory.md §3).
func TestDegenerateFixedPoints(t *testing.T) {
	base := bandit(option.StdScale, 1, 16)
	base.Arms = []option.Arm{{Mean: 1}, {Mean: 0}}
	for _, c := range []struct {
		size  int
		beta  float64
		count int
	}{{16, 0.4, 1}, {64, 0.5, 1}, {64, 1.0, 1}, {256, 1, 1}, {256, 2, 3}, {64, 2, 0}, {16, 2, 0}, {16, 3, 0}} {
		p := base
		p.GroupSize, p.KL.Coefficient = c.size, c.beta
		far := math.Sqrt(float64(c.size-1)) / c.beta
		want := zeros(p, -1, far+3)
		if c.count > 0 && len(want) != c.count {
			t.Errorf("%s: the oracle finds %d fixed points, the theory says %d", describe(p), len(want), c.count)
		}
		got := fixed.Points(p)
		if len(got) != len(want) {
			t.Errorf("%s: %d fixed points, want %d at %v", describe(p), len(got), len(want), want)
			continue
		}
		for i := range got {
			closeTo(t, describe(p)+" z*", gapOf(got[i].Logits), want[i], 1e-7)
		}
		// Near √(G−1)/β while groups there have at most one failure: the share
		// with more is G²q²/2, and the first correction is relative Gq.
		top := gapOf(got[len(got)-1].Logits)
		if q := float64(c.size) * sigmoid(-far); q < 0.05 {
			closeTo(t, describe(p)+" degenerate fixed point", top, far, 2*q*far)
		} else if c.size == 256 && c.beta == 1 {
			t.Errorf("%s: failures have probability %v near z_ref + √(G−1)/β, want a degenerate fixed point", describe(p), q)
		}
	}
	for _, size := range []int{option.Infinite, 4, 16, 64} {
		for _, beta := range []float64{0.05, 0.3, 1, 2, 5} {
			for _, ref := range []float64{-4, -1, 0, 2} {
				p := base
				p.GroupSize, p.KL.Coefficient, p.KL.Gradient = size, beta, option.K3
				p.Reference = gapAt(ref)
				got := fixed.Points(p)
				want := zeros(p, -12, 25)
				if len(got) != 1 {
					t.Errorf("%s z_ref = %v: %d fixed points with k3; the oracle finds %v", describe(p), ref, len(got), want)
					continue
				}
				if len(want) != 1 {
					t.Errorf("%s z_ref = %v: the oracle finds %v", describe(p), ref, want)
					continue
				}
				closeTo(t, describe(p)+" z*", gapOf(got[0].Logits), want[0], 1e-7)
			}
		}
	}
}

// A substitute for the paper's eight completions: fixed rewards, std scale, β = 1,
// uniform reference, G = ∞. Its dynamics do not change under r → ar + b.
func TestEightCompletions(t *testing.T) {
	p := bandit(option.StdScale, 1, option.Infinite)
	p.Importance.Mode = option.Ratio
	p.Arms, p.Reference = nil, make([]float64, 8)
	for _, r := range []float64{0, 0, 0, 0.5, 0.5, 1, 1, 2} {
		p.Arms = append(p.Arms, option.Arm{Law: option.Constant, Mean: r})
	}
	closeTo(t, "R_0", oracleReward(p, p.Reference), 0.625, 1e-15)
	f, ok := rest.Reached(p)
	if !ok {
		t.Fatal("nothing reached")
	}
	printed(t, "p*", f.Reward, 1.3559, 1e-4)
	modes := rest.Modes(force.Stiffness(p, f.Logits))
	want := []float64{0.289, 0.129, 0.078, 0.064, 0.036, 0.032, 0.032}
	if len(modes) != len(want) {
		t.Fatalf("%d modes", len(modes))
	}
	for i, m := range modes {
		printed(t, "eigenvalue of Λ", m.Total, want[i], 1e-3)
	}
	q := p
	q.Arms = append([]option.Arm(nil), p.Arms...)
	for a := range q.Arms {
		q.Arms[a].Mean = 3*q.Arms[a].Mean - 1.5
	}
	g, _ := rest.Reached(q)
	closeTo(t, "p* of ar + b", g.Reward, 3*f.Reward-1.5, 1e-9)
	moved := rest.Modes(force.Stiffness(q, g.Logits))
	for i := range modes {
		closeTo(t, "eigenvalue of Λ under ar + b", moved[i].Total, modes[i].Total, 1e-9)
	}

	// The early rate of approach at η = 0.01: 0.120 over the first 100 steps,
	// 0.150 over 400, slope of −log(p* − p) by least squares.
	p.Optimizer.LearningRate = 0.01
	for steps, wantK := range map[int]float64{100: 0.120, 400: 0.150} {
		var sx, sy, sxx, sxy, n float64
		path.MeanField(p, p.Reference, steps, func(t int, theta []float64) {
			x, y := float64(t), -math.Log(f.Reward-oracleReward(p, theta))
			sx, sy, sxx, sxy, n = sx+x, sy+y, sxx+x*x, sxy+x*y, n+1
		})
		rate := (n*sxy - sx*sy) / (n*sxx - sx*sx)
		printed(t, "early stiffness", rate/(0.01*(1+rate)), wantK, 1e-3)
	}
}

// With the std scale, exact KL and G = ∞ every fixed point of any reward vector is π ∝ π_ref e^{tr}
// with β t s(t) = 1 (docs/theory-neglected.md §6): one-dimensional to find, several or none.
func TestFixedPointsOfGradedRewards(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 30))
	with, without := 0, 0
	for i := range 60 {
		arms := 2 + i%7
		p, _, _ := randomCell(r, option.Constant, arms, option.Infinite)
		p.KL.Coefficient = 0.5 + 1.5*r.Float64()
		for a := range p.Arms {
			p.Arms[a].Mean = r.NormFloat64()
		}
		tilted := func(x float64) []float64 {
			theta := make([]float64, arms)
			for a := range theta {
				theta[a] = p.Reference[a] + x*p.Arms[a].Mean
			}
			return theta
		}
		excess := func(x float64) float64 {
			pi, j, s2 := oracleSoftmax(tilted(x)), oracleReward(p, tilted(x)), 0.0
			for a := range pi {
				s2 += pi[a] * (p.Arms[a].Mean - j) * (p.Arms[a].Mean - j)
			}
			return p.KL.Coefficient*x*math.Sqrt(s2) - 1
		}
		var want []float64 // expected rewards
		const n = 6000     // t from 1e-3 to 1e4, 0.3 % apart
		for k := range n {
			lo, hi := math.Pow(10, -3+7*float64(k)/n), math.Pow(10, -3+7*float64(k+1)/n)
			switch up := excess(hi) >= 0; {
			case up == (excess(lo) >= 0):
			case up:
				want = append(want, oracleReward(p, tilted(bisect(excess, lo, hi))))
			default:
				want = append(want,
					oracleReward(p, tilted(bisect(func(x float64) float64 { return -excess(x) }, lo, hi))))
			}
		}
		got := fixed.Points(p)
		for _, f := range got {
			near := math.Inf(1)
			for _, j := range want {
				near = min(near, math.Abs(j-f.Reward))
			}
			closeTo(t, describe(p)+" a fixed point of the family", near, 0, 1e-8)
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d fixed points, the family has %d: %v", describe(p), len(got), len(want), want)
		}
		f, ok := rest.Reached(p)
		switch {
		case ok != (len(want) > 0):
			t.Errorf("%s: reached %v, the family has %v", describe(p), ok, want)
		case ok: // J rises from the reference to the first
			closeTo(t, describe(p)+" reached", f.Reward, want[0], 1e-8)
			with++
		default:
			without++
		}
		if t.Failed() {
			t.Fatalf("arms %v, reference %v", p.Arms, p.Reference)
		}
	}
	if with < 5 || without < 5 {
		t.Errorf("%d cells with a fixed point and %d without: too few of one kind", with, without)
	}
}

// recurrent returns the cell of the recurrence (docs/theory-neglected.md §6): ratio, exact KL at
// the current policy, two 0/1 arms, std scale, G = ∞.
func recurrent(beta, reference float64) rom.Params {
	p := bandit(option.StdScale, beta, option.Infinite)
	p.Arms = []option.Arm{{Mean: 1}, {Mean: 0}}
	p.Reference = gapAt(reference)
	p.Importance.Mode, p.KL.At = option.Ratio, option.AtCurrent
	return p
}

func refreshed(t *testing.T, p rom.Params, old []float64) []float64 {
	t.Helper()
	logits, scope := fixed.Refreshed(p, old)
	if !scope.In {
		t.Fatalf("%s: %s", describe(p), scope.Because)
	}
	return logits
}

// logit p_n = logit p_ref + 1/(β√(p_{n−1}(1−p_{n−1}))), with the simulator's ε
// added to the root; without scale logit p_ref + Δ/β after one refresh.
func TestRefreshedIsThePublishedRecurrence(t *testing.T) {
	for _, z := range []float64{-4, -0.3, 0, 2} {
		for _, epsilon := range []float64{0, 0.1} {
			p := recurrent(2, -0.5)
			p.Advantage.Epsilon = epsilon
			s := math.Sqrt(sigmoid(z) * sigmoid(-z))
			got := refreshed(t, p, gapAt(z))
			closeTo(t, "logit p", gapOf(got), -0.5+1/(2*(s+epsilon)), 1e-12*(1+1/s))
			closeTo(t, "centred", got[0]+got[1], 0, 1e-14)
		}
		p := recurrent(2, -0.5)
		p.Advantage.Scale = option.NoScale
		closeTo(t, "without scale", gapOf(refreshed(t, p, gapAt(z))), -0.5+0.5, 1e-14)
	}
}

// For any arms and any exactly known force: at the policy that Refreshed returns the mean force
// with the given snapshot vanishes, and the fixed points of Refreshed are those of the theory.
func TestRefreshedSolvesTheBlock(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	for i := range 60 {
		law, size := option.Bernoulli, []int{2, 8, option.Infinite}[i%3]
		if size == option.Infinite && i%2 == 0 {
			law = option.Constant
		}
		p, _, old := randomCell(r, law, 2+i%5, size)
		p.Importance.Mode, p.Advantage.Scale, p.Advantage.Baseline = option.Ratio, option.Scale(i%2),
			option.Baseline(i/2%2)
		p.KL.Coefficient += 0.3
		got := refreshed(t, p, old)
		for a, g := range mean(p, got, old) {
			closeTo(t, describe(p)+" force", g, 0, 1e-13*(1+math.Abs(got[a])))
		}
		for _, f := range fixed.Points(p) {
			for a, l := range refreshed(t, p, f.Logits) {
				closeTo(t, describe(p)+" fixed point", l, f.Logits[a], 1e-9*(1+math.Abs(l)))
			}
		}
	}
}

// RefreshSteps counts the steps of the block itself, z ← z + 2ηβp(1−p)(z′ − z), within a few per
// cent where these are small, and finds blocks that no run is long enough for: those whose next
// policy has p = 1 − 1e-7 or less.
func TestRefreshSteps(t *testing.T) {
	r := rand.New(rand.NewPCG(63, 64))
	for range 40 {
		p := recurrent(1+3*r.Float64(), 3*r.NormFloat64())
		p.Optimizer = option.Optimizer{LearningRate: 0.02}
		z := 2 * r.NormFloat64()
		next, within, steps := gapOf(refreshed(t, p, gapAt(z))), math.Pow(10, -1-6*r.Float64()), 0
		got := fixed.RefreshSteps(p, gapAt(z), within)
		for x := z; math.Abs(next-x) > within && steps < 1e6; steps++ {
			x += 2 * p.Optimizer.LearningRate * p.KL.Coefficient * sigmoid(x) * sigmoid(-x) * (next - x)
		}
		if steps < 1e6 && !(math.Abs(got-float64(steps)) < 2+0.04*float64(steps)) || steps == 1e6 &&
			!(got > 0.9e6) {
			t.Errorf("β = %g from z = %g to %g within %g: %g steps, counted %d", p.KL.Coefficient, z, next,
				within, got, steps)
		}
	}
	p := recurrent(0.5, 2.2)
	p.Optimizer.LearningRate = 1
	if got := fixed.RefreshSteps(p, gapAt(4.5), 1e-3); !(got > 1e7) {
		t.Errorf("%g steps to a next policy that is all but certain, want more than 1e7", got)
	}
	p.Optimizer.LearningRate = 1e6
	if got := fixed.RefreshSteps(p, gapAt(2.3), 1e-3); !math.IsInf(got, 1) {
		t.Errorf("%g steps that overshoot ever farther, want no end", got)
	}
}
