package linear

import (
	"math"
	"slices"

	"grposim/option"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/floats"
)

// Lag is the rule by which the snapshot θ_old follows the policy. Each kind is one type in a
// file of its own, which NewLag chooses; no other function of this package asks for the kind.
type Lag interface {
	// OnPolicy reports whether the snapshot is always the present policy.
	OnPolicy() bool
	// Period returns the number of steps from one stored policy to the next, K of a block, else 1.
	Period() int
	// Stored returns the age of the oldest policy that is used, in periods. Of random ages it returns
	// their probabilities too. They are nil where only that policy is used.
	Stored() (oldest int, probabilities []float64)
	// Span returns the number of steps after which the snapshots of a policy at rest are at rest. Of a
	// geometric law it leaves a share of 1e-16.
	Span() int

	// Age returns a number of the snapshot's age, in steps. Interval is the inverse: the K of a block
	// or τ of a delay, not rounded, at which MeanAge, PaperAge or Gain is as given. ok is false where
	// there is no interval or no formula for it.
	Age(of Age) float64
	Interval(of Age, age float64) (interval float64, ok bool)

	// positions returns the number of past positions in the state, besides (x, v).
	positions() int
	// weights returns the weights of the blocks of the state, (x, v, past positions), in x_old.
	weights() []float64
	// place returns the block of the state that is x_old; ok is false where x_old is a mean.
	place() (block int, ok bool)
	// next says what past position k ≥ 0 becomes: keep times itself, and gain times the block from of
	// the state before.
	next(k int) (keep, gain float64, from int)
	// source returns the block of the state at the end of a period that becomes block k at the start
	// of the next. Without a refresh it is k. Where the last block is replaced, it is dropped.
	source(k int) int
	// limit returns the reason why the dynamics of n reduced coordinates is not computed, none
	// where it is. partly says that only a part of the force of a mode depends on the snapshot.
	limit(n int, partly bool) scope.Reason

	// multipliers returns those of one mode; nil where they are not finite.
	multipliers(m *Mode) []complex128
	// threshold returns that of an event for one mode with λ > 0. A part depends on the snapshot
	// unless the event is CriticalInterval. mixed returns that for modes that mix.
	threshold(of Event, m *Mode) Threshold
	mixed(of Event, s *System) Threshold
}

// Age is a number of the age of snapshots.
type Age int

const (
	MeanAge    Age = iota // ā, the mean
	SquareAge             // the mean square
	PaperAge              // K_ref of the paper: 0, (1+d)K of a block, τ of a delay, the mean age
	LargestAge            // K_ref with the largest of random ages for the mean; +Inf if there is none
	Gain                  // a bound on the gain of Δ ↦ x_t − x_old in 2-norms of steps Δ
)

// NewLag returns the rule of a valid lag.
func NewLag(l *option.Lag) Lag {
	switch l.Kind {
	case option.Block:
		return block{l.Interval, l.Behind}
	case option.Delay:
		return delay{steps: l.Interval}
	}
	return newRandom(&l.Ages)
}

// onPolicy is the lag whose snapshot is always the present policy.
var onPolicy Lag = block{interval: 1}

// uniformMoments returns the mean and the mean square of a uniform law on from, …, to.
func uniformMoments(from, to float64) (mean, square float64) {
	mean, n := (from+to)/2, to-from+1
	return mean, mean*mean + (n*n-1)/12
}

// oneOf returns the weights of n blocks of the state of which x_old is one.
func oneOf(block, n int) []float64 {
	weights := make([]float64, n)
	weights[block] = 1
	return weights
}

// IsFinite reports whether every entry of x is finite.
func IsFinite(x ...float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// Norm returns the largest modulus of x.
func Norm(x []float64) float64 { return floats.Norm(x, math.Inf(1)) }
