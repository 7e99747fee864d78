package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"runtime/debug"
	"strconv"
	"time"

	"grposim/sim"
	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
)

// judging says how files are judged.
type judging struct {
	Limit time.Duration // CPU time after which a file counts as hung
	// the largest work of a cell, which decides the length of its run: see stepWork; 0: the file
	// gives it
	Budget float64
}

// request asks for the verdicts of a file.
type request struct {
	judging
	File file
	Data int // factor of the numbers of replicas and draws, ≥ 1
}

// answer holds the results of judging a file.
type answer struct {
	File     file // as judged, its length included
	Slow     bool // too slow for the budget: only scope is known
	Verdicts []judge.Verdict
	Failure  failure // what went wrong; "": nothing
	Detail   string  // of the failure: message, stack
}

// failure is a kind of fault of the program, whatever the theory says.
type failure string

const (
	panicked  failure = "panic"
	hung      failure = "hang"
	died      failure = "crash"      // the process ended
	refused   failure = "error"      // an error where a verdict was due
	notFinite failure = "not-finite" // NaN or Inf in a prediction
)

// answerTo judges a file. announce receives the file as it will be simulated, before it
// is. Panics become a failure.
func answerTo(ctx context.Context, r request, announce func(file)) (a answer) {
	a.File = r.File
	defer func() {
		if value := recover(); value != nil {
			a.Failure, a.Detail = panicked, fmt.Sprintf("%v\n%s", value, debug.Stack())
		}
	}()
	if r.Budget > 0 {
		var err error
		if a.File, a.Slow, err = prepare(r.File, r.Budget); err != nil {
			return answer{File: r.File, Failure: notFinite, Detail: err.Error()}
		}
	}
	if !a.Slow {
		a.File = moreData(a.File, r.Data)
	}
	announce(a.File)
	if len(a.File.checks()) == 0 {
		return a
	}
	var err error
	a.Verdicts, err = verdictsOf(ctx, a.File)
	var inside *sim.Panic
	switch {
	case errors.As(err, &inside):
		a.Failure, a.Detail = panicked, fmt.Sprintf("%v\n%s", inside, inside.Stack)
	case err != nil:
		a.Failure, a.Detail = refused, err.Error()
	}
	return a
}

// verdictsOf loads, plans, simulates and judges a file in memory.
func verdictsOf(ctx context.Context, f file) ([]judge.Verdict, error) {
	spec, err := f.load()
	if err != nil {
		return nil, fmt.Errorf("a valid file became invalid: %w", err)
	}
	p := plan.New(spec)
	outcomes, err := plan.Simulate(ctx, p, 1)
	if err != nil {
		return nil, err
	}
	return sweeps.Judge(p, outcomes)
}

// prepare predicts every cell, checks that the predictions can be written as JSON, and
// gives the file the length that its longest cell needs. slow says that this exceeds the
// budget. Checks that cannot be measured within it are left out.
func prepare(f file, budget float64) (prepared file, slow bool, err error) {
	spec, err := f.load()
	if err != nil {
		return nil, false, err
	}
	var l length
	var stiffness float64
	for c, line := range sweeps.Predictions(plan.New(spec)) {
		text, err := json.Marshal(line)
		if err == nil && nonFinite.Match(text) {
			err = errors.New(string(text))
		}
		if err != nil {
			return nil, false, fmt.Errorf("prediction: %w", err)
		}
		own := lengthOf(class(spec.Name), budget, c, &line.Prediction)
		if !l.slow && (own.slow || own.steps > l.steps) {
			l = own
		}
		s := line.Prediction.Stiffness
		stiffness = max(math.Abs(s.Total), math.Abs(s.Fresh), math.Abs(s.Stale))
	}
	f = f.clone()
	l.steps = max(l.steps, spec.Base.Optimizer.Schedule.Warmup+1) // a cosine may end with the run
	f.set(config.StepsKey, l.steps)
	f.set(config.BurnInKey, l.burnIn)
	f.set("run.replicas", l.replicas)
	var checks []any
	for i, c := range f.checks() {
		switch claim := spec.Checks[i].Claim; {
		case l.slow && claim.Has(config.NeedsOffset):
			continue
		case claim.Per != config.PerForce:
			slow = slow || l.slow
		case stiffness == 0 || stiffness > stiffest:
			continue
		default: // its parts can be 0, so the margin is a share of the largest
			check := c.(map[string]any)
			delete(check, "margin")
			check["absolute_margin"] = config.Round(margins[claim.Name] * stiffness)
		}
		checks = append(checks, c)
	}
	f["checks"] = checks
	return f.clone(), slow, nil
}

// stiffest is the largest stiffness that is judged: about the largest absolute margin of a check.
const stiffest = 1e100

// moreData multiplies the numbers of replicas and draws of a file.
func moreData(f file, factor int) file {
	return parseFile(amounts.ReplaceAllFunc(f.text(), func(amount []byte) []byte {
		name, number, _ := bytes.Cut(amount, []byte(": "))
		n, _ := strconv.Atoi(string(number)) // it has digits only
		return fmt.Appendf(nil, "%s: %d", name, n*factor)
	}))
}

// amounts finds the numbers of replicas and draws in a file.
var amounts = regexp.MustCompile(`"((run[.])?replicas|draws)": [0-9]+`)

// nonFinite finds numbers that are not finite in a prediction.
var nonFinite = regexp.MustCompile(`.{0,60}(^|[^A-Za-z"])[-+]?(NaN|Inf)([^A-Za-z]|$)`)
