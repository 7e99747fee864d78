package sim

import (
	"context"
	"slices"
)

// teamSize is the number of replicas that a worker runs abreast, a step of each
// in turn: each number a replica computes waits for the one before it, and the
// processor does the others' meanwhile.
const teamSize = 8

// stepsBetweenLooks is how many steps of a team or a pair pass before it looks
// whether it has been interrupted: a fraction of a second even with 1,000 arms.
const stepsBetweenLooks = 1 << 11

// team is replicas of one cell that a worker runs abreast.
type team struct {
	cell     *Cell
	replicas []*replica
	watched  []int // steps at which something is recorded or read, the last one among them
	duos     *duos // nil where there are none for the cell
}

// newTeam returns a team of so many replicas, recorded at the given steps.
func newTeam(cell *Cell, recorded []int, laws *laws, spare *spares, size int) *team {
	t := &team{cell: cell}
	for range size {
		r := newReplica(cell, recorded, laws)
		r.values = spare.values.take(len(recorded))
		t.replicas = append(t.replicas, r)
	}
	t.watched = slices.Concat(recorded, curveSteps(cell.Fits, cell.Run.Steps))
	slices.Sort(t.watched)
	t.watched = slices.Compact(t.watched)
	t.duos = newDuos(t.replicas)
	return t
}

// run runs the replicas from first on, as many as are wanted and the team has, and
// returns them.
func (t *team) run(ctx context.Context, first, wanted int) []*replica {
	replicas := t.replicas[:min(wanted, len(t.replicas))]
	for i, r := range replicas {
		r.begin(first + i)
	}
	step := 0
	for _, watched := range t.watched {
		if t.duos != nil && watched > step {
			t.duos.coast(ctx, len(replicas), step, watched)
			step = watched
		}
		for ; step <= watched; step++ {
			for _, r := range replicas {
				r.step(step)
			}
			if step%stepsBetweenLooks == 0 && ctx.Err() != nil {
				return replicas // the cell will not be finished
			}
		}
	}
	return replicas
}
