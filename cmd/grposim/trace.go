package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/sweeps"
	"grposim/sweeps/store"
	"grposim/training/diagnose"
	"grposim/training/findings"
	"grposim/training/logs"

	"gonum.org/v1/gonum/floats"
)

type source struct {
	file  string         // as the user named it
	run   string         // its name, where the file or folder names runs
	about string         // what was read
	trace diagnose.Trace // its series
	log   *logs.Log      // that they are of; nil of a results folder
	notes []string       // what a user should know of the series, one sentence each
}

// sources reads a log or a folder with a source for every run, or a results folder with one
// for every cell.
func sources(path string, how logs.Options) ([]source, error) {
	if store.HoldsResults(path) {
		return sourcesOfCells(path)
	}
	runs, err := readLogs(path, how)
	if err != nil {
		return nil, err
	}
	if path == stdin {
		path = runs[0].File
	}
	var all []source
	for _, l := range runs {
		s, err := sourceOf(path, l, how.TrueReward)
		if err != nil {
			return nil, err
		}
		s.run = l.Run
		all = append(all, s)
	}
	return all, nil
}

// sourcesOfCells returns the mean series of every cell of a results folder.
func sourcesOfCells(dir string) ([]source, error) {
	plan, outcomes, err := sweeps.Open(dir)
	if err != nil {
		return nil, err
	}
	var all []source
	for _, c := range plan.Cells {
		simulated := c.Sim()
		t, err := c.Trace(outcomes[c.ID])
		switch {
		case err != nil:
			return nil, err
		case t == nil:
			continue
		}
		replicas := simulated.Replicas()
		about := fmt.Sprintf("cell %s, mean of %d replicas", nameOfCell(plan, c), replicas)
		s := source{file: dir, trace: *t, about: about}
		if replicas > 1 {
			s.notes = append(s.notes, "The series are means over replicas: oscillations of single "+
				"replicas cancel, so an instability can be invisible. "+
				"The claim failure-mode diagnoses each replica.")
		}
		all = append(all, s)
	}
	if plan.Note != "" && len(all) > 0 {
		all[0].notes = append(all[0].notes, plan.Note)
	}
	if len(all) == 0 {
		return nil, &store.FolderError{Message: dir + ": no cell recorded a trajectory"}
	}
	return all, nil
}

// sourceOf translates the columns of a log into the series of the diagnostics, with a column for
// the true reward if one is named.
func sourceOf(path string, l *logs.Log, trueReward string) (source, error) {
	s := source{file: path, log: l, notes: slices.Clone(l.Notes)}
	rows, first := logs.CountWords(len(l.Steps), "row"), l.Steps[0]
	s.about = fmt.Sprintf("%s, %s, step %d", l.Format, rows, first)
	if len(l.Steps) > 1 {
		s.about = fmt.Sprintf("%s, %s, steps %d to %d", l.Format, rows, first, l.Steps[len(l.Steps)-1])
	}
	if l.Averaged > 1 {
		s.about += fmt.Sprintf(", each the mean of %d", l.Averaged)
	}
	score, at, err := truth(l, trueReward)
	if err != nil {
		return s, err
	}

	// The rows of the trace are the steps of training and of the true reward.
	steps := slices.Compact(slices.Sorted(slices.Values(slices.Concat(l.Steps, at))))
	spread := func(on []int, values []float64) []float64 {
		all := slices.Repeat([]float64{math.NaN()}, len(steps))
		for i, step := range on {
			row, _ := slices.BinarySearch(steps, step)
			all[row] = values[i]
		}
		return all
	}
	series := func(q logs.Quantity) []float64 {
		if c, ok := l.Column(q); ok {
			return spread(l.Steps, c.Values)
		}
		return nil
	}
	t := &s.trace
	*t = diagnose.Trace{Origin: diagnose.Samples, Steps: steps, Reward: series(logs.Reward),
		Entropy: series(logs.Entropy), Collision: series(logs.Collision), RatioMax: series(logs.RatioMax),
		KLOld: series(logs.KLOld), ClipFraction: series(logs.ClipAny)}
	if l.Format.Trainer == logs.Grposim {
		t.Origin, t.ClipFraction = diagnose.Expectations, nil
	}
	low, high := series(logs.ClipLow), series(logs.ClipHigh)
	if t.ClipFraction == nil && low != nil && high != nil {
		floats.Add(low, high)
		t.ClipFraction = low
	}
	note := func(format string, args ...any) {
		s.notes = append(s.notes, fmt.Sprintf(format, args...))
	}
	share, exact := findings.ZeroVariance(l)
	t.ZeroVariance, t.AtLeast = spread(l.Steps, share.Values), !exact
	switch _, recorded := l.Column(logs.FracZeroStd); {
	case exact && l.Format.Trainer == logs.NeMoRL && !recorded:
		note("The share of zero-variance groups is pct_0 + pct_1, an upper bound of it with the " +
			"leave-one-out baseline.")
	case exact && !recorded:
		note("The share of zero-variance groups is deduced from %s.", share.Key)
	case slices.Contains(share.Values, 1) && !exact:
		note("Rows in which all groups have equal rewards are deduced from %s.", share.Key)
	}
	if score != nil {
		t.TrueReward = spread(at, score.Values)
		note("The true reward is read from %s.", score.Key)
	}
	return s, nil
}

// truth returns the column of the true reward with its steps, nil if there is none.
func truth(l *logs.Log, asked string) (*logs.Column, []int, error) {
	var names []string
	for _, t := range []*logs.Table{l.Evaluation, &l.Table} {
		if t == nil {
			continue
		}
		for i, c := range t.Columns {
			score := strings.HasPrefix(string(c.Quantity), string(logs.EvalScore))
			named := strings.EqualFold(asked, c.Key) || asked == string(c.Quantity)
			if asked == "" && score || asked != "" && named {
				return &t.Columns[i], t.Steps, nil
			}
			names = append(names, c.Key)
		}
	}
	if asked != "" {
		return nil, nil, misuse("--true-reward: got %s, want a column of %s: %s",
			asked, l.File, strings.Join(names, ", "))
	}
	return nil, nil, nil
}
