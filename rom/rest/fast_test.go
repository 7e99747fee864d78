package rest

import (
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
