package plan

import (
	"cmp"
	"slices"

	"grposim/sweeps/config"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// NewPart returns the plan of one of the shards into which a sweep is divided for several machines:
// some of its cells, without checks. The shards have about equal work, share no cell, and depend on
// nothing but the configuration and their number. It keeps no other cell in memory.
func NewPart(spec *config.Spec, shard store.Shard) *Plan {
	part := &Plan{Spec: spec, Shard: &shard}
	mine := divide(spec, shard.Of)[shard.Index-1].cells // in order
	cache := theory.NewCache()
	isMine := func(i int) bool {
		_, found := slices.BinarySearch(mine, i)
		return found
	}
	newPlanner(spec).each(spec, func(i int, c *Cell, m *measures) {
		if isMine(i) {
			c.ID = cellID(&c.Settings, m)
			c.resolve(m, cache)
		}
	}, func(i int, c *Cell, _ []int) {
		if isMine(i) {
			part.Cells = append(part.Cells, c)
		}
	})
	return part
}

// load lists the cells of a shard.
type load struct {
	work  float64 // in steps of one replica
	cells []int   // indices in the order of the sweep
}

// divide divides the distinct cells of a sweep among n shards, and returns what each has to do.
// Cells with more work come first, dealt forwards and backwards in turn.
func divide(spec *config.Spec, n int) []load {
	variants := len(spec.Grids()) > 1
	known := make(map[string]bool) // by id: cells of two variants can be the same
	work := make([]float64, spec.Size())
	var order []int // by decreasing work
	cache := theory.NewCache()
	newPlanner(spec).each(spec, func(i int, c *Cell, m *measures) {
		if variants {
			c.ID = cellID(&c.Settings, m)
		}
		// else the work depends on the settings alone
		if m.atFixedPoint() || c.Settings.Policy.Init.Kind == config.AtFixedPoint {
			c.resolve(m, cache)
		}
	}, func(i int, c *Cell, _ []int) {
		if variants && known[c.ID] {
			return
		}
		if variants {
			known[c.ID] = true
		}
		work[i] = c.Work()
		order = append(order, i)
	})
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(work[b], work[a]) })
	shards := make([]load, n)
	for place, i := range order {
		at := place % n
		if place/n%2 == 1 {
			at = n - 1 - at
		}
		shards[at].work += work[i]
		shards[at].cells = append(shards[at].cells, i)
	}
	for i := range shards {
		slices.Sort(shards[i].cells)
	}
	return shards
}

// Part scales the forecast of a sweep to one of its shards.
func (f *Forecast) Part(part *Plan) *Forecast {
	scaled := Forecast{Cells: len(part.Cells)}
	for i := range part.Cells {
		scaled.ReplicaSteps += part.Cells[i].Work()
	}
	scaled.Seconds = f.secondsOf(scaled.ReplicaSteps)
	return &scaled
}

// secondsOf returns the time of a part of the sweep's replica-steps.
func (f *Forecast) secondsOf(work float64) float64 {
	if f.ReplicaSteps == 0 {
		return 0
	}
	return f.Seconds * work / f.ReplicaSteps
}

// LongestShard returns the largest time of simulation, in seconds, of the n shards of a sweep
// with this forecast.
func (f *Forecast) LongestShard(spec *config.Spec, n int) (seconds float64) {
	for _, shard := range divide(spec, n) {
		seconds = max(seconds, f.secondsOf(shard.work))
	}
	return seconds
}
