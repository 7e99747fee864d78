package sweeps

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"grposim/grpo"
	"grposim/rom"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// The claims about where something sets in.
var (
	oscillationOnset = logic{
		quantities: locatedQuantity("onset of oscillation"),
		find:       perCell(findOnset),
		picture:    picture{family: byParam("onset"), draw: drawOver(onsetPicture)},
		noiseless:  func(j *judgement, c *Cell, o *store.Outcome) { j.noiselessLocation(c, o, (*judgement).onset) },
	}
	stabilityThreshold = logic{
		quantities: locatedQuantity("stability threshold"),
		find:       perCell(findThreshold),
		picture:    picture{family: byParam("threshold"), draw: drawOver(thresholdPicture)},
		noiseless:  func(j *judgement, c *Cell, o *store.Outcome) { j.noiselessLocation(c, o, (*judgement).threshold) },
	}
	ruleIsSafe = logic{
		quantities: safetyQuantities,
		find:       findSafety,
		picture:    stabilityThreshold.picture,
		noiseless:  stabilityThreshold.noiseless,
	}
)

func locatedQuantity(event string) func(*config.Check, []*Cell) []string {
	return func(check *config.Check, _ []*Cell) []string {
		return []string{event + " in " + config.ShortName(check.Locate.Param)}
	}
}

func safetyQuantities(check *config.Check, _ []*Cell) []string {
	threshold := "stability threshold in " + config.ShortName(check.Locate.Param)
	return []string{threshold + " against the rule", "threshold / rule"}
}

// findThreshold compares the value at which the motion about the fixed point
// begins to grow with the exact threshold at the measured stiffness.
func findThreshold(j *judgement, c *Cell, o *store.Outcome) finding {
	return j.locatedAgainst(c, o, (*judgement).threshold)
}

// findOnset compares the value at which it begins to ring.
func findOnset(j *judgement, c *Cell, o *store.Outcome) finding {
	return j.locatedAgainst(c, o, (*judgement).onset)
}

// findSafety holds the located threshold against the paper's rule, from one
// side, and their ratio against the exact one. The rule is the rule at the
// measured stiffness; a planted fault of the stiffness shifts it.
func findSafety(j *judgement, set CellSet) []finding {
	c := set.Cells[0]
	o := j.outcome(c)
	quantities := safetyQuantities(j.check, set.Cells)
	right := j.by(rom.PaperRule) // by which both are told the rule
	right.plant(config.NoFault)
	reference := right.threshold(c, measuredStiffness(o, len(c.Settings.Bandit.Arms)))

	rule, exact := j.by(rom.PaperRule), j.by("")
	if j.inPlace {
		rule = j.by("")
		exact.factors.Stiffness *= ratioFault
	}
	safe := rule.locatedAgainst(c, o, (*judgement).threshold)
	safe.quantity = quantities[0]
	if !j.inPlace {
		safe.side = FromBelow
	}
	ratio := exact.locatedAgainst(c, o, (*judgement).threshold)
	ratio.quantity, ratio.expect = quantities[1], config.Holds
	if j.inPlace {
		ratio.fault = fmt.Sprintf("stiffness × %g", ratioFault)
	}
	ratio.predicted.outOfScope = cmp.Or(reference.outOfScope, ratio.predicted.outOfScope)
	for _, x := range []*float64{&ratio.measured, &ratio.lo, &ratio.hi, &ratio.predicted.value} {
		*x /= reference.value
	}
	return []finding{safe, ratio}
}

// ratioFault is the fault planted for threshold / rule where the check is a
// refutation of the rule: its own control, the exact prediction, is what the
// ratio is held against anyway.
const ratioFault = 1.2

// located is a prediction of where something happens along a parameter.
type located struct {
	predicted // +Inf: nowhere below searched
	searched  float64
}

// locatedAgainst begins a finding with the located bracket and a prediction at
// the measured stiffness. The bracket is widened by what the errors of that
// stiffness are worth. Where no event was found up to the end of the search it
// has no upper end.
func (j *judgement) locatedAgainst(c *Cell, o *store.Outcome, predict func(*judgement, *Cell, *rom.Measured) located) finding {
	f := unmeasured(j.kind)
	low, found := o.Estimate(sim.LocatedLow)
	stiffness := measuredStiffness(o, len(c.Settings.Bandit.Arms))
	if !found || stiffness == nil {
		f.predicted.kind = cmp.Or(f.predicted.kind, rom.Exact)
		f.predicted.outOfScope = "nothing could be searched: the measured stiffness is not certainly positive, or `from` lies beyond 16 lengths of the run"
		return f
	}
	f.lo, f.hi, f.measured = low.Mean, math.Inf(1), low.Mean
	if high, found := o.Estimate(sim.LocatedHigh); found {
		f.hi, f.measured = high.Mean, (low.Mean+high.Mean)/2
	} else if end, found := o.Estimate(sim.LocatedEnd); found && low.Mean >= end.Mean {
		f.side = Beyond // certainly absent to the end, not undecided
	}
	at := func(stiffness *rom.Measured) located { return predict(j, c, stiffness) }
	p := at(stiffness)
	if half := j.stiffnessError(c, o, p.value, at); math.IsInf(half, 1) {
		f.lo, f.hi, f.side = math.Inf(-1), math.Inf(1), FromBothSides
	} else {
		f.lo *= 1 - half
		f.hi *= 1 + half
	}
	f.predicted = p.predicted
	if reach := f.lo; f.predicted.outOfScope == "" && math.IsInf(p.value, 1) {
		if !math.IsInf(f.hi, 1) {
			reach = f.hi
		}
		if reach > p.searched {
			f.predicted.outOfScope = fmt.Sprintf("the theory says what is below %.4g only", p.searched)
		}
	}
	if j.check.Locate.Param == config.LagIntervalKey {
		f.predicted.value = max(f.predicted.value, 1) // no search begins below it
	}
	return f
}

// stiffnessError returns by how much, relatively, the intervals of the measured
// stiffness move a prediction made from it, centre at the stiffness itself: of two arms those of its fresh and
// stale parts, independent of each other; of more, whose matrices have an entry
// a pair of arms, that of the stiffest mode.
func (j *judgement) stiffnessError(c *Cell, o *store.Outcome, centre float64, at func(*rom.Measured) located) float64 {
	halfWidth := func(part string) float64 {
		e, _ := o.Estimate(part)
		if e.DF == measure.Exactly || e.StdErr == 0 && e.DF > 0 {
			return 0
		}
		lo, hi := e.Interval(j.confidence)
		return (hi - lo) / 2
	}
	if len(c.Settings.Bandit.Arms) > 2 || math.IsInf(centre, 1) {
		total, _ := o.Estimate(stiffnessTotal)
		return halfWidth(stiffnessTotal) / math.Abs(total.Mean)
	}
	square := 0.0
	for _, part := range []string{stiffnessFresh, stiffnessStale} {
		half := halfWidth(part)
		if math.IsInf(half, 1) {
			return half
		}
		if half == 0 {
			continue
		}
		moved := *o
		moved.Estimates = append([]store.NamedEstimate{}, o.Estimates...)
		for i := range moved.Estimates {
			if e := &moved.Estimates[i]; e.Name == part {
				e.Mean += half
			}
		}
		shift := at(measuredStiffness(&moved, 2)).value/centre - 1
		square += shift * shift
	}
	return math.Sqrt(square)
}

// threshold returns the smallest unstable value of the located parameter.
func (j *judgement) threshold(c *Cell, stiffness *rom.Measured) located {
	s := j.settings(c)
	p := j.cache.at(&s, j.factors, stiffness, withThresholds)
	inInterval := j.check.Locate.Param == config.LagIntervalKey
	if j.kind == rom.PaperRule {
		rule := p.PaperRule.CriticalLearningRate
		if inInterval {
			rule = p.PaperRule.CriticalRefreshInterval
		}
		return byRule(p, rule)
	}
	d, of := j.dynamics(&s, p)
	critical, searched := d.CriticalLearningRate, d.Searched.LearningRate
	if inInterval {
		critical, searched = d.CriticalRefreshInterval, d.Searched.RefreshInterval
	}
	return newLocated(critical, searched, of)
}

// onset returns the value of the located parameter from which on the motion
// rings.
func (j *judgement) onset(c *Cell, stiffness *rom.Measured) located {
	s := j.settings(c)
	if j.check.Locate.Param != config.LagIntervalKey {
		return j.onsetRate(&s, stiffness)
	}
	longest := longestBlockOnset
	if s.Lag.Kind == grpo.Delay {
		longest = longestDelayOnset
	}
	rate := s.Optimizer.LearningRate
	var at located
	for s.Lag.Interval = 1; s.Lag.Interval <= longest; s.Lag.Interval++ {
		at = j.onsetRate(&s, stiffness)
		if at.outOfScope != "" {
			return at
		}
		if at.value <= rate {
			at.value = float64(s.Lag.Interval)
			return at
		}
	}
	at.value, at.searched = math.Inf(1), float64(longest+1)
	return at
}

// The refresh intervals up to which an onset of oscillation is looked for:
// beyond 78 steps of delay the theory gives none.
const (
	longestBlockOnset = 1000
	longestDelayOnset = 78
)

// onsetRate returns the smallest learning rate at which the motion rings.
func (j *judgement) onsetRate(s *config.Settings, stiffness *rom.Measured) located {
	p := j.cache.at(s, j.factors, stiffness, withoutThresholds)
	if j.kind == rom.PaperRule {
		return byRule(p, p.PaperRule.OscillationLearningRate)
	}
	d, of := j.dynamics(s, p)
	return newLocated(d.OscillationLearningRate, d.Searched.Onset, of)
}

// newLocated makes a prediction of a threshold that may not exist below what
// was searched.
func newLocated(threshold *float64, searched float64, of predicted) located {
	l := located{of, searched}
	l.value = math.Inf(1)
	if threshold != nil {
		l.value = *threshold
	}
	return l
}

// byRule makes a prediction by the paper's rule, which may say nothing.
func byRule(p *rom.Prediction, threshold *float64) located {
	l := newLocated(threshold, 0, predicted{kind: rom.PaperRule})
	switch {
	case p.FixedPoint == nil:
		l.outOfScope = noFixedPoint
	case threshold == nil:
		l.outOfScope = "the paper's rule says nothing here"
	}
	return l
}

// matrixEntry names the measured entry −∂g_a/∂θ_b of a stiffness matrix.
func matrixEntry(part string, a, b int) string { return fmt.Sprintf("%s[%d,%d]", part, a, b) }

// measuredStiffness returns the stiffness matrices as measured, or nil. Two
// arms have one mode, λ in θ_1 − θ_0; of more every entry is measured.
func measuredStiffness(o *store.Outcome, arms int) *rom.Measured {
	read := func(part string) *mat.Dense {
		m := mat.NewDense(arms, arms, nil)
		if arms == 2 {
			e, found := o.Estimate(part)
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
				e, found := o.Estimate(matrixEntry(part, a, b))
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
