package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// outcome is how the tests of one package ended.
type outcome string

const (
	passed   outcome = "passed"
	failed   outcome = "failed"
	timedOut outcome = "timed out"
	unbuilt  outcome = "unbuilt"
)

// testResult is how they ended and by which test.
type testResult struct {
	outcome outcome
	test    string // the first that failed, of those on top
	output  string // of the compiler, where they were not built
}

// event is a line of `go test -json`; Action build-output and build-fail tell
// of the compiler.
type event struct {
	Action string
	Test   string
	Output string
}

// readEvents reads what `go test -json` printed of one package.
func readEvents(r io.Reader) (testResult, error) {
	result := testResult{outcome: passed}
	var compiler strings.Builder
	for decoder := json.NewDecoder(r); ; {
		var e event
		if err := decoder.Decode(&e); err == io.EOF {
			break
		} else if err != nil {
			return result, fmt.Errorf("its output: %w", err)
		}
		switch {
		case e.Action == "build-output":
			compiler.WriteString(e.Output)
		case e.Action == "build-fail":
			result.outcome = unbuilt
		case strings.HasPrefix(e.Output, "panic: test timed out"):
			result.outcome = timedOut
		case result.outcome == timedOut && result.test == "" && strings.HasPrefix(e.Output, "\t\tTest"):
			// The panic lists the running tests, each with its time.
			result.test, _, _ = strings.Cut(strings.Fields(e.Output)[0], "/")
		case e.Action == "fail":
			if result.outcome == passed {
				result.outcome = failed
			}
			if result.test == "" {
				result.test, _, _ = strings.Cut(e.Test, "/")
			}
		}
	}
	if result.test == "" && (result.outcome == failed || result.outcome == timedOut) {
		result.test = "outside of its tests"
	}
	result.output = compiler.String()
	return result, nil
}
