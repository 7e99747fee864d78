package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// judgeFlag makes the program judge the requests on its standard input.
const judgeFlag = "--judge"

// message is a line of a judging process: the file that it is about to simulate, then
// the answer.
type message struct {
	File   file    `json:"file,omitempty"`
	Answer *answer `json:"answer,omitempty"`
}

// serve answers requests, one a line, until the input ends.
func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	decoder, encoder := json.NewDecoder(in), json.NewEncoder(out)
	decoder.UseNumber()
	for {
		var r request
		if err := decoder.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var written error
		a := answerTo(ctx, r, func(f file) { written = encoder.Encode(message{File: f}) })
		if err := errors.Join(written, encoder.Encode(message{Answer: &a})); err != nil {
			return err
		}
	}
}

// judging is a process of this program that judges files: a computation that does not
// end can be killed only with its process.
type judging struct {
	limit    time.Duration // of one request
	budget   float64       // of a configuration: see request
	command  *exec.Cmd     // nil: not started
	requests io.WriteCloser
	messages chan message // closed when the process has ended
	errors   *bytes.Buffer
}

// request returns a request for the verdicts of a file within the budget.
func (j *judging) request(f file, from sizing, data int, how scrutiny) request {
	return request{f, from, j.budget, data, how}
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

// stop ends the process.
func (j *judging) stop() {
	if j.command == nil {
		return
	}
	j.command.Process.Kill()
	for range j.messages {
	}
	j.command.Wait() // reports the kill
	j.command = nil
}

// ask returns the answer to a request. A process that exceeds the limit is killed, and
// the answer is that it hung; one that ends by itself crashed.
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
	limit := time.NewTimer(j.limit)
	defer limit.Stop()
	for {
		select {
		case <-ctx.Done():
			j.stop()
			return a, ctx.Err()
		case <-limit.C:
			j.stop()
			a.Failure, a.Detail = hung, fmt.Sprintf("no verdict after %v", j.limit)
			return a, nil
		case m, open := <-j.messages:
			switch {
			case !open:
				j.stop()
				a.Failure, a.Detail = died, j.errors.String()
				return a, nil
			case m.Answer != nil:
				return *m.Answer, nil
			}
			a.File = m.File
		}
	}
}
