package main

import (
	"context"
	"fmt"
	"slices"

	"grposim/grpo"
)

// raced lists the processes that grposim and the peers simulate side by side.
var raced = []process{
	newProcess(2, 16, 1),
	newProcess(2, 16, 4),
	newProcess(2, 64, 4),
	newProcess(2, 1024, 4),
	newProcess(2, 65536, 4),
	newProcess(10, 16, 4).with(grpo.Ratio, grpo.StdScale),
}

// effort is how much is run: rounds, replica-steps of each run of two arms, and
// learning rates of a sweep of tiny cells.
type effort struct{ rounds, replicaSteps, learningRates int }

var (
	full  = effort{rounds: 9, replicaSteps: 1500 * 2048, learningRates: 1000}
	brief = effort{rounds: 1, replicaSteps: 500 * 2048, learningRates: 10}
)

// length is that of a run on a contender's number of replicas. More arms take
// longer and fluctuate less, so they get a third.
func (e effort) length(p process, replicas int) length {
	steps := e.replicaSteps
	if len(p.means) > 2 {
		steps /= 3
	}
	return length{max(steps/replicas, 2*burnIn), replicas}
}

// comparison is the time of one thing over that of another, measured in turns.
type comparison struct {
	what, over    string
	ratios        []float64 // by round
	times, others []float64 // nanoseconds a replica-step
}

func (c *comparison) add(time, other float64) {
	c.ratios = append(c.ratios, time/other)
	c.times = append(c.times, time)
	c.others = append(c.others, other)
}

// ratio is the median over rounds.
func (c *comparison) ratio() float64 { return median(c.ratios) }

func (c *comparison) String() string {
	text := fmt.Sprintf("%s: %.2f times %s", c.what, c.ratio(), c.over)
	if t := c.target(); t != (target{}) {
		text += fmt.Sprintf(", target %s: %s", t, t.met(c.ratio()))
	}
	return text
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// tellingInterval is the refresh interval at which importance ratios tell: of ten
// arms the frozen force then fluctuates half as much again, while at K = 4 it is
// within 0.5 %.
const tellingInterval = 64

// race runs grposim and the peers on a process, in turns, and compares their times.
// A peer that disagrees on the stationary law is an error.
func race(ctx context.Context, e effort, p process, peers []contender) ([]comparison, error) {
	var comparisons []comparison
	var running []contender
	for _, peer := range peers {
		if peer.largestGroup == 0 || p.groupSize <= peer.largestGroup {
			running = append(running, peer)
			comparisons = append(comparisons, comparison{what: p.String(), over: peer.name})
		}
	}
	if p.importance == grpo.Ratio {
		telling := p
		telling.interval = tellingInterval
		if _, _, err := lap(ctx, e, telling, running, 1); err != nil {
			return nil, err
		}
	}
	for round := range e.rounds {
		ours, theirs, err := lap(ctx, e, p, running, round+1)
		if err != nil {
			return nil, err
		}
		for i := range theirs {
			comparisons[i].add(ours, theirs[i])
		}
	}
	return comparisons, nil
}

// lap runs each contender once. It returns the nanoseconds a replica-step of
// those that agree on the stationary law.
func lap(ctx context.Context, e effort, p process, peers []contender, seed int) (ours float64, theirs []float64, err error) {
	own := e.length(p, grposim.replicas)
	reference, err := grposim.run(ctx, p, own, seed)
	if err != nil {
		return 0, nil, err
	}
	for _, peer := range peers {
		l := e.length(p, peer.replicas)
		o, err := peer.run(ctx, p, l, seed)
		if err != nil {
			return 0, nil, err
		}
		if err := agree(p, peer.name, reference, o); err != nil {
			return 0, nil, err
		}
		theirs = append(theirs, o.nanoseconds(l))
	}
	return reference.nanoseconds(own), theirs, nil
}
