// Package findings says what went wrong in a training run by its log. Of says what the log states
// outright. Examples: a gradient is NaN since a step, every completion is cut, the sampling engine
// and the trainer disagree. That needs no model of the run: one row is enough where it is certain.
// Judge adds the failure modes of the dynamics, which package diagnose finds in the series. Both
// are rows of one table.
//
// No threshold is fitted to runs. Each check says where its own comes from.
package findings

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"grposim/training/diagnose"
	"grposim/training/logs"
)

// Finding is one thing that a log states.
type Finding struct {
	Kind  Kind
	Level Level
	Since int    // the step of the first row that states it, or at which a level changed
	Text  string // what the log shows, with its keys and numbers: one sentence without a full stop
	Next  string // what to do, one sentence without a full stop; "" of a Remark that needs nothing
	// Stops says that from Since to the end of the log no update trains the policy. Later rows are
	// then no evidence about the dynamics of training.
	Stops  bool
	order  int // the step by which it is ordered; 0: Since
	begins int // the step at which a reward that collapses begins to fall
}

// Level says how much a finding matters.
type Level string

const (
	Failure Level = "failure" // the run is lost, or does not train what it should
	Remark  Level = "remark"  // worth knowing; no failure by itself
)

// Kind names what is found.
type Kind string

// The kinds, causes before their effects.
const (
	NumericalFailure Kind = "numerical-failure"
	NoUpdate         Kind = "no-update"
	ZeroLoss         Kind = "zero-loss"
	Truncation       Kind = "truncation"
	LengthChange     Kind = "length-change"
	SamplerMismatch  Kind = "sampler-mismatch"
	StaleSamples     Kind = "stale-samples"
	KLBlowUp         Kind = "kl-blow-up"
	EntropyGrowth    Kind = "entropy-growth"
	RewardCollapse   Kind = "reward-collapse"
	NoSignal         Kind = "no-signal"
	ConstantReward   Kind = "constant-reward"
)

// rank is small for what comes first.
func (f Finding) rank() int {
	switch {
	case f.Level == Remark:
		return 3
	case f.Kind == NumericalFailure || f.Kind == NoUpdate:
		return 0
	case f.Kind == NoSignal || f.Kind == ConstantReward:
		return 2
	}
	return 1
}

// Of returns what a log states, failures before remarks. Failures of the update itself come
// first, then the earlier one. Of equals it is that which stands first in the table, since a
// cause is not later than its effect. A reward that falls stands where the gradient norm leapt
// before, and else comes before what follows a tenth of the run later. Text that does not end
// comes after what makes it, random text or a collapse that leaves no signal. Groups without
// signal come last: they have a cause.
//
// After a failure of the numbers the rows are its effects: the other checks see the rows before it.
func Of(l *logs.Log) []Finding {
	if l == nil || len(l.Steps) == 0 {
		return nil
	}
	var all []Finding
	for _, c := range checks {
		if c.find == nil || l.Other != "" && c.Kind != NumericalFailure {
			continue
		}
		for _, f := range c.find(l) {
			f.Kind = c.Kind
			always := slices.Contains([]Kind{LengthChange, SamplerMismatch, StaleSamples}, f.Kind)
			if f.Next == "" && (f.Level == Failure || always) {
				f.Next = c.Next
			}
			all = append(all, f)
			if f.Kind == NumericalFailure && f.Stops && f.Since > l.Steps[0] {
				n, _ := slices.BinarySearch(l.Steps, f.Since)
				l = l.Prefix(n)
			}
		}
	}
	at := func(f Finding) int { return cmp.Or(f.order, f.Since) }
	isSilent := func(f Finding) bool { return f.Kind == NoSignal && f.Level == Failure }
	silent := slices.ContainsFunc(all, isSilent)
	for i, f := range all {
		for _, g := range all {
			breaks := g.Level == Failure && (g.Kind == EntropyGrowth || g.Kind == RewardCollapse && silent)
			if f.Kind == Truncation && breaks && g.Since <= f.Since {
				all[i].order = max(at(all[i]), at(g)+1)
			}
		}
	}
	slices.SortStableFunc(all, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(x.rank(), y.rank()), cmp.Compare(at(x), at(y)))
	})
	return all
}

// IsMode reports whether a kind is a failure mode.
func (k Kind) IsMode() bool { return slices.Contains(diagnose.Failures, diagnose.Mode(k)) }

// Next says what to do about a kind, one sentence without a full stop; "" of none in the table.
func (k Kind) Next() string {
	if i := slices.IndexFunc(checks, func(r Row) bool { return r.Kind == k }); i >= 0 {
		return checks[i].Next
	}
	return ""
}

// Hidden lists the kinds that no column of a log can show: all of them if it is nil.
func Hidden(l *logs.Log) []Kind {
	kinds := []Kind{}
	for _, c := range checks {
		shows := func(of logs.Column) bool { return slices.Contains(c.From, of.Quantity) }
		if c.find != nil && (l == nil || !slices.ContainsFunc(l.Columns, shows)) {
			kinds = append(kinds, c.Kind)
		}
	}
	return kinds
}

// Row is a row of the table of findings: what users see of a kind, what it is, and how it is found.
type Row struct {
	Kind    Kind
	See     string          // what people see
	Is      string          // what it is
	Next    string          // what to do
	Threads []string        // public reports of it with answers, OWNER/NAME#NUMBER on GitHub
	From    []logs.Quantity // what a log states it of: one at least must be recorded

	// find finds what the log states, nothing where it does not; Of sets its Kind. A mode has none.
	find func(*logs.Log) []Finding
}

// tableFile is the table, causes before their effects. The maintainers of trainers gave the advice
// of its column next to those who reported it.
//
//go:embed table.json
var tableFile []byte

// checks is the table with its functions. It panics on one that is wrong.
var checks = func() (rows []Row) {
	finders := map[Kind]func(*logs.Log) []Finding{
		NumericalFailure: numericalFailure,
		NoUpdate:         noUpdate,
		ZeroLoss:         zeroLoss,
		Truncation:       truncation,
		LengthChange:     lengthChange,
		SamplerMismatch:  samplerMismatch,
		StaleSamples:     staleSamples,
		KLBlowUp:         klBlowUp,
		EntropyGrowth:    entropyGrowth,
		RewardCollapse:   rewardCollapse,
		NoSignal:         noSignal,
		ConstantReward:   constantReward,
	}
	from := json.NewDecoder(bytes.NewReader(tableFile))
	from.DisallowUnknownFields()
	if err := from.Decode(&rows); err != nil {
		panic(fmt.Sprintf("findings: table.json: %v", err))
	}
	for i := range rows {
		if rows[i].find = finders[rows[i].Kind]; rows[i].find == nil && !rows[i].Kind.IsMode() {
			panic(fmt.Sprintf("findings: table.json: no function finds %q", rows[i].Kind))
		}
	}
	return rows
}()

// Table returns the table of findings, causes before their effects.
func Table() []Row { return checks }
