package scope

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Kind is the origin of a prediction.
type Kind string

const (
	Exact        Kind = "exact"         // the exact law of the linear or mean-field dynamics
	Expansion    Kind = "expansion"     // the same with a force expanded in 1/G, to first order
	LeadingOrder Kind = "leading-order" // a first order named in the docs, as a heavy ball for Adam

	// The formulas of arXiv:2606.30789 as printed, with the stiffness measured as the
	// paper measures it (see rest.PaperStiffness), or with λ of the stiffest mode.
	PaperRule       Kind = "paper-rule"
	RuleAtStiffness Kind = "rule-at-stiffness"

	RuleAtLargestAge Kind = "rule-at-largest-age" // RuleAtStiffness with the largest age for K_ref
	SufficientRule   Kind = "sufficient-rule"     // a condition proven to be sufficient, see paper.Rule
)

// Rules are the kinds of formulas.
var Rules = []Kind{PaperRule, RuleAtStiffness, RuleAtLargestAge, SufficientRule}

// IsRule reports whether a kind is that of a formula; see rom.Prediction.Rule.
func (k Kind) IsRule() bool { return slices.Contains(Rules, k) }

// Scope says whether a prediction holds for its cell.
type Scope struct {
	In      bool   `json:"in"`      // the prediction holds
	Because Reason `json:"because"` // why it does not
}

// Scope returns that of a prediction that the reason leaves out, or leaves in where there is none.
func (r Reason) Scope() Scope { return Scope{In: !r.Out(), Because: r} }

// Quantity is a number that several kinds of prediction give.
type Quantity int

// The quantities; rest.Dynamics and paper.Rule document each.
const (
	CriticalLearningRate Quantity = iota
	CriticalRefreshInterval
	OscillationLearningRate
	RelaxationRate // of no rule
	DampingRatio
	VarianceOfReward
)

// Number is a predicted number, or the reason why there is none. Its zero value is an exact 0.
type Number struct {
	Value      float64 // ±Inf for an event that never occurs; of no meaning where Because is out
	Kind       Kind
	Because    Reason  // why there is no number
	Neglected  []Part  // what the value leaves out
	Resolution float64 // rounding error of a measured value: no margin is smaller
}

// Part is a term that a number leaves out.
type Part struct {
	Term Term
	Size float64 // absolute, ≥ 0 and in the unit of the number; +Inf: not known
	Note string  // what makes it large in this cell, in the place of its words; ""
}

// nothing is the share of the sum of sizes up to which a term is not written: rounding decides
// whether it is there.
const nothing = 1e-9

// MarshalJSON writes the number with its reason and what to do about it, or with the terms left
// out, in its unit. Terms that are nothing beside the others are dropped; an unknown size is null.
func (n Number) MarshalJSON() ([]byte, error) {
	finite := func(x float64) *float64 {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
		return &x
	}
	type part struct {
		Term Term     `json:"term"`
		Size *float64 `json:"size"`
		Note string   `json:"note,omitempty"`
	}
	written := struct {
		Value     *float64 `json:"value"`
		Kind      Kind     `json:"kind"`
		Because   string   `json:"because,omitempty"`
		Try       string   `json:"try,omitempty"`
		Neglected []part   `json:"neglected,omitempty"`
	}{Kind: n.Kind, Because: n.Because.String(), Try: n.Because.Try()}
	if !n.Out() {
		written.Value = finite(n.Value)
		for _, p := range n.Neglected {
			if p.Size > nothing*n.Size() || math.IsInf(p.Size, 1) {
				written.Neglected = append(written.Neglected, part{p.Term, finite(p.Size), p.Note})
			}
		}
	}
	return json.Marshal(written)
}

// Leave adds a term that the number leaves out, unless its size is 0.
func (n *Number) Leave(term Term, size float64, note ...string) {
	if size = math.Abs(size); size != 0 {
		n.Neglected = append(n.Neglected, Part{term, size, strings.Join(note, "")})
	}
}

// Out reports whether there is no number.
func (n *Number) Out() bool { return n.Because.Out() }

// Size returns the sum of the terms left out, since their signs are not known. It is +Inf where one
// is not known.
func (n *Number) Size() (sum float64) {
	for _, part := range n.Neglected {
		sum += part.Size
	}
	if math.IsNaN(sum) || sum >= math.MaxFloat64 {
		return math.Inf(1)
	}
	return sum
}

// Decisive is the share of a margin up to which a number may leave out terms and still be compared
// within it. The sizes are themselves good to a factor of about two.
const Decisive = 0.5

// Judged returns why a number is not to be compared within a margin. It has none, or it leaves out
// more than half of the margin.
func (n *Number) Judged(margin float64) Reason { return n.JudgedWithin(margin, "the margin") }

// JudgedWithin is Judged by a margin that reasons call by the given name.
func (n *Number) JudgedWithin(margin float64, called string) Reason {
	if n.Out() {
		return n.Because
	}
	size := n.Size()
	if !(size > Decisive*margin) { // without a margin nothing is judged, as the comparison says
		return Reason{}
	}
	largest := slices.MaxFunc(n.Neglected, func(a, b Part) int { return cmp.Compare(a.Size, b.Size) })
	what := cmp.Or(largest.Note, string(largest.Term))
	if math.IsInf(size, 1) {
		return UnknownSize.Because(what)
	}
	return TooMuchNeglected.Because(fmt.Sprintf("%.2g", size), called, fmt.Sprintf("%.2g", margin), what)
}
