package config

import (
	"fmt"
	"strings"

	"grposim/rom"
)

// Spec is a configuration file, checked and complete: every default is filled
// in and every rule that needs no theory holds.
type Spec struct {
	Name       string // [a-z0-9-]{1,64}; names the results folder
	Claim      string // prose
	Seed       uint64
	Base       Settings
	Sweep      []Axis
	Variants   []Variant
	Checks     []Check
	Confidence float64 // family-wise, over all verdicts the file makes

	given draft // Base as the file gives it, before defaults; nil: Base itself
}

// Assignment gives one dotted key a value. The value has the type that the
// key table (keys.go) gives that key.
type Assignment struct {
	Param string
	Value any
}

// Axis is one dimension of a grid. Each point assigns all of Params at once:
// one parameter, or the several of a zip.
type Axis struct {
	Params []string
	Points [][]any // Points[i][j] is the value of Params[j]
}

// Variant is the base with some keys set, under a grid of its own.
type Variant struct {
	Name  string
	Set   []Assignment
	Sweep []Axis
}

// Expectation says whether a check claims that a prediction holds or that it
// fails.
type Expectation string

const (
	Holds Expectation = "holds"
	Fails Expectation = "fails"
)

// Condition selects the cells whose Param has one of Values.
type Condition struct {
	Param  string
	Values []any
}

// Control is the planted fault that a check must catch, applied to what the
// theory is given: settings replaced, then constants scaled. The fault of a
// failure mode is another mode.
type Control struct {
	Set   []Assignment
	Scale rom.Factors // rom.Unit where nothing is scaled
	Mode  string      // "" everywhere but in failure-mode
}

// Check is one claim about the cells of a file and the margin by which it is
// judged.
type Check struct {
	Claim          *Claim
	Margin         float64     // relative to |predicted|, > 0; 0 where the margin is absolute
	AbsoluteMargin float64     // where Margin is 0; 0 itself where two whole numbers are compared
	Prediction     rom.Kind    // the prediction that is judged; "" the claim's default
	Expect         Expectation // Holds or Fails
	Where          []Condition // all of which a cell must satisfy
	Variant        string      // the variant whose cells are judged; "" all
	Control        *Control    // the planted fault; nil where the file plants none
	Measuring
}

// Fault is a mistake planted in the theory: what it is told of a cell, the
// constants it computes with, or the name it expects of a run.
type Fault struct {
	Set   func(*Settings) // nil: nothing
	Scale rom.Factors     // rom.Unit: nothing
	Mode  string          // "": nothing
}

// NoFault is the theory as derived.
var NoFault = Fault{Scale: rom.Unit}

// Fault returns what the control plants.
func (c *Control) Fault() Fault {
	set := func(s *Settings) {
		for _, a := range c.Set {
			key, _ := LookupKey(a.Param)
			if err := key.Set(s, a.Value); err != nil {
				panic(err) // checked when the file was loaded
			}
		}
	}
	return Fault{Set: set, Scale: c.Scale, Mode: c.Mode}
}

// String gives the fault in words: stiffness × 1.1.
func (c *Control) String() string {
	var words []string
	if c.Mode != "" {
		words = append(words, "mode = "+c.Mode)
	}
	for _, a := range c.Set {
		words = append(words, a.Param+" = "+Format(a.Value))
	}
	for _, f := range factorNames(c.Scale) {
		if f.value != 1 {
			words = append(words, fmt.Sprintf("%s × %g", f.name, f.value))
		}
	}
	return strings.Join(words, ", ")
}

// Measuring holds the keys that say how the claim of a check measures. A claim
// takes those that it needs; the others are zero.
type Measuring struct {
	Over         string  // the key that a claim across cells runs over, grpo.group_size
	Displacement float64 // of the logits about the fixed point, ≥ 1e-9, where the stiffness is measured
	Draws        int     // pairs of groups at ±Displacement, ≥ 1
	Offset       float64 // of the starts of pairs of runs about the fixed point, ≥ 1e-9
	Locate       *Locate // the search for an event
	Mode         string  // the failure mode that every replica must be named
}

// Locate is the search for the first event along a parameter, in multiples of
// the paper's rule at the measured stiffness.
type Locate struct {
	Param     string  // optimizer.learning_rate or lag.interval
	From, To  float64 // 0 < From < To
	Tolerance float64 // relative width of the last bracket, in (0, 1)
}

// namedFactor is a constant of the theory by the name it has in a control.
type namedFactor struct {
	name  string
	value float64
}

func factorNames(f rom.Factors) []namedFactor {
	return []namedFactor{{"stiffness", f.Stiffness}, {"noise", f.Noise}, {"lag", f.Lag}, {"mass", f.Mass}}
}

// SmallestJudged is the group size from which the slope of a check over it is
// fitted; 0 where all are.
func (c *Check) SmallestJudged() int {
	if c.Prediction == rom.LeadingOrder {
		return c.Claim.LeadingFrom
	}
	return 0
}

// judgesExact says whether a check judges the exact prediction; a prediction
// that is a problem already does not.
func (c *Check) judgesExact() bool {
	switch {
	case c.Prediction != "":
		return c.Prediction == rom.Exact
	case len(c.Claim.Predictions) == 0: // the claim is a problem already
		return true
	}
	return c.Claim.Predictions[0] == rom.Exact
}
