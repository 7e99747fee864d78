package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/fp"
	"grposim/option"
	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// byOver is the family of all checks of a claim over the same key.
func byOver(check *config.Check) string { return check.Claim.Name + " over " + check.Over }

// slope is the shape of a claim about how a positive number changes with the group size G or
// another key.
type slope struct {
	quantity     string
	title, label string // of the picture of the number and of its y axis
	estimate     string // name of the estimate of the number
	predict      func(m *model, s *config.Settings) scope.Number
	// the same in the run of a cell, which may not have settled
	inRun func(m *model, c *Cell) scope.Number
	rest  func(*scope.Sizes) float64 // see scalar.rest
}

func (n slope) quantities(*config.Check, []*Cell) []string { return []string{n.quantity} }
func (n slope) noiseless(*model, *Cell, *store.Outcome)    {}
func (n slope) picture() picture {
	return picture{family: byOver, draw: n.draw, shows: predictionsAndHypotheses}
}

// find fits log y = a + slope·x by least squares to the estimates of the cells, and to their
// predictions. x is log G, over another key log D/(GCK). The interval comes from the errors of the
// estimates. On log G the predicted slope is to leading order the limit as G → ∞, and by the
// paper's rule −1.
func (n slope) find(j *judgement, set CellSet) []finding {
	f := newFinding(j.kind)
	overSize := j.check.Over == config.GroupSizeKey
	f.estimate = n.estimate
	var sized []*Cell // at least three, as config.Load requires
	for _, c := range set.Cells {
		size := c.Settings.Estimator.GroupSize
		if overSize && (size == option.Infinite || j.kind == rom.LeadingOrder && size < j.check.SmallestJudged()) {
			continue
		}
		sized = append(sized, c)
	}
	var x, logY, logP []float64
	var missing []scope.Number   // what the predictions of log y leave out
	var ways []scope.Number      // what the ways to rest leave in y, for a hypothesis
	var terms []measure.Estimate // the errors of log y
	for _, c := range sized {
		o := j.outcome(c)
		if o.Diverged > 0 {
			f.diverged = divergenceOf(c, o)
		}
		e, _ := o.Estimate(n.estimate)
		s := j.settings(c)
		p := n.inRun(&j.model, c)
		at := n.abscissa(&j.model, &s)
		if why := cmp.Or(p.Because, at.Because); why.Out() && !f.predicted.Out() {
			f.predicted.Because = scope.OfPart.Because(c.Label(), why)
		}
		var way scope.Number
		if n.rest != nil && j.check.Hypothesis != nil {
			way = j.unrested(c, n.rest)
		}
		if way.Out() && !f.unrested.Out() {
			f.unrested.Because = scope.OfPart.Because(c.Label(), way.Because)
		}
		ways = append(ways, way)
		f.predicted.Kind = cmp.Or(j.kind, p.Kind)
		f.replicas = c.Settings.Run.Replicas
		x = append(x, math.Log(at.Value))
		logY = append(logY, math.Log(e.Mean))
		logP = append(logP, math.Log(p.Value))
		missing = append(missing, p)
		terms = append(terms, measure.Estimate{StdErr: e.StdErr / e.Mean, DF: e.DF, Systematic: e.Systematic / math.Abs(e.Mean)})
	}
	var slope measure.Estimate
	for i, w := range slopeWeights(x) {
		slope.Mean += w * logY[i]
		f.predicted.Value += w * logP[i]
		for _, part := range missing[i].Neglected {
			f.predicted.Leave(part.Term, w*part.Size/missing[i].Value, part.Note)
		}
		for _, part := range ways[i].Neglected {
			f.unrested.Leave(part.Term, w*part.Size/fp.MathExp(logY[i]), part.Note)
		}
		terms[i].StdErr *= w
		slope.Systematic += math.Abs(w) * terms[i].Systematic
	}
	slope.StdErr, slope.DF = measure.Combine(terms)
	switch {
	case overSize && j.kind.IsRule():
		f.predicted.Value, f.predicted.Neglected = -1, scope.OfRun(f.predicted.Neglected)
	case overSize && j.kind == rom.LeadingOrder: // a limit, beside which only the runs have more
		f.predicted.Neglected = scope.OfRun(f.predicted.Neglected)
		limit, why := n.asymptoticSlope(&j.model, sized[len(sized)-1])
		f.predicted.Value, f.predicted.Because = limit, cmp.Or(f.predicted.Because, why)
	}
	f.measured, f.fit = slope.Mean, slope
	f.lo, f.hi = slope.Interval(j.confidence)
	return []finding{f}
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
	w := make([]float64, len(x))
	for i, v := range x {
		w[i] = (v - mean) / square
	}
	return w
}

// asymptoticSlope returns the exponent of G in the prediction as G → ∞, rounded to a
// multiple of ½, or why there is none. Var J has −1, −2 where the leading noise vanishes,
// and −½ with Adam; Adam's relaxation rate has ½. It is computed from the full theory at
// two very large G, at the cell's learning rate / 1000, so that all modes are slow.
func (n slope) asymptoticSlope(m *model, c *Cell) (slope float64, because scope.Reason) {
	const small, large = 1 << 14, 1 << 15
	full := m.by("")
	var log [2]float64
	for i, size := range []int{small, large} {
		s := m.settings(c)
		s.Estimator.GroupSize = size
		s.Optimizer.LearningRate *= 1e-3
		s.Run.BurnIn, s.Run.Steps = 1<<50, 1<<51 // stationary, though slow
		y := n.predict(full, &s)
		if y.Out() || y.Value <= 0 {
			return 0, scope.NoNumber.Because(fmt.Sprintf("slope at large G: %s", y.Because))
		}
		log[i] = math.Log2(y.Value)
	}
	return math.Round(2*(log[1]-log[0])) / 2, scope.Reason{}
}

// abscissa returns what the fit takes the logarithm of: G, or over another key D/(GCK) by the
// paper's formulas.
func (n slope) abscissa(m *model, s *config.Settings) scope.Number {
	if m.check.Over == config.GroupSizeKey {
		return scope.Number{Value: float64(s.Estimator.GroupSize)}
	}
	return n.predict(m.by(cmp.Or(m.ruleKind(), rom.RuleAtStiffness)), s)
}

// draw returns a picture of the number against G, or D/(GCK). It has a line of the asymptotic slope
// if a check judges the leading order.
func (n slope) draw(j *judgement, d *figureSource) Figure {
	overSize := j.check.Over == config.GroupSizeKey
	asymptote := overSize && slices.ContainsFunc(d.checks, func(c *config.Check) bool { return c.Prediction == rom.LeadingOrder })
	f := Figure{
		Title: n.title + " against group size", XLabel: "group size G", YLabel: n.label,
		XScale: LogAxis, YScale: LogAxis,
		Caption: "On logarithmic axes a power law is a straight line, and its slope the exponent that is judged. Where the theory holds, the points lie on the line of their colour.",
	}
	if !overSize {
		f.Title, f.XLabel = n.title+" against the paper’s formula", "D/(GCK)"
	}
	var names []string
	for _, set := range d.sets {
		name := withoutVariant(set.Label, set.Cells[0].Variant)
		name = strings.TrimSuffix(name, "over "+config.ShortName(j.check.Over))
		measured := FigureSeries{Name: name + "measured", Group: name, Mark: Measured}
		predicted := FigureSeries{Name: name + "predicted", Group: name, Mark: Predicted}
		for _, c := range set.Cells {
			at := n.abscissa(&j.model, &c.Settings)
			if c.Settings.Estimator.GroupSize == option.Infinite || at.Out() {
				continue
			}
			x := at.Value
			if e, ok := j.outcome(c).Estimate(n.estimate); ok {
				lo, hi := e.Interval(j.confidence)
				measured.Points = append(measured.Points, FigurePoint{x, e.Mean, lo, hi})
			}
			if p := n.inRun(j.model.by(""), c); !p.Out() {
				predicted.Points = append(predicted.Points, BarePoint(x, p.Value))
			}
		}
		for _, v := range d.verdicts {
			if v.Hypothesis != nil && v.Cell == set.Name && v.Variant == set.Cells[0].Variant {
				f.Series = append(f.Series, claimedSlope(v, measured.Points))
			}
		}
		f.Series = append(f.Series, predicted, measured)
		names = append(names, name)
		if count := len(predicted.Points); count > 0 && asymptote {
			last := predicted.Points[count-1]
			slope, why := n.asymptoticSlope(&j.model, set.Cells[len(set.Cells)-1])
			if !why.Out() {
				line := FigureSeries{Name: "slope " + strings.Replace(config.Format(slope), "-", "−", 1), Group: name, Mark: Reference}
				for _, p := range predicted.Points {
					line.Points = append(line.Points, BarePoint(p.X, last.Y*fp.Pow(p.X/last.X, slope)))
				}
				f.Series = append(f.Series, line)
			}
		}
	}
	if overSize && n.estimate == sim.ExpectedRewardVariance {
		f.Caption += ratios(j, d.sets, names)
	}
	return f
}

// ratios returns sentences with the measured Var J of each group size over that of the size before,
// and what 1/G gives. A single set has intervals.
func ratios(j *judgement, sets []CellSet, names []string) string {
	var headings []string
	bodies := make(map[string][]string)
	for i, set := range sets {
		var sizes, inverse, ratios []string
		var before *Cell
		for _, c := range set.Cells {
			y, known := j.outcome(c).Estimate(sim.ExpectedRewardVariance)
			if !known || !(y.Mean > 0) || c.Settings.Estimator.GroupSize == option.Infinite {
				continue
			}
			if before != nil {
				x, _ := j.outcome(before).Estimate(sim.ExpectedRewardVariance)
				ratio := measure.Estimate{Mean: math.Log(y.Mean / x.Mean)} // its logarithm
				ratio.StdErr, ratio.DF = measure.Combine([]measure.Estimate{{StdErr: x.StdErr / x.Mean, DF: x.DF}, {StdErr: y.StdErr / y.Mean, DF: y.DF}})
				lo, hi := ratio.Interval(j.confidence)
				v := Verdict{Measured: store.Number(fp.MathExp(ratio.Mean)), Lo: store.Number(fp.MathExp(lo)), Hi: store.Number(fp.MathExp(hi))}
				from, to := before.Settings.Estimator.GroupSize, c.Settings.Estimator.GroupSize
				sizes, inverse = append(sizes, fmt.Sprint(to)), append(inverse, fmt.Sprintf("%.3g", float64(from)/float64(to)))
				if len(sets) == 1 {
					ratios = append(ratios, v.measured())
				} else {
					ratios = append(ratios, format(v.Measured, v.digits()))
				}
			}
			before = c
		}
		if ratios == nil {
			continue
		}
		heading := fmt.Sprintf(" Var J at G = %s over that at the size before, for which 1/G gives %s: ", strings.Join(sizes, ", "), strings.Join(inverse, ", "))
		if bodies[heading] == nil {
			headings = append(headings, heading)
		}
		bodies[heading] = append(bodies[heading], names[i]+strings.Join(ratios, ", "))
	}
	text := ""
	for _, heading := range headings {
		text += heading + strings.Join(bodies[heading], "; ") + "."
	}
	return text
}
