// Package diagnose names the failure mode of one training run from its recorded series alone
// (docs/theory-trainers.md §7). Name applies this project's diagnostics, PaperName those of
// arXiv:2606.30789.
//
// The series are those of a simulated run or the columns of a trainer's log (Origin). What a run
// does not show is not observable, and never the same as absent.
//
// No threshold is fitted to runs. Each is the midpoint between two states, or a bound, or follows
// from a declared probability of a false alarm. Its comment says which.
package diagnose

import (
	"fmt"
	"math"
)

// Mode is a failure mode of a run, or None.
type Mode string

const (
	None                 Mode = "none"                  // no diagnostic finds a failure
	RewardHacking        Mode = "reward-hacking"        // the reward rises, not the true reward
	AdvantageDegeneracy  Mode = "advantage-degeneracy"  // most groups have equal rewards: no gradient
	PolicyConcentration  Mode = "policy-concentration"  // the policy collapses and rewards still vary
	DynamicalInstability Mode = "dynamical-instability" // the update itself oscillates or diverges
)

// Modes lists every mode, None first.
var Modes = []Mode{None, RewardHacking, AdvantageDegeneracy, PolicyConcentration,
	DynamicalInstability}

// Failures lists the failure modes in their order of precedence (see Name).
var Failures = []Mode{DynamicalInstability, RewardHacking, AdvantageDegeneracy, PolicyConcentration}

// Origin says what the values of a trace are.
type Origin int

const (
	// Expectations are exact values of a simulated policy.
	Expectations Origin = iota
	// Samples are means over the samples of a step, or of several, as trainers log
	// them. A sign counts only if it is clear of the noise (Evidence.Error).
	Samples
)

// Trace holds the series recorded along one run. A series that was not recorded is nil; every other
// one has the length of Steps, with NaN or ±Inf where a value is missing.
type Trace struct {
	Origin       Origin
	Steps        []int     // optimizer steps; a row that does not increase them is ignored
	Reward       []float64 // expected reward that the run is trained on, in any unit
	TrueReward   []float64 // expected reward that the run ought to maximize, in any unit
	Entropy      []float64 // −Σ π log π, nats, ≥ 0
	Collision    []float64 // Σ π², in (0, 1]
	ZeroVariance []float64 // share of groups whose rewards are all equal, in [0, 1]
	KL           []float64 // KL(π‖π_ref), nats, ≥ 0
	GradientNorm []float64 // ‖g‖, ≥ 0
	RatioMax     []float64 // max_a π_a/π_old,a over arms, ≥ 1; of samples, used by PaperName only
	KLOld        []float64 // KL(π_old‖π), nats, per token if a sample has several
	ClipFraction []float64 // share of samples or tokens outside the clip range, in [0, 1]
	AtLeast      bool      // ZeroVariance is a lower bound: 1 where all groups are equal, 0 elsewhere
	BestReward   *float64  // expected reward of the only best arm; nil: several or not known
}

// columns returns pointers to all series, with the names of their fields.
func (t *Trace) columns() (fields []string, series []*[]float64) {
	fields = []string{"Reward", "TrueReward", "Entropy", "Collision", "ZeroVariance", "KL",
		"GradientNorm", "RatioMax", "KLOld", "ClipFraction"}
	return fields, []*[]float64{&t.Reward, &t.TrueReward, &t.Entropy, &t.Collision, &t.ZeroVariance, &t.KL,
		&t.GradientNorm, &t.RatioMax, &t.KLOld, &t.ClipFraction}
}

// Prefix returns the first n rows of the trace. It panics if there are fewer.
func (t Trace) Prefix(n int) Trace {
	t.Steps = t.Steps[:n]
	_, series := t.columns()
	for _, s := range series {
		if len(*s) > 0 {
			*s = (*s)[:n]
		}
	}
	return t
}

// check panics if a recorded series differs in length from Steps.
func (t *Trace) check() {
	fields, series := t.columns()
	for i, s := range series {
		if n := len(*s); n != 0 && n != len(t.Steps) {
			panic(fmt.Sprintf("diagnose: Trace.%s has %d values for %d Steps", fields[i], n, len(t.Steps)))
		}
	}
}

// Diagnosis is the mode of a run with the evidence for it.
type Diagnosis struct {
	Mode     Mode       // the first of Failures that is present, or None
	Verdicts []Verdict  // one per mode of Failures, in that order; nil from PaperName
	Evidence []Evidence // one entry per diagnostic that applies, in a fixed order, observable or not
}

// Verdict says whether a run shows one failure mode.
type Verdict struct {
	Mode     Mode
	Finding  Finding
	Since    int      // Present: the step since which the sign is there; else -1
	Because  string   // NotObservable: why, one sentence; else ""
	Missing  []string // NotObservable: any of these series, not recorded, would help; else nil
	Remedies []string // how a log gets each of them
}

// Finding says whether a mode is there.
type Finding string

const (
	Present       Finding = "present"
	Absent        Finding = "absent"
	NotObservable Finding = "not-observable" // the trace does not show whether the mode is there
)

// Evidence is the result of one diagnostic.
type Evidence struct {
	Diagnostic string        // name of the diagnostic
	Of         Mode          // the mode that it is a sign of, never None
	Value      float64       // what the diagnostic measured, finite if Observed, else NaN
	Side       Side          // the side of Threshold on which Value is a sign; "" if not Observed
	Threshold  float64       // the value from which it is a sign of Of, finite if Observed, else NaN
	Error      float64       // half-width of the interval that the noise leaves to Value; 0: unknown
	Says       Mode          // Of if Value is at or past Threshold by more than Error, else None
	Since      int           // the step since which it says so, -1 if it does not
	Observable Observability // whether the trace determines Value, or why not
}

// Observability says whether a trace determines the value of a diagnostic, or why it does not.
type Observability string

const (
	Observed    Observability = "observed"     // the value is known
	NotRecorded Observability = "not-recorded" // the trace lacks a series that the diagnostic needs
	Ended       Observability = "ended"        // no value in the last eighth of the run; of Samples
	TooShort    Observability = "too-short"    // fewer than eight values in the last half of the run
	Undefined   Observability = "undefined"    // the diagnostic's formula has no finite value here
)

// Side is the side of a threshold on which a value is a sign of failure.
type Side string

const (
	AtLeast Side = "at least"
	AtMost  Side = "at most"
)

// reading is a measured value of a diagnostic, with the threshold from which it is a sign.
type reading struct {
	value, wide float64 // with the half-width of its interval, 0 if it is not known
	side        Side
	threshold   float64
	since       int // the step since which the value is a sign, if it is one
}

// undefined is the reading of a formula without a finite value.
var undefined = reading{value: math.NaN()}

// evidence reads a diagnostic of a mode from columns, if they have enough values. A value whose
// interval contains the threshold is no sign.
func (t *Trace) evidence(diagnostic string, of Mode, read func(r *run) reading, columns ...[]float64) Evidence {
	r, o := t.rows(columns...)
	if o != Observed {
		return unobserved(diagnostic, of, o)
	}
	m := read(&r)
	if !isNumber(m.value) || !isNumber(m.wide) || !isNumber(m.threshold) {
		return unobserved(diagnostic, of, Undefined)
	}
	e := Evidence{diagnostic, of, m.value, m.side, m.threshold, m.wide, None, -1, Observed}
	if m.side == AtLeast && m.value-m.wide >= m.threshold || m.side == AtMost && m.value+m.wide <= m.threshold {
		e.Says, e.Since = of, m.since
	}
	return e
}

// unobserved returns the evidence of a diagnostic whose value is not known.
func unobserved(diagnostic string, of Mode, why Observability) Evidence {
	return Evidence{Diagnostic: diagnostic, Of: of, Value: math.NaN(), Error: math.NaN(),
		Threshold: math.NaN(), Says: None, Since: -1, Observable: why}
}

// speaks reports whether the evidence is a sign of its mode.
func (e Evidence) speaks() bool { return e.Says != None }
