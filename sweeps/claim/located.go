package claim

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/paper"
	"grposim/rom/rest"
	"grposim/rom/scope"
	"grposim/sim/probe"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// The claims about the smallest learning rate or refresh interval at which the dynamics
// about the fixed point oscillate, or grow.

// stability is the claim about the parameter value from which on deviations from the fixed
// point grow; see Question.locatedAgainst for its bracket.
var stability = event{quantity: "stability threshold", predict: (*Model).threshold}

// ruleIsSafe is the claim that no value below a rule is unstable.
type ruleIsSafe struct{ event }

func (ruleIsSafe) quantities(check *config.Check, _ []*plan.Cell) []string {
	threshold := "stability threshold in " + config.ShortName(check.Locate.Param)
	return []string{threshold + " against the rule", "threshold / rule"}
}

// find compares the located threshold with the paper's rule, from below. It also compares their
// ratio with that of the exact threshold, at the measured stiffness, to the rule. A planted fault
// changes the rule of the first comparison, and of the second the exact threshold alone.
func (ruleIsSafe) find(j *Question, set plan.CellSet) []Finding {
	c := set.Cells[0]
	o := j.Outcome(c)
	kind := cmp.Or(j.Check.Prediction, rom.PaperRule)
	right := j.By(kind)
	right.Fault = config.NoFault
	stiffness, _ := measuredStiffness(o, c)
	rule := right.threshold(c, stiffness)

	safe := j.By(kind).locatedAgainst(c, (*Model).threshold)
	safe.Side = FromBelow
	exact := j.By("")
	if j.ExactInstead {
		safe = exact.locatedAgainst(c, (*Model).threshold)
		exact.Fault.Scale.Stiffness *= ratioFault
	}
	ratio := exact.locatedAgainst(c, (*Model).threshold)
	ratio.Expect, ratio.About = config.Holds, &config.About{Kind: config.AboutTheory}
	if j.ExactInstead {
		ratio.Fault = fmt.Sprintf("stiffness × %g", ratioFault)
	}
	ratio.Predicted.Because = cmp.Or(rule.Because, ratio.Predicted.Because)
	for _, x := range []*float64{&ratio.Measured, &ratio.Lo, &ratio.Hi, &ratio.Predicted.Value} {
		*x /= rule.Value
	}
	return []Finding{safe, ratio}
}

// ratioFault is the factor of the stiffness in the control of threshold / rule where
// the check refutes the rule. The exact prediction, the usual control of a refutation,
// is what the ratio is compared with.
const ratioFault = 1.2

// located is a predicted value of the located parameter, a learning rate or a refresh
// interval, at which an event first occurs.
type located struct {
	scope.Number         // Value is +Inf: not below searched
	searched     float64 // the end of the theory's own search
}

// locator predicts where an event of a cell occurs, at a measured stiffness.
type locator func(m *Model, c *plan.Cell, stiffness *rom.Measured) located

// locatedAgainst returns a finding of the located bracket against the prediction at the
// measured stiffness. Both ends of the bracket are moved outwards by the error of the
// prediction that comes from the error of the stiffness. If the event was not found up
// to the end of the search, the bracket ends at +Inf.
func (j *Question) locatedAgainst(c *plan.Cell, predict locator) Finding {
	f, o, in := newFinding(j.Kind), j.Outcome(c), c.Sim()
	low, found := o.Estimate(probe.LocatedLow)
	stiffness, known := measuredStiffness(o, c)
	if !found || !known {
		f.Predicted.Kind = cmp.Or(f.Predicted.Kind, rom.Exact)
		says := "the measured stiffness is not certainly positive, or `from` lies beyond 16 lengths of the run"
		if in.Location == nil {
			says = "sampled groups of more than two arms, or of a `behind` or a delay above 1, are not searched"
		}
		f.Predicted.Because = scope.NotSearched.Because(says)
		return f
	}
	f.Lo, f.Hi, f.Measured = low.Mean, math.Inf(1), low.Mean
	if high, found := o.Estimate(probe.LocatedHigh); found {
		f.Hi, f.Measured = high.Mean, (low.Mean+high.Mean)/2
	} else if end, found := o.Estimate(probe.LocatedEnd); found && low.Mean >= end.Mean {
		f.Side = Unfound // the whole search found no event, instead of ending undecided
	}
	at := func(stiffness *rom.Measured) located { return predict(&j.Model, c, stiffness) }
	p := at(stiffness)
	half := 0.0
	if stiffness != nil {
		half = j.stiffnessError(c, o, p.Value, at)
	}
	if math.IsInf(half, 1) {
		f.Lo, f.Hi, f.Side = math.Inf(-1), math.Inf(1), FromBothSides
	} else {
		f.Lo *= 1 - half
		f.Hi *= 1 + half
	}
	f.Predicted = p.Number
	f.Predicted.Because = cmp.Or(p.Because, j.clippedSearch(c))
	least := 0.0 // the threshold of a mode that grows at any learning rate
	if j.Check.Locate.Param == config.LagIntervalKey {
		least = 1
	}
	rounded := math.Abs(
		j.prediction(c).Stiffness.Slowest) <= stiffnessRounding*c.Settings.Estimator.KL.Coefficient
	if !p.Out() && ((p.Value <= least || math.IsInf(p.Value, 1)) && rounded ||
		p.Value == 0 && at(nil).Value != 0) {
		f.Predicted.Because = scope.NotSearched.Because(
			"a mode is so slow that the sign of its measured stiffness is not certain")
	}
	if reach := f.Lo; !f.Predicted.Out() && math.IsInf(p.Value, 1) {
		if !math.IsInf(f.Hi, 1) {
			reach = f.Hi
		}
		if reach > p.searched {
			f.Predicted.Because = scope.NotSearched.Because(
				fmt.Sprintf("the theory says what is below %.4g only", p.searched))
		}
	}
	f.Predicted.Value = max(f.Predicted.Value, least) // the smallest interval that can be located is 1
	if stiffness != nil {                             // that of a network is the theory's
		if bent := j.bentProbes(c); bent > 0 {
			f.Predicted.Leave(scope.Probe, f.Predicted.Value*bent)
		}
	}
	total, _ := o.Estimate(plan.StiffnessTotal)
	from := in.Location.First(&in, total.Mean)
	if !f.Predicted.Out() && f.Predicted.Value+f.Predicted.Size() < from && low.Mean >= from &&
		j.over(c, stiffness, from) {
		f.Predicted.Because = scope.NotSearched.Because(
			fmt.Sprintf("it begins at %.4g, where by the theory what it looks for has begun and is over",
				from))
	}
	return f
}

// over reports whether the event is over by the theory at a larger value of the located parameter.
// No multiplier is then at least 1, or none is complex or negative.
func (m *Model) over(c *plan.Cell, stiffness *rom.Measured, value float64) bool {
	s := m.Settings(c)
	if m.Kind.IsRule() || s.Deep() {
		return false
	}
	if m.Check.Locate.Param == config.LagIntervalKey {
		s.Lag.Interval = int(value)
	} else {
		s.Optimizer.LearningRate = value
	}
	p := m.cache.At(s, m.Fault.Scale, stiffness, rest.Multipliers)
	multipliers := p.Dynamics(m.dynamics(s, p).Kind).Multipliers
	return multipliers != nil && !slices.ContainsFunc(multipliers, func(z [2]float64) bool {
		size := math.Hypot(z[0], z[1])
		if m.Check.Claim.Event == probe.Instability {
			return size >= 1
		}
		return math.Abs(z[1]) > 1e-6*size || z[0] < -1e-6
	})
}

// bentProbes returns by how much the displacements of the probes move a cell's stiffness by the
// theory, as a share of the stiffest mode's.
func (m *Model) bentProbes(c *plan.Cell) (relative float64) {
	p := m.prediction(c)
	if p.FixedPoint == nil { // of a planted fault
		return 0
	}
	for _, of := range c.Sim().Stiffness {
		_, across := probed(c, of.Name, theory.Params(&c.Settings, rom.Unit), p.FixedPoint.Logits)
		relative += across / math.Abs(p.Stiffness.Total)
	}
	return relative
}

// clippedSearch returns why the search of a cell is not of linear dynamics at G = ∞. The largest
// norm may clip ‖Λ_f‖‖x‖ + ‖Λ_s‖‖x_old‖, the force of the largest deviations x that it follows.
func (m *Model) clippedSearch(c *plan.Cell) scope.Reason {
	params, in := theory.Params(&c.Settings, rom.Unit), c.Sim()
	at := m.prediction(c).FixedPoint
	if params.Optimizer.MaxNorm == 0 || at == nil || in.Location == nil {
		return scope.Reason{}
	}
	fresh, stale := force.Stiffness(params, at.Logits)
	largest := (mat.Norm(fresh, 2) + mat.Norm(stale, 2)) * in.Location.Reach(&in)
	return cell.Unclipped(params, largest).Because
}

// stiffnessError returns the relative half-width of a prediction by those of the measured
// stiffness; +Inf where these are not known. With two arms the fresh and the stale part are
// displaced one at a time, and the changes of at(stiffness) added in squares. With more arms, at G
// = ∞, or where centre is +Inf, it is the half-width of λ of the stiffest mode. A refresh interval
// of more arms has the change of at(stiffness) by that.
func (j *Question) stiffnessError(c *plan.Cell, o *store.Outcome, centre float64,
	at func(*rom.Measured) located) float64 {
	halfWidth := func(part string) float64 {
		e, _ := o.Estimate(part)
		lo, hi := e.Interval(j.Confidence)
		return (hi - lo) / 2
	}
	if len(c.Settings.Bandit.Arms) > 2 || math.IsInf(centre, 1) {
		total, _ := o.Estimate(plan.StiffnessTotal)
		half := halfWidth(plan.StiffnessTotal) / math.Abs(total.Mean)
		if j.Check.Locate.Param != config.LagIntervalKey || math.IsInf(centre, 1) {
			return half
		}
		most := 0.0 // of a whole number, which an error of an exact stiffness rarely changes
		for _, factor := range []float64{1 - half, 1 + half} {
			moved, _ := measuredStiffness(o, c)
			moved.Fresh.Scale(factor, moved.Fresh)
			moved.Stale.Scale(factor, moved.Stale)
			most = max(most, math.Abs(at(moved).Value/centre-1))
		}
		return most
	}
	square := 0.0
	for _, part := range []string{plan.StiffnessFresh, plan.StiffnessStale} {
		half := halfWidth(part)
		if math.IsInf(half, 1) {
			return half
		}
		if half == 0 {
			continue
		}
		moved := *o
		moved.Estimates = slices.Clone(o.Estimates)
		for i := range moved.Estimates {
			if e := &moved.Estimates[i]; e.Name == part {
				e.Mean += half
			}
		}
		stiffness, _ := measuredStiffness(&moved, c)
		shift := at(stiffness).Value/centre - 1
		square += shift * shift
	}
	return math.Sqrt(square)
}

// threshold returns the smallest unstable value of the located parameter.
func (m *Model) threshold(c *plan.Cell, stiffness *rom.Measured) located {
	s := m.Settings(c)
	if m.Check.Locate.Param == config.LagIntervalKey {
		return m.critical(s, stiffness, rest.CriticalInterval, scope.CriticalRefreshInterval)
	}
	return m.critical(s, stiffness, rest.CriticalRate, scope.CriticalLearningRate)
}

// onset returns the smallest value of the located parameter at which the dynamics oscillate.
func (m *Model) onset(c *plan.Cell, stiffness *rom.Measured) located {
	s := m.Settings(c)
	if m.Check.Locate.Param != config.LagIntervalKey {
		return m.onsetRate(s, stiffness)
	}
	longest := longestBlockOnset
	if s.Lag.Kind == option.Delay {
		longest = longestDelayOnset
	}
	rate := s.Optimizer.LearningRate
	if m.Kind.IsRule() {
		return m.paperOnsetInterval(s, stiffness)
	}
	var at located
	for s.Lag.Interval = 1; s.Lag.Interval <= longest; s.Lag.Interval++ {
		at = m.onsetRate(s, stiffness)
		if at.Out() {
			return at
		}
		if at.Value <= rate {
			at.Value = float64(s.Lag.Interval)
			return at
		}
	}
	at.Value, at.searched = math.Inf(1), float64(longest+1)
	return at
}

// paperOnsetInterval returns the smallest refresh interval with ζ < 1 by the paper's
// formulas. It decreases to 1 − μ − κτ = 0, where ζ = 0.
func (m *Model) paperOnsetInterval(s *config.Settings, stiffness *rom.Measured) located {
	at := m.critical(s, stiffness, rest.RulesAlone, scope.CriticalRefreshInterval)
	if at.Out() {
		return at
	}
	rule := m.cache.At(s, m.Fault.Scale, stiffness, rest.RulesAlone).Rule(m.Kind)
	own := *rule.Stiffness * s.Optimizer.LearningRate
	for s.Lag.Interval = 1; paper.Onset(s.Optimizer.Momentum, paperAge(s)) > own; s.Lag.Interval++ {
	}
	at.Value = float64(s.Lag.Interval)
	return at
}

// The refresh intervals, in steps, up to which an onset of oscillation is searched for.
// The theory gives no onset at delays of more than 78 steps.
const (
	longestBlockOnset = 1000
	longestDelayOnset = 78
)

// onsetRate returns the smallest learning rate at which the dynamics oscillate.
func (m *Model) onsetRate(s *config.Settings, stiffness *rom.Measured) located {
	return m.critical(s, stiffness, rest.Onset, scope.OscillationLearningRate)
}

// critical returns a predicted threshold, for which the theory has to compute an extent.
func (m *Model) critical(s *config.Settings, stiffness *rom.Measured, extent rest.Extent,
	threshold scope.Quantity) located {
	switch {
	case m.Kind.IsRule():
		extent = rest.RulesAlone
	case s.Deep():
		extent |= theory.Whole(s) // which is asked for anyway
	}
	p := m.cache.At(s, m.Fault.Scale, stiffness, extent)
	var at located
	var value *float64 // nil: none below searched
	if m.Kind.IsRule() {
		value = p.Number(m.Kind, threshold)
		at.Kind, at.Because = m.Kind, theory.MissingFormula(p, m.Kind, value)
	} else {
		at.Number = m.dynamics(s, p)
		value, at.searched = p.Dynamics(at.Kind).Threshold(threshold)
	}
	if at.Value = math.Inf(1); value != nil {
		at.Value = *value
	}
	return at
}

// measuredStiffness returns the stiffness matrices at which the threshold of a cell is predicted.
// It is nil where the search needs no measured ones. found is false if an estimate is missing. Two
// arms have a single mode, in θ_1 − θ_0, and the matrices (λ/2) [[1, −1], [−1, 1]]; of more every
// entry is measured.
func measuredStiffness(o *store.Outcome, c *plan.Cell) (stiffness *rom.Measured, found bool) {
	arms := len(c.Settings.Bandit.Arms)
	if c.Settings.Deep() {
		return nil, true
	}
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
				e, found := o.Estimate(plan.MatrixEntry(part, a, b))
				if !found {
					return nil
				}
				m.Set(a, b, e.Mean)
			}
		}
		return m
	}
	fresh, stale := read(plan.StiffnessFresh), read(plan.StiffnessStale)
	if fresh == nil || stale == nil {
		return nil, false
	}
	return &rom.Measured{Fresh: fresh, Stale: stale}, true
}

// event is the shape of a claim about the parameter value at which an event sets in.
type event struct {
	quantity string
	kind     rom.Kind // judged where the check names none; "": the theory's own
	predict  locator
	side     Side
}

// compare compares the located bracket with the prediction in one cell.
func (e event) compare(j *Question, c *plan.Cell) Finding {
	j = j.By(cmp.Or(j.Kind, e.kind))
	f := j.locatedAgainst(c, e.predict)
	if e.side != FromBothSides {
		f.Side = e.side
	}
	return f
}

func (e event) quantities(check *config.Check, _ []*plan.Cell) []string {
	return []string{e.quantity + " in " + config.ShortName(check.Locate.Param)}
}

func (e event) find(j *Question, set plan.CellSet) []Finding {
	return []Finding{e.compare(j, set.Cells[0])}
}
