package rom

import (
	"fmt"
	"math"

	"grposim/rom/scope"
)

// Rule returns the formulas of a kind; nil for a kind that is not that of a formula.
func (p *Prediction) Rule(kind Kind) *Rule {
	switch kind {
	case PaperRule:
		return &p.PaperRule
	case RuleAtStiffness:
		return &p.RuleAtStiffness
	case RuleAtLargestAge:
		return &p.RuleAtLargestAge
	case SufficientRule:
		return &p.SufficientRule
	}
	return nil
}

// Dynamics returns the linear dynamics of a kind, nil for that of a formula: the reduced-order
// model to LeadingOrder, else that of the full map. Where the force is expanded the latter is
// out of scope; Linear gives the dynamics of such a force.
func (p *Prediction) Dynamics(kind Kind) *Dynamics {
	switch {
	case kind.IsRule():
		return nil
	case kind == LeadingOrder:
		return &p.LeadingOrder
	}
	return &p.Exact
}

// Quantity is a number that several kinds of prediction give.
type Quantity int

// The quantities; Dynamics and Rule document each.
const (
	CriticalLearningRate Quantity = iota
	CriticalRefreshInterval
	OscillationLearningRate
	RelaxationRate // of no rule
	DampingRatio
	VarianceOfReward
)

// Number returns a quantity by a kind of prediction; nil where that does not give it.
func (p *Prediction) Number(kind Kind, of Quantity) *float64 {
	if r := p.Rule(kind); r != nil {
		return r.Number(of)
	}
	d := p.Dynamics(kind)
	return [...]*float64{d.CriticalLearningRate, d.CriticalRefreshInterval, d.OscillationLearningRate, d.RelaxationRate, d.DampingRatio, d.StationaryVariance.ExpectedReward}[of]
}

// Number returns a quantity by the formulas; nil where they do not give it.
func (r *Rule) Number(of Quantity) *float64 {
	return [...]*float64{r.CriticalLearningRate, r.CriticalRefreshInterval, r.OscillationLearningRate, nil, r.DampingRatio, r.RewardVariance}[of]
}

// Threshold returns one of the three thresholds, nil where none is known, and the limit of
// the search for it; see Limits.
func (d *Dynamics) Threshold(of Quantity) (threshold *float64, searched float64) {
	switch of {
	case CriticalLearningRate:
		return d.CriticalLearningRate, d.Searched.LearningRate
	case CriticalRefreshInterval:
		return d.CriticalRefreshInterval, d.Searched.RefreshInterval
	case OscillationLearningRate:
		return d.OscillationLearningRate, d.Searched.Onset
	}
	return nil, 0
}

// roundedRadius is the distance of a multiplier's modulus from 1 within which it is 1 but for
// rounding, so that rounding alone would decide between stable and unstable: it errs by about 1e-16
// for each operation of a period.
const roundedRadius = 1e-12

// IsUnstable reports whether a multiplier lies outside the unit circle, by more than rounding.
func (d *Dynamics) IsUnstable() bool {
	return d.SpectralRadius != nil && *d.SpectralRadius > 1+roundedRadius
}

// marginal returns the number of directions that are neither stable nor unstable but for rounding.
func (d *Dynamics) marginal() (count int) {
	for _, z := range d.Multipliers {
		if math.Abs(math.Hypot(z[0], z[1])-1) <= roundedRadius {
			count++
		}
	}
	return count + d.Neutral
}

// Unstable returns why dynamics with a multiplier outside the unit circle have no stationary law,
// with the learning rate and the refresh interval below which they have one, as far as they are
// known.
func (d *Dynamics) Unstable() scope.Reason {
	stable, or := "", "; stable with "
	if rate := d.CriticalLearningRate; rate != nil && *rate > 0 {
		stable, or = fmt.Sprintf("%sa learning rate below about %.3g", or, *rate), " or "
	}
	if interval := d.CriticalRefreshInterval; interval != nil && *interval > 1 {
		stable += fmt.Sprintf("%san interval of the snapshot below about %.3g steps", or, *interval)
	}
	return scope.Unstable.Because(*d.SpectralRadius, stable)
}
