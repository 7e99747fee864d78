package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"regexp"
	"runtime/debug"
	"strconv"
	"time"

	"grposim/sim"
	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
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

// judgeFlag makes the program answer the request on its standard input.
const judgeFlag = "--judge"

// exitHung is the exit code of a judging process that has exceeded its limit.
const exitHung = 7

// serve answers a request. Before it simulates it writes the answer that holds if the process
// dies. It ends the process when that has taken more CPU time than its limit.
func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	decoder, encoder := json.NewDecoder(in), json.NewEncoder(out)
	decoder.UseNumber()
	var r request
	if err := decoder.Decode(&r); err != nil {
		return err
	}
	go func() {
		for range time.Tick(20 * time.Millisecond) {
			if store.CPUSeconds() > r.Limit.Seconds() {
				os.Exit(exitHung)
			}
		}
	}()
	var written error
	a := answerTo(ctx, r, func(f file) { written = encoder.Encode(answer{File: f, Failure: died}) })
	return errors.Join(written, encoder.Encode(a))
}

// waiting is the factor of the limit after which a process that takes no CPU time is
// killed; less than that can be the load of the machine.
const waiting = 30

// ask returns the answer to a request: that it hung if its process has exceeded the limit, and that
// it crashed if the process has ended otherwise. Each request has a process of this program of its
// own: a computation that does not end can be killed only with its process.
func (j judging) ask(ctx context.Context, f file, data int) (answer, error) {
	program, err := os.Executable()
	if err != nil {
		return answer{}, err
	}
	text, err := json.Marshal(request{j, f, data})
	if err != nil {
		return answer{}, err
	}
	within, cancel := context.WithTimeout(ctx, waiting*j.Limit)
	defer cancel()
	command := exec.CommandContext(within, program, judgeFlag)
	command.Env = append(os.Environ(), "GOMAXPROCS=2", "GOTRACEBACK=single")
	var stdout, stderr bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(text), &stdout, &stderr
	ended := command.Run()
	a := answer{File: f, Failure: died}
	decoder := json.NewDecoder(&stdout)
	decoder.UseNumber()
	for next := (answer{}); decoder.Decode(&next) == nil; next = (answer{}) {
		a = next
	}
	switch code := command.ProcessState.ExitCode(); {
	case a.Failure != died:
		return a, nil
	case ctx.Err() != nil:
		return a, ctx.Err()
	case command.Process == nil:
		return a, ended
	case within.Err() != nil:
		a.Failure, a.Detail = hung, fmt.Sprintf("no verdict after %v", waiting*j.Limit)
	case code == exitHung:
		a.Failure, a.Detail = hung, fmt.Sprintf("no verdict after %v of CPU time", j.Limit)
	default:
		a.Detail = cmp.Or(stderr.String(), fmt.Sprint(ended))
	}
	return a, nil
}
