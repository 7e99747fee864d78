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
				LearningRate: 0.1, Momentum: 0.5, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8,
				Schedule: option.Schedule{Total: 10},
			},
			ReferenceUpdate: option.ReferenceUpdate{Rate: 0.6},
			Run:             Run{Steps: 10, Replicas: chunkSize},
		}.complete()
	}
	random := option.Lag{Kind: option.Random, Ages: option.Ages{To: 3}}
	type paths struct{ vectors, twoArm bool }
	all, none, slower := paths{true, true}, paths{}, paths{vectors: true}
	var c *Cell
	var e *option.Estimator
	for name, row := range map[string]struct {
		change func()
		want   paths
	}{
		"the usual":          {func() {}, all},
		"redraw":             {func() { e.Filter = option.Redraw }, all},
		"others-std":         {func() { e.Advantage.Scale = option.OthersStd }, all},
		"unused words of KL": {func() { e.KL = option.KL{In: option.InReward, Gradient: option.K3} }, all},
		"moving reference":   {func() { c.ReferenceUpdate.Interval = 3 }, none},
		"schedule of KL":     {func() { e.KL.Schedule.Warmup = 3 }, none},
		"schedule of clip":   {func() { e.Importance.Schedule.Warmup = 3 }, none},
		"schedule of size":   {func() { e.SizeSchedule.Warmup = 3 }, none},
		"random ages":        {func() { c.Lag = random }, none},
		"VESPO":              {func() { e.Importance = everyWeight(option.VESPO) }, slower},
		"clip":               {func() { e.Importance = everyWeight(option.Clip) }, slower},
		"running mean":       {func() { e.Advantage.Baseline = option.RunningMean }, slower},
		"prompts":            {func() { c.Prompts = &Prompts{Parameters: option.Shared} }, none},
		"drop":               {func() { e.Filter = option.Drop }, paths{twoArm: true}},
		"KL at snapshot":     {func() { e.KL.At = option.AtSnapshot }, all},
		"Nesterov":           {func() { c.Optimizer.Kind = option.Nesterov }, all},
		"batch-std":          {func() { e.Advantage.Scale = option.BatchStd }, none},
		"pooled-std":         {func() { e.Advantage.Scale = option.PooledStd }, none},
		"batch-mean":         {func() { e.Advantage.Scale = option.BatchMean }, none},
		"k1":                 {func() { e.KL.Gradient = option.K1 }, slower},
		"ratio-k1":           {func() { e.KL.Gradient = option.RatioK1 }, slower},
		"ratio-k3":           {func() { e.KL.Gradient = option.RatioK3 }, slower},
		"KL in advantage":    {func() { e.KL.In = option.InAdvantage }, none},
		"KL in reward":       {func() { e.KL.In = option.InReward }, none},
		"entropy bonus":      {func() { e.Entropy = 0.1 }, slower},
		"reused samples":     {func() { e.Samples = option.Reused }, slower},
		"largest norm":       {func() { c.Optimizer.MaxNorm = 1 }, all},
		"noise of sampler":   {func() { e.Rollout.Noise = 0.1 }, none},
		"constant rewards":   {func() { c.Bandit.Arms[0].Law = option.Constant }, slower},

		"new law":         {func() { c.Bandit.Arms[1].Law = option.Law(len(option.Laws)) }, none},
		"new filter":      {func() { e.Filter = option.Filter(len(option.Filters)) }, none},
		"new baseline":    {func() { e.Advantage.Baseline = option.Baseline(len(option.Baselines)) }, none},
		"new scale":       {func() { e.Advantage.Scale = option.Scale(len(option.Scales)) }, none},
		"new std":         {func() { e.Advantage.Std = option.Deviation(len(option.Deviations)) }, none},
		"new placement":   {func() { e.KL.In = option.KLPlacement(len(option.KLPlacements)) }, none},
		"new KL gradient": {func() { e.KL.Gradient = option.KLGradient(len(option.KLGradients)) }, none},
		"new KL point":    {func() { e.KL.At = option.KLPoint(len(option.KLPoints)) }, none},
		"new samples":     {func() { e.Samples = option.Samples(len(option.SampleUses)) }, none},
		"new lag":         {func() { c.Lag.Kind = option.LagKind(len(option.LagKinds)) }, none},
		"new method":      {func() { c.Optimizer.Kind = option.Method(len(option.Methods)) }, none},
	} {
		c = standard()
		e = &c.Estimator
		row.change()
		equal(t, name, (paths{vectorPath.computes(c), twoArmPath.computes(c)}), row.want)
	}
}
