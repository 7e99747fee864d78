package judge

import (
	"cmp"
	"fmt"
	"math"

	"grposim/fp"
	"grposim/rom/scope"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// judgement answers a question by verdicts.
type judgement struct{ claim.Question }

// rule completes a verdict by comparing a finding with its prediction, within the check's margin.
func (j *judgement) rule(v Verdict, f claim.Finding) Verdict {
	nan := store.Number(math.NaN())
	v.Quantity = f.Quantity
	v.Measured, v.Lo, v.Hi = store.Number(f.Measured), store.Number(f.Lo), store.Number(f.Hi)
	v.Predicted, v.PredictionKind = store.Number(f.Predicted.Value), f.Predicted.Kind
	v.Expect = cmp.Or(f.Expect, v.Expect)
	v.About, v.Estimate, v.Bandits = cmp.Or(f.About, v.About), f.Estimate, f.Bandits
	margin := j.judgedMargin(&f)
	v.Margin = store.Number(margin)
	switch because := j.scope(&f); {
	case because.Out():
		v.Verdict, v.Because, v.Reason = OutOfScope, because.String(), because.Name()
		v.Predicted, v.Margin = nan, nan
	case f.Diverged.Diverged > 0:
		// No mean over all replicas exists. A prediction says nothing of rare events,
		// so that it is contradicted only if at least half of the replicas diverged.
		v.Verdict, v.Because = Disagree, f.Diverged.String()
		if 2*f.Diverged.Diverged < f.Diverged.Replicas {
			v.Verdict, v.Because = Inconclusive,
				v.Because+"; there is no mean over all replicas, and the theory does not predict rare events"
		}
		v.Measured, v.Lo, v.Hi = nan, nan, nan
	default:
		v.Verdict = Compare(f.Lo, f.Hi, f.Predicted.Value, margin, f.Side, v.Expect)
		v.Because = decided(v.Verdict, f, margin, v.Expect)
		if f.Instead != "" && v.Verdict != Agree {
			v.Because += "; " + f.Instead
		}
	}
	return v
}

// scope returns why a finding is not judged. For a hypothesis it asks what the run is, and not what
// else the theory leaves out of its own number.
func (j *judgement) scope(f *claim.Finding) scope.Reason {
	h := j.Check.Hypothesis
	if h == nil {
		return f.Predicted.Judged(j.judgedMargin(f))
	}
	run := f.Unrested
	if !f.Predicted.Out() {
		run.Neglected = scope.OfRun(f.Predicted.Neglected)
	}
	if h.Relation != config.Equals {
		return run.JudgedWithin(max(math.Abs(f.Lo-h.Value), math.Abs(f.Hi-h.Value)),
			"the distance to the bound,")
	}
	return run.Judged(j.Margin(h.Value))
}

// judgedMargin returns the margin within which a finding is judged: none from below.
func (j *judgement) judgedMargin(f *claim.Finding) float64 {
	if f.Side == claim.FromBelow {
		return 0
	}
	return max(j.Margin(f.Predicted.Value), f.Predicted.Resolution)
}

// decided returns the reason for a ruling in one sentence; for an inconclusive one,
// what would decide it.
func decided(ruling Ruling, f claim.Finding, margin float64, expect config.Expectation) string {
	if ruling == Inconclusive {
		half := (f.Hi - f.Lo) / 2
		switch {
		case f.Unresolved != "":
			return f.Unresolved
		case math.IsNaN(half) || math.IsNaN(f.Predicted.Value):
			return "there is no number to compare"
		case math.IsInf(half, 0) && f.Replicas == 1:
			return "the error of a single replica is not known: run at least two"
		case math.IsInf(half, 0):
			return "at this confidence the interval has no end"
		}
		distance := math.Abs(math.Abs(f.Measured-f.Predicted.Value) - margin)
		reach := max(f.Hi-f.Measured, f.Measured-f.Lo) // of a share near 0 or 1 the longer side
		if more := fp.Pow(reach/distance, 2); f.Replicas > 0 && more < math.Inf(1) {
			return fmt.Sprintf(
				"the interval straddles the margin: about %.2g times the replicas or draws would decide", more)
		}
		return "the interval straddles the margin"
	}
	if inside := (ruling == Agree) == (expect == config.Holds); inside {
		return reasons[f.Side].inside
	}
	return reasons[f.Side].outside
}

// reasons are those of decided verdicts, by the side of the comparison.
var reasons = map[claim.Side]struct{ inside, outside string }{
	claim.FromBothSides: {"the interval lies inside predicted ± margin",
		"the interval lies wholly outside predicted ± margin"},
	claim.FromBelow: {"the interval does not lie below the prediction",
		"the interval lies wholly below the prediction"},
	claim.Unfound: {
		"no event up to the end of the search, and none predicted before it",
		"no event up to the end of the search, where one is predicted",
	},
	claim.Unreached: {"the level is not reached in the run, and is not predicted to be",
		"the level is not reached in the run, and is predicted to be"},
}

// Compare compares a measured interval [lo, hi] with predicted ± margin, margin ≥ 0.
// The interval is
//
//	               inside where                    outside where
//	FromBothSides  it lies in predicted ± margin   it has no point in predicted ± margin
//	FromBelow      predicted ≤ lo                  hi < predicted
//	Unfound        lo ≤ predicted                  predicted + margin < lo
//	Unreached      as Unfound
//
// A prediction expected to hold agrees when the interval is inside and disagrees when it is
// outside; one expected to fail, the other way round. Everything else is Inconclusive: an interval
// that straddles the margin or is infinite, and NaN as interval or prediction.
func Compare(lo, hi, predicted, margin float64, side claim.Side, expect config.Expectation) Ruling {
	inside := lo >= predicted-margin && hi <= predicted+margin
	outside := lo > predicted+margin || hi < predicted-margin
	switch {
	case side == claim.FromBelow:
		inside = lo >= predicted
		outside = hi < predicted
	case side == claim.Unfound, side == claim.Unreached:
		inside = predicted >= lo
	}
	if expect == config.Fails {
		inside, outside = outside, inside
	}
	switch {
	case inside:
		return Agree
	case outside:
		return Disagree
	default:
		return Inconclusive
	}
}
