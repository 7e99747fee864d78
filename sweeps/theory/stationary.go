package theory

import (
	"fmt"

	"grposim/option"
	"grposim/rom"
	"grposim/sweeps/config"
)

// NoFixedPoint is the reason for being out of scope where the theory finds no fixed
// point and gives no reason of its own.
const NoFixedPoint = "the theory finds no fixed point"

// MissingFixedPoint returns the theory's own reason for a prediction without fixed point,
// else "".
func MissingFixedPoint(p *rom.Prediction) string {
	if p.FixedPoint == nil {
		return p.Exact.Scope.Because
	}
	return ""
}

// StationaryScope returns the reason why the theory predicts no stationary state for the
// settings; "" where it does.
func StationaryScope(s *config.Settings, p *rom.Prediction) string {
	switch {
	case p.FixedPoint == nil:
		return MissingFixedPoint(p)
	case s.Estimator.GroupSize == option.Infinite:
		switch r := p.Exact.SpectralRadius; {
		case r != nil && *r >= 1:
			return fmt.Sprintf("unstable: spectral radius %.4g", *r)
		case r == nil && p.Exact.Scope.In:
			return "the multipliers of the linear map are not known"
		}
		return ""
	case !p.Noise.In:
		return p.Noise.Because
	case s.Optimizer.Schedule.Warmup > s.Run.BurnIn:
		return "the learning rate still rises after burn-in"
	}
	return ""
}

// StationaryKind returns the kind of the theory's prediction of a stationary state:
// leading order with Adam, else that of the mean force.
func StationaryKind(s *config.Settings, p *rom.Prediction) rom.Kind {
	if s.Optimizer.Kind == option.Adam {
		return rom.LeadingOrder
	}
	return p.ForceKind
}

// Variance returns the stationary Var J of a prediction of its own kind: of the linear
// law, and to second order in the noise or, where that is not computed, linear too; nil
// where there is none.
func Variance(own rom.Kind, p *rom.Prediction) (linear, best *float64) {
	linear = p.Exact.StationaryVariance.ExpectedReward
	if own != rom.Exact {
		linear = p.LeadingOrder.StationaryVariance.ExpectedReward
	}
	if best = p.Moments.RewardVariance; best == nil {
		best = linear
	}
	return linear, best
}

// fewestKicks is the least number of independent forces, 3 divided by the kurtosis of one for
// each step of all replicas, from which the scatter of the replicas tells the error of a number.
const fewestKicks = 100

// RareSamples returns why so few independent forces decide no number of the given name; "" where they do.
func RareSamples(kicks float64, name string) string {
	if !(kicks >= fewestKicks) {
		return fmt.Sprintf("the noise is that of rare samples, about %.2g in the whole run, of which fewer than %d decide no %s", kicks, fewestKicks, name)
	}
	return ""
}
