// Package findings says what the log of a training run states outright: that a gradient is
// NaN since a step, that every completion is cut, that the sampling engine and the trainer
// disagree. A finding needs no model of the run and, but for the changes of level, no
// statistics: one row is enough where it is certain. The failure modes of the dynamics are
// package diagnose's.
//
// No threshold is fitted to runs. Each check says where its own comes from.
package findings

import "grposim/training/logs"

// Finding is one thing that a log states.
type Finding struct {
	Kind  Kind
	Level Level
	Since int    // the step of the first row that states it, or at which a level changed
	Text  string // what the log shows, with its keys and numbers: one sentence without a full stop
	Next  string // what to do, one sentence without a full stop; "" of a Remark that needs nothing
}

// Level says how much a finding matters.
type Level string

const (
	Failure Level = "failure" // the run is lost, or does not train what it should
	Remark  Level = "remark"  // worth knowing; no failure by itself
)

// Kind names what is found.
type Kind string

// check is a row of the table: what users see of a kind, what it is, and how it is found.
type check struct {
	kind Kind
	see  string                    // what people see, for docs/diagnose.md
	is   string                    // what it is
	next string                    // what to do
	find func(*logs.Log) []Finding // nothing where the log does not state it; Kind is set by Of
}

// checks is the table, causes before their effects.
var checks = []check{
	{
		kind: RewardCollapse,
		see:  "the reward rises, then drops and stays low, or sags slowly",
		is:   "the policy has got worse at what it is trained on: an update was too large, or samples, reward or data have changed",
		next: "go back to a checkpoint before that step; lower the learning rate, or look at what the findings above say of the same steps",
		find: rewardCollapse,
	},
}

// Of returns what a log states, in the order of the table: a cause comes before its effects.
func Of(l *logs.Log) []Finding {
	var all []Finding
	for _, c := range checks {
		for _, f := range c.find(l) {
			f.Kind = c.kind
			if f.Next == "" && f.Level == Failure {
				f.Next = c.next
			}
			all = append(all, f)
		}
	}
	return all
}
