package rom

import (
	"fmt"
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/linear"
	"grposim/rom/path"
	"grposim/rom/rest"
	"grposim/rom/scope"
)

// approach returns, at the start of every period, half the difference in J of two mean fields of
// two arms that start at the distance x on either side of the fixed point.
func approach(p Params, x float64, periods int) []float64 {
	point, _ := rest.Reached(p)
	steps := p.Lag.StepsPerSnapshot()
	above := fieldRewards(p, []float64{point.Logits[0] + x, point.Logits[1] - x}, periods*steps)
	below := fieldRewards(p, []float64{point.Logits[0] - x, point.Logits[1] + x}, periods*steps)
	var half []float64
	for i := 0; i < len(above); i += steps {
		half = append(half, (above[i]-below[i])/2)
	}
	return half
}

// Relaxation rate and ζ of the mean field near its fixed point are the predicted ones. They follow
// from x_{n+2} = a x_{n+1} − b x_n, which holds with the two dominant multipliers once the others
// have decayed. At the offset 1e-5 the third derivative of the force leaves an error of 1e-10 and
// rounding 1e-11, divided by the decay until then and by the share of the second multiplier.
func TestRelaxationOfTheMeanField(t *testing.T) {
	for _, c := range []struct {
		name     string
		rate, mu float64
		method   option.Method
		lag      option.Lag
		from     int // periods
	}{
		{"on-policy, overdamped", 0.005, 0.8, option.HeavyBall, block(1), 0},
		{"on-policy, ringing", 0.3, 0.8, option.HeavyBall, block(1), 0},
		{"block, ringing", 0.1, 0.8, option.HeavyBall, block(5), 0},
		{"block, growing", 0.8, 0.8, option.HeavyBall, block(6), 0},
		{"nesterov", 0.3, 0.8, option.Nesterov, block(3), 0},
		{"delay, ringing", 0.1, 0.8, option.HeavyBall, delay(3), 25},
		{"delay, overdamped", 0.01, 0.8, option.HeavyBall, delay(3), 25},
		{"delay, growing", 0.3, 0.8, option.HeavyBall, delay(5), 25},
	} {
		p := reference(option.StdScale, 1.2, 16)
		p.Optimizer = option.Optimizer{Kind: c.method, LearningRate: c.rate, Momentum: c.mu}
		p.Lag = c.lag
		got := Predict(p).Exact
		x := approach(p, 1e-5, c.from+4)[c.from:]
		// a x_1 − b x_0 = x_2, a x_2 − b x_1 = x_3.
		det := x[0]*x[2] - x[1]*x[1]
		a, b := (x[0]*x[3]-x[1]*x[2])/det, (x[1]*x[3]-x[2]*x[2])/det
		disc := complex(a*a/4-b, 0)
		modulus := math.Sqrt(b)
		if real(disc) > 0 {
			modulus = a/2 + math.Sqrt(real(disc))
		}
		steps := float64(c.lag.StepsPerSnapshot())
		near(t, c.name+": relaxation", *got.RelaxationRate, -math.Log(modulus)/steps, 1e-5)
		ratio, ok := linear.DampingRatio(pair(a, b))
		if !ok || got.DampingRatio == nil {
			t.Errorf("%s: ζ %v, predicted %v", c.name, ratio, got.DampingRatio)
			continue
		}
		near(t, c.name+": ζ", *got.DampingRatio, ratio, 1e-5)
	}
}

// pair returns the zeros of z² − az + b.
func pair(a, b float64) []complex128 {
	disc := a*a/4 - b
	if disc < 0 {
		return []complex128{complex(a/2, math.Sqrt(-disc)), complex(a/2, -math.Sqrt(-disc))}
	}
	return []complex128{complex(a/2+math.Sqrt(disc), 0), complex(a/2-math.Sqrt(disc), 0)}
}

// Without momentum or lag there is one multiplier, 1 − κ.
func TestRelaxationWithoutMomentum(t *testing.T) {
	p := reference(option.NoScale, 0.5, option.Infinite)
	got := Predict(p)
	near(t, "rate", *got.Exact.RelaxationRate, -math.Log1p(-0.1*got.Stiffness.Total), 1e-12)
	near(t, "leading order", *got.LeadingOrder.RelaxationRate, 0.1*got.Stiffness.Total, 1e-12)
	if got.Exact.DampingRatio != nil {
		t.Errorf("ζ = %v of one multiplier", *got.Exact.DampingRatio)
	}
}

// Several arms relax by the slowest mode, and the reduced-order model's k/γ is
// that rate up to terms in κ/(1−μ)², here at most 0.01, and κā.
// Near a threshold the stiffest mode is the last to die out instead.
func TestRelaxationIsTheSlowestModes(t *testing.T) {
	p := reference(option.StdScale, 1.2, 32)
	p.Arms = []option.Arm{{Mean: 0.9}, {Mean: 0.2}, {Mean: 0.5}, {Mean: 0.7}}
	p.Reference = []float64{0, 0.5, 0, -0.3}
	for _, lag := range []option.Lag{block(1), block(4), delay(3)} {
		for _, mu := range []float64{0, 0.5, 0.9} {
			p.Lag = lag
			p.Optimizer.Momentum, p.Optimizer.LearningRate = mu, 1e-3
			stiffness := Predict(p).Stiffness
			p.Optimizer.LearningRate = 0.01 * (1 - mu) * (1 - mu) / stiffness.Total
			got := Predict(p)
			near(t, "k/γ of the slowest", *got.LeadingOrder.RelaxationRate, p.Optimizer.LearningRate*stiffness.Slowest/(1-mu), 0.01*linear.NewLag(&lag).Age(linear.MeanAge)+1e-12)
			near(t, "exact", *got.Exact.RelaxationRate, *got.LeadingOrder.RelaxationRate, 0.02)
			near(t, "the model's ζ", *got.LeadingOrder.DampingRatio, got.Oscillator.DampingRatio, 0)
			if lag.Kind == option.Delay {
				// γ of the stiffest mode alone is almost 0.
				p.Optimizer.LearningRate = 0.999 * *got.LeadingOrder.CriticalLearningRate
				late := Predict(p)
				near(t, "γ/2m", *late.LeadingOrder.RelaxationRate,
					late.Oscillator.Damping/(2*late.Oscillator.Mass), 1e-12)
			}
		}
	}
}

// Adam's linear dynamics relaxes at 4.737e-4 a step at G = 8 and 8.335e-4 at G = 32
// (docs/theory-neglected.md §6), less the thousandth by which the spread of the runs and the
// skewness of the force slow it, and as √G·√(1 + O(1/G)) beyond.
func TestRelaxationOfAdam(t *testing.T) {
	p := reference(option.NoScale, 0.5, 8)
	p.Optimizer = option.Optimizer{Kind: option.Adam, LearningRate: 2e-4, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-12}
	rate := func(size int) float64 {
		p.GroupSize = size
		got := Predict(p)
		if got.Exact.RelaxationRate != nil || got.LeadingOrder.RelaxationRate == nil {
			t.Fatalf("G = %d: %v exactly, %v to leading order", size, got.Exact.RelaxationRate,
				got.LeadingOrder.RelaxationRate)
		}
		return *got.LeadingOrder.RelaxationRate
	}
	near(t, "G = 8", rate(8), 4.737e-4, 2e-3)
	near(t, "G = 32", rate(32), 8.335e-4, 2e-3)
	// At larger rates the heavy ball's own −ln(1 − κ/(1−μ)) adds κ/2.
	near(t, "√G", rate(4096)/rate(1024), 2, 2.0/1024+rate(4096)*10)
}

// Where the second order is not derived, as under a delay, what Adam's rate neglects is at least
// 3(1−β2) of it, 3 the least bound on the kurtosis of a force, and grows as the share of the groups
// that exert one falls (docs/theory-neglected.md §6). The damping ratio neglects the same share.
func TestAdamNeglectsItsSecondMoment(t *testing.T) {
	p := reference(option.NoScale, 0.5, 32)
	p.Optimizer = option.Optimizer{Kind: option.Adam, LearningRate: 2e-4, Beta1: 0.9, Beta2: 0.98}
	p.Lag = delay(1)
	share := func() float64 {
		got := Predict(p)
		rate, ratio := *got.LeadingOrder.RelaxationRate, *got.LeadingOrder.DampingRatio
		of := got.Neglected.RelaxationRate / rate
		near(t, "share of the damping ratio", got.Neglected.DampingRatio/ratio, of, 1e-12)
		return of
	}
	// The mean force adds (λ/2)²Var z/Var g_1 = ηλ/(2√Var g_1) times 0.98 at most.
	near(t, "32 samples", share(), 0.06, 0.05)
	p.GroupSize = 4
	j := Predict(p).FixedPoint.Reward
	equal := math.Pow(j, 4) + math.Pow(1-j, 4)
	atLeast := func(what string, got float64) {
		if least := 0.06 / (1 - equal); !(got >= least && got < 1.5*least) {
			t.Errorf("%s, with a share %.3g of equal groups: neglects %.3g, want %.3g to %.3g", what, equal,
				got, least, 1.5*least)
		}
	}
	atLeast("decay", share())
	p.Optimizer.LearningRate, p.Lag = 5, delay(20)
	if p := Predict(p); !p.Noise.Because.Is(scope.AdamEscapes) {
		t.Errorf("far beyond the critical rate: %+v, neglects %+v", p.Noise, p.Neglected)
	}
}

// Half the difference of two mean fields from either side of the fixed point is
// ∇J·x_t with the deviation x_t. Of an offset of 1e-5 the third derivative of the force
// leaves 1e-9 of it and rounding 1e-11, while x decays by less than a thousand.
func TestDeviationsOfTheMeanField(t *testing.T) {
	for _, method := range []option.Method{option.HeavyBall, option.Nesterov} {
		for _, lag := range []option.Lag{block(1), block(3), delay(0), delay(1), delay(4)} {
			p := reference(option.StdScale, 1.2, 16)
			p.Arms = append(p.Arms, option.Arm{Law: option.Bernoulli, Mean: 0.5})
			p.Reference = []float64{0.3, 0, -0.2}
			p.Importance.Mode, p.KL.At = option.Ratio, option.AtCurrent
			p.Optimizer = option.Optimizer{Kind: method, LearningRate: 0.2, Momentum: 0.6}
			p.Lag = lag
			point, _ := rest.Reached(p)
			start := []float64{1e-5, -4e-6, -6e-6}
			side := func(sign float64) []float64 {
				init := make([]float64, 3)
				for a, x := range start {
					init[a] = point.Logits[a] + sign*x
				}
				return fieldRewards(p, init, 40)
			}
			above, below := side(1), side(-1)
			step := 0
			for x := range path.Deviations(p, point.Logits, start) {
				want := (above[step] - below[step]) / 2
				got := 0.0
				for a, pi := range point.Policy {
					got += pi * (p.Arms[a].Mean - point.Reward) * x[a]
				}
				if math.Abs(got-want) > 1e-14 {
					t.Errorf("%v, lag %v, step %d: ∇J·x = %g, want %g", method, lag, step, got, want)
				}
				if step++; step == len(above) {
					break
				}
			}
		}
	}
}

// The pair moments are those of the list of all groups, sample by sample, of up to three arms and
// four samples.
func TestAdamPairMomentsByEnumeration(t *testing.T) {
	for _, size := range []int{2, 3, 4} {
		for _, means := range [][]float64{{0.9, 0.2}, {0.7, 0.4, 0.1}} {
			for name, change := range map[string]func(*Params){
				"none": func(p *Params) { p.Advantage.Scale = option.NoScale },
				"std":  func(p *Params) { p.Advantage.Epsilon = 1e-3 },
				"leave-one-out": func(p *Params) {
					p.Advantage.Scale, p.Advantage.Baseline = option.NoScale,
						option.LeaveOneOut
				},
				"ratio, k2": func(p *Params) {
					p.Importance.Mode, p.KL.Gradient = option.Ratio, option.K2
				},
				"three values": func(p *Params) {
					p.Arms[0], p.Importance.Mode = option.Arm{Law: option.Constant, Mean: 1.7}, option.VESPO
					p.Importance.Power = option.Signed{Positive: 2, Negative: 3}
					p.Importance.Decay = option.Signed{Positive: 3, Negative: 2}
				},
				"k3 at the snapshot": func(p *Params) { p.KL.Gradient, p.KL.At = option.K3, option.AtSnapshot },
			} {
				p := Params{Estimator: option.Estimator{GroupSize: size, KL: option.KL{Coefficient: 0.3}}}
				theta, old := []float64{0.3, -0.2, 0.5}[:len(means)], []float64{0.1, 0.2, -0.4}[:len(means)]
				for _, m := range means {
					p.Arms = append(p.Arms, option.Arm{Law: option.Bernoulli, Mean: m})
				}
				change(&p)
				p = p.Checked()
				m := force.New(&p)
				m.Set(theta, old)
				arms := len(means)
				got, _ := m.Joint(forceOf(m))
				moments := enumeratedMoments(&p, theta, old)
				for a := range means {
					for b := range means {
						where := fmt.Sprintf("%s, G = %d, %d arms, (%d, %d): ", name, size, len(means), a, b)
						for _, x := range []struct {
							what      string
							got, want float64
						}{
							{"Cov(g_a, g_b)", got[a][b], moments[0][a][b]},
							{"Cov(g_a, g_b²)", got[a][arms+b], moments[1][a][b]},
							{"Cov(g_a², g_b²)", got[arms+a][arms+b], moments[2][a][b]},
						} {
							if math.Abs(x.got-x.want) > 1e-13 {
								t.Errorf("%s%s = %.15g, groups one by one have %.15g", where, x.what, x.got, x.want)
							}
						}
					}
				}
			}
		}
	}
}

func forceOf(m *force.Model) []float64 {
	force := make([]float64, len(m.Arms))
	m.MeanForce(force)
	return force
}

// enumeratedMoments returns Cov(g_a, g_b), Cov(g_a, g_b²) and Cov(g_a², g_b²) over all groups.
func enumeratedMoments(p *Params, theta, old []float64) (moments [3][][]float64) {
	arms := len(p.Arms)
	past := make([]float64, arms)
	cell.Softmax(past, old)
	var chances []float64
	var forces [][]float64
	group := make([]sample, p.GroupSize)
	var walk func(n int, chance float64)
	walk = func(n int, chance float64) {
		if n == len(group) {
			chances, forces = append(chances, chance), append(forces, sampledForce(*p, theta, old, group))
			return
		}
		for a, arm := range p.Arms {
			if arm.Law == option.Constant {
				group[n] = sample{a, arm.Mean}
				walk(n+1, chance*past[a])
				continue
			}
			group[n] = sample{a, 1}
			walk(n+1, chance*past[a]*arm.Mean)
			group[n] = sample{a, 0}
			walk(n+1, chance*past[a]*(1-arm.Mean))
		}
	}
	walk(0, 1)
	mean, square := make([]float64, arms), make([]float64, arms)
	for i, g := range forces {
		for a, x := range g {
			mean[a] += chances[i] * x
			square[a] += chances[i] * x * x
		}
	}
	for k := range moments {
		moments[k] = make([][]float64, arms)
		for a := range arms {
			moments[k][a] = make([]float64, arms)
		}
	}
	for i, g := range forces {
		for a, x := range g {
			for b, y := range g {
				moments[0][a][b] += chances[i] * (x - mean[a]) * (y - mean[b])
				moments[1][a][b] += chances[i] * (x - mean[a]) * (y*y - square[b])
				moments[2][a][b] += chances[i] * (x*x - square[a]) * (y*y - square[b])
			}
		}
	}
	return moments
}

// Two sets of numbers that another program computed, of two arms: F, E g², Var g, Cov(g, g²) and
// Var g².
func TestAdamPairMomentsKnown(t *testing.T) {
	for _, c := range []struct {
		scale       option.Scale
		size, steps int
		beta, z     float64
		want        [5]float64
	}{
		{option.NoScale, 8, 1, 0.5, 1,
			[5]float64{0.022118842, 0.005925049, 0.005435805, 1.36387e-4, 3.989e-5}},
		{option.StdScale, 8, 4, 0.3, 0.7,
			[5]float64{0.253007091, 0.069408904, 0.005396316, 0.002574940, 0.001282550}},
	} {
		p := Params{
			Arms: []option.Arm{{Law: option.Bernoulli, Mean: 0.9}, {Law: option.Bernoulli, Mean: 0.2}},
			Estimator: option.Estimator{
				GroupSize: c.size, GroupsPerStep: c.steps, Advantage: option.Advantage{Scale: c.scale},
				KL: option.KL{Coefficient: c.beta},
			},
		}
		p = p.Checked()
		m := force.New(&p)
		theta := []float64{c.z / 2, -c.z / 2}
		m.Set(theta, theta)
		force := forceOf(m)
		all, _ := m.Joint(force)
		v := all[0][0]
		for i, got := range [5]float64{force[0], force[0]*force[0] + v, v, all[0][2], all[2][2]} {
			if math.Abs(got-c.want[i]) > 1e-4*c.want[i] {
				t.Errorf("scale %v, number %d is %.9g, want %.9g", c.scale, i, got, c.want[i])
			}
		}
	}
}
