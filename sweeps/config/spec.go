package config

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/rom"
	"grposim/sim"
)

// Spec is a configuration file, checked and complete: every default is filled
// in, and every rule that can be checked without the theory holds.
type Spec struct {
	Name  string // [a-z0-9-]{1,64}; names the results folder
	Claim string // the file's claim in prose; may be empty
	Base  Settings
	// axes of the grid, the last running fastest; empty: the base is the only cell
	Sweep      []Axis
	Variants   []Variant // empty: Sweep over Base is the only grid
	Checks     []Check
	Confidence float64 // family-wise confidence level of all verdicts of the file, in (0, 1)
	// on overrides that meet variants, and on given keys that have no effect in any cell:
	// file:line:column: text
	Notes []string

	given draft // the base as the file gives it, before defaults; nil: Base itself
}

// Assignment gives one key of the key table a value.
type Assignment struct {
	Param string // dotted path of the key
	Value any    // of the type of the key's Kind
}

// assigned returns the index of the assignment of a key, −1 where there is none.
func assigned(set []Assignment, key string) int {
	return slices.IndexFunc(set, func(a Assignment) bool { return a.Param == key })
}

// Axis is one dimension of a grid. Each point assigns all of Params at once:
// one parameter, or the several of a zip.
type Axis struct {
	Params []string // dotted paths, at least one
	Points [][]any  // Points[i][j] is the value of Params[j] at point i, of the type of its Kind

	places [][]Place // of the values of each of Params in the file, or one for all of them
}

// Variant is the base with some keys set, under a grid of its own.
type Variant struct {
	Name  string       // [A-Za-z0-9-]{1,64}, unique in the file whatever the case
	Set   []Assignment // replaces keys of the base
	Sweep []Axis       // the file's Sweep where the variant gives none
}

// Expectation is what a check claims of a prediction: that it holds, or that it fails.
type Expectation string

const (
	Holds Expectation = "holds" // the measurement lies within predicted ± margin
	Fails Expectation = "fails" // the measurement lies wholly outside predicted ± margin
)

// Condition selects the cells whose Param has one of Values.
type Condition struct {
	Param  string // dotted path of the key
	Values []any  // at least one, compared to 12 significant digits
}

// Check is one claim about cells of a file, with the margin by which it is judged.
type Check struct {
	Claim  *Claim
	About  *About  // what the check is about; nil: the file does not say
	Margin float64 // relative to |predicted|, > 0; 0: the margin is absolute
	// in units of the quantity, used where Margin is 0; 0: two whole numbers are compared
	AbsoluteMargin float64
	Prediction     rom.Kind    // the prediction that is judged; "": the claim's first
	Expect         Expectation // Holds or Fails
	// the reader's own claim about the quantity, judged instead of the prediction; nil: none
	Hypothesis *Hypothesis
	Where      []Condition // conditions that a cell must all satisfy; empty: every cell
	Variant    string      // the variant whose cells are judged; "": all
	Control    *Control    // the planted fault; nil: none
	Measuring
}

// Hypothesis is a value that a measured quantity is claimed to have, or a bound of it.
type Hypothesis struct {
	Relation Relation `json:"relation"`
	Value    float64  `json:"value"`
}

// Relation is the relation of a quantity to the value of a hypothesis. It is the name of
// the key of the check that gives the value.
type Relation string

// The relations.
const (
	Equals  Relation = "expected" // the quantity is the value, within the margin
	AtMost  Relation = "at_most"
	AtLeast Relation = "at_least"
)

// Relations lists the relations.
var Relations = []Relation{Equals, AtMost, AtLeast}

// String returns the claim, such as "-1" or "≤ 3".
func (h *Hypothesis) String() string {
	return map[Relation]string{AtMost: "≤ ", AtLeast: "≥ "}[h.Relation] + Format(h.Value)
}

// Allowed returns the ends of the values that the claim allows, within the margin about a
// value; a bound has one end, the other is ±Inf.
func (h *Hypothesis) Allowed(margin float64) (lo, hi float64) {
	lo, hi = h.Value-margin, h.Value+margin
	switch h.Relation {
	case AtMost:
		lo = math.Inf(-1)
	case AtLeast:
		hi = math.Inf(1)
	}
	return lo, hi
}

// Measuring holds the keys of a check that set how its claim is measured. A check
// has those that its claim needs; the others are zero.
type Measuring struct {
	Over string // the key whose values a claim across cells compares, one of Claim.Over
	// displacement of the logits from the fixed point in measuring the stiffness, ≥ 1e-9
	Displacement float64
	Draws        int // pairs of groups drawn at ±Displacement, ≥ 1
	// distance of the starts of paired runs from the fixed point, in logits, ≥ 1e-9
	Offset float64
	Locate *Locate // the search for an event; nil: none

	Quantity sim.Quantity // the recorded quantity whose mean is followed; "": expected_reward
	Level    *float64     // that it reaches; nil: the claim's own
	Names
}

// Names are what a claim expects of a run, of those that it needs; "" otherwise.
type Names struct {
	Mode  string // the failure mode that the diagnostics must name, one of diagnose.Modes
	Law   string // the law that is fitted to the log, one of measure.Laws
	Class string // the class of the mean reward that is counted, one of the paper's
}

// Locate is the search for the first event along a parameter, in multiples of
// the paper's rule at the measured stiffness.
type Locate struct {
	// ends of the search in multiples of the rule, 0 < From < To
	From      float64 `json:"from"`
	Param     string  `json:"param"`     // optimizer.learning_rate or lag.interval
	To        float64 `json:"to"`        // see From
	Tolerance float64 `json:"tolerance"` // relative width of the final bracket, in (0, 1)
	// smallest visible passage as a share of the range of J; 0: measure.VisibleShare
	Visibility float64 `json:"visibility,omitempty"`
}

// Recorded is the recorded quantity whose mean the check follows.
func (m *Measuring) Recorded() sim.Quantity { return cmp.Or(m.Quantity, sim.ExpectedReward) }

// SmallestJudged is the smallest group size in the fit of a slope over the group size;
// 0: all sizes are fitted.
func (c *Check) SmallestJudged() int {
	if c.Prediction == rom.LeadingOrder {
		return c.Claim.LeadingFrom
	}
	return 0
}

// judgesExact reports whether the check judges the exact prediction; true while the
// claim is unknown.
func (c *Check) judgesExact() bool {
	switch {
	case c.Prediction != "":
		return c.Prediction == rom.Exact
	case len(c.Claim.Predictions) == 0: // the claim is a problem already
		return true
	}
	return c.Claim.Predictions[0] == rom.Exact
}

// Control is the planted fault that a check must catch: in the theory, settings are
// replaced, then constants are scaled. For failure-mode it is another mode, for class-occurs
// another class; claims about a law may be tried with another law.
type Control struct {
	Set   []Assignment // settings that the theory gets in place of the cell's
	Scale rom.Factors  // factors of the theory's constants, > 0; rom.Unit: none is scaled
	Names              // what is expected instead; empty: the check's
}

// String gives the fault in words, such as stiffness × 1.1.
func (c *Control) String() string {
	var words []string
	for i, word := range c.Names.words() {
		if *word != "" {
			words = append(words, names[i]+" = "+*word)
		}
	}
	setTo := func(a Assignment) string { return a.Param + " = " + Format(a.Value) }
	words = append(words, Each(c.Set, setTo)...)
	for i, factor := range factorsOf(&c.Scale) {
		if *factor != 1 {
			words = append(words, fmt.Sprintf("%s × %g", faultNames[i], *factor))
		}
	}
	return strings.Join(words, ", ")
}

// faultNames are the constants of the theory that a control may scale, in the order
// of the reference document; lag and mass are in the leading-order prediction only.
var faultNames = []string{"stiffness", "noise", "lag", "mass"}

// Scaled returns the factors that scale one constant of the theory. It panics on an unknown name.
func Scaled(constant string, factor float64) rom.Factors {
	scale := rom.Unit
	i := slices.Index(faultNames, constant)
	if i < 0 {
		panic(fmt.Sprintf("config: Scaled: got constant %q, want %s", constant, listWords(faultNames)))
	}
	*factorsOf(&scale)[i] = factor
	return scale
}

// Scaled returns the constant that the control scales and its factor; "" unless it scales
// exactly one and changes nothing else.
func (c *Control) Scaled() (constant string, factor float64) {
	if len(c.Set) > 0 || c.Names != (Names{}) {
		return "", 1
	}
	for i, f := range factorsOf(&c.Scale) {
		switch {
		case *f != 1 && constant != "":
			return "", 1
		case *f != 1:
			constant, factor = faultNames[i], *f
		}
	}
	return constant, factor
}

// LargestFactor returns the factor of a constant that is farthest from 1, itself or its
// inverse, ≥ 1; 1 where the control scales none.
func (c *Control) LargestFactor() float64 {
	largest := 1.0
	for _, f := range factorsOf(&c.Scale) {
		largest = max(largest, *f, 1/(*f))
	}
	return largest
}

// factorsOf returns the factors of these constants.
func factorsOf(f *rom.Factors) []*float64 {
	return []*float64{&f.Stiffness, &f.Noise, &f.Lag, &f.Mass}
}

// Fault is a mistake planted in the theory: changed settings of a cell, scaled
// constants, another expected failure mode, law or class.
type Fault struct {
	Set   func(*Settings) // changes the settings from which theory predicts; nil: no change
	Scale rom.Factors     // factors of the theory's constants, > 0; rom.Unit: none is scaled
	Names                 // what is expected instead of what the check names; empty: the check's
}

// NoFault leaves the theory as derived.
var NoFault = Fault{Scale: rom.Unit}

// Fault returns the control as a change of the theory.
func (c *Control) Fault() Fault {
	set := func(s *Settings) {
		for _, a := range c.Set {
			key, _ := LookupKey(a.Param)
			if err := key.Set(s, a.Value); err != nil {
				panic(err) // checked when the file was loaded
			}
		}
	}
	return Fault{Set: set, Scale: c.Scale, Names: c.Names}
}
