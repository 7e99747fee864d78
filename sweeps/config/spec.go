package config

import (
	"fmt"
	"strings"

	"grposim/grpo"
	"grposim/rom"
	"grposim/sim"
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

// Settings is what one cell of a sweep sets: its fields are the algorithm's
// own types.
type Settings struct {
	Bandit    grpo.Bandit // arms with `count` are expanded
	Policy    Policy
	Estimator grpo.Estimator
	Lag       grpo.Lag
	Optimizer grpo.Optimizer
	Run       sim.Run
}

// Policy is where a run starts and what the KL penalty pulls towards.
type Policy struct {
	Init      Init
	Reference []float64 // one an arm
}

// InitKind is the way an initial policy is given.
type InitKind int

const (
	AtLogits     InitKind = iota // Init.Logits, one an arm
	AtFixedPoint                 // the fixed point plus Init.Offset
)

// Init is the initial policy.
type Init struct {
	Kind   InitKind
	Logits []float64 // AtLogits
	Offset float64   // AtFixedPoint: two arms z* + x; more θ* + x e
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
