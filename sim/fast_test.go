package sim

import (
	"testing"

	"grposim/option"
)

// A fast path computes the cells whose words it lists, and no cell with a word that is new.
func TestFastPaths(t *testing.T) {
	standard := func() *Cell {
		return Cell{
			Bandit: option.Bandit{Arms: []option.Arm{{Mean: 0.9}, {Mean: 0.2}}},
			Estimator: option.Estimator{
				GroupSize: 16, KL: option.KL{Coefficient: 0.5}, Importance: everyWeight(option.NoImportance),
			},
			Lag: option.Lag{Interval: 2},
			Optimizer: option.Optimizer{
				LearningRate: 0.1, Momentum: 0.5, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Schedule: option.Schedule{Total: 10},
			},
			ReferenceUpdate: option.ReferenceUpdate{Rate: 0.6},
			Run:             Run{Steps: 10, Replicas: chunkSize},
		}.complete()
	}
	random := option.Lag{Kind: option.Random, Ages: option.Ages{To: 3}}
	type paths struct{ vectors, twoArm bool }
	all, none, slower := paths{true, true}, paths{}, paths{vectors: true}
	for name, c := range map[string]struct {
		change func(*Cell)
		want   paths
	}{
		"the usual":          {func(*Cell) {}, all},
		"redraw":             {func(c *Cell) { c.Estimator.Filter = option.Redraw }, all},
		"others-std":         {func(c *Cell) { c.Estimator.Advantage.Scale = option.OthersStd }, all},
		"unused words of KL": {func(c *Cell) { c.Estimator.KL = option.KL{In: option.InReward, Gradient: option.K3} }, all},
		"moving reference":   {func(c *Cell) { c.ReferenceUpdate.Interval = 3 }, none},
		"random ages":        {func(c *Cell) { c.Lag = random }, none},
		"VESPO":              {func(c *Cell) { c.Estimator.Importance = everyWeight(option.VESPO) }, slower},
		"clip":               {func(c *Cell) { c.Estimator.Importance = everyWeight(option.Clip) }, slower},
		"running mean":       {func(c *Cell) { c.Estimator.Advantage.Baseline = option.RunningMean }, slower},
		"prompts":            {func(c *Cell) { c.Prompts = &Prompts{Parameters: option.Shared} }, none},
		"drop":               {func(c *Cell) { c.Estimator.Filter = option.Drop }, paths{twoArm: true}},
		"KL at snapshot":     {func(c *Cell) { c.Estimator.KL.At = option.AtSnapshot }, all},
		"Nesterov":           {func(c *Cell) { c.Optimizer.Kind = option.Nesterov }, all},
		"batch-std":          {func(c *Cell) { c.Estimator.Advantage.Scale = option.BatchStd }, none},
		"pooled-std":         {func(c *Cell) { c.Estimator.Advantage.Scale = option.PooledStd }, none},
		"batch-mean":         {func(c *Cell) { c.Estimator.Advantage.Scale = option.BatchMean }, none},
		"k1":                 {func(c *Cell) { c.Estimator.KL.Gradient = option.K1 }, slower},
		"ratio-k1":           {func(c *Cell) { c.Estimator.KL.Gradient = option.RatioK1 }, slower},
		"ratio-k3":           {func(c *Cell) { c.Estimator.KL.Gradient = option.RatioK3 }, slower},
		"KL in advantage":    {func(c *Cell) { c.Estimator.KL.In = option.InAdvantage }, none},
		"KL in reward":       {func(c *Cell) { c.Estimator.KL.In = option.InReward }, none},
		"entropy bonus":      {func(c *Cell) { c.Estimator.Entropy = 0.1 }, none},
		"reused samples":     {func(c *Cell) { c.Estimator.Samples = option.Reused }, none},
		"largest norm":       {func(c *Cell) { c.Optimizer.MaxNorm = 1 }, none},
		"constant rewards":   {func(c *Cell) { c.Bandit.Arms[0].Law = option.Constant }, slower},

		"new law":         {func(c *Cell) { c.Bandit.Arms[1].Law = option.Law(len(option.Laws)) }, none},
		"new filter":      {func(c *Cell) { c.Estimator.Filter = option.Filter(len(option.Filters)) }, none},
		"new baseline":    {func(c *Cell) { c.Estimator.Advantage.Baseline = option.Baseline(len(option.Baselines)) }, none},
		"new scale":       {func(c *Cell) { c.Estimator.Advantage.Scale = option.Scale(len(option.Scales)) }, none},
		"new std":         {func(c *Cell) { c.Estimator.Advantage.Std = option.Deviation(len(option.Deviations)) }, none},
		"new placement":   {func(c *Cell) { c.Estimator.KL.In = option.KLPlacement(len(option.KLPlacements)) }, none},
		"new KL gradient": {func(c *Cell) { c.Estimator.KL.Gradient = option.KLGradient(len(option.KLGradients)) }, none},
		"new KL point":    {func(c *Cell) { c.Estimator.KL.At = option.KLPoint(len(option.KLPoints)) }, none},
		"new samples":     {func(c *Cell) { c.Estimator.Samples = option.Samples(len(option.SampleUses)) }, none},
		"new lag":         {func(c *Cell) { c.Lag.Kind = option.LagKind(len(option.LagKinds)) }, none},
		"new method":      {func(c *Cell) { c.Optimizer.Kind = option.Method(len(option.Methods)) }, none},
	} {
		cell := standard()
		c.change(cell)
		if got := (paths{vectorPath.computes(cell), twoArmPath.computes(cell)}); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}
