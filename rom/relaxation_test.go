package rom

import (
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/linear"
	"grposim/rom/path"
	"grposim/rom/rest"
	"grposim/rom/scope"
)

// approach returns, at the start of every period, half the difference in J of two
// mean fields of two arms that start at the distance x on either side of the fixed
// point.
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

// Relaxation rate and ζ of the mean field near its fixed point are the predicted
// ones. They follow from x_{n+2} = a x_{n+1} − b x_n, which holds with the two dominant
// multipliers once the others have decayed. At the offset 1e-5 the third derivative
// of the force leaves an error of 1e-10 and rounding 1e-11, divided by the decay until
// then and by the share of the second multiplier.
func TestRelaxationOfTheMeanField(t *testing.T) {
	for _, c := range []struct {
		name     string
		rate, mu float64
		method   option.Method
		lag      option.Lag
		from     int // periods
	}{
		{"on-policy, overdamped", 0.005, 0.8, option.HeavyBall, option.Lag{Kind: option.Block, Interval: 1}, 0},
		{"on-policy, ringing", 0.3, 0.8, option.HeavyBall, option.Lag{Kind: option.Block, Interval: 1}, 0},
		{"block, ringing", 0.1, 0.8, option.HeavyBall, option.Lag{Kind: option.Block, Interval: 5}, 0},
		{"block, growing", 0.8, 0.8, option.HeavyBall, option.Lag{Kind: option.Block, Interval: 6}, 0},
		{"nesterov", 0.3, 0.8, option.Nesterov, option.Lag{Kind: option.Block, Interval: 3}, 0},
		{"delay, ringing", 0.1, 0.8, option.HeavyBall, option.Lag{Kind: option.Delay, Interval: 3}, 25},
		{"delay, overdamped", 0.01, 0.8, option.HeavyBall, option.Lag{Kind: option.Delay, Interval: 3}, 25},
		{"delay, growing", 0.3, 0.8, option.HeavyBall, option.Lag{Kind: option.Delay, Interval: 5}, 25},
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
	for _, lag := range []option.Lag{{Kind: option.Block, Interval: 1}, {Kind: option.Block, Interval: 4}, {Kind: option.Delay, Interval: 3}} {
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
				near(t, "γ/2m", *late.LeadingOrder.RelaxationRate, late.Oscillator.Damping/(2*late.Oscillator.Mass), 1e-12)
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
			t.Fatalf("G = %d: %v exactly, %v to leading order", size, got.Exact.RelaxationRate, got.LeadingOrder.RelaxationRate)
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
	p.Lag = option.Lag{Kind: option.Delay, Interval: 1}
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
			t.Errorf("%s, with a share %.3g of equal groups: neglects %.3g, want %.3g to %.3g", what, equal, got, least, 1.5*least)
		}
	}
	atLeast("decay", share())
	p.Optimizer.LearningRate, p.Lag = 5, option.Lag{Kind: option.Delay, Interval: 20}
	if p := Predict(p); !p.Noise.Because.Is(scope.AdamEscapes) {
		t.Errorf("far beyond the critical rate: %+v, neglects %+v", p.Noise, p.Neglected)
	}
}

// Half the difference of two mean fields from either side of the fixed point is
// ∇J·x_t with the deviation x_t. Of an offset of 1e-5 the third derivative of the force
// leaves 1e-9 of it and rounding 1e-11, while x decays by less than a thousand.
func TestDeviationsOfTheMeanField(t *testing.T) {
	for _, method := range []option.Method{option.HeavyBall, option.Nesterov} {
		for _, lag := range []option.Lag{{Kind: option.Block, Interval: 1}, {Kind: option.Block, Interval: 3}, {Kind: option.Delay, Interval: 0}, {Kind: option.Delay, Interval: 1}, {Kind: option.Delay, Interval: 4}} {
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
