package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"grposim/option"
	"grposim/sim"
	"grposim/tools/internal/tool"
)

// alone lists comparisons of grposim with itself, at the same settings except for the number of
// arms, the group size or the policy at which the KL penalty is computed. Two arms have code of their own, so linear growth is judged from three
// arms on.
var alone = []struct {
	what, over    string
	process, than process
	perArm        bool // the times are divided by the numbers of arms
	target        target
}{
	{"2 arms, K = 4, none: G = 65536", "G = 16", newProcess(2, 65536, 4), newProcess(2, 16, 4), false, target{bound: 2.5}},
	{"10 arms, K = 4, none: G = 65536", "G = 1024", newProcess(10, 65536, 4), newProcess(10, 1024, 4), false, target{bound: 2}},
	{"2 arms, G = 16, K = 4: exact KL at the current policy", "at the snapshot", newProcess(2, 16, 4), newProcess(2, 16, 4).atSnapshot(), false, target{bound: 1.05}},
	{"10 arms, G = 16, K = 4: exact KL at the current policy", "at the snapshot", newProcess(10, 16, 4), newProcess(10, 16, 4).atSnapshot(), false, target{bound: 1.05}},
	{"an arm of 10, G = 16, K = 4, none", "an arm of 2", newProcess(10, 16, 4), newProcess(2, 16, 4), true, target{}},
	{"an arm of 10, G = 16, K = 4, none", "an arm of 3", newProcess(10, 16, 4), newProcess(3, 16, 4), true, target{bound: 1}},
	{"an arm of 100, G = 16, K = 4, none", "an arm of 10", newProcess(100, 16, 4), newProcess(10, 16, 4), true, target{bound: 1}},
}

// scaling measures how grposim's time depends on the group size and the number of arms.
func scaling(ctx context.Context, e effort) (all []comparison, err error) {
	for _, a := range alone {
		c := comparison{what: a.what, over: a.over, target: a.target}
		for round := range e.rounds {
			var times [2]float64
			for i, p := range []process{a.process, a.than} {
				l := e.length(p, grposim.replicas)
				o, err := grposim.run(ctx, p, l, round+1)
				if err != nil {
					return nil, err
				}
				times[i] = o.nanoseconds(l)
				if a.perArm {
					times[i] /= float64(len(p.means))
				}
			}
			c.add(times[0], times[1])
		}
		all = append(all, c)
	}
	return all, nil
}

// parallel measures how much faster two workers are than one. It also measures the most that they
// could gain on this machine: how much faster two programs that share nothing, copies of the
// first peer, run at the same time than one after the other.
func parallel(ctx context.Context, e effort, peers []contender) (all []comparison, err error) {
	const usual = "64 cells of 2 arms, G = 16, K = 4: 1 worker"
	measured := []comparison{{what: usual, over: "2 workers", target: target{bound: 1.9, least: true}}}
	times := []func(count, seed int) (float64, error){func(workers, _ int) (float64, error) { return e.sweep(ctx, workers) }}
	if len(peers) > 0 {
		measured = append(measured, comparison{what: fmt.Sprintf("(the machine: one run of %s)", peers[0].name), over: "two at once"})
		times = append(times, func(programs, seed int) (float64, error) { return e.atOnce(ctx, peers[0], programs, seed) })
	}
	for i, c := range measured {
		for round := range e.rounds {
			// One before and after two, because the speed of the machine may change in between.
			var took [3]float64
			for turn, count := range []int{1, 2, 1} {
				if took[turn], err = times[i](count, round+1); err != nil {
					return nil, err
				}
			}
			c.add((took[0]+took[2])/2, took[1])
		}
		all = append(all, c)
	}
	return all, nil
}

// atOnce runs several copies of a peer at the same time. It returns the nanoseconds per
// replica-step of all of them together.
func (e effort) atOnce(ctx context.Context, peer contender, programs, seed int) (float64, error) {
	p := newProcess(2, 16, 4)
	l := e.length(p, peer.replicas)
	rates, err := tool.Each(ctx, programs, programs, func(ctx context.Context, i int) (float64, error) {
		o, err := peer.run(ctx, p, l, seed+i)
		return 1 / o.nanoseconds(l), err
	})
	sum := 0.
	for _, rate := range rates {
		sum += rate
	}
	return 1 / sum, err
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

// The rows and columns of the table of grposim's own times.
var (
	matrixArms      = []int{2, 10, 100}
	matrixGroups    = []int{4, 16, 64, 1024, 65536}
	matrixIntervals = []int{1, 4, 16}
	matrixModes     = []option.ImportanceMode{option.NoImportance, option.Ratio}
	matrixScales    = []option.Scale{option.StdScale, option.NoScale}
)

// matrixRow holds the times for one number of arms, importance mode and scale.
type matrixRow struct {
	name  string
	times []float64 // nanoseconds per replica-step, by group size and refresh interval
}

// measureMatrix measures each entry by one run of about a tenth of a second.
func measureMatrix(ctx context.Context, e effort) ([]matrixRow, error) {
	var rows []matrixRow
	for _, arms := range matrixArms {
		for _, importance := range matrixModes {
			for _, scale := range matrixScales {
				row := matrixRow{name: fmt.Sprintf("%d, %s, %s", arms, importance, scale)}
				for _, groupSize := range matrixGroups {
					for _, interval := range matrixIntervals {
						p := newProcess(arms, groupSize, interval).with(importance, scale)
						l := length{e.replicaSteps / 150, max(32/arms, 1)}
						o, err := grposim.run(ctx, p, l, 1)
						if err != nil {
							return nil, fmt.Errorf("%s: %w", p, err)
						}
						row.times = append(row.times, o.nanoseconds(l))
					}
				}
				rows = append(rows, row)
			}
		}
	}
	return rows, nil
}

// writeMatrix writes the table of grposim's own times.
func writeMatrix(w io.Writer, rows []matrixRow) {
	fmt.Fprint(w, "| arms, importance, scale ")
	for _, groupSize := range matrixGroups {
		for _, interval := range matrixIntervals {
			fmt.Fprintf(w, "| %d / %d ", groupSize, interval)
		}
	}
	fmt.Fprintf(w, "|\n|---|%s\n", strings.Repeat("---:|", len(matrixGroups)*len(matrixIntervals)))
	for _, row := range rows {
		fmt.Fprintf(w, "| %s ", row.name)
		for _, t := range row.times {
			fmt.Fprintf(w, "| %s ", nanoseconds(t))
		}
		fmt.Fprintln(w, "|")
	}
}
