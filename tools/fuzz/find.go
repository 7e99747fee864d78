package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	"grposim/sweeps"
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
	verdict   sweeps.Verdict // of a disagree, in the shrunk file if it is shrunk; zero for a failure
	failure   failure        // "": a disagree
	confirmed bool           // a failure, or a disagree that was repeated
	detail    string
	file      file // shrunk if it is a confirmed disagree
}

// moreTimes is the factor of data in the repetition of a disagree.
const moreTimes = 4

// tries is the largest number of smaller files that are judged to shrink one.
const tries = 100

// examine judges a file, repeats what disagrees, and shrinks it if it disagrees again.
func (j judging) examine(ctx context.Context, f file, how scrutiny) (answer, []finding, error) {
	a, err := j.ask(ctx, j.request(f, 1, how))
	if err != nil {
		return a, nil, err
	}
	findings := a.failed()
	if !slices.ContainsFunc(a.Verdicts, a.refutes) {
		return a, findings, nil
	}
	again, err := j.ask(ctx, j.request(reseeded(f), moreTimes, once))
	if err != nil {
		return a, findings, err
	}
	findings = append(findings, again.failed()...)
	shrunk := map[string]bool{} // claims: of several verdicts of one claim the first is shrunk
	for i, v := range a.Verdicts {
		if !a.refutes(v) {
			continue
		}
		x := finding{verdict: v, file: a.File}
		x.confirmed = i < len(again.Verdicts) && again.refutes(again.Verdicts[i]) // the same checks in the same order
		if x.confirmed && j.budget > 0 && !shrunk[v.Claim] {
			shrunk[v.Claim] = true
			if x.file, x.verdict, err = j.shrink(ctx, f, v); err != nil {
				return a, findings, err
			}
			if x.file == nil {
				x.file = a.File
			}
		}
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
func (a *answer) refutes(v sweeps.Verdict) bool { return v.Verdict == sweeps.Disagree && !a.Slow }

// reseeded returns the file with another seed, a function of its own.
func reseeded(f file) file {
	f = f.clone()
	hash := fnv.New64a()
	fmt.Fprint(hash, f["seed"])
	f["seed"] = json.Number(strconv.FormatUint(hash.Sum64()>>1, 10))
	return f
}

// shrink returns the smallest file found that disagrees in the claim of v, with the
// length of run of its last judgement, and the verdict. It judges smaller files once; the
// last one must disagree with another seed and more data too, or there is none: nil.
func (j judging) shrink(ctx context.Context, f file, v sweeps.Verdict) (file, sweeps.Verdict, error) {
	disagrees := func(candidate file, data int) (as file, w sweeps.Verdict, err error) {
		if _, err := candidate.load(); err != nil {
			return nil, v, nil
		}
		a, err := j.ask(ctx, j.request(candidate, data, once))
		for _, w := range a.Verdicts {
			if w.Claim == v.Claim && a.refutes(w) {
				return a.File, w, err
			}
		}
		return nil, v, err
	}
	small, left := f, tries
	for shrunk := true; shrunk; {
		shrunk = false
		for _, simplify := range simplifications(small) {
			candidate := small.clone()
			simplify(candidate)
			candidate = candidate.clone()
			if left == 0 || string(candidate.text()) == string(small.text()) {
				continue
			}
			left--
			as, _, err := disagrees(candidate, 1)
			if err != nil {
				return nil, v, err
			}
			if as != nil {
				small, shrunk = candidate, true
			}
		}
	}
	return disagrees(reseeded(small), moreTimes)
}
