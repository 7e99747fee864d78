package plan

import (
	"runtime/debug"
	"sync"

	"grposim/sim"
)

// Always is a part for InParallel to which no part is reported.
func Always() (more bool) { return true }

// InParallel calls do with 0 … n−1, on the given number of goroutines, at least 1, and with the
// number of the goroutine, from 0. Before each it calls part, from one goroutine, and stops
// when that returns false. A panic of do is returned as an error.
func InParallel(workers, n int, part func() (more bool), do func(worker, i int)) error {
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
