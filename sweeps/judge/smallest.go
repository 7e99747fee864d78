package judge

import (
	"math"

	"grposim/fp"
	"grposim/rom"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
)

// The factors of the constant from which its effect is computed where the check's own
// control does not scale one by at most moderateFault; larger with sampling, so that the
// effect exceeds the noise.
const (
	smallFactor   = 1.01
	largeFactor   = 1.1
	moderateFault = 1.25
)

// negligibleEffect is the size of d ln(prediction)/d ln(constant) below which a
// prediction is taken not to depend on the constant.
const negligibleEffect = 0.05

// scaledTheory is the theory with one of its constants scaled, for one check and one set of cells.
type scaledTheory struct {
	right    *judgement
	set      plan.CellSet
	constant string
	factor   float64
	findings []claim.Finding // nil: not computed yet
}

// newScaledTheory returns the theory with the constant scaled that the check's control
// scales, else the stiffness. faulty holds the findings with the control's own fault, which
// is used if it is moderate.
func newScaledTheory(right *judgement, set plan.CellSet, faulty []claim.Finding) *scaledTheory {
	t := &scaledTheory{right: right, set: set, constant: "stiffness", factor: smallFactor}
	if set.Sampled() {
		t.factor = largeFactor
	}
	if right.Check.Control == nil {
		return t
	}
	name, factor := right.Check.Control.Scaled()
	if name == "" {
		return t
	}
	t.constant = name
	if math.Abs(math.Log(factor)) <= math.Log(moderateFault) {
		t.factor, t.findings = factor, faulty
	}
	return t
}

// at returns the findings with the constant multiplied by a factor.
func (t *scaledTheory) at(factor float64) []claim.Finding {
	scaled := *t.right
	scaled.Fault.Scale = config.Scaled(t.constant, factor)
	return scaled.Find(t.set)
}

// smallestFault returns the smallest fault that the i-th verdict v on the set would
// catch. f is its finding by the right theory. It is nil unless the verdict agrees with a
// finite prediction that is expected to hold.
//
// The interval lies wholly outside p ± margin once the prediction p has risen by up or
// fallen by down. Where the prediction depends on the constant c, one scaled prediction
// gives its exponent in c; whole numbers change in jumps and are bisected. Where the
// interval is that of a deviation from a predicted curve, the deviation is proportional
// to ln c; that of a bound is linear in it. Elsewhere the fault is one of the predicted value
// itself, where that is no bound that the measurement just reaches.
func (t *scaledTheory) smallestFault(i int, f claim.Finding, v *Verdict) *SmallestFault {
	p, margin := f.Predicted.Value, float64(v.Margin)
	if v.Verdict != Agree || v.Expect != config.Holds || f.Side == claim.Unfound ||
		f.Side == claim.Unreached || math.IsInf(p, 0) {
		return nil
	}
	if l := t.right.Check.Locate; l != nil && l.Param == config.LagIntervalKey &&
		f.Predicted.Kind == rom.Exact {
		return t.bisect(i, *v)
	}
	up, down := f.Hi+margin-p, p+margin-f.Lo
	bound := f.Side == claim.FromBelow
	if bound {
		down = math.Inf(1)
	}
	if t.findings == nil {
		t.findings = t.at(t.factor)
	}
	if g := t.findings[i]; !g.Predicted.Out() && g.Diverged.Diverged == 0 {
		if change := smallestChange(f, g, up, down, margin, math.Log(t.factor)); !math.IsInf(change, 1) {
			return &SmallestFault{t.constant, 100 * change, bound}
		}
	}
	if p == 0 || min(up, down) == 0 {
		return nil
	}
	return &SmallestFault{predictionItself, 100 * min(up, down) / math.Abs(p), bound}
}

// smallestChange returns the smallest |c − 1| of a constant at which the prediction of f rises by
// up or falls by down. A factor e^step gives g. It is +Inf where the prediction does not depend on
// it.
func smallestChange(f, g claim.Finding, up, down, margin, step float64) float64 {
	smallest := math.Inf(1)
	consider := func(logFactor float64) {
		if x := math.Abs(math.Expm1(logFactor)); x < smallest { // NaN is not
			smallest = x
		}
	}
	p, q := f.Predicted.Value, g.Predicted.Value
	switch {
	case g.Measured != f.Measured && f.Side == claim.FromBelow: // a number that must reach a bound
		consider((p - f.Measured) * step / (g.Measured - f.Measured))
	case g.Measured != f.Measured && !math.IsNaN(f.Measured): // a deviation from a predicted curve
		if distance := max(g.Lo, -g.Hi); distance > 0 {
			need := (margin + (g.Hi-g.Lo)/2) * step / g.Measured
			consider(need)
			consider(-need)
		}
	case p*q <= 0:
		if q != p {
			consider(up * step / (q - p))
			consider(-down * step / (q - p))
		}
	case math.Abs(math.Log(q/p)) >= negligibleEffect*math.Abs(step):
		s := math.Log(q/p) / step
		consider(math.Log1p(up/p) / s)
		consider(math.Log1p(-down/p) / s)
	}
	return smallest
}

// Bisection of a fault that makes a whole number jump: factors of at most
// largestBisected, to a width of 2^(1/256) − 1, 0.3 %.
const (
	largestBisected = 2
	bisections      = 8
)

// bisect returns the smallest tried factor of the constant at which the i-th verdict
// disagrees; nil where none up to largestBisected does.
func (t *scaledTheory) bisect(i int, v Verdict) *SmallestFault {
	caught := func(logFactor float64) bool {
		return t.right.rule(v, t.at(fp.MathExp(logFactor))[i]).Verdict == Disagree
	}
	var smallest *SmallestFault
	for _, end := range []float64{math.Log(largestBisected), -math.Log(largestBisected)} {
		if !caught(end) {
			continue
		}
		low, high := 0.0, end
		for range bisections {
			if middle := (low + high) / 2; caught(middle) {
				high = middle
			} else {
				low = middle
			}
		}
		if percent := 100 * math.Abs(math.Expm1(high)); smallest == nil || percent < smallest.Percent {
			smallest = &SmallestFault{t.constant, percent, false}
		}
	}
	return smallest
}
