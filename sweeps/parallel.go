package sweeps

import (
	"runtime/debug"
	"sync"
	"sync/atomic"

	"grposim/sim"
)

// always is a part for inParallel to which no part is reported.
func always() (more bool) { return true }

// inParallel calls do with 0 … n−1, on the given number of goroutines, at least 1, and with the
// number of the goroutine, from 0. Before each it calls part, from one goroutine, and stops
// when that returns false. A panic of do is returned as an error.
func inParallel(workers, n int, part func() (more bool), do func(worker, i int)) error {
	type span struct{ first, last int }
	var (
		spans    = make(chan span)
		group    sync.WaitGroup
		once     sync.Once
		failure  error
		failed   = make(chan struct{})
		together = min(max(n/(8*workers), 1), 256) // neighbours often share a prediction
	)
	for w := range min(workers, n) {
		group.Go(func() {
			defer func() {
				if value := recover(); value != nil {
					once.Do(func() { failure = &sim.Panic{Value: value, Stack: debug.Stack()}; close(failed) })
				}
			}()
			for s := range spans {
				for i := s.first; i < s.last; i++ {
					do(w, i)
				}
			}
		})
	}
	dispatch := func() {
		for s := (span{}); s.first < n; s.first = s.last {
			for s.last = s.first; s.last < min(s.first+together, n); s.last++ {
				if !part() {
					return
				}
			}
			select {
			case spans <- s:
			case <-failed:
				return
			}
		}
	}
	dispatch()
	close(spans)
	group.Wait()
	return failure
}

// inParallel calls do with 0 … n−1 as the function inParallel does, each goroutine with an
// evidence of its own. The first error of each is kept.
func (e *evidence) inParallel(n int, part func() (more bool), do func(e *evidence, i int)) {
	own := make([]*evidence, min(e.workers, n))
	for w := range own {
		own[w] = &evidence{outcomes: e.outcomes, cache: e.cache}
		if w > len(e.others) { // equilibria are for one goroutine
			e.others = append(e.others, e.cache.Sharing(e.workers))
		}
		if w > 0 {
			own[w].cache = e.others[w-1]
		}
	}
	var failed atomic.Bool
	more := func() bool { return part() && !failed.Load() }
	e.keep(inParallel(e.workers, n, more, func(w, i int) {
		if own[w].failure == nil {
			do(own[w], i)
			failed.CompareAndSwap(false, own[w].failure != nil)
		}
	}))
	for _, worker := range own {
		e.keep(worker.failure)
	}
}
