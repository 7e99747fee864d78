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
