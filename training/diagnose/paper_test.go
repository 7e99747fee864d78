package diagnose

import (
	"math"
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
		{"truth falls", RewardHacking, plainRows(func(t *Trace, i, s int) { t.TrueReward[i] = 1.1 - t.Reward[i] })},
		{"equal rewards", AdvantageDegeneracy, plainRows(func(t *Trace, i, s int) { t.ZeroVariance[i] = approach(s, 0, 0.95) })},
		{"KL up, entropy down", PolicyConcentration, plain(func(t *Trace) { concentrate(newRand(), t) })},
		{"KL stable, entropy down", None, plain(func(t *Trace) {
			concentrate(newRand(), t)
			for i := range t.KL {
				t.KL[i] = 0.3
			}
		})},
		{"gradient grows", DynamicalInstability, plainRows(func(t *Trace, i, s int) { t.GradientNorm[i] *= math.Exp(0.01 * float64(s)) })},
		{"ratio grows", DynamicalInstability, plainRows(func(t *Trace, i, s int) { t.RatioMax[i] += 0.01 * float64(s) })},
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

// An evaluation reward a·R + b of the training reward has ρ = 1 and lies on the
// diagonal, u = 1; one that approaches its plateau at c times the rate has ρ = c, as
// long as the plateau is far away.
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

// ρ is that of the last window: an evaluation reward that approaches its plateau at
// twice the rate in the second half of the run has ρ = 2.
func TestPaperCouplingOfTheLastWindow(t *testing.T) {
	trace := Trace{Steps: everyStep()}
	last := len(trace.Steps) - 1
	const rate = 1.0 / 600
	for _, s := range trace.Steps {
		trace.Reward = append(trace.Reward, 1-math.Exp(-rate*float64(s)))
		trace.TrueReward = append(trace.TrueReward, 1-math.Exp(-rate*float64(s+max(0, s-trace.Steps[last/2]))))
	}
	trace.Reward[last], trace.TrueReward[last] = 1, 1
	ratio, _ := paperCoupling(&trace)
	near(t, ratio, 2, 1e-9)
}

// Near saturation ρ is lost in the error of λ_train: it is Undefined, neither 0 nor
// 1.
func TestPaperCouplingNearSaturation(t *testing.T) {
	rng := newRand()
	trace := Trace{Steps: everyStep()}
	for range trace.Steps {
		x := rng.NormFloat64()
		trace.Reward = append(trace.Reward, 0.8+0.01*x)
		trace.TrueReward = append(trace.TrueReward, 0.6+0.01*x)
	}
	ratio, _ := paperCoupling(&trace)
	if ratio.Observable != Undefined || !math.IsNaN(ratio.Value) {
		t.Errorf("ρ of a saturated run is %g, %s", ratio.Value, ratio.Observable)
	}
	for i := range trace.Steps {
		trace.Reward[i], trace.TrueReward[i] = 0.8, 0.6
	}
	if ratio, level := paperCoupling(&trace); ratio.Observable != Undefined || level.Observable != Undefined {
		t.Errorf("a constant run: ρ %s, u %s", ratio.Observable, level.Observable)
	}
}

// In an established bounded limit cycle neither of the paper's two quantities for
// instability grows, so PaperName does not find it.
func TestPaperMissesABoundedCycle(t *testing.T) {
	trace := plain(func(t *Trace) {
		for i, s := range t.Steps {
			t.Reward[i] = 0.7 + 0.1*math.Sin(0.1*float64(s))
			t.TrueReward[i] = t.Reward[i]
			t.GradientNorm[i] = 0.1 + 0.05*math.Sin(0.1*float64(s))
			t.RatioMax[i] = 1.6 + 0.3*math.Sin(0.1*float64(s))
		}
	})
	if d := Name(trace); d.Mode != DynamicalInstability {
		t.Errorf("Name: %s, want %s", d.Mode, DynamicalInstability)
	}
	for _, diagnostic := range []string{"log gradient norm, trend", "importance ratio, trend"} {
		if e := find(t, PaperName(trace), diagnostic); e.Says != None {
			t.Errorf("%s says %s", diagnostic, e.Says)
		}
	}
}
