package diagnose

import (
	"fmt"
	"math"
	"slices"
)

// sign is a truth value of three: false, not known, true. In that order the largest of several is
// their disjunction and the smallest their conjunction.
type sign int

const (
	no sign = iota
	unknown
	yes
)

func both(a, b sign) sign { return min(a, b) }

// either of no and unknown is unknown.
func either(a, b sign) sign { return max(a, b) }

// sign says whether the evidence is a sign of its mode. It is not known where a series is not
// recorded, or where the noise hides on which side of the threshold the value is.
func (e Evidence) sign() sign {
	switch {
	case e.speaks():
		return yes
	case e.Observable == Observed && !e.noisy():
		return no
	}
	return unknown
}

// noisy reports whether the interval of the value contains the threshold.
func (e Evidence) noisy() bool {
	return e.Observable == Observed && e.Error > 0 && math.Abs(e.Value-e.Threshold) <= e.Error && !e.speaks()
}

// anySign is yes if any of the evidence is a sign, else unknown.
func anySign(evidence []Evidence) sign {
	if slices.ContainsFunc(evidence, Evidence.speaks) {
		return yes
	}
	return unknown
}

// noneOf is no if the reward does not ring, one of the other signs is absent too, and noise hides
// none of those. Else it is unknown.
func noneOf(rings Evidence, beyond []Evidence) sign {
	seen := slices.ContainsFunc(beyond, func(e Evidence) bool { return e.sign() == no })
	if rings.sign() == no && seen && !slices.ContainsFunc(beyond, Evidence.noisy) {
		return no
	}
	return unknown
}

// allObserved combines evidence for one mode: at least one must be observable, and each
// that is observable must be a sign of it.
func allObserved(evidence ...Evidence) sign {
	found := unknown
	for i, e := range slices.DeleteFunc(evidence, func(e Evidence) bool { return e.Observable != Observed }) {
		if i == 0 {
			found = yes
		}
		found = both(found, e.sign())
	}
	return found
}

// judge adds the verdict of a mode. The first mode that is present is named.
func (d *Diagnosis) judge(t *Trace, mode Mode, s sign) {
	v := Verdict{Mode: mode, Finding: Absent, Since: -1}
	switch s {
	case yes:
		v.Finding = Present
		if d.Mode == None {
			d.Mode = mode
		}
		for _, e := range d.Evidence {
			if e.Says == mode && (v.Since < 0 || e.Since < v.Since) {
				v.Since = e.Since
			}
		}
	case unknown:
		v.Finding = NotObservable
		v.Missing = t.missing(mode)
		v.Because = d.because(t, mode, v.Missing)
	}
	d.Verdicts = append(d.Verdicts, v)
}

// missing lists the series that were not recorded and would help to see a mode.
func (t *Trace) missing(mode Mode) (names []Series) {
	for _, s := range []struct {
		name   Series
		of     Mode
		values []float64
	}{
		{RewardSeries, RewardHacking, t.Reward},
		{RewardSeries, DynamicalInstability, t.Reward},
		{TrueRewardSeries, RewardHacking, t.TrueReward},
		{ZeroVarianceSeries, AdvantageDegeneracy, t.ZeroVariance},
		{EntropySeries, PolicyConcentration, slices.Concat(t.Entropy, t.Collision)},
		{EntropySeries, DynamicalInstability, t.Entropy},
		{KLOldSeries, DynamicalInstability, t.KLOld},
		{ClipFractionSeries, DynamicalInstability, t.ClipFraction},
	} {
		if s.of == mode && !slices.ContainsFunc(s.values, isNumber) {
			names = append(names, s.name)
		}
	}
	return names
}

// because says why a mode is not observable, by the first reason that applies. They are the noise,
// a run too short, a series that is missing, a diagnostic without a value.
func (d *Diagnosis) because(t *Trace, mode Mode, missing []Series) string {
	for _, e := range d.Evidence {
		switch {
		case e.Of != mode:
		case e.noisy():
			return fmt.Sprintf("the noise hides on which side of %.3g the %s is: %.3g ± %.2g", e.Threshold, e.Diagnostic, e.Value, e.Error)
		}
	}
	for _, e := range d.Evidence {
		switch {
		case e.Of != mode:
		case e.Observable == TooShort:
			if few := t.fewEvaluations(); mode == RewardHacking && few != "" {
				return few
			}
			return fmt.Sprintf("%s: fewer than %d values in the last half of the run", e.Diagnostic, minLate)
		case e.Observable == Ended:
			return fmt.Sprintf("%s: what it is read from ends before the last eighth of the run", e.Diagnostic)
		}
	}
	if len(missing) > 0 {
		return fmt.Sprintf("not recorded: %s", missing[0])
	}
	for _, e := range d.Evidence {
		switch {
		case e.Of != mode || e.Observable != Undefined:
		case mode == RewardHacking:
			return "the reward has not risen by more than its noise, so there is nothing for the true reward to follow"
		default:
			return e.Diagnostic + " has no value in this run"
		}
	}
	return "no diagnostic of it has a value"
}
