package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grposim/option"
)

// The record of a block cell is of all steps since the last: the means of these, and the largest
// ratio. That of other lags is of its step.
func TestRecordIsOfTheStepsSince(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 7))
	deep := BaseOfNetworks()
	deep.Estimator.GroupSize, deep.Estimator.Importance = 8, everyWeight(option.Clip)
	deep.Run.Replicas = chunkSize
	deep, _ = DeepCell(deep, []float64{1, 0.5, 2})
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
		each := outcomesOf(t, withoutVectors, batchAt(&c, all, chunkSize), 0)
		some := outcomesOf(t, withoutVectors, recordingBatch(&c, chunkSize), 0)
		recorded := RecordedSteps(c.Run.Steps, c.Lag)
		for i := range each {
			if each[i].DivergedAt != running || some[i].DivergedAt != running {
				continue
			}
			compare := func(q Quantity, got, of [][]float64, index int, over func([]float64) float64) {
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
			compare(ImportanceRatioMax, some[i].Values, each[i].Values, importanceRatioMaxIndex,
				slices.Max[[]float64])
			if len(c.Run.Record) > 0 {
				compare(EffectiveSampleSize, some[i].Values, each[i].Values,
					len(Quantities(len(c.Bandit.Arms))), meanOf)
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

// Vectors record blocks as replica.step does, also where several lie between two records.
func TestVectorBatchesRecordBlocks(t *testing.T) {
	cells := map[string]func(*Cell){
		"unit weights": func(*Cell) {},
		"clip":         func(c *Cell) { c.Estimator.Importance.Mode = option.Clip },
		"clip of three groups, one block late": func(c *Cell) {
			c.Estimator.Importance.Mode, c.Estimator.GroupsPerStep, c.Lag.Behind = option.Clip, 3, 1
		},
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

// anyAgedCell is anyCell, or in one of three cells has snapshots of random ages.
func anyAgedCell(random *rand.Rand, i int) Cell {
	c := anyCell(random, i)
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
