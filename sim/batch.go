package sim

import (
	"context"
	"slices"
)

// stepsBetweenChecks is the number of steps of a batch between two checks of its context.
// Even with 1,000 arms they take a fraction of a second.
const stepsBetweenChecks = 1 << 11

// batch is the replicas of a chunk of one cell, which a worker runs together. They run in vectors,
// in the lanes of two arms, or else one after the other from one observed step to the next.
type batch struct {
	cell     *Cell
	replicas []*replica
	observed []int        // increasing steps at which something is recorded or read, with the last
	vectors  *vectors     // runs many replicas; nil without a processor or a path for the cell
	twoArm   *twoArmBatch // runs the steps in between; nil if the cell has an option that it lacks
}

// newBatch returns a batch of size replicas that record at the given steps.
func newBatch(cell *Cell, recorded []int, laws *laws, size int) *batch {
	b := &batch{cell: cell}
	for range size {
		r := newReplica(cell, recorded, laws)
		r.values = make([]float64, len(recorded)*r.width)
		b.replicas = append(b.replicas, r)
	}
	b.observed = slices.Concat(recorded, curveSteps(cell.Fits, cell.Run.Steps))
	slices.Sort(b.observed)
	b.observed = slices.Compact(b.observed)
	b.vectors = newVectors(b.replicas)
	b.twoArm = newTwoArmBatch(b.replicas)
	return b
}

// run runs the replicas with indices first, first+1, … to their end and returns them. There are
// wanted of them, but at most as many as the batch holds.
func (b *batch) run(ctx context.Context, first, wanted int) []*replica {
	replicas := b.replicas[:min(wanted, len(b.replicas))]
	for i, r := range replicas {
		r.begin(first + i)
	}
	if b.vectors != nil && len(replicas) >= fewestVector {
		b.vectors.run(ctx, replicas, b.observed)
		return replicas
	}
	step := 0
	for _, observed := range b.observed {
		if b.twoArm != nil && observed > step {
			b.twoArm.advance(ctx, len(replicas), step, observed)
			step = observed
		}
		for _, r := range replicas {
			for t := step; t <= observed; t++ {
				r.step(t)
				if t%stepsBetweenChecks == 0 && ctx.Err() != nil {
					return replicas // the results of an interrupted cell are discarded
				}
			}
		}
		step = observed + 1
	}
	return replicas
}
