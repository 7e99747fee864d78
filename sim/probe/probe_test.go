package probe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"grposim/option"
	"grposim/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// referenceCell is the bandit of docs/theory.md §5 at its fixed point. It has Bernoulli arms 0.9
// and 0.2, no scale, β = 0.5, a frozen force and G = 16.
func referenceCell() Cell {
	return Cell{Cell: sim.Cell{
		ID: "reference", Seed: 1,
		Bandit: option.Bandit{Arms: []option.Arm{{Mean: 0.9}, {Mean: 0.2}}},
		Estimator: option.Estimator{
			GroupSize: 16, GroupsPerStep: 1, Advantage: option.Advantage{Scale: option.NoScale},
			Importance: option.Importance{ClipLow: 0.2, ClipHigh: 0.2},
			KL:         option.KL{Coefficient: 0.5, At: option.AtSnapshot},
		},
		Lag: option.Lag{Interval: 1}, Optimizer: option.Optimizer{LearningRate: 0.1},
		Init: []float64{0.65625, -0.65625}, Reference: []float64{0, 0},
		Run: sim.Run{Steps: 2000, BurnIn: 500, Replicas: 100},
	}}
}

func simulate(t *testing.T, cells []Cell, workers int) []sim.Result {
	t.Helper()
	results := make([]sim.Result, len(cells))
	done := func(i int, r sim.Result) error { results[i] = r; return nil }
	if err := Simulate(t.Context(), cells, workers, done); err != nil {
		t.Fatal(err)
	}
	return results
}

// probedCells are cells with each kind of probe.
func probedCells() []Cell {
	direction := []float64{1, -1}
	stiff, relaxing, located := referenceCell(), referenceCell(), referenceCell()
	for _, c := range []*Cell{&stiff, &relaxing, &located} {
		c.Run.Steps, c.Run.BurnIn = 500, 100
	}
	stiff.ID, stiff.Run.Replicas = "stiff", 1
	stiff.Stiffness = []Stiffness{{
		Name: StiffnessTotal, Displaced: sim.Both, Point: stiff.Init, Direction: direction,
		Covector: []float64{0.5, -0.5}, Displacement: 0.1, Pairs: 1000,
	}}
	relaxing.ID, relaxing.Run.Replicas = "relaxing", 70
	relaxing.Relaxation = &Relaxation{Point: relaxing.Init, Direction: direction, Offset: 0.05}
	located.ID, located.Run.Replicas, located.Stiffness = "located", 3, stiff.Stiffness
	located.Relaxation = relaxing.Relaxation // a search leaves it out
	located.Location = &Location{
		Event: Instability, Param: LearningRate, From: 1, To: 4, Tolerance: 0.1,
		Point: located.Init, Direction: direction, Offset: 0.05,
	}
	return []Cell{stiff, relaxing, located}
}

// Results are the same bits for 1, 2 and 7 workers.
func TestWorkersDoNotMatter(t *testing.T) {
	cells := probedCells()
	want := simulate(t, cells, 1)
	for _, workers := range []int{2, 7} {
		if diff := cmp.Diff(want, simulate(t, cells, workers)); diff != "" {
			t.Errorf("%d workers: %s", workers, diff)
		}
	}
}

// An interruption stops every kind of probe soon, with long runs and with many groups a step. No
// goroutine is left (TestMain).
func TestInterruptionOfProbes(t *testing.T) {
	direction := []float64{1, -1}
	relaxation := referenceCell()
	relaxation.Run = sim.Run{Steps: math.MaxInt32, Replicas: 64}
	relaxation.Relaxation = &Relaxation{Point: relaxation.Init, Direction: direction, Offset: 0.05}
	wide := relaxation
	wide.Estimator.GroupsPerStep = 20_000
	location := locationCell(option.NoImportance, option.AtSnapshot, Location{
		Event: Instability, Param: LearningRate, From: 1e-9, To: 1, Tolerance: 1e-12})
	location.Run.Steps = math.MaxInt32
	ringing := location
	ringing.Optimizer.LearningRate = 1e-9 // so that intervals are long
	ringing.Location = &Location{
		Event: Ringing, Param: RefreshInterval, From: 0.1, To: 1e6, Tolerance: 1e-12,
		Point: location.Init, Direction: direction, Offset: 1e-5,
	}
	sampled := locationCell(option.NoImportance, option.AtSnapshot, *location.Location)
	sampled.Estimator.GroupSize, sampled.Estimator.GroupsPerStep = 16, 20_000
	sampled.Run = sim.Run{Steps: math.MaxInt32, Replicas: 100}
	sampled.Stiffness[0].Pairs = stiffnessBins * pairsPerDouble
	for i, c := range []Cell{relaxation, wide, location, ringing, sampled} {
		w := c.begin(&c.Cell)
		for _, bins := range w.slopes {
			for i := range bins {
				bins[i] = slopes{near: 0.16, far: 0.16, informative: 100} // in place of a measurement
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		begun := time.Now()
		if w.Alone() {
			w.Estimates(ctx)
		} else {
			w.Do(ctx, w.Units()-1)
		}
		if ctx.Err() == nil {
			t.Errorf("probe %d was finished, want it interrupted", i)
		}
		cancel()
		stop := errors.New("enough")
		ctx, interrupt := context.WithCancelCause(t.Context())
		interrupt(stop)
		finished := func(int, sim.Result) error { t.Error("a cell was finished"); return nil }
		if err := Simulate(ctx, []Cell{c, c}, 3, finished); !errors.Is(err, stop) {
			t.Errorf("error %v, want %v", err, stop)
		}
		if took := time.Since(begun); took > 30*time.Second { // usually far less
			t.Errorf("probe %d stopped %v after its context", i, took-50*time.Millisecond)
		}
	}
}

// Simulate panics on the caller's goroutine with the field, its value and its range.
func TestInvalidCells(t *testing.T) {
	for want, change := range map[string]func(c *Cell){
		"sim: number of arms: got 0":           func(c *Cell) { *c = Cell{} },
		"sim: Stiffness[0].Point: got []":      func(c *Cell) { c.Stiffness[0].Point = nil },
		"sim: Stiffness[0].Pairs: got 0":       func(c *Cell) { c.Stiffness[0].Pairs = 0 },
		"sim: Relaxation.Direction: got [0 0]": func(c *Cell) { c.Relaxation.Direction = []float64{0, 0} },
		"sim: Stiffness: got 1 probes":         func(c *Cell) { c.Stiffness[0].Name = "other" },
		"sim: Location.To: got 0.5":            func(c *Cell) { c.Location.To = 0.5 },
		"sim: Location.Offset: got +Inf":       func(c *Cell) { c.Location.Offset = math.Inf(1) },
		"sim: Location.Param: got lag.interval": func(c *Cell) {
			c.Location.Param,
				c.Lag.Kind = RefreshInterval, option.Random
		},
		"a probe, want none with the baseline": func(c *Cell) { c.Estimator.Advantage.Baseline = option.RunningMean },
		"a probe, want none, with Prompts":     func(c *Cell) { c.Prompts = new(sim.Prompts) },
		"\nsim: Stiffness[0].Displaced: got up,": func(c *Cell) {
			c.Optimizer.Momentum,
				c.Stiffness[0].Displaced = 2, "up"
		},
	} {
		c := probedCells()[2]
		change(&c)
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("got %q, want %q in it", got, want)
				}
			}()
			simulated := func(int, sim.Result) error { t.Error("a cell was simulated"); return nil }
			err := Simulate(t.Context(), []Cell{probedCells()[0], c}, 1, simulated)
			t.Errorf("error %v, want a panic", err)
		}()
	}
}

// Valid cells pass, also with values that are not used: of what a location probe varies, or the
// pairs at G = ∞.
func TestValidCells(t *testing.T) {
	located, rate, interval := probedCells()[2], probedCells()[2], probedCells()[2]
	infinite := probedCells()[0]
	rate.Optimizer.LearningRate = 0
	interval.Location.Param, interval.Lag.Interval = RefreshInterval, 0
	infinite.Estimator.GroupSize, infinite.Run.Replicas = option.Infinite, 0
	infinite.Stiffness[0].Pairs = 0
	for _, c := range []Cell{located, rate, interval, infinite} {
		c.checked()
	}
}
