package rest

import (
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
)

// reference returns the reference bandit of docs/theory.md §5.
func reference(scale option.Scale, beta float64, size int) cell.Params {
	return cell.Params{
		Arms:      []option.Arm{{Mean: 0.9}, {Mean: 0.2}},
		Reference: []float64{0, 0},
		Estimator: option.Estimator{GroupSize: size, GroupsPerStep: 1,
			Advantage: option.Advantage{Scale: scale},
			KL:        option.KL{Coefficient: beta, At: option.AtSnapshot}},
		Lag:       option.Lag{Kind: option.Block, Interval: 1},
		Optimizer: option.Optimizer{LearningRate: 0.1},
		Factors:   cell.Unit,
	}
}

// everyEstimator calls visit with every combination of estimator options, set on a
// copy of base.
func everyEstimator(base cell.Params, visit func(p cell.Params)) {
	for _, baseline := range []option.Baseline{option.MeanBaseline, option.LeaveOneOut} {
		for _, scale := range []option.Scale{option.StdScale, option.NoScale} {
			for _, deviation := range []option.Deviation{option.PopulationStd, option.SampleStd} {
				for _, weighting := range []option.ImportanceMode{option.NoImportance, option.Ratio,
					option.Clip, option.VESPO} {
					for _, estimate := range []option.KLGradient{option.ExactKL, option.K2, option.K3} {
						for _, anchor := range []option.KLPoint{option.AtCurrent, option.AtSnapshot} {
							p := base
							p.Advantage.Baseline, p.Advantage.Scale, p.Advantage.Std = baseline, scale, deviation
							p.Importance.Mode, p.KL.Gradient, p.KL.At = weighting, estimate, anchor
							p.Importance.Power, p.Importance.Decay = option.Signed{Positive: 2, Negative: 3},
								option.Signed{Positive: 3, Negative: 2}
							visit(p)
						}
					}
				}
			}
		}
	}
}

func adamCell(scale option.Scale, size, groups int, beta, rate, beta2 float64,
	interval int) cell.Params {
	return cell.Params{
		Estimator: option.Estimator{
			GroupSize: size, GroupsPerStep: groups, Advantage: option.Advantage{Scale: scale},
			KL: option.KL{Coefficient: beta},
		},
		Lag: option.Lag{Interval: interval},
		Optimizer: option.Optimizer{Kind: option.Adam, LearningRate: rate, Beta1: 0.9, Beta2: beta2,
			Epsilon: 1e-8},
	}
}

// near fails unless got agrees with want to the relative error.
func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s: got %.12g, want %.12g to %.1g", what, got, want, relative)
	}
}

func adamNear(t *testing.T, name string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: got %.9g, want %.9g ± %.2g", name, got, want, tol)
	}
}
