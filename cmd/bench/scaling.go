package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"grposim/sim"
)

// Comparisons of grposim with itself.
const (
	flatness   = "2 arms, K = 4, none: G = 65536"
	linearity  = "an arm of %d, G = 16, K = 4, none"
	twoWorkers = "64 cells of 2 arms, G = 16, K = 4: 1 worker"

	twoPrograms = "(the machine: one run of %s)" // over two of them at once
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

		var sweeps [3]float64 // the machine may get slower or faster meanwhile
		for i, count := range []int{1, 2, 1} {
			var err error
			if sweeps[i], err = e.sweep(ctx, count); err != nil {
				return nil, err
			}
		}
		workers.add((sweeps[0]+sweeps[2])/2, sweeps[1])
	}
	return []comparison{flat, ten, more, hundred, workers}, nil
}

// machineScaling measures what two workers could gain at most: how much faster two
// programs that share nothing get on side by side than one after the other.
func machineScaling(ctx context.Context, e effort, peer contender) (comparison, error) {
	c := comparison{what: fmt.Sprintf(twoPrograms, peer.name), over: "two at once"}
	p := newProcess(2, 16, 4)
	l := e.length(p, peer.replicas)
	for round := range e.rounds {
		var alone float64
		var both []float64
		for _, programs := range []int{1, 2, 1} {
			times, err := atOnce(ctx, peer, programs, p, l, round+1)
			if err != nil {
				return c, err
			}
			if programs == 1 {
				alone += times[0] / 2
			} else {
				both = times
			}
		}
		c.add(alone, 1/(1/both[0]+1/both[1]))
	}
	return c, nil
}

// atOnce returns the nanoseconds a replica-step of each of some equal programs that run
// side by side.
func atOnce(ctx context.Context, peer contender, programs int, p process, l length, seed int) ([]float64, error) {
	times, errs := make([]float64, programs), make([]error, programs)
	var group sync.WaitGroup
	for i := range programs {
		group.Go(func() {
			o, err := peer.run(ctx, p, l, seed+i)
			times[i], errs[i] = o.nanoseconds(l), err
		})
	}
	group.Wait()
	return times, errors.Join(errs...)
}

// sweep returns the nanoseconds a replica-step of 64 cells on so many workers.
func (e effort) sweep(ctx context.Context, workers int) (float64, error) {
	const count = 64
	p := newProcess(2, 16, 4)
	l := length{max(e.replicaSteps/grposim.replicas/2, 2*burnIn), grposim.replicas}
	var cells []sim.Cell
	for i := range count {
		cells = append(cells, p.cell(l, i))
	}
	_, seconds, err := timed(ctx, cells, workers)
	return outcome{seconds: seconds}.nanoseconds(l) / count, err
}
