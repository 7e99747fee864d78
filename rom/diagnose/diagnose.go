// Package diagnose names the failure mode of one training run from what was
// recorded along it (docs/theory.md §7): by this project's diagnostics (Name)
// and by the paper's (PaperName).
//
// No threshold is fitted to runs. Each is the middle between the two states
// that a diagnostic tells apart, or a bound, or comes from a declared
// probability of a false alarm; the diagnostic's comment says which.
package diagnose

import "math"

// Mode is a way in which a run fails, or None.
type Mode string

const (
	None                 Mode = "none"
	RewardHacking        Mode = "reward-hacking"
	AdvantageDegeneracy  Mode = "advantage-degeneracy"
	PolicyConcentration  Mode = "policy-concentration"
	DynamicalInstability Mode = "dynamical-instability"
)

// Modes lists every mode, None first.
var Modes = []Mode{None, RewardHacking, AdvantageDegeneracy, PolicyConcentration, DynamicalInstability}

// Trace is what was recorded along one run. Every series has a value for each
// of Steps (increasing), NaN where one is missing; a series of another length,
// nil among them, was not recorded.
type Trace struct {
	Steps        []int
	Reward       []float64 // what the run is trained on
	TrueReward   []float64 // what it should have been
	Entropy      []float64 // −Σ π log π, nats
	Collision    []float64 // Σ π²
	ZeroVariance []float64 // share of groups whose rewards are all equal
	KL           []float64 // KL(π‖π_ref), nats
	GradientNorm []float64 // ‖g‖
	RatioMax     []float64 // max_a π_a/π_old,a over the policy's arms
}

// Diagnosis is a run's mode and what it was named from.
type Diagnosis struct {
	Mode     Mode
	Evidence []Evidence // in a fixed order, whether observable or not
}

// Evidence is what one diagnostic found.
type Evidence struct {
	Diagnostic string
	Of         Mode    // the mode it is a sign of
	Value      float64 // NaN where it is not observable
	Threshold  float64 // NaN where it is not observable
	Says       Mode    // Of where Value is past Threshold, else None
	Observable Observability
}

// Observability says whether a diagnostic can be read off a trace, and why not.
type Observability string

const (
	Observed    Observability = "observed"
	NotRecorded Observability = "not-recorded" // the run does not log what it needs
	TooShort    Observability = "too-short"    // too few values
	Undefined   Observability = "undefined"    // its formula has no value on this run
)

// side says where, seen from its threshold, a value is a sign of failure.
type side int

const (
	atLeast side = iota
	atMost
)

// observed is the evidence of a value; one that is no number is undefined.
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

// unobserved is the evidence of a diagnostic that cannot be read.
func unobserved(diagnostic string, of Mode, why Observability) Evidence {
	return Evidence{Diagnostic: diagnostic, Of: of, Value: math.NaN(), Threshold: math.NaN(), Says: None, Observable: why}
}

// speaks says whether the evidence is a sign of its mode.
func (e Evidence) speaks() bool { return e.Says != None }
