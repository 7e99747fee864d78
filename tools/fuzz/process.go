package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"grposim/sweeps/store"
)

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
