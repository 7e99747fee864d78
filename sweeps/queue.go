package sweeps

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"grposim/sweeps/store"
)

// simulateInOrder runs cells. It calls heard with each as it is finished, and pass
// with their outcomes nearly in order: see queue. All calls come from one goroutine.
// When ctx is done, what is finished is passed on all the same.
func simulateInOrder(ctx context.Context, cells []*Cell, workers int, heard func(*Cell), pass func(*store.Outcome) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type finished struct {
		index   int
		outcome *store.Outcome
	}
	arrivals, clock := make(chan finished), time.NewTicker(longestWait)
	defer clock.Stop()
	var err error
	go func() {
		defer close(arrivals)
		err = simulate(ctx, cells, workers, func(index int, o *store.Outcome) error {
			arrivals <- finished{index, o}
			return nil
		})
	}()
	q := newQueue(len(cells), pass)
	for {
		select {
		case f, running := <-arrivals:
			if !running {
				if failure := q.end(); !errors.Is(err, failure) {
					err = errors.Join(err, failure)
				}
				return err
			}
			heard(cells[f.index])
			q.add(f.index, f.outcome, time.Now())
		case now := <-clock.C:
			q.tick(now)
		}
		if q.failure != nil {
			cancel(q.failure)
		}
	}
}

// queue puts the outcomes of a running sweep in order: one that is finished before
// its turn waits, so that the journal need not be written again in order at the
// end. Few wait, and none for more than two seconds: what waits is lost if the
// program is.
type queue struct {
	finished []bool // by index
	next     int    // index: those before it are finished
	waiting  map[int]arrival
	pass     func(*store.Outcome) error // takes them
	failure  error                      // of pass: nothing is passed on after it
}

// arrival is an outcome and when it was finished.
type arrival struct {
	outcome *store.Outcome
	at      time.Time
}

const (
	mostWaiting = 16
	longestWait = time.Second // after which the next tick of as long a clock passes it on
)

// newQueue returns the queue of so many outcomes.
func newQueue(count int, pass func(*store.Outcome) error) *queue {
	return &queue{finished: make([]bool, count), waiting: make(map[int]arrival), pass: pass}
}

// add takes the outcome of the given index, and passes it on with those that
// waited for it.
func (q *queue) add(index int, o *store.Outcome, now time.Time) {
	q.finished[index] = true
	q.waiting[index] = arrival{o, now}
	for q.next < len(q.finished) && q.finished[q.next] {
		q.next++
	}
	limit := q.next
	if len(q.waiting) > mostWaiting {
		limit = len(q.finished)
	}
	q.passBefore(limit)
}

// tick passes everything on if something has waited too long.
func (q *queue) tick(now time.Time) {
	for _, a := range q.waiting {
		if now.Sub(a.at) >= longestWait {
			q.passBefore(len(q.finished))
			return
		}
	}
}

// end passes on all that wait. It returns the first error there was.
func (q *queue) end() error {
	q.passBefore(len(q.finished))
	return q.failure
}

// passBefore passes on those that wait with an index below a limit, in order.
func (q *queue) passBefore(limit int) {
	for _, index := range slices.Sorted(maps.Keys(q.waiting)) {
		if index >= limit || q.failure != nil {
			return
		}
		q.failure = q.pass(q.waiting[index].outcome)
		delete(q.waiting, index)
	}
}
