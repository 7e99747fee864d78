package diagnose

import (
	"math"
	"slices"
	"testing"
)

// The paper's diagnostics name a clear case of each mode.
func TestPaperName(t *testing.T) {
	for _, row := range []struct {
		name string
		want Mode
		run  Trace
	}{
		{"healthy", None, plain(func(t *Trace) {})},
		{"truth falls", RewardHacking,
			plainRows(func(t *Trace, i, s int) { t.TrueReward[i] = 1.1 - t.Reward[i] })},
		{"equal rewards", AdvantageDegeneracy, plainRows(degenerate)},
		{"constant series", None, plainRows(constant)},
		{"KL up, entropy down", PolicyConcentration, plain(func(t *Trace) { concentrate(newRand(), t) })},
		{"KL stable, entropy down", None, plain(func(t *Trace) {
			concentrate(newRand(), t)
			t.KL = slices.Repeat([]float64{0.3}, len(t.KL))
		})},
		{"gradient grows", DynamicalInstability,
			plainRows(func(t *Trace, i, s int) { t.GradientNorm[i] *= math.Exp(0.01 * float64(s)) })},
		{"ratio grows", DynamicalInstability,
			plainRows(func(t *Trace, i, s int) { t.RatioMax[i] += 0.01 * float64(s) })},
	} {
		if d := PaperName(row.run); d.Mode != row.want {
			t.Errorf("%s: named %s, want %s\n%s", row.name, d.Mode, row.want, table(d))
		}
	}
}

// plain is a healthy run whose entropy rises, so that no diagnostic of the paper is
// a sign of failure, modified by the given function.
func plain(by func(*Trace)) Trace {
	t := healthy(newRand(), everyStep())
	for i, s := range t.Steps {
		t.Entropy[i] = approach(s, 1.7, 2)
	}
	by(&t)
	return t
}

// plainRows is plain with rows that are changed one by one.
func plainRows(by func(t *Trace, i, s int)) Trace {
	return plain(func(t *Trace) {
		for i, s := range t.Steps {
			by(t, i, s)
		}
	})
}

// An evaluation reward a·R + b of the training reward has ρ = 1 and lies on the diagonal, u = 1.
// One that approaches its plateau at c times the rate has ρ = c while the plateau is far away.
func TestPaperCoupling(t *testing.T) {
	trace := Trace{Steps: everyStep()}
	const rate = 1.0 / 600
	for _, s := range trace.Steps {
		trace.Reward = append(trace.Reward, 1-math.Exp(-rate*float64(s)))
		trace.TrueReward = append(trace.TrueReward, 0.3-0.2*math.Exp(-rate*float64(s)))
	}
	ratio, level := paperCoupling(&trace)
	near(t, ratio, 1, 1e-9)
	near(t, level, 1, 1e-9)

	// Plateaus of 1, reached at the last step only.
	last := len(trace.Steps) - 1
	for i, s := range trace.Steps {
		trace.TrueReward[i] = 1 - math.Exp(-rate/4*float64(s))
	}
	trace.Reward[last], trace.TrueReward[last] = 1, 1
	ratio, level = paperCoupling(&trace)
	near(t, ratio, 0.25, 1e-9)
	if ratio.Says != RewardHacking || level.Says != RewardHacking {
		t.Errorf("a quarter of the rate says %s, its level %s", ratio.Says, level.Says)
	}
}
