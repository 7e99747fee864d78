package sweeps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"grposim/sweeps/store"
)

// passed returns a queue of so many outcomes, and the ids it has passed on so far.
func passed(count int) (*queue, *[]string) {
	ids := new([]string)
	return newQueue(count, func(o *store.Outcome) error {
		*ids = append(*ids, o.ID)
		return nil
	}), ids
}

func numbered(i int) *store.Outcome { return &store.Outcome{ID: fmt.Sprintf("%03d", i)} }

// Outcomes that come nearly in order leave in order, as soon as it is their turn.
func TestQueueOrders(t *testing.T) {
	q, ids := passed(6)
	now := time.Now()
	for _, arrives := range []struct {
		index int
		then  string
	}{{1, ""}, {0, "0 1"}, {2, "0 1 2"}, {5, "0 1 2"}, {4, "0 1 2"}, {3, "0 1 2 3 4 5"}} {
		q.add(arrives.index, &store.Outcome{ID: fmt.Sprint(arrives.index)}, now)
		if got := strings.Join(*ids, " "); got != arrives.then {
			t.Errorf("after %d: %q is passed on, want %q", arrives.index, got, arrives.then)
		}
	}
}

// In whatever order outcomes come, each leaves once, and few wait.
func TestQueueIsShort(t *testing.T) {
	const count = 211
	for _, step := range []int{1, 7, 100, count - 1} {
		q, ids := passed(count)
		for i := range count {
			q.add(step*i%count, numbered(step*i%count), time.Now())
			if len(q.waiting) > mostWaiting {
				t.Fatalf("step %d: %d wait", step, len(q.waiting))
			}
		}
		if err := q.end(); err != nil {
			t.Error(err)
		}
		slices.Sort(*ids)
		if len(slices.Compact(*ids)) != count || (*ids)[count-1] != numbered(count-1).ID {
			t.Errorf("step %d: %d outcomes were passed on", step, len(*ids))
		}
	}
}

// What has waited for a second leaves at the next tick, what waits for less is left.
func TestQueueIsQuick(t *testing.T) {
	q, ids := passed(4)
	start := time.Now()
	q.add(3, numbered(3), start)
	q.add(1, numbered(1), start.Add(longestWait/2))
	if q.tick(start.Add(longestWait - 1)); len(*ids) > 0 {
		t.Errorf("%q left early", *ids)
	}
	if q.tick(start.Add(longestWait)); !slices.Equal(*ids, []string{"001", "003"}) {
		t.Errorf("%q left, want both that wait, in order", *ids)
	}
	q.add(0, numbered(0), start)
	q.add(2, numbered(2), start)
	if !slices.Equal(*ids, []string{"001", "003", "000", "002"}) {
		t.Errorf("%q left", *ids)
	}
}

// Nothing is passed on after an error, which comes back once.
func TestQueueFails(t *testing.T) {
	plan := planText(t, tiny)
	cells, _ := plan.missing(make(map[string]*store.Outcome))
	full := errors.New("disk full")
	calls := 0
	err := simulateInOrder(t.Context(), cells, 2, func(*Cell) {}, func(*store.Outcome) error { calls++; return full })
	if !errors.Is(err, full) || strings.Count(err.Error(), "disk full") != 1 || calls != 1 {
		t.Errorf("error %v after %d calls, want %v once, after 1", err, calls, full)
	}
}

// What is finished when a sweep is interrupted is passed on.
func TestQueueInterrupted(t *testing.T) {
	plan := planText(t, tiny)
	cells, _ := plan.missing(make(map[string]*store.Outcome))
	ctx, cancel := context.WithCancel(t.Context())
	heard, left := 0, 0
	err := simulateInOrder(ctx, cells, 2, func(*Cell) {
		if heard++; heard == 20 {
			cancel()
		}
	}, func(*store.Outcome) error { left++; return nil })
	if !errors.Is(err, context.Canceled) || heard < 20 || left != heard {
		t.Errorf("error %v: %d finished, %d passed on", err, heard, left)
	}
}

// tiny is a sweep of 60 cells that take a few milliseconds each.
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
