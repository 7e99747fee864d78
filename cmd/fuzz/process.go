package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"grposim/sweeps/store"
)

// judgeFlag makes the program judge the requests on its standard input.
const judgeFlag = "--judge"

// message is a line of a judging process: the file that it is about to simulate, then
// the answer.
type message struct {
	File   file    `json:"file,omitempty"`
	Answer *answer `json:"answer,omitempty"`
}

// exitHung is the exit code of a judging process that has exceeded its limit.
const exitHung = 7

// serve answers requests, one a line, until the input ends. It ends the process when a
// request has taken more CPU time than its limit.
func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	decoder, encoder := json.NewDecoder(in), json.NewEncoder(out)
	decoder.UseNumber()
	var end atomic.Uint64 // CPU time at which the request exceeds its limit, as math.Float64bits
	end.Store(math.Float64bits(math.Inf(1)))
	go func() {
		for range time.Tick(20 * time.Millisecond) {
			if store.CPUSeconds() > math.Float64frombits(end.Load()) {
				os.Exit(exitHung)
			}
		}
	}()
	for {
		var r request
		if err := decoder.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		end.Store(math.Float64bits(store.CPUSeconds() + r.Limit.Seconds()))
		var written error
		a := answerTo(ctx, r, func(f file) { written = encoder.Encode(message{File: f}) })
		end.Store(math.Float64bits(math.Inf(1)))
		if err := errors.Join(written, encoder.Encode(message{Answer: &a})); err != nil {
			return err
		}
	}
}

// judging is a process of this program that judges files: a computation that does not
// end can be killed only with its process.
type judging struct {
	limit    time.Duration // of one request, in CPU time
	budget   float64       // of a configuration: see request
	command  *exec.Cmd     // nil: not started
	requests io.WriteCloser
	messages chan message // closed when the process has ended
	errors   *bytes.Buffer
}

// request returns a request for the verdicts of a file within the budget.
func (j *judging) request(f file, from sizing, data int, how scrutiny) request {
	return request{f, from, j.limit, j.budget, data, how}
}

// start starts the process.
func (j *judging) start() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	j.command, j.errors = exec.Command(program, judgeFlag), &bytes.Buffer{}
	j.command.Env = append(os.Environ(), "GOMAXPROCS=2", "GOTRACEBACK=single")
	j.command.Stderr = j.errors
	if j.requests, err = j.command.StdinPipe(); err != nil {
		return err
	}
	output, err := j.command.StdoutPipe()
	if err != nil {
		return err
	}
	messages := make(chan message)
	j.messages = messages
	if err := j.command.Start(); err != nil {
		return err
	}
	go func() {
		defer close(messages)
		decoder := json.NewDecoder(bufio.NewReader(output))
		decoder.UseNumber()
		for {
			var m message
			if decoder.Decode(&m) != nil {
				return
			}
			messages <- m
		}
	}()
	return nil
}

// stop ends the process, if it has not ended, and returns its exit code.
func (j *judging) stop() int {
	if j.command == nil {
		return 0
	}
	j.command.Process.Kill()
	for range j.messages {
	}
	j.command.Wait() // its error is the kill, or the exit code
	code := j.command.ProcessState.ExitCode()
	j.command = nil
	return code
}

// waiting is the factor of the limit after which a process that takes no CPU time is
// killed; less than that can be the load of the machine.
const waiting = 30

// ask returns the answer to a request: that it hung if its process has exceeded the
// limit, and that it crashed if the process has ended otherwise.
func (j *judging) ask(ctx context.Context, r request) (answer, error) {
	if j.command == nil {
		if err := j.start(); err != nil {
			return answer{}, err
		}
	}
	a := answer{File: r.File}
	if err := json.NewEncoder(j.requests).Encode(r); err != nil {
		j.stop()
		a.Failure, a.Detail = died, err.Error()
		return a, nil
	}
	limit := time.NewTimer(waiting * j.limit)
	defer limit.Stop()
	for {
		select {
		case <-ctx.Done():
			j.stop()
			return a, ctx.Err()
		case <-limit.C:
			j.stop()
			a.Failure, a.Detail = hung, fmt.Sprintf("no verdict after %v", waiting*j.limit)
			return a, nil
		case m, open := <-j.messages:
			switch {
			case !open:
				a.Failure, a.Detail = died, j.errors.String()
				if j.stop() == exitHung {
					a.Failure, a.Detail = hung, fmt.Sprintf("no verdict after %v of CPU time", j.limit)
				}
				return a, nil
			case m.Answer != nil:
				return *m.Answer, nil
			}
			a.File = m.File
		}
	}
}
