package rest

import (
	"math"
	"reflect"
	"testing"

	"grposim/option"
	"grposim/rom/cell"

	"gonum.org/v1/gonum/mat"
)

// An equilibrium with other factors or a measured stiffness is the one computed from the
// start, to the rounding of a fixed point that Newton's method finds; each part of its
// prediction is that of the whole.
func TestEquilibriumWith(t *testing.T) {
	for _, size := range []int{8, option.Infinite} {
		p := reference(option.StdScale, 1.2, size)
		p.Optimizer, p.Lag = option.Optimizer{Kind: option.HeavyBall, LearningRate: 0.1, Momentum: 0.5},
			option.Lag{Kind: option.Delay, Interval: 2}
		known := NewEquilibrium(p)
		p.Factors = cell.Factors{Stiffness: 1.3, Noise: 0.7, Lag: 2, Mass: 3}
		for _, measured := range []*cell.Measured{
			nil, {Fresh: mat.NewDense(2, 2, []float64{0.1, -0.1, -0.1, 0.1}),
				Stale: mat.NewDense(2, 2, []float64{0.2, -0.2, -0.2, 0.2})},
		} {
			p.Measured = measured
			with := known.With(p.Factors, measured)
			got, want := with.Predict(p.Optimizer, p.Lag), Predict(p)
			near(t, "E J at the fixed point", got.FixedPoint.Reward, want.FixedPoint.Reward, 1e-14)
			near(t, "λ", got.Stiffness.Total, want.Stiffness.Total, 1e-12)
			near(t, "ζ of the reduced-order model", got.Oscillator.DampingRatio,
				want.Oscillator.DampingRatio, 1e-12)
			near(t, "critical rate", *got.Exact.CriticalLearningRate, *want.Exact.CriticalLearningRate,
				1e-12)
			near(t, "K of the paper", *got.PaperRule.Stiffness, *want.PaperRule.Stiffness, 1e-12)
			if size != option.Infinite {
				near(t, "Var J", *got.Exact.StationaryVariance.ExpectedReward,
					*want.Exact.StationaryVariance.ExpectedReward, 1e-11)
			}
			fresh := known.With(p.Factors, measured)
			rate := fresh.PredictPart(p.Optimizer, p.Lag, CriticalRate).Exact
			if *rate.CriticalLearningRate != *got.Exact.CriticalLearningRate ||
				rate.CriticalRefreshInterval != nil || rate.OscillationLearningRate != nil ||
				rate.SpectralRadius != nil {
				t.Errorf("the critical rate alone: %+v, all %+v", rate, got.Exact)
			}
			law := fresh.PredictPart(p.Optimizer, p.Lag, Multipliers|StationaryLaw)
			if !reflect.DeepEqual(law.Moments, got.Moments) || law.Noise != got.Noise ||
				*law.Exact.SpectralRadius != *got.Exact.SpectralRadius ||
				law.Exact.CriticalLearningRate != nil {
				t.Errorf("without thresholds: %+v, all %+v", law, got)
			}
		}
	}
}

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

// everyEstimator calls visit with every combination of estimator options, set on a copy of base.
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
		Lag:       option.Lag{Interval: interval},
		Optimizer: option.Optimizer{Kind: option.Adam, LearningRate: rate, Beta1: 0.9, Beta2: beta2, Epsilon: 1e-8},
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
