// Package lanes does the steps of many replicas of one cell together, in the lanes (elements) of
// vectors: element i of every vector belongs to replica i. What it computes are the bits of the
// plain step of package sim, at every length of the vectors.
//
// It needs package simd of Go 1.27. In other builds, and where simd would emulate vectors, New
// returns nil.
package lanes

import (
	"grposim/grpo"
	"grposim/option"
	"grposim/sim/draw"
)

// Cell is a cell of one prompt with groups of finite size.
type Cell struct {
	Means      []float64 // mean rewards, by arm
	Reference  []float64 // logits of π_ref, by arm
	Init       []float64 // logits at step 0, by arm
	Estimator  *option.Estimator
	Lag        *option.Lag
	Optimizer  *option.Optimizer
	Steps      int                       // of a run
	BurnIn     int                       // steps before the averages begin
	Advantages *grpo.BernoulliAdvantages // nil: rewards are drawn by Sampler
	PerPolicy  int                       // groups that one policy draws, or more than 3
	Sampler    Sampler                   // draws the groups that Draws does not report
}

// Sampler draws groups replica by replica.
type Sampler interface {
	// Aim sets the policy that draws the next groups.
	Aim(replica int, logits []float64)
	// Draw draws the groups of a step.
	Draw(replica int) *grpo.GroupStatistics
}

// Runner runs replicas. Steps are done in order from 0: of each, Draw, then Move; or many by Advance.
type Runner interface {
	// Begin sets the state at step 0 of replicas with the given streams.
	Begin(streams []*draw.Xoshiro)
	// Advance does the steps from, …, to−1.
	Advance(from, to int)
	// Draw takes the snapshots and draws the groups of step t.
	Draw(t int)
	// Read gives the state of a step whose groups are drawn, or after the last step.
	Read(s *State)
	// Reset begins anew what State has of the steps since the last record. The present step
	// belongs to that record.
	Reset()
	// Move adds step t to the averages and moves the policies.
	Move(t int)
}

// State is the state of all replicas. Lists by arm and replica have that of arm a and replica i at
// a·Stride + i.
type State struct {
	Stride                                     int
	Drawn                                      bool      // by vectors, not by the Sampler
	Logits, Behaviour                          []float64 // of π and π_old, by arm and replica
	Positive, Negative                         []float64 // as grpo.ArmStatistics, by arm and replica
	Count, PositiveCount, NegativeCount        []float64 // too, where the estimator needs them
	Rewarded, ZeroVariance                     []float64 // as grpo.GroupStatistics, by replica
	Reward, RewardSquare, Gap, GapSquare, Zero []float64 // sums over the steps after burn-in, by replica
	Finite                                     []float64 // steps whose policies are numbers, by replica
	Peaks                                      []float64 // largest π_a with the present snapshot, by arm and replica
	LargestRatio, Clipped                      []float64 // since the last record, by replica
	Counted                                    int       // steps since it
}
