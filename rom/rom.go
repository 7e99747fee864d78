// Package rom is the theory: it predicts what GRPO on a softmax bandit does,
// without drawing a sample (docs/theory.md).
//
// To use it:
//
//  1. Describe the cell by Params: the bandit, the estimator, the lag and the
//     optimizer. A field out of its range is a caller's mistake and panics with
//     its name.
//  2. Ask Predict what holds at rest, Paths for means and spreads on the way from a start,
//     and Arrival which runs do not arrive. The last two need no fixed point.
//  3. Read Prediction. FixedPoint is nil where the bandit has no fixed point, or none
//     was found; the Because of every Scope says which.
//  4. Before using a number of Exact or LeadingOrder check its Scope, before a
//     stationary variance or a Moment also Prediction.Noise: In says whether the
//     prediction holds here, Because why not. A nil pointer is a number that the
//     theory does not give.
//  5. The Kind of a prediction says how good it is, from Exact to PaperRule.
//     Prediction.ForceKind is that of the force that all of them use.
//
// This package only forwards to its rooms, where single quantities have functions of their own.
// Each imports those above it alone:
//
//	cell    a checked cell, and what is not derived for it
//	force   mean force, its slope and its noise at a policy
//	path    what runs do from their start
//	paper   the formulas under test, in the paper's symbols
//	fixed   the fixed points of the mean force, and which of them runs come to
//	rest    how runs move about that point, and how they scatter there
//	arrive  whether runs arrive
//
// Below them are group and weight, one group of rewards and the weight of a sample; linear, the
// dynamics of given matrices; and scope, how far a number can be trusted.
//
// The package imports nothing of the code whose behaviour it predicts; both speak the
// vocabulary of package option, which computes nothing.
//
// Notation (docs/theory.md §0): Λ = −∂E[g]/∂θ at the fixed point is the
// stiffness matrix, Λ = Λ_f + Λ_s its fresh part (through θ) and stale part
// (through θ_old), λ the stiffness of a mode, η the learning rate, κ = ηλ. With
// two arms index 1 is the arm listed first (Go index 0), z = θ_1 − θ_0, p = σ(z).
package rom

import (
	"grposim/rom/arrive"
	"grposim/rom/cell"
	"grposim/rom/path"
	"grposim/rom/rest"
	"grposim/rom/scope"
)

// What a caller gives and gets.
type (
	Params     = cell.Params
	Factors    = cell.Factors
	Measured   = cell.Measured
	Prediction = rest.Prediction
	Dynamics   = rest.Dynamics
	Path       = path.Path
	Observed   = path.Observed
	Kind       = scope.Kind
	Scope      = scope.Scope
)

// Unit is the theory as derived.
var Unit = cell.Unit

// The kinds of a prediction.
const (
	Exact            = scope.Exact
	Expansion        = scope.Expansion
	LeadingOrder     = scope.LeadingOrder
	PaperRule        = scope.PaperRule
	RuleAtStiffness  = scope.RuleAtStiffness
	RuleAtLargestAge = scope.RuleAtLargestAge
	SufficientRule   = scope.SufficientRule
)

// Reward is path.Reward.
const Reward = path.Reward

// Predict is rest.Predict.
func Predict(p Params) Prediction { return rest.Predict(p) }

// Paths is path.Paths.
func Paths(p Params, init []float64, at []int, of ...Observed) []Path {
	return path.Paths(p, init, at, of...)
}

// Arrival is arrive.Predict.
func Arrival(p Params, init []float64, steps int) arrive.Prediction {
	return arrive.Predict(p, init, steps)
}
