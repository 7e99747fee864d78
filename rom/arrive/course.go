package arrive

import (
	"fmt"
	"math"

	"grposim/rom/cell"
	"grposim/rom/fixed"
	"grposim/rom/path"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/floats"
)

// Mechanism is a way in which runs fail to arrive whose mean path does, or would without an option.
type Mechanism string

// The mechanisms of docs/theory-neglected.md §6.12.
const (
	// single samples of a rare arm whose k3 gradient throws the policy across
	K3Kicks Mechanism = "k3-kicks"
	// without a penalty: samples by chance carry the policy to a wrong arm, where it is not drawn back
	Locking Mechanism = "locking"
	// several steps on one batch with ratios: one sample of a rare arm carries the policy over
	UnclippedReuse Mechanism = "unclipped-reuse"
	// the mean path stalls or turns back where the weights drop samples
	ClipReversal Mechanism = "clip-reversal"
	// the law of runs at rest, about their fixed point, has a second well within reach
	SpreadAtRest Mechanism = "spread-at-rest"
)

// Row is what one mechanism does to the runs of a cell. The mechanism is at work if Flag;
// Value and Bound say why.
type Row struct {
	Mechanism Mechanism `json:"mechanism"`
	// why nothing is known of it here; then Share is out and the other fields are zero
	Because  scope.Reason `json:"because,omitzero"`
	Flag     bool         `json:"flag"`     // Value > Bound
	Quantity string       `json:"quantity"` // what Value is, in words with its unit
	// finite; the largest float64 where the path leaves the range in which it is followed
	Value float64 `json:"value"`
	Bound float64 `json:"bound"` // finite
	// of runs that it keeps from arriving, within [0, 1]; out where only the flag is derived
	Share scope.Number `json:"share"`
}

// course is a cell with its start, its length and the arms where it should end, in front: those of
// the fixed point, without one the best ones.
type course struct {
	cell.Params
	init    []float64
	steps   int
	front   int     // the first of the arms in front
	held    float64 // probability of the arms in front at the fixed point; without one 1
	end     float64 // that at the end of the mean path
	largest float64 // its largest drop along the mean path
}

// newCourse returns a course without its mean path.
func newCourse(p cell.Params, init []float64, steps int) (c course) {
	c = course{Params: p, init: init, steps: steps, held: 1}
	c.Start = init
	// without a fixed point the means, whose largest is in front
	policy := make([]float64, len(p.Arms))
	for a := range policy {
		policy[a] = p.Arms[a].Mean
	}
	if end := fixed.Destination(c.Params); end != nil {
		policy = cell.PolicyAt(end)
		c.front = floats.MaxIdx(policy)
		c.held = c.ofFront(policy)
		return c
	}
	c.front = floats.MaxIdx(policy)
	return c
}

// ofFront returns the probability of the arms in front under a policy.
func (c *course) ofFront(policy []float64) (sum float64) {
	for a, x := range policy {
		if c.Arms[a].Mean == c.Arms[c.front].Mean {
			sum += x
		}
	}
	return sum
}

// arrives reports whether the mean path ends in the well of the fixed point.
func (c *course) arrives() bool { return c.end >= c.held/2 }

// notThere is the reason of a mean path that does not.
func (c *course) notThere() scope.Reason {
	return scope.PathNotThere.Because(c.steps, c.end, c.held)
}

// followMean follows the mean path; it returns false where that is not finite.
func (c *course) followMean() bool {
	probs, top := make([]float64, len(c.Arms)), 0.0
	c.largest = 0
	_, within := path.Follow(c.Params, c.init, c.steps, func(_ int, theta []float64) (more bool) {
		cell.Softmax(probs, theta)
		c.end = c.ofFront(probs)
		top = max(top, min(c.end, c.held))
		c.largest = max(c.largest, top-c.end)
		return true
	})
	return within.In
}

// unflaggedShare is the share of runs that a mechanism loses at most far below its bound. Of 205
// random cells with k3 12 had more, most of them by the law at rest (docs/theory-neglected.md
// §6.12).
const unflaggedShare = 0.05

// loseAtMost sets the share of a mechanism of which only the flag is derived: 0 up to so much;
// +Inf: not known.
func (row *Row) loseAtMost(most float64) {
	if row.Share = (scope.Number{Kind: scope.LeadingOrder}); math.IsInf(most, 1) {
		row.Share.Because = scope.NotPredicted.Because(
			fmt.Sprintf("the share of runs that fail to arrive by %s", row.Mechanism))
		return
	}
	row.Share.Leave(scope.HigherOrder, most)
}

// loseFew is loseAtMost of unflaggedShare for a value below a bound.
func (row *Row) loseFew(value, bound float64) {
	if value < bound {
		row.loseAtMost(unflaggedShare)
		return
	}
	row.loseAtMost(math.Inf(1))
}

// flagged is the share of runs from which on a mechanism of a known share is flagged.
const flagged = 0.01
