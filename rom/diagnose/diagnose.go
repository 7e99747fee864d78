// Package diagnose names the failure mode of one training run from its recorded
// series alone (docs/theory.md §7). Name applies this project's diagnostics,
// PaperName those of arXiv:2606.30789.
//
// No threshold is fitted to runs. Each is the midpoint between the two states that
// a diagnostic tells apart, or a bound, or follows from a declared probability of a
// false alarm; the comment of the diagnostic says which.
package diagnose

import (
	"fmt"
	"math"
)

// Mode is a failure mode of a run, or None.
type Mode string

const (
	None                 Mode = "none"                  // no diagnostic finds a failure
	RewardHacking        Mode = "reward-hacking"        // the reward rises while the true reward does not follow
	AdvantageDegeneracy  Mode = "advantage-degeneracy"  // most groups have equal rewards, hence no gradient
	PolicyConcentration  Mode = "policy-concentration"  // the policy collapses while rewards still vary
	DynamicalInstability Mode = "dynamical-instability" // the update itself oscillates or diverges
)

// Modes lists every mode, None first.
var Modes = []Mode{None, RewardHacking, AdvantageDegeneracy, PolicyConcentration, DynamicalInstability}

// Trace holds the series recorded along one run. A series that was not recorded is
// nil; every other one has the length of Steps, with NaN or ±Inf where a value is
// missing.
type Trace struct {
	Steps        []int     // optimizer steps, increasing; a row that repeats a step or goes back is ignored
	Reward       []float64 // expected reward that the run is trained on, in any unit
	TrueReward   []float64 // expected reward that the run ought to maximize, in any unit
	Entropy      []float64 // −Σ π log π, nats, ≥ 0
	Collision    []float64 // Σ π², in (0, 1]
	ZeroVariance []float64 // share of groups whose rewards are all equal, in [0, 1]
	KL           []float64 // KL(π‖π_ref), nats, ≥ 0
	GradientNorm []float64 // ‖g‖, ≥ 0
	RatioMax     []float64 // max_a π_a/π_old,a over the policy's arms, ≥ 1
}

// check panics if a recorded series differs in length from Steps.
func (t *Trace) check() {
	for _, s := range []struct {
		field  string
		values []float64
	}{
		{"Reward", t.Reward}, {"TrueReward", t.TrueReward}, {"Entropy", t.Entropy}, {"Collision", t.Collision},
		{"ZeroVariance", t.ZeroVariance}, {"KL", t.KL}, {"GradientNorm", t.GradientNorm}, {"RatioMax", t.RatioMax},
	} {
		if n := len(s.values); n != 0 && n != len(t.Steps) {
			panic(fmt.Sprintf("diagnose: Trace.%s has %d values for %d Steps", s.field, n, len(t.Steps)))
		}
	}
}

// Diagnosis is the mode of a run with the evidence for it.
type Diagnosis struct {
	Mode     Mode       // the one mode named, None if there is no sign of failure
	Evidence []Evidence // one entry per diagnostic, in a fixed order, observable or not
}

// Evidence is the result of one diagnostic.
type Evidence struct {
	Diagnostic string        // name of the diagnostic
	Of         Mode          // the mode that it is a sign of, never None
	Value      float64       // what the diagnostic measured, finite if Observed, else NaN
	Threshold  float64       // the value from which it is a sign of Of, finite if Observed, else NaN
	Says       Mode          // Of if Value is at or past Threshold, else None
	Observable Observability // whether the trace determines Value, or why not
}

// Observability says whether a trace determines the value of a diagnostic, or why
// it does not.
type Observability string

const (
	Observed    Observability = "observed"     // the value is known
	NotRecorded Observability = "not-recorded" // the trace lacks a series that the diagnostic needs
	TooShort    Observability = "too-short"    // fewer than eight values in the last half of the run
	Undefined   Observability = "undefined"    // the diagnostic's formula has no finite value on this run
)

// side is the side of a threshold on which a value is a sign of failure.
type side int

const (
	atLeast side = iota
	atMost
)

// observed returns the evidence of a value; it is Undefined if the value or the
// threshold is not finite.
func observed(diagnostic string, of Mode, value float64, s side, threshold float64) Evidence {
	if math.IsNaN(value) || math.IsInf(value, 0) || math.IsNaN(threshold) || math.IsInf(threshold, 0) {
		return unobserved(diagnostic, of, Undefined)
	}
	e := Evidence{Diagnostic: diagnostic, Of: of, Value: value, Threshold: threshold, Says: None, Observable: Observed}
	if s == atLeast && value >= threshold || s == atMost && value <= threshold {
		e.Says = of
	}
	return e
}

// unobserved returns the evidence of a diagnostic whose value is not known.
func unobserved(diagnostic string, of Mode, why Observability) Evidence {
	return Evidence{Diagnostic: diagnostic, Of: of, Value: math.NaN(), Threshold: math.NaN(), Says: None, Observable: why}
}

// speaks reports whether the evidence is a sign of its mode.
func (e Evidence) speaks() bool { return e.Says != None }
