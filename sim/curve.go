package sim

// CurveFit is what is read off the mean curve of J.
type CurveFit string

const (
	SaturationFit CurveFit = "saturation"  // a free exponential: SaturationRate, SaturationR2
	EarlySlopeFit CurveFit = "early-slope" // the paper's stiffness: EarlySlope
)

// Names of what the fits estimate.
const (
	SaturationRate = "saturation_rate" // per step
	SaturationR2   = "saturation_r2"
	EarlySlope     = "early_slope" // the paper's K
)

const (
	saturationIntervals = 256
	earlySteps          = 100
)

// FitSteps returns the steps at which a fit reads the mean curve of J over a
// run of the given length: for the saturation 0 to steps in at most 256 equal
// intervals, the multiples of ⌈steps/256⌉ and the last; for the early slope
// every step up to 100, and the last.
func FitSteps(fit CurveFit, steps int) []int {
	every, until := max(1, (steps+saturationIntervals-1)/saturationIntervals), steps
	if fit == EarlySlopeFit {
		every, until = 1, min(earlySteps, steps)
	}
	var at []int
	for t := 0; t <= until; t += every {
		at = append(at, t)
	}
	if at[len(at)-1] != steps {
		at = append(at, steps)
	}
	return at
}
