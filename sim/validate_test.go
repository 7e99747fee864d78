package sim

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"grposim/grpo"
)

// validCell uses every field that validation reads.
func validCell() Cell {
	c := referenceCell()
	c.Bandit.Arms[1] = grpo.Arm{Reward: grpo.Normal, Mean: 0.2, Std: 0.1}
	c.Run = Run{Steps: 20, BurnIn: 5, Replicas: 2}
	c.Estimator.Importance.Mode = grpo.Clip
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

// Simulate panics on the caller's goroutine with the field, its value and its range.
func TestInvalidCells(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, x := range []struct {
		change func(c *Cell)
		want   string
	}{
		{func(c *Cell) { *c = Cell{ID: "x"} }, `grpo: number of arms: got 0, want ≥ 2`},
		{func(c *Cell) { c.Bandit.Arms[1].Reward = "cauchy" }, `grpo: Bandit.Arms[1].Reward: got "cauchy", want bernoulli, constant or normal`},
		{func(c *Cell) { c.Bandit.Arms[0].Mean = 1.1 }, `grpo: Bandit.Arms[0].Mean: got 1.1, want a finite number in [0, 1]`},
		{func(c *Cell) { c.Bandit.Arms[1].Mean = inf }, `grpo: Bandit.Arms[1].Mean: got +Inf, want a finite number`},
		{func(c *Cell) { c.Bandit.Arms[1].Std = -1 }, `grpo: Bandit.Arms[1].Std: got -1, want a finite number ≥ 0`},
		{func(c *Cell) { c.Bandit.TrueMeans = []float64{} }, `sim: Cell.Bandit.TrueMeans: got []float64{}, want 2 finite numbers, one an arm`},
		{func(c *Cell) { c.Estimator.GroupSize = 1 }, `grpo: Estimator.GroupSize: got 1, want ≥ 2`},
		{func(c *Cell) { c.Estimator.GroupSize = 1 << 40 }, `sim: Cell.Estimator.GroupSize: got 1099511627776, want at most 2147483648, or grpo.Infinite`},
		{func(c *Cell) { c.Estimator.GroupsPerStep = 0 }, `grpo: Estimator.GroupsPerStep: got 0, want ≥ 1`},
		{func(c *Cell) { c.Estimator.Advantage.Baseline = "" }, `grpo: Estimator.Advantage.Baseline: got "", want mean, leave-one-out, second-best, constant or running-mean`},
		{func(c *Cell) {
			c.Estimator.Advantage = grpo.Advantage{Baseline: grpo.RunningMean, Scale: grpo.NoScale, Rate: 1}
			for a := range c.Bandit.Arms {
				c.Bandit.Arms[a] = grpo.Arm{Reward: grpo.Bernoulli, Mean: 0.5}
			}
		}, `sim: Cell.Stiffness, Relaxation or Location: got "a probe", want none with the baseline running-mean`},
		{func(c *Cell) { c.Estimator.Advantage.Scale = "" }, `grpo: Estimator.Advantage.Scale: got "", want std, none, batch-std, others-std, mean, pooled-std or batch-mean`},
		{func(c *Cell) { c.Estimator.Advantage.Scale, c.Estimator.Advantage.Std = grpo.StdScale, "" }, `grpo: Estimator.Advantage.Std: got "", want population or sample`},
		{func(c *Cell) { c.Estimator.Advantage.Scale, c.Estimator.Advantage.Epsilon = grpo.StdScale, nan }, `grpo: Estimator.Advantage.Epsilon: got NaN, want a finite number ≥ 0`},
		{func(c *Cell) { c.Estimator.Importance.Mode = "" }, `grpo: Estimator.Importance.Mode: got "", want none, ratio, clip, dual-clip, truncated, masked, cispo, sapo, vespo or dppo`},
		{func(c *Cell) { c.Estimator.Importance.ClipLow = 1 }, `grpo: Estimator.Importance.ClipLow: got 1, want a finite number in (0, 1)`},
		{func(c *Cell) { c.Estimator.Importance.ClipHigh = 0 }, `grpo: Estimator.Importance.ClipHigh: got 0, want a finite number > 0`},
		{func(c *Cell) { c.Estimator.KL.Coefficient = -1 }, `grpo: Estimator.KL.Coefficient: got -1, want a finite number ≥ 0`},
		{func(c *Cell) { c.Estimator.KL.Gradient = "k4" }, `grpo: Estimator.KL.Gradient: got "k4", want exact, k1, k2, k3, ratio-k1 or ratio-k3`},
		{func(c *Cell) { c.Estimator.KL.At = "" }, `grpo: Estimator.KL.At: got "", want current or snapshot`},
		{func(c *Cell) { c.Lag.Kind = "" }, `grpo: Lag.Kind: got "", want block, delay or random`},
		{func(c *Cell) { c.Lag.Behind = -1 }, `grpo: Lag.Behind: got -1, want ≥ 0`},
		{func(c *Cell) { c.Lag.Kind = grpo.Random }, `grpo: Lag.Ages.Law: got "", want uniform, geometric or table`},
		{func(c *Cell) {
			c.Estimator.GroupSize = grpo.Infinite
			c.Lag = grpo.Lag{Kind: grpo.Random, Ages: grpo.Ages{Law: grpo.GeometricAges, Mean: 2, Drawn: grpo.AgePerStep}}
		}, `sim: Cell.Lag.Ages.Drawn: got "step", want grpo.AgePerGroup where Estimator.GroupSize is grpo.Infinite`},
		{func(c *Cell) { c.Lag.Interval = 0 }, `grpo: Lag.Interval: got 0, want ≥ 1`},
		{func(c *Cell) { c.Lag = grpo.Lag{Kind: grpo.Delay, Interval: -1} }, `grpo: Lag.Interval: got -1, want ≥ 0`},
		{func(c *Cell) { c.Optimizer.Kind = "sgd" }, `grpo: Optimizer.Kind: got "sgd", want heavy-ball, nesterov or adam`},
		{func(c *Cell) { c.Optimizer.LearningRate = 0 }, `grpo: Optimizer.LearningRate: got 0, want a finite number > 0`},
		{func(c *Cell) { c.Optimizer.Momentum = 1 }, `grpo: Optimizer.Momentum: got 1, want a finite number in [0, 1)`},
		{func(c *Cell) { c.Optimizer.Kind, c.Optimizer.Beta1 = grpo.Adam, 1 }, `grpo: Optimizer.Beta1: got 1, want a finite number in [0, 1)`},
		{func(c *Cell) { c.Optimizer.Kind, c.Optimizer.Beta2 = grpo.Adam, -0.1 }, `grpo: Optimizer.Beta2: got -0.1, want a finite number in [0, 1)`},
		{func(c *Cell) { c.Optimizer.Kind, c.Optimizer.Epsilon = grpo.Adam, nan }, `grpo: Optimizer.Epsilon: got NaN, want a finite number ≥ 0`},
		{func(c *Cell) { c.Optimizer.Schedule.Kind = "" }, `grpo: Optimizer.Schedule.Kind: got "", want constant, linear or cosine`},
		{func(c *Cell) { c.Optimizer.Schedule.Warmup = -1 }, `grpo: Optimizer.Schedule.Warmup: got -1, want ≥ 0`},
		{func(c *Cell) { c.Optimizer.Schedule = grpo.Schedule{Kind: grpo.LinearDecay, Warmup: 5, Total: 5} }, `grpo: Optimizer.Schedule.Total: got 5, want ≥ 6`},
		{func(c *Cell) { c.Init = []float64{0, nan} }, `sim: Cell.Init: got []float64{0, NaN}, want 2 finite numbers, one an arm`},
		{func(c *Cell) { c.Reference = []float64{1} }, `sim: Cell.Reference: got []float64{1}, want 2 finite numbers, one an arm`},
		{func(c *Cell) { c.Run.Steps = 0 }, `sim: Cell.Run.Steps: got 0, want at least 1`},
		{func(c *Cell) { c.Run.BurnIn = 20 }, `sim: Cell.Run.BurnIn: got 20, want at least 0 and less than Run.Steps, 20`},
		{func(c *Cell) { c.Run.Replicas = 0 }, `sim: Cell.Run.Replicas: got 0, want at least 1`},
		{func(c *Cell) { c.Traces = -1 }, `sim: Cell.Traces: got -1, want at least 0`},
		{func(c *Cell) { c.Stiffness[0].Displaced = "" }, `sim: Cell.Stiffness[0].Displaced: got "", want total, fresh or stale`},
		{func(c *Cell) { c.Stiffness[0].Point = nil }, `sim: Cell.Stiffness[0].Point: got []float64(nil), want 2 finite numbers, one an arm`},
		{func(c *Cell) { c.Stiffness[0].Direction = nil }, `sim: Cell.Stiffness[0].Direction: got []float64(nil), want 2 finite numbers, one an arm`},
		{func(c *Cell) { c.Stiffness[0].Covector = []float64{nan, 0} }, `sim: Cell.Stiffness[0].Covector: got []float64{NaN, 0}, want 2 finite numbers, one an arm`},
		{func(c *Cell) { c.Stiffness[0].Displacement = 0 }, `sim: Cell.Stiffness[0].Displacement: got 0, want a finite number > 0`},
		{func(c *Cell) { c.Stiffness[0].Pairs = 0 }, `sim: Cell.Stiffness[0].Pairs: got 0, want at least 1`},
		{func(c *Cell) { c.Fits = []CurveFit{"line"} }, `sim: Cell.Fits[0]: got "line", want saturation, early-slope or logged`},
		{func(c *Cell) { c.Relaxation.Point = nil }, `sim: Cell.Relaxation.Point: got []float64(nil), want 2 finite numbers, one an arm`},
		{func(c *Cell) { c.Relaxation.Direction = []float64{0, 0} }, `sim: Cell.Relaxation.Direction: got []float64{0, 0}, want a direction other than 0`},
		{func(c *Cell) { c.Relaxation.Offset = 0 }, `sim: Cell.Relaxation.Offset: got 0, want a finite number > 0`},
		{func(c *Cell) { *c = locatedCell(); c.Stiffness[0].Name = "other" }, `sim: Cell.Stiffness: got "1 probes of other names", want one named stiffness_total, from which Location takes its scale`},
		{func(c *Cell) { *c = locatedCell(); c.Location.Event = "" }, `sim: Cell.Location.Event: got "", want instability, ringing or visible`},
		{func(c *Cell) { *c = locatedCell(); c.Location.Param = "" }, `sim: Cell.Location.Param: got "", want optimizer.learning_rate or lag.interval`},
		{func(c *Cell) { *c = locatedCell(); c.Location.From = 0 }, `sim: Cell.Location.From: got 0, want a finite number > 0`},
		{func(c *Cell) { *c = locatedCell(); c.Location.To = 0.5 }, `sim: Cell.Location.To: got 0.5, want a finite number ≥ Location.From, 1`},
		{func(c *Cell) { *c = locatedCell(); c.Location.Tolerance = -1 }, `sim: Cell.Location.Tolerance: got -1, want a finite number ≥ 0`},
		{func(c *Cell) { *c = locatedCell(); c.Location.Offset = inf }, `sim: Cell.Location.Offset: got +Inf, want a finite number > 0`},
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
	infinite.Estimator.GroupSize, infinite.Run.Replicas, infinite.Stiffness[0].Pairs = grpo.Infinite, 0, 0
	for _, c := range []Cell{validCell(), locatedCell(), rate, interval, infinite} {
		c.check()
	}
}

// Lists that are nil stand for the arms' means and for zero logits.
func TestNilLists(t *testing.T) {
	full := validCell()
	full.Init, full.Reference = []float64{0, 0}, []float64{0, 0}
	short := full
	short.Bandit.TrueMeans, short.Init, short.Reference = nil, nil, nil
	results := simulate(t, []Cell{full, short}, 1)
	if diff := cmp.Diff(results[0], results[1]); diff != "" {
		t.Error(diff)
	}
}
