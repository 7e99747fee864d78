package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grposim/option"
)

// The record of a block cell is over all steps since the last record: the means of what these steps
// record alone, and the largest ratio. That of other lags is of its step.
func TestRecordIsOfTheStepsSince(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 7))
	deep := baseOfNetworks()
	deep.Estimator.GroupSize, deep.Estimator.Importance, deep.Run.Replicas = 8, everyWeight(option.Clip), chunkSize
	deep, _ = deepCell(deep, []float64{1, 0.5, 2})
	cells := []Cell{*deep.checked()}
	for i := range 150 / thin {
		cells = append(cells, anyTwoArmCell(random, i), anyAgedCell(random, i), anyPromptCell(random, i))
	}
	clipped := 0.0
	for _, c := range cells {
		if c.Run.Replicas = chunkSize; c.Network == nil && random.IntN(2) == 0 {
			c.Run.Record = []Quantity{EffectiveSampleSize}
		}
		all := make([]int, c.Run.Steps+1)
		for step := range all {
			all[step] = step
		}
		laws := newLaws(&c.Bandit, &c.Estimator)
		each := outcomesOf(t, withoutVectors, newBatch(&c, all, laws, new(memoryPools), chunkSize), 0)
		some := outcomesOf(t, withoutVectors, recordingBatch(&c, chunkSize), 0)
		recorded := RecordedSteps(c.Run.Steps, c.Lag)
		for i := range each {
			if each[i].DivergedAt != running || some[i].DivergedAt != running {
				continue
			}
			compare := func(q Quantity, got, of [][quantityCount]float64, index int, over func([]float64) float64) {
				from := 0
				for n, step := range recorded {
					var values []float64
					for s := from; s <= step; s++ {
						values = append(values, of[s][index])
					}
					if from = step + 1; !q.SinceRecord(c.Lag) {
						values = values[len(values)-1:]
					}
					if want := over(values); math.Abs(got[n][index]-want) > 1e-12*math.Abs(want) {
						t.Fatalf("%s: %s at step %d is %.17g, want %.17g\n%+v", c.ID, q, step, got[n][index], want, c)
					}
				}
			}
			compare(ClipFraction, some[i].Values, each[i].Values, clipFractionIndex, meanOf)
			compare(ImportanceRatioMax, some[i].Values, each[i].Values, importanceRatioMaxIndex, slices.Max[[]float64])
			if len(c.Run.Record) > 0 {
				compare(EffectiveSampleSize, some[i].Extras, each[i].Extras, 0, meanOf)
			}
			clipped += some[i].Values[len(recorded)-1][clipFractionIndex]
		}
	}
	if clipped == 0 {
		t.Error("no sample is clipped")
	}
}

func meanOf(values []float64) float64 {
	sum := 0.0
	for _, x := range values {
		sum += x
	}
	return sum / float64(len(values))
}

// The values of blocks of 20 steps under the clip, from an independent simulation of the definition
// in docs/theory.md §1, sample by sample, of 400 runs: the clip sets 12.2 % of the weights of A ≠ 0
// to 0 over the run, and 11.4 % of all.
func TestRecordOfBlocks(t *testing.T) {
	c := referenceCell()
	c.Estimator.GroupSize, c.Estimator.GroupsPerStep = 8, 8
	c.Estimator.Advantage.Scale = option.StdScale
	c.Estimator.Importance.Mode, c.Estimator.KL.Coefficient = option.Clip, 0
	c.Lag.Interval, c.Init = 20, []float64{0, 0}
	c.Run = Run{Steps: 200, Replicas: 500 / thin * 2, Record: []Quantity{EffectiveSampleSize}}
	r := simulate(t, []Cell{c}, 2)[0]
	for i, want := range [][3]float64{
		{0, 1, 1}, {0.4677, 1.2297, 0.9673}, {0.2622, 1.2013, 0.9666}, {0.1597, 1.1050, 0.9828}, {0.1137, 1.0603, 0.9905}, {0.0826, 1.0394, 0.9941},
		{0.0578, 1.0277, 0.9962}, {0.0391, 1.0204, 0.9974}, {0.0235, 1.0154, 0.9983}, {0.0099, 1.0117, 0.9989}, {0.0024, 1.0083, 0.9994},
	} {
		for n, q := range []Quantity{ClipFraction, ImportanceRatioMax, EffectiveSampleSize} {
			got := r.Trajectory[i][slices.Index(r.Quantities, q)]
			near := 5*math.Sqrt(1+float64(c.Run.Replicas)/400)*got.StdErr + 1e-4 // and the rounding of the values above
			if math.Abs(got.Mean-want[n]) > near {
				t.Errorf("step %d: %s is %.5f ± %.5f, want %.5f", r.Steps[i], q, got.Mean, near, want[n])
			}
		}
	}
}

// Vector batches record blocks as replica.step does, also where several blocks lie between two
// records: with unit weights and with dropped ones, in plain steps and others, and of prompts.
func TestVectorBatchesRecordBlocks(t *testing.T) {
	cells := map[string]func(*Cell){
		"unit weights": func(*Cell) {},
		"clip":         func(c *Cell) { c.Estimator.Importance.Mode = option.Clip },
		"clip of three groups, one block late": func(c *Cell) {
			c.Estimator.Importance.Mode, c.Estimator.GroupsPerStep, c.Lag.Behind = option.Clip, 3, 1
		},
		"clip of reused samples": func(c *Cell) {
			c.Estimator.Importance.Mode, c.Estimator.Samples = option.Clip, option.Reused
		},
	}
	for _, order := range option.PromptOrders {
		for _, parameters := range option.ParameterKinds {
			for _, momentum := range []float64{0, 0.5} {
				cells[fmt.Sprint(parameters, ", ", order, ", momentum ", momentum)] = func(c *Cell) {
					c.Optimizer.Momentum, c.Estimator.GroupsPerStep = momentum, 2
					c.Prompts = &Prompts{Parameters: parameters, Order: order, Means: [][2]float64{{0.9, 0.2}, {0.1, 0.8}, {0.5, 0.4}, {1, 0}, {0.3, 0.6}}}
					c.Bandit.TrueMeans = c.means()
				}
			}
		}
	}
	for name, change := range cells {
		t.Run(name, func(t *testing.T) {
			c := referenceCell()
			c.Lag.Interval, c.Estimator.KL.Coefficient = 3, 0.1
			c.Run = Run{Steps: 3001, BurnIn: 10, Replicas: chunkSize}
			change(&c)
			vectorsAreReplicas(t, *c.checked(), 0)
		})
	}
}

// anyAgedCell is anyVectorCell, or in one of three cells has snapshots of random ages.
func anyAgedCell(random *rand.Rand, i int) Cell {
	c := anyVectorCell(random, i)
	if random.IntN(3) == 0 {
		setAges(random, &c)
	}
	return c
}

// setAges gives the snapshots of a cell random ages.
func setAges(random *rand.Rand, c *Cell) {
	c.Lag = option.Lag{Kind: option.Random, Ages: [...]option.Ages{
		{Law: option.UniformAges, To: random.IntN(5)},
		{Law: option.UniformAges, From: 2, To: 40},
		{Law: option.GeometricAges, Mean: 3 * random.Float64()},
		{Law: option.TableAges, Weights: [option.MaxTableAge + 1]float64{1: 1, 4: 2}},
	}[random.IntN(4)]}
	c.Lag.Ages.Drawn = option.AgeDraws[random.IntN(2)]
	if c.Lag.Ages.Drawn == option.AgePerGroup {
		c.Estimator.KL.In = option.InLoss
	}
	c.Estimator.Samples = option.Fresh
	if c.Estimator.Advantage.Baseline == option.RunningMean { // moves once a step
		c.Lag.Ages.Drawn = option.AgePerStep
	}
}
