package sim

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"grposim/grpo"
	"grposim/option"
)

// equal checks that two values are the same.
func equal[T comparable](t *testing.T, of any, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%v: got %v, want %v", of, got, want)
	}
}

// same checks that two values are equal. Most are, which reflect finds much faster than cmp.
func same(t *testing.T, of, want, got any) {
	t.Helper()
	if reflect.DeepEqual(want, got) {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%+v:\n%s", of, diff)
	}
}

// near checks that a number is within a tolerance of another.
func near(t *testing.T, of any, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%v: got %.17g, want %.17g", of, got, want)
	}
}

// replicaOutcome is everything that a replica leaves at the end of its run.
type replicaOutcome struct {
	Values     [][]float64
	Curve, Log []float64
	Averages   string
	End        End
	DivergedAt int
}

// together runs a batch in the usual way.
func together(ctx context.Context, b *batch, first int) { b.run(ctx, first, chunkSize) }

// stepByStep runs the replicas of a batch one by one, all steps with replica.step.
func stepByStep(_ context.Context, b *batch, first int) {
	for i, r := range b.replicas {
		r.begin(first + i)
		for step := range r.cell.Run.Steps + 1 {
			r.step(step)
		}
	}
}

func outcomesOf(t *testing.T, run func(context.Context, *batch, int), b *batch,
	first int) []replicaOutcome {
	run(t.Context(), b, first)
	var outcomes []replicaOutcome
	for _, r := range b.replicas {
		avg := r.finish()
		o := replicaOutcome{
			Values: slices.Collect(slices.Chunk(slices.Clone(r.values), r.width)),
			Curve:  slices.Clone(r.curve), Log: slices.Clone(r.log),
			Averages: fmt.Sprintf("%x", avg), End: r.end(avg), DivergedAt: r.divergedAt,
		}
		if r.divergedAt != running {
			o.Averages = "" // nothing of a diverged replica is used
			o.Values, o.Curve, o.Log, o.End = nil, nil, nil, End{}
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}

func recordingBatch(c *Cell, size int) *batch {
	return batchAt(c, RecordedSteps(c.Run.Steps, c.Lag), size)
}

// batchAt returns a batch that records at the given steps.
func batchAt(c *Cell, recorded []int, size int) *batch {
	return newBatch(c, recorded, newLaws(&c.Bandit, &c.Estimator), size)
}

// withoutVectors runs a batch by its two-arm batch.
func withoutVectors(ctx context.Context, b *batch, first int) {
	b.vectors = nil
	b.run(ctx, first, chunkSize)
}

// pick returns one of several values.
func pick[T any](random *rand.Rand, of ...T) T { return of[random.IntN(len(of))] }

// anyVectorCell returns a random cell that runs in vectors where the processor has them.
func anyVectorCell(random *rand.Rand, i int) Cell {
	for {
		if c := anyCell(random, i); vectorPath.computes(&c) {
			return c
		}
	}
}

// anyCell returns a random cell of one prompt.
func anyCell(random *rand.Rand, i int) Cell {
	c := anyTwoArmCell(random, i)
	c.Estimator.GroupSize = pick(random, 2, 3, 16, 17, 21, 32, 64, 65, 128, 129, 1000, 5000, 200_000)
	if arms := pick(random, 2, 3, 4, 7, 12, 40); arms > 2 {
		c.ID = fmt.Sprint(arms, " arms ", i)
		c.Bandit.Arms, c.Init, c.Reference = nil, nil, nil
		for range arms {
			mean := pick(random, 0, 0.5, 1, random.Float64(), random.Float64())
			c.Bandit.Arms = append(c.Bandit.Arms, option.Arm{Mean: mean})
			c.Init = append(c.Init, pick(random, 0, random.NormFloat64(), 20*random.NormFloat64(), 1000))
			c.Reference = append(c.Reference, random.NormFloat64())
		}
		c.Bandit.TrueMeans = c.Bandit.Means()
		c.Run.Steps = 1 + random.IntN(100)
		c.Run.BurnIn = random.IntN(c.Run.Steps)
	}
	if random.IntN(3) == 0 {
		c.Estimator.Entropy = random.Float64()
		if c.Lag.Kind == option.Block {
			c.Estimator.Samples = pick(random, option.Fresh, option.Fresh, option.Reused)
		}
	}
	if random.IntN(2) == 0 {
		c.Estimator.Importance = everyWeight(option.ImportanceModes[random.IntN(len(option.ImportanceModes))])
	}
	if e := &c.Estimator; random.IntN(5) == 0 {
		e.Filter = option.KeepAll
		e.Advantage = option.Advantage{Baseline: option.Baselines[random.IntN(2)],
			Scale: option.BatchStd, Std: option.Deviations[random.IntN(2)], Epsilon: 0.01}
		scale := pick(random, option.BatchStd, option.PooledStd, option.BatchMean)
		if scale != option.BatchStd {
			e.Advantage.Baseline, e.Advantage.Scale = option.MeanBaseline, scale
		}
		if random.IntN(3) == 0 {
			e.Advantage = option.Advantage{Baseline: option.RunningMean, Scale: option.NoScale,
				Value: random.Float64(), Rate: random.Float64()}
		}
	}
	setPenalty(random, &c)
	c.Run.Replicas = 1 + random.IntN(chunkSize)
	return c
}

// setPenalty gives some cells a KL gradient of their samples, and some a reference that moves.
func setPenalty(random *rand.Rand, c *Cell) {
	if random.IntN(2) == 0 {
		c.Estimator.KL.Gradient = option.KLGradients[random.IntN(len(option.KLGradients))]
		if c.Estimator.Filter == option.Drop {
			c.Estimator.Filter = option.KeepAll
		}
	}
	if random.IntN(3) == 0 {
		c.ReferenceUpdate = anyReferenceUpdate(random)
	}
	if random.IntN(3) == 0 {
		c.Estimator.KL.In = option.KLPlacements[random.IntN(len(option.KLPlacements))]
		c.Estimator.KL.Coefficient = 0.3
		if c.Estimator.KL.Outside() {
			if c.Estimator.Filter == option.Drop || c.Estimator.KL.In == option.InReward {
				c.Estimator.Filter = option.KeepAll
			}
			if c.Estimator.Advantage.BinaryOnly() {
				c.Estimator.Advantage = option.Advantage{Scale: option.StdScale, Std: option.SampleStd}
			}
		}
		if c.Estimator.KL.OfAdvantage() && !c.Estimator.Importance.Linear() {
			c.Estimator.Importance = everyWeight(option.Ratio)
		}
	}
}

func anyReferenceUpdate(random *rand.Rand) option.ReferenceUpdate {
	return option.ReferenceUpdate{Interval: 1 + random.IntN(5), Rate: pick(random, 0.1, 0.6, 1)}
}

// setOtherRewards gives the arms constant and normal rewards.
func setOtherRewards(random *rand.Rand, c *Cell) {
	equal := random.IntN(4) == 0
	for a := range c.Bandit.Arms {
		c.Bandit.Arms[a] = [...]option.Arm{
			{Law: option.Constant, Mean: 0.7},
			{Law: option.Constant, Mean: random.NormFloat64()},
			{Law: option.Normal, Mean: 0.7},
			{Law: option.Normal, Mean: random.NormFloat64(), Std: 0.3},
			{Law: option.Normal, Mean: 100 * random.NormFloat64(), Std: 10 * random.Float64()},
		}[random.IntN(5)]
		if equal {
			c.Bandit.Arms[a] = option.Arm{Law: option.Constant, Mean: 0.7}
		}
	}
	c.Bandit.TrueMeans = c.Bandit.Means()
	c.Estimator.Filter = option.KeepAll
	if c.Estimator.Advantage.BinaryOnly() {
		c.Estimator.Advantage = option.Advantage{Baseline: option.LeaveOneOut, Scale: option.NoScale}
	}
	if grpo.WeightsBySign(&c.Estimator.Importance) { // has no vectors with normal rewards
		for a := range c.Bandit.Arms {
			c.Bandit.Arms[a].Law = option.Constant
		}
	}
}

// vectorBatchOf returns a batch of a cell that uses vectors. It skips the test without
// vector instructions.
func vectorBatchOf(t *testing.T, c *Cell) *batch {
	b := recordingBatch(c, chunkSize)
	if b.vectors == nil {
		t.Skip("no vector instructions: this build or this processor lacks them")
	}
	return b
}

// Vector batches give to the last bit the results of replica.step.
func TestVectorBatchIsTheGeneralReplica(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 400 / thin {
		c := anyVectorCell(random, i)
		if i%3 == 0 {
			setOtherRewards(random, &c)
		}
		vectorsAreReplicas(t, c, random.IntN(100))
	}
}

// vectorsAreReplicas checks that vector batches of a cell give the results of replica.step, for
// replicas from the given index on.
func vectorsAreReplicas(t *testing.T, c Cell, first int) {
	t.Helper()
	if first%2 == 1 {
		if c.Run.Record = recordable(&c); c.countsRedraws() || c.averages(EffectiveSampleSize) {
			c.Run.Record = nil
		}
	}
	b := vectorBatchOf(t, &c)
	want := outcomesOf(t, stepByStep, recordingBatch(&c, chunkSize), first)
	same(t, c, want, outcomesOf(t, together, b, first))
	// the same memory again, with fewer replicas
	few := max(fewestVector, c.Run.Replicas)
	b.run(t.Context(), first+1, few)
	got := outcomesOf(t, func(context.Context, *batch, int) {}, &batch{replicas: b.replicas[:few-1]}, 0)
	same(t, c, want[1:few], got)
}

// A replica diverges at the same step in a vector batch and alone.
func TestVectorBatchDiverges(t *testing.T) {
	divergesAlike(t, rand.New(rand.NewPCG(3, 4)), 250/thin, anyVectorCell, together)
}

// The step of a divergence is that of the first policy that is NaN, also between recorded steps.
// With finite logits it is that of the first recorded quantity that overflows.
func TestStepOfDivergence(t *testing.T) {
	between, recorded := referenceCell(), referenceCell()
	between.Estimator.KL = option.KL{Coefficient: 50}
	between.Optimizer.LearningRate, between.Lag.Interval, between.Run.Steps = 1.7e308, 50, 400
	recorded.Reference, recorded.Optimizer.LearningRate = []float64{1e200, -1e200}, 1e-300
	for want, c := range map[int]Cell{2: between, 0: recorded} {
		for name, run := range map[string]func(context.Context, *batch, int){"step": stepByStep,
			"two-arm batch": withoutVectors, "usual": together} {
			for _, o := range outcomesOf(t, run, recordingBatch(&c, chunkSize), 0) {
				equal(t, name, o.DivergedAt, want)
			}
		}
	}
}

// divergesAlike checks run against replica.step in cells of which most diverge. Replicas do so at
// the same step, and have the same results where they do not.
func divergesAlike(t *testing.T, random *rand.Rand, cells int, anyCell func(*rand.Rand, int) Cell,
	run func(context.Context, *batch, int)) {
	t.Helper()
	diverged := 0
	for i := range cells {
		c := anyCell(random, i)
		c.Lag.Interval = 1 + random.IntN(3)
		c.Estimator.KL.Coefficient *= 1e3
		c.Optimizer.Momentum, c.Optimizer.LearningRate = 0.99, math.Pow(10, 308*random.Float64())
		want := outcomesOf(t, stepByStep, recordingBatch(&c, chunkSize), 0)
		same(t, c, want, outcomesOf(t, run, recordingBatch(&c, chunkSize), 0))
		if want[0].DivergedAt != running {
			diverged++
		}
	}
	if diverged < cells/25 {
		t.Errorf("%d of %d cells diverged, want at least one in 25", diverged, cells)
	}
}

// anyTwoArmCell returns a random cell that has a two-arm batch.
func anyTwoArmCell(random *rand.Rand, i int) Cell {
	c := referenceCell()
	c.ID = fmt.Sprint("two arms ", i)
	e := &c.Estimator
	c.Bandit.Arms[0].Mean = pick(random, 0.9, 0.5, 1, 0)
	c.Bandit.Arms[1].Mean = pick(random, 0.2, 0.25, random.Float64())
	e.GroupSize = pick(random, 2, 3, 16, 17, 21, 32, 64, 65, 128, 200, 256, 257, 1000)
	e.GroupsPerStep = 1 + random.IntN(3)
	e.Filter = option.Filters[random.IntN(3)]
	e.Advantage.Scale = option.Scales[random.IntN(2)]
	e.Advantage.Baseline = option.Baselines[random.IntN(2)]
	e.Advantage.Std = option.Deviations[random.IntN(2)]
	if random.IntN(3) == 0 {
		e.Filter = option.KeepAll
		e.Advantage = [...]option.Advantage{
			{Baseline: option.SecondBest, Scale: option.NoScale},
			{Baseline: option.SecondBest, Std: option.SampleStd},
			{Scale: option.MeanScale},
			{Baseline: option.LeaveOneOut, Scale: option.OthersStd, Epsilon: 1e-6},
			{Baseline: option.ConstantBaseline, Scale: option.NoScale, Value: pick(random, 0, 0.3, 1)},
		}[random.IntN(5)]
	}
	e.Importance.Mode = pick(random, option.NoImportance, option.Ratio)
	e.KL.At = option.KLPoints[random.IntN(2)]
	e.KL.Coefficient = pick(random, 0, 0.3, 1.7)
	c.Lag = [...]option.Lag{{Interval: 1 + random.IntN(9)}, {Kind: option.Delay, Interval: random.IntN(9)},
		{Interval: 1 + random.IntN(5), Behind: 1 + random.IntN(3)}}[random.IntN(3)]
	c.Optimizer.Momentum = pick(random, 0, 0.5, 0.95)
	c.Optimizer.LearningRate = 0.5 * random.Float64()
	c.Optimizer.Kind = pick(random, option.HeavyBall, option.HeavyBall, option.Nesterov, option.Adam)
	c.Optimizer.Beta1, c.Optimizer.Beta2, c.Optimizer.Epsilon = 0.9, 0.99, 1e-8
	c.Optimizer.MaxNorm = pick(random, 0, 0, 0.1, 1)
	if random.IntN(3) == 0 {
		c.Optimizer.Schedule = option.Schedule{Kind: option.ScheduleKinds[random.IntN(3)],
			Warmup: random.IntN(20), Total: 300}
	}
	c.Reference = []float64{random.NormFloat64(), random.NormFloat64()}
	c.Init = []float64{random.NormFloat64(), random.NormFloat64()}
	c.Run = Run{Steps: 1 + random.IntN(500), Replicas: chunkSize}
	c.Run.BurnIn = random.IntN(c.Run.Steps)
	if random.IntN(2) == 0 {
		c.Fits = []CurveFit{SaturationFit, EarlySlopeFit}
	}
	return c
}

// A two-arm batch gives to the last bit the results of replica.step.
func TestTwoArmBatchIsTheGeneralReplica(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	advanced := 0
	for i := range 200 / thin {
		c := anyTwoArmCell(random, i)
		b := recordingBatch(&c, chunkSize)
		if b.twoArm == nil {
			t.Fatalf("no two-arm batch for %+v", c)
		}
		advanced += c.Run.Steps + 1 - len(b.observed)
		first := random.IntN(100)
		if c.Run.Record = recordable(&c); !c.countsRedraws() {
			b = recordingBatch(&c, chunkSize)
		} else {
			c.Run.Record = nil
		}
		want := outcomesOf(t, stepByStep, recordingBatch(&c, chunkSize), first)
		same(t, c, want, outcomesOf(t, withoutVectors, b, first))
	}
	if advanced < 1000/thin {
		t.Errorf("the two-arm batches did only %d steps, want at least %d", advanced, 1000/thin)
	}
}

// A replica diverges at the same step in a two-arm batch and alone.
func TestTwoArmBatchDiverges(t *testing.T) {
	divergesAlike(t, rand.New(rand.NewPCG(1, 2)), 100/thin, anyTwoArmCell, withoutVectors)
}
