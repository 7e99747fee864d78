package rom_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"grposim/option"
	"grposim/rom"
)

// flipping returns the cell of docs/theory-trainers.md §11.2 past its flip: 0/1 arms, L_ref = −6, β = 1.57, G = ∞,
// in blocks of the given number of steps, with a weight of upper bound c.
func flipping(w option.ImportanceMode, c float64, interval int, rate float64) rom.Params {
	p := weighted(recurrent(1.57, -6), w)
	p.Importance.ClipHigh, p.Importance.Cap = c-1, c
	p.Lag, p.Optimizer = block(interval), option.Optimizer{LearningRate: rate}
	return p
}

// offFixedPoint returns logits of a gap by which the better, first arm of a flipping cell exceeds its fixed point.
func offFixedPoint(t *testing.T, p rom.Params, offset float64) []float64 {
	t.Helper()
	p.Importance.Mode = option.Ratio
	fixed, ok := rom.Reached(p)
	if !ok {
		t.Fatalf("%s: no fixed point", describe(p))
	}
	return gapAt(gapOf(fixed.Logits) + offset)
}

// refreshesFrom returns the refreshes from the first to the last, in steps.
func refreshesFrom(first, last, interval int) (at []int) {
	for n := first; n <= last; n++ {
		at = append(at, n*interval)
	}
	return at
}

// The range of the logit gap over the refreshes 20 to 40 of blocks of 400 steps, beyond the 265 at which
// the fixed point loses its stability. The clip makes the cycle chaotic: rounding decides its third digit after some
// 150 refreshes.
func TestCycleOfBoundedWeights(t *testing.T) {
	for _, c := range []struct {
		w          option.ImportanceMode
		bound      float64
		width, tol float64
	}{
		{option.Ratio, 2, 3.216, 0.0005}, {option.Clip, 1.2, 0.222, 0.0005}, {option.Clip, 1.28, 0.309, 0.0005}, {option.CISPO, 1.2, 0.213, 0.0005},
		{option.Truncated, 2, 0.796, 0.0005}, {option.Truncated, 5, 1.800, 0.0005}, {option.SAPO, 2, 0.401, 0.0005},
		{option.VESPO, 2, 0, 0.0005}, {option.NoImportance, 2, 0, 0.0005},
	} {
		p := flipping(c.w, c.bound, 400, 0.05)
		got := rom.MeanFieldCycle(p, offFixedPoint(t, p, 0.2), refreshesFrom(20, 40, 400))
		printed(t, describe(p), got.Value, c.width, c.tol)
		if got.Out() || got.Kind != rom.Exact || !(got.Size() < 1e-6) {
			t.Errorf("%s: %+v", describe(p), got)
		}
	}
	p := flipping(option.Clip, 1.28, 400, 0.05)
	if got := rom.MeanFieldCycle(p, offFixedPoint(t, p, 0.05), refreshesFrom(180, 200, 400)); got.Size() < 0.001 {
		t.Errorf("after 180 refreshes: %+v", got)
	}
}

// To first order in W = ln c/q the width is W/[1 − (M M_∞ − 1)/((1 + |M|) q²y)] where the weight stays at
// its bound, and between W and |M| W where it is 0 beyond. p, M_∞ and M are those of 0/1
// arms: p solves 1/√(pq) = β(L − L_ref), M_∞ = −(1 − 2p)/(2β√(pq)), and within a block a deviation decays by 1 − 2ηβpq a step.
func TestBoundedCycle(t *testing.T) {
	const beta, rate, interval = 1.57, 0.05, 400
	p := flipping(option.Ratio, 2, interval, rate)
	z := gapOf(offFixedPoint(t, p, 0))
	prob, q := sigmoid(z), sigmoid(-z)
	printed(t, "p", prob, 0.0473627, 5e-8)
	s := math.Sqrt(prob * q)
	endless := -(1 - 2*prob) / (2 * beta * s)
	m := endless + (1-endless)*math.Pow(1-2*rate*beta*prob*q, interval)
	printed(t, "M_∞", endless, -1.3573, 5e-5)
	printed(t, "M", m, -1.2200, 5e-5)
	for _, c := range []struct {
		w     option.ImportanceMode
		bound float64
	}{
		{option.Clip, 1.2}, {option.DualClip, 1.2}, {option.Masked, 1.2}, {option.Clip, 1.28}, {option.Clip, 1.5},
		{option.CISPO, 1.2}, {option.Truncated, 1.05}, {option.Truncated, 1.2}, {option.Truncated, 2}, {option.Truncated, 5},
	} {
		p := flipping(c.w, c.bound, interval, rate)
		init, at := offFixedPoint(t, p, 0.2), refreshesFrom(20, 40, interval)
		got, exact := rom.BoundedCycle(p, init, at), rom.MeanFieldCycle(p, init, at)
		w := math.Log(c.bound) / q
		want := w * (1 - m) / 2
		if c.w == option.CISPO || c.w == option.Truncated {
			want = w / (1 - (m*endless-1)/((1-m)*q*q*(z+6)))
		} else if exact.Value < w || exact.Value > -m*w {
			t.Errorf("%s: %.4g, want between %.4g and %.4g", describe(p), exact.Value, w, -m*w)
		}
		if got.Out() || got.Kind != rom.LeadingOrder {
			t.Errorf("%s: %+v", describe(p), got)
		}
		closeTo(t, describe(p), got.Value, want, 1e-9)
		if miss := math.Abs(got.Value - exact.Value); miss > got.Size() {
			t.Errorf("%s: %.4g, exact %.4g, neglected %.2g", describe(p), got.Value, exact.Value, got.Size())
		}
	}
	// The arms in the other order.
	p = flipping(option.Truncated, 2, interval, rate)
	init, at := offFixedPoint(t, p, 0.2), refreshesFrom(20, 40, interval)
	want := rom.BoundedCycle(p, init, at)
	p.Arms[0], p.Arms[1] = p.Arms[1], p.Arms[0]
	p.Reference, init = gapAt(6), gapAt(-gapOf(init))
	if got := rom.BoundedCycle(p, init, at); got.Out() || math.Abs(got.Value-want.Value) > 1e-9 {
		t.Errorf("with the better arm second: %+v, want %+v", got, want)
	}
}

// Wherever a bounded cycle is in scope and neglects less than 30 %, the mean field has it within
// twice of what it neglects.
func TestBoundedCycleOfRandomCells(t *testing.T) {
	r := rand.New(rand.NewPCG(91, 92))
	tried := 0
	for range 1500 / rom.Thin {
		p := recurrent(0.8+r.Float64(), -4-5*r.Float64())
		interval := int(20 * math.Pow(10, r.Float64()))
		p.Lag, p.Optimizer = block(interval), option.Optimizer{LearningRate: 20 / float64(interval) * math.Pow(10, r.Float64())}
		p = weighted(p, []option.ImportanceMode{option.Clip, option.Masked, option.CISPO, option.Truncated}[r.IntN(4)])
		p.Importance.ClipHigh = math.Expm1(0.05 + 3*r.Float64()*r.Float64())
		p.Importance.Cap = 1 + p.Importance.ClipHigh
		p.Importance.ClipLow, p.Importance.Floor = 0.1+0.8*r.Float64(), 0.8*r.Float64()
		plain := p
		plain.Importance.Mode = option.Ratio
		if _, ok := rom.Reached(plain); !ok {
			continue
		}
		first := 5 + r.IntN(40)
		init, at := offFixedPoint(t, p, 0.05+0.5*r.Float64()), refreshesFrom(first, 2*first, interval)
		got := rom.BoundedCycle(p, init, at)
		if got.Out() || got.Size() > 0.3*got.Value {
			continue
		}
		tried++
		if exact := rom.MeanFieldCycle(p, init, at); math.Abs(exact.Value-got.Value) > 2*got.Size() {
			t.Errorf("%s, z_ref %g, β = %g, η = %g, K = %d: %.4g, neglected %.2g, exact %.4g",
				describe(p), gapOf(p.Reference), p.KL.Coefficient, p.Optimizer.LearningRate, interval, got.Value, got.Size(), exact.Value)
		}
	}
	if tried < 150/rom.Thin {
		t.Errorf("%d cells in scope, want more", tried)
	}
}

// What the derivation does not cover is out of scope, each with its reason.
func TestScopeOfBoundedCycles(t *testing.T) {
	const interval = 400
	for _, c := range []struct {
		about   string
		change  func(p *rom.Params)
		offset  float64
		because string
	}{
		{"ratio", func(p *rom.Params) { p.Importance.Mode = option.Ratio }, 0.2, "no bound of the ratio"},
		{"none", func(p *rom.Params) { p.Importance.Mode = option.NoImportance }, 0.2, "no bound of the ratio"},
		{"SAPO", func(p *rom.Params) { p.Importance.Mode = option.SAPO }, 0.2, "no bound of the ratio"},
		{"DPPO", func(p *rom.Params) { p.Importance.Mode = option.DPPO }, 0.2, "change of a probability"},
		{"finite groups", func(p *rom.Params) { p.GroupSize = 64 }, 0.2, "G = ∞"},
		{"no scale", func(p *rom.Params) { p.Advantage.Scale = option.NoScale }, 0.2, "std scale"},
		{"noisy rewards", func(p *rom.Params) { p.Arms = []option.Arm{{Mean: 0.9}, {Mean: 0}} }, 0.2, "certain rewards"},
		{"a delay", func(p *rom.Params) { p.Lag = delay(400) }, 0.2, "blocks of the last snapshot"},
		{"an older snapshot", func(p *rom.Params) { p.Lag.Behind = 1 }, 0.2, "blocks of the last snapshot"},
		{"momentum", func(p *rom.Params) { p.Optimizer.Momentum = 0.5 }, 0.2, "plain gradient ascent"},
		{"KL at the snapshot", func(p *rom.Params) { p.KL.At = option.AtSnapshot }, 0.2, "current policy"},
		{"short blocks", func(p *rom.Params) { p.Lag.Interval = 200 }, 0.2, "do not flip"},
		{"long steps", func(p *rom.Params) { p.Optimizer.LearningRate = 4 }, 0.2, "a step is too long"},
		{"a near lower bound", func(p *rom.Params) { p.Importance.Mode, p.Importance.ClipLow = option.CISPO, 0.1 }, 0.2, "lower bound"},
		{"a floor", func(p *rom.Params) { p.Importance.Mode, p.Importance.Floor = option.Masked, 0.85 }, 0.2, "lower bound"},
		{"a steep flip", func(p *rom.Params) {
			p.Importance.Mode, p.Reference, p.Lag.Interval = option.Clip, gapAt(-8), 4000
		}, 0.2, "end at the fixed point"},
		{"an unstable cycle", func(p *rom.Params) { p.Reference, p.Lag.Interval = gapAt(-9.5), 4000 }, 0.2, "is not stable"},
		{"a small deviation", func(p *rom.Params) {}, 1e-6, "has not settled"},
		{"a bound beyond the cycle", func(p *rom.Params) { p.Importance.Cap = 30 }, 0.2, "does not reach"},
	} {
		p := flipping(option.Truncated, 1.2, interval, 0.05)
		init := offFixedPoint(t, p, c.offset)
		c.change(&p)
		if got := rom.BoundedCycle(p, init, refreshesFrom(20, 40, interval)); !got.Out() || !strings.Contains(got.Because.String(), c.because) {
			t.Errorf("%s: %+v, want %q", c.about, got, c.because)
		}
	}
}

// A run that leaves the range of floating point, or that rounding decides, has no width.
func TestCycleOutOfReach(t *testing.T) {
	p := flipping(option.Ratio, 2, 4, 0.05)
	p.Optimizer.LearningRate = 1e155
	if got := rom.MeanFieldCycle(p, gapAt(1), []int{4, 8}); !got.Out() || !math.IsInf(got.Size(), 1) {
		t.Errorf("%+v", got)
	}
	p.KL.In, p.Entropy = option.InReward, 0.1
	if got := rom.MeanFieldCycle(p, gapAt(1), []int{4, 8}); !got.Out() || !strings.Contains(got.Because.String(), "entropy bonus") {
		t.Errorf("%+v", got)
	}
}
