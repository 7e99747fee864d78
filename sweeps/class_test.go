package sweeps

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"grposim/option"
	"grposim/sim"
	"grposim/sweeps/claim"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

type curve = func(t float64) float64

// record returns a cell at G = ∞ and the outcome of a run whose mean reward is the given
// function of the step, at the steps that the simulator would record.
func record(steps, interval int, reward curve, collision float64) (*plan.Cell, *store.Outcome) {
	c := &plan.Cell{}
	c.Settings.Lag = option.Lag{Kind: option.Block, Interval: interval}
	c.Settings.Estimator.GroupSize = option.Infinite
	c.Settings.Run = sim.Run{Steps: steps, Replicas: 1}
	c.Settings.Bandit.Arms = []option.Arm{{Mean: 0.2}, {Mean: 0.9}}
	recorded := &store.Trajectory{Steps: sim.RecordedSteps(steps, c.Settings.Lag)}
	n := len(recorded.Steps)
	zeros := func() []store.Number { return make([]store.Number, n) }
	j := store.RecordedSeries{Quantity: sim.ExpectedReward, Mean: zeros(), StdErr: zeros()}
	p := store.RecordedSeries{Quantity: sim.Collision, Mean: zeros(), StdErr: zeros()}
	for i, t := range recorded.Steps {
		j.Mean[i], p.Mean[i] = store.Number(reward(float64(t))), store.Number(collision)
	}
	recorded.Quantities = []store.RecordedSeries{j, p}
	o := &store.Outcome{Status: store.CellOK}
	o.SetTrajectory(recorded)
	return c, o
}

// oscillator returns the step response of a damped oscillator, from 0 to 1. Its n-th
// swing beyond the final level has the amplitude e^{−nπζ/√(1−ζ²)}.
func oscillator(zeta, frequency float64) curve {
	return func(t float64) float64 {
		w := frequency * math.Sqrt(1-zeta*zeta)
		return 1 - math.Exp(-zeta*frequency*t)*(math.Cos(w*t)+zeta*frequency/w*math.Sin(w*t))
	}
}

func TestClasses(t *testing.T) {
	exp, cos, sin := math.Exp, math.Cos, math.Sin
	for _, c := range []struct {
		name      string
		reward    curve
		collision float64
		want      claim.Class
	}{
		{"exponential", func(t float64) float64 { return 1 - math.Exp(-t/50) }, 0.6, claim.Monotone},
		{"not finished", func(t float64) float64 { return 1 - math.Exp(-t/5000) }, 0.6, claim.Monotone},
		{"falling", func(t float64) float64 { return math.Exp(-t / 50) }, 0.6, claim.Monotone},
		// The second swing of ζ = 0.8 is e^{−8.4} = 2e-4 of the rise, that of 0.6 9e-3.
		{"one overshoot", oscillator(0.8, 0.2), 0.6, claim.Overshooting},
		{"two swings", oscillator(0.6, 0.2), 0.6, claim.Oscillatory},
		{"many", oscillator(0.05, 0.2), 0.6, claim.Oscillatory},
		{"no damping", oscillator(0, 0.2), 0.6, claim.Sustained},
		{"grows", func(t float64) float64 { return exp(t/400) * cos(0.3*t) / 10 }, 0.6, claim.Sustained},
		{"a flip each step", func(t float64) float64 { return cos(math.Pi*t) / 4 }, 0.6, claim.Sustained},
		// A stiff mode that oscillates on top of a slow one never passes the final level.
		{"ringing on the rise", func(t float64) float64 {
			return 1 - exp(-t/200) + 0.2*exp(-t/10)*sin(t/3)
		}, 0.6, claim.Overshooting},
		{"early ringing, slow rise", func(t float64) float64 {
			return 1 - exp(-t/5000) + 0.05*exp(-t/5)*cos(t)
		}, 0.6, claim.Overshooting},
		{"straight into one arm", func(t float64) float64 { return 1 - exp(-t/5) }, 0.999, claim.Locked},
		{"into one arm after ringing", func(t float64) float64 {
			if t > 100 {
				return 1
			}
			return 0.5 + 0.4*math.Sin(0.3*t)
		}, 0.9999, claim.Locked},
		{"at rest", func(float64) float64 { return 0.75 }, 0.6, claim.AtRest},
		{"at rest, rounded", func(t float64) float64 { return 0.75 + 1e-13*sin(t) }, 0.6, claim.AtRest},
		// Dips of 4 steps every 130, of which the records in the last half miss most.
		{"brief dips", func(t float64) float64 {
			return 0.9 - 0.5*exp(-math.Pow(math.Mod(t+53, 130)-65, 2)/8)
		}, 0.6, claim.Unresolved},
	} {
		cell, o := record(600, 1, c.reward, c.collision)
		equal(t, c.name, classWith(cell, o), c.want)
	}
	cell, _ := record(10, 1, oscillator(0.5, 1), 0.5)
	equal(t, "diverged", classWith(cell, &store.Outcome{Status: store.CellDiverged}), claim.Diverged)
	empty := outcomeOf()
	equal(t, "nothing recorded", classWith(cell, &empty)+claim.ClassOf(cell, nil), "")
}

// The class does not change under r → ar + b.
func TestClassIsAffine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zeta := rapid.Float64Range(0.01, 0.98).Draw(t, "zeta")
		frequency := rapid.Float64Range(0.02, 1).Draw(t, "frequency")
		interval := rapid.IntRange(1, 8).Draw(t, "interval")
		a := math.Exp(rapid.Float64Range(-6, 6).Draw(t, "log a"))
		a *= rapid.SampledFrom([]float64{-1, 1}).Draw(t, "sign")
		b := a * rapid.Float64Range(-10, 10).Draw(t, "b/a")
		curve := oscillator(zeta, frequency)
		cell, o := record(400, interval, curve, 0.5)
		_, moved := record(400, interval, func(t float64) float64 { return a*curve(t) + b }, 0.5)
		if x, y := classWith(cell, o), classWith(cell, moved); x != y {
			t.Errorf("%q became %q", x, y)
		}
	})
}

// At finite G swings smaller than the band of the mean do not count, and a single replica
// has no class.
func TestClassAtFiniteGroups(t *testing.T) {
	cell, o := record(400, 1, oscillator(0.5, 0.2), 0.5) // swings of 0.16 and 0.027
	cell.Settings.Estimator.GroupSize = 16
	for _, c := range []struct {
		replicas int
		stdErr   float64
		want     claim.Class
	}{
		{1000, 1e-4, claim.Oscillatory},
		{1000, 1e-2, claim.Overshooting}, // the band is about 8 standard errors wide
		{1000, 4e-2, claim.Unresolved},   // the second swing may be there
		{1000, 0.3, claim.Unresolved},
		{2, 1e-3, claim.Unresolved}, // the band of two replicas is ten thousand standard errors wide
		{1, 0, claim.Unresolved},
	} {
		cell.Settings.Run.Replicas = c.replicas
		recorded := must(o.Trajectory())
		for i := range recorded.Steps {
			recorded.Quantities[0].StdErr[i] = store.Number(c.stdErr)
		}
		equal(t, c, classWith(cell, o), c.want)
	}
}

// A curve within its error is at rest only if the error is small beside the rewards of the
// arms, which are 0.7 apart.
func TestAtRestAtFiniteGroups(t *testing.T) {
	cell, o := record(400, 1, func(t float64) float64 { return 0.75 + 1e-4*math.Sin(t) }, 0.5)
	cell.Settings.Estimator.GroupSize = 16
	cell.Settings.Run.Replicas = 1000
	recorded := must(o.Trajectory())
	for _, c := range []struct {
		stdErr float64
		want   claim.Class
	}{{1e-3, claim.AtRest}, {3e-3, claim.Unresolved}} { // bands of 0.008 and 0.025, beside 0.02 · 0.7
		for i := range recorded.Steps {
			recorded.Quantities[0].StdErr[i] = store.Number(c.stdErr)
		}
		equal(t, c, classWith(cell, o), c.want)
	}
}

// A policy is locked whatever its reward did before, but not if it only passes by.
func TestLocked(t *testing.T) {
	for _, c := range []struct {
		name      string
		collision func(t float64) float64
		want      claim.Class
	}{
		{"late collapse of an oscillation", func(t float64) float64 {
			if t < 560 {
				return 0.6
			}
			return 1
		}, claim.Locked},
		{"swings", func(t float64) float64 { return 0.75 + math.Cos(math.Pi*t/30)/4 }, claim.Sustained},
		{"at first", func(t float64) float64 { return 0.6 + 0.4*math.Exp(-t/100) }, claim.Sustained},
	} {
		cell, o := record(600, 1, oscillator(0, 0.2), 0)
		recorded := must(o.Trajectory())
		for i, step := range recorded.Steps {
			recorded.Quantities[1].Mean[i] = store.Number(c.collision(float64(step)))
		}
		equal(t, c.name, classWith(cell, o), c.want)
	}
	cell, o := record(600, 1, func(float64) float64 { return 0.9 }, 0.999)
	equal(t, "on one arm from the start", classWith(cell, o), claim.Locked)
}

// classWith returns the class of a cell with the given outcome; nil: without one.
func classWith(c *plan.Cell, o *store.Outcome) claim.Class {
	return (&claim.Evidence{Outcomes: map[string]*store.Outcome{c.ID: o}}).Class(c)
}
