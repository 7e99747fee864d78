package rom_test

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/force"
	"grposim/rom/linear"
	"grposim/rom/rest"

	"gonum.org/v1/gonum/mat"
)

// κ*K/(1−μ) of the frozen force: the rule against exact thresholds, and the
// thresholds themselves (docs/theory.md §5).
func TestPrintedThresholds(t *testing.T) {
	for _, c := range []struct {
		mu         float64
		k          int
		want, unit float64
	}{
		{0.9, 1, 3.8, 1e-12}, {0.9, 2, .211111111, 1e-9}, {0.9, 4, .0730613979, 1e-10},
		{0.9, 8, .0338592952, 1e-10}, {0.9, 16, .0186538614, 1e-10},
		{0.5, 1, 3, 1e-12}, {0.5, 2, 1.25, 1e-12}, {0.5, 4, .447368421, 1e-9}, {0.5, 8, .166235446, 1e-9},
		{0.5, 16, .07142826, 1e-8},
	} {
		printed(t, "block threshold",
			linear.FrozenBlock(linear.CriticalRate, option.HeavyBall, c.mu, c.k), c.want, c.unit)
	}
	for _, c := range []struct {
		mu   float64
		k    int
		want float64
	}{
		{0.5, 2, 5.00}, {0.5, 4, 3.58}, {0.5, 8, 2.66}, {0.5, 16, 2.29},
		{0.9, 2, 4.22}, {0.9, 4, 2.92}, {0.9, 8, 2.71}, {0.9, 16, 2.99},
		{0.544, 2, 5.68},
	} {
		printed(t, "block threshold over the rule", linear.FrozenBlock(linear.CriticalRate,
			option.HeavyBall, c.mu, c.k)*float64(c.k)/(1-c.mu), c.want, 0.01)
	}
	for _, c := range []struct {
		mu   float64
		tau  int
		want float64
	}{{0.9, 2, 1.025}, {0.9, 4, 1.060}, {0.9, 16, 1.198}, {0, 2, 1.236}, {0, 4, 1.389}} {
		printed(t, "delay threshold over the rule",
			linear.DelayThreshold(c.mu, c.tau)*float64(c.tau)/(1-c.mu), c.want, 1e-3)
	}
	for i, want := range []float64{1.3571, .6679, .2134, .0487, .0224} {
		printed(t, "Nesterov threshold",
			linear.FrozenBlock(linear.CriticalRate, option.Nesterov, 0.9, 1<<i), want, 1e-4)
	}
	worst, least := 0.0, math.Inf(1)
	for _, mu := range grid(0, 0.99, 100) {
		closeTo(t, "delay 1", linear.DelayThreshold(mu, 1), 1-mu, 1e-12)
		closeTo(t, "on-policy", linear.DelayThreshold(mu, 0), 2*(1+mu), 1e-12)
		closeTo(t, "block 1", linear.FrozenBlock(linear.CriticalRate, option.HeavyBall, mu, 1), 2*(1+mu), 1e-12)
		two := 1 + mu*mu
		if mu > 0 {
			two = min(two, (1-mu*mu)/mu)
		}
		closeTo(t, "block 2", linear.FrozenBlock(linear.CriticalRate, option.HeavyBall, mu, 2), two, 1e-12)
		closeTo(t, "block onset 1", linear.FrozenBlock(linear.OnsetRate, option.HeavyBall, mu, 1),
			math.Pow(1-math.Sqrt(mu), 2), 1e-12)
		closeTo(t, "Nesterov", linear.FrozenBlock(linear.CriticalRate, option.Nesterov, mu, 1),
			2*(1+mu)/(1+2*mu), 1e-12)
		closeTo(t, "Nesterov onset", linear.FrozenBlock(linear.OnsetRate, option.Nesterov, mu, 1),
			math.Pow((1-mu)/(1+mu), 2), 1e-12)
	}
	for _, mu := range grid(0, 0.999, 4000) { // 0.00025 apart, slope of the ratio below 20
		for k := 2; k <= 64; k++ {
			ratio := linear.FrozenBlock(linear.CriticalRate, option.HeavyBall, mu, k) * float64(k) / (1 - mu)
			worst, least = max(worst, ratio), min(least, ratio)
		}
	}
	// Block, K ≥ 2: the rule is too strict by a factor of 2 to 5.7.
	printed(t, "the most cautious", worst, 5.68, 0.01)
	printed(t, "the least cautious", least, 2, 0.01)
	for k := 1; k <= 40; k++ {
		closeTo(t, "no momentum, block", linear.FrozenBlock(linear.CriticalRate, option.HeavyBall, 0, k),
			2/float64(k), 1e-12)
		closeTo(t, "no momentum, block onset",
			linear.FrozenBlock(linear.OnsetRate, option.HeavyBall, 0, k), 1/float64(k), 1e-12)
		closeTo(t, "no momentum, delay", linear.DelayThreshold(0, k),
			2*math.Sin(math.Pi/(2*(2*float64(k)+1))), 1e-12)
		closeTo(t, "no momentum, Nesterov",
			linear.FrozenBlock(linear.CriticalRate, option.Nesterov, 0, k), 2/float64(k), 1e-12)
	}
	// μ = 0, τ → ∞: the rule is too strict by a factor of π/2; the next term is 1/(2τ).
	closeTo(t, "long delay", linear.DelayThreshold(0, 4000)*4000, math.Pi/2, math.Pi/2/4000)
	// On-policy ζ = 1 over the exact onset (docs/theory.md §4).
	for _, c := range []struct{ mu, want, unit float64 }{{0.5, 0.971, 1e-3}, {0.9, 0.9993, 1e-4}} {
		printed(t, "ζ = 1 over the exact onset", (1-c.mu)*(1-c.mu)/(2*(1+c.mu))/linear.FrozenBlock(linear.OnsetRate, option.HeavyBall, c.mu, 1), c.want, c.unit)
	}
	for _, c := range []struct {
		tau        int
		want, unit float64
	}{{1, .0625, 1e-4}, {2, .0481, 1e-4}, {4, .0323, 1e-4}} {
		printed(t, "delay onset", delayOnset(0.5, c.tau), c.want, c.unit)
	}
	// The paper's own numbers: K = 0.12, μ = 0.8 (onset in η).
	for _, c := range []struct {
		tau  int
		want float64
	}{{1, .0833}, {4, .0624}, {16, .0291}, {64, .0089}} {
		printed(t, "delay onset in η", delayOnset(0.8, c.tau)/0.12, c.want, 1e-4)
	}
}

func grid(lo, hi float64, n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = lo + (hi-lo)*float64(i)/float64(n-1)
	}
	return all
}

// Every closed threshold of one frozen mode is where the stepped recursion has
// radius one: stable on a scan below, unstable just above, radius 1 at it.
func TestThresholdsOfTheSteppedRecursion(t *testing.T) {
	frozen := func(method option.Method) func(float64, int) float64 {
		return func(mu float64,
			k int) float64 {
			return linear.FrozenBlock(linear.CriticalRate, method, mu, k)
		}
	}
	for _, c := range []struct {
		name      string
		method    option.Method
		kind      option.LagKind
		ages      []int
		threshold func(float64, int) float64
	}{
		{"block", option.HeavyBall, option.Block, []int{1, 2, 3, 4, 8, 16, 33}, frozen(option.HeavyBall)},
		{"delay", option.HeavyBall, option.Delay, []int{0, 1, 2, 3, 5, 16}, linear.DelayThreshold},
		{"Nesterov", option.Nesterov, option.Block, []int{1, 2, 3, 4, 8, 16, 33},
			frozen(option.Nesterov)},
	} {
		for _, mu := range []float64{0, 0.3, 0.544, 0.8, 0.9, 0.97} {
			for _, age := range c.ages {
				k := c.threshold(mu, age)
				at := func(f float64) linearMap {
					return scalarMap(option.Optimizer{Kind: c.method, LearningRate: f * k, Momentum: mu},
						option.Lag{Kind: c.kind, Interval: age}, 0, 1)
				}
				// An eigenvalue of such a matrix is accurate to √ε if it is nearly
				// double, but at a crossing it is simple: ε·size/gap.
				closeTo(t, c.name+" radius at the threshold", at(1).radius(), 1, 1e-9)
				for _, f := range grid(0.02, 0.998, 40) {
					if r := at(f).radius(); r >= 1 {
						t.Errorf("%s μ = %v, age %d: radius %v at %v of the threshold", c.name, mu, age, r, f)
					}
				}
				if r := at(1.002).radius(); r <= 1 {
					t.Errorf("%s μ = %v, age %d: radius %v just above the threshold", c.name, mu, age, r)
				}
			}
		}
	}
	// The same by iteration alone.
	for _, mu := range []float64{0, 0.9} {
		for _, k := range []int{1, 2, 5, 8} {
			kappa := linear.FrozenBlock(linear.CriticalRate, option.HeavyBall, mu, k)
			tau := linear.DelayThreshold(mu, k)
			for _, f := range []float64{0.97, 1.03} {
				b := scalarMap(option.Optimizer{LearningRate: f * kappa, Momentum: mu}, block(k), 0, 1).growth(4000)
				d := scalarMap(option.Optimizer{LearningRate: f * tau, Momentum: mu}, delay(k), 0, 1).growth(4000)
				if b > 1 != (f > 1) || d > 1 != (f > 1) {
					t.Errorf("μ = %v, %d: at %v of the threshold a block grows by %v, a delay by %v", mu, k, f, b, d)
				}
			}
		}
	}
}

// The onset of oscillation is where the two leading real multipliers meet and leave the axis.
func TestOnsetOfTheSteppedRecursion(t *testing.T) {
	leading := func(m linearMap) complex128 {
		var z complex128
		for _, e := range m.multipliers() {
			if cmplx.Abs(e) > cmplx.Abs(z) {
				z = e
			}
		}
		return z
	}
	for _, mu := range []float64{0.1, 0.5, 0.8, 0.9} {
		for _, age := range []int{1, 2, 4, 9} {
			for _, c := range []struct {
				name   string
				method option.Method
				kind   option.LagKind
				onset  float64
			}{
				{"block", option.HeavyBall, option.Block,
					linear.FrozenBlock(linear.OnsetRate, option.HeavyBall, mu, age)},
				{"delay", option.HeavyBall, option.Delay, delayOnset(mu, age)},
				{"Nesterov", option.Nesterov, option.Block,
					linear.FrozenBlock(linear.OnsetRate, option.Nesterov, mu, age)},
			} {
				for _, f := range []float64{0.3, 0.9, 0.999, 1.001} {
					m := scalarMap(option.Optimizer{Kind: c.method, LearningRate: f * c.onset, Momentum: mu},
						option.Lag{Kind: c.kind, Interval: age}, 0, 1)
					if z := leading(m); (math.Abs(imag(z)) > 1e-7) != (f > 1) {
						t.Errorf("%s μ = %v, age %d: leading multiplier %v at %v of the onset", c.name, mu, age, z, f)
					}
				}
			}
		}
	}
}

// critical returns the exact critical ηλ: Exact.CriticalLearningRate times λ.
func critical(t *testing.T, p rom.Params) float64 {
	t.Helper()
	got := rom.Predict(p)
	return said(t, describe(p)+" critical learning rate",
		got.Exact.CriticalLearningRate) * got.Stiffness.Total
}

// Thresholds in ηλ of the reference bandit at G = ∞ (docs/theory.md §5).
func TestThresholdsOfTheReferenceBandit(t *testing.T) {
	frozen := bandit(option.NoScale, 0.5, option.Infinite)
	current := frozen
	current.KL.At = option.AtCurrent
	ratio := current
	ratio.Importance.Mode = option.Ratio
	for i, want := range []float64{3.8, .211111111, .0730613979, .0338592952, .0186538614} {
		printed(t, "frozen, μ = .9", critical(t, with(frozen, 0.01, 0.9, block(1<<i))), want, 1e-9)
		printed(t, "ratio, μ = .9", critical(t, with(ratio, 0.01, 0.9, block(1<<i))), 3.8, 1e-9)
		printed(t, "ratio, μ = .9, delay", critical(t, with(ratio, 0.01, 0.9, delay(1<<i))), 3.8, 1e-9)
	}
	for i, want := range []float64{3, 1.25, .447368421, .166235446, .07142826} {
		printed(t, "frozen, μ = .5", critical(t, with(frozen, 0.01, 0.5, block(1<<i))), want,
			[]float64{1e-9, 1e-9, 1e-9, 1e-9, 1e-8}[i])
	}
	for i, want := range []float64{.249506437, .0874026745, .0413077025, .0239999318} {
		printed(t, "none, KL current, μ = .9", critical(t, with(current, 0.01, 0.9, block(2<<i))), want, 1e-9)
	}
	for i, want := range []float64{.11819, .06085, .03168, .01686, .00922} {
		printed(t, "none, KL current, μ = .9, delay", critical(t, with(current, 0.01, 0.9, delay(1<<i))), want, 1e-5)
	}
	for i, want := range []float64{1.3571, .6679, .2134, .0487, .0224} {
		p := with(frozen, 0.01, 0.9, block(1<<i))
		p.Optimizer.Kind = option.Nesterov
		printed(t, "Nesterov, μ = .9", critical(t, p), want, 1e-4)
	}
	for _, tau := range []int{0, 1, 4} {
		closeTo(t, "frozen delay", critical(t, with(frozen, 0.01, 0.9, delay(tau))),
			linear.DelayThreshold(0.9, tau), 1e-9)
	}
}

// The rule is not safe when λ_s > λ, nor when λ_s ≤ −λ (docs/theory.md §5).
func TestWhereTheRuleIsNotSafe(t *testing.T) {
	weak := bandit(option.NoScale, 0.2, option.Infinite)
	weak.KL.At = option.AtCurrent
	printed(t, "μ = 0, K = 64", critical(t, with(weak, 0.01, 0, block(64)))*64, 0.76, 0.01)
	printed(t, "μ = .9, K = 16", critical(t, with(weak, 0.01, 0.9, block(16)))*16/0.1, 0.72, 0.01)
	// λ_s = −λ with the ratio and KL at the snapshot: λ_f = 2λ where z tanh(z/2) = 2.
	z := bisect(func(z float64) float64 { return z*math.Tanh(z/2) - 2 }, 1, 4)
	p := bandit(option.NoScale, 0.7/z, option.Infinite)
	p.Importance.Mode = option.Ratio
	s := rom.Predict(p).Stiffness
	closeTo(t, "φ", s.Stale/s.Total, -1, 1e-9)
	printed(t, "φ = −1, delay 1", critical(t, with(p, 0.01, 0, delay(1))), 0.667, 1e-3)
}

// Instability comes in windows: ratio, KL at the snapshot, μ = .9, ηλ = .62 is
// unstable at K = 4 only, radius 1.141 (docs/theory.md §5).
func TestWindowOfInstability(t *testing.T) {
	p := bandit(option.NoScale, 0.5, option.Infinite)
	p.Importance.Mode = option.Ratio
	lambda := rom.Predict(p).Stiffness.Total
	for k := 1; k <= 12; k++ {
		got := rom.Predict(with(p, 0.62/lambda, 0.9, block(k)))
		r := said(t, "radius", got.Exact.SpectralRadius)
		if (r >= 1) != (k == 4) {
			t.Errorf("K = %d: radius %v", k, r)
		}
		if k == 4 {
			printed(t, "radius in the window", r, 1.141, 1e-3)
			if c := said(t, "critical learning rate", got.Exact.CriticalLearningRate); c >= 0.62/lambda {
				t.Errorf("critical learning rate %v above the unstable %v", c, 0.62/lambda)
			}
		}
	}
}

// cells returns cells of every kind of staleness, lag and optimizer.
func cells(t *testing.T, seed uint64) []rom.Params {
	r := rand.New(rand.NewPCG(seed, 1))
	var all []rom.Params
	for _, arms := range []int{2, 4} {
		for _, w := range []option.ImportanceMode{option.NoImportance, option.Ratio} {
			for _, c := range []struct {
				est option.KLGradient
				at  option.KLPoint
			}{{option.ExactKL, option.AtSnapshot}, {option.ExactKL, option.AtCurrent},
				{option.K3, option.AtCurrent}, {option.K2, option.AtCurrent}} {
				for _, lag := range []option.Lag{block(1), block(3), block(8), delay(1), delay(4)} {
					for _, method := range []option.Method{option.HeavyBall, option.Nesterov} {
						p, _, _ := randomCell(r, option.Bernoulli, arms, 16)
						p.Arms[0].Mean, p.Arms[1].Mean = 0.85, 0.25
						p.Advantage.Scale = option.Scale(r.IntN(2))
						p.KL.Coefficient = 0.8 + r.Float64()
						p.Importance.Mode, p.KL.Gradient, p.KL.At = w, c.est, c.at
						p = with(p, 0, []float64{0, 0.5, 0.9}[r.IntN(3)], lag)
						p.Optimizer.Kind = method
						f, ok := rest.Reached(p)
						if !ok {
							continue
						}
						p.Optimizer.LearningRate = (0.1 + 0.9*r.Float64()) * (1 - p.Optimizer.Momentum) / (rest.Modes(force.Stiffness(p, f.Logits))[0].Total * float64(max(lag.Interval, 1)))
						all = append(all, p)
					}
				}
			}
		}
	}
	if len(all) < 100 {
		t.Fatalf("only %d cells with a fixed point", len(all))
	}
	return all
}

// The predicted radius and multipliers are those of the recursion stepped
// column by column; and of plain iteration.
func TestSpectralRadiusOfTheSteppedRecursion(t *testing.T) {
	for i, p := range cells(t, 31) {
		if i%2 == 1 && len(p.Arms) > 2 { // a scan of long delays with several arms is slow
			continue
		}
		got := rest.NewEquilibrium(p).PredictPart(p.Optimizer, p.Lag, rest.DynamicsAlone)
		if got.FixedPoint == nil {
			t.Fatalf("%s: no fixed point", describe(p))
		}
		m := newLinearMap(p, got.FixedPoint.Logits)
		r := said(t, "radius", got.Exact.SpectralRadius)
		closeTo(t, describe(p)+" radius", r, m.radius(), 1e-7)
		if len(got.Exact.Multipliers) == 0 {
			t.Errorf("%s: no multipliers", describe(p))
			continue
		}
		for j, z := range got.Exact.Multipliers {
			size := math.Hypot(z[0], z[1])
			if j == 0 {
				closeTo(t, describe(p)+" first multiplier", size, r, 1e-9)
			} else if before := got.Exact.Multipliers[j-1]; size > math.Hypot(before[0],
				before[1])*(1+1e-12) {
				t.Errorf("%s: multipliers not in order: %v", describe(p), got.Exact.Multipliers)
			}
			nearest := math.Inf(1)
			for _, e := range m.multipliers() {
				nearest = min(nearest, cmplx.Abs(e-complex(z[0], z[1])))
			}
			// A multiple zero of the companion of a long delay is accurate to ε^(1/τ) only.
			if size > 0.05 {
				closeTo(t, describe(p)+" multiplier", nearest, 0, 1e-5)
			}
		}
		if i%4 == 0 {
			// Iteration finds the leading rate to 1/periods times the log of
			// the share of the other directions.
			closeTo(t, describe(p)+" growth", m.growth(3000), r, 0.01*r)
		}
	}
}

// The critical learning rate is the first crossing: a scan below finds nothing unstable, just above
// is unstable. The critical refresh interval is where the first unstable integer lies.
func TestCriticalValuesOfTheSteppedRecursion(t *testing.T) {
	for i, p := range cells(t, 33) {
		if i%3 != 0 || i%2 == 1 && len(p.Arms) > 2 {
			continue
		}
		got := rom.Predict(p)
		c := said(t, describe(p)+" critical learning rate", got.Exact.CriticalLearningRate)
		m := newLinearMap(p, got.FixedPoint.Logits)
		for _, f := range grid(0.01, 0.999, 40) {
			m.opt.LearningRate = f * c
			if r := m.radius(); r >= 1 {
				t.Errorf("%s: radius %v at %v of the critical rate %v", describe(p), r, f, c)
				break
			}
		}
		m.opt.LearningRate = c
		closeTo(t, describe(p)+" radius at the critical rate", m.radius(), 1, 1e-6)
		m.opt.LearningRate = 1.001 * c
		if r := m.radius(); r <= 1 {
			t.Errorf("%s: radius %v just above the critical rate", describe(p), r)
		}
		const longest = 24
		first := 0
		for k := 1; k <= longest && first == 0; k++ {
			n := m
			n.opt.LearningRate, n.lag.Interval = p.Optimizer.LearningRate, k
			if n.radius() >= 1 {
				first = k
			}
		}
		k := got.Exact.CriticalRefreshInterval
		switch {
		case first == 0 && k != nil && *k <= longest:
			t.Errorf("%s: critical refresh interval %v, but stable up to %d", describe(p), *k, longest)
		case first > 1 && k == nil:
			t.Errorf("%s: no critical refresh interval, but unstable at %d", describe(p), first)
		case first > 1 && !(*k > float64(first-1) && *k <= float64(first)):
			t.Errorf("%s: critical refresh interval %v, first unstable %d", describe(p), *k, first)
		}
	}
}

// The rules by formula: the paper's ηλK < 1 − μ, and the sufficient one of docs/theory-trainers.md
// §11.1, η(λ/2 + |λ_s|A) < 1 − μ, A = τ for a delay and for a block of K > 1 the norm of the
// triangular matrix of K−1 rows of ones.
func TestRules(t *testing.T) {
	for _, p := range cells(t, 35) {
		if p.Lag.Interval == 0 || p.Optimizer.Kind != option.HeavyBall || len(p.Arms) > 2 {
			continue
		}
		got := rom.Predict(p)
		k, mu, eta, s := float64(p.Lag.Interval), p.Optimizer.Momentum, p.Optimizer.LearningRate, got.Stiffness
		closeTo(t, "paper η",
			said(t, "paper η", got.RuleAtStiffness.CriticalLearningRate)*s.Total*k/(1-mu), 1, 1e-12)
		closeTo(t, "paper K",
			said(t, "paper K", got.RuleAtStiffness.CriticalRefreshInterval)*s.Total*eta/(1-mu), 1, 1e-12)
		if math.Abs(s.Stale) < 1e-9 {
			continue
		}
		gain := func(k float64) float64 {
			switch {
			case p.Lag.Kind == option.Delay:
				return k
			case k == 1:
				return 0
			}
			sums := mat.NewDense(int(k)-1, int(k)-1, nil)
			sums.Apply(func(i, j int, _ float64) float64 {
				if j <= i {
					return 1
				}
				return 0
			}, sums)
			var svd mat.SVD
			svd.Factorize(sums, mat.SVDNone)
			return svd.Values(nil)[0]
		}
		bound := (1 - mu) / (s.Total/2 + math.Abs(s.Stale)*gain(k))
		closeTo(t, "sufficient η", said(t, "sufficient η", got.SufficientRule.CriticalLearningRate)/bound, 1, 1e-12)
		if c := said(t, "exact η", got.Exact.CriticalLearningRate); c < bound*(1-1e-9) {
			t.Errorf("%s: unstable from %v, below the bound %v of the sufficient rule", describe(p), c, bound)
		}
		first := math.Ceil(said(t, "sufficient K", got.SufficientRule.CriticalRefreshInterval) - 1e-9)
		covered := func(k float64) bool { return eta*(s.Total/2+math.Abs(s.Stale)*gain(k)) < 1-mu }
		if first >= 2 && first < 100 && (!covered(first-1) || covered(first)) {
			t.Errorf("%s: the sufficient rule ends at an interval of %v: %t before, %t there", describe(p),
				first, covered(first-1), covered(first))
		}
	}
	// The paper's Figure 6: η = 0.30, μ = 0.80, K = 0.12.
	printed(t, "K_ref*", said(t, "K_ref*",
		rom.Predict(free(0.12, 0.3, 0.8, delay(1))).RuleAtStiffness.CriticalRefreshInterval), 5.56, 0.01)
}

// Two arms at finite K, μ = 0: ρ^K + h(1 − ρ^K); L_ref = −6, β = 1.57, η = .05
// flips at the lower fixed point at K* = 265.404 (docs/theory-neglected.md §6).
func TestFlipOfTheRecurrence(t *testing.T) {
	p := bandit(option.StdScale, 1.57, option.Infinite)
	p.Arms = []option.Arm{{Mean: 1}, {Mean: 0}}
	p.Reference = gapAt(-6)
	p.Importance.Mode, p.KL.At = option.Ratio, option.AtCurrent
	p.Optimizer.LearningRate = 0.05
	f, ok := rest.Reached(p)
	if !ok {
		t.Fatal("nothing reached")
	}
	pp, qq := f.Policy[0], f.Policy[1]
	rho := 1 - 0.05*2*pp*qq*1.57
	h := (2*pp - 1) / (2 * 1.57 * math.Sqrt(pp*qq))
	printed(t, "K*", math.Log((math.Abs(h)-1)/(math.Abs(h)+1))/math.Log(rho), 265.404, 1e-3)
	for _, k := range []int{1, 10, 265, 266} {
		q := p
		q.Lag.Interval = k
		r := said(t, "radius", rom.Predict(q).Exact.SpectralRadius)
		closeTo(t, "multiplier", r, math.Abs(math.Pow(rho, float64(k))+h*(1-math.Pow(rho, float64(k)))), 1e-9)
		if (r > 1) != (k == 266) {
			t.Errorf("K = %d: radius %v", k, r)
		}
	}
	k := said(t, "critical refresh interval", rom.Predict(p).Exact.CriticalRefreshInterval)
	if !(k > 265 && k <= 266) {
		t.Errorf("critical refresh interval %v, the first unstable is 266", k)
	}
}

// Several arms: the modes within a class can lose stability first, and the
// threshold is that of the stiffest mode (docs/theory.md §3).
func TestStiffestModeSetsTheThreshold(t *testing.T) {
	p := bandit(option.NoScale, 0.5, 16)
	p.Arms = []option.Arm{{Mean: 0.9}, {Mean: 0.9}, {Mean: 0.2}}
	p.Reference = []float64{0, 0, 0}
	f, _ := rest.Reached(p)
	within := 0.5 * f.Policy[0]
	mass := 2 * f.Policy[0]
	between := 0.5 * mass * (1 - mass) * 1.5
	for _, k := range []int{1, 4} {
		got := rom.Predict(with(p, 0.01, 0.5, block(k)))
		closeTo(t, "stiffest", got.Stiffness.Total, max(within, between), 1e-10)
		closeTo(t, "slowest", got.Stiffness.Slowest, min(within, between), 1e-10)
		closeTo(t, "critical learning rate",
			said(t, "critical learning rate", got.Exact.CriticalLearningRate),
			linear.FrozenBlock(linear.CriticalRate, option.HeavyBall, 0.5, k)/max(within, between), 1e-8)
	}
	if within < between {
		t.Error("the cell should have its stiffest mode within the class")
	}
}

// The substitute for the paper's eight completions at Figure 6's η = 0.30, μ = 0.80,
// β = 1. As the update is written (ratio, KL at the current policy) no
// lag up to 20 destabilizes it; with the whole force at the snapshot the first
// unstable lag is 1.06 to 1.57 times the rule with the largest stiffness.
func TestLagOfTheEightCompletions(t *testing.T) {
	p := with(bandit(option.StdScale, 1, option.Infinite), 0.3, 0.8, delay(1))
	p.Arms, p.Reference = nil, make([]float64, 8)
	for _, r := range []float64{0, 0, 0, 0.5, 0.5, 1, 1, 2} {
		p.Arms = append(p.Arms, option.Arm{Law: option.Constant, Mean: r})
	}
	written := p
	written.Importance.Mode, written.KL.At = option.Ratio, option.AtCurrent
	f, ok := rest.Reached(p)
	if !ok {
		t.Fatal("nothing reached")
	}
	first := 0
	for tau := 1; tau <= 20; tau++ {
		written.Lag.Interval, p.Lag.Interval = tau, tau
		if r := newLinearMap(written, f.Logits).radius(); r >= 1 {
			t.Errorf("as written: radius %v at lag %d", r, tau)
		}
		if first == 0 && newLinearMap(p, f.Logits).radius() >= 1 {
			first = tau
		}
	}
	p.Lag.Interval = 1
	got := rom.Predict(p)
	rule := said(t, "rule", got.RuleAtStiffness.CriticalRefreshInterval)
	closeTo(t, "rule", rule, 0.2/(0.3*0.289), rule*0.0005/0.289*2)
	if ratio := float64(first) / rule; ratio < 1.06 || ratio > 1.57 {
		t.Errorf("first unstable lag %d is %v times the rule", first, ratio)
	}
	if k := said(t, "critical lag", got.Exact.CriticalRefreshInterval); !(k > float64(first-1) &&
		k <= float64(first)) {
		t.Errorf("critical lag %v, first unstable %d", k, first)
	}
}

// At a learning rate that is unstable on-policy the critical interval is the smallest
// possible: 1 for a block, 0 for a delay.
func TestCriticalIntervalOfAnUnstableRate(t *testing.T) {
	for _, c := range []struct {
		lag  option.Lag
		want float64
	}{{block(1), 1}, {block(4), 1}, {delay(0), 0}, {delay(3), 0}} {
		for _, rate := range []float64{2*(1+0.5)/0.12 + 1e-6, 1e4} {
			p := free(0.12, rate, 0.5, c.lag)
			closeTo(t, describe(p),
				said(t, "critical interval", rom.Predict(p).Exact.CriticalRefreshInterval), c.want, 0)
		}
	}
}

// delayOnset returns κ_osc of the heavy ball with the constant delay τ ≥ 0,
// 0 ≤ μ < 1: the maximum over z in (μ, 1) of z^{τ−1}(1−z)(z−μ), attained at the
// larger root of (τ+1)z² − τ(1+μ)z + (τ−1)μ = 0. For τ = 0 it is (1−√μ)².
func delayOnset(mu float64, tau int) float64 {
	if tau == 0 {
		r := 1 - math.Sqrt(mu)
		return r * r
	}
	n := float64(tau)
	z := (n*(1+mu) + math.Sqrt(n*n*(1+mu)*(1+mu)-4*(n*n-1)*mu)) / (2 * (n + 1))
	return math.Pow(z, n-1) * (1 - z) * (z - mu)
}
