package sweeps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"grposim/sim"
	"grposim/sweeps/store"
)

// recordingQueue returns a queue for count outcomes, and the ids that it has emitted
// so far.
func recordingQueue(count int) (*queue, *[]string) {
	ids := new([]string)
	return newQueue(count, func(o *store.Outcome) error {
		*ids = append(*ids, o.ID)
		return nil
	}), ids
}

// numbered returns an outcome with a three-digit id.
func numbered(i int) *store.Outcome { return &store.Outcome{ID: fmt.Sprintf("%03d", i)} }

// Outcomes are emitted in the order of their indices, as soon as all predecessors are
// finished.
func TestQueueOrders(t *testing.T) {
	q, ids := recordingQueue(6)
	now := time.Now()
	for _, c := range []struct {
		index   int
		emitted string
	}{{1, ""}, {0, "0 1"}, {2, "0 1 2"}, {5, "0 1 2"}, {4, "0 1 2"}, {3, "0 1 2 3 4 5"}} {
		q.add(c.index, &store.Outcome{ID: fmt.Sprint(c.index)}, now)
		if got := strings.Join(*ids, " "); got != c.emitted {
			t.Errorf("after outcome %d: emitted %q, want %q", c.index, got, c.emitted)
		}
	}
}

// In whatever order outcomes finish, each is emitted once, and at most mostWaiting are
// queued.
func TestQueueIsShort(t *testing.T) {
	const count = 211
	for _, step := range []int{1, 7, 100, count - 1} {
		q, ids := recordingQueue(count)
		for i := range count {
			q.add(step*i%count, numbered(step*i%count), time.Now())
			if len(q.waiting) > mostWaiting {
				t.Fatalf("step %d: %d outcomes are queued", step, len(q.waiting))
			}
		}
		if err := q.end(); err != nil {
			t.Error(err)
		}
		slices.Sort(*ids)
		if len(slices.Compact(*ids)) != count || (*ids)[count-1] != numbered(count-1).ID {
			t.Errorf("step %d: emitted %d outcomes, want each of %d once", step, len(*ids), count)
		}
	}
}

// Nothing is emitted after an error of emit, and the error is returned once.
func TestQueueFails(t *testing.T) {
	plan := planText(t, tiny)
	cells, _ := plan.missing(make(map[string]*store.Outcome))
	full := errors.New("disk full")
	calls := 0
	err := simulateInOrder(t.Context(), cells, 2, func(float64) {}, func() {}, func(*store.Outcome) error { calls++; return full })
	if !errors.Is(err, full) || strings.Count(err.Error(), "disk full") != 1 || calls != 1 {
		t.Errorf("error %v after %d calls, want %v once, after 1", err, calls, full)
	}
}

// The outcomes of cells that finish before an interruption are emitted.
func TestQueueInterrupted(t *testing.T) {
	plan := planText(t, tiny)
	cells, _ := plan.missing(make(map[string]*store.Outcome))
	ctx, cancel := context.WithCancel(t.Context())
	finished, emitted := 0, 0
	err := simulateInOrder(ctx, cells, 2, func(float64) {}, func() {
		if finished++; finished == 20 {
			cancel()
		}
	}, func(*store.Outcome) error { emitted++; return nil })
	if !errors.Is(err, context.Canceled) || finished < 20 || emitted != finished {
		t.Errorf("error %v: %d cells finished, %d outcomes emitted", err, finished, emitted)
	}
}

// tiny is a sweep of 60 cells, each of which takes a few milliseconds.
const tiny = `
name: tiny
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: 16, advantage: {scale: none}, kl: {coefficient: 1}}
optimizer: {learning_rate: 0.1}
run: {steps: 200, burn_in: 50, replicas: 16}
sweep:
  - {param: optimizer.learning_rate, range: {from: 0.01, to: 0.1, step: 0.01}}
  - {param: optimizer.momentum, values: [0, 0.3, 0.5]}
  - {param: lag.interval, values: [1, 4]}
`

// A panic outside of any cell is an error with its stack, not the end of the program.
func TestQueuePanics(t *testing.T) {
	invalid := &planText(t, tiny).Cells[0]
	invalid.Settings.Lag.Interval = -1
	err := simulateInOrder(t.Context(), []*Cell{invalid}, 2, func(float64) {}, func() {}, func(*store.Outcome) error { return nil })
	var failed *sim.Panic
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), `Lag.Interval: got -1`) || !strings.Contains(string(failed.Stack), "(*Cell).check") {
		t.Errorf("got %v, want the panic and its stack", err)
	}
}
