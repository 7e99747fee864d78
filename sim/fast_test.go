package sim

import (
	"testing"

	"grposim/option"
)

// Vectors compute the cells whose words are listed, and no cell with a word that is new.
func TestHasVectors(t *testing.T) {
	standard := func() *Cell {
		return Cell{
			Bandit: option.Bandit{Arms: []option.Arm{{Mean: 0.9}, {Mean: 0.2}}},
			Estimator: option.Estimator{
				GroupSize: 16, KL: option.KL{Coefficient: 0.5}, Importance: everyWeight(option.NoImportance),
			},
			Lag: option.Lag{Interval: 2},
			Optimizer: option.Optimizer{
				LearningRate: 0.1, Momentum: 0.5, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8,
				Schedule: option.Schedule{Total: 10},
			},
			ReferenceUpdate: option.ReferenceUpdate{Rate: 0.6},
			Run:             Run{Steps: 10, Replicas: chunkSize},
		}.complete()
	}
	random := option.Lag{Kind: option.Random, Ages: option.Ages{To: 3}}
	var c *Cell
	var e *option.Estimator
	for name, row := range map[string]struct {
		change func()
		want   bool
	}{
		"the usual":          {func() {}, true},
		"redraw":             {func() { e.Filter = option.Redraw }, true},
		"others-std":         {func() { e.Advantage.Scale = option.OthersStd }, true},
		"unused words of KL": {func() { e.KL = option.KL{In: option.InReward, Gradient: option.K3} }, true},
		"moving reference":   {func() { c.ReferenceUpdate.Interval = 3 }, false},
		"schedule of KL":     {func() { e.KL.Schedule.Warmup = 3 }, false},
		"schedule of clip":   {func() { e.Importance.Schedule.Warmup = 3 }, false},
		"schedule of size":   {func() { e.SizeSchedule.Warmup = 3 }, false},
		"random ages":        {func() { c.Lag = random }, false},
		"VESPO":              {func() { e.Importance = everyWeight(option.VESPO) }, true},
		"clip":               {func() { e.Importance = everyWeight(option.Clip) }, true},
		"running mean":       {func() { e.Advantage.Baseline = option.RunningMean }, true},
		"prompts":            {func() { c.Prompts = &Prompts{Parameters: option.Shared} }, false},
		"drop":               {func() { e.Filter = option.Drop }, false},
		"KL at snapshot":     {func() { e.KL.At = option.AtSnapshot }, true},
		"Nesterov":           {func() { c.Optimizer.Kind = option.Nesterov }, true},
		"batch-std":          {func() { e.Advantage.Scale = option.BatchStd }, false},
		"pooled-std":         {func() { e.Advantage.Scale = option.PooledStd }, false},
		"batch-mean":         {func() { e.Advantage.Scale = option.BatchMean }, false},
		"k1":                 {func() { e.KL.Gradient = option.K1 }, true},
		"ratio-k1":           {func() { e.KL.Gradient = option.RatioK1 }, true},
		"ratio-k3":           {func() { e.KL.Gradient = option.RatioK3 }, true},
		"KL in advantage":    {func() { e.KL.In = option.InAdvantage }, false},
		"KL in reward":       {func() { e.KL.In = option.InReward }, false},
		"entropy bonus":      {func() { e.Entropy = 0.1 }, false},
		"reused samples":     {func() { e.Samples = option.Reused }, false},
		"largest norm":       {func() { c.Optimizer.MaxNorm = 1 }, false},
		"noise of sampler":   {func() { e.Rollout.Noise = 0.1 }, false},
		"constant rewards":   {func() { c.Bandit.Arms[0].Law = option.Constant }, true},

		"new law":         {func() { c.Bandit.Arms[1].Law = option.Law(len(option.Laws)) }, false},
		"new filter":      {func() { e.Filter = option.Filter(len(option.Filters)) }, false},
		"new baseline":    {func() { e.Advantage.Baseline = option.Baseline(len(option.Baselines)) }, false},
		"new scale":       {func() { e.Advantage.Scale = option.Scale(len(option.Scales)) }, false},
		"new std":         {func() { e.Advantage.Std = option.Deviation(len(option.Deviations)) }, false},
		"new placement":   {func() { e.KL.In = option.KLPlacement(len(option.KLPlacements)) }, false},
		"new KL gradient": {func() { e.KL.Gradient = option.KLGradient(len(option.KLGradients)) }, false},
		"new KL point":    {func() { e.KL.At = option.KLPoint(len(option.KLPoints)) }, false},
		"new samples":     {func() { e.Samples = option.Samples(len(option.SampleUses)) }, false},
		"new lag":         {func() { c.Lag.Kind = option.LagKind(len(option.LagKinds)) }, false},
		"new method":      {func() { c.Optimizer.Kind = option.Method(len(option.Methods)) }, false},
	} {
		c = standard()
		e = &c.Estimator
		row.change()
		equal(t, name, hasVectors(c), row.want)
	}
}
