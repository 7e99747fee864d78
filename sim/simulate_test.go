package sim

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"grposim/grpo"
	"grposim/sim/measure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reference is the bandit of docs/theory.md §5 at rest: Bernoulli 0.9 and 0.2,
// no scale, β = 0.5, frozen force, G = 16.
func referenceCell() Cell {
	return Cell{
		ID: "reference", Seed: 1,
		Bandit: grpo.Bandit{
			Arms:      []grpo.Arm{{Reward: grpo.Bernoulli, Mean: 0.9}, {Reward: grpo.Bernoulli, Mean: 0.2}},
			TrueMeans: []float64{0.9, 0.2},
		},
		Estimator: grpo.Estimator{
			GroupSize: 16, GroupsPerStep: 1,
			Advantage:  grpo.Advantage{Baseline: grpo.MeanBaseline, Scale: grpo.NoScale, Std: grpo.PopulationStd},
			Importance: grpo.Importance{Mode: grpo.NoImportance, ClipLow: 0.2, ClipHigh: 0.2},
			KL:         grpo.KL{Coefficient: 0.5, Gradient: grpo.ExactKL, At: grpo.AtSnapshot},
		},
		Lag:       grpo.Lag{Kind: grpo.Block, Interval: 1},
		Optimizer: grpo.Optimizer{Kind: grpo.HeavyBall, LearningRate: 0.1, Schedule: grpo.Schedule{Kind: grpo.ConstantRate}},
		Init:      []float64{0.65625, -0.65625}, Reference: []float64{0, 0},
		Run: Run{Steps: 2000, BurnIn: 500, Replicas: 100},
	}
}

func simulate(t *testing.T, cells []Cell, workers int) []Result {
	t.Helper()
	results := make([]Result, len(cells))
	if err := Simulate(t.Context(), cells, workers, func(i int, r Result) error {
		results[i] = r
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return results
}

// The same bits for 1, 2 and 7 workers, and whatever else runs beside a cell.
func TestWorkersDoNotMatter(t *testing.T) {
	cells := []Cell{referenceCell(), referenceCell(), referenceCell()}
	cells[1].ID, cells[1].Lag.Interval, cells[1].Run.Replicas = "other", 4, 33
	cells[2].ID, cells[2].Run.Replicas = "probed", 1
	cells[2].Stiffness = []StiffnessProbe{{
		Name: "stiffness_total", Displaced: Both, Point: cells[2].Init,
		Direction: []float64{1, -1}, Covector: []float64{0.5, -0.5}, Displacement: 0.1, Pairs: 1000,
	}}
	want := simulate(t, cells, 1)
	for _, workers := range []int{2, 7} {
		if diff := cmp.Diff(want, simulate(t, cells, workers)); diff != "" {
			t.Errorf("%d workers: %s", workers, diff)
		}
	}
	if diff := cmp.Diff(want[1], simulate(t, cells[1:2], 3)[0]); diff != "" {
		t.Errorf("alone: %s", diff)
	}
}

// A cell's streams depend on each of seed, id, purpose and index.
func TestStreamsDiffer(t *testing.T) {
	seen := make(map[uint64]bool)
	for _, seed := range []uint64{0, 1} {
		for _, id := range []string{"a", "b"} {
			for _, purpose := range []Purpose{ForReplica, ForStiffness} {
				for index := range 3 {
					word := Stream(seed, id, purpose, index).Uint64()
					if seen[word] {
						t.Fatalf("two streams begin with %x", word)
					}
					seen[word] = true
				}
			}
		}
	}
	if a, b := Stream(1, "a", ForReplica, 0).Uint64(), Stream(1, "a", ForReplica, 0).Uint64(); a != b {
		t.Errorf("the same stream begins with %x and %x", a, b)
	}
}

// The exact stationary law of the nonlinear chain (docs/theory.md §5: K = 1,
// μ = 0, η = 0.1, no scale, G = 16) lies in the simulation's interval, of
// failure probability 1e-6 each.
func TestExactNonlinearLaw(t *testing.T) {
	c := referenceCell()
	c.Run = Run{Steps: 12_000, BurnIn: 1000, Replicas: 256}
	r := simulate(t, []Cell{c}, 2)[0]
	for _, want := range []struct {
		name  string
		value float64
	}{
		{LogitGapMean, 1.3125 + 2.082276e-3}, {LogitGapVariance, 3.618096e-3},
		{ExpectedRewardMean, 0.751551837 + 1.216689e-4}, {ExpectedRewardVariance, 4.931350e-5},
	} {
		for _, e := range r.Estimates {
			if e.Name != want.name {
				continue
			}
			if lo, hi := e.Interval(1 - 1e-6); !(lo <= want.value && want.value <= hi) {
				t.Errorf("%s in [%g, %g], want %g", e.Name, lo, hi, want.value)
			}
		}
	}
}

// At G = ∞ a cell is deterministic: one replica, no error, the fixed point of
// docs/theory.md §5.
func TestInfiniteGroups(t *testing.T) {
	c := referenceCell()
	c.Estimator.GroupSize = grpo.Infinite
	c.Run.Steps, c.Run.BurnIn = 4000, 3900
	r := simulate(t, []Cell{c}, 1)[0]
	last := r.Trajectory[len(r.Trajectory)-1]
	if got := last[0].Mean; math.Abs(got-0.761528722) > 5e-10 || last[0].StdErr != 0 {
		t.Errorf("J = %.10g ± %g, want 0.761528722 ± 0", got, last[0].StdErr)
	}
	for _, e := range r.Estimates {
		if e.DF != measure.Exactly {
			t.Errorf("%s has %d degrees of freedom", e.Name, e.DF)
		}
	}
}

// A run that leaves the range of floating point is a result with a status.
func TestDivergence(t *testing.T) {
	c := referenceCell()
	c.Estimator.KL = grpo.KL{Coefficient: 50, Gradient: grpo.K3, At: grpo.AtCurrent}
	c.Optimizer.LearningRate = 1.7e308 // a force of 1.1 overflows
	r := simulate(t, []Cell{c}, 2)[0]
	if r.Status != Diverged || r.Diverged == 0 || r.Trajectory != nil || r.Estimates != nil {
		t.Errorf("status %s, %d of 100 diverged at %d, %d estimates", r.Status, r.Diverged, r.DivergedAt, len(r.Estimates))
	}
}

// Simulate stops soon after its context is done, reports the cause and leaves
// no goroutine behind (TestMain).
func TestInterruption(t *testing.T) {
	c := referenceCell()
	c.Run = Run{Steps: math.MaxInt32, Replicas: 1000}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	go cancel(stop)
	err := Simulate(ctx, []Cell{c, c}, 3, func(int, Result) error { t.Error("a cell was finished"); return nil })
	if !errors.Is(err, stop) {
		t.Errorf("error %v, want %v", err, stop)
	}
}

// An error of done stops the simulation and comes back.
func TestDoneFails(t *testing.T) {
	full := errors.New("disk full")
	cells := []Cell{referenceCell(), referenceCell(), referenceCell()}
	calls := 0
	err := Simulate(t.Context(), cells, 2, func(int, Result) error { calls++; return full })
	if !errors.Is(err, full) || calls != 1 {
		t.Errorf("error %v after %d calls, want %v after 1", err, calls, full)
	}
}

// Steps recorded are 0, multiples of K, and the last, in order.
func TestRecordedSteps(t *testing.T) {
	for _, steps := range []int{1, 2, 7, 200, 1003, 1_000_000} {
		for _, lag := range []grpo.Lag{{Kind: grpo.Block, Interval: 1}, {Kind: grpo.Block, Interval: 8}, {Kind: grpo.Block, Interval: 5000}, {Kind: grpo.Delay, Interval: 3}} {
			recorded := RecordedSteps(steps, lag)
			if recorded[0] != 0 || recorded[len(recorded)-1] != steps || len(recorded) > 202 {
				t.Fatalf("%d steps, %+v: %v", steps, lag, recorded)
			}
			for i, at := range recorded[1:] {
				inner := i+2 < len(recorded)
				if at <= recorded[i] || inner && lag.Kind == grpo.Block && at%lag.Interval != 0 {
					t.Fatalf("%d steps, %+v: step %d after %d", steps, lag, at, recorded[i])
				}
			}
		}
	}
}

// A step of the hot loop allocates nothing: a run ten times as long allocates
// as much.
func TestStepsAllocateNothing(t *testing.T) {
	allocations := func(steps int) float64 {
		c := referenceCell()
		c.Run.Steps = steps
		recorded := []int{0, steps}
		r := newReplica(&c, recorded)
		values := make([][quantityCount]float64, len(recorded))
		return testing.AllocsPerRun(5, func() { r.run(t.Context(), 0, values) })
	}
	if short, long := allocations(1000), allocations(10_000); short != long {
		t.Errorf("1000 steps allocate %g times, 10,000 steps %g times", short, long)
	}
}

func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		name   string
		change func(*Cell)
	}{
		{"G16", func(*Cell) {}},
		{"G16/std", func(c *Cell) { c.Estimator.Advantage.Scale = grpo.StdScale }},
		{"G16/K4", func(c *Cell) { c.Lag.Interval = 4 }},
		{"G64", func(c *Cell) { c.Estimator.GroupSize = 64 }},
		{"G1024", func(c *Cell) { c.Estimator.GroupSize = 1024 }},
		{"G65536", func(c *Cell) { c.Estimator.GroupSize = 65536 }},
		{"ten-arms", func(c *Cell) {
			c.Bandit.Arms, c.Bandit.TrueMeans = nil, make([]float64, 10)
			for a := range 10 {
				c.Bandit.Arms = append(c.Bandit.Arms, grpo.Arm{Reward: grpo.Bernoulli, Mean: 0.05 + 0.1*float64(a)})
			}
			c.Init, c.Reference = make([]float64, 10), make([]float64, 10)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			cell := referenceCell()
			c.change(&cell)
			cell.Run.Steps = b.N
			cell.Run.BurnIn = 0
			r := newReplica(&cell, []int{0, b.N})
			b.ReportAllocs()
			b.ResetTimer()
			r.run(b.Context(), 0, make([][quantityCount]float64, 2))
		})
	}
}
