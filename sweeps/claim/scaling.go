package claim

import (
	"cmp"
	"fmt"
	"math"

	"grposim/fp"
	"grposim/option"
	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
)

// Slope is the shape of a claim about how a positive number changes with the group size G or
// another key.
type Slope struct {
	quantity string
	Estimate string // name of the estimate of the number
	predict  func(m *Model, s *config.Settings) scope.Number
	// the same in the run of a cell, which may not have settled
	InRun func(m *Model, c *plan.Cell) scope.Number
	rest  func(*scope.Sizes) float64 // see scalar.rest
}

func (n Slope) quantities(*config.Check, []*plan.Cell) []string { return []string{n.quantity} }

// find fits log y = a + slope·x by least squares to the estimates of the cells, and to their
// predictions. x is log G, over another key log D/(GCK). The interval comes from the errors of the
// estimates. On log G the predicted slope is to leading order the limit as G → ∞, and by the
// paper's rule −1.
func (n Slope) find(j *Question, set plan.CellSet) []Finding {
	f := newFinding(j.Kind)
	overSize := j.Check.Over == config.GroupSizeKey
	f.Estimate = n.Estimate
	var sized []*plan.Cell // at least three, as config.Load requires
	for _, c := range set.Cells {
		size := c.Settings.Estimator.GroupSize
		if overSize && (size == option.Infinite ||
			j.Kind == rom.LeadingOrder && size < j.Check.SmallestJudged()) {
			continue
		}
		sized = append(sized, c)
	}
	var x, logY, logP []float64
	var missing []scope.Number   // what the predictions of log y leave out
	var ways []scope.Number      // what the ways to rest leave in y, for a hypothesis
	var terms []measure.Estimate // the errors of log y
	for _, c := range sized {
		o := j.Outcome(c)
		if o.Diverged > 0 {
			f.Diverged = divergenceOf(c, o)
		}
		e, _ := o.Estimate(n.Estimate)
		s := j.Settings(c)
		p := n.InRun(&j.Model, c)
		at := n.Abscissa(&j.Model, s)
		if why := cmp.Or(p.Because, at.Because); why.Out() && !f.Predicted.Out() {
			f.Predicted.Because = scope.OfPart.Because(c.Label(), why)
		}
		var way scope.Number
		if n.rest != nil && j.Check.Hypothesis != nil {
			way = j.unrested(c, n.rest)
		}
		if way.Out() && !f.Unrested.Out() {
			f.Unrested.Because = scope.OfPart.Because(c.Label(), way.Because)
		}
		ways = append(ways, way)
		f.Predicted.Kind = cmp.Or(j.Kind, p.Kind)
		f.Replicas = c.Settings.Run.Replicas
		x = append(x, math.Log(at.Value))
		logY = append(logY, math.Log(e.Mean))
		logP = append(logP, math.Log(p.Value))
		missing = append(missing, p)
		terms = append(terms, measure.Estimate{StdErr: e.StdErr / e.Mean, DF: e.DF,
			Systematic: e.Systematic / math.Abs(e.Mean)})
	}
	var slope measure.Estimate
	for i, w := range slopeWeights(x) {
		slope.Mean += w * logY[i]
		f.Predicted.Value += w * logP[i]
		for _, part := range missing[i].Neglected {
			f.Predicted.Leave(part.Term, w*part.Size/missing[i].Value, part.Note)
		}
		for _, part := range ways[i].Neglected {
			f.Unrested.Leave(part.Term, w*part.Size/fp.MathExp(logY[i]), part.Note)
		}
		terms[i].StdErr *= w
		slope.Systematic += math.Abs(w) * terms[i].Systematic
	}
	slope.StdErr, slope.DF = measure.Combine(terms)
	switch {
	case overSize && j.Kind.IsRule():
		f.Predicted.Value, f.Predicted.Neglected = -1, scope.OfRun(f.Predicted.Neglected)
	case overSize && j.Kind == rom.LeadingOrder: // a limit, beside which only the runs have more
		f.Predicted.Neglected = scope.OfRun(f.Predicted.Neglected)
		limit, why := n.AsymptoticSlope(&j.Model, sized[len(sized)-1])
		f.Predicted.Value, f.Predicted.Because = limit, cmp.Or(f.Predicted.Because, why)
	}
	f.Measured = slope.Mean
	f.Lo, f.Hi = slope.Interval(j.Confidence)
	return []Finding{f}
}

// slopeWeights returns the weights w for which Σ w_i y_i is the least-squares slope of y
// on x. They are NaN where all x are equal.
func slopeWeights(x []float64) []float64 {
	mean := 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	square := 0.0
	for _, v := range x {
		square += (v - mean) * (v - mean)
	}
	return config.Each(x, func(v float64) float64 { return (v - mean) / square })
}

// AsymptoticSlope returns the exponent of G in the prediction as G → ∞, rounded to a
// multiple of ½, or why there is none. Var J has −1, −2 where the leading noise vanishes,
// and −½ with Adam; Adam's relaxation rate has ½. It is computed from the full theory at
// two very large G, at the cell's learning rate / 1000, so that all modes are slow.
func (n Slope) AsymptoticSlope(m *Model, c *plan.Cell) (slope float64, because scope.Reason) {
	const small, large = 1 << 14, 1 << 15
	full := m.By("")
	var log [2]float64
	for i, size := range []int{small, large} {
		s := m.Settings(c)
		s.Estimator.GroupSize = size
		s.Optimizer.LearningRate *= 1e-3
		s.Run.BurnIn, s.Run.Steps = 1<<50, 1<<51 // stationary, though slow
		y := n.predict(full, s)
		if y.Out() || y.Value <= 0 {
			return 0, scope.NoNumber.Because(fmt.Sprintf("slope at large G: %s", y.Because))
		}
		log[i] = math.Log2(y.Value)
	}
	return math.Round(2*(log[1]-log[0])) / 2, scope.Reason{}
}

// Abscissa returns what the fit takes the logarithm of: G, or over another key D/(GCK) by the
// paper's formulas.
func (n Slope) Abscissa(m *Model, s *config.Settings) scope.Number {
	if m.Check.Over == config.GroupSizeKey {
		return scope.Number{Value: float64(s.Estimator.GroupSize)}
	}
	rule := rom.RuleAtStiffness
	if m.Kind.IsRule() {
		rule = m.Kind
	}
	return n.predict(m.By(rule), s)
}
