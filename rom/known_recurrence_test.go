package rom_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/fixed"
)

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

// For any arms and any exactly known force: at the policy that Refreshed returns the
// mean force with the given snapshot vanishes, and the fixed points of Refreshed are
// those of the theory.
func TestRefreshedSolvesTheBlock(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	for i := range 60 {
		law, size := option.Bernoulli, []int{2, 8, option.Infinite}[i%3]
		if size == option.Infinite && i%2 == 0 {
			law = option.Constant
		}
		p, _, old := randomCell(r, law, 2+i%5, size)
		p.Importance.Mode, p.Advantage.Scale, p.Advantage.Baseline = option.Ratio, option.Scale(i%2), option.Baseline(i/2%2)
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
		if steps < 1e6 && !(math.Abs(got-float64(steps)) < 2+0.04*float64(steps)) || steps == 1e6 && !(got > 0.9e6) {
			t.Errorf("β = %g from z = %g to %g within %g: %g steps, counted %d", p.KL.Coefficient, z, next, within, got, steps)
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
