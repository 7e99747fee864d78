package sim

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"grposim/option"
	"grposim/sim/draw"
	"grposim/sim/measure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// referenceCell is the bandit of docs/theory.md §5 at its fixed point. It has Bernoulli arms 0.9
// and 0.2, no scale, β = 0.5, a frozen force and G = 16.
func referenceCell() Cell {
	return Cell{
		ID: "reference", Seed: 1,
		Bandit: option.Bandit{Arms: []option.Arm{{Mean: 0.9}, {Mean: 0.2}}, TrueMeans: []float64{0.9, 0.2}},
		Estimator: option.Estimator{
			GroupSize: 16, GroupsPerStep: 1, Advantage: option.Advantage{Scale: option.NoScale},
			Importance: option.Importance{ClipLow: 0.2, ClipHigh: 0.2},
			KL:         option.KL{Coefficient: 0.5, At: option.AtSnapshot},
		},
		Lag: option.Lag{Interval: 1}, Optimizer: option.Optimizer{LearningRate: 0.1},
		Init: []float64{0.65625, -0.65625}, Reference: []float64{0, 0},
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

// Results are the same bits for 1, 2 and 7 workers, and for a cell alone or with others.
func TestWorkersDoNotMatter(t *testing.T) {
	cells := make([]Cell, 3)
	for i := range cells {
		cells[i] = referenceCell()
		cells[i].Run.Steps, cells[i].Run.BurnIn = 500, 100
	}
	cells[1].ID, cells[1].Lag.Interval, cells[1].Run.Replicas = "other", 4, 33
	cells[1].Estimator.Filter, cells[1].Run.Record = option.Redraw, []Quantity{PassAt(8), SamplesDrawn}
	cells[2].ID, cells[2].Run.Replicas, cells[2].Traces = "followed", 70, 9
	cells[2].Fits = []CurveFit{SaturationFit, EarlySlopeFit}
	want := simulate(t, cells, 1)
	for _, workers := range []int{2, 7} {
		same(t, workers, want, simulate(t, cells, workers))
	}
	same(t, "alone", want[1], simulate(t, cells[1:2], 3)[0])
}

// A worker reuses the laws of the previous cell if they are equal, and the memory of its
// records. The result of a cell is the same as alone, whichever field differs from the
// previous cell's.
func TestCellsBeforeDoNotMatter(t *testing.T) {
	large := referenceCell()
	large.Estimator.GroupSize, large.Run = 4096, Run{Steps: 100, BurnIn: 10, Replicas: 9}
	large.Traces = 3
	cells := []Cell{large}
	for _, change := range []func(c *Cell){
		func(c *Cell) { c.ID = "another" },
		func(c *Cell) { c.Bandit.Arms = []option.Arm{c.Bandit.Arms[0], {Mean: 0.3}} },
		func(c *Cell) { c.Estimator.GroupSize = 1024 },
		func(c *Cell) { c.Estimator.Advantage.Scale = option.StdScale },
		func(c *Cell) { c.Estimator.Advantage.Baseline = option.LeaveOneOut },
		func(c *Cell) { c.Traces = 0 },
		func(c *Cell) { c.Run.Record = []Quantity{PassAt(8), EffectiveSampleSize} },
		func(c *Cell) { c.Run.Steps = 50 },
	} {
		c := large
		change(&c)
		cells = append(cells, c, large)
	}
	together := simulate(t, cells, 1)
	for i := range cells {
		same(t, i, simulate(t, cells[i:i+1], 1)[0], together[i])
	}
}

// A cell's streams depend on each of seed, id, purpose and index, and on nothing else.
func TestStreamsDiffer(t *testing.T) {
	seen := make(map[draw.Xoshiro]bool)
	for _, seed := range []uint64{0, 1} {
		for _, id := range []string{"a", "b"} {
			for _, purpose := range []Purpose{ForReplica, ForStiffness, ForLocation} {
				for index := range 3 {
					seen[*Stream(seed, id, purpose, index)] = true
				}
			}
		}
	}
	if len(seen) != 36 || !seen[*Stream(1, "a", ForReplica, 0)] {
		t.Errorf("%d different streams, want 36", len(seen))
	}
}

// exactLaws holds moments of the exact stationary laws of the nonlinear chain at K = 1,
// μ = 0, η = 0.1 (docs/theory.md §5).
var exactLaws = []struct {
	scale       option.Scale
	strength    float64 // β
	size        int     // G
	z, j        float64 // z*, J*
	shiftZ, ofZ float64 // E z − z*, Var z
	shiftJ, ofJ float64 // E J − J*, Var J
}{
	{option.NoScale, 0.5, 16, 1.3125, 0.751551837, 2.082276e-3, 3.618096e-3, 1.216689e-4, 4.931350e-5},
	{option.NoScale, 0.5, 4, 1.05, 0.718542430, 4.884157e-3, 1.014832e-2, 3.275825e-4, 1.816590e-4},
	{option.StdScale, 1.2, 16, 1.278577203, 0.747545241, 4.654906e-3, 7.905834e-3, 2.887947e-4,
		1.115032e-4},
}

// The moments of the exact nonlinear laws lie in the measured intervals; the fast test fails
// by chance with probability 1e-5. The long one has intervals of 99 % joint confidence, from 120
// million replica-steps each.
func TestExactNonlinearLaw(t *testing.T) {
	run, confidence := Run{Steps: 8000, BurnIn: 1000, Replicas: 256}, 1-1e-5
	if thin == 1 {
		run, confidence = Run{Steps: 31_000, BurnIn: 1000, Replicas: 4096}, 0.99
	}
	var cells []Cell
	for _, law := range exactLaws {
		c := referenceCell()
		c.ID, c.Estimator.Advantage.Scale = "exact law "+law.scale.String(), law.scale
		c.Estimator.KL.Coefficient, c.Estimator.GroupSize = law.strength, law.size
		c.Init = []float64{law.z / 2, -law.z / 2}
		c.Run = run
		cells = append(cells, c)
	}
	each := 1 - (1-confidence)/12
	for i, r := range simulate(t, cells, 2) {
		law := exactLaws[i]
		want := map[string]float64{
			LogitGapMean: law.z + law.shiftZ, LogitGapVariance: law.ofZ,
			ExpectedRewardMean: law.j + law.shiftJ, ExpectedRewardVariance: law.ofJ,
		}
		checked := 0
		for _, e := range r.Estimates {
			x, known := want[e.Name]
			if !known {
				continue
			}
			checked++
			lo, hi := e.Interval(each)
			t.Logf("%s G=%d: %s in [%.7g, %.7g], exactly %.7g", law.scale, law.size, e.Name, lo, hi, x)
			if !(lo <= x && x <= hi) {
				t.Errorf("%s G=%d: %s in [%.7g, %.7g], want %.7g", law.scale, law.size, e.Name, lo, hi, x)
			}
		}
		equal(t, "found", checked, len(want))
	}
}

// At G = ∞ a cell is deterministic: it has one replica, exact estimates, and ends at the
// fixed point of docs/theory.md §5.
func TestInfiniteGroups(t *testing.T) {
	c := referenceCell()
	c.Estimator.GroupSize = option.Infinite
	c.Run.Steps, c.Run.BurnIn = 4000, 3900
	r := simulate(t, []Cell{c}, 1)[0]
	last := r.Trajectory[len(r.Trajectory)-1]
	got := last[expectedRewardIndex].Mean
	if math.Abs(got-0.761528722) > 5e-10 || last[expectedRewardIndex].StdErr != 0 {
		t.Errorf("J = %.10g ± %g, want 0.761528722 ± 0", got, last[expectedRewardIndex].StdErr)
	}
	for _, e := range r.Estimates {
		if e.DF != measure.Exactly {
			t.Errorf("%s has %d degrees of freedom, want an exact estimate", e.Name, e.DF)
		}
	}
}

// A run that leaves the range of floating point has the status Diverged and no averages.
func TestDivergence(t *testing.T) {
	c := referenceCell()
	c.Estimator.KL = option.KL{Coefficient: 50, Gradient: option.K3}
	c.Optimizer.LearningRate = 1.7e308 // a force of 1.1 makes the logits overflow
	// Its logits stay finite, but their squares overflow.
	square := referenceCell()
	square.Estimator.KL = option.KL{Coefficient: 2, Gradient: option.K3}
	square.Optimizer.LearningRate = 1e300
	large := referenceCell()
	large.Bandit.Arms = []option.Arm{{Law: option.Constant, Mean: 1e200}, {Law: option.Constant}}
	large.Bandit.TrueMeans = []float64{1e200, 0}
	for _, cell := range []Cell{c, square, large} {
		r := simulate(t, []Cell{cell}, 2)[0]
		if r.Status != Diverged || r.Diverged == 0 || r.Trajectory != nil || r.Estimates != nil {
			t.Errorf("got status %s, %d of 100 diverged, the first at step %d, %d estimates",
				r.Status, r.Diverged, r.DivergedAt, len(r.Estimates))
		}
	}
}

// An error of done stops the simulation and is returned.
func TestDoneFails(t *testing.T) {
	full := errors.New("disk full")
	cells := []Cell{referenceCell(), referenceCell(), referenceCell()}
	calls := 0
	err := Simulate(t.Context(), cells, 2, func(int, Result) error { calls++; return full })
	if !errors.Is(err, full) || calls != 1 {
		t.Errorf("error %v after %d calls, want %v after 1", err, calls, full)
	}
}

// A panic of a worker becomes an error that names the cell and holds the worker's stack.
func TestPanickingCell(t *testing.T) {
	c := referenceCell()
	work := newCellWork(&c, 0)
	c.Estimator.GroupSize = 1 << 40 // beyond what the samplers draw
	result, err := unit{work, 0}.do(t.Context(), new(workerMemory))
	var p *Panic
	if result != nil || !errors.As(err, &p) || !strings.Contains(p.Error(), "cell reference") ||
		!strings.Contains(string(p.Stack), "grposim/sim/draw.") {
		t.Fatalf("result %v, error %v, want a *Panic with the stack of what panicked", result, err)
	}
}

// Recorded steps are 0, multiples of K, and the last step, in increasing order.
func TestRecordedSteps(t *testing.T) {
	for _, steps := range []int{1, 2, 7, 200, 1003, 1_000_000} {
		for _, lag := range []option.Lag{{Interval: 1}, {Kind: option.Block,
			Interval: 8}, {Interval: 5000}, {Kind: option.Delay, Interval: 3}} {
			recorded := RecordedSteps(steps, lag)
			if recorded[0] != 0 || recorded[len(recorded)-1] != steps || len(recorded) > 202 {
				t.Fatalf("%d steps, %+v: %v", steps, lag, recorded)
			}
			for i, at := range recorded[1:] {
				inner := i+2 < len(recorded)
				if at <= recorded[i] || inner && lag.Kind == option.Block && at%lag.Interval != 0 {
					t.Fatalf("%d steps, %+v: step %d after %d", steps, lag, at, recorded[i])
				}
			}
		}
	}
}

// A step allocates nothing: a run ten times as long has as many allocations.
func TestStepsAllocateNothing(t *testing.T) {
	allocations := func(steps, groupSize, replicas int) float64 {
		c := referenceCell()
		c.Run.Steps, c.Estimator.GroupSize = steps, groupSize
		b := batchAt(&c, []int{0, steps}, replicas)
		return testing.AllocsPerRun(5, func() { b.run(t.Context(), 0, replicas) })
	}
	for _, groupSize := range []int{16, 100, 1000} {
		for _, replicas := range []int{1, chunkSize} {
			short, long := allocations(1000, groupSize, replicas), allocations(10_000, groupSize, replicas)
			equal(t, [2]int{groupSize, replicas}, long, short)
		}
	}
}

// Runs that have come to rest, at a fixed point or locked on an arm, have no variance. Their means
// do not scatter. A variance of 1e-12 about a mean that is far from the start is none of rounding.
func TestVarianceOfRounding(t *testing.T) {
	for _, c := range []struct {
		name                    string
		size, interval          int
		rate, coefficient, most float64
		still                   bool
	}{
		{"a fixed point", option.Infinite, 1, 50, 0.1, 0, true},
		{"locked runs", 16, 8, 20, 0, 0, true},
		{"locked runs of one step", 16, 1, 2000, 0, 0, true},
		{"nearly locked runs", 16, 1, 100, 0, 1e-11, false},
	} {
		cell := Cell{
			Bandit: option.Bandit{Arms: []option.Arm{{Mean: 0.9}, {Mean: 0.2}}},
			Estimator: option.Estimator{GroupSize: c.size,
				Advantage: option.Advantage{Scale: option.NoScale}, KL: option.KL{Coefficient: c.coefficient}},
			Lag:       option.Lag{Interval: c.interval},
			Optimizer: option.Optimizer{LearningRate: c.rate},
			Run:       Run{Steps: 2000, BurnIn: 500, Replicas: 8},
		}
		if c.size != option.Infinite {
			cell.Estimator.Advantage.Scale = option.StdScale
		}
		var got Result
		err := Simulate(t.Context(), []Cell{cell}, 1, func(_ int, r Result) error { got = r; return nil })
		if err != nil {
			t.Fatal(err)
		}
		mean, _ := estimate(got, ExpectedRewardMean)
		variance, _ := estimate(got, ExpectedRewardVariance)
		if still := variance.Mean == 0 && variance.StdErr == 0 && mean.StdErr == 0; still != c.still ||
			!(variance.Mean >= 0 && variance.Mean <= c.most) {
			t.Errorf("%s: E J %+v, Var J %+v", c.name, mean, variance)
		}
	}
}

// estimate returns the estimate of the given name.
func estimate(r Result, name string) (measure.Estimate, bool) {
	i := slices.IndexFunc(r.Estimates, func(e measure.Named) bool { return e.Name == name })
	if i < 0 {
		return measure.Estimate{}, false
	}
	return r.Estimates[i].Estimate, true
}
