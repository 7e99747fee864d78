package sweeps

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"grposim/grpo"
	"grposim/sim"
	"grposim/sweeps/store"
)

// record is a cell at G = ∞ with the outcome of a run that follows a curve, as
// it would be recorded.
func record(steps, interval int, reward func(t float64) float64, collision float64) (*Cell, *store.Outcome) {
	c := &Cell{}
	c.Settings.Lag = grpo.Lag{Kind: grpo.Block, Interval: interval}
	c.Settings.Estimator.GroupSize = grpo.Infinite
	c.Settings.Run = sim.Run{Steps: steps, Replicas: 1}
	c.Sim.Estimator = c.Settings.Estimator
	recorded := &store.Trajectory{Steps: sim.RecordedSteps(steps, c.Settings.Lag)}
	j, p := store.RecordedSeries{Quantity: sim.ExpectedReward}, store.RecordedSeries{Quantity: sim.Collision}
	for _, t := range recorded.Steps {
		j.Mean, j.StdErr = append(j.Mean, store.Number(reward(float64(t)))), append(j.StdErr, 0)
		p.Mean, p.StdErr = append(p.Mean, store.Number(collision)), append(p.StdErr, 0)
	}
	recorded.Quantities = []store.RecordedSeries{j, p}
	o := &store.Outcome{Status: store.CellOK}
	o.SetTrajectory(recorded)
	return c, o
}

// oscillator is 1 − the response of a damped oscillator from rest: the n-th
// swing beyond the final level has the size e^{−nπζ/√(1−ζ²)}.
func oscillator(zeta, frequency float64) func(t float64) float64 {
	return func(t float64) float64 {
		w := frequency * math.Sqrt(1-zeta*zeta)
		return 1 - math.Exp(-zeta*frequency*t)*(math.Cos(w*t)+zeta*frequency/w*math.Sin(w*t))
	}
}

func TestClasses(t *testing.T) {
	for _, c := range []struct {
		name      string
		reward    func(t float64) float64
		collision float64
		want      Class
	}{
		{"exponential", func(t float64) float64 { return 1 - math.Exp(-t/50) }, 0.6, Monotone},
		{"not finished", func(t float64) float64 { return 1 - math.Exp(-t/5000) }, 0.6, Monotone},
		{"falling", func(t float64) float64 { return math.Exp(-t / 50) }, 0.6, Monotone},
		// The second swing of ζ = 0.8 is e^{−8.4} = 2e-4 of the rise, that of 0.6 9e-3.
		{"one overshoot", oscillator(0.8, 0.2), 0.6, Overshooting},
		{"two swings", oscillator(0.6, 0.2), 0.6, Oscillatory},
		{"many", oscillator(0.05, 0.2), 0.6, Oscillatory},
		{"no damping", oscillator(0, 0.2), 0.6, Sustained},
		{"growing", func(t float64) float64 { return 0.5 + 0.1*math.Exp(t/400)*math.Cos(0.3*t) }, 0.6, Sustained},
		{"a flip at every step", func(t float64) float64 { return 1 + math.Cos(math.Pi*t)/4 }, 0.6, Sustained},
		// A stiff mode that rings on a slow one never passes the final level.
		{"ringing on the rise", func(t float64) float64 { return 1 - math.Exp(-t/200) + 0.2*math.Exp(-t/10)*math.Sin(t/3) }, 0.6, Overshooting},
		{"early ringing, slow rise", func(t float64) float64 { return 1 - math.Exp(-t/5000) + 0.05*math.Exp(-t/5)*math.Cos(t) }, 0.6, Overshooting},
		{"straight into one arm", func(t float64) float64 { return 1 - math.Exp(-t/5) }, 0.999, Locked},
		{"into one arm after ringing", func(t float64) float64 {
			if t > 100 {
				return 1
			}
			return 0.5 + 0.4*math.Sin(0.3*t)
		}, 0.9999, Locked},
		{"at rest", func(float64) float64 { return 0.75 }, 0.6, AtRest},
		{"at rest, rounded", func(t float64) float64 { return 0.75 + 1e-13*math.Sin(t) }, 0.6, AtRest},
	} {
		cell, o := record(600, 1, c.reward, c.collision)
		if got := classOf(cell, o); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	cell, _ := record(10, 1, oscillator(0.5, 1), 0.5)
	if got := classOf(cell, &store.Outcome{Status: store.CellDiverged}); got != Diverged {
		t.Errorf("diverged: got %q", got)
	}
	if got := classOf(cell, &store.Outcome{Status: store.CellOK}) + classOf(cell, nil); got != "" {
		t.Errorf("nothing recorded: got %q", got)
	}
}

// Dynamics do not change under r → ar + b, and no class does.
func TestClassIsAffine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zeta := rapid.Float64Range(0.01, 0.98).Draw(t, "zeta")
		frequency := rapid.Float64Range(0.02, 1).Draw(t, "frequency")
		interval := rapid.IntRange(1, 8).Draw(t, "interval")
		a := math.Exp(rapid.Float64Range(-6, 6).Draw(t, "log a")) * rapid.SampledFrom([]float64{-1, 1}).Draw(t, "sign")
		b := a * rapid.Float64Range(-10, 10).Draw(t, "b/a")
		curve := oscillator(zeta, frequency)
		cell, o := record(400, interval, curve, 0.5)
		_, moved := record(400, interval, func(t float64) float64 { return a*curve(t) + b }, 0.5)
		if x, y := classOf(cell, o), classOf(cell, moved); x != y {
			t.Errorf("%q became %q", x, y)
		}
	})
}

// At finite G what the band of the mean hides does not count: a class needs the
// swing to be seen, and more than one replica.
func TestClassKnowsItsNoise(t *testing.T) {
	cell, o := record(400, 1, oscillator(0.5, 0.2), 0.5) // swings of 0.16 and 0.027
	cell.Sim.Estimator.GroupSize, cell.Settings.Estimator.GroupSize = 16, 16
	for _, c := range []struct {
		replicas int
		stdErr   float64
		want     Class
	}{
		{1000, 1e-4, Oscillatory},
		{1000, 1e-2, Overshooting}, // the band is about 8 standard errors wide
		{1000, 4e-2, Monotone},
		{1000, 0.3, AtRest},
		{1, 0, ""},
	} {
		cell.Settings.Run.Replicas = c.replicas
		recorded, err := o.Trajectory()
		if err != nil {
			t.Fatal(err)
		}
		for i := range recorded.Steps {
			recorded.Quantities[0].StdErr[i] = store.Number(c.stdErr)
		}
		if got := classOf(cell, o); got != c.want {
			t.Errorf("standard error %g of %d replicas: got %q, want %q", c.stdErr, c.replicas, got, c.want)
		}
	}
}

// classOf is the class of a cell with an outcome, nil where there is none.
func classOf(c *Cell, o *store.Outcome) Class {
	return newEvidence(map[string]*store.Outcome{c.ID: o}).class(c)
}
