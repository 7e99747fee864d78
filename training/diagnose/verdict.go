package diagnose

import (
	"cmp"
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
	found, observed := yes, false
	for _, e := range evidence {
		if e.Observable == Observed {
			found, observed = min(found, e.sign()), true
		}
	}
	if !observed {
		return unknown
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
		v.Missing, v.Remedies = t.missing(mode)
		v.Because = d.because(t, mode, v.Missing)
	}
	d.Verdicts = append(d.Verdicts, v)
}

// missing lists the series that were not recorded and would help to see a mode, and says how each
// is logged, by the name that it has in any trainer's log.
func (t *Trace) missing(mode Mode) (names, remedies []string) {
	for _, s := range []struct {
		name, remedy string
		of           []Mode
		values       []float64
	}{
		{"reward", "log the mean reward as reward", []Mode{RewardHacking, DynamicalInstability}, t.Reward},
		{"true reward", "log a score of evaluation as eval_reward, or name its column: --true-reward COLUMN",
			[]Mode{RewardHacking}, t.TrueReward},
		{"share of zero-variance groups", "log the fraction of groups with equal rewards as frac_zero_std",
			[]Mode{AdvantageDegeneracy}, map[bool][]float64{false: t.ZeroVariance}[t.AtLeast]},
		{"entropy", "log the mean entropy per token as entropy",
			[]Mode{PolicyConcentration, DynamicalInstability}, slices.Concat(t.Entropy, t.Collision)},
		{"KL to the old policy", "log the KL divergence to the sampling policy as kl_old",
			[]Mode{DynamicalInstability}, t.KLOld},
		{"clip fraction", "log the fraction of clipped tokens as clip_any",
			[]Mode{DynamicalInstability}, t.ClipFraction},
	} {
		if slices.Contains(s.of, mode) && !slices.ContainsFunc(s.values, isNumber) {
			names, remedies = append(names, s.name), append(remedies, s.name+": "+s.remedy)
		}
	}
	return names, remedies
}

// because says why a mode is not observable, by the first reason that applies. They are the noise,
// a run too short, a series that is missing, a diagnostic without a value.
func (d *Diagnosis) because(t *Trace, mode Mode, missing []string) string {
	const noise, short, lacks, undefined = 0, 1, 2, 3
	var says [4]string
	add := func(kind int, format string, args ...any) {
		says[kind] = cmp.Or(says[kind], fmt.Sprintf(format, args...))
	}
	for _, e := range d.Evidence {
		switch few := t.fewEvaluations(); {
		case e.Of != mode:
		case e.noisy():
			add(noise, "the noise hides on which side of its threshold the %s is", e.Diagnostic)
		case e.Observable == Ended:
			add(short, "%s: what it is read from ends before the last eighth of the run", e.Diagnostic)
		case e.Observable == TooShort && mode == RewardHacking && few != "":
			add(short, "%s", few)
		case e.Observable == TooShort:
			add(short, "%s: fewer than %d values in the last half of the run", e.Diagnostic, minLate)
		case e.Observable == Undefined && mode == RewardHacking:
			add(undefined, "the reward has not risen beyond its noise: there is nothing for the true reward to follow")
		case e.Observable == Undefined:
			add(undefined, "%s has no value in this run", e.Diagnostic)
		}
	}
	if len(missing) > 0 {
		add(lacks, "not recorded: %s", missing[0])
	}
	return cmp.Or(says[noise], says[short], says[lacks], says[undefined], "no diagnostic of it has a value")
}
