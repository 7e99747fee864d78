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
	flatness   = "%d arms, K = 4, none: G = 65536"
	anArmOf    = "an arm of %d"
	linearity  = anArmOf + ", G = 16, K = 4, none"
	twoWorkers = "64 cells of 2 arms, G = 16, K = 4: 1 worker"

	twoPrograms = "(the machine: one run of %s)" // divided by two runs at the same time
)

// scaling measures how grposim's time depends on the group size, the number of arms and the
// number of workers.
func scaling(ctx context.Context, e effort) ([]comparison, error) {
	flat := comparison{what: fmt.Sprintf(flatness, 2), over: "G = 16"}
	flatTen := comparison{what: fmt.Sprintf(flatness, 10), over: "G = 1024"}
	// Two arms have code of their own, so linear growth is judged from three arms on.
	ten := comparison{what: fmt.Sprintf(linearity, 10), over: fmt.Sprintf(anArmOf, 2)}
	more := comparison{what: fmt.Sprintf(linearity, 10), over: fmt.Sprintf(anArmOf, 3)}
	hundred := comparison{what: fmt.Sprintf(linearity, 100), over: fmt.Sprintf(anArmOf, 10)}
	workers := comparison{what: twoWorkers, over: "2 workers"}
	for round := range e.rounds {
		var times [7]float64
		for i, p := range []process{
			newProcess(2, 65536, 4), newProcess(2, 16, 4), newProcess(3, 16, 4), newProcess(10, 16, 4), newProcess(100, 16, 4),
			newProcess(10, 65536, 4), newProcess(10, 1024, 4),
		} {
			l := e.length(p, grposim.replicas)
			o, err := grposim.run(ctx, p, l, round+1)
			if err != nil {
				return nil, err
			}
			times[i] = o.nanoseconds(l)
		}
		flat.add(times[0], times[1])
		flatTen.add(times[5], times[6])
		ten.add(times[3]/10, times[1]/2)
		more.add(times[3]/10, times[2]/3)
		hundred.add(times[4]/100, times[3]/10)

		one, two, err := oneAndTwo(func(workers int) (float64, error) { return e.sweep(ctx, workers) })
		if err != nil {
			return nil, err
		}
		workers.add(one, two)
	}
	return []comparison{flat, flatTen, ten, more, hundred, workers}, nil
}

// machineScaling measures the most that two workers could gain on this machine: how much
// faster two programs that share nothing run at the same time than one after the other.
func machineScaling(ctx context.Context, e effort, peer contender) (comparison, error) {
	c := comparison{what: fmt.Sprintf(twoPrograms, peer.name), over: "two at once"}
	p := newProcess(2, 16, 4)
	l := e.length(p, peer.replicas)
	for round := range e.rounds {
		one, two, err := oneAndTwo(func(programs int) (float64, error) { return atOnce(ctx, peer, programs, p, l, round+1) })
		if err != nil {
			return c, err
		}
		c.add(one, two)
	}
	return c, nil
}

// oneAndTwo returns the times that measure gives for a count of one and of two. It measures
// one before and after two and returns the mean, because the speed of the machine may
// change in between.
func oneAndTwo(measure func(count int) (float64, error)) (one, two float64, err error) {
	var times [3]float64
	for i, count := range []int{1, 2, 1} {
		if times[i], err = measure(count); err != nil {
			return 0, 0, err
		}
	}
	return (times[0] + times[2]) / 2, times[1], nil
}

// atOnce runs several copies of a peer at the same time. It returns the nanoseconds per
// replica-step of all of them together.
func atOnce(ctx context.Context, peer contender, programs int, p process, l length, seed int) (float64, error) {
	rates, errs := make([]float64, programs), make([]error, programs)
	var group sync.WaitGroup
	for i := range programs {
		group.Go(func() {
			o, err := peer.run(ctx, p, l, seed+i)
			rates[i], errs[i] = 1/o.nanoseconds(l), err
		})
	}
	group.Wait()
	sum := 0.
	for _, rate := range rates {
		sum += rate
	}
	return 1 / sum, errors.Join(errs...)
}

// sweep returns the nanoseconds per replica-step of 64 cells on the given number of
// workers.
func (e effort) sweep(ctx context.Context, workers int) (float64, error) {
	const count = 64
	p := newProcess(2, 16, 4)
	l := length{max(e.replicaSteps/grposim.replicas/2, 2*p.burnIn()), grposim.replicas}
	var cells []sim.Cell
	for i := range count {
		cells = append(cells, p.cell(l, i))
	}
	_, seconds, err := timed(ctx, cells, workers)
	return outcome{seconds: seconds}.nanoseconds(l) / count, err
}
