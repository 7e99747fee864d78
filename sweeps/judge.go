package sweeps

import (
	"cmp"
	"fmt"
	"math"

	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// judgement is one check being applied to one theory: the right one, or one
// with a planted fault.
type judgement struct {
	check      *config.Check
	confidence float64                // of a single verdict
	kind       rom.Kind               // the prediction judged; "" the claim's default
	set        func(*config.Settings) // changes what the theory is told of a cell; nil: nothing
	factors    rom.Factors
	mode       string // a failure mode in the place of the check's; "" the check's
	inPlace    bool   // the exact prediction stands in the place of a refuted one
	*evidence
}

// evidence is shared by all judgements of an experiment: the measured outcomes by
// cell id, the predictions made so far, and the first error in reading a trajectory.
type evidence struct {
	outcomes map[string]*store.Outcome
	cache    *predictionCache
	failure  error
}

func newEvidence(outcomes map[string]*store.Outcome) *evidence {
	return &evidence{outcomes: outcomes, cache: newPredictionCache()}
}

// outcome returns the outcome of a cell.
func (e *evidence) outcome(c *Cell) *store.Outcome { return e.outcomes[c.ID] }

// trajectory returns what was recorded of some quantities, nil where nothing was or
// it cannot be read; the error of reading is kept in failure.
func (e *evidence) trajectory(o *store.Outcome, wanted ...sim.Quantity) *store.Trajectory {
	t, err := o.Trajectory(wanted...)
	if err != nil && e.failure == nil {
		e.failure = err
	}
	return t
}

// newJudgement returns the judgement of a check by the theory as derived.
func newJudgement(check *config.Check, confidence float64, e *evidence) *judgement {
	return &judgement{check: check, confidence: confidence, kind: check.Prediction, factors: rom.Unit, evidence: e}
}

// Judge compares the measured outcomes of a plan's cells, by id, with the
// predictions of the theory: one verdict a quantity and set of cells, in the
// order of the checks. It writes nothing; its error is one of reading a
// trajectory.
func Judge(plan *Plan, outcomes map[string]*store.Outcome) ([]Verdict, error) {
	e := newEvidence(outcomes)
	verdicts := e.judge(plan)
	return verdicts, e.failure
}

func (e *evidence) judge(plan *Plan) []Verdict {
	var verdicts []Verdict
	for _, planned := range plan.Checks {
		check := planned.Check
		right := newJudgement(check, 1-(1-plan.Spec.Confidence)/float64(max(plan.Verdicts, 1)), e)
		wrong, fault := right.planted()
		l := logics[check.Claim]
		for _, set := range planned.Sets {
			row := Verdict{
				Experiment: plan.Spec.Name, Variant: set.Cells[0].Variant, Claim: check.Claim.Name,
				Cell: set.Name, Label: set.Label, Expect: check.Expect, Check: planned.Index,
			}
			quantities := l.quantities(check, set.Cells)
			findings := right.find(set)
			var faulty []finding
			if wrong != nil {
				faulty = wrong.find(set)
			}
			for i, f := range findings {
				v := right.rule(row, f)
				if v.Quantity == "" {
					v.Quantity = quantities[i]
				}
				if wrong != nil {
					v.Control = &ControlVerdict{Fault: cmp.Or(faulty[i].fault, fault), Verdict: wrong.rule(row, faulty[i]).Verdict}
				}
				verdicts = append(verdicts, v)
			}
		}
	}
	return verdicts
}

// planted returns the judgement of the same check by a theory with the check's
// fault, and the fault in words; nil where the check plants none. A refutation
// is controlled by the exact prediction in the place of the refuted one.
func (j *judgement) planted() (*judgement, string) {
	wrong := *j
	control := j.check.Control
	if control == nil {
		if j.check.Expect != config.Fails {
			return nil, ""
		}
		wrong.kind, wrong.inPlace = "", true
		return &wrong, "the exact prediction"
	}
	wrong.plant(control.Fault())
	return &wrong, control.String()
}

// find finds the claim's quantities for a set of cells, unless one of them has
// no fixed point to start from.
func (j *judgement) find(set CellSet) []finding {
	l := logics[j.check.Claim]
	for _, c := range set.Cells {
		if c.Status != store.NoFixedPoint {
			continue
		}
		findings := make([]finding, len(l.quantities(j.check, set.Cells)))
		for i := range findings {
			findings[i] = unmeasured(rom.Exact)
			findings[i].predicted.outOfScope = "no fixed point to start from"
		}
		return findings
	}
	return l.find(j, set)
}

// rule lays the margin on a finding.
func (j *judgement) rule(row Verdict, f finding) Verdict {
	v := row
	v.Quantity = f.quantity
	v.Measured, v.Lo, v.Hi = store.Number(f.measured), store.Number(f.lo), store.Number(f.hi)
	v.Predicted, v.PredictionKind = store.Number(f.predicted.value), f.predicted.kind
	if f.expect != "" {
		v.Expect = f.expect
	}
	margin := j.margin(f.predicted.value)
	if f.side == FromBelow {
		margin = 0
	}
	v.Margin = store.Number(margin)
	switch {
	case f.predicted.outOfScope != "":
		v.Verdict, v.Because = OutOfScope, f.predicted.outOfScope
		v.Predicted, v.Margin = store.Number(math.NaN()), store.Number(math.NaN())
	case f.failed != "":
		v.Verdict, v.Because = Disagree, f.failed
		v.Measured, v.Lo, v.Hi = store.Number(math.NaN()), store.Number(math.NaN()), store.Number(math.NaN())
	default:
		v.Verdict = Compare(f.lo, f.hi, f.predicted.value, margin, f.side, v.Expect)
		v.Because = because(v.Verdict, f, margin, v.Expect)
	}
	return v
}

// margin returns the absolute margin about a prediction; none about one that
// lies beyond every number.
func (j *judgement) margin(predicted float64) float64 {
	if math.IsInf(predicted, 0) {
		return 0
	}
	if j.check.AbsoluteMargin > 0 {
		return j.check.AbsoluteMargin
	}
	return j.check.Margin * math.Abs(predicted)
}

// because says in one sentence what decided, or what would.
func because(ruling Ruling, f finding, margin float64, expect config.Expectation) string {
	if ruling == Inconclusive {
		half := (f.hi - f.lo) / 2
		switch {
		case math.IsNaN(half) || math.IsNaN(f.predicted.value):
			return "there is no number to compare"
		case math.IsInf(half, 0) && f.replicas == 1:
			return "the error of a single replica is not known: run at least two"
		case math.IsInf(half, 0):
			return "at this confidence the interval has no end"
		}
		distance := math.Abs(math.Abs(f.measured-f.predicted.value) - margin)
		if f.replicas > 0 && distance > 0 {
			return fmt.Sprintf("the interval straddles the margin: about %.2g times the replicas or draws would decide", math.Pow(half/distance, 2))
		}
		return "the interval straddles the margin"
	}
	inside := (ruling == Agree) == (expect == config.Holds)
	switch {
	case f.side == FromBelow && inside:
		return "the interval does not lie below the prediction"
	case f.side == FromBelow:
		return "the interval lies wholly below the prediction"
	case f.side == Beyond && inside:
		return "no event up to the end of the search, and none predicted before it"
	case f.side == Beyond:
		return "no event up to the end of the search, where one is predicted"
	case inside:
		return "the interval lies inside predicted ± margin"
	default:
		return "the interval lies wholly outside predicted ± margin"
	}
}

// by returns the same judgement of another prediction; "": the claim's default.
func (j *judgement) by(kind rom.Kind) *judgement {
	other := *j
	other.kind = kind
	return &other
}

// settings returns the cell's settings as the theory is told them.
func (j *judgement) settings(c *Cell) config.Settings {
	s := c.Settings
	if j.set != nil {
		j.set(&s)
	}
	return s
}

func (j *judgement) params(c *Cell) rom.Params {
	s := j.settings(c)
	return Params(&s, j.factors)
}

func (j *judgement) prediction(c *Cell) *rom.Prediction {
	s := j.settings(c)
	return j.predictSettings(&s)
}

func (j *judgement) predictSettings(s *config.Settings) *rom.Prediction {
	return j.cache.predict(s, j.factors)
}

// measured begins a finding with a stationary estimate and its interval.
func (j *judgement) measured(c *Cell, o *store.Outcome, name string) finding {
	f := j.estimated(c, o, name)
	f.failed = o.Failure()
	return f
}

// estimated begins a finding with an estimate and its interval.
func (j *judgement) estimated(c *Cell, o *store.Outcome, name string) finding {
	f := unmeasured(rom.Exact)
	if e, ok := o.Estimate(name); ok {
		f.measured, f.replicas = e.Mean, e.DF+1
		f.lo, f.hi = c.interval(name, e, j.confidence)
	}
	return f
}
