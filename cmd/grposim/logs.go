package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"grposim/rom/fit"
	"grposim/rom/logs"
)

// logsOf returns the logs that an argument names: a file or folder, or several separated
// by commas. It returns nil if the argument names something else.
func logsOf(arg string) []string {
	if isLog(arg) {
		return []string{arg}
	}
	if _, err := os.Stat(arg); err != nil && strings.Contains(arg, ",") {
		return strings.Split(arg, ",")
	}
	return nil
}

// isLog reports whether a path is a file, or the output folder of a trainer.
func isLog(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	const state = "trainer_state.json"
	_, err = os.Stat(filepath.Join(path, state))
	inside, _ := filepath.Glob(filepath.Join(path, "checkpoint-*", state)) // the pattern is valid
	return !info.IsDir() || err == nil || len(inside) > 0
}

// readCurve reads a log and its reward over optimizer steps, or over the intrinsic time of
// a schedule. It prints the notes of the log.
func readCurve(stderr io.Writer, file, schedule string) (*logs.Log, fit.Curve, error) {
	var none fit.Curve
	l, err := logs.Open(file)
	var path *fs.PathError
	switch {
	case errors.As(err, &path) && !errors.Is(err, fs.ErrNotExist):
		return nil, none, err
	case err != nil:
		return nil, none, usageError{err}
	}
	for _, note := range l.Notes {
		printLines(stderr, file+": "+note)
	}
	reward, has := l.Column(logs.Reward)
	if !has {
		return nil, none, usageError{fmt.Errorf("%s: got no reward of training, want the log of a run", file)}
	}
	times := make([]float64, len(l.Steps))
	for i, step := range l.Steps {
		times[i] = float64(step)
	}
	if schedule != "" {
		if times, err = intrinsicTime(l, times, schedule); err != nil {
			return nil, none, usageError{fmt.Errorf("%s: --schedule %s: %w", file, schedule, err)}
		}
	}
	var c fit.Curve
	for i, y := range reward.Values {
		if !math.IsNaN(y) {
			c.Time, c.Reward = append(c.Time, times[i]), append(c.Reward, y)
		}
	}
	if len(c.Time) < fit.MinRows {
		return nil, none, usageError{fmt.Errorf("%s: got %d rows with a reward, want at least %d", file, len(c.Time), fit.MinRows)}
	}
	return l, c, nil
}

// loggedRate is the schedule whose learning rates are those of the log.
const loggedRate = "logged"

// intrinsicTime returns the intrinsic times of the steps of a log under a schedule,
// KIND[:WARMUP[:TOTAL]] or loggedRate.
func intrinsicTime(l *logs.Log, steps []float64, schedule string) ([]float64, error) {
	if schedule == loggedRate {
		rate, has := l.Column(logs.LR)
		if !has {
			return nil, fmt.Errorf("the log has no learning rate")
		}
		times, ok := fit.LoggedTime(steps, rate.Values)
		if !ok {
			return nil, fmt.Errorf("the log lacks a learning rate in some row, or all are 0")
		}
		return times, nil
	}
	words := strings.Split(schedule, ":")
	s := fit.Schedule{Kind: fit.Decay(words[0])}
	if !slices.Contains(fit.Decays, s.Kind) {
		return nil, fmt.Errorf("got %s, want %s or one of %v with :WARMUP:TOTAL", words[0], loggedRate, fit.Decays)
	}
	for i, word := range words[1:] {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil || i > 1 {
			return nil, fmt.Errorf("got :%s, want KIND:WARMUP:TOTAL in steps", word)
		}
		*[]*float64{&s.Warmup, &s.Total}[i] = x
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	return s.Time(steps), nil
}
