package rom

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"grposim/option"
)

// path returns J at t = 0 … steps of the mean field.
func path(p Params, init []float64, steps int) []float64 {
	var rewards []float64
	m := newModel(&p)
	MeanField(p, init, steps, func(_ int, theta []float64) { rewards = append(rewards, m.expected(theta)) })
	return rewards
}

// From a small offset the mean field follows the linear map: it decays by the spectral
// radius per period. The offset 1e-6 leaves relative errors of its own size, and
// rounding relative to it 1e-10.
func TestMeanFieldDecaysByTheDominantMultiplier(t *testing.T) {
	for _, method := range []option.Method{option.HeavyBall, option.Nesterov} {
		for _, lag := range []option.Lag{{Kind: option.Block, Interval: 1}, {Kind: option.Block, Interval: 4}, {Kind: option.Delay, Interval: 3}} {
			p := reference(option.StdScale, 1.2, 16)
			p.KL.At, p.Importance.Mode = option.AtCurrent, option.NoImportance
			p.Optimizer = option.Optimizer{Kind: method, LearningRate: 0.05, Momentum: 0.5}
			p.Lag = lag
			d := Predict(p)
			if d.Exact.Multipliers[0][1] != 0 {
				t.Fatal("the dominant multiplier is complex, want a cell where it is real")
			}
			const x = 1e-6
			init := []float64{d.FixedPoint.Logits[0] + x, d.FixedPoint.Logits[1] - x}
			period := 12
			rewards := path(p, init, 20*period)
			steps := 1.0
			if lag.Kind == option.Block {
				steps = float64(lag.Interval)
			}
			// The other multipliers have died out after 10 periods of 12 steps.
			a, b := rewards[10*period]-d.FixedPoint.Reward, rewards[20*period]-d.FixedPoint.Reward
			rate := math.Log(b/a) / float64(10*period) * steps
			near(t, "log multiplier", rate, math.Log(*d.Exact.SpectralRadius), 1e-5)
		}
	}
}

// The reduced-order model's closed form, started half a step early, misses the
// map at μ = .9, κ = 1e-3 by about 1e-4 of the displacement (docs/theory.md
// §4); started at t = 0, by half a step of its greatest speed, which is just
// below k/γ = 1e-2.
func TestClosedFormStartsHalfAStepEarly(t *testing.T) {
	p := reference(option.NoScale, 0.5, option.Infinite)
	lambda := Predict(p).Stiffness.Total
	p.Optimizer = option.Optimizer{LearningRate: 1e-3 / lambda, Momentum: 0.9}
	point, _ := Reached(p)
	const x = 1e-4
	init := []float64{point.Logits[0] + x, point.Logits[1] - x}
	j, scope := ClosedForm(p, init)
	if !scope.In {
		t.Fatal(scope)
	}
	rewards := path(p, init, 1000)
	early, plain := 0.0, 0.0
	span := rewards[0] - point.Reward
	for step, reward := range rewards {
		early = max(early, math.Abs(j(float64(step))-reward)/math.Abs(span))
		plain = max(plain, math.Abs(j(float64(step)-0.5)-reward)/math.Abs(span))
	}
	// The displacement's own curvature adds its size, 1e-4.
	if early > 3e-4 || plain < 3e-3 || plain > 5e-3 {
		t.Errorf("misses by %v, without the half step by %v", early, plain)
	}
}

// The response is the same function through all three regimes: it satisfies
// m x″ + γ x′ + k x = 0 from x = 1, x′ = 0. Differences of step h err by h².
func TestResponseSolvesItsEquation(t *testing.T) {
	for _, o := range []Oscillator{
		{Mass: 1, Damping: 0.5, Spring: 0.01}, {Mass: 1, Damping: 0.2, Spring: 0.01},
		{Mass: 1, Damping: 0.05, Spring: 0.01}, {Mass: 1, Damping: 0.2 * (1 + 1e-9), Spring: 0.01},
	} {
		const h = 1e-2
		for _, at := range []float64{0.5, 3, 40} {
			x, before, after := o.response(at), o.response(at-h), o.response(at+h)
			force := o.Mass*(after-2*x+before)/(h*h) + o.Damping*(after-before)/(2*h) + o.Spring*x
			if math.Abs(force) > h*h {
				t.Errorf("%+v at %v: residual %v", o, at, force)
			}
		}
		near(t, "start", o.response(0), 1, 1e-15)
		if slope := (o.response(1e-6) - 1) / 1e-6; math.Abs(slope) > 1e-7 {
			t.Errorf("%+v starts with velocity %v", o, slope)
		}
	}
}

// A schedule follows its formula at the ends of warmup and decay.
func TestRateOfASchedule(t *testing.T) {
	o := option.Optimizer{LearningRate: 2, Schedule: option.Schedule{Kind: option.CosineDecay, Warmup: 4, Total: 12}}
	for _, c := range []struct {
		t    int
		want float64
	}{{0, 0.5}, {3, 2}, {4, 2}, {8, 1}, {12, 0}, {40, 0}} {
		if got := rateAt(&o, c.t); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("cosine at %d: %v, want %v", c.t, got, c.want)
		}
	}
	o.Schedule.Kind = option.LinearDecay
	if got := rateAt(&o, 6); got != 1.5 {
		t.Errorf("linear at 6: %v", got)
	}
}

// Adam near its fixed point is a heavy ball (docs/theory-neglected.md §6), of the bandit
// of §5 without scale at η = 2e-4: it relaxes by 4.737e-4 a step at G = 8 and
// 8.335e-4 at G = 32 (less the thousandth by which the spread of the runs slows it), and Var z = 2η√Var g_1/λ to first
// order in κ, which with momentum 0.9 counts ten- to hundredfold.
func TestAdamIsAHeavyBall(t *testing.T) {
	for _, c := range []struct {
		size       int
		relaxation float64
	}{{8, 4.737e-4}, {32, 8.335e-4}} {
		p := reference(option.NoScale, 0.5, c.size)
		p.Optimizer = option.Optimizer{Kind: option.Adam, LearningRate: 2e-4, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
		got := Predict(p)
		if got.Exact.Scope.In || !got.Noise.In || !got.LeadingOrder.Scope.In {
			t.Errorf("scopes %+v", got)
		}
		near(t, "relaxation", -math.Log(*got.LeadingOrder.SpectralRadius), c.relaxation, 2e-3)
		formula := 2 * p.Optimizer.LearningRate * math.Sqrt(got.GradientVariance/4) / got.Stiffness.Total
		near(t, "Var z", *got.LeadingOrder.StationaryVariance.LogitGap, formula, 100*(1-p.Optimizer.Beta1)*c.relaxation)
	}
}

// Adam divides by the root of E[g²], so the noise of a group slows it down.
func TestAdamMeanFieldFeelsNoise(t *testing.T) {
	p := reference(option.NoScale, 0.5, 8)
	p.Optimizer = option.Optimizer{Kind: option.Adam, LearningRate: 1e-3, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
	quiet := p
	quiet.GroupSize = option.Infinite
	noisy, exact := path(p, []float64{0, 0}, 100), path(quiet, []float64{0, 0}, 100)
	if kind, _ := MeanField(quiet, []float64{0, 0}, 1, func(int, []float64) {}); kind != Exact {
		t.Errorf("kind at G = ∞: %v", kind)
	}
	if kind, _ := MeanField(p, []float64{0, 0}, 1, func(int, []float64) {}); kind != LeadingOrder {
		t.Errorf("kind at finite G: %v", kind)
	}
	if !(noisy[100]-noisy[0] < exact[100]-exact[0]) {
		t.Errorf("noise does not slow Adam: %v against %v", noisy[100], exact[100])
	}
}

// A learning rate near the largest number makes the logits overflow on the first step
// with a force. All logits visited before are finite, and the scope says where the
// run ended. No probability may be NaN on the way, at which binomial would panic.
func TestMeanFieldStopsWhereNumbersEnd(t *testing.T) {
	for _, method := range []option.Method{option.HeavyBall, option.Nesterov, option.Adam} {
		p := reference(option.StdScale, 100, 8)
		p.Reference = []float64{1, 0}
		p.Optimizer = option.Optimizer{Kind: method, LearningRate: 1.7e308, Momentum: 0.9, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
		visited := 0
		_, scope := MeanField(p, []float64{0, 0}, 1000, func(step int, theta []float64) {
			if step != visited {
				t.Fatalf("%v: step %d after %d steps", method, step, visited)
			}
			visited++
			for _, x := range theta {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Fatalf("%v: logits %v at step %d", method, theta, step)
				}
			}
		})
		want := fmt.Sprintf("the mean field leaves the range of floating point at step %d", visited)
		if scope.In || scope.Because.String() != want || visited == 0 || visited > 10 {
			t.Errorf("%v: %+v after %d steps", method, scope, visited)
		}
	}
	visited := 0
	if _, scope := MeanField(reference(option.StdScale, 1.2, 8), []float64{0, 0}, 5, func(int, []float64) { visited++ }); !scope.In || visited != 6 {
		t.Errorf("a run without overflow: %+v, %d of 6 visits", scope, visited)
	}
	huge := reference(option.StdScale, 1e-9, option.Infinite)
	huge.Reference = []float64{0, 1e200} // the first force is β/4 of it
	if _, scope := MeanField(huge, []float64{0, 0}, 5, func(int, []float64) {}); scope.In {
		t.Error("a force whose square overflows is in scope")
	}
	// The mean square of J − J_0 overflows, although the advantages are of order 1.
	rewards := reference(option.StdScale, 1.2, option.Infinite)
	for size, in := range map[float64]bool{1e149: true, 1e200: false} {
		rewards.Arms = []option.Arm{{Law: option.Normal, Mean: size, Std: 1}, {Law: option.Normal, Std: 1}}
		if _, scope := MeanField(rewards, []float64{0, 0}, 5, func(int, []float64) {}); scope.In != in {
			t.Errorf("rewards of %g: %+v", size, scope)
		}
	}
}

// A delay as long as the run keeps π_old at the start, as any longer delay and
// a block without a refresh do. Of 20 steps the last is the first with another
// snapshot at a delay of 18.
func TestDelayLongerThanTheRun(t *testing.T) {
	p := reference(option.StdScale, 1.2, 8)
	end := func(lag option.Lag) float64 {
		p.Lag = lag
		rewards := path(p, []float64{0.5, 0}, 20)
		return rewards[len(rewards)-1]
	}
	want := end(option.Lag{Kind: option.Block, Interval: 20})
	for _, age := range []int{19, 20, 21, 1 << 53} {
		if got := end(option.Lag{Kind: option.Delay, Interval: age}); got != want {
			t.Errorf("delay %d ends at %v, the first snapshot at %v", age, got, want)
		}
	}
	if end(option.Lag{Kind: option.Delay, Interval: 18}) == want {
		t.Error("the snapshot never changes at a delay of 18 in 20 steps")
	}
}

// From any start the flow of two arms ends in the fixed point on its side of the
// unstable one: of the bandit of docs/theory.md §3 with fixed points 1.174, 4.516 and
// 7.733, and of one whose penalty pulls down from the start.
func TestReachedFromAStart(t *testing.T) {
	p := reference(option.StdScale, 2, 256)
	p.Arms = []option.Arm{{Law: option.Constant, Mean: 1, Std: 0}, {Law: option.Constant, Mean: 0, Std: 0}}
	for _, c := range []struct{ start, want float64 }{{0, 1.174}, {4.4, 1.174}, {-8, 1.174}, {4.6, 7.733}, {6, 7.733}, {12, 7.733}} {
		p.Start = []float64{c.start / 2, -c.start / 2}
		point, ok := Reached(p)
		if z := 2 * point.Logits[0]; !ok || math.Abs(z-c.want) > 1e-3 {
			t.Errorf("from %v: z = %v, want %v", c.start, z, c.want)
		}
	}
	p.GroupSize = option.Infinite // without the upper fixed point
	p.Start = []float64{3, -3}
	if point, ok := Reached(p); ok {
		t.Errorf("from 6 at G = ∞: %+v, want none", point)
	}
}

// Of several arms, with equal arms that start apart, the fixed point is that in which
// small on-policy steps end, up to what 20,000 of them leave of the slowest mode.
func TestReachedWithSeveralArms(t *testing.T) {
	p := reference(option.StdScale, 2, 256)
	p.Arms = []option.Arm{{Law: option.Constant, Mean: 1, Std: 0}, {Law: option.Constant, Mean: 1, Std: 0}, {Law: option.Constant, Mean: 0, Std: 0}, {Law: option.Constant, Mean: 0, Std: 0}}
	p.Reference = nil
	p.Optimizer = option.Optimizer{LearningRate: 0.5}
	seen := make(map[float64]bool)
	for _, start := range [][]float64{{0, 0, 0, 0}, {1, 0, 0, -1}, {5, 5, -4, -3}, {4, 2, -3, -3}} {
		p.Start = start
		point, ok := Reached(p)
		rewards := path(p.checked(), start, 20_000)
		if !ok || math.Abs(point.Reward-rewards[len(rewards)-1]) > 1e-5 {
			t.Errorf("from %v: J = %v, small steps end at %v", start, point.Reward, rewards[len(rewards)-1])
		}
		seen[math.Round(100*point.Reward)] = true
	}
	if len(seen) != 2 {
		t.Errorf("the starts reach %v, want two fixed points", seen)
	}
}

// Of the way from a small offset x, (1−κ)^t is left after t steps, with κ = ηλ, on
// average over the steps counted. A schedule that ends early leaves it where it was, and
// another attractor is out of scope.
func TestUnsettled(t *testing.T) {
	p := reference(option.StdScale, 1.2, option.Infinite)
	p.Optimizer = option.Optimizer{LearningRate: 0.05}
	at := Predict(p)
	const x, from, to = 1e-4, 30, 90
	init := []float64{at.FixedPoint.Logits[0] + x, at.FixedPoint.Logits[1] - x}
	q := at.FixedPoint.Policy
	first := 2 * x * q[0] * q[1] * 0.7
	rho := 1 - 0.05*at.Stiffness.Total
	want := first * (math.Pow(rho, from) - math.Pow(rho, to)) / (1 - rho) / (to - from)
	left, within := new(Settled).Unsettled(p, &at, init, from, to)
	if !within.In {
		t.Fatal(within)
	}
	near(t, "left of J", left.RewardMean, want, 1e-3) // the curvature of J adds x
	p.Optimizer.Schedule.Kind, p.Optimizer.Schedule.Total = option.LinearDecay, 1
	left, _ = new(Settled).Unsettled(p, &at, init, from, to)
	near(t, "left after a decay", left.RewardMean, first*rho, 1e-3)
	if _, within := new(Settled).Unsettled(p, &at, []float64{at.FixedPoint.Logits[0] + 2, at.FixedPoint.Logits[1] - 2}, from, to); within.In || !strings.Contains(within.Because.String(), "logits away") {
		t.Errorf("a run that stays away: %+v", within)
	}
}
