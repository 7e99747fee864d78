package main

import (
	"context"
	"fmt"

	"grposim/option"
	"grposim/tools/internal/tool"
)

// raced lists the processes on which grposim and the peers are compared, with the targets by peer.
// The prototypes ran on another machine, with AVX-512 (docs/performance.md).
var raced = []struct {
	process process
	targets map[string]target
}{
	{newProcess(2, 16, 1), map[string]target{scalarC: {bound: 0.9}, vectorC: {bound: 1.2}}},
	{newProcess(2, 16, 4), map[string]target{
		scalarC: {bound: 0.27, limit: 6.5 / 64}, vectorC: {bound: 1}, "Numba": {bound: 1. / 3}, "NumPy counts": {bound: 1. / 6},
	}},
	{newProcess(2, 64, 4), map[string]target{vectorC: {bound: 1}}},
	{newProcess(2, 1024, 4), map[string]target{scalarC: {limit: 54. / 152}}},
	{newProcess(2, 65536, 4), nil},
	{newProcess(3, 16, 4), map[string]target{scalarC: {bound: 0.2, limit: 9.7 / 158}, vectorC: {bound: 1}}},
	{newProcess(10, 16, 1), map[string]target{scalarC: {bound: 0.4, limit: 51. / 216}, vectorC: {bound: 1.2}}},
	{newProcess(10, 16, 4).with(option.Ratio, option.StdScale), map[string]target{scalarC: {bound: 0.25}, vectorC: {bound: 1}, "Numba": {bound: 0.5}}},
	{newProcess(10, 1024, 4), map[string]target{scalarC: {bound: 0.4, limit: 181. / 1080}}},
	{newProcess(100, 16, 4), map[string]target{scalarC: {bound: 0.5, limit: 260. / 809}, vectorC: {bound: 1}}},
	{newProcess(100, 1024, 4), map[string]target{scalarC: {bound: 0.4, limit: 1166. / 7400}}},
}

// effort says how much is run.
type effort struct {
	rounds        int
	replicaSteps  int // of each run of two arms
	learningRates int // in the sweep of tiny cells
}

var (
	full  = effort{rounds: 11, replicaSteps: 1500 * 2048, learningRates: 1000}
	brief = effort{rounds: 1, replicaSteps: 500 * 2048, learningRates: 10}
)

// length returns the length of a run with the given number of replicas. More than two arms
// get a third of the replica-steps, because they take longer and fluctuate less, and more
// than ten still fewer.
func (e effort) length(p process, replicas int) length {
	steps := e.replicaSteps
	if arms := len(p.means); arms > 2 {
		steps /= 3 * max(1, arms/10)
	}
	return length{max(steps/replicas, 2*p.burnIn()), replicas}
}

// comparison is the time of one run divided by that of another, measured in turns.
type comparison struct {
	what, over    string // names of the two runs
	target        target
	ratios        []float64 // times/others, by round
	times, others []float64 // nanoseconds per replica-step, by round
}

// add adds the times of one round.
func (c *comparison) add(time, other float64) {
	c.ratios = append(c.ratios, time/other)
	c.times = append(c.times, time)
	c.others = append(c.others, other)
}

// ratio returns the median ratio over the rounds.
func (c *comparison) ratio() float64 { return tool.Median(c.ratios) }

func (c *comparison) String() string {
	text := fmt.Sprintf("%s: %.2f times %s", c.what, c.ratio(), c.over)
	if c.target.bound != 0 {
		text += fmt.Sprintf(", target %s: %s", c.target, c.target.met(c.ratio()))
	}
	return text
}

// checkInterval is the refresh interval at which the stationary law shows whether a peer
// uses importance ratios. Without them the variance for ten arms is larger by half at
// K = 64, but equal to within 0.5 % at K = 4.
const checkInterval = 64

// race runs grposim and the peers on a process, in turns, and compares their times. It
// returns an error if a peer disagrees on the stationary law.
func race(ctx context.Context, e effort, p process, targets map[string]target, peers []contender) ([]comparison, error) {
	var comparisons []comparison
	var running []contender
	for _, peer := range peers {
		if (peer.largestGroup == 0 || p.groupSize <= peer.largestGroup) && (peer.mostArms == 0 || len(p.means) <= peer.mostArms) {
			running = append(running, peer)
			comparisons = append(comparisons, comparison{what: p.String(), over: peer.name, target: targets[peer.name]})
		}
	}
	if p.importance == option.Ratio {
		check := p
		check.interval = checkInterval
		if _, _, err := runRound(ctx, e, check, running, 1); err != nil {
			return nil, err
		}
	}
	for round := range e.rounds {
		ours, theirs, err := runRound(ctx, e, p, running, round+1)
		if err != nil {
			return nil, err
		}
		for i := range theirs {
			comparisons[i].add(ours, theirs[i])
		}
	}
	return comparisons, nil
}

// runRound runs grposim and each peer once, and returns their times in nanoseconds per
// replica-step. It returns an error if a peer disagrees on the stationary law.
func runRound(ctx context.Context, e effort, p process, peers []contender, seed int) (ours float64, theirs []float64, err error) {
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

// target is a bound on a ratio. A bound of 0 means that there is none.
type target struct {
	bound float64
	least bool    // the ratio must be at least, rather than at most, the bound
	limit float64 // the ratio that a prototype with vector instructions reached; 0: none was made
}

func (t target) String() string {
	switch {
	case t.bound == 0:
		return ""
	case t.least:
		return fmt.Sprintf("≥ %.3g", t.bound)
	}
	return fmt.Sprintf("≤ %.3g", t.bound)
}

// reached returns the limit in words, "" for none.
func (t target) reached() string {
	if t.limit == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", t.limit)
}

// met returns "yes" if a ratio meets the target, "no" if not, and "" without a bound.
func (t target) met(ratio float64) string {
	switch {
	case t.bound == 0:
		return ""
	case (ratio >= t.bound) == t.least || ratio == t.bound:
		return "yes"
	}
	return "no"
}
