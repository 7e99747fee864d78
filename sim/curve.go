package sim

import (
	"slices"

	"grposim/sim/measure"
)

// Names of the estimates of the fits.
const (
	SaturationRate = "saturation_rate" // of the exponential, per step
	SaturationR2   = "saturation_r2"   // its coefficient of determination R²
	EarlySlope     = "early_slope"     // the paper's K, a stiffness
)

// saturationIntervals is the largest number of intervals between the steps that a
// saturation fit reads.
const saturationIntervals = 256

// FitSteps returns the increasing steps at which a fit reads the mean curve of J over a run of the
// given length ≥ 1. The saturation and the log have the multiples of ⌈steps/256⌉ and the last step.
// The early slope has every step up to 100, then ⌊steps/2⌋ and the last. That in the middle shows
// whether the run has converged.
func FitSteps(fit CurveFit, steps int) []int {
	every, until := max(1, (steps+saturationIntervals-1)/saturationIntervals), steps
	if fit == EarlySlopeFit {
		every, until = 1, min(measure.EarlySteps, steps)
	}
	var at []int
	for t := 0; t <= until; t += every {
		at = append(at, t)
	}
	if fit == EarlySlopeFit && steps/2 > until {
		at = append(at, steps/2)
	}
	if at[len(at)-1] != steps {
		at = append(at, steps)
	}
	return at
}

// curveBins is the number of bins: contiguous sets of replicas, over which a jackknife
// gives the error of a fit.
const curveBins = 64

// curveSteps returns the steps at which J is read for any of the fits, in increasing order.
func curveSteps(fits []CurveFit, steps int) []int {
	var at []int
	for _, fit := range fits {
		at = append(at, FitSteps(fit, steps)...)
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// curveEstimates returns the estimates of the cell's fits. sums[b][i] is the sum of J over the
// replicas of bin b at step at[i]. Estimates that the data do not determine are left out.
func curveEstimates(c *Cell, at []int, sums [][]float64) []measure.Named {
	var estimates []measure.Named
	for _, fit := range c.Fits {
		steps := FitSteps(fit, c.Run.Steps)
		var found [][2]float64 // for all replicas, then without each bin in turn
		for without := measure.All; without < len(sums) && fit != LoggedFit; without++ {
			reward := meanCurve(c, at, sums, steps, without)
			first, second := measure.EarlySlope(steps, reward, c.Optimizer.LearningRate), 0.0
			if fit == SaturationFit {
				first, second = measure.Saturation(steps, reward)
			}
			found = append(found, [2]float64{first, second})
		}
		for i, name := range foundBy[fit] {
			e := c.Jackknife(len(sums), func(without int) float64 { return found[without-measure.All][i] })
			estimates = append(estimates, measure.Named{Name: name, Estimate: e})
		}
	}
	return measure.Determined(estimates...)
}

// foundBy holds the names of the estimates of each fit to the mean curve.
var foundBy = map[CurveFit][]string{
	SaturationFit: {SaturationRate, SaturationR2},
	EarlySlopeFit: {EarlySlope},
}

// meanCurve returns the mean of J at the given steps over the replicas of all bins except one.
func meanCurve(c *Cell, at []int, sums [][]float64, steps []int, without int) []float64 {
	mean, count, replicas := make([]float64, len(steps)), 0, c.Replicas()
	for b, sum := range sums {
		if b == without {
			continue
		}
		count += measure.BinStart(b+1, len(sums), replicas) - measure.BinStart(b, len(sums), replicas)
		for i, t := range steps {
			column, _ := slices.BinarySearch(at, t)
			mean[i] += sum[column]
		}
	}
	for i := range mean {
		mean[i] /= float64(count)
	}
	return mean
}
