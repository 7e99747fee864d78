package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"grposim/sweeps/judge"
)

// result holds the findings of one configuration.
type result struct {
	seed     uint64 // of the draw
	index    int
	answer   answer
	findings []finding
	seconds  float64 // wall time
	done     bool    // examined
}

// finding is a fault: a verdict that disagrees, or a failure of the program.
type finding struct {
	kind   string // unconfirmed, a disagree that was repeated, or the failure
	says   string // in a line
	detail string
	file   file
}

// kinds of findings that are no failures
const (
	confirmed   = "confirmed disagree"
	unconfirmed = "unconfirmed disagree" // it was repeated, and did not disagree
)

// moreTimes is the factor of data in the repetition of a disagree.
const moreTimes = 4

// examine judges a file, and repeats what disagrees.
func (j judging) examine(ctx context.Context, f file) (r result, err error) {
	if r.answer, err = j.ask(ctx, f, 1); err != nil {
		return r, err
	}
	a := &r.answer
	r.findings = a.failed()
	if !slices.ContainsFunc(a.Verdicts, a.refutes) {
		return r, nil
	}
	again, err := j.ask(ctx, reseeded(f), moreTimes)
	if err != nil {
		return r, err
	}
	r.findings = append(r.findings, again.failed()...)
	for i, v := range a.Verdicts {
		if !a.refutes(v) {
			continue
		}
		kind := unconfirmed
		// the same checks in the same order
		if i < len(again.Verdicts) && again.refutes(again.Verdicts[i]) {
			kind = confirmed
		}
		says := fmt.Sprintf("%s, %s: measured %.6g [%.6g, %.6g], predicted %.6g ± %.2g: %s",
			v.Claim, v.Quantity, v.Measured, v.Lo, v.Hi, v.Predicted, v.Margin, v.Because)
		r.findings = append(r.findings, finding{kind: kind, says: says, file: a.File})
	}
	return r, nil
}

// failed returns the failure of the answer as a finding, none if it has none.
func (a *answer) failed() []finding {
	if a.Failure == "" {
		return nil
	}
	first, _, _ := strings.Cut(a.Detail, "\n")
	return []finding{{string(a.Failure), first, a.Detail, a.File}}
}

// refutes reports whether a verdict of the answer disagrees and counts: not that of a
// cell that was too slow for its budget.
func (a *answer) refutes(v judge.Verdict) bool { return v.Verdict == judge.Disagree && !a.Slow }

// reseeded returns the file with another seed, a function of its own.
func reseeded(f file) file {
	f = f.clone()
	hash := fnv.New64a()
	fmt.Fprint(hash, f["seed"])
	f["seed"] = json.Number(strconv.FormatUint(hash.Sum64()>>1, 10))
	return f
}
