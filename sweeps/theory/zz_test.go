package theory

import (
	"context"
	"fmt"
	"testing"
	"time"

	"grposim/option"
	"grposim/sim"
	"grposim/sweeps/config"
)

func TestZZ(t *testing.T) {
	arms := []option.Arm{{Mean: .9}, {Mean: .2}, {Mean: .2}, {Mean: .2}, {Mean: .2}}
	for _, mode := range []option.ImportanceMode{option.NoImportance, option.Ratio} {
		for _, mu := range []float64{0, .9} {
			for _, k := range []int{1, 2, 4} {
				s := config.Settings{Seed: 1, Bandit: option.Bandit{Arms: arms}, Contexts: config.Contexts{Task: "addition"}, Network: config.Network{Kind: "mlp", Layers: 2, Width: 16, Activation: "tanh", Seed: 1}}
				s.Policy.Init.Kind = config.AtFixedPoint
				s.Policy.Reference = make([]float64, 5)
				s.Estimator = option.Estimator{GroupSize: option.Infinite, GroupsPerStep: 1, KL: option.KL{Coefficient: .4}}
				s.Estimator.Advantage.Scale = option.NoScale
				s.Estimator.Importance.Mode = mode
				if mode == option.NoImportance {
					s.Estimator.KL.At = option.AtSnapshot
				} else {
					s.Estimator.KL.Gradient = option.K3
				}
				s.Lag.Interval = k
				s.Optimizer.Momentum = mu
				s.Optimizer.LearningRate = 1
				begin := time.Now()
				net := NewCache().Network(&s)
				took := time.Since(begin)
				c := sim.Cell{ID: "x", Seed: 1, Bandit: s.Bandit, Network: net, Estimator: s.Estimator, Lag: s.Lag, Optimizer: s.Optimizer, Run: sim.Run{Steps: 500}}
				for _, d := range []sim.Displaced{sim.Both, sim.Current} {
					c.Stiffness = append(c.Stiffness, sim.StiffnessProbe{Name: "stiffness_" + string(d), Displaced: d, Displacement: 1e-3, Pairs: 1})
				}
				c.Location = &sim.LocationProbe{Event: sim.Instability, Param: sim.LearningRate, From: .2, To: 60, Tolerance: 1e-4, Offset: 1e-5}
				begin = time.Now()
				sim.Simulate(context.Background(), []sim.Cell{c}, 1, func(_ int, r sim.Result) error {
					fmt.Println(mode, mu, k, took, time.Since(begin))
					l := r.Estimates[0].Mean
					lf := r.Estimates[1].Mean
					for _, e := range r.Estimates {
						fmt.Printf("  %s %.8g ± %.2g; · λ = %.6f, · λ_f = %.6f\n", e.Name, e.Mean, e.Systematic, e.Mean*l, e.Mean*lf)
					}
					return nil
				})
			}
		}
	}
}
