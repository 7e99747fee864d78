package sweeps

import (
	"context"
	"errors"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"grposim/sim"
	"grposim/sweeps/store"
)

// simulateInOrder simulates cells with the given number of workers, at least 1. It
// calls worked as simulate does, finished as each cell finishes, and emit with their outcomes nearly in the order
// of cells: see queue. All calls but those of worked come from one goroutine. When ctx is
// done, the outcomes of the finished cells are still emitted, and the context's error
// is returned. An error of emit stops the simulation and is returned.
func simulateInOrder(ctx context.Context, cells []*Cell, workers int, worked func(work float64), finished func(), emit func(*store.Outcome) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type result struct {
		index   int
		outcome *store.Outcome
	}
	results, clock := make(chan result), time.NewTicker(longestWait)
	defer clock.Stop()
	var err error
	go func() {
		defer close(results)
		defer func() {
			if value := recover(); value != nil {
				err = &sim.Panic{Value: value, Stack: debug.Stack()}
			}
		}()
		err = simulate(ctx, cells, workers, worked, func(index int, o *store.Outcome) error {
			results <- result{index, o}
			return nil
		})
	}()
	q := newQueue(len(cells), emit)
	for {
		select {
		case r, running := <-results:
			if !running {
				if failure := q.end(); !errors.Is(err, failure) {
					err = errors.Join(err, failure)
				}
				return err
			}
			finished()
			q.add(r.index, r.outcome, time.Now())
		case now := <-clock.C:
			q.tick(now)
		}
		if q.failure != nil {
			cancel(q.failure)
		}
	}
}

// queue emits the outcomes of a running sweep nearly in the order of its cells: an
// outcome that finishes before its predecessors is held back, so that the journal
// rarely has to be sorted at the end. Queued outcomes are lost in a crash; so at most
// mostWaiting are held back, and none for more than two seconds.
type queue struct {
	finished []bool // by index
	next     int    // the smallest index that is not finished
	waiting  map[int]queued
	emit     func(*store.Outcome) error
	failure  error // the first error of emit; nothing is emitted after it
}

// queued is an outcome that is held back, and the time at which it finished.
type queued struct {
	outcome *store.Outcome
	at      time.Time
}

const (
	mostWaiting = 16          // with more, all queued outcomes are emitted
	longestWait = time.Second // after which the next tick of the clock, of this period, emits all
)

// newQueue returns an empty queue for count outcomes with the indices 0 … count−1.
func newQueue(count int, emit func(*store.Outcome) error) *queue {
	return &queue{finished: make([]bool, count), waiting: make(map[int]queued), emit: emit}
}

// add adds the outcome of the given index and emits all whose predecessors are
// finished.
func (q *queue) add(index int, o *store.Outcome, now time.Time) {
	q.finished[index] = true
	q.waiting[index] = queued{o, now}
	for q.next < len(q.finished) && q.finished[q.next] {
		q.next++
	}
	limit := q.next
	if len(q.waiting) > mostWaiting {
		limit = len(q.finished)
	}
	q.emitBefore(limit)
}

// tick emits all queued outcomes if one of them has waited for longestWait.
func (q *queue) tick(now time.Time) {
	for _, w := range q.waiting {
		if now.Sub(w.at) >= longestWait {
			q.emitBefore(len(q.finished))
			return
		}
	}
}

// end emits all queued outcomes and returns the first error of emit.
func (q *queue) end() error {
	q.emitBefore(len(q.finished))
	return q.failure
}

// emitBefore emits the queued outcomes with an index below limit, in order.
func (q *queue) emitBefore(limit int) {
	for _, index := range slices.Sorted(maps.Keys(q.waiting)) {
		if index >= limit || q.failure != nil {
			return
		}
		q.failure = q.emit(q.waiting[index].outcome)
		delete(q.waiting, index)
	}
}
