// Package scope says how far a number of the theory can be trusted (docs/theory-neglected.md). It
// has what the number leaves out, term by term and with its size, or why there is none.
//
// A [Number] is an answer. Its [Reason] is a row of one table, which tells a user what is missing
// and what would have it. What a number leaves out is a list of named terms. Only [Number.Judged]
// adds them up and compares them with a margin.
package scope

import (
	"cmp"
	"fmt"
	"slices"
)

// Reason says why the theory has no answer: a row of the table of reasons, in the words of one
// cell. The zero value says that it has one. Reasons are comparable.
type Reason struct {
	row  Row
	says string
	// Of the reason that it gives of a part, such as a prompt; "" and false: there is none.
	try      string
	restless bool
}

// Because returns the reason of a row for one cell; args are what its words leave open. What to do
// is that of a reason among them.
func (r Row) Because(args ...any) Reason {
	reason := Reason{row: r, says: rows[r].says}
	if len(args) > 0 {
		reason.says = fmt.Sprintf(reason.says, args...)
	}
	for _, arg := range args {
		if of, ok := arg.(Reason); ok {
			reason.try, reason.restless = of.Try(), of.Restless()
		}
	}
	return reason
}

// Out reports whether there is no answer.
func (r Reason) Out() bool { return r.row != answered }

// Is reports whether the reason is that of one of the rows.
func (r Reason) Is(rows ...Row) bool { return slices.Contains(rows, r.row) }

// Restless reports whether the reason says that runs do not come to rest, or have not yet. Other
// reasons say what the theory does not know.
func (r Reason) Restless() bool {
	return r.restless || r.Is(NoPenalty, MovingReference, NotReached, Locked, RoundedStiffness, Unstable, RateVaries, NotArrived, BaselineRemembers, PathOverflows)
}

// String returns the reason in words, "" where there is an answer.
func (r Reason) String() string { return r.says }

// MarshalText returns the reason in words, as files have it.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.says), nil }

// Try returns what a user can do about it, "" where there is an answer.
func (r Reason) Try() string { return cmp.Or(r.try, rows[r.row].try) }

// Name returns the name of the reason's row, such as "no-penalty"; "" where there is an answer.
func (r Reason) Name() string { return rows[r.row].name }

// Row is a row of the table of reasons.
type Row uint8

// Rows yields every row of the table, in the order of the page.
func Rows(yield func(Row) bool) {
	for r := answered + 1; int(r) < len(rows); r++ {
		if !yield(r) {
			return
		}
	}
}

// Name returns the row's name, such as "no-penalty".
func (r Row) Name() string { return rows[r].name }

// Words returns what the row says, with the verbs of package fmt where the words of a cell differ.
func (r Row) Words() string { return rows[r].says }

// Try returns what a user can do about it.
func (r Row) Try() string { return rows[r].try }

// The rows of the table of reasons, in the order in which `grposim help reasons` prints them.
const (
	answered Row = iota

	// There is no fixed point, or runs do not come to rest there.
	NoPenalty
	MovingReference
	NotReached
	Locked
	RoundedStiffness
	Unstable
	NearThreshold
	RateVaries
	NoNoise

	// The noise is too large for a law about one point.
	NoiseTooLarge
	BoundWithinNoise
	AdamEscapes

	// The theory has no such answer.
	NotPredicted
	Networks
	TooLarge
	NormClips
	NoNumber
	PaperFormula
	Recurrence
	BeyondRange
	PathOverflows

	// The run is too short, or too few samples decide.
	NotArrived
	BaselineRemembers
	PathNotThere
	TooMuchNeglected
	UnknownSize
	Undecided
	NotSearched

	// Another reason says why.
	OfPart
)

// simulate is how to have by simulation what the theory declines.
const simulate = "simulate it (`predict --path --simulate`, `sweep`, or from the start `advise`)"

// rows holds the words of each row, and what a user can do about the reason in those of
// docs/primer.md.
var rows = [...]struct{ name, says, try string }{
	NoPenalty:        {"no-penalty", "no fixed point exists%s", "read the way: `predict --path`, `advise`; for a state at rest set `grpo.kl.coefficient` or `grpo.entropy.coefficient` above 0, or above the value named"},
	MovingReference:  {"moving-reference", "simulated, not predicted: a reference that moves", "set `policy.reference_update.interval` 0, or " + simulate},
	NotReached:       {"not-reached", "no fixed point is reached from the start", "raise `grpo.kl.coefficient` or `grpo.entropy.coefficient`, start nearer to one: `policy.init`, or simulate"},
	Locked:           {"locked", "no stationary state: the rewards differ by far more than the %s coefficient %.3g balances, and the policy locks on arm %d, the first being 0, beside which the others have a probability of %.1g in all%s", "raise the coefficient to the one named, or read the way: `predict --path`"},
	RoundedStiffness: {"rounded-stiffness", "rounding decides the dynamics: %s", "raise `grpo.kl.coefficient` or `optimizer.learning_rate`, or leave out arms that are almost never drawn"},
	Unstable:         {"unstable", "unstable: spectral radius %.4g%s", "lower `optimizer.learning_rate`, `optimizer.momentum` or `lag.interval` below the values named, or weight the samples: `grpo.importance.mode` ratio or clip"},
	NearThreshold:    {"near-threshold", "too close to a threshold for a stationary law%s", "lower `optimizer.learning_rate` or `lag.interval`"},
	RateVaries:       {"rate-varies", "the learning rate %s", "use `optimizer.schedule.kind` constant, and more `run.steps` than `optimizer.schedule.warmup`"},
	NoNoise:          {"no-noise", "no noise at G = ∞", "take a finite `grpo.group_size`"},

	NoiseTooLarge:    {"noise-too-large", "the noise is too large for a law about one point: it leaves out %s of Var J", "lower `optimizer.learning_rate` or `optimizer.momentum`, or raise `grpo.group_size` or `grpo.kl.coefficient`"},
	BoundWithinNoise: {"bound-within-noise", "a bound of the weights or of the norm lies within three standard deviations", "widen the bound, lower `optimizer.learning_rate`, or raise `grpo.group_size`"},
	AdamEscapes:      {"adam-escapes", "under Adam the spread of runs about the fixed point reaches a logit at a learning rate of %.3g, and from %.3g on they may leave it for good", "lower `optimizer.learning_rate` below the second value named, or `lag.interval`"},

	NotPredicted:  {"not-predicted", "simulated, not predicted: %s", simulate + ", or leave out the option named"},
	Networks:      {"networks", "of a policy that is a network %s is not derived", "judge another number, or a bandit: `policy.network.kind` none"},
	TooLarge:      {"too-large", "too large for the theory: %s", "take a smaller one, or " + simulate},
	NormClips:     {"norm-clips", "the largest norm may clip the force, which changes its mean%s", "leave `optimizer.max_norm` out (0), raise it to the norm that is named, if one is, or " + simulate},
	NoNumber:      {"no-number", "the theory has no such number here: %s", "judge another number, or " + simulate},
	PaperFormula:  {"paper-formula", "the paper's formulas do not apply: %s", "read the exact threshold, or start elsewhere: `policy.init`"},
	Recurrence:    {"recurrence", "the recurrence of blocks does not apply: %s", "use `grpo.importance.mode` ratio, `grpo.kl.at` current and `grpo.group_size` inf, and raise `lag.interval`"},
	BeyondRange:   {"beyond-range", "the fixed point or its dynamics leaves the range of floating point", "take smaller rewards, logits or rates"},
	PathOverflows: {"path-overflows", "the mean field leaves the range of floating point at step %d", "lower `optimizer.learning_rate`, or take smaller rewards or logits: the run diverges"},

	NotArrived:        {"not-arrived", "at step %d the mean field from the start is %.2g logits away from the fixed point that its flow reaches: J is %.4g, not %.4g; %s", "raise `run.steps` and `run.burn_in`, or set `policy.init` to fixed-point"},
	BaselineRemembers: {"baseline-remembers", "the running mean of the baseline has not forgotten its first value", "raise `run.burn_in`"},
	PathNotThere:      {"path-not-there", "at step %d the mean path has a probability of %.2g of the arm in front where it should end, which has %.2g there, so that it has not arrived itself", "raise `run.steps` or `optimizer.learning_rate`, or start nearer: `policy.init`"},
	TooMuchNeglected:  {"too-much-neglected", "what the theory neglects is predicted to be %s, more than half of %s %s: %s", "on the way run longer; else lower `optimizer.learning_rate`, raise `grpo.group_size` or `grpo.kl.coefficient`, or widen the margin: a verdict and `predict` say what would do"},
	UnknownSize:       {"unknown-size", "what the theory neglects is of unknown size: %s", "on the way run longer; else lower `optimizer.learning_rate`, or raise `grpo.group_size` or `grpo.kl.coefficient`: a verdict and `predict` say what would do"},
	Undecided:         {"undecided", "the run decides nothing: %s", "run longer or with more replicas, raise `grpo.group_size`, start elsewhere (`policy.init`), or judge another quantity"},
	NotSearched:       {"not-searched", "the search decides nothing: %s", "raise `grpo.kl.coefficient` or the check's `draws`, move its `from` and `to`, or take `grpo.group_size` inf"},

	OfPart: {"of-part", "%s: %s", "see the reason of that part"},
}
