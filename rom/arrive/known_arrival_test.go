package arrive

import (
	"math"
	"strings"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/rest"
	"grposim/rom/scope"
)

// basin is two Bernoulli arms, G = B = 8, k3, with a heavy ball.
func basin(change func(p *cell.Params)) cell.Params {
	p := cell.Params{
		Arms: []option.Arm{{Law: option.Bernoulli, Mean: 0.9}, {Law: option.Bernoulli, Mean: 0.2}},
		Estimator: option.Estimator{
			GroupSize: 8, GroupsPerStep: 8,
			Advantage: option.Advantage{Std: option.SampleStd, Epsilon: 1e-4},
			KL:        option.KL{Coefficient: 0.04, Gradient: option.K3},
		},
		Lag: option.Lag{Interval: 1}, Optimizer: option.Optimizer{LearningRate: 0.4, Momentum: 0.9},
	}
	change(&p)
	return p
}

// row returns that of a mechanism; nil: there is none.
func (a Prediction) row(of Mechanism) *Row {
	for i := range a.Rows {
		if a.Rows[i].Mechanism == of {
			return &a.Rows[i]
		}
	}
	return nil
}

// The shares of 200 to 500 simulated runs that end on the worse arm, from another program, say
// where the flag has to stand.
func TestArrivalOfKicks(t *testing.T) {
	rate := func(x float64) func(
		*cell.Params) {
		return func(p *cell.Params) { p.Optimizer.LearningRate = x }
	}
	for _, c := range []struct {
		name   string
		change func(*cell.Params)
		steps  int
		lost   float64
	}{
		{"η 0.2", rate(0.2), 3000, 0}, {"η 0.25", rate(0.25), 3000, 0}, {"η 0.3", rate(0.3), 3000, 0.12},
		{"η 0.4", rate(0.4), 3000, 0.62},
		{"η 0.5", rate(0.5), 3000, 0.65}, {"η 0.8", rate(0.8), 3000, 0.23},
		{"η 0.8, short", rate(0.8), 300, 0.06}, {"η 0.8, long", rate(0.8), 30000, 0.68},
		{"short warm-up", func(p *cell.Params) { p.Optimizer.Schedule.Warmup = 10 }, 3000, 0.47},
		{"warm-up", func(p *cell.Params) { p.Optimizer.Schedule.Warmup = 20 }, 3000, 0.59},
		{"long warm-up", func(p *cell.Params) { p.Optimizer.Schedule.Warmup = 100 }, 3000, 0},
		{"largest norm", func(p *cell.Params) { p.Optimizer.MaxNorm = 3 }, 3000, 0},
		{"norm", func(p *cell.Params) { p.Optimizer.MaxNorm = 4 }, 3000, 0.01},
		{"larger norm", func(p *cell.Params) { p.Optimizer.MaxNorm = 6 }, 3000, 0.61},
		{"batch", func(p *cell.Params) { p.GroupsPerStep = 32 }, 3000, 0.01},
		{"momentum", func(p *cell.Params) { p.Optimizer.Momentum = 0.8 }, 3000, 0},
		{"the worse arm first", func(p *cell.Params) { p.Arms[0], p.Arms[1] = p.Arms[1], p.Arms[0] },
			3000, 0.62},
	} {
		a := Predict(basin(c.change), []float64{0, 0}, c.steps)
		kicks, spread := a.row(K3Kicks), a.row(SpreadAtRest)
		if len(a.Rows) != 2 || kicks.Flag != (c.lost > 0) && c.lost != 0.01 || spread.Flag ||
			a.Lost.Out() != kicks.Flag || a.Lost.Value != 0 {
			t.Errorf("%s: %+v, simulated %g", c.name, a, c.lost)
		}
	}
}

// u₂ solves c e^u = 2u, from where on throwsAcross holds.
func TestCrossing(t *testing.T) {
	for _, c := range []struct{ c, want float64 }{{0.8, 0}, {0, math.Inf(1)}, {5e-4, 10.6606}} {
		if got := crossing(c.c); !(math.Abs(got-c.want) < 1e-3) && got != c.want {
			t.Errorf("c = %g: u₂ = %g, want %g", c.c, got, c.want)
		}
	}
	for _, c := range []float64{1e-9, 1e-3, 0.1, 0.7357} {
		if u := crossing(c); throwsAcross(c, u-1e-6) || !throwsAcross(c, u+1e-6) {
			t.Errorf("c = %g: u₂ = %g is no boundary", c, u)
		}
	}
}

// locked is two Bernoulli arms without a penalty, on-policy.
func locked(best, other float64, g, b int, scale option.Scale, rate float64) cell.Params {
	return cell.Params{
		Arms: []option.Arm{{Law: option.Bernoulli, Mean: best},
			{Law: option.Bernoulli, Mean: other}},
		Estimator: option.Estimator{GroupSize: g, GroupsPerStep: b,
			Advantage: option.Advantage{Scale: scale}},
		Lag: option.Lag{Interval: 1}, Optimizer: option.Optimizer{LearningRate: rate},
	}
}

// The value of the flag is within a factor of three of the shares of 4,000 runs of 3,000 steps that
// package sim gave.
func TestArrivalOfLocking(t *testing.T) {
	for _, c := range []struct {
		p    cell.Params
		lost float64
	}{
		{locked(0.55, 0.45, 8, 1, option.StdScale, 2), 0.0032},
		{locked(0.55, 0.45, 8, 1, option.StdScale, 4), 0.0357},
		{locked(0.55, 0.45, 8, 1, option.StdScale, 8), 0.1285},
		{locked(0.55, 0.45, 8, 1, option.StdScale, 16), 0.2485},
		{locked(0.55, 0.45, 2, 1, option.NoScale, 1), 0.0065},
		{locked(0.55, 0.45, 2, 1, option.NoScale, 4), 0.1680},
		{locked(0.6, 0.4, 8, 1, option.StdScale, 8), 0.0170},
		{locked(0.55, 0.45, 8, 8, option.StdScale, 64), 0.0767},
		{locked(1, 0, 8, 1, option.StdScale, 16), 0},
	} {
		a := Predict(c.p, []float64{0, 0}, 3000)
		row := a.row(Locking)
		if math.Abs(math.Log((row.Value+1e-4)/(c.lost+1e-4))) > math.Log(3) ||
			row.Flag != (row.Value > flagged) || a.Lost.Out() != row.Flag {
			t.Errorf("%v η %g: %+v, simulated %g", c.p.Arms, c.p.Optimizer.LearningRate, a, c.lost)
		}
	}
}

// x of a lone sample, whose advantage at 0.6 and 0.4, G = 8 is 0.774.
func TestArrivalOfReuse(t *testing.T) {
	p := locked(0.6, 0.4, 8, 1, option.StdScale, 0.5)
	p.Samples, p.Lag.Interval, p.Importance.Mode = option.Reused, 16, option.Ratio
	a := Predict(p, []float64{0, 0}, 960)
	if row := a.row(UnclippedReuse); !row.Flag || math.Abs(row.Value/(2*0.5*16/8)-0.774) > 0.001 ||
		!row.Share.Because.Is(scope.NotPredicted) || !a.Lost.Out() {
		t.Errorf("%+v", a)
	}
	p.Optimizer.LearningRate = 0.1
	if row := Predict(p, []float64{0, 0}, 960).Rows[1]; row.Flag || row.Share.Out() ||
		row.Share.Size() != unflaggedShare {
		t.Errorf("%+v at a fifth of the rate", row)
	}
	p.Importance = option.Importance{Mode: option.Clip, ClipLow: 0.2, ClipHigh: 0.2}
	again := Predict(p, []float64{0, 0}, 960)
	if again.row(UnclippedReuse) != nil {
		t.Errorf("%+v with a clip", again)
	}
}

// A rare better arm of noisy rewards is pushed back by a clip, not without weights or with the
// negative side capped at 1.5: simulated, 0.86 and 0.02 of the runs are lost.
func TestArrivalOfReversal(t *testing.T) {
	p := locked(0.6, 0.4, 8, 1, option.StdScale, 0.4)
	p.Advantage.Std, p.Optimizer.Momentum, p.Lag = option.SampleStd, 0.9,
		option.Lag{Kind: option.Delay, Interval: 16}
	start := []float64{-2, 2}
	p.Importance = option.Importance{Mode: option.Clip, ClipLow: 0.2, ClipHigh: 0.2}
	a := Predict(p, start, 1500)
	if row := a.row(ClipReversal); !row.Flag || !row.Share.Out() {
		t.Errorf("%+v, want a reversal", row)
	}
	p.Importance = option.Importance{Mode: option.DualClip, ClipLow: 0.2, ClipHigh: 0.2, Cap: 1.5}
	a = Predict(p, start, 1500)
	if row := a.row(ClipReversal); row.Flag || row.Because.Out() {
		t.Errorf("%+v with dual clip, want none", row)
	}
	p.Importance = option.Importance{}
	if a = Predict(p, start, 1500); a.row(ClipReversal) != nil {
		t.Errorf("%+v without weights", a)
	}
	// A run too short to arrive is not turned back.
	p.Importance = option.Importance{Mode: option.Clip, ClipLow: 0.2, ClipHigh: 0.2}
	p.Optimizer.LearningRate = 1e-4
	if a = Predict(p, start, 1500); !a.row(ClipReversal).Because.Is(scope.PathNotThere) {
		t.Errorf("%+v of a short run", a)
	}
}

// Between two arms of nearly equal means the law at rest is on both sides. Of one well no run is
// lost. Of two, Φ(−(z* − z_b)/σ) is known to its own size: of 400 runs of 6,000 steps 0.11 end
// beyond the barrier.
func TestSpreadAtRest(t *testing.T) {
	for _, c := range []struct{ rate, lost float64 }{{0.03, 0}, {0.1, 0}, {0.3, 0.1075}} {
		p := basin(func(p *cell.Params) {
			p.Arms[0].Mean, p.Arms[1].Mean = 0.52, 0.48
			p.KL.Gradient, p.GroupsPerStep = option.ExactKL, 1
			p.Optimizer.LearningRate = c.rate
		})
		a := Predict(p, []float64{0, 0}, 6000)
		row := a.row(SpreadAtRest)
		if row.Flag != (c.lost > 0) || row.Share.Size() != row.Share.Value ||
			!(math.Abs(a.Lost.Value-c.lost) <= a.Lost.Size()) || a.Lost.Out() {
			t.Errorf("η = %g: %+v, simulated %g", c.rate, a, c.lost)
		}
	}
}

// Runs arrive where their fixed point is, whichever arm is in front there: of 128 simulated runs of
// each cell all do.
func TestArrivalAtTheFixedPoint(t *testing.T) {
	for _, c := range []struct {
		name      string
		means     []float64
		reference []float64
		beta      float64
		change    func(p *cell.Params)
	}{
		{"the worse arm in front", []float64{0.1, 0.9}, []float64{1.5, 0}, 0.8, func(*cell.Params) {}},
		{"k3", []float64{0.1, 0.9}, []float64{1.5, 0}, 0.8,
			func(p *cell.Params) { p.KL.Gradient = option.K3 }},
		{"Adam", []float64{0.1, 0.9}, []float64{1.5, 0}, 0.8, func(p *cell.Params) {
			p.Optimizer = option.Optimizer{Kind: option.Adam, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8,
				LearningRate: 0.01}
		}},
		{"a clip", []float64{0.1, 0.9}, []float64{1.5, 0}, 0.8, func(p *cell.Params) {
			p.Lag.Interval, p.Importance = 4,
				option.Importance{Mode: option.Clip, ClipLow: 0.2, ClipHigh: 0.2}
		}},
		{"equal arms", []float64{0.5, 0.5}, []float64{0, 0}, 0.8, func(*cell.Params) {}},
		{"three arms", []float64{0.1, 0.2, 0.9}, []float64{1.5, 1.5, 0}, 0.8, func(*cell.Params) {}},
		{"three best arms", []float64{0.9, 0.9, 0.9, 0.1}, make([]float64, 4), 0, func(*cell.Params) {}},
	} {
		p := cell.Params{
			Estimator: option.Estimator{GroupSize: 16, GroupsPerStep: 1, KL: option.KL{Coefficient: c.beta},
				Advantage: option.Advantage{Scale: option.NoScale}},
			Lag: option.Lag{Interval: 1}, Optimizer: option.Optimizer{LearningRate: 0.05},
			Reference: c.reference,
		}
		for _, m := range c.means {
			p.Arms = append(p.Arms, option.Arm{Law: option.Bernoulli, Mean: m})
		}
		c.change(&p)
		a := Predict(p, c.reference, 3000)
		for _, row := range a.Rows {
			if row.Flag || row.Share.Value != 0 || row.Because.Is(scope.PathNotThere) {
				t.Errorf("%s: %+v", c.name, row)
			}
		}
		if a.Lost.Because.Is(scope.PathNotThere) || !a.Lost.Out() && a.Lost.Value != 0 {
			t.Errorf("%s: %+v lost", c.name, a.Lost)
		}
	}
}

// pathCell is a bandit of two Bernoulli arms under a heavy ball of μ = 0.9, G = 16.
func pathCell(best, other float64, scale option.Scale, mode option.ImportanceMode, beta,
	rate float64, interval int) cell.Params {
	return cell.Params{
		Arms: []option.Arm{{Law: option.Bernoulli, Mean: best}, {Law: option.Bernoulli, Mean: other}},
		Estimator: option.Estimator{
			GroupSize: 16, GroupsPerStep: 1, Advantage: option.Advantage{Scale: scale},
			Importance: option.Importance{Mode: mode}, KL: option.KL{Coefficient: beta},
		},
		Lag:       option.Lag{Interval: interval},
		Optimizer: option.Optimizer{Kind: option.HeavyBall, LearningRate: rate, Momentum: 0.9},
	}
}

// The overshoots of docs/theory-neglected.md §6.11, from another program. The first has a real
// multiplier at its fixed point, 0.969251. Without a penalty there is no fixed point to pass.
func TestOvershoot(t *testing.T) {
	ratio := pathCell(0.63, 0.42, option.StdScale, option.Ratio, 0.1, 0.75, 1)
	slow := pathCell(0.9, 0.2, option.NoScale, option.NoImportance, 0.2, 0.05, 4)
	slow.KL.At = option.AtSnapshot
	fast := slow
	fast.Optimizer.LearningRate = 0.2
	for _, c := range []struct {
		p     cell.Params
		start float64
		steps int
		want  float64
	}{{ratio, 0, 400, 0.6220}, {slow, -1.5, 4000, 0}, {fast, -1.5, 1000, 0.4871}} {
		got := Overshoot(c.p, []float64{c.start, -c.start}, c.steps)
		if got == nil || math.Abs(*got-c.want) > 5e-5 {
			t.Errorf("from %g: got %v, want %g", c.start, got, c.want)
		}
	}
	slow.KL.Coefficient = 0
	if got := Overshoot(slow, []float64{-1.5, 1.5}, 1000); got != nil {
		t.Errorf("without a penalty: got %g, want none", *got)
	}
}

// Of the way from a small offset x, (1−κ)^t is left after t steps, with κ = ηλ, on
// average over the steps counted. A schedule that ends early leaves it where it was, and
// another attractor is out of scope.
func TestUnsettled(t *testing.T) {
	p := reference(option.StdScale, 1.2, option.Infinite)
	p.Optimizer = option.Optimizer{LearningRate: 0.05}
	at := rest.Predict(p)
	const x, from, to = 1e-4, 30, 90
	init := []float64{at.FixedPoint.Logits[0] + x, at.FixedPoint.Logits[1] - x}
	q := at.FixedPoint.Policy
	first := 2 * x * q[0] * q[1] * 0.7
	rho := 1 - 0.05*at.Stiffness.Total
	want := first * (math.Pow(rho, from) - math.Pow(rho, to)) / (1 - rho) / (to - from)
	left, within := Unsettled(p, &at, init, from, to)
	if !within.In {
		t.Fatal(within)
	}
	near(t, "left of J", left.RewardMean, want, 1e-3) // the curvature of J adds x
	p.Optimizer.Schedule.Kind, p.Optimizer.Schedule.Total = option.LinearDecay, 1
	left, _ = Unsettled(p, &at, init, from, to)
	near(t, "left after a decay", left.RewardMean, first*rho, 1e-3)
	if _, within := Unsettled(
		p, &at, []float64{at.FixedPoint.Logits[0] + 2, at.FixedPoint.Logits[1] - 2}, from,
		to); within.In || !strings.Contains(within.Because.String(), "logits away") {
		t.Errorf("a run that stays away: %+v", within)
	}
}

// reference returns the reference bandit of docs/theory.md §5.
func reference(scale option.Scale, beta float64, size int) cell.Params {
	return cell.Params{
		Arms:      []option.Arm{{Mean: 0.9}, {Mean: 0.2}},
		Reference: []float64{0, 0},
		Estimator: option.Estimator{GroupSize: size, GroupsPerStep: 1,
			Advantage: option.Advantage{Scale: scale},
			KL:        option.KL{Coefficient: beta, At: option.AtSnapshot}},
		Lag:       option.Lag{Kind: option.Block, Interval: 1},
		Optimizer: option.Optimizer{LearningRate: 0.1},
		Factors:   cell.Unit,
	}
}

// near fails unless got agrees with want to the relative error.
func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s: got %.12g, want %.12g to %.1g", what, got, want, relative)
	}
}
