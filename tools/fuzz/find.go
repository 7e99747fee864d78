package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	"grposim/sweeps/judge"
)

// result holds the findings of one configuration.
type result struct {
	seed, index uint64 // of the draw
	answer      answer
	findings    []finding
	seconds     float64 // wall time
	done        bool    // examined
}

// finding is a fault: a verdict that disagrees, or a failure of the program.
type finding struct {
	verdict   judge.Verdict // of a disagree; zero for a failure
	failure   failure       // "": a disagree
	confirmed bool          // a failure, or a disagree that was repeated
	detail    string
	file      file
}

// moreTimes is the factor of data in the repetition of a disagree.
const moreTimes = 4

// examine judges a file, and repeats what disagrees.
func (j judging) examine(ctx context.Context, f file) (answer, []finding, error) {
	a, err := j.ask(ctx, j.request(f, 1))
	if err != nil {
		return a, nil, err
	}
	findings := a.failed()
	if !slices.ContainsFunc(a.Verdicts, a.refutes) {
		return a, findings, nil
	}
	again, err := j.ask(ctx, j.request(reseeded(f), moreTimes))
	if err != nil {
		return a, findings, err
	}
	findings = append(findings, again.failed()...)
	for i, v := range a.Verdicts {
		if !a.refutes(v) {
			continue
		}
		x := finding{verdict: v, file: a.File}
		// the same checks in the same order
		x.confirmed = i < len(again.Verdicts) && again.refutes(again.Verdicts[i])
		findings = append(findings, x)
	}
	return a, findings, nil
}

// failed returns the failure of the answer as a finding, none if it has none.
func (a *answer) failed() []finding {
	if a.Failure == "" {
		return nil
	}
	return []finding{{failure: a.Failure, detail: a.Detail, confirmed: true, file: a.File}}
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
