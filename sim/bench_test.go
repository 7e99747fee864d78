package sim_test

import (
	"fmt"
	"testing"

	"grposim/option"
	"grposim/sim"
)

// BenchmarkStep times a replica-step with heavy ball and an exact KL penalty at the current policy.
// One worker runs a full chunk of replicas of Bernoulli arms.
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

// benchmarkCell has two arms with means 0.9 and 0.2, or more with means evenly spaced over (0, 1).
func benchmarkCell(arms int) sim.Cell {
	cell := sim.Cell{
		Estimator: option.Estimator{KL: option.KL{Coefficient: 1}},
		Optimizer: option.Optimizer{LearningRate: 0.05, Momentum: 0.9},
	}
	for a := range arms {
		mean := (float64(arms-a) - 0.5) / float64(arms)
		if arms == 2 {
			mean = []float64{0.9, 0.2}[a]
		}
		cell.Bandit.Arms = append(cell.Bandit.Arms, option.Arm{Mean: mean})
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
