package sim_test

import (
	"fmt"
	"testing"

	"grposim/grpo"
	"grposim/sim"
)

// BenchmarkStep times a replica-step of Bernoulli arms with heavy ball and an exact KL
// penalty at the current policy, on one worker with a full chunk of replicas.
func BenchmarkStep(b *testing.B) {
	for _, arms := range []int{2, 10, 100} {
		for _, groupSize := range []int{4, 16, 64, 1024, 65536} {
			for _, interval := range []int{1, 4, 16} {
				for _, importance := range []grpo.ImportanceMode{grpo.NoImportance, grpo.Ratio} {
					for _, scale := range []grpo.Scale{grpo.StdScale, grpo.NoScale} {
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
	importance := func(imp grpo.Importance) func(*sim.Cell) {
		return func(c *sim.Cell) { c.Estimator.Importance = imp }
	}
	advantage := func(adv grpo.Advantage) func(*sim.Cell) {
		return func(c *sim.Cell) { c.Estimator.Advantage = adv }
	}
	for _, option := range []struct {
		name   string
		change func(*sim.Cell)
	}{
		{"none", func(*sim.Cell) {}},
		{"kl-k1", func(c *sim.Cell) { c.Estimator.KL.Gradient = grpo.K1 }},
		{"kl-k2", func(c *sim.Cell) { c.Estimator.KL.Gradient = grpo.K2 }},
		{"kl-k3", func(c *sim.Cell) { c.Estimator.KL.Gradient = grpo.K3 }},
		{"kl-ratio-k1", func(c *sim.Cell) { c.Estimator.KL.Gradient = grpo.RatioK1 }},
		{"kl-ratio-k3", func(c *sim.Cell) { c.Estimator.KL.Gradient = grpo.RatioK3 }},
		{"kl-k2-snapshot", func(c *sim.Cell) { c.Estimator.KL.Gradient, c.Estimator.KL.At = grpo.K2, grpo.AtSnapshot }},
		{"kl-in-advantage", func(c *sim.Cell) { c.Estimator.KL.In = grpo.InAdvantage }},
		{"kl-in-reward", func(c *sim.Cell) { c.Estimator.KL.In = grpo.InReward }},
		{"reference-update", func(c *sim.Cell) { c.ReferenceUpdate = grpo.ReferenceUpdate{Interval: 4, Rate: 0.1} }},
		{"ages-step", func(c *sim.Cell) { c.Lag = randomAges(grpo.AgePerStep) }},
		{"ages-group", func(c *sim.Cell) { c.Lag = randomAges(grpo.AgePerGroup) }},
		{"batch-std", advantage(grpo.Advantage{Baseline: grpo.MeanBaseline, Scale: grpo.BatchStd, Std: grpo.SampleStd, Epsilon: 1e-4})},
		{"others-std", advantage(grpo.Advantage{Baseline: grpo.LeaveOneOut, Scale: grpo.OthersStd, Epsilon: 1e-6})},
		{"mean", advantage(grpo.Advantage{Baseline: grpo.MeanBaseline, Scale: grpo.MeanScale})},
		{"second-best", advantage(grpo.Advantage{Baseline: grpo.SecondBest, Scale: grpo.StdScale, Std: grpo.SampleStd})},
		{"drop", func(c *sim.Cell) { c.Estimator.Filter = grpo.Drop }},
		{"redraw", func(c *sim.Cell) { c.Estimator.Filter = grpo.Redraw }},
		{"weak-kl", func(c *sim.Cell) { c.Estimator.KL.Coefficient = 0.1 }}, // the step without redraw-weak-kl: more groups of equal rewards
		{"redraw-weak-kl", func(c *sim.Cell) { c.Estimator.KL.Coefficient, c.Estimator.Filter = 0.1, grpo.Redraw }},
		{"reused", func(c *sim.Cell) { c.Estimator.Samples = grpo.Reused }},
		{"entropy", func(c *sim.Cell) { c.Estimator.Entropy = 0.01 }},
		{"max-norm", func(c *sim.Cell) { c.Optimizer.MaxNorm = 0.1 }},
		{"nesterov", func(c *sim.Cell) { c.Optimizer.Kind = grpo.Nesterov }},
		{"adam", func(c *sim.Cell) {
			o := &c.Optimizer
			o.Kind, o.Beta1, o.Beta2, o.Epsilon = grpo.Adam, 0.9, 0.999, 1e-8
		}},
		{"ratio", importance(grpo.Importance{Mode: grpo.Ratio})},
		{"clip", importance(grpo.Importance{Mode: grpo.Clip, ClipLow: 0.2, ClipHigh: 0.2})},
		{"dual-clip", importance(grpo.Importance{Mode: grpo.DualClip, ClipLow: 0.2, ClipHigh: 0.2, Cap: 3})},
		{"truncated", importance(grpo.Importance{Mode: grpo.Truncated, Cap: 2})},
		{"masked", importance(grpo.Importance{Mode: grpo.Masked, Floor: 0.5, Cap: 2})},
		{"cispo", importance(grpo.Importance{Mode: grpo.CISPO, ClipLow: 0.2, ClipHigh: 0.2})},
		{"dppo", importance(grpo.Importance{Mode: grpo.DPPO, ClipLow: 0.1, ClipHigh: 0.1})},
		{"sapo", importance(grpo.Importance{Mode: grpo.SAPO, Temperature: grpo.Signed{Positive: 1, Negative: 1.05}})},
		{"vespo", importance(grpo.Importance{Mode: grpo.VESPO, Power: grpo.Signed{Positive: 2, Negative: 3}, Decay: grpo.Signed{Positive: 3, Negative: 2}})},
	} {
		for _, arms := range []int{2, 10} {
			for _, interval := range []int{1, 4} {
				cell := benchmarkCell(arms)
				cell.Estimator.GroupSize, cell.Estimator.Advantage.Scale = 16, grpo.StdScale
				cell.Estimator.Importance.Mode = grpo.NoImportance
				cell.Lag.Interval = interval
				if option.change(&cell); cell.Lag.Kind == grpo.Random && interval == 1 {
					continue // has no interval
				}
				name := fmt.Sprintf("option=%s/arms=%d/K=%d", option.name, arms, interval)
				b.Run(name, func(b *testing.B) { benchmarkSteps(b, cell) })
			}
		}
	}
}

// randomAges is a lag of 0 to 3 steps, as a block of four has.
func randomAges(drawn grpo.AgeDraw) grpo.Lag {
	return grpo.Lag{Kind: grpo.Random, Ages: grpo.Ages{Law: grpo.UniformAges, To: 3, Drawn: drawn}}
}

// BenchmarkPrompts times a replica-step of two arms with B groups a step, of C prompts with the
// given momentum, also with groups of equal rewards redrawn, or of the bandit itself.
func BenchmarkPrompts(b *testing.B) {
	for _, groups := range []int{1, 4, 16, 64} {
		for _, groupSize := range []int{8, 16} {
			for _, interval := range []int{1, 4} {
				cell := benchmarkCell(2)
				cell.Estimator.GroupSize, cell.Estimator.GroupsPerStep, cell.Lag.Interval = groupSize, groups, interval
				cell.Estimator.Advantage.Scale, cell.Estimator.Importance.Mode = grpo.StdScale, grpo.NoImportance
				size := fmt.Sprintf("B=%d/G=%d/K=%d", groups, groupSize, interval)
				b.Run("plain/"+size, func(b *testing.B) { benchmarkSteps(b, cell) })
				for _, parameters := range sim.ParameterKinds {
					for _, momentum := range []float64{0, 0.9} {
						for _, order := range sim.PromptOrders {
							for _, count := range []int{4, 64, 512} {
								cell.Optimizer.Momentum = momentum
								cell.Prompts = &sim.Prompts{Parameters: parameters, Order: order}
								for x := range count {
									share := float64(x) / float64(count)
									cell.Prompts.Means = append(cell.Prompts.Means, [2]float64{0.9 - 0.3*share, 0.2 + 0.3*share})
								}
								name := fmt.Sprintf("%s/momentum=%v/%s/C=%d/%s", parameters, momentum, order, count, size)
								b.Run(name, func(b *testing.B) { benchmarkSteps(b, cell) })
								if order == sim.Independent {
									redrawn := cell
									redrawn.Estimator.Filter = grpo.Redraw
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
		Estimator: grpo.Estimator{
			GroupsPerStep: 1,
			Advantage:     grpo.Advantage{Baseline: grpo.MeanBaseline, Std: grpo.PopulationStd},
			KL:            grpo.KL{Coefficient: 1, Gradient: grpo.ExactKL, At: grpo.AtCurrent},
		},
		Lag: grpo.Lag{Kind: grpo.Block},
		Optimizer: grpo.Optimizer{
			Kind: grpo.HeavyBall, LearningRate: 0.05, Momentum: 0.9,
			Schedule: grpo.Schedule{Kind: grpo.ConstantRate},
		},
		Init: make([]float64, arms), Reference: make([]float64, arms),
	}
	for a := range arms {
		mean := (float64(arms-a) - 0.5) / float64(arms)
		if arms == 2 {
			mean = []float64{0.9, 0.2}[a]
		}
		cell.Bandit.Arms = append(cell.Bandit.Arms, grpo.Arm{Reward: grpo.Bernoulli, Mean: mean})
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
