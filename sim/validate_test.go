package sim

import (
	"math"
	"testing"

	"grposim/option"
)

// validCell uses every field that validation reads.
func validCell() Cell {
	c := referenceCell()
	c.Bandit.Arms[1] = option.Arm{Law: option.Normal, Mean: 0.2, Std: 0.1}
	c.Run = Run{Steps: 20, BurnIn: 5, Replicas: 2}
	c.Estimator.Importance.Mode = option.Clip
	point, direction := []float64{0.5, -0.5}, []float64{1, -1}
	c.Stiffness = []StiffnessProbe{{
		Name: StiffnessTotal, Displaced: Both, Point: point, Direction: direction,
		Covector: []float64{0.5, -0.5}, Displacement: 0.1, Pairs: 9,
	}}
	c.Relaxation = &RelaxationProbe{Point: point, Direction: direction, Offset: 0.05}
	c.Fits = []CurveFit{SaturationFit}
	return c
}

// locatedCell is validCell with a location probe.
func locatedCell() Cell {
	c := validCell()
	c.Location = &LocationProbe{
		Event: Instability, Param: LearningRate, From: 1, To: 4, Tolerance: 0.1,
		Point: c.Relaxation.Point, Direction: c.Relaxation.Direction, Offset: 0.05,
	}
	return c
}

// Simulate panics on the caller's goroutine with the field, its value and its range; what package
// option checks is tested there.
func TestInvalidCells(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, x := range []struct {
		change func(c *Cell)
		want   string
	}{
		{func(c *Cell) { *c = Cell{ID: "x"} }, "sim: number of arms: got 0, want ≥ 2\nsim: Estimator.GroupSize: got 0, want ≥ 2\nsim: Optimizer.LearningRate: got 0, want a finite number > 0\nsim: Run.Steps: got 0, want at least 1"},
		{func(c *Cell) { c.Bandit.TrueMeans = []float64{} }, `sim: Bandit.TrueMeans: got [], want 2 finite numbers, one an arm`},
		{func(c *Cell) { c.Estimator.GroupSize = 1 << 40 }, `sim: Estimator.GroupSize: got 1099511627776, want at most 2147483648, or option.Infinite`},
		{func(c *Cell) {
			c.Estimator.Advantage = option.Advantage{Baseline: option.RunningMean, Scale: option.NoScale, Rate: 1}
			for a := range c.Bandit.Arms {
				c.Bandit.Arms[a] = option.Arm{Law: option.Bernoulli, Mean: 0.5}
			}
		}, `sim: Stiffness, Relaxation or Location: got a probe, want none with the baseline running-mean`},
		{func(c *Cell) { c.Lag.Behind = -1 }, `sim: Lag.Behind: got -1, want ≥ 0`},
		{func(c *Cell) { c.ReferenceUpdate.Interval = -1 }, `sim: ReferenceUpdate.Interval: got -1, want ≥ 0`},
		{func(c *Cell) {
			c.Estimator.GroupSize = option.Infinite
			c.Lag = option.Lag{Kind: option.Random, Ages: option.Ages{Law: option.GeometricAges, Mean: 2, Drawn: option.AgePerStep}}
		}, `sim: Lag.Ages.Drawn: got step, want option.AgePerGroup where Estimator.GroupSize is option.Infinite`},
		{func(c *Cell) { c.Init = []float64{0, nan} }, `sim: Init: got [0 NaN], want 2 finite numbers, one an arm`},
		{func(c *Cell) { c.Reference = []float64{1} }, `sim: Reference: got [1], want 2 finite numbers, one an arm`},
		{func(c *Cell) { c.Run.Steps = 0 }, `sim: Run.Steps: got 0, want at least 1`},
		{func(c *Cell) { c.Run.BurnIn = 20 }, `sim: Run.BurnIn: got 20, want at least 0 and less than Run.Steps, 20`},
		{func(c *Cell) { c.Traces = -1 }, `sim: Traces: got -1, want at least 0`},
		{func(c *Cell) { c.Stiffness[0].Displaced = "" }, `sim: Stiffness[0].Displaced: got , want total, fresh or stale`},
		{func(c *Cell) { c.Stiffness[0].Point = nil }, `sim: Stiffness[0].Point: got [], want 2 finite numbers, one an arm`},
		{func(c *Cell) { c.Stiffness[0].Direction = nil }, `sim: Stiffness[0].Direction: got [], want 2 finite numbers, one an arm`},
		{func(c *Cell) { c.Stiffness[0].Covector = []float64{nan, 0} }, `sim: Stiffness[0].Covector: got [NaN 0], want 2 finite numbers, one an arm`},
		{func(c *Cell) { c.Stiffness[0].Displacement = 0 }, `sim: Stiffness[0].Displacement: got 0, want a finite number > 0`},
		{func(c *Cell) { c.Stiffness[0].Pairs = 0 }, `sim: Stiffness[0].Pairs: got 0, want at least 1`},
		{func(c *Cell) { c.Fits = []CurveFit{"line"} }, `sim: Fits[0]: got line, want saturation, early-slope or logged`},
		{func(c *Cell) { c.Relaxation.Point = nil }, `sim: Relaxation.Point: got [], want 2 finite numbers, one an arm`},
		{func(c *Cell) { c.Relaxation.Direction = []float64{0, 0} }, `sim: Relaxation.Direction: got [0 0], want a direction other than 0`},
		{func(c *Cell) { c.Relaxation.Offset = 0 }, `sim: Relaxation.Offset: got 0, want a finite number > 0`},
		{func(c *Cell) { *c = locatedCell(); c.Stiffness[0].Name = "other" }, `sim: Stiffness: got 1 probes of other names, want one named stiffness_total, from which Location takes its scale`},
		{func(c *Cell) { *c = locatedCell(); c.Location.Event = "" }, `sim: Location.Event: got , want instability, ringing or visible`},
		{func(c *Cell) { *c = locatedCell(); c.Location.Param = "" }, `sim: Location.Param: got , want optimizer.learning_rate or lag.interval`},
		{func(c *Cell) { *c = locatedCell(); c.Location.From = 0 }, `sim: Location.From: got 0, want a finite number > 0`},
		{func(c *Cell) { *c = locatedCell(); c.Location.To = 0.5 }, `sim: Location.To: got 0.5, want a finite number ≥ Location.From, 1`},
		{func(c *Cell) { *c = locatedCell(); c.Location.Tolerance = -1 }, `sim: Location.Tolerance: got -1, want a finite number ≥ 0`},
		{func(c *Cell) { *c = locatedCell(); c.Location.Offset = inf }, `sim: Location.Offset: got +Inf, want a finite number > 0`},
	} {
		c := validCell()
		x.change(&c)
		if got := simulatePanics(t, []Cell{validCell(), c}, 1); got != x.want {
			t.Errorf("panic %v, want %s", got, x.want)
		}
	}
	if got, want := simulatePanics(t, nil, 0), "sim: workers: got 0, want at least 1"; got != want {
		t.Errorf("panic %v, want %s", got, want)
	}
}

// simulatePanics returns the value with which Simulate panics, nil if it does not.
func simulatePanics(t *testing.T, cells []Cell, workers int) (value any) {
	defer func() { value = recover() }()
	err := Simulate(t.Context(), cells, workers, func(int, Result) error { t.Error("a cell was simulated"); return nil })
	t.Errorf("error %v, want a panic", err)
	return nil
}

// Valid cells pass, also those with a value out of range that is not used: of a
// parameter that a location probe varies, of the replicas and pairs at G = ∞.
func TestValidCells(t *testing.T) {
	rate, interval, infinite := locatedCell(), locatedCell(), validCell()
	rate.Optimizer.LearningRate = 0
	interval.Location.Param, interval.Lag.Interval = RefreshInterval, 0
	infinite.Estimator.GroupSize, infinite.Run.Replicas, infinite.Stiffness[0].Pairs = option.Infinite, 0, 0
	for _, c := range []Cell{validCell(), locatedCell(), rate, interval, infinite} {
		c.checked()
	}
}

// Lists that are nil stand for the arms' means and for zero logits.
func TestNilLists(t *testing.T) {
	full := validCell()
	full.Init, full.Reference = []float64{0, 0}, []float64{0, 0}
	short := full
	short.Bandit.TrueMeans, short.Init, short.Reference = nil, nil, nil
	results := simulate(t, []Cell{full, short}, 1)
	if diff := difference(results[0], results[1]); diff != "" {
		t.Error(diff)
	}
}
