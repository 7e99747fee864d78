package main

import (
	"context"
	"fmt"

	"grposim/sim"
)

// Comparisons of grposim with itself.
const (
	flatness   = "2 arms, K = 4, none: G = 65536"
	linearity  = "an arm of %d, G = 16, K = 4, none"
	twoWorkers = "8 cells of 2 arms, G = 16, K = 4: 1 worker"
)

// scaling measures how grposim's time grows with group size and arms, and falls
// with workers.
func scaling(ctx context.Context, e effort) ([]comparison, error) {
	flat := comparison{what: flatness, over: "G = 16"}
	// Two arms have a path of their own: linear is what three arms and more are.
	ten := comparison{what: fmt.Sprintf(linearity, 10), over: "an arm of 2"}
	more := comparison{what: fmt.Sprintf(linearity, 10), over: "an arm of 3"}
	hundred := comparison{what: fmt.Sprintf(linearity, 100), over: "an arm of 10"}
	workers := comparison{what: twoWorkers, over: "2 workers"}
	for round := range e.rounds {
		var times [5]float64
		for i, p := range []process{newProcess(2, 65536, 4), newProcess(2, 16, 4), newProcess(3, 16, 4), newProcess(10, 16, 4), newProcess(100, 16, 4)} {
			l := e.length(p, grposim.replicas)
			l.steps = max(l.steps/(1+len(p.means)/10), 2*burnIn)
			o, err := grposim.run(ctx, p, l, round+1)
			if err != nil {
				return nil, err
			}
			times[i] = o.nanoseconds(l)
		}
		flat.add(times[0], times[1])
		ten.add(times[3]/10, times[1]/2)
		more.add(times[3]/10, times[2]/3)
		hundred.add(times[4]/100, times[3]/10)

		one, err := e.sweep(ctx, 1)
		if err != nil {
			return nil, err
		}
		two, err := e.sweep(ctx, 2)
		if err != nil {
			return nil, err
		}
		workers.add(one, two)
	}
	return []comparison{flat, ten, more, hundred, workers}, nil
}

// sweep returns the nanoseconds a replica-step of eight cells on so many workers.
func (e effort) sweep(ctx context.Context, workers int) (float64, error) {
	const count = 8
	p := newProcess(2, 16, 4)
	l := length{max(e.replicaSteps/grposim.replicas/4, 2*burnIn), grposim.replicas}
	var cells []sim.Cell
	for i := range count {
		cells = append(cells, p.cell(l, i))
	}
	_, seconds, err := timed(ctx, cells, workers)
	return outcome{seconds: seconds}.nanoseconds(l) / count, err
}
