package sweeps

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"grposim/rom"
	"grposim/sim"
	"grposim/sim/measure"
)

func locatedQuantity(event string) func(*Check, []*Cell) []string {
	return func(check *Check, _ []*Cell) []string {
		return []string{event + " in " + shortName(check.Locate.Param)}
	}
}

func safetyQuantities(check *Check, _ []*Cell) []string {
	threshold := "stability threshold in " + shortName(check.Locate.Param)
	return []string{threshold + " against the rule", "threshold / rule"}
}

// findThreshold compares the value at which the motion about the fixed point
// begins to grow with the exact threshold at the measured stiffness.
func findThreshold(j *judgement, c *Cell, o *Outcome) finding {
	return j.locatedAgainst(c, o, (*judgement).threshold)
}

// findOnset compares the value at which it begins to ring.
func findOnset(j *judgement, c *Cell, o *Outcome) finding {
	return j.locatedAgainst(c, o, (*judgement).onset)
}

// findSafety holds the located threshold against the paper's rule, from one
// side, and their ratio against the exact one. The rule is the rule at the
// measured stiffness; a planted fault of the stiffness shifts it.
func findSafety(j *judgement, set CellSet) []finding {
	c := set.Cells[0]
	o := j.outcome(c)
	quantities := safetyQuantities(j.check, set.Cells)

	rule := *j
	rule.kind = rom.PaperRule
	if j.refuted() {
		rule.kind = "" // the exact prediction in the rule's place
	}
	safe := rule.locatedAgainst(c, o, (*judgement).threshold)
	safe.quantity, safe.side = quantities[0], FromBelow

	right := *j // the rule that both ratios are taken to
	right.kind, right.set, right.factors = rom.PaperRule, nil, rom.Unit
	reference, _ := right.threshold(c, o)
	exact := *j
	exact.kind = ""
	ratio := exact.locatedAgainst(c, o, (*judgement).threshold)
	ratio.quantity, ratio.expect = quantities[1], Holds
	for _, x := range []*float64{&ratio.measured, &ratio.lo, &ratio.hi, &ratio.predicted} {
		*x /= reference
	}
	return []finding{safe, ratio}
}

// refuted reports whether j is the control of a refutation: the exact
// prediction judged in the place of the refuted one.
func (j *judgement) refuted() bool { return j.check.Expect == Fails && j.kind != j.check.Prediction }

// locatedAgainst begins a finding with the located bracket, widened by the
// interval of the measured stiffness that it scales with, and a prediction at
// that stiffness. Where no event was found up to the end of the search the
// bracket has no upper end.
func (j *judgement) locatedAgainst(c *Cell, o *Outcome, predict func(*judgement, *Cell, *Outcome) (float64, string)) finding {
	f := unmeasured(j.kind)
	if f.kind == "" {
		f.kind = rom.Exact
	}
	low, found := o.estimate(sim.LocatedLow)
	if !found {
		f.outOfScope = "the measured stiffness gives the search no scale"
		return f
	}
	f.lo, f.hi, f.measured, f.side = low.Mean, math.Inf(1), low.Mean, Beyond
	if high, found := o.estimate(sim.LocatedHigh); found {
		f.hi, f.measured, f.side = high.Mean, (low.Mean+high.Mean)/2, FromBothSides
	}
	if stiffness, ok := o.estimate(stiffnessTotal); ok && stiffness.DF != measure.Exactly {
		lo, hi := stiffness.Interval(j.confidence)
		half := (hi - lo) / 2 / math.Abs(stiffness.Mean)
		f.lo *= 1 - half
		f.hi *= 1 + half
	}
	f.predicted, f.outOfScope = predict(j, c, o)
	return f
}

// threshold returns the smallest unstable value of the located parameter, at
// the measured stiffness; +Inf where there is none.
func (j *judgement) threshold(c *Cell, o *Outcome) (value float64, outOfScope string) {
	p, why := j.atMeasured(c, o, j.settings(c))
	if why != "" {
		return 0, why
	}
	rate, interval := p.Exact.CriticalLearningRate, p.Exact.CriticalRefreshInterval
	switch j.kind {
	case rom.LeadingOrder:
		rate, interval = p.LeadingOrder.CriticalLearningRate, p.LeadingOrder.CriticalRefreshInterval
	case rom.PaperRule:
		rate, interval = p.PaperRule.CriticalLearningRate, p.PaperRule.CriticalRefreshInterval
	}
	if j.check.Locate.Param == lagKey {
		return orNever(interval), ""
	}
	return orNever(rate), ""
}

// onset returns the value of the located parameter from which on the motion
// rings, at the measured stiffness; +Inf where there is none.
func (j *judgement) onset(c *Cell, o *Outcome) (value float64, outOfScope string) {
	s := j.settings(c)
	if j.check.Locate.Param != lagKey {
		return j.onsetRate(c, o, s)
	}
	rate := s.Optimizer.LearningRate
	for s.Lag.Interval = 1; s.Lag.Interval <= longestOnset; s.Lag.Interval++ {
		onset, why := j.onsetRate(c, o, s)
		if why != "" {
			return 0, why
		}
		if onset <= rate {
			return float64(s.Lag.Interval), ""
		}
	}
	return math.Inf(1), ""
}

// longestOnset is the refresh interval up to which the onset of oscillation is
// predicted: beyond 104 steps of delay the theory gives none.
const longestOnset = 104

func (j *judgement) onsetRate(c *Cell, o *Outcome, s Settings) (value float64, outOfScope string) {
	p, why := j.atMeasured(c, o, s)
	if why != "" {
		return 0, why
	}
	switch j.kind {
	case rom.LeadingOrder:
		return orNever(p.LeadingOrder.OscillationLearningRate), ""
	case rom.PaperRule:
		return orNever(p.PaperRule.OscillationLearningRate), ""
	}
	return orNever(p.Exact.OscillationLearningRate), ""
}

// orNever turns a threshold that does not exist into one beyond every number.
func orNever(x *float64) float64 {
	if x == nil {
		return math.Inf(1)
	}
	return *x
}

// atMeasured returns what the theory says of settings at the stiffness measured
// in a cell.
func (j *judgement) atMeasured(c *Cell, o *Outcome, s Settings) (p *rom.Prediction, outOfScope string) {
	measured := o.measuredStiffness(len(c.Settings.Bandit.Arms))
	if measured == nil {
		return nil, "the stiffness was not measured"
	}
	p = j.cache.predictMeasured(c.ID, &s, j.factors, measured)
	switch {
	case p.FixedPoint == nil:
		outOfScope = "no fixed point"
	case j.kind == rom.LeadingOrder:
		outOfScope = p.LeadingOrder.Scope.Because
	case j.kind != rom.PaperRule:
		outOfScope = p.Exact.Scope.Because
	}
	return p, outOfScope
}

// matrixEntry names the measured entry −∂g_a/∂θ_b of a stiffness matrix.
func matrixEntry(part string, a, b int) string { return fmt.Sprintf("%s[%d,%d]", part, a, b) }

// measuredStiffness returns the stiffness matrices as measured, or nil. Two
// arms have one mode, λ in θ_1 − θ_0; of more every entry is measured.
func (o *Outcome) measuredStiffness(arms int) *rom.Measured {
	read := func(part string) *mat.Dense {
		m := mat.NewDense(arms, arms, nil)
		if arms == 2 {
			e, found := o.estimate(part)
			if !found {
				return nil
			}
			half := e.Mean / 2
			m.SetRow(0, []float64{half, -half})
			m.SetRow(1, []float64{-half, half})
			return m
		}
		for a := range arms {
			for b := range arms {
				e, found := o.estimate(matrixEntry(part, a, b))
				if !found {
					return nil
				}
				m.Set(a, b, e.Mean)
			}
		}
		return m
	}
	fresh, stale := read(stiffnessFresh), read(stiffnessStale)
	if fresh == nil || stale == nil {
		return nil
	}
	return &rom.Measured{Fresh: fresh, Stale: stale}
}
