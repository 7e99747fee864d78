package sim_test

import (
	"fmt"
	"testing"

	"grposim/option"
	"grposim/sim"
)

// BenchmarkStep times a replica-step of Bernoulli arms with heavy ball and an exact KL
// penalty at the current policy, on one worker with a full chunk of replicas.
func BenchmarkStep(b *testing.B) {
	for _, arms := range []int{2, 3, 10, 100} {
		for _, groupSize := range []int{4, 16, 64, 1024, 65536} {
			for _, interval := range []int{1, 4, 16} {
				for _, importance := range []option.ImportanceMode{option.NoImportance, option.Ratio} {
					for _, scale := range []option.Scale{option.StdScale, option.NoScale} {
						cell := benchmarkCell(arms)
						cell.Estimator.GroupSize = groupSize
						cell.Lag.Interval = interval
						cell.Estimator.Importance.Mode = importance
						cell.Estimator.Advantage.Scale = scale
						name := fmt.Sprintf("arms=%d/G=%d/K=%d/importance=%s/scale=%s", arms, groupSize, interval, importance, scale)
						b.Run(name, func(b *testing.B) { benchmarkSteps(b, cell) })
					}
				}
			}
		}
	}
}

// BenchmarkOptions times a replica-step as BenchmarkStep does, at G = 16 with one option on; the
// first is the step without any.
func BenchmarkOptions(b *testing.B) {
	importance := func(imp option.Importance) func(*sim.Cell) {
		return func(c *sim.Cell) { c.Estimator.Importance = imp }
	}
	advantage := func(adv option.Advantage) func(*sim.Cell) {
		return func(c *sim.Cell) { c.Estimator.Advantage = adv }
	}
	for _, with := range []struct {
		name   string
		change func(*sim.Cell)
	}{
		{"none", func(*sim.Cell) {}},
		{"kl-k1", func(c *sim.Cell) { c.Estimator.KL.Gradient = option.K1 }},
		{"kl-k2", func(c *sim.Cell) { c.Estimator.KL.Gradient = option.K2 }},
		{"kl-k3", func(c *sim.Cell) { c.Estimator.KL.Gradient = option.K3 }},
		{"kl-ratio-k1", func(c *sim.Cell) { c.Estimator.KL.Gradient = option.RatioK1 }},
		{"kl-ratio-k3", func(c *sim.Cell) { c.Estimator.KL.Gradient = option.RatioK3 }},
		{"kl-k2-snapshot", func(c *sim.Cell) { c.Estimator.KL.Gradient, c.Estimator.KL.At = option.K2, option.AtSnapshot }},
		{"kl-in-advantage", func(c *sim.Cell) { c.Estimator.KL.In = option.InAdvantage }},
		{"kl-in-reward", func(c *sim.Cell) { c.Estimator.KL.In = option.InReward }},
		{"reference-update", func(c *sim.Cell) { c.ReferenceUpdate = option.ReferenceUpdate{Interval: 4, Rate: 0.1} }},
		{"ages-step", func(c *sim.Cell) { c.Lag = randomAges(option.AgePerStep) }},
		{"ages-group", func(c *sim.Cell) { c.Lag = randomAges(option.AgePerGroup) }},
		{"batch-std", advantage(option.Advantage{Baseline: option.MeanBaseline, Scale: option.BatchStd, Std: option.SampleStd, Epsilon: 1e-4})},
		{"others-std", advantage(option.Advantage{Baseline: option.LeaveOneOut, Scale: option.OthersStd, Epsilon: 1e-6})},
		{"mean", advantage(option.Advantage{Baseline: option.MeanBaseline, Scale: option.MeanScale})},
		{"second-best", advantage(option.Advantage{Baseline: option.SecondBest, Scale: option.StdScale, Std: option.SampleStd})},
		{"drop", func(c *sim.Cell) { c.Estimator.Filter = option.Drop }},
		{"redraw", func(c *sim.Cell) { c.Estimator.Filter = option.Redraw }},
		{"weak-kl", func(c *sim.Cell) { c.Estimator.KL.Coefficient = 0.1 }}, // the step without redraw-weak-kl: more groups of equal rewards
		{"redraw-weak-kl", func(c *sim.Cell) { c.Estimator.KL.Coefficient, c.Estimator.Filter = 0.1, option.Redraw }},
		{"reused", func(c *sim.Cell) { c.Estimator.Samples = option.Reused }},
		{"entropy", func(c *sim.Cell) { c.Estimator.Entropy = 0.01 }},
		{"max-norm", func(c *sim.Cell) { c.Optimizer.MaxNorm = 0.1 }},
		{"nesterov", func(c *sim.Cell) { c.Optimizer.Kind = option.Nesterov }},
		{"adam", func(c *sim.Cell) {
			o := &c.Optimizer
			o.Kind, o.Beta1, o.Beta2, o.Epsilon = option.Adam, 0.9, 0.999, 1e-8
		}},
		{"ratio", importance(option.Importance{Mode: option.Ratio})},
		{"clip", importance(option.Importance{Mode: option.Clip, ClipLow: 0.2, ClipHigh: 0.2})},
		{"dual-clip", importance(option.Importance{Mode: option.DualClip, ClipLow: 0.2, ClipHigh: 0.2, Cap: 3})},
		{"truncated", importance(option.Importance{Mode: option.Truncated, Cap: 2})},
		{"masked", importance(option.Importance{Mode: option.Masked, Floor: 0.5, Cap: 2})},
		{"cispo", importance(option.Importance{Mode: option.CISPO, ClipLow: 0.2, ClipHigh: 0.2})},
		{"dppo", importance(option.Importance{Mode: option.DPPO, ClipLow: 0.1, ClipHigh: 0.1})},
		{"sapo", importance(option.Importance{Mode: option.SAPO, Temperature: option.Signed{Positive: 1, Negative: 1.05}})},
		{"vespo", importance(option.Importance{Mode: option.VESPO, Power: option.Signed{Positive: 2, Negative: 3}, Decay: option.Signed{Positive: 3, Negative: 2}})},
	} {
		for _, arms := range []int{2, 10} {
			for _, interval := range []int{1, 4} {
				cell := benchmarkCell(arms)
				cell.Estimator.GroupSize, cell.Estimator.Advantage.Scale = 16, option.StdScale
				cell.Estimator.Importance.Mode = option.NoImportance
				cell.Lag.Interval = interval
				if with.change(&cell); cell.Lag.Kind == option.Random && interval == 1 {
					continue // has no interval
				}
				name := fmt.Sprintf("option=%s/arms=%d/K=%d", with.name, arms, interval)
				b.Run(name, func(b *testing.B) { benchmarkSteps(b, cell) })
			}
		}
	}
}

// randomAges is a lag of 0 to 3 steps, as a block of four has.
func randomAges(drawn option.AgeDraw) option.Lag {
	return option.Lag{Kind: option.Random, Ages: option.Ages{Law: option.UniformAges, To: 3, Drawn: drawn}}
}

// BenchmarkPrompts times a replica-step of two arms with B groups a step, of C prompts with the
// given momentum, also with groups of equal rewards redrawn, or of the bandit itself.
func BenchmarkPrompts(b *testing.B) {
	for _, groups := range []int{1, 4, 16, 64} {
		for _, groupSize := range []int{8, 16} {
			for _, interval := range []int{1, 4} {
				cell := benchmarkCell(2)
				cell.Estimator.GroupSize, cell.Estimator.GroupsPerStep, cell.Lag.Interval = groupSize, groups, interval
				cell.Estimator.Advantage.Scale, cell.Estimator.Importance.Mode = option.StdScale, option.NoImportance
				size := fmt.Sprintf("B=%d/G=%d/K=%d", groups, groupSize, interval)
				b.Run("plain/"+size, func(b *testing.B) { benchmarkSteps(b, cell) })
				for _, parameters := range option.ParameterKinds {
					for _, momentum := range []float64{0, 0.9} {
						for _, order := range option.PromptOrders {
							for _, count := range []int{4, 64, 512} {
								cell.Optimizer.Momentum = momentum
								cell.Prompts = &sim.Prompts{Parameters: parameters, Order: order}
								for x := range count {
									share := float64(x) / float64(count)
									cell.Prompts.Means = append(cell.Prompts.Means, [2]float64{0.9 - 0.3*share, 0.2 + 0.3*share})
								}
								name := fmt.Sprintf("%s/momentum=%v/%s/C=%d/%s", parameters, momentum, order, count, size)
								b.Run(name, func(b *testing.B) { benchmarkSteps(b, cell) })
								if order == option.Independent {
									redrawn := cell
									redrawn.Estimator.Filter = option.Redraw
									b.Run(name+"/redrawn", func(b *testing.B) { benchmarkSteps(b, redrawn) })
								}
							}
						}
					}
				}
			}
		}
	}
}

// benchmarkCell has two arms with means 0.9 and 0.2, or more arms with means evenly
// spaced over (0, 1).
func benchmarkCell(arms int) sim.Cell {
	cell := sim.Cell{
		ID: "benchmark", Seed: 1,
		Estimator: option.Estimator{
			GroupsPerStep: 1,
			Advantage:     option.Advantage{Baseline: option.MeanBaseline, Std: option.PopulationStd},
			KL:            option.KL{Coefficient: 1, Gradient: option.ExactKL, At: option.AtCurrent},
		},
		Lag: option.Lag{Kind: option.Block},
		Optimizer: option.Optimizer{
			Kind: option.HeavyBall, LearningRate: 0.05, Momentum: 0.9,
			Schedule: option.Schedule{Kind: option.ConstantRate},
		},
		Init: make([]float64, arms), Reference: make([]float64, arms),
	}
	for a := range arms {
		mean := (float64(arms-a) - 0.5) / float64(arms)
		if arms == 2 {
			mean = []float64{0.9, 0.2}[a]
		}
		cell.Bandit.Arms = append(cell.Bandit.Arms, option.Arm{Law: option.Bernoulli, Mean: mean})
		cell.Bandit.TrueMeans = append(cell.Bandit.TrueMeans, mean)
	}
	return cell
}

func benchmarkSteps(b *testing.B, cell sim.Cell) {
	const batch = 16 // a chunk, which a worker runs at once
	cell.Run = sim.Run{Steps: max(1, b.N/batch), Replicas: batch}
	b.ReportAllocs()
	err := sim.Simulate(b.Context(), []sim.Cell{cell}, 1, func(_ int, r sim.Result) error {
		if r.Status != sim.OK {
			return fmt.Errorf("%s at step %d", r.Status, r.DivergedAt)
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
