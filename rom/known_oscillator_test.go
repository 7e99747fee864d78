package rom_test

import (
	"math"
	"math/cmplx"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/force"
	"grposim/rom/paper"
	"grposim/rom/path"
	"grposim/rom/rest"
)

// The constants of the reduced-order model (docs/theory.md §4):
// m = (1+μ)/2 + ½ηλ_s E[age²], γ = 1 − μ − ηλ_s ā, k = ηλ, ζ = γ/(2√(mk)).
func TestOscillatorConstants(t *testing.T) {
	for _, p := range cells(t, 51) {
		if p.Optimizer.Kind != option.HeavyBall || len(p.Arms) > 2 {
			continue
		}
		got := rom.Predict(p)
		o, s := got.Oscillator, got.Stiffness
		age := float64(p.Lag.Interval)
		square := age * age
		if p.Lag.Kind == option.Block {
			square = (age - 1) * (2*age - 1) / 6
			age = (age - 1) / 2
		}
		eta, mu := p.Optimizer.LearningRate, p.Optimizer.Momentum
		m, gamma, k := (1+mu)/2+eta*s.Stale*square/2, 1-mu-eta*s.Stale*age, eta*s.Total
		closeTo(t, describe(p)+" lag", o.LagSteps, age, 1e-12)
		closeTo(t, describe(p)+" m", o.Mass, m, 1e-12)
		closeTo(t, describe(p)+" γ", o.Damping, gamma, 1e-12)
		closeTo(t, describe(p)+" k", o.Spring, k, 1e-12)
		if m > 0 && k > 0 {
			closeTo(t, describe(p)+" ζ", o.DampingRatio, gamma/(2*math.Sqrt(m*k)), 1e-12)
			want := "overdamped"
			switch zeta := gamma / (2 * math.Sqrt(m*k)); {
			case gamma <= 0:
				want = "unstable"
			case zeta < 1:
				want = "oscillatory"
			}
			if o.Regime != want {
				t.Errorf("%s: regime %q with γ = %v, ζ = %v", describe(p), o.Regime, gamma, o.DampingRatio)
			}
		}
		q := p
		q.Factors.Mass, q.Factors.Lag = 1.5, 2
		planted := rom.Predict(q)
		closeTo(t, describe(p)+" planted lag", planted.Oscillator.LagSteps, 2*age, 1e-12)
		closeTo(t, describe(p)+" planted γ", planted.Oscillator.Damping, 1-mu-2*eta*s.Stale*age, 1e-12)
		closeTo(t, describe(p)+" the exact dynamics do not feel it",
			said(t, "radius", planted.Exact.SpectralRadius), said(t, "radius", got.Exact.SpectralRadius), 0)
		q.Factors.Lag = 1
		closeTo(t, describe(p)+" planted m", rom.Predict(q).Oscillator.Mass, 1.5*m, 1e-12)
	}
}

// mapCurve is the exact solution of the on-policy map from rest at offset 1:
// x_{t+1} = x_t + μ(x_t − x_{t−1}) − κx_t.
func mapCurve(kappa, mu float64, steps int) []float64 {
	x := []float64{1}
	before := 1.0
	for t := range steps {
		next := x[t] + mu*(x[t]-before) - kappa*x[t]
		before = x[t]
		x = append(x, next)
	}
	return x
}

// The closed form from rest, t_1 + t_2 = γ/k, t_1t_2 = m/k, complex when
// underdamped, started half a step earlier: error 1e-4 of the offset instead
// of 1.8e-3 at μ = .9, κ = 1e-3 (docs/theory.md §4).
func TestClosedForm(t *testing.T) {
	base := bandit(option.NoScale, 0.5, 16)
	for _, mu := range []float64{0.5, 0.9} {
		for _, kappa := range []float64{1e-3, 0.05} {
			for _, lag := range []option.Lag{block(1), block(3), delay(2)} {
				p := with(base, kappa/0.1670956266, mu, lag)
				o := rom.Predict(p).Oscillator
				star, _ := rest.Reached(p)
				init := gapAt(gapOf(star.Logits) + 0.01)
				j, scope := rest.ClosedForm(p, init)
				if j == nil {
					t.Fatalf("%s: no closed form: %s", describe(p), scope.Because)
				}
				root := cmplx.Sqrt(complex(o.Damping*o.Damping-4*o.Mass*o.Spring, 0))
				t1 := (complex(o.Damping, 0) + root) / complex(2*o.Spring, 0)
				t2 := (complex(o.Damping, 0) - root) / complex(2*o.Spring, 0)
				j0 := oracleReward(p, init)
				for _, at := range []float64{0, 1, 2.5, 10, 100} {
					shifted := complex(at+0.5, 0)
					x := (t1*cmplx.Exp(-shifted/t1) - t2*cmplx.Exp(-shifted/t2)) / (t1 - t2)
					closeTo(t, describe(p)+" closed form", j(at), star.Reward+(j0-star.Reward)*real(x), 1e-9)
				}
			}
		}
	}
	p := with(base, 1e-3/0.1670956266, 0.9, block(1))
	star, _ := rest.Reached(p)
	init := gapAt(gapOf(star.Logits) + 0.01)
	j, _ := rest.ClosedForm(p, init)
	kappa := p.Optimizer.LearningRate * rom.Predict(p).Stiffness.Total
	worst := 0.0
	for i, x := range mapCurve(kappa, 0.9, 5000) {
		worst = max(worst, math.Abs((j(float64(i))-star.Reward)/(oracleReward(p, init)-star.Reward)-x))
	}
	printed(t, "error of the closed form", worst, 1e-4, 1e-4)
}

// The mean field is the optimizer of docs/theory.md §1 applied to E[g]. Adam's second
// moment averages E[g²] = (E g)² + Var g; without Var g Adam would not be the heavy
// ball of §6 near the fixed point.
func TestMeanFieldIsTheAlgorithm(t *testing.T) {
	schedules := []option.Optimizer{
		{Kind: option.HeavyBall, LearningRate: 0.3, Momentum: 0.8},
		{Kind: option.Nesterov, LearningRate: 0.3, Momentum: 0.8},
		{Kind: option.Adam, LearningRate: 0.02, Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-8},
		{Kind: option.HeavyBall, LearningRate: 0.3, Momentum: 0.5,
			Schedule: option.Schedule{Kind: option.LinearDecay, Warmup: 7, Total: 40}},
		{Kind: option.HeavyBall, LearningRate: 0.3,
			Schedule: option.Schedule{Kind: option.CosineDecay, Warmup: 3, Total: 90}},
		{Kind: option.HeavyBall, LearningRate: 0.3,
			Schedule: option.Schedule{Kind: option.CosineDecay, Total: 50}},
		{Kind: option.HeavyBall, LearningRate: 0.3, Schedule: option.Schedule{Warmup: 9}},
	}
	for _, opt := range schedules {
		for _, lag := range []option.Lag{block(1), block(4), delay(0), delay(3)} {
			for i, w := range []option.ImportanceMode{option.NoImportance, option.Clip, option.Ratio} {
				p := bandit(option.StdScale, 0.4, []int{6, 6, option.Infinite}[i])
				p.Arms = append(p.Arms, option.Arm{Mean: 0.6})
				p.Reference = []float64{0.3, -0.2, 0}
				p.Importance.Mode, p.Importance.ClipLow, p.Importance.ClipHigh, p.KL.At = w, 0.05, 0.05,
					option.AtCurrent
				p.Optimizer, p.Lag = opt, lag
				init := []float64{-0.5, 0.8, 0.1}
				var history [][]float64
				x, v, second := append([]float64(nil), init...), make([]float64, 3), make([]float64, 3)
				const steps = 60
				for i := range steps + 1 {
					history = append(history, append([]float64(nil), x...))
					then := max(i-lag.Interval, 0)
					if lag.Kind == option.Block {
						then = i - i%lag.Interval
					}
					rate := opt.LearningRate
					if i < opt.Schedule.Warmup {
						rate *= float64(i+1) / float64(opt.Schedule.Warmup)
					} else if opt.Schedule.Kind != option.ConstantRate {
						done := min(float64(i-opt.Schedule.Warmup)/float64(opt.Schedule.Total-opt.Schedule.Warmup), 1)
						if opt.Schedule.Kind == option.LinearDecay {
							rate *= 1 - done
						} else {
							rate *= (1 + math.Cos(math.Pi*done)) / 2
						}
					}
					g := mean(p, x, history[then])
					cov, _ := force.Covariance(p, x, history[then])
					for a := range x {
						switch opt.Kind {
						case option.HeavyBall:
							v[a] = opt.Momentum*v[a] + g[a]
							x[a] += rate * v[a]
						case option.Nesterov:
							v[a] = opt.Momentum*v[a] + g[a]
							x[a] += rate * (g[a] + opt.Momentum*v[a])
						case option.Adam:
							v[a] = opt.Beta1*v[a] + (1-opt.Beta1)*g[a]
							second[a] = opt.Beta2*second[a] + (1-opt.Beta2)*(g[a]*g[a]+cov.At(a, a))
							n := float64(i + 1)
							x[a] += rate * v[a] / (1 - math.Pow(opt.Beta1,
								n)) / (math.Sqrt(second[a]/(1-math.Pow(opt.Beta2, n))) + opt.Epsilon)
						}
					}
				}
				next := 0
				path.MeanField(p, init, steps, func(i int, theta []float64) {
					if i != next {
						t.Errorf("visited step %d after %d", i, next-1)
					}
					next = i + 1
					pi, want := oracleSoftmax(theta), oracleSoftmax(history[i])
					for a := range pi { // rounding, amplified over 60 steps
						closeTo(t, describe(p)+" policy", pi[a], want[a], 1e-11)
					}
				})
				if next != steps+1 {
					t.Errorf("%s: visited %d points, want %d", describe(p), next, steps+1)
				}
			}
		}
	}
}

// Ratio, exact current KL, 0/1 arms, G = ∞, and refresh intervals so long that the
// inner problem is solved at each refresh: logit p_n = logit p_ref + 1/(β√(p_{n−1}(1−p_{n−1})))
// (docs/theory-neglected.md §6); without scale one refresh is enough.
func TestRecurrence(t *testing.T) {
	for _, scale := range []option.Scale{option.StdScale, option.NoScale} {
		p := bandit(scale, 2, option.Infinite)
		p.Arms = []option.Arm{{Mean: 1}, {Mean: 0}}
		p.Reference = gapAt(-0.5)
		p.Importance.Mode, p.KL.At = option.Ratio, option.AtCurrent
		// The slowest inner rate is 2ηβpq with pq ≥ 0.1 here: 0.2 per step, e^{−40} after 200 steps.
		p = with(p, 0.5, 0, block(400))
		z := -0.5
		path.MeanField(p, p.Reference, 2000, func(i int, theta []float64) {
			if i%400 != 0 {
				return
			}
			if i > 0 {
				s := 1.0
				if scale == option.StdScale {
					s = math.Sqrt(sigmoid(z) * sigmoid(-z))
				}
				z = -0.5 + 1/(2*s)
			}
			closeTo(t, describe(p)+" gap at a refresh", gapOf(theta), z, 1e-9)
		})
	}
}

// Without KL the tails are algebraic (docs/theory-neglected.md §6): q → (1−μ)/(2ηc_GΔt); std with
// 0/1 arms 1/(ηt)² at G = ∞ and 1/(2η√(G−1)t) at finite G. The slope of 1/q (of 1/√q) between T and
// 2T does not depend on the constant of integration; the remaining error is of order Gq.
func TestTailsWithoutKL(t *testing.T) {
	slope := func(p rom.Params, steps int, of func(q float64) float64) (perStep, q float64) {
		var first float64
		path.MeanField(p, p.Reference, steps, func(i int, theta []float64) {
			q = sigmoid(-gapOf(theta))
			if i == steps/2 {
				first = of(q)
			}
		})
		return (of(q) - first) / float64(steps-steps/2), q
	}
	inverse := func(q float64) float64 { return 1 / q }
	for _, mu := range []float64{0, 0.5} {
		p := with(bandit(option.NoScale, 0, 16), 0.5, mu, block(1))
		got, q := slope(p, 20000, inverse)
		want := 2 * 0.5 * (15.0 / 16) * 0.7 / (1 - mu)
		closeTo(t, describe(p)+" d(1/q)/dt", got/want, 1, 5*q)
	}
	p := bandit(option.StdScale, 0, option.Infinite)
	p.Arms = []option.Arm{{Mean: 1}, {Mean: 0}}
	got, q := slope(p, 20000, func(q float64) float64 { return 1 / math.Sqrt(q) })
	closeTo(t, describe(p)+" d(1/√q)/dt", got/0.1, 1, 0.1*math.Sqrt(q)+5*q)
	p.GroupSize = 16
	got, q = slope(p, 20000, inverse)
	closeTo(t, describe(p)+" d(1/q)/dt", got/(2*0.1*math.Sqrt(15)), 1, 2*16*q)
}

// Several arms: from a start along one mode the closed form is that of the mode; from
// any other start it is out of scope.
func TestClosedFormAlongAMode(t *testing.T) {
	p := with(bandit(option.NoScale, 0.5, 16), 0.01, 0.9, block(1))
	p.Arms, p.Reference = append(p.Arms, option.Arm{Mean: 0.6}), []float64{0.1, 0, -0.2}
	star, ok := rest.Reached(p)
	if !ok {
		t.Fatal("nothing reached")
	}
	const offset = 1e-4
	for _, mode := range rest.Modes(force.Stiffness(p, star.Logits)) {
		init := append([]float64(nil), star.Logits...)
		for a, d := range mode.Direction {
			init[a] += offset * d
		}
		j, scope := rest.ClosedForm(p, init)
		if j == nil || !scope.In {
			t.Fatalf("along a mode: %q", scope.Because)
		}
		kappa, j0 := 0.01*mode.Total, oracleReward(p, init)
		for i, x := range mapCurve(kappa, 0.9, 3000) {
			// The error is of first order in κ: about 1e-4 at κ = 1e-3, and so given within a factor of two.
			closeTo(t, "J along a mode", (j(float64(i))-star.Reward)/(j0-star.Reward), x, 0.2*kappa)
		}
	}
	init := append([]float64(nil), star.Logits...)
	for _, mode := range rest.Modes(force.Stiffness(p, star.Logits)) {
		for a, d := range mode.Direction {
			init[a] += offset * d
		}
	}
	if _, scope := rest.ClosedForm(p, init); scope.In || !scope.Because.Out() {
		t.Error("a start along no single mode is in scope")
	}
}

// The white-noise oscillator has Var z = N/(2γk), N = η² Var[2g_1] (docs/theory.md §4), and D/(GCK)
// is N/(γk); on-policy γ = 1 − μ. Numbers of §5: none, β = 0.5, G = 16.
func TestLeadingVariance(t *testing.T) {
	const rate, mu, lambda, noise = 0.02, 0.5, 0.1670956266, 1.195284019e-2
	p := bandit(option.NoScale, 0.5, 16)
	p.Lag, p.Optimizer = block(1), option.Optimizer{LearningRate: rate, Momentum: mu}
	got := rom.Predict(p)
	gap := rate * noise / (2 * (1 - mu) * lambda)
	j := 0.751551837
	share := (j - 0.2) / 0.7
	slope := share * (1 - share) * 0.7 // dJ/dz
	leading := got.LeadingOrder.StationaryVariance
	closeTo(t, "Var z", said(t, "Var z", leading.LogitGap), gap, 1e-8*gap)
	closeTo(t, "Var J", said(t, "Var J", leading.ExpectedReward), slope*slope*gap,
		1e-7*slope*slope*gap)
	paper := slope * slope * rate * noise / ((1 - mu) * lambda)
	closeTo(t, "the paper's Var J", said(t, "paper", got.RuleAtStiffness.RewardVariance), paper, 1e-7*paper)
}

// Nesterov's force acts as (1+μ)g_t − μg_{t−1} (docs/theory.md §4). With a delay
// τ and the whole force frozen its terms are, to second order in d/dt,
//
//	(1+μ)x_{t−τ} − μx_{t−1−τ} ≈ x + (μ−τ)x′ + ½(τ² − 2μτ − μ)x″,
//
// times k on the side of m, γ and k.
func TestOscillatorConstantsOfNesterov(t *testing.T) {
	for _, tau := range []float64{0, 1, 3, 8} {
		const rate, mu = 0.02, 0.7
		p := bandit(option.NoScale, 0.5, option.Infinite)
		p.Lag, p.Optimizer = delay(int(tau)),
			option.Optimizer{Kind: option.Nesterov, LearningRate: rate, Momentum: mu}
		got := rom.Predict(p)
		k := rate * 0.1586848975
		closeTo(t, "k", got.Oscillator.Spring, k, 1e-12)
		closeTo(t, "γ", got.Oscillator.Damping, 1-mu+k*(mu-tau), 1e-11)
		closeTo(t, "m", got.Oscillator.Mass, (1+mu)/2+k*(tau*tau-2*mu*tau-mu)/2, 1e-10)
	}
}

// The paper's ζ at its Figure 6, η = 0.30, μ = 0.80, K = 0.12: below 1 for every
// lag (docs/theory.md §9). It equals the damping ratio of the paper's rule and that of
// the reduced-order model for a frozen force under delay.
func TestPaperDampingRatio(t *testing.T) {
	for _, c := range []struct {
		tau  float64
		want float64
	}{{0, 0.556}, {1, 0.451}, {2, 0.342}, {4, 0.135}} {
		got := paper.DampingRatio(0.12, 0.3, 0.8, c.tau)
		printed(t, "ζ", got, c.want, 1e-3)
		p := rom.Predict(free(0.12, 0.3, 0.8, delay(int(c.tau))))
		closeTo(t, "ζ of the rule", said(t, "ζ of the rule", p.RuleAtStiffness.DampingRatio), got, 1e-12)
		closeTo(t, "ζ of the model", said(t, "ζ of the model", p.LeadingOrder.DampingRatio), got, 1e-12)
	}
	// For a block, too, the paper takes the age K_ref throughout.
	inBlock := rom.Predict(free(0.12, 0.3, 0.8, block(4)))
	closeTo(t, "ζ of a block", said(t, "ζ of a block", inBlock.RuleAtStiffness.DampingRatio),
		paper.DampingRatio(0.12, 0.3, 0.8, 4), 1e-12)
	if beyond := paper.DampingRatio(0.12, 0.3, 0.8, 6); beyond >= 0 {
		t.Errorf("ζ = %v beyond the threshold 5.56", beyond)
	}
}

// ζ = 1, as the paper truncates it, against the exact onset of oscillation
// (docs/theory.md §4, §9): κ at μ = 0.5, and η at K = 0.12, μ = 0.8.
func TestOnsetsOfTheDelayedOscillator(t *testing.T) {
	for _, c := range []struct {
		stiffness, mu    float64
		tau              float64
		truncated, exact float64
		unit             float64
	}{
		{1, .5, 0, .08333, .08579, 1e-5}, {1, .5, 1, .06155, .0625, 1e-5},
		{1, .5, 2, .04815, .0481, 5e-5}, {1, .5, 4, .0332, .0323, 1e-4}, {1, .5, 16, .0114, .0105, 1e-4},
		{.12, .8, 1, .0831, .0833, 1e-4}, {.12, .8, 4, .0627, .0624, 1e-4},
		{.12, .8, 16, .0305, .0291, 1e-4}, {.12, .8, 64, .0098, .0089, 1e-4},
	} {
		p := free(c.stiffness, 0.01, c.mu, delay(int(c.tau)))
		got := rom.Predict(p)
		onset := paper.Onset(c.mu, c.tau) / c.stiffness
		printed(t, "ζ = 1", onset, c.truncated, c.unit)
		closeTo(t, "ζ at it", paper.DampingRatio(c.stiffness, onset, c.mu, c.tau), 1, 1e-12)
		closeTo(t, "ζ = 1 of the rule", said(t, describe(p), got.RuleAtStiffness.OscillationLearningRate),
			onset, 1e-12*onset)
		closeTo(t, "ζ = 1 of the model", said(t, describe(p), got.LeadingOrder.OscillationLearningRate),
			onset, 1e-9*onset)
		printed(t, "exact onset", said(t, describe(p), got.Exact.OscillationLearningRate), c.exact, c.unit)
	}
}

// The paper's curve solves M e″ + C e′ + K e = 0 from rest, overdamped, critical,
// ringing and growing. Fourth-order differences with h = 0.1 at time scales of
// at least 1.5 steps: (h/1.5)⁴/90·6 of a curve of size 1 to 3, and 1e-16/h².
func TestPaperCurve(t *testing.T) {
	const start, end, h = 0.6, 1.4, 0.1
	for _, c := range []struct {
		stiffness, rate, mu, age float64
	}{
		{0.12, 0.05, 0.8, 1}, {0.12, paper.Onset(0.8, 1) / 0.12, 0.8, 1}, {0.12, 0.3, 0.8, 4},
		{0.12, 0.3, 0.8, 6}, {0.12, 0.3, 0.8, 0}, {0, 0.3, 0.8, 2}, {1, 0.3, 0, 12},
	} {
		e := paper.Curve(c.stiffness, c.rate, c.mu, c.age, start, end)
		tau, pull := c.age, c.stiffness*c.rate
		m, damping := (1+c.mu+pull*tau*tau)/(2*c.rate), (1-c.mu-pull*tau)/c.rate
		closeTo(t, "e(0)", e(0), start, 1e-15)
		closeTo(t, "rest", (e(1e-4)-start)/1e-4, 0, 1e-4)
		for _, at := range []float64{0.5, 3, 10} {
			first := (e(at-2*h) - 8*e(at-h) + 8*e(at+h) - e(at+2*h)) / (12 * h)
			second := (-e(at-2*h) + 16*e(at-h) - 30*e(at) + 16*e(at+h) - e(at+2*h)) / (12 * h * h)
			size := math.Abs(m*second) + math.Abs(damping*first) + math.Abs(c.stiffness*(e(at)-end)) + m*1e-8
			closeTo(t, "M e″ + C e′ + K e", m*second+damping*first+c.stiffness*(e(at)-end), 0, 2e-6*size)
		}
	}
	// Critical damping from rest: 1 − (1 + ωt)e^{−ωt}, its inflection at 1/ω.
	eta := paper.Onset(0.8, 0) / 0.12
	omega := math.Sqrt(2 * 0.12 * eta / 1.8)
	e := paper.Curve(0.12, eta, 0.8, 0, 0, 1)
	for _, at := range []float64{1, 1 / omega, 3 / omega} {
		closeTo(t, "critically damped", e(at), 1-(1+omega*at)*math.Exp(-omega*at), 1e-9)
	}
}

// The paper's own stiffness on the stand-in of docs/theory.md §9: K = 0.120 where the
// stiffest mode has 0.289, and so its K_ref* = 5.56 at η = 0.3, μ = 0.8 (facts of the
// paper's Figure 6). Two arms without scale have dJ/dt in closed form: with J* − J
// exponential at rate κ per step K is λ/(η(1+λ)), λ = −ln(1−κ), to the order of the gap.
func TestPaperStiffness(t *testing.T) {
	p := completions(option.Ratio, option.AtCurrent, delay(3))
	p.Optimizer = option.Optimizer{LearningRate: 0.3, Momentum: 0.8}
	k, scope := rest.PaperStiffness(p)
	if !scope.In {
		t.Fatal(scope.Because)
	}
	printed(t, "K", k, 0.120, 5e-4)
	got := rom.Predict(p)
	closeTo(t, "K of the rule", said(t, "K", got.PaperRule.Stiffness), k, 1e-14)
	printed(t, "K_ref*", said(t, "K_ref*", got.PaperRule.CriticalRefreshInterval), 5.54, 0.02)
	printed(t, "λ", said(t, "λ", got.RuleAtStiffness.Stiffness), 0.289, 1e-3)
	closeTo(t, "ζ", said(t, "ζ", got.PaperRule.DampingRatio), paper.DampingRatio(k, 0.3, 0.8, 3), 1e-14)
	closeTo(t, "ζ = 1", said(t, "onset", got.PaperRule.OscillationLearningRate), paper.Onset(0.8, 3)/k, 1e-14)

	// From a start close to the fixed point the slope is that of the slowest decay to
	// which J is linear: with two arms λ of the only mode.
	two := bandit(option.NoScale, 0.5, option.Infinite)
	point, _ := rest.Reached(two)
	two.Start = []float64{point.Logits[0] + 5e-5, point.Logits[1] - 5e-5}
	near, scope := rest.PaperStiffness(two)
	if !scope.In {
		t.Fatal(scope.Because)
	}
	rate := -math.Log1p(-0.01 * rom.Predict(two).Stiffness.Total)
	closeTo(t, "K near the fixed point", near, rate/(0.01*(1+rate)), 1e-4)
	// A run from the fixed point has no early slope, and so the rule no threshold.
	two.Start = point.Logits
	two.Lag, two.Optimizer = delay(1), option.Optimizer{LearningRate: 0.1}
	if at := rom.Predict(two); at.PaperRule.CriticalLearningRate != nil ||
		!at.PaperRule.Because.Out() || at.RuleAtStiffness.CriticalLearningRate == nil {
		t.Errorf("at the fixed point: %+v and %+v", at.PaperRule, at.RuleAtStiffness)
	}
	// The planted fault multiplies the force and so the slope.
	p.Factors.Stiffness = 1.1
	stiffer, _ := rest.PaperStiffness(p)
	if r := stiffer / k; r < 1.05 || r > 1.15 {
		t.Errorf("stiffness × 1.1 gives K × %v", r)
	}
}
